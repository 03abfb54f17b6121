// What the library logs, for a function of the host (SPEC 16.7).

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';

import { startLogs } from '../index.mjs';
import { HANG_BOUND_MS, openLease, packageFolder, within } from '../testing/support.mjs';

/** Records, in the batches in which they came. */
function kept(t, options) {
  const batches = [];
  const logs = startLogs((records) => batches.push(records), options);
  t.after(() => logs.close());
  return { logs, batches, records: () => batches.flat() };
}

describe('what the library logs', { concurrency: false }, () => {
  it('comes in batches, from the level on', async (t) => {
    const { logs, batches, records } = kept(t);
    const { lease, pool } = await openLease(t);
    await lease.callTool('echo', { message: 'hi' });
    await within(pool.close(), 'close');
    logs.close();
    const [{ level, logger, fields, timeMs }] = records().filter(({ message }) => message === 'connected');
    assert.deepEqual([level, logger, fields.server], ['info', 'trunkline.client.connect', 's']);
    assert.ok(timeMs > 1_600_000_000_000);
    assert.ok(records().every((record) => ['error', 'warn', 'info'].includes(record.level)));
    assert.ok(batches.every((batch) => batch.length > 0));
  });

  it('ends with its close, and nothing comes unasked', async (t) => {
    const { logs, records } = kept(t, { level: 'trace' });
    logs.close();
    logs.close();
    const before = records().length;
    const { pool } = await openLease(t);
    await within(pool.close(), 'close');
    assert.equal(records().length, before);
  });

  it('goes to who asked last', async (t) => {
    const first = kept(t, { level: 'error' });
    const second = kept(t, { level: 'debug' });
    first.logs.close();
    const { pool } = await openLease(t);
    await within(pool.close(), 'close');
    second.logs.close();
    assert.ok(second.records().some(({ level }) => level === 'debug'));
    assert.deepEqual(first.records(), []);
  });

  it('goes on after a function that throws', async (t) => {
    const thrown = [];
    const listen = (error) => thrown.push(error.message);
    process.setUncaughtExceptionCaptureCallback(listen);
    t.after(() => process.setUncaughtExceptionCaptureCallback(null));
    let batches = 0;
    const logs = startLogs(() => {
      batches += 1;
      throw new Error('not today');
    });
    const { lease, pool } = await openLease(t);
    await lease.callTool('echo', { message: 'hi' });
    await within(pool.close(), 'close');
    logs.close();
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(batches > 0);
    assert.deepEqual(thrown, Array.from({ length: batches }, () => 'not today'));
  });

  it('needs a function and a level that there is', () => {
    assert.throws(() => startLogs(), { code: 'TRUNKLINE_INVALID_ARGUMENT' });
    assert.throws(() => startLogs(() => {}, { level: 'loud' }), { code: 'TRUNKLINE_INVALID_ARGUMENT', detail: { path: 'level' } });
    assert.throws(() => startLogs(() => {}, { levels: 'info' }), { code: 'TRUNKLINE_UNKNOWN_OPTION' });
  });

  it('keeps no process alive, and ends with its thread', async () => {
    const program = `const { startLogs } = require(${JSON.stringify(join(packageFolder, 'index.cjs'))}); startLogs(() => {}); console.log('on');`;
    const out = execFileSync(process.execPath, ['-e', program], { encoding: 'utf8', timeout: HANG_BOUND_MS });
    assert.equal(out, 'on\n');
    const worker = new Worker(program, { eval: true, stdout: true });
    await within(once(worker, 'exit'), 'the end of the worker');
  });
});
