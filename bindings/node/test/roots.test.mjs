// The folders that servers are told of: SPEC 15.2.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { openPool, rejection } from '../testing/support.mjs';

// SPEC 15.2, 16.4
it('folders are looked at beside the event loop', async (t) => {
  const { pool } = openPool(t);
  // As much as may be given, and as long to follow.
  const slow = Array.from({ length: 290 }, () => `/${'tmp/../'.repeat(500)}`);
  let isOver = false;
  const changing = pool.setRoots(slow).finally(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns += 1) await new Promise(setImmediate);
  await changing;
  assert.ok(turns > 10, `${turns} turns of the loop`);
});

// SPEC 15.2, 5.5
it('what is not a folder is refused, and a change that is not begun can be taken back', async (t) => {
  const { pool } = openPool(t);
  const error = await rejection(pool.setRoots(['/', 'no/such/folder']));
  assert.deepEqual([error.code, error.detail.path], ['TRUNKLINE_INVALID_ARGUMENT', 'roots[1]']);
  const signal = AbortSignal.abort();
  assert.equal(await rejection(pool.setRoots(['no/such/folder'], { signal })), signal.reason);
});
