// The examples of docs/node.md, and Node's of the README, run as they stand.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

import { HANG_BOUND_MS, packageFolder, repository, testserver } from '../testing/support.mjs';

const run = promisify(execFile);

/** The blocks of a language in a document. */
function blocks(path) {
  const text = readFileSync(join(repository, path), 'utf8');
  return Array.from(text.matchAll(/^```js\n(.*?)^```$/gms), ([, code]) => code);
}

/** Runs a program where the package is installed, and the reference server on the PATH. */
async function runExample(code) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-docs-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(packageFolder, join(folder, 'node_modules/trunkline'), 'dir');
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
  for (const [path, count] of [['docs/node.md', 5], ['README.md', 2], ['docs/cookbook.md', 4], ['bindings/node/README.md', 1]]) {
    const examples = blocks(path);
    it(`${path} has its examples`, () => assert.ok(examples.length >= count));
    for (const [index, code] of examples.entries()) {
      it(`${basename(path)}: example ${index + 1} runs`, async () => {
        const { stdout, stderr } = await runExample(code);
        assert.equal(stderr, '');
        assert.notEqual(stdout, '');
      });
    }
  }
});
