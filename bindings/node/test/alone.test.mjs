// Calls that wait alone, one after another, whose answers the event loop reads itself: SPEC 5.3-5.6, 16.2; DESIGN 6.

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';

import { repeat, run } from '../testing/scenario.mjs';
import { HANG_BOUND_MS, openLease, rejection, textOf, until, within } from '../testing/support.mjs';

/** What a bug of this kind shows only now and then. */
const REPETITIONS = 12;

const ROUND = 200;

/** Where the system shows what is on loan. */
const skip = process.platform === 'linux' ? false : 'needs /proc';

/** The pipes that this process reads, each as often as it has it open. */
function pipes() {
  const read = (fd) => {
    try {
      // The link says how it is open: the ends of a pipe have one name.
      const isRead = (lstatSync(`/proc/self/fd/${fd}`).mode & 0o200) === 0;
      return isRead ? readlinkSync(`/proc/self/fd/${fd}`) : '';
    } catch {
      return '';
    }
  };
  return readdirSync('/proc/self/fd').map(read).filter((link) => link.startsWith('pipe:'));
}

/** A pipe is polled by another descriptor than the library's. */
const isOnLoan = () => pipes().some((pipe, place, all) => all.indexOf(pipe) !== place);

/** How often the threads beside this one went to sleep. */
function sleeps() {
  const threads = readdirSync('/proc/self/task').filter((thread) => Number(thread) !== process.pid);
  const counts = threads.map((thread) => {
    const [, count] = /^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/self/task/${thread}/status`, 'utf8'));
    return Number(count);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

async function callAlone(lease, times = ROUND) {
  for (let call = 0; call < times; call += 1) {
    const message = `alone ${call}`;
    assert.equal(textOf(await lease.callTool('echo', { message })), message);
  }
}

/** Calls until the loop reads for this lease: the more at a time the more often that was in vain. */
async function untilOnLoan(lease) {
  let times = 20;
  await until(async () => {
    await callAlone(lease, times);
    times = 1_500;
    return isOnLoan();
  });
}

/** How many calls have ended. */
const ended = (pool) => Number(/mcp_client_operation_duration_seconds_count\S+ (\d+)/.exec(pool.metrics())?.[1] ?? 0);

describe('calls one after another', { skip }, () => {
  let unlent;
  before(() => { unlent = pipes().length; });
  // No test leaves a descriptor behind.
  after(() => until(() => pipes().length <= unlent, () => `pipes are left: ${pipes()}`));

  it('are answered without another thread', async (t) => {
    const { lease } = await openLease(t);
    await until(async () => {
      const asleep = sleeps();
      await callAlone(lease);
      return isOnLoan() && sleeps() - asleep < ROUND / 10;
    });
  });

  it('keep to what the host awaits them in', async (t) => {
    const { lease } = await openLease(t);
    await untilOnLoan(lease);
    const storage = new AsyncLocalStorage();
    const order = [];
    await storage.run('here', async () => {
      for (let call = 0; call < ROUND; call += 1) {
        await lease.callTool('echo', { message: 'x' });
        assert.equal(storage.getStore(), 'here');
      }
      process.nextTick(() => order.push('tick'));
      await null;
      order.push('later');
    });
    await new Promise(setImmediate);
    assert.deepEqual(order, ['later', 'tick']);
  });

  it('leave their answer to the library while the loop is blocked', async (t) => {
    const { pool, lease } = await openLease(t);
    await untilOnLoan(lease);
    const [before, end] = [ended(pool), Date.now() + HANG_BOUND_MS];
    const call = lease.callTool('echo', { message: 'late' });
    while (ended(pool) === before && Date.now() < end);
    assert.equal(ended(pool), before + 1);
    assert.equal(textOf(await call), 'late');
  });

  it('do not hold up others that begin meanwhile', async (t) => {
    const { lease } = await openLease(t);
    for (let round = 0; round < REPETITIONS; round += 1) {
      await untilOnLoan(lease);
      const order = [];
      const call = async (name, tool, args) => {
        await lease.callTool(tool, args);
        order.push(name);
      };
      const slow = call('slow', 'sleep', { ms: 30 });
      await within(Promise.all([slow, call('quick', 'echo', { message: 'x' })]), 'both');
      assert.deepEqual(order, ['quick', 'slow']);
    }
  });

  it('have large answers, and errors', async (t) => {
    const { lease } = await openLease(t);
    for (const bytes of [100_000, 1_000_000]) {
      await untilOnLoan(lease);
      for (let call = 0; call < 20; call += 1) assert.equal(textOf(await lease.callTool('big', { bytes })).length, bytes);
    }
    await untilOnLoan(lease);
    const error = await rejection(lease.callTool('error', { code: -32099, message: 'no' }));
    assert.equal(error.detail.code, -32099);
  });

  it('have progress, which is told before the answer', async (t) => {
    const { lease } = await openLease(t);
    for (let round = 0; round < REPETITIONS; round += 1) {
      await untilOnLoan(lease);
      const told = [];
      await lease.callTool('progress', { steps: 3 }, { progress: () => told.push('step') });
      assert.deepEqual(told, ['step', 'step', 'step']);
    }
  });

  // SPEC 4.3
  it('leave what the server says beside them to the library', async (t) => {
    const { lease } = await openLease(t);
    await untilOnLoan(lease);
    const line = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
    const listed = async () => Number(textOf(await lease.callTool('seen', { method: 'tools/list' })));
    const before = await listed();
    await untilOnLoan(lease);
    await lease.callTool('write', { line });
    await until(async () => (await listed()) > before);
  });

  it('end when they are given up, or their time is over', async (t) => {
    const { lease } = await openLease(t);
    for (let round = 0; round < REPETITIONS; round += 1) {
      await untilOnLoan(lease);
      const aborting = new AbortController();
      const call = rejection(lease.callTool('sleep', { ms: 60_000 }, { signal: aborting.signal }));
      aborting.abort();
      assert.equal((await call).name, 'AbortError');
      await untilOnLoan(lease);
      const late = await rejection(lease.callTool('sleep', { ms: 60_000 }, { timeoutMs: 5 }));
      assert.equal(late.code, 'TRUNKLINE_TIMEOUT');
    }
    await callAlone(lease);
  });

  it('end when their server dies, and its pipe is closed', async (t) => {
    for (let round = 0; round < REPETITIONS; round += 1) {
      const { lease } = await openLease(t);
      await untilOnLoan(lease);
      const error = await rejection(lease.callTool('crash', { code: 3 }));
      assert.deepEqual([error.code, error.outcome], ['TRUNKLINE_CALL_INTERRUPTED', 'unknown']);
      await until(() => !isOnLoan());
    }
  });

  it('end with their session, and with their pool', async (t) => {
    const { pool, session, lease } = await openLease(t);
    await untilOnLoan(lease);
    const call = rejection(lease.callTool('sleep', { ms: 60_000 }));
    session.close();
    assert.equal((await call).code, 'TRUNKLINE_CANCELLED');
    const other = await pool.session('b', { servers: [] }).acquire('s');
    await untilOnLoan(other);
    const last = rejection(other.callTool('sleep', { ms: 60_000 }));
    await pool.drainAll({ force: true, timeoutMs: 1_000 });
    assert.match((await last).code, /^TRUNKLINE_(CALL_INTERRUPTED|CANCELLED|CLOSED)$/);
  });

  it('leave the loop free once nothing is in flight', async (t) => {
    const { lease } = await openLease(t);
    await untilOnLoan(lease);
    await until(() => !isOnLoan());
  });
});

describe('a process', () => {
  it('ends by itself after calls one after another, and its server goes', async () => {
    for (const { code, out, err } of await repeat(REPETITIONS, () => run('alone'))) {
      assert.deepEqual({ code, out, err }, { code: 0, out: 'end\n', err: '' });
    }
  });

  it('has progress functions that do not run in what such a call was made in', async () => {
    const { code, out, err } = await run('contexts');
    assert.deepEqual({ code, out, err }, { code: 0, out: 'nobody\n', err: '' });
  });

  it('has workers that are terminated amid such a call', async () => {
    const { code, out, err, starts } = await run('workers', { args: [String(REPETITIONS), '3', 'terminate-alone'] });
    assert.deepEqual({ code, out, err, starts }, { code: 0, out: 'running\nend\n', err: '', starts: REPETITIONS });
  });

  it('has workers that call process.exit amid such a call, or end after it', async () => {
    for (const ending of ['exit-alone', 'natural-alone']) {
      const { code, out, err, starts } = await run('workers', { args: [String(REPETITIONS), '3', ending] });
      assert.deepEqual({ code, out, err, starts }, { code: 0, out: 'running\nend\n', err: '', starts: REPETITIONS });
    }
  });
});
