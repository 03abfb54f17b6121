// Servers that the host itself provides.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { HostConnection, Pool } from '../index.mjs';

const reconnect = { delaysMs: { local: [10], remote: [10, 10, 10] } };

/** A server in a few lines. */
function small() {
  const seen = { connections: [], closed: 0 };
  const result = (message) => {
    switch (message.method) {
      case 'initialize':
        return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'small', version: '1' } };
      case 'tools/list':
        return { tools: ['hello', 'exit', 'fail', 'bare', 'silent'].map((name) => ({ name, inputSchema: { type: 'object' } })) };
      default:
        return { content: [{ type: 'text', text: 'hello' }] };
    }
  };
  const receive = async (connection, frame) => {
    const message = JSON.parse(frame);
    if (message.id === undefined) return;
    if (message.method === 'initialize') seen.connections.push(connection);
    if (message.method === 'server/discover') {
      connection.send(JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no such method' } }));
      return;
    }
    await setTimeout(1);
    const tool = message.params?.name;
    if (tool === 'exit') return connection.close();
    if (tool === 'fail') throw new Error("a fault of the host's own");
    if (tool === 'bare') throw Object.create(null);
    if (tool === 'silent') return;
    connection.send(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: result(message) }));
  };
  const closed = (connection) => {
    assert.throws(() => connection.send('"\ud83d"'), { code: 'TRUNKLINE_INVALID_ARGUMENT', detail: { path: 'frame' } });
    assert.throws(() => connection.send('{}'), { code: 'TRUNKLINE_CLOSED' });
    seen.closed += 1;
  };
  return { seen, receive, closed };
}

async function until(holds) {
  for (let looks = 0; !holds(); looks += 1) {
    assert.ok(looks < 3000, 'in time');
    await setTimeout(10);
  }
}

// SPEC 2.1, 5.6, 8.1, 16.2
test('a server of the host is called, lost, and connected anew', async () => {
  const pool = new Pool({ reconnect, drainDelayMs: 0 });
  const session = pool.session('a', { servers: [] });
  const { seen, receive, closed } = small();
  session.provide('own', receive, closed);
  const lease = await session.acquire('own');
  assert.equal((await lease.callTool('hello')).content[0].text, 'hello');
  assert.ok(session.tools().some((tool) => tool.name === 'mcp__own__hello'));
  const warned = once(process, 'warning');
  for (const tool of ['exit', 'fail', 'bare']) {
    await assert.rejects(lease.callTool(tool), { code: 'TRUNKLINE_CALL_INTERRUPTED' });
    assert.equal((await lease.callTool('hello', {}, { wait: true })).content[0].text, 'hello');
  }
  assert.match((await warned)[0].message, /a fault of the host's own/);
  assert.equal(new Set(seen.connections.map((connection) => connection.id)).size, 4);
  assert.ok(seen.connections[0] instanceof HostConnection);
  await assert.rejects(lease.callTool('silent', {}, { timeoutMs: 50 }), { code: 'TRUNKLINE_TIMEOUT' });
  await pool.close();
  await until(() => seen.closed === 4);
});

// SPEC 18.8
test('what becomes of arguments is explained by the words of shapes, and in the names of the server', async () => {
  await using(new Pool(), async (pool) => {
    const session = pool.session('a', { servers: [] });
    const inputSchema = { type: 'object', properties: { '$.own_name': {} }, anyOf: [{ required: ['$.own_name'] }, { minProperties: 1 }] };
    const receive = (connection, frame) => {
      const { id, method } = JSON.parse(frame);
      const results = {
        initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'one', version: '1' } },
        'tools/list': { tools: [{ name: 'odd', inputSchema }] },
      };
      const answer = method in results ? { result: results[method] } : { error: { code: -32601, message: 'no such method' } };
      if (id !== undefined) connection.send(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    };
    session.provide('own', receive);
    await session.acquire('own');
    const { shapes } = session.explain('mcp__own__odd');
    assert.deepEqual(Object.values(shapes.anthropic.renamed), ['$.own_name']);
    assert.ok(shapes.openai_responses.leftOut.length > 0);
    assert.deepEqual(shapes.openai_responses.leftOut, shapes.openai.leftOut);
  });
});

// SPEC 10.7
test('what cannot be provided is refused', async () => {
  await using(new Pool(), async (pool) => {
    const session = pool.session('a', { servers: [] });
    assert.throws(() => session.provide('own', 'no function'), { code: 'TRUNKLINE_INVALID_ARGUMENT' });
    assert.throws(() => session.provide('own', () => {}, 1), { code: 'TRUNKLINE_INVALID_ARGUMENT' });
    assert.throws(() => session.provide('', () => {}), { code: 'TRUNKLINE_INVALID_CONFIG' });
    session.close();
    assert.throws(() => session.provide('own', () => {}), { code: 'TRUNKLINE_CLOSED' });
  });
});

async function using(pool, body) {
  try {
    await body(pool);
  } finally {
    await pool.close();
  }
}
