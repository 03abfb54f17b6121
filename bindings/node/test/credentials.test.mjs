// What a host gives a server to be let in with, well and badly: SPEC 15.3, 16.2.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Refusal } from '../index.mjs';
import { RemoteServer, openPool, rejection, textOf, until } from '../testing/support.mjs';

/** A pool whose handler answers the n-th time with the n-th of these, a session, and a server `s` that takes one token. */
async function open(t, answers, options) {
  const remote = new RemoteServer(['--http', '0', '--http-auth', '{"accepts": {"good-token": ""}}']);
  t.after(() => remote.end());
  const asked = [];
  const credentials = (request, { signal }) => {
    asked.push({ ...request.params, signal });
    return answers[asked.length - 1](request);
  };
  const { pool } = openPool(t, { handlers: { credentials }, ...options });
  await pool.reconcile({ s: { type: 'http', url: await remote.address() } });
  return { asked, session: pool.session('a', { servers: [] }) };
}

describe('a `credentials` handler', () => {
  for (const [form, answer] of [
    ['a text', () => 'good-token'],
    ['a promise of one', async () => 'good-token'],
    ['an object', () => ({ token: 'good-token' })],
    ['an object with its time', async () => ({ token: 'good-token', expiresInMs: 3_600_000 })],
    ['an object without one', () => ({ token: 'good-token', expiresInMs: null })],
  ]) {
    it(`gives a token as ${form}`, async (t) => {
      const { asked, session } = await open(t, [answer]);
      const lease = await session.acquire('s');
      assert.equal(textOf(await lease.callTool('echo', { message: 'hi' })), 'hi');
      assert.deepEqual([asked.length, asked[0].reason], [1, 'missing']);
    });
  }

  it('that gives no token leaves the server without, and the error says why', async (t) => {
    const timed = (expiresInMs) => () => ({ token: 'good-token', expiresInMs });
    const rows = [
      [() => undefined, 'refused'],
      [() => null, 'refused'],
      [async () => ({}), 'refused'],
      [() => ({ token: null }), 'refused'],
      [
        () => {
          throw new Refusal(-1, 'not now');
        },
        'refused',
      ],
      [
        () => {
          throw new Error('a secret of the host');
        },
        'failed',
      ],
      [() => Promise.reject(new Error('a secret of the host')), 'failed'],
      [() => 7, 'failed', 'answer'],
      [() => true, 'failed', 'answer'],
      [() => ['good-token'], 'failed', 'answer'],
      [() => '', 'failed', 'token'],
      [() => 'a b', 'failed', 'token'],
      [() => ({ token: 7 }), 'failed', 'token'],
      [() => ({ token: 'a\r\nx: b' }), 'failed', 'token'],
      ...[-1, 0.5, 1e12, '60000', true, [], Number.NaN, Infinity, 10n].map((wrong) => [
        timed(wrong),
        'failed',
        'expiresInMs',
      ]),
    ];
    const { asked, session } = await open(t, rows.map(([answer]) => answer));
    for (const [number, [answer, handler, path]] of rows.entries()) {
      const error = await rejection(session.acquire('s'));
      const said = [error.code, error.server, error.detail.missing, error.detail.handler, error.cause?.detail.path];
      assert.deepEqual(said, ['TRUNKLINE_AUTH_REQUIRED', 's', 'token', handler, path], `${number}: ${answer}`);
      if (path !== undefined) assert.equal(error.cause.code, 'TRUNKLINE_INVALID_ARGUMENT');
      assert.ok(!/good-token|secret/.test(JSON.stringify(error)), JSON.stringify(error));
    }
    assert.deepEqual(asked.map(({ reason }) => reason), rows.map(() => 'missing'));
  });

  it('that never answers is not waited for, and is told so', async (t) => {
    const { asked, session } = await open(t, [() => new Promise(() => {})], { handlerTimeoutMs: 50 });
    const error = await rejection(session.acquire('s'));
    assert.deepEqual([error.code, error.detail.handler], ['TRUNKLINE_AUTH_REQUIRED', 'timeout']);
    await until(() => asked[0].signal.aborted);
  });
});
