// Names that every object of JavaScript has already (S-14).

import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';

import { Pool } from '../index.mjs';
import { openPool, rejection, within } from '../testing/support.mjs';

const RESERVED = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__', 'isPrototypeOf'];

const BEFORE = Reflect.ownKeys(Object.prototype);

afterEach(() => {
  assert.deepEqual(Reflect.ownKeys(Object.prototype), BEFORE);
  assert.equal({}.x, undefined);
  assert.equal(Object.getPrototypeOf({}), Object.prototype);
});

/** An object that has each of these names as a member of its own. */
function each(make) {
  return Object.fromEntries(RESERVED.map((name) => [name, make(name)]));
}

/** What code would take over that assigns members by their names. */
const HOSTILE = each(() => ({ x: 'polluted' }));

/** An answer of the server below, whose parts have these members. */
const ANSWER = {
  content: [{ type: 'text', text: 'hi', annotations: HOSTILE, _meta: HOSTILE }],
  structuredContent: HOSTILE,
  _meta: HOSTILE,
  ...HOSTILE,
};

/** What an error of it has beside its code and message. */
const FAILURE = Object.fromEntries([['data', HOSTILE]]);

const tool = (name) => ({ name, inputSchema: { type: 'object', properties: HOSTILE, ...HOSTILE } });

/** A server of tools with such names, which answers with what it was asked for and more. */
function receive(connection, frame) {
  const { id, method, params } = JSON.parse(frame);
  if (id === undefined) return;
  const answer = (part) => connection.send(JSON.stringify({ jsonrpc: '2.0', id, ...part }));
  if (method === 'initialize') {
    const serverInfo = { name: '__proto__', version: '1', ...HOSTILE };
    answer({ result: { protocolVersion: '2025-11-25', capabilities: { tools: {}, ...HOSTILE }, serverInfo } });
  } else if (method === 'tools/list') {
    answer({ result: { tools: RESERVED.map(tool) } });
  } else if (params?.name === 'valueOf') {
    answer({ error: { code: -32000, message: 'no', ...FAILURE } });
  } else if (method === 'tools/call') {
    answer({ result: { ...ANSWER, asked: params } });
  } else {
    answer({ error: { code: -32601, message: 'no such method' } });
  }
}

// S-14
it('a server of any name is configured, asked about, approved, shown and removed under it', async (t) => {
  const { pool, log } = openPool(t, { approvals: 'memory', trusted: true, workspace: process.cwd() });
  const events = pool.events({ kinds: ['approval_needed'] });
  const env = each((name) => `value of ${name}`);
  const settings = { mcpServers: each(() => ({ ...log.server(), env })) };
  pool.setSource('project', settings);
  const asked = (await within(events.next(), 'approval_needed')).value.requests;
  const { requests } = await pool.approvals();
  for (const shown of [asked, requests]) {
    assert.deepEqual(shown.map(({ server }) => server).sort(), [...RESERVED].sort());
  }
  for (const { env: names } of requests) assert.deepEqual([...names].sort(), [...RESERVED].sort());
  assert.deepEqual(Object.keys(pool.status().servers).sort(), [...RESERVED].sort());
  for (const { server, hash } of requests) await pool.approve(server, hash);
  const session = pool.session('__proto__');
  assert.equal(session.id, '__proto__');
  await within(session.ready(), 'ready');
  const { servers } = pool.status();
  for (const name of RESERVED) {
    assert.equal(Object.getOwnPropertyDescriptor(servers, name).value.state, 'connected', name);
    assert.ok(session.tools().some(({ server }) => server === name), name);
    const lease = await session.acquire(name);
    assert.equal((await lease.callTool('echo', { message: name })).content[0].text, name);
    lease.release();
  }
  pool.setSource('project', null);
  await within(pool.settled(), 'settled');
  await assert.rejects(session.acquire('__proto__'), { code: 'TRUNKLINE_NOT_ADMITTED', server: '__proto__', detail: { reason: 'removed' } });
});

// S-14
it('a server of any name is given as an object, added and removed', async (t) => {
  const { pool } = openPool(t);
  const disabled = { command: 'none', disabled: true };
  const report = await pool.reconcile(each(() => disabled));
  assert.deepEqual(Object.keys(report.servers).sort(), [...RESERVED].sort());
  assert.deepEqual(Object.keys(pool.status().servers).sort(), [...RESERVED].sort());
  await pool.reconcile({});
  for (const name of RESERVED) pool.addServer(name, disabled);
  for (const name of RESERVED.slice(1)) pool.removeServer(name);
  assert.deepEqual(Object.keys(pool.status().servers), RESERVED.slice(0, 1));
});

// S-14
it('a tool of any name is listed and called, and what it is given and answers stays whole', async (t) => {
  const { pool } = openPool(t);
  const session = pool.session('a', { servers: [] });
  session.provide('constructor', receive);
  const lease = await session.acquire('constructor');
  const listed = session.tools();
  assert.deepEqual(listed.map(({ ownName }) => ownName).sort(), [...RESERVED].sort());
  for (const { name, ownName, definition } of listed) {
    assert.deepEqual(definition, tool(ownName));
    if (ownName === 'valueOf') {
      const error = await rejection(lease.callTool(ownName, HOSTILE));
      assert.deepEqual(error.detail.data, HOSTILE);
      continue;
    }
    for (const result of [await lease.callTool(ownName, HOSTILE), await session.callTool(name, HOSTILE)]) {
      assert.deepEqual(result.content, ANSWER.content);
      assert.deepEqual(result.structuredContent, HOSTILE);
      assert.deepEqual(JSON.parse(result.raw), { ...ANSWER, asked: { name: ownName, arguments: HOSTILE } });
    }
  }
  for (const shape of ['mcp', 'openai', 'openai_responses', 'anthropic', 'gemini', 'any']) {
    assert.equal(session.toolsFor(shape).length, RESERVED.length);
  }
});

// S-14
it('an option of such a name is refused by it, wherever it stands', (t) => {
  for (const name of RESERVED) {
    const option = Object.fromEntries([[name, { x: 1 }]]);
    for (const options of [option, { limits: option }, { reconnect: option }]) {
      assert.throws(() => new Pool(options), ({ code, detail }) => {
        assert.equal(code, 'TRUNKLINE_UNKNOWN_OPTION');
        assert.ok(detail.option.endsWith(name), detail.option);
        return true;
      });
    }
  }
});
