// Servers that no one here wrote: npm server-everything, PyPI mcp-server-time and mcp-server-git; SPEC 5, 7, 9.8.
//
// TRUNKLINE_REAL_SERVERS names a JSON file with their configurations by name.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { describe, it } from 'node:test';

import { Pool } from '../index.mjs';
import { HANG_BOUND_MS, isRunning, textOf, treeOf, until, within } from '../testing/support.mjs';

/** The tools that the installed version has for a client without handlers: three more come with sampling and elicitation. */
const EVERYTHING_TOOLS = 14;

const file = process.env.TRUNKLINE_REAL_SERVERS;
const isRequired = ['1', 'true'].includes(process.env.CI);
const reason = 'TRUNKLINE_REAL_SERVERS is not set: `cargo xtask test node` installs the servers';

/** A session that has one of these servers, and its lease. */
async function open(t, name) {
  const config = JSON.parse(readFileSync(file, 'utf8'))[name];
  const pool = new Pool({ connectTimeoutMs: HANG_BOUND_MS });
  await pool.reconcile({ real: config });
  t.after(async () => {
    // The wrapper, and what it started.
    const pids = pidsOf(pool).flatMap(treeOf);
    await within(pool.close(), 'close');
    await until(() => !pids.some(isRunning), () => `processes ${pids}`);
  });
  const session = pool.session('a', { servers: [] });
  const lease = await within(session.acquire('real'), 'acquire');
  assert.ok(pidsOf(pool).length > 0);
  return { pool, session, lease };
}

const pidsOf = (pool) => pool.status().servers.real.entries.map((entry) => entry.pid);

function tests() {
  for (const name of ['everything', 'everything_npx']) {
    it(`${name}: tools, prompts, resources, calls side by side, cancellation`, async (t) => {
      const { pool, session, lease } = await open(t, name);
      const other = pool.session('b', { servers: [] });
      await within(other.acquire('real'), 'another acquire');
      // The server announces changes of its tools while it starts; SPEC 7.2, 7.4.
      await until(() => [session, other].every((one) => one.tools().length === EVERYTHING_TOOLS));
      assert.deepEqual(other.tools(), session.tools());
      assert.ok(session.prompts().length > 0);
      assert.ok(session.resources().length > 0);
      const messages = Array.from({ length: 20 }, (_, n) => `hello ${n}`);
      const results = await Promise.all(messages.map((message) => session.callTool('mcp__real__echo', { message })));
      assert.deepEqual(results.map(textOf), messages.map((message) => `Echo: ${message}`));
      const read = await lease.readResource(session.resources()[0].ownName);
      assert.ok(read.contents.length > 0);
      const long = lease.tools().find((tool) => /long.?running/i.test(tool.ownName)).ownName;
      const call = lease.callTool(long, { duration: 30, steps: 30 }, { signal: AbortSignal.timeout(100) });
      await assert.rejects(within(call, 'the cancelled call'), { name: 'TimeoutError' });
      assert.equal(textOf(await lease.callTool('echo', { message: 'still here' })), 'Echo: still here');
    });
  }

  it('everything: progress comes in order', async (t) => {
    const { session, lease } = await open(t, 'everything');
    const steps = [];
    session.on('progress', (event) => steps.push(event.progress));
    const long = lease.tools().find((tool) => /long.?running/i.test(tool.ownName)).ownName;
    await within(lease.callTool(long, { duration: 1, steps: 4 }, { progress: true }), 'the call');
    await until(() => steps.length === 4);
    assert.deepEqual(steps, [1, 2, 3, 4]);
  });

  it('everything: its tools survive a restart', async (t) => {
    const { pool, session, lease } = await open(t, 'everything');
    const before = lease.tools().map((tool) => tool.name);
    const reconnected = once(session, 'reconnected');
    const [report] = await within(pool.restart('real'), 'restart').then((all) => all.entries ?? all);
    assert.equal(report.restarted, true);
    await within(reconnected, 'reconnected');
    assert.deepEqual(lease.tools().map((tool) => tool.name), before);
    assert.equal(textOf(await lease.callTool('echo', { message: 'again' })), 'Echo: again');
  });

  it('time: the time, and a tool error', async (t) => {
    const { lease } = await open(t, 'time');
    const result = await within(lease.callTool('get_current_time', { timezone: 'UTC' }), 'the call');
    assert.match(textOf(result), /UTC/);
    const failed = await within(lease.callTool('get_current_time', { timezone: 'No/Where' }), 'the call');
    assert.equal(failed.isError, true);
  });

  it('git: the status of a repository', async (t) => {
    const { session, lease } = await open(t, 'git');
    const config = JSON.parse(readFileSync(file, 'utf8')).git;
    const repository = config.args[config.args.indexOf('--repository') + 1];
    assert.ok(session.tools().every((tool) => tool.name.startsWith('mcp__real__')));
    const result = await within(lease.callTool('git_status', { repo_path: repository }), 'the call');
    assert.match(textOf(result), /branch|commit/i);
  });
}

describe('real servers', () => {
  if (file !== undefined) tests();
  else if (isRequired) it('are there', () => assert.fail(reason));
  else it('are not there', (t) => t.skip(reason));
});
