// The examples of the documentation run as they stand.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

import { blocks, registered } from '../testing/examples.mjs';
import { HANG_BOUND_MS, packageFolder, repository, testserver } from '../testing/support.mjs';

const run = promisify(execFile);

/** Runs a program where the package is installed, and the reference server on the PATH. */
async function runExample(code) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-docs-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(packageFolder, join(folder, 'node_modules/trunkline'), 'dir');
    // As npm puts it there, for `npx`.
    mkdirSync(join(folder, 'node_modules/.bin'));
    symlinkSync('../trunkline/bin/trunkline.cjs', join(folder, 'node_modules/.bin/trunkline'));
    writeFileSync(join(folder, 'example.mjs'), code);
    const env = { ...process.env, NODE_OPTIONS: '', PATH: dirname(testserver) + delimiter + process.env.PATH };
    // Never the decisions of the person who runs the tests.
    env.TRUNKLINE_HOME = join(folder, 'home');
    return await run(process.execPath, ['example.mjs'], { cwd: folder, env, timeout: HANG_BOUND_MS });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the documentation', () => {
  const pages = registered(repository);
  it('the pages are those of the table', () => {
    for (const page of ['docs/guide/first-program.md', 'docs/guide/node.md', 'docs/guide/cookbook.md']) assert.ok(page in pages, page);
  });
  for (const [path, count] of Object.entries(pages)) {
    const examples = blocks(repository, path);
    it(`${path} has its examples`, () => assert.equal(examples.length, count));
    for (const [index, code] of examples.entries()) {
      it(`${basename(path)}: example ${index + 1} runs`, async () => {
        const { stdout, stderr } = await runExample(code);
        assert.equal(stderr, '');
        assert.notEqual(stdout, '');
      });
    }
  }

  it('the start prints what its page says', async () => {
    const page = 'docs/guide/quickstart/node.md';
    const [printed] = blocks(repository, page, 'text');
    assert.equal((await runExample(blocks(repository, page)[0])).stdout, printed);
  });
});
