// `trunkline/adapters/sdk` beside the TypeScript SDK of the protocol, version 1: the same answers as its own `Client`.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { Client as SdkClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CallToolResultSchema,
  EmptyResultSchema,
  ErrorCode,
  GetPromptResultSchema,
  McpError,
  ReadResourceResultSchema,
  ToolListChangedNotificationSchema,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js';
import { Pool, TrunklineError } from 'trunkline';
import { Client, McpError as ours } from 'trunkline/adapters/sdk';

import { GIVEN, NAMED, arePlain, changed, kinds, named, namesOf, oddlyNamed, opened, pageRuns, until } from './served.mjs';

async function connected(t, options) {
  const session = await opened(t, options);
  const client = new Client(session, 's');
  await client.connect();
  return { session, client };
}

/** The SDK's client of a process of its own. */
async function sdkClient(t) {
  const client = new SdkClient({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.env.TRUNKLINE_TESTSERVER }));
  t.after(() => client.close());
  return client;
}

/** Blocks the event loop until then. */
function blocking(holds) {
  const end = Date.now() + 30_000;
  while (!holds()) assert.ok(Date.now() < end, 'it does not come to hold');
}

it('its methods answer as those of the SDK do', async (t) => {
  const { session, client } = await connected(t);
  const sdk = await sdkClient(t);
  const byName = ({ name: a }, { name: b }) => (a < b ? -1 : 1);
  const lists = { listTools: 'tools', listPrompts: 'prompts', listResources: 'resources', listResourceTemplates: 'resourceTemplates' };
  for (const [method, member] of Object.entries(lists)) {
    const [mine, its] = [await client[method](), await sdk[method]()];
    assert.deepEqual(mine[member].toSorted(byName), its[member].toSorted(byName), method);
  }
  const { uri } = (await sdk.listResources()).resources[0];
  const { name } = (await sdk.listPrompts()).prompts[0];
  const requests = [
    (one) => one.callTool({ name: 'add', arguments: { a: 2, b: 3 } }),
    (one) => one.callTool({ name: 'add', arguments: { a: 2, b: 3 } }, CallToolResultSchema),
    (one) => one.callTool({ name: 'fail', arguments: { text: 'no such city' } }),
    (one) => one.callTool({ name: 'structured', arguments: { bytes: 10 } }),
    (one) => one.readResource({ uri }),
    (one) => one.getPrompt({ name }),
    (one) => one.ping(),
  ];
  for (const request of requests) assert.deepEqual(await request(client), await request(sdk), String(request));
  for (const asked of ['getServerCapabilities', 'getServerVersion', 'getInstructions']) {
    assert.deepEqual(client[asked](), sdk[asked](), asked);
    assert.equal(new Client(session, 's')[asked](), undefined);
  }
  assert.equal(client.getInstructions(), 'for tests');
  assert.match(client.getNegotiatedProtocolVersion(), /^20/);
});

// SPEC 18.8: a tool is listed as it is unless a model's API refuses a name, and the way back is known.
it('parameters may have any name', async (t) => {
  const session = await oddlyNamed(t);
  for (const [shape, isPlain] of [[undefined, false], ['mcp', true], ['anthropic', false], ['openai', true]]) {
    const client = new Client(session, 'named', { shape });
    await client.connect();
    const [{ name, inputSchema }] = (await client.listTools()).tools;
    assert.deepEqual([name, arePlain(inputSchema)], ['given', !isPlain]);
    if (isPlain) assert.deepEqual(inputSchema, NAMED);
    for (const args of [GIVEN, isPlain ? GIVEN : named(inputSchema)]) {
      const { content } = await client.callTool({ name, arguments: args }, undefined, { wait: true, retry: 'not_sent' });
      assert.deepEqual(JSON.parse(content[0].text), GIVEN);
    }
    await client.close();
  }
});

// FAULTS P11
it('a request that has no method here is sent by its name', async (t) => {
  const { client } = await connected(t, { session: { exclude: { s: ['crash'] } } });
  const sdk = await sdkClient(t);
  assert.ok((await client.request({ method: 'tools/list' })).tools.every(({ name }) => name !== 'crash'));
  const requests = [
    ['ping', undefined, EmptyResultSchema],
    ['tools/call', { name: 'add', arguments: { a: 2, b: 3 } }, CallToolResultSchema],
    ['prompts/get', { name: (await sdk.listPrompts()).prompts[0].name }, GetPromptResultSchema],
    ['resources/read', { uri: (await sdk.listResources()).resources[0].uri, _meta: { of: 'mine' } }, ReadResourceResultSchema],
  ];
  for (const [method, params, schema] of requests) {
    assert.deepEqual(await client.request({ method, params }, schema), await sdk.request({ method, params }, schema), method);
  }
  for (const [method, list] of [['tools/list', 'listTools'], ['prompts/list', 'listPrompts'], ['resources/list', 'listResources']]) {
    assert.deepEqual(await client.request({ method }), await client[list](), method);
  }
  assert.deepEqual(await client.request({ method: 'ping' }), {});
  assert.deepEqual(await client.request({ method: 'ping' }, { timeout: 60_000 }), {});
  const standard = (issues) => ({ '~standard': { validate: async (value) => (issues ? { issues } : { value: [value] }) } });
  assert.deepEqual(await client.request({ method: 'ping' }, standard()), [{}]);
  await assert.rejects(client.request({ method: 'ping' }, standard([{ message: 'no total' }])), /no total/);
  const error = await client.request({ method: 'no/such' }, EmptyResultSchema).then(assert.fail, (error) => error);
  assert.deepEqual([error.constructor, error.code], [McpError, ErrorCode.MethodNotFound]);
});

// FAULTS P11
it('what no handler is set for is told to the fallback', async (t) => {
  const { session, client } = await connected(t, { flags: ['--list-changes'] });
  const [own, rest] = [[], []];
  client.fallbackNotificationHandler = async ({ method }) => rest.push(method);
  client.setNotificationHandler('notifications/message', ({ method }) => own.push(method));
  const said = () => client.callTool({ name: 'log', arguments: { level: 'info', text: 'x' } });
  await said();
  await changed(session, 'first');
  await until(() => own.length > 0 && rest.length > 0, 'nothing was told');
  assert.deepEqual([own, rest], [['notifications/message'], ['notifications/tools/list_changed']]);
  client.removeNotificationHandler('notifications/message');
  await said();
  await until(() => rest.includes('notifications/message'), 'the handler is still there');
  client.fallbackNotificationHandler = undefined;
  assert.deepEqual(['log', 'tools_changed', 'lagged'].map((event) => session.listenerCount(event)), [0, 0, 0]);
});

// FAULTS P11: as the SDK, which asks a server for nothing that it does not offer.
it('what is not offered is not asked for, where the host says so', async (t) => {
  const session = await kinds(t);
  const client = new Client(session, 'kinds', { enforceStrictCapabilities: true });
  await client.connect();
  assert.equal((await client.callTool({ name: 'text', arguments: { city: 'x' } })).content[0].text, 'a text');
  const missing = [
    [() => client.getPrompt({ name: 'p' }), 'prompts (required for prompts/get)'],
    [() => client.listResources(), 'resources (required for resources/list)'],
    [() => client.subscribeResource({ uri: 'a:b' }), 'resources (required for resources/subscribe)'],
    [() => client.setLoggingLevel('error'), 'logging (required for logging/setLevel)'],
    [() => client.complete({}), 'completions (required for completion/complete)'],
    [() => client.request({ method: 'prompts/list' }), 'prompts (required for prompts/list)'],
  ];
  for (const [ask, what] of missing) await assert.rejects(ask(), { message: `Server does not support ${what}` });
  await client.close();
});

// FAULTS P11: the option `listChanged` of the SDK.
it('a list that changed is told as it is then', async (t) => {
  const session = await opened(t, { flags: ['--list-changes'] });
  const heard = [];
  const onChanged = (error, items) => heard.push([error, items?.map(({ name }) => name)]);
  for (const [options, hasItems] of [[{ debounceMs: 0 }, true], [{ debounceMs: 20 }, true], [{ autoRefresh: false }, false]]) {
    heard.length = 0;
    const client = new Client(session, 's', { listChanged: { tools: { onChanged, ...options } } });
    await client.connect();
    const add = `fresh_${Object.keys(options)}_${Object.values(options)}`;
    await changed(session, add);
    await until(() => heard.length > 0, 'it was not told');
    assert.deepEqual([heard.at(-1)[0], heard.at(-1)[1]?.includes(add)], [null, hasItems || undefined]);
    await client.close();
  }
  heard.length = 0;
  const client = new Client(session, 's', { listChanged: { tools: { onChanged } } });
  await client.connect();
  await changed(session, 'late');
  await client.close();
  await setTimeout(400);
  assert.deepEqual(heard, []);
  for (const [listChanged, path] of [
    [{ tools: {} }, 'listChanged.tools.onChanged'],
    [{ tools: { onChanged: 5 } }, 'listChanged.tools.onChanged'],
    [{ tools: { onChanged, autoRefresh: 'yes' } }, 'listChanged.tools.autoRefresh'],
    [{ prompts: { onChanged, debounceMs: -1 } }, 'listChanged.prompts.debounceMs'],
    [{ roots: { onChanged } }, 'listChanged.roots'],
  ]) {
    assert.throws(() => new Client(session, 's', { listChanged }), (error) => error.detail?.path === path);
  }
});

/** What a program that was moved halfway gives, and the argument that the error names. */
const MISTAKEN = [
  [[{ name: 'host', version: '1' }], 'session'],
  [[{ name: 'host', version: '1' }, { capabilities: {} }], 'session'],
  [[undefined, 's'], 'session'],
  [[new Pool({ cache: 'off' }), 's'], 'session'],
  [[{ acquire: () => {} }, { capabilities: {} }], 'server'],
  [[{ acquire: () => {} }], 'server'],
];

it('what is no session, no name and no option is refused by its name', async (t) => {
  for (const [given, path] of MISTAKEN) {
    const isNamed = (error) => error instanceof TrunklineError && error.detail.path === path;
    assert.throws(() => new Client(...given), isNamed);
  }
  const { client: connectedOne } = await connected(t);
  for (const ask of [(options) => connectedOne.ping(options), (options) => connectedOne.callTool({ name: 'add' }, undefined, options)]) {
    await assert.rejects(ask({ task: {} }), (error) => error instanceof TrunklineError && error.detail.path === 'task');
  }
  const client = new Client({ acquire: () => assert.fail('it is acquired') }, 's');
  await assert.rejects(client.connect(new StdioClientTransport({ command: 'x' })), (error) => error.detail?.path === 'transport');
  await MISTAKEN[3][0][0].close();
});

it('errors are those of the SDK, from typed ones', async (t) => {
  const { client } = await connected(t);
  const sdk = await sdkClient(t);
  assert.equal(ours, McpError);
  const requests = [
    (one) => one.callTool({ name: 'error', arguments: { code: -32050, message: 'as asked', data: { why: 1 } } }),
    (one) => one.readResource({ uri: 'test://nowhere' }),
    (one) => one.callTool({ name: 'no_such_tool' }),
  ];
  for (const request of requests) {
    const [mine, its] = await Promise.all([client, sdk].map((one) => request(one).then(assert.fail, (error) => error)));
    assert.ok(mine instanceof McpError && mine.cause instanceof TrunklineError);
    assert.deepEqual([mine.code, mine.message, mine.data], [its.code, its.message, its.data]);
  }
  const late = client.callTool({ name: 'sleep', arguments: { ms: 600_000 } }, undefined, { timeout: 50 });
  await assert.rejects(late, { code: ErrorCode.RequestTimeout });
  const signal = AbortSignal.timeout(50);
  await assert.rejects(client.callTool({ name: 'sleep', arguments: { ms: 600_000 } }, undefined, { signal }), { name: 'TimeoutError' });
  await assert.rejects(new Client((await opened(t)), 'no such server').connect(), McpError);
});

// SPEC 5.2: the server is asked, unless the session is kept from the tool.
it('a tool that is not listed is asked of the server', async (t) => {
  const { client } = await connected(t, { flags: ['--no-tools'], session: { exclude: { s: ['echo'] } } });
  assert.deepEqual((await client.listTools()).tools, []);
  const { content } = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } });
  assert.equal(content[0].text, '5');
  const error = await client.callTool({ name: 'echo', arguments: { message: 'x' } }).then(assert.fail, (error) => error);
  assert.equal(error.cause.code, 'TRUNKLINE_TOOL_NOT_FOUND');
});

it('progress and notifications reach their handlers', async (t) => {
  const { session, client } = await connected(t, { flags: ['--list-changes'] });
  const steps = [];
  await client.callTool({ name: 'progress', arguments: { steps: 2 } }, CallToolResultSchema, {
    onprogress: ({ progress, total }) => steps.push([progress, total]),
  });
  assert.deepEqual(steps, [[1, 2], [2, 2]]);
  const [heard, logs] = [[], []];
  client.setNotificationHandler(ToolListChangedNotificationSchema, (notification) => heard.push(notification));
  client.setNotificationHandler('notifications/message', ({ params }) => logs.push(params));
  assert.throws(() => client.setNotificationHandler('notifications/none', () => {}), TypeError);
  await client.callTool({ name: 'log', arguments: { level: 'info', text: 'on the way' } });
  await changed(session, 'fresh');
  await until(() => heard.length > 0 && logs.length > 0, 'no notification');
  assert.deepEqual(heard, [{ method: 'notifications/tools/list_changed' }]);
  assert.deepEqual([logs[0].level, logs[0].data], ['info', 'on the way']);
  assert.ok((await client.listTools()).tools.some(({ name }) => name === 'fresh'));
});

// SPEC 7.9
it('what was announced before an answer is listed after it', async (t) => {
  const { client } = await connected(t, { flags: ['--list-delay-ms', '200'] });
  for (const add of ['tool_1001', 'tool_1002']) {
    await client.callTool({ name: 'change_list', arguments: { add } });
    assert.ok((await client.listTools()).tools.some(({ name }) => name === add), add);
  }
});

// SPEC 16.8
it('a level of logs is the session\'s, and what was opened is over', async (t) => {
  const { client } = await connected(t, { session: { handlers: { elicitationUrl: async () => ({ action: 'accept' }) } } });
  const [logs, over] = [[], []];
  client.setNotificationHandler('notifications/message', ({ params }) => logs.push(params.data));
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => over.push(params));
  assert.deepEqual(await client.setLoggingLevel('error'), {});
  for (const level of ['info', 'error']) await client.callTool({ name: 'log', arguments: { level, text: level } });
  const params = { mode: 'url', message: 'm', url: 'https://a.example/b', elicitationId: 'one' };
  await client.callTool({ name: 'ask', arguments: { method: 'elicitation/create', params } });
  const line = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId: 'one' } });
  await client.callTool({ name: 'write', arguments: { line } });
  await until(() => logs.length > 0 && over.length > 0, 'nothing was heard');
  assert.deepEqual([logs, over], [['error'], [{ elicitationId: 'one' }]]);
});

// SPEC 7.4, 9.6
it('a change that was missed is told to the handlers of lists', async (t) => {
  const { session, client } = await connected(t, { flags: ['--list-changes'], pool: { limits: { eventBacklog: 1 } } });
  const lists = ['tools', 'prompts', 'resources'].map((of) => `notifications/${of}/list_changed`);
  const told = new Set();
  client.setNotificationHandler('notifications/message', () => {});
  for (const method of lists) client.setNotificationHandler(method, ({ method }) => told.add(method));
  // While the event loop is blocked, the log fills the backlog, and the changes find no room.
  const calls = [client.callTool({ name: 'log', arguments: { level: 'info', text: 'x' } })];
  for (const add of ['first', 'second']) {
    calls.push(session.callTool('mcp__s__change_list', { add }));
    blocking(() => namesOf(session).includes(`mcp__s__${add}`));
  }
  await Promise.all(calls);
  await until(() => told.size === lists.length, 'the change was missed');
  await client.close();
  assert.equal(session.listenerCount('lagged'), 0);
});

it('its close releases the server, and nothing of the pool', async (t) => {
  const { session, client } = await connected(t);
  let closed = 0;
  client.onclose = () => closed++;
  await client.close();
  await client.close();
  assert.equal(closed, 1);
  await assert.rejects(client.listTools(), /Not connected/);
  const result = await session.callTool('mcp__s__echo', { message: 'goes on' });
  assert.equal(result.content[0].text, 'goes on');
  assert.ok(namesOf(session).length > 0);
});

it('a handler that throws or rejects is told to onerror, and ends nothing', async (t) => {
  const { session, client } = await connected(t, { flags: ['--list-changes'] });
  const [errors, heard] = [[], []];
  client.onerror = ({ message }) => errors.push(message);
  client.setNotificationHandler('notifications/message', () => {
    throw new Error('thrown');
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
    throw new Error('rejected');
  });
  await client.callTool({ name: 'log', arguments: { level: 'info', text: 'x' } });
  await changed(session, 'fresh');
  await until(() => errors.length >= 2, 'onerror was not told');
  assert.deepEqual(errors.toSorted(), ['rejected', 'thrown']);
  client.onerror = undefined;
  client.setNotificationHandler('notifications/message', async ({ params }) => {
    heard.push(params.data);
    throw new Error('to nobody');
  });
  await client.callTool({ name: 'log', arguments: { level: 'info', text: 'y' } });
  await client.callTool({ name: 'log', arguments: { level: 'info', text: 'z' } });
  await until(() => heard.length === 2, 'the handler was not called again');
});

it('a time-out is that of the SDK, however long the pool lets a call be without progress', async (t) => {
  const session = await opened(t, { pool: { callIdleTimeoutMs: 50, callTimeoutMs: 100 } });
  const client = new Client(session, 's');
  await client.connect();
  const slow = (options, ms = 400) => client.callTool({ name: 'sleep', arguments: { ms } }, undefined, options);
  for (const options of [
    { timeout: 60_000 },
    { timeout: 60_000, resetTimeoutOnProgress: true },
    { timeout: 90_000, resetTimeoutOnProgress: true, maxTotalTimeout: 60_000 },
  ]) {
    assert.equal((await slow(options)).isError ?? false, false);
  }
  const short = { timeout: 60_000, resetTimeoutOnProgress: true, maxTotalTimeout: 50 };
  await assert.rejects(slow(undefined, 600_000), { code: ErrorCode.RequestTimeout });
  await assert.rejects(slow(short, 600_000), { code: ErrorCode.RequestTimeout });
});

// SPEC 5.4
it('every time that the SDK takes is taken', async (t) => {
  const { client } = await connected(t);
  const longest = [2_147_483_647, 1234.5, Infinity, Number.MAX_SAFE_INTEGER];
  for (const time of longest) {
    for (const options of [
      { timeout: time },
      { timeout: time, maxTotalTimeout: time },
      { timeout: time, resetTimeoutOnProgress: true },
      { timeout: 60_000, resetTimeoutOnProgress: true, maxTotalTimeout: time },
      { resetTimeoutOnProgress: true, maxTotalTimeout: time },
    ]) {
      const { content } = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } }, undefined, options);
      assert.equal(content[0].text, '3', JSON.stringify(options));
    }
  }
  for (const timeout of [0, 0.5, -1]) {
    await assert.rejects(client.callTool({ name: 'sleep', arguments: { ms: 600_000 } }, undefined, { timeout }), { code: ErrorCode.RequestTimeout });
  }
});

it('an error that the SDK has a class of its own for is of that class', async (t) => {
  const { client } = await connected(t);
  const elicitations = [{ mode: 'url', message: 'visit', url: 'https://example.com/', elicitationId: 'e1' }];
  const asked = { code: ErrorCode.UrlElicitationRequired, message: 'a visit', data: { elicitations } };
  const [mine, its] = await Promise.all(
    [client, await sdkClient(t)].map((one) => one.callTool({ name: 'error', arguments: asked }).then(assert.fail, (error) => error)),
  );
  assert.ok(its instanceof UrlElicitationRequiredError && mine instanceof UrlElicitationRequiredError);
  assert.deepEqual([mine.code, mine.message, mine.elicitations], [its.code, its.message, its.elicitations]);
  assert.ok(mine.cause instanceof TrunklineError);
});

it('clients are as many as anyone wants, without a warning', async (t) => {
  const session = await opened(t);
  const warnings = [];
  const warned = (warning) => warnings.push(warning.name);
  process.on('warning', warned);
  t.after(() => process.off('warning', warned));
  const clients = Array.from({ length: 12 }, () => new Client(session, 's'));
  const heard = new Set();
  for (const [index, client] of clients.entries()) {
    client.setNotificationHandler('notifications/message', () => heard.add(index));
    await client.connect();
  }
  await session.callTool('mcp__s__log', { level: 'info', text: 'to all' });
  await until(() => heard.size === clients.length, 'some heard nothing');
  // One that others took away is put back with the next.
  session.removeAllListeners('log');
  heard.clear();
  await clients[0].close();
  await clients[0].connect();
  await session.callTool('mcp__s__log', { level: 'info', text: 'to all again' });
  await until(() => heard.size === clients.length, 'some heard nothing later');
  for (const client of clients) await client.close();
  assert.equal(session.listenerCount('log'), 0);
  assert.deepEqual(warnings, []);
});

it('a close ends what was there when it was called, and nothing later', async (t) => {
  const session = await opened(t);
  const waiting = [];
  const watched = {
    acquire: (...given) => {
      // The first is slow; the second overtakes it.
      if (waiting.length > 0) return session.acquire(...given);
      return new Promise((resolve) => waiting.push(() => resolve(session.acquire(...given))));
    },
  };
  const client = new Client(watched, 's');
  const first = assert.rejects(client.connect(), { code: ErrorCode.ConnectionClosed });
  const closing = client.close();
  await client.connect();
  waiting[0]();
  await Promise.all([first, closing]);
  const { content } = await client.callTool({ name: 'echo', arguments: { message: 'still here' } });
  assert.equal(content[0].text, 'still here');
  await client.close();
});

it('what is closed while it connects holds nothing', async (t) => {
  const session = await opened(t);
  const leases = [];
  const watched = {
    acquire: async (...given) => {
      leases.push(await session.acquire(...given));
      return leases.at(-1);
    },
  };
  const client = new Client(watched, 's');
  const connecting = client.connect();
  await assert.rejects(client.connect(), /Already connected/);
  const rejected = assert.rejects(connecting, { code: ErrorCode.ConnectionClosed });
  await client.close();
  assert.equal(leases.length, 1);
  await assert.rejects(leases[0].callTool('echo', { message: 'gone' }), { code: 'TRUNKLINE_CLOSED' });
  await rejected;
  await client.connect();
  await assert.rejects(client.connect(), /Already connected/);
  leases[1].release();
});

it('handlers are kept by a close, and are called while it is connected', async (t) => {
  const session = await opened(t);
  const client = new Client(session, 's');
  const heard = [];
  client.setNotificationHandler('notifications/message', ({ params }) => heard.push(params.data));
  const said = (text) => session.callTool('mcp__s__log', { level: 'info', text });
  await client.connect();
  await said('first');
  await until(() => heard.length === 1, 'nothing was heard');
  await client.close();
  assert.equal(session.listenerCount('log'), 0);
  await client.connect();
  await said('second');
  await until(() => heard.length === 2, 'nothing was heard later');
  assert.deepEqual(heard, ['first', 'second']);
});

pageRuns('docs/guide/migrate/mcp-typescript.md');
