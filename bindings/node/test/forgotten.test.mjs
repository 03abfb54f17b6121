// What a host forgets is collected, although its functions refer to it: SPEC 9.8, 16.4.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { startLogs } from '../index.mjs';
import { openPool, textOf, until } from '../testing/support.mjs';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

const FORM = { method: 'elicitation/create', params: { message: 'name?' } };

/** Waits until the collector has taken it. */
const untilGone = (weak, what) =>
  until(
    () => {
      collect();
      return weak.deref() === undefined;
    },
    () => `${what} is still there`,
  );

/** A session that was used and never closed, with handlers and a server of its own that refer to it. */
async function conversation(pool, tell) {
  const handlers = { elicitation: () => ({ action: 'accept', content: { of: session.id } }) };
  const session = pool.session('a', { servers: [], handlers });
  session.provide('own', () => tell(session.id));
  const lease = await session.acquire('s');
  return { session, lease, handler: handlers.elicitation };
}

describe('a session that is forgotten', () => {
  it('goes, and its handlers, its server and its lease with it', async (t) => {
    const { pool, log } = openPool(t, { drainDelayMs: 0 });
    await pool.reconcile({ s: log.server() });
    const seen = await (async () => {
      const { session, lease, handler } = await conversation(pool, () => {});
      assert.equal(JSON.parse(textOf(await lease.callTool('ask', FORM))).result.content.of, 'a');
      return [new WeakRef(session), new WeakRef(handler), new WeakRef(lease)];
    })();
    for (const weak of seen) await untilGone(weak, 'what it was made of');
    await until(() => log.running.length === 0, () => 'its server still runs');
  });

  // SPEC 15.1: of a request that was withdrawn nothing keeps the handler, which may never end.
  it('goes although its handler never ends, once nobody waits for that', async (t) => {
    const { pool, log } = openPool(t, { drainDelayMs: 0 });
    await pool.reconcile({ s: log.server() });
    const seen = await (async () => {
      let asked = 0;
      const elicitation = () => {
        asked += 1;
        return new Promise(() => session.id);
      };
      const session = pool.session('a', { servers: [], handlers: { elicitation } });
      const lease = await session.acquire('s');
      // A request that is taken back before it got here is no handler's.
      while (asked === 0) await lease.callTool('ask', { ...FORM, take_back_ms: 20 });
      return new WeakRef(session);
    })();
    await untilGone(seen, 'the session');
  });

  it('is there as long as its lease, or a call of it, and its handlers answer', async (t) => {
    const { pool, log } = openPool(t, { drainDelayMs: 0 });
    await pool.reconcile({ s: log.server() });
    const { session, lease } = await conversation(pool, () => {}).then(({ session, lease }) => ({
      session: new WeakRef(session),
      lease,
    }));
    for (let times = 0; times < 5; times += 1) {
      collect();
      await new Promise(setImmediate);
    }
    assert.equal(JSON.parse(textOf(await lease.callTool('ask', FORM))).result.action, 'accept');
    assert.notEqual(session.deref(), undefined);
    lease.release();
  });
});

/** A server in a few lines, which tells when its connection is over. */
function telling() {
  const seen = { closed: 0 };
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' } },
    'tools/list': { tools: [{ name: 'hello', inputSchema: { type: 'object' } }] },
  };
  const receive = (connection, frame) => {
    const { id, method } = JSON.parse(frame);
    if (id === undefined) return;
    const error = { code: -32601, message: 'no such method' };
    const answer = results[method] === undefined ? { error } : { result: results[method] };
    connection.send(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  };
  const closed = () => {
    seen.closed += 1;
  };
  return { seen, receive, closed };
}

describe('a session that has only a stream of events left', () => {
  it('is there as long as that, and what it provides hears of its connections', async (t) => {
    const { pool } = openPool(t, { drainDelayMs: 0 });
    const { seen, receive, closed } = telling();
    const left = await (async () => {
      const session = pool.session('a', { servers: [] });
      session.provide('own', receive, closed);
      const lease = await session.acquire('own');
      return { stream: session.events(), session: new WeakRef(session), lease: new WeakRef(lease) };
    })();
    await untilGone(left.lease, 'the lease');
    await until(() => seen.closed === 1, () => 'the end of the connection is not told');
    assert.notEqual(left.session.deref(), undefined);
    await left.stream.return();
    await untilGone(left.session, 'the session');
  });
});

describe('a function that is told what is logged', () => {
  // SPEC 16.7
  it('goes once another took its place', async (t) => {
    const first = (() => {
      const listener = () => {};
      startLogs(listener);
      return new WeakRef(listener);
    })();
    const second = startLogs(() => {});
    t.after(() => second.close());
    await untilGone(first, 'the function');
  });
});
