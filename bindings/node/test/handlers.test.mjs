// What a host answers to the requests of servers: SPEC 15.1.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';

import { Refusal, TrunklineError } from '../index.mjs';
import { HANG_BOUND_MS, blockUntil, openLease, openPool, rejection, textOf, until, within } from '../testing/support.mjs';

const FORM = { method: 'elicitation/create', params: { message: 'name?' } };
const ACCEPTED = { action: 'accept', content: { name: 'Ada', n: 1.5 } };

async function leaseOf(t, options, sessionOptions) {
  const { lease, session } = await openLease(t, { options, session: sessionOptions });
  const ask = async (args) => JSON.parse(textOf(await lease.callTool('ask', args)));
  return { ask, lease, session };
}

describe('handlers', () => {
  // SPEC 15.1
  it('answer for their session, whose own come before those of the pool', async (t) => {
    const requests = [];
    const logged = [];
    const wrong = () => assert.fail('the session has its own');
    const samplingTools = ({ params }) => ({ of: params.of });
    const own = {
      async elicitation(request) {
        requests.push(request);
        return ACCEPTED;
      },
      logging: (event) => logged.push(event.data),
    };
    const { ask, lease } = await leaseOf(t, { handlers: { elicitation: wrong, samplingTools } }, { handlers: own });
    assert.deepEqual(await ask(FORM), { result: ACCEPTED });
    const sampled = await ask({ method: 'sampling/createMessage', params: { of: 7 } });
    assert.deepEqual(sampled, { result: { of: 7 } });
    await lease.callTool('log', { text: 'heard' });
    await until(() => logged.length === 1);
    assert.deepEqual(logged, ['heard']);
    const who = { server: 's', entryIndex: 0, generation: 1, session: 'a' };
    assert.deepEqual(requests, [{ kind: 'elicitation', ...FORM, ...who }]);
  });

  // SPEC 15.1, 16.2
  it('that throw what cannot be looked at are clean errors as well', async (t) => {
    const fail = () => {
      throw new Error('do not look');
    };
    const unseen = new Proxy({}, { get: fail, getPrototypeOf: fail, has: fail });
    const elicitation = () => {
      throw unseen;
    };
    const { ask } = await leaseOf(t, {}, { handlers: { elicitation } });
    const warned = once(process, 'warning');
    assert.deepEqual(await ask(FORM), { error: { code: -32603, message: 'the handler failed' } });
    assert.equal((await warned)[0].code, 'TRUNKLINE_HANDLER_FAILED');
  });

  // SPEC 15.1, 16.2
  it('that throw are clean errors', async (t) => {
    const elicitation = async ({ params }) => {
      if (params.refuse) throw new Refusal(-1, 'not now');
      if (params.nothing) return undefined;
      throw new Error('a secret of the host');
    };
    const { ask } = await leaseOf(t, {}, { handlers: { elicitation } });
    const failed = { error: { code: -32603, message: 'the handler failed' } };
    const warned = once(process, 'warning');
    assert.deepEqual(await ask(FORM), failed);
    assert.equal((await warned)[0].code, 'TRUNKLINE_HANDLER_FAILED');
    assert.deepEqual(await ask({ ...FORM, params: { nothing: true } }), failed);
    const refused = await ask({ ...FORM, params: { refuse: true } });
    assert.deepEqual(refused, { error: { code: -1, message: 'not now' } });
  });

  // SPEC 15.1, 16.2
  it('of the log that throw or reject are warnings, and are told the rest', async (t) => {
    const told = [];
    const warnings = [];
    const warn = (warning) => warnings.push(warning.code);
    process.on('warning', warn);
    t.after(() => process.off('warning', warn));
    const ways = { throws: () => { throw new Error('as asked'); }, rejects: async () => { throw undefined; } };
    const logging = ({ data }) => {
      told.push(data);
      return ways[data]?.();
    };
    const { lease } = await leaseOf(t, {}, { handlers: { logging } });
    for (const text of ['throws', 'rejects', 'last']) await lease.callTool('log', { text });
    await until(() => told.length === 3 && warnings.length === 2);
    assert.deepEqual(warnings, ['TRUNKLINE_HANDLER_FAILED', 'TRUNKLINE_HANDLER_FAILED']);
  });

  // SPEC 15.1
  it('refuse with a code that JSON-RPC has', () => {
    for (const code of [undefined, NaN, 1.5, '1', 1n, 2 ** 31, -(2 ** 31) - 1]) {
      const refused = (error) => error instanceof TrunklineError && error.detail.path === 'code';
      assert.throws(() => new Refusal(code, 'no'), refused, String(code));
    }
    for (const code of [0, -1, 2 ** 31 - 1, -(2 ** 31)]) assert.equal(new Refusal(code, 'no').code, code);
  });

  // SPEC 15.1
  it('hear when nobody waits for them any more', async (t) => {
    const signals = [];
    const elicitation = (_request, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    };
    const { lease, session } = await leaseOf(t, {}, { handlers: { elicitation } });
    // A request that is taken back before it got here is no handler's.
    while (signals.length === 0) {
      assert.equal(textOf(await lease.callTool('ask', { ...FORM, take_back_ms: 20 })), 'taken back');
    }
    await until(() => signals[0].aborted);
    const call = lease.callTool('ask', FORM);
    await until(() => signals.length === 2);
    session.close();
    await rejection(call);
    await until(() => signals[1].aborted);
  });

  // SPEC 15.1, 16.2, I-16
  it('are called no more once their session is closed', async (t) => {
    const called = [];
    const handlers = { elicitation: () => called.push('elicitation'), logging: ({ data }) => called.push(data) };
    const { lease, pool, session } = await openLease(t, { session: { handlers } });
    await lease.callTool('log', { text: 'before' });
    await until(() => called.length === 1);
    const asking = lease.callTool('ask', FORM);
    const logging = lease.callTool('log', { text: 'after' });
    // The end of a call is told after what the server logged, and nothing is told here meanwhile.
    const isLogged = () => pool.status().usage[0].inFlight === 1;
    blockUntil(isLogged, HANG_BOUND_MS);
    assert.ok(isLogged());
    session.close();
    assert.equal(textOf(await within(logging, 'the call that logs')), 'logged');
    await rejection(asking);
    assert.deepEqual(called, ['before']);
  });

  // SPEC 15.1, 16.2, I-16
  it('are called no more once one of them has closed their session', async (t) => {
    const called = [];
    const logging = ({ data }) => {
      called.push(data);
      session.close();
    };
    const { lease, pool, session } = await openLease(t, { session: { handlers: { logging } } });
    const calls = ['first', 'second'].map((text) => lease.callTool('log', { text }));
    const areLogged = () => pool.status().usage[0].inFlight === 0;
    blockUntil(areLogged, HANG_BOUND_MS);
    assert.ok(areLogged());
    await within(Promise.all(calls), 'the calls');
    await until(() => called.length > 0);
    assert.deepEqual(called, ['first']);
  });

  // SPEC 16.5
  it('that cannot be used are refused', (t) => {
    for (const [handlers, path] of [
      [{ samplings: () => {} }, 'handlers.samplings'],
      [{ sampling_tools: () => {} }, 'handlers.sampling_tools'],
      [{ sampling: 1 }, 'handlers.sampling'],
      [1, 'handlers'],
    ]) {
      const refused = (error) => error instanceof TrunklineError && error.detail.path === path;
      assert.throws(() => openPool(t, { handlers }), refused, path);
    }
  });
});
