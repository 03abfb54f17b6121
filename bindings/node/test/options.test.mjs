// Options of methods: one that does not exist is refused, null is absent, and a wrong value is an error of ours (SPEC 16.5).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';

import { Pool, startLogs } from '../index.mjs';
import { openLease } from '../testing/support.mjs';

/** What it throws, or rejects with. */
async function failure(start) {
  try {
    await start();
  } catch (error) {
    return error;
  }
  return assert.fail(`nothing was refused by ${start}`);
}

function refused(error, option, nearest, what) {
  assert.equal(error.code, 'TRUNKLINE_UNKNOWN_OPTION', what);
  assert.deepEqual(error.detail, nearest === undefined ? { option } : { option, nearest }, what);
  assert.ok(error.message.includes(`\`${option}\``), what);
  assert.ok(nearest === undefined || error.hint.includes(`\`${nearest}\``), what);
}

/** Per object, the methods that wait, and their arguments before the options. */
const WAITING = {
  pool: {
    acceptTool: ['s', 'echo', 'digest'],
    acquire: ['s', {}],
    approvals: [],
    approve: ['s', 'hash'],
    drainAll: [],
    finishSignIn: ['http://localhost/'],
    forget: ['s'],
    load: ['none.json'],
    reconcile: [{}],
    reject: ['s', 'hash'],
    reload: [],
    restart: ['s', null],
    setRoots: [['.']],
    setTrusted: [true],
    settled: [],
    signIn: ['s'],
    signOut: ['s'],
  },
  session: { acquire: ['s', null], callTool: ['mcp__s__echo', {}], ready: ['s'], started: [] },
  lease: {
    callTool: ['echo', {}],
    complete: [{}],
    getPrompt: ['p', {}],
    readResource: ['test://x'],
    request: ['ping', {}],
    subscribeResource: ['test://x'],
    unsubscribeResource: ['test://x'],
  },
};

describe('an option that does not exist', () => {
  it('is refused by every method that waits, with the nearest', async (t) => {
    const objects = await openLease(t);
    for (const [name, methods] of Object.entries(WAITING)) {
      for (const [method, given] of Object.entries(methods)) {
        const what = `${name}.${method}`;
        const error = await failure(() => objects[name][method](...given, { sginal: null }));
        refused(error, 'sginal', 'signal', what);
      }
    }
    assert.equal((await objects.lease.callTool('echo', { message: 'as before' })).content[0].text, 'as before');
  });

  it('is refused where only some are JavaScript\'s own', async (t) => {
    const { pool, session } = await openLease(t);
    const cases = [
      [() => session.ready({ timeout: 50 }), 'timeout', 'timeoutMs'],
      [() => session.ready({ timeoutMS: 50 }), 'timeoutMS', 'timeoutMs'],
      [() => session.ready({ origin: 'session' }), 'origin'],
      [() => pool.settled({ timeout_ms: 50 }), 'timeout_ms', 'timeoutMs'],
      [() => session.close({ keepFor: 60_000 }), 'keepFor', 'keepForMs'],
      [() => session.close({ follow: true }), 'follow'],
      [() => pool.events({ kind: ['log'] }), 'kind', 'kinds'],
      [() => session.events({ kind: ['log'] }), 'kind', 'kinds'],
      [() => startLogs(() => {}, { levle: 'debug' }), 'levle', 'level'],
      [() => new Pool({ handler: {} }), 'handler', 'handlers'],
      [() => pool.session('b', { handler: {} }), 'handler', 'handlers'],
      [() => pool.session('b', { id: 'c' }), 'id'],
    ];
    for (const [start, option, nearest] of cases) refused(await failure(start), option, nearest, String(start));
    // Nothing of it was closed.
    await session.ready();
  });

  it('counts as absent where its value is undefined', async (t) => {
    const { session } = await openLease(t);
    await session.ready({ timeout: undefined });
  });
});

describe('an object that holds no options', () => {
  const others = [AbortSignal.timeout(60_000), new AbortController(), new Map([['timeoutMs', 5]]), new Date(), /x/, new URL('http://localhost/')];

  it('is refused in their place, by every method that waits', async (t) => {
    const objects = await openLease(t);
    for (const [name, methods] of Object.entries(WAITING)) {
      for (const [method, given] of Object.entries(methods)) {
        const error = await failure(() => objects[name][method](...given, AbortSignal.timeout(60_000)));
        assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT', `${name}.${method}`);
        assert.equal(error.detail.path, 'options', `${name}.${method}`);
        assert.equal(error.message, 'the options must be an object, not an AbortSignal');
        assert.match(error.hint, /`\{ signal \}`/);
      }
    }
  });

  it('is refused whatever it is', async (t) => {
    const { pool, session, lease } = await openLease(t);
    for (const other of others) {
      const starts = [() => new Pool(other), () => pool.session('b', other), () => pool.status(other), () => pool.events(other)];
      for (const start of [...starts, () => session.configure(other), () => session.ready(other)]) {
        const error = await failure(start);
        assert.deepEqual([error.code, error.detail.path], ['TRUNKLINE_INVALID_ARGUMENT', 'options'], String(start));
      }
    }
    for (const other of others.slice(0, 3)) {
      const error = await failure(() => lease.callTool('echo', other));
      assert.deepEqual([error.code, error.detail.path, error.outcome], ['TRUNKLINE_INVALID_ARGUMENT', 'arguments', 'not_sent']);
    }
  });

  it('is understood where it has members: of a class, of a module, of another realm', async (t) => {
    const { session } = await openLease(t);
    class Times {
      timeoutMs = 60_000;
    }
    for (const options of [new Times(), runInNewContext('({ timeoutMs: 60000 })'), Object.create(null), runInNewContext('({})')]) await session.ready(options);
  });
});

describe('null is absent', () => {
  it('in options that are JavaScript\'s own', async (t) => {
    const { pool, session } = await openLease(t);
    await session.ready({ timeoutMs: null, signal: null });
    await pool.settled({ timeoutMs: null });
    await pool.events(null).return();
    assert.equal(pool.status(null).v, pool.status().v);
    await pool.events({ kinds: null }).return();
    await session.events(null).return();
    startLogs(() => {}, { level: null }).close();
    session.close({ keepForMs: null });
  });

  it('and so is undefined, of handlers', async (t) => {
    const { pool } = await openLease(t, { options: { handlers: { elicitation: undefined, sampling: null } } });
    pool.session('b', { servers: [], handlers: { logging: undefined, elicitation: null } });
  });
});

describe('a value of the wrong type', () => {
  it('is an error of ours, by its path', async (t) => {
    const { pool, session } = await openLease(t);
    const cases = [
      [() => session.toolsFor(1), 'shape'],
      [() => pool.load(new URL('https://x')), 'path'],
      [() => pool.load(5), 'path'],
      [() => pool.events({ kinds: 5 }), 'kinds'],
      [() => pool.events({ kinds: 'log' }), 'kinds'],
      [() => pool.events({ kinds: ['none'] }), 'kinds'],
      [() => pool.events(5), 'options'],
      [() => session.ready({ timeoutMs: 'long' }), 'timeoutMs'],
      [() => session.close({ keepForMs: -1 }), 'keepForMs'],
      [() => new Pool({ workspace: '.', limits: { processes: 1n } }), 'limits.processes'],
      [() => pool.session('b', { include: { s: 1n } }), 'include'],
    ];
    for (const [start, path] of cases) {
      const error = await failure(start);
      assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT', String(start));
      assert.equal(error.detail.path, path, String(start));
    }
  });
});
