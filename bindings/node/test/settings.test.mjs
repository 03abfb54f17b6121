// Settings files to live connections: SPEC 10 to 13.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';

import { openPool, rejection, textOf, until, within } from '../testing/support.mjs';

const FORM = { message: '?', requestedSchema: { type: 'object', properties: {} } };

/** A workspace of its own, and a pool that trusts it. */
function openWorkspace(t, options) {
  const workspace = mkdtempSync(join(tmpdir(), 'trunkline-workspace-'));
  t.after(() => rmSync(workspace, { recursive: true }));
  const file = join(workspace, '.mcp.json');
  const write = (mcpServers) => writeFileSync(file, JSON.stringify({ mcpServers }));
  return { ...openPool(t, { workspace, trusted: true, approvals: 'memory', ...options }), file, write };
}

/** Waits until these servers, and no others, wait for approval; what a person is shown of them. */
async function askedAbout(events, names) {
  for (;;) {
    const { requests } = (await within(events.next(), `approval_needed of ${names}`)).value;
    if (requests.map(({ server }) => server).join() === names) return requests;
  }
}

async function approve(pool, requests) {
  for (const { server, hash } of requests) await pool.approve(server, hash);
}

const pidOf = (pool, server) => pool.status().servers[server].entries[0].pid;

const serversOf = (session) => [...new Set(session.tools().map(({ server }) => server))].sort();

// SPEC 12.5, 12.7, 13.1, 13.5
it('an edit of a project file reaches what it changes, and no call of the rest', async (t) => {
  const { pool, log, file, write } = openWorkspace(t, { drainDelayMs: 100 });
  let answer;
  const answered = new Promise((resolve) => {
    answer = resolve;
  });
  const elicitation = async ({ server }) => {
    await answered;
    return { action: 'accept', content: { server } };
  };
  const chat = pool.session('chat', { handlers: { elicitation } });
  const events = pool.events({ kinds: ['approval_needed'] });
  const a = log.server();
  write({ a, b: log.server('--tools', '1'), c: log.server() });
  await pool.load(file, { watch: true });
  assert.deepEqual(chat.tools(), []);
  await approve(pool, await askedAbout(events, 'a,b,c'));
  await pool.settled();
  const [pidOfA, pidOfB, pidOfC] = ['a', 'b', 'c'].map((server) => pidOf(pool, server));
  const call = chat.callTool('mcp__a__ask', { method: 'elicitation/create', params: FORM });
  await until(async () => textOf(await chat.callTool('mcp__a__under_way')) === '1');

  write({ a, b: log.server('--tools', '2'), d: log.server() });
  const requests = await askedAbout(events, 'b,d');
  assert.deepEqual(serversOf(chat), ['a'], 'B has to be approved anew, C is gone, D is not there yet');
  await approve(pool, requests);
  const { servers } = await pool.settled();
  const states = Object.entries(servers).map(([name, { state }]) => [name, state]);
  assert.deepEqual(Object.fromEntries(states), { a: 'ready', b: 'ready', d: 'ready' });
  assert.deepEqual(serversOf(chat), ['a', 'b', 'd']);
  assert.equal(pidOf(pool, 'a'), pidOfA);
  assert.notEqual(pidOf(pool, 'b'), pidOfB);
  await until(() => !log.running.includes(pidOfC));

  answer();
  assert.match(textOf(await within(call, 'the call')), /"server":\s*"a"/);
  assert.equal(log.starts, 5);
});

// SPEC 10.5, 10.8
it('handlers of settings give plain values', async (t) => {
  const asked = [];
  const note = (value) => ({ kind, server, session, params }) => {
    asked.push([kind, server, session, params.id ?? params.name]);
    return value;
  };
  const handlers = { inputs: note('typed'), secrets: note(undefined), entries: () => null };
  const { pool, log } = openWorkspace(t, { handlers });
  const servers = {
    s: { ...log.server(), env: { KEY: '${input:key}' } },
    t: { ...log.server(), env: { KEY: '${secret:NOWHERE_TO_BE_FOUND}' } },
  };
  pool.setSource('user', { mcpServers: servers });
  const session = pool.session('a');
  const { servers: states } = await pool.settled();
  assert.equal(states.s.state, 'ready');
  assert.equal(states.t.state, 'failed');
  assert.equal(textOf(await session.callTool('mcp__s__env', { name: 'KEY' })), 'typed');
  assert.deepEqual(asked.sort(), [
    ['inputs', 's', null, 'key'],
    ['secrets', 't', null, 'NOWHERE_TO_BE_FOUND'],
  ]);
});

// SPEC 11.6
it('a host is told why a server is not there', (t) => {
  const { pool, log } = openWorkspace(t, { excluded: ['no'] });
  const session = pool.session('a', { servers: [] });
  pool.addServer('no', log.server());
  pool.addServer('s', log.server());
  const { kind, available, reason, message, remedy } = pool.explain('no');
  assert.deepEqual([kind, available, reason], ['server', false, 'excluded']);
  assert.ok(message && remedy);
  session.disable('s');
  assert.equal(session.explain('s').reason, 'disabled');
});

// SPEC 10.2, 10.7, 13.2
it('what is wrong is refused before anything is changed', async (t) => {
  const { pool } = openWorkspace(t);
  assert.throws(() => pool.switchSource('user', true), { code: 'TRUNKLINE_INVALID_ARGUMENT' });
  assert.throws(() => pool.setSource('nonsense', {}), { code: 'TRUNKLINE_INVALID_ARGUMENT' });
  assert.throws(() => pool.setSource('user', '{"mcpServers":'), ({ code, detail }) => {
    assert.deepEqual([code, detail.source, detail.line], ['TRUNKLINE_INVALID_CONFIG', 'user', 1]);
    return true;
  });
  const unknown = await rejection(pool.load('x.json', { wacht: true }));
  assert.deepEqual([unknown.code, unknown.detail.option], ['TRUNKLINE_UNKNOWN_OPTION', 'wacht']);
  const { signal } = new AbortController();
  assert.deepEqual(await pool.settled({ timeoutMs: 5000, signal }), { v: 1, servers: {} });
  const aborted = AbortSignal.abort();
  assert.equal(await rejection(pool.reload({ signal: aborted })), aborted.reason);
});

// SPEC 13.7
it('names of servers are spelled in a reload as the host spelled them', async (t) => {
  const { pool, file, write } = openWorkspace(t, { drainDelayMs: 100 });
  write({ my_server: { command: '/nothing/here' } });
  await pool.load(file);
  const { reconnected } = await pool.reload({ reconnect: ['my_server'] });
  assert.deepEqual(Object.keys(reconnected), ['my_server']);
});
