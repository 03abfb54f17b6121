// The command `trunkline` of the package.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createInterface } from 'node:readline';

import { StartLog, packageFolder, repository, until, within } from '../testing/support.mjs';

const manifest = createRequire(import.meta.url)('../package.json');

const program = join(packageFolder, manifest.bin.trunkline);

/** A call that lasts for many minutes, and tells each step. */
const longCall = ['call', 'demo', 'progress', 'steps:=10000', 'interval_ms:=100'];

/** A home with the reference server in its settings. */
function openHome(t, ...flags) {
  const home = mkdtempSync(join(tmpdir(), 'trunkline-home-'));
  const log = new StartLog();
  t.after(async () => {
    rmSync(home, { recursive: true });
    await log.end();
  });
  for (const folder of ['.cursor', 'ws']) mkdirSync(join(home, folder));
  writeFileSync(join(home, '.cursor/mcp.json'), JSON.stringify({ mcpServers: { demo: log.server(...flags) } }));
  const start = (words) => {
    const env = { ...process.env, HOME: home, TRUNKLINE_HOME: join(home, 'trunkline') };
    return spawn(program, words, { cwd: join(home, 'ws'), env });
  };
  return { log, start };
}

/** The whole of a run. */
async function ran(child, input = '') {
  const [out, err] = [child.stdout, child.stderr].map((stream) => stream.setEncoding('utf8').toArray());
  child.stdin.end(input);
  const [code] = await within(once(child, 'exit'), 'the exit');
  return { code, out: (await out).join(''), err: (await err).join('') };
}

/** Waits until the call has told its first step. */
async function firstStep(child) {
  for await (const line of createInterface({ input: child.stderr })) return line;
  return undefined;
}

describe('the command', () => {
  it('brings a server', async (t) => {
    const { start } = openHome(t);
    const line = `'${process.execPath}' '${program}' demo`;
    const called = await ran(start(['call', '--stdio', line, 'count', 'to=2', 'interval_ms=0']));
    assert.deepEqual(called, { code: 0, out: '2\n', err: 'progress 1/2 1 of 2\nprogress 2/2 2 of 2\n' });
  });

  it('is the command line of every package', async (t) => {
    const { log, start } = openHome(t, '--tools', '1', '--generated-only');
    assert.deepEqual(await ran(start(['--version'])), { code: 0, out: `trunkline ${manifest.version}\n`, err: '' });
    const written = readFileSync(join(repository, 'core/cli/tests/program/golden/help.txt'), 'utf8');
    assert.equal((await ran(start(['--help']))).out, written);
    const tools = await ran(start(['tools']));
    assert.deepEqual(tools.out.split('\n')[1].split(/ +/), ['mcp__demo__tool_1', 'tool_1']);
    assert.deepEqual(await ran(start(['call', 'demo', 'tool_1', '-']), '{}'), { code: 0, out: 'tool_1\n', err: '' });
    const refused = await ran(start(['call', 'nobody', 'echo', '--json']));
    assert.deepEqual([refused.code, refused.out, JSON.parse(refused.err).error.code], [8, '', 'not_admitted']);
    assert.equal((await ran(start(['nonsense']))).code, 2);
    // A run has ended its servers when it is over.
    assert.deepEqual(log.running, []);
  });

  for (const [signal, exit] of [['SIGINT', 130], ['SIGTERM', 143]]) {
    it(`ends a call and its server at ${signal}`, async (t) => {
      const { log, start } = openHome(t, '--fork-child');
      const child = start(longCall);
      assert.equal(await within(firstStep(child), 'a step'), 'progress 1/10000 step 1');
      child.kill(signal);
      const [code] = await within(once(child, 'exit'), 'the exit');
      assert.equal(code, exit);
      assert.deepEqual(log.running, []);
    });
  }

  it('ends at once at a second signal', async (t) => {
    const { start } = openHome(t, '--ignore-eof');
    const patient = JSON.stringify({ exit_grace_ms: 600_000 });
    const child = start([...longCall, '--options', patient]);
    assert.equal(await within(firstStep(child), 'a step'), 'progress 1/10000 step 1');
    const kills = setInterval(() => child.kill('SIGINT'), 100);
    try {
      await until(() => child.exitCode !== null || child.signalCode !== null, () => 'the exit');
    } finally {
      clearInterval(kills);
    }
    assert.equal(child.exitCode, 130);
  });
});
