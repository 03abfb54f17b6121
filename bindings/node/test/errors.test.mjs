// Errors and bad input: SPEC 5.6, 5.12, 16.2, 16.5.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';

import { Pool, TrunklineError } from '../index.mjs';
import { HANG_BOUND_MS, openLease, openPool, rejection, textOf, until, within } from '../testing/support.mjs';

function thrown(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('TrunklineError', () => {
  it('has what INTERFACE names, and a stack that leads to the caller', async (t) => {
    const { lease } = await openLease(t);
    const asked = JSON.parse('{"code":-32001,"message":"no","data":{"some_key":1}}');
    const error = await rejection(
      (async function caller() {
        await lease.callTool('error', asked);
      })(),
    );
    assert.ok(error instanceof TrunklineError);
    assert.ok(error instanceof Error);
    assert.equal(error.name, 'TrunklineError');
    assert.equal(error.code, 'TRUNKLINE_SERVER_ERROR');
    assert.equal(error.server, 's');
    assert.equal(error.retryable, false);
    assert.deepEqual(error.detail, asked);
    assert.match(error.message, /^s: /);
    assert.match(error.stack, /caller/);
  });

  // SPEC 5.6
  it('of an interrupted call gives the arguments back, and does not print them', async (t) => {
    const { lease } = await openLease(t);
    const error = await rejection(lease.callTool('crash', { code: 3, secret: 'tell nobody' }));
    assert.equal(error.code, 'TRUNKLINE_CALL_INTERRUPTED');
    assert.equal(error.outcome, 'unknown');
    assert.equal(error.retryable, false);
    assert.deepEqual(error.arguments, { code: 3, secret: 'tell nobody' });
    assert.equal(error.detail.entryIndex, lease.entryIndex);
    for (const printed of [inspect(error), JSON.stringify(error), String(error), error.stack]) {
      assert.ok(!printed.includes('tell nobody'), printed);
    }
  });
});

describe('the words of others', () => {
  // SPEC 5.12
  it('stay as they are in what a server answers', async (t) => {
    const { lease } = await openLease(t);
    const message = 'missing argument `timeout_ms`; see `limits.frame_bytes` and `sign_in`';
    const error = await rejection(lease.callTool('error', { code: -32602, message }));
    assert.ok(error.message.includes(message), error.message);
    assert.equal(error.detail.message, message);
  });

  // SPEC 5.2, 5.12
  it('stay as they are where tools and servers are named', async (t) => {
    const { lease, log, pool, session } = await openLease(t, { flags: ['--list-changes'] });
    await lease.callTool('change_list', { add: 'sign_in' });
    await until(() => lease.tools().some(({ ownName }) => ownName === 'sign_in'));
    const near = await rejection(lease.callTool('sign_i'));
    assert.equal(near.code, 'TRUNKLINE_TOOL_NOT_FOUND');
    assert.equal(near.detail.nearest, 'sign_in');
    assert.match(near.hint, /`sign_in`/);
    assert.match((await rejection(lease.callTool('add_server'))).message, /`add_server`/);
    pool.addServer('drain_delay_ms', log.server());
    const other = await rejection(session.acquire('drain_delay_m'));
    assert.equal(other.code, 'TRUNKLINE_NOT_ADMITTED');
    assert.equal(other.detail.nearest, 'drain_delay_ms');
    assert.match(other.hint, /`drain_delay_ms`/);
  });
});

describe('bad input', () => {
  // SPEC 16.5
  it('unknown options are named as they were written, with the nearest', () => {
    const error = thrown(() => new Pool({ drainDelyMs: 5 }));
    assert.equal(error.code, 'TRUNKLINE_UNKNOWN_OPTION');
    assert.equal(error.detail.option, 'drainDelyMs');
    assert.equal(error.detail.nearest, 'drainDelayMs');
    assert.match(error.message, /`drainDelyMs`/);
    assert.match(error.hint, /`drainDelayMs`/);
    const nested = thrown(() => new Pool({ limits: { frameByte: 5 } }));
    assert.equal(nested.detail.option, 'limits.frameByte');
    assert.equal(nested.detail.nearest, 'limits.frameBytes');
  });

  it('a member that is given twice is named as it is written', async (t) => {
    const { lease } = await openLease(t);
    const params = { name: 'a', _meta: {} };
    const error = await rejection(lease.request('prompts/get', params, { meta: {} }));
    assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT');
    assert.match(error.message, /`_meta` is given twice/);
  });

  it('what to do about a time that was too short is said in the names of options', async (t) => {
    const { lease } = await openLease(t);
    const error = await rejection(lease.callTool('sleep', { ms: 60000 }, { timeoutMs: 50 }));
    assert.equal(error.code, 'TRUNKLINE_TIMEOUT');
    assert.match(error.hint, /`timeoutMs` of the call, or `callTimeoutMs` of the pool/);
  });

  it('what a caller, and no option, is called stays as it is', async (t) => {
    const { lease, pool } = await openLease(t, { session: { exclude: { s: ['my_prompt'] } } });
    assert.match((await rejection(lease.getPrompt('my_prompt'))).message, /"my_prompt"/);
    const options = { servers: [], include: { my_server: 5 } };
    const error = thrown(() => pool.session('another', options));
    assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT');
    assert.match(error.message, /`include\.my_server`/);
    assert.equal(error.detail.path, 'include.my_server');
    pool.session('my_id', { servers: [] });
    assert.match(thrown(() => pool.session('my_id', { servers: [] })).message, /"my_id"/);
  });

  it('an option has one spelling', () => {
    const error = thrown(() => new Pool({ drain_delay_ms: 5 }));
    assert.equal(error.code, 'TRUNKLINE_UNKNOWN_OPTION');
    assert.equal(error.detail.nearest, 'drainDelayMs');
  });

  it('wrong values are refused by their path', () => {
    const cases = [
      [{ workers: 0 }, 'workers'],
      [{ limits: { frameBytes: 'many' } }, 'limits.frameBytes'],
      [{ inheritEnv: 'HOME' }, 'inheritEnv'],
      [{ workspace: () => '.' }, 'workspace'],
      [{ callTimeoutMs: NaN }, 'callTimeoutMs'],
      [{ limits: { processes: Infinity } }, 'limits.processes'],
      [{ inheritEnv: ['HOME', 5] }, 'inheritEnv[1]'],
      [{ reconnect: { delaysMs: { local: 5 } } }, 'reconnect.delaysMs.local'],
      [{ reconnect: { breaker: { windowMs: 'x' } } }, 'reconnect.breaker.windowMs'],
      [{ reconnect: { healthyAfterMs: -1 } }, 'reconnect.healthyAfterMs'],
      [{ handlers: { samplingTool() {} } }, 'handlers.samplingTool'],
    ];
    for (const [options, path] of cases) {
      const error = thrown(() => new Pool(options));
      assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT', path);
      assert.equal(error.detail.path, path);
      assert.ok(error.message.includes(path.replace('handlers.', '')), error.message);
    }
    for (const options of [5, 'x', [], () => {}]) {
      assert.equal(thrown(() => new Pool(options)).code, 'TRUNKLINE_INVALID_ARGUMENT');
    }
  });

  // SPEC 5.12
  it('what to do is said in the names of Node', () => {
    const advice = 'correct the value that `detail.path` names';
    for (const options of [{ workers: 0 }, { handlers: 5 }, { workspace: () => '.' }, { cache: 1n }]) {
      assert.equal(thrown(() => new Pool(options)).hint, advice, inspect(options));
    }
    const { hint } = thrown(() => new Pool({ handlers: { samplingTool() {} } }));
    assert.match(hint, /`samplingTools`/);
    assert.match(hint, /`elicitationUrl`/);
  });

  // SPEC 11.6, 5.12
  it('what an explanation advises is in the names of Node as well', async (t) => {
    const { log, pool } = openPool(t);
    await pool.reconcile({ s: { command: '/no/such/program' }, quiet: log.server() });
    const session = pool.session('a', { servers: ['s'] });
    await rejection(session.ready('s', { timeoutMs: HANG_BOUND_MS }));
    assert.match(session.explain('s').remedy, /`lastError`/);
    const error = await rejection(session.callTool('mcp__s__echo'));
    assert.match(error.detail.explanation.remedy, /`lastError`/);
  });

  // SPEC 5.12, 16.5
  it('an argument that is not a text is named', async (t) => {
    const { lease, pool, session } = await openLease(t);
    const cases = [
      [() => lease.callTool(), 'tool'],
      [() => session.callTool(5, {}), 'tool'],
      [() => lease.callTool(null, {}, { signal: new AbortController().signal }), 'tool'],
      [() => lease.request({}), 'method'],
      [() => lease.readResource(), 'uri'],
      [() => lease.getPrompt(), 'name'],
      [() => lease.subscribeResource(), 'uri'],
      [() => lease.unsubscribeResource(), 'uri'],
      [() => session.acquire(), 'server'],
      [() => session.ready(5), 'server'],
      [() => session.explain(), 'name'],
      [() => session.provide(undefined, () => {}), 'server'],
      [() => session.disable(), 'server'],
      [() => session.enable(), 'server'],
      [() => pool.session(), 'id'],
      [() => pool.acquire(5, {}, { session: 'a' }), 'server'],
      [() => pool.restart(), 'server'],
      [() => pool.acceptTool('s', 'echo'), 'digest'],
      [() => pool.setSource(undefined, {}), 'source'],
      [() => pool.switchSource(undefined, 'on'), 'source'],
      [() => pool.addServer(undefined, {}), 'server'],
      [() => pool.removeServer(), 'server'],
      [() => pool.setTrusted(), 'trusted'],
      [() => pool.approve('s'), 'hash'],
      [() => pool.reject('s'), 'hash'],
      [() => pool.forget(), 'server'],
      [() => pool.signIn(), 'server'],
      [() => pool.signOut(), 'server'],
      [() => pool.explain(), 'name'],
    ];
    for (const [start, path] of cases) {
      const error = await rejection((async () => start())());
      assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT', String(start));
      assert.equal(error.detail.path, path, String(start));
      assert.match(error.message, new RegExp(`\`${path}\` must be (a |true )`), String(start));
    }
    assert.match(thrown(() => session.explain()).message, /, not undefined$/);
  });

  // SPEC 5.12
  it('a call that is refused was not sent, no matter who refuses it', async (t) => {
    const { lease, session } = await openLease(t, { session: { exclude: { s: ['hidden'] } } });
    const { signal } = new AbortController();
    const calls = [
      () => lease.callTool(5),
      () => lease.callTool('echo', { n: 1n }),
      () => lease.callTool('echo', {}, { retry: 'always' }),
      () => lease.callTool('echo', {}, { signal: 5 }),
      () => lease.callTool('echo', {}, { signal, timeout: 5 }),
      () => lease.readResource('test://x', { retry: 'always' }),
      () => lease.complete(),
      () => lease.request('initialize'),
      () => lease.getPrompt('hidden'),
      () => lease.getPrompt('greet', []),
      () => session.callTool('mcp__s__echo', {}, { timeoutMs: () => 5 }),
    ];
    for (const call of calls) assert.equal((await rejection(call())).outcome, 'not_sent', String(call));
    assert.equal((await rejection(session.acquire('s', null, { timeout: 5 }))).outcome, undefined);
    lease.release();
    assert.equal((await rejection(lease.getPrompt('greet'))).outcome, 'not_sent');
  });

  it('arguments that JSON cannot write, or that are not an object', async (t) => {
    const { lease } = await openLease(t);
    const circle = {};
    circle.circle = circle;
    for (const args of [circle, { n: 1n }, ['x'], 'x', 5, () => {}]) {
      const error = await rejection(lease.callTool('echo', args));
      assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT', inspect(args));
    }
    assert.equal((await rejection(lease.callTool(5, {}))).code, 'TRUNKLINE_INVALID_ARGUMENT');
    assert.equal((await rejection(lease.callTool())).code, 'TRUNKLINE_INVALID_ARGUMENT');
    assert.equal(textOf(await lease.callTool('echo', { message: 'fine' })), 'fine');
  });

  it('an acquire in the pool that says for no session', async (t) => {
    const { pool, log } = openPool(t);
    for (const options of [undefined, {}, { session: 5 }]) {
      const error = await rejection(pool.acquire('s', log.server(), options));
      assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT');
      assert.equal(error.detail.path, 'session');
    }
  });

  // SPEC 9.2
  it('a restart of an entry by what is no index', async (t) => {
    const { pool } = await openLease(t);
    for (const index of [NaN, Infinity, 0.5, '0', {}]) {
      const error = await rejection(pool.restart('s', index));
      assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT', inspect(index));
      assert.equal(error.detail.path, 'index');
    }
    for (const index of [0, null, undefined]) assert.equal((await pool.restart('s', index)).entries.length, 1);
  });

  // SPEC 9.1
  it('no entry, by an index that none has', async (t) => {
    const { pool, lease } = await openLease(t);
    for (const index of [7, -1, 2 ** 32, 2 ** 40, -(2 ** 70)]) {
      assert.deepEqual((await pool.restart('s', index)).entries, [], String(index));
    }
    assert.equal(lease.generation, 1);
  });

  // SPEC 16.1: in no language another text is sent in its place.
  it('texts with half a surrogate pair', async (t) => {
    const { pool, session, lease } = await openLease(t);
    const half = 'a\ud83d';
    const refused = [
      ['tool', 'not_sent', () => lease.callTool(half, {})],
      ['uri', 'not_sent', () => lease.readResource(half)],
      ['name', 'not_sent', () => lease.getPrompt(half)],
      ['method', 'not_sent', () => lease.request(half)],
      ['uri', undefined, () => lease.subscribeResource(half)],
      ['server', undefined, () => pool.restart(half)],
      ['source', undefined, async () => pool.setSource(half, null)],
      ['settings', undefined, async () => pool.setSource('mine', half)],
      ['path', undefined, () => pool.load(half)],
      ['server', undefined, async () => session.disable(half)],
      ['server', undefined, async () => session.provide(half, () => {})],
    ];
    for (const [path, outcome, call] of refused) {
      const error = await rejection(call());
      assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT', path);
      assert.equal(error.detail.path, path);
      assert.equal(error.outcome, outcome, path);
    }
    await lease.callTool('echo', { message: 'a\u0000😀' });
  });

  it('a session without an id, and one that is open already', (t) => {
    const { pool } = openPool(t);
    assert.equal(thrown(() => pool.session()).code, 'TRUNKLINE_INVALID_ARGUMENT');
    assert.equal(thrown(() => pool.session(5)).code, 'TRUNKLINE_INVALID_ARGUMENT');
    pool.session('a', { servers: [] });
    const error = thrown(() => pool.session('a'));
    assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT');
  });

  it('methods that are called on something else throw what JavaScript throws', () => {
    assert.throws(() => Pool.prototype.status.call({}), TypeError);
  });
});

describe('servers that do not come up', () => {
  const cases = [
    ['a missing command', () => ({ command: '/no/such/program' }), 'TRUNKLINE_SPAWN_FAILED'],
    ['a program that exits at once', (log) => log.server('--exit-at-start', '7'), 'TRUNKLINE_EXITED'],
    ['one that dies between initialize and list', (log) => log.server('--die-before-list'), 'TRUNKLINE_EXITED'],
    ['one that never answers', (log) => log.server('--silent'), 'TRUNKLINE_TIMEOUT', 500],
  ];
  for (const [name, config, code, connectTimeoutMs = HANG_BOUND_MS] of cases) {
    // SPEC 4.6
    it(`${name}: a typed error, and nothing left`, async (t) => {
      const { pool, log } = openPool(t, { connectTimeoutMs });
      await pool.reconcile({ s: config(log) });
      const session = pool.session('a', { servers: [] });
      const error = await rejection(session.acquire('s', null, { timeoutMs: HANG_BOUND_MS }));
      assert.equal(error.code, code);
      assert.equal(error.server, 's');
    });
  }
});

describe('what is closed', () => {
  // SPEC 3.10, 16.4
  it('close rejects what is pending, promptly', async (t) => {
    const { pool, lease } = await openLease(t);
    const calls = Array.from({ length: 20 }, () => rejection(lease.callTool('sleep', { ms: 60_000 })));
    await within(pool.drainAll({ force: true }), 'drain');
    for (const error of await Promise.all(calls)) assert.ok(error instanceof TrunklineError);
    await within(pool.close(), 'close');
    await within(pool.close(), 'a second close');
  });

  // SPEC 3.10, 9.7
  it('answers with typed errors, and status still works', async (t) => {
    const { pool, session, lease } = await openLease(t);
    await within(pool.close(), 'close');
    const codes = ['TRUNKLINE_CLOSED', 'TRUNKLINE_CLOSING'];
    assert.ok(codes.includes(thrown(() => pool.session('b')).code));
    assert.ok(codes.includes((await rejection(session.acquire('s'))).code));
    assert.ok(codes.includes((await rejection(lease.callTool('echo', { message: 'x' }))).code));
    assert.equal(typeof pool.status(), 'object');
    pool.on('tools_changed', () => {});
  });

  // SPEC 3.6
  it('a lease is released once, however often that is said', async (t) => {
    const { lease } = await openLease(t);
    lease.release();
    lease.release();
    const error = await rejection(lease.callTool('echo', { message: 'x' }));
    assert.ok(['TRUNKLINE_CLOSED', 'TRUNKLINE_BAD_HANDLE'].includes(error.code), error.code);
  });
});
