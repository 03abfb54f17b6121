// What `util.inspect`, and so `console.log`, shows of what a host holds: SPEC 16.5.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';

import { TrunklineError, startLogs } from '../index.mjs';
import { openLease, openPool, rejection } from '../testing/support.mjs';

const require = createRequire(import.meta.url);
const { NativeSession } = require('../lib/addon.cjs');
const { shown } = require('../lib/names.cjs');

describe('util.inspect', () => {
  it('shows a pool by its servers and sessions', async (t) => {
    const { pool } = await openLease(t);
    assert.equal(inspect(pool), "Pool { servers: { s: 'connected' }, sessions: [ 'a' ], closing: false }");
    assert.equal(inspect({ a: { b: { pool } } }), '{ a: { b: { pool: [Pool] } } }');
    assert.match(inspect([pool], { depth: null }), /^\[\n?\s*Pool \{/);
    await pool.close();
    assert.match(inspect(pool), /^Pool \{.* closing: true \}$/s);
  });

  it('shows a session by its id, and whether it is closed', async (t) => {
    const { pool, session } = await openLease(t);
    const other = pool.session('b', { servers: [] });
    assert.equal(inspect(session), "Session { id: 'a', closed: false }");
    session.close();
    assert.equal(inspect(session), "Session { id: 'a', closed: true }");
    assert.equal(inspect(other), "Session { id: 'b', closed: false }");
    await pool.close();
    assert.equal(inspect(other), "Session { id: 'b', closed: true }");
  });

  it('asks the library for nothing to show a session', (t) => {
    const { pool } = openPool(t);
    const session = pool.session('a');
    let asked = 0;
    session.tools = () => (asked += 1);
    const { tools } = NativeSession.prototype;
    NativeSession.prototype.tools = () => (asked += 1);
    t.after(() => (NativeSession.prototype.tools = tools));
    inspect(session);
    assert.equal(asked, 0);
  });

  it('shows the name alone where the members cannot be read, and the code of the error', async (t) => {
    const { pool, session, lease } = await openLease(t);
    const stream = pool.events();
    const result = await lease.callTool('echo', { message: 'seen' });
    for (const object of [pool, session, lease, stream, result]) {
      const { name } = object.constructor;
      assert.equal(inspect(new Proxy(object, {})), `[${name}]`);
      assert.equal(inspect([Object.create(object)]), `[ [${name}] ]`);
    }
    await stream.return();
    const failing = () => {
      throw Object.assign(new Error('TRUNKLINE'), { code: 'TRUNKLINE_CLOSED' });
    };
    assert.equal(shown(pool, failing, [2, {}, inspect]), '[Pool: TRUNKLINE_CLOSED]');
  });

  it('shows a lease by its server', async (t) => {
    const { lease } = await openLease(t);
    assert.equal(inspect(lease), "Lease { server: 's', entryIndex: 0, generation: 1, state: 'active' }");
    lease.release();
    assert.match(inspect(lease), /^Lease \{.* state: 'closed' \}$/);
  });

  it('shows a stream by its kinds', async (t) => {
    const { pool } = await openLease(t);
    const stream = pool.events({ kinds: new Set(['log', 'failed']) });
    assert.equal(inspect(stream), "EventStream { kinds: [ 'log', 'failed' ], ended: false }");
    await stream.return();
    assert.match(inspect(stream), /ended: true \}$/);
  });

  it('shows logs by their level', () => {
    const logs = startLogs(() => {}, { level: 'error' });
    assert.equal(inspect(logs), "Logs { level: 'error', closed: false }");
    logs.close();
    assert.equal(inspect(logs), "Logs { level: 'error', closed: true }");
  });

  it('shows the members of results, tools, events and errors', async (t) => {
    const { session, pool, lease } = await openLease(t);
    const result = await lease.callTool('echo', { message: 'seen' });
    assert.equal(inspect(result), "CallResult { content: [ { type: 'text', text: 'seen' } ] }");
    const tool = session.tools().find(({ ownName }) => ownName === 'echo');
    assert.match(inspect(tool), /^\{\n\s+name: 'mcp__s__echo',\n\s+server: 's',/);
    const stream = pool.events();
    await pool.restart('s');
    const { value } = await stream.next();
    assert.match(inspect(value), /^\{.*type: '\w+'/s);
    const error = await rejection(session.acquire('nobody'));
    assert.ok(error instanceof TrunklineError);
    assert.match(inspect(error), /^TrunklineError: .*code: 'TRUNKLINE_NOT_ADMITTED'.*hint: /s);
  });
});
