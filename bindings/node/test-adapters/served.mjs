// What the tests of adapters share: sessions with the reference server, and a server whose results are of every kind.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Pool } from 'trunkline';

const HANG_BOUND_MS = 90_000;

export const PIXEL = Buffer.from('a small picture').toString('base64');

const SUM = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };

/** What each tool of the server `kinds` answers. */
const RESULTS = {
  text: { content: [{ type: 'text', text: 'a text' }], _meta: { trace: 't1' } },
  picture: {
    content: [
      { type: 'text', text: 'look' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'audio', data: PIXEL, mimeType: 'audio/wav' },
    ],
  },
  structured: { content: [{ type: 'text', text: '{"total": 5}' }], structuredContent: { total: 5 } },
  resource: {
    content: [
      { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text: 'of a file' } },
      { type: 'resource', resource: { uri: 'file:///b', mimeType: 'application/pdf', text: null, blob: PIXEL } },
      { type: 'resource_link', uri: 'file:///c', name: 'c' },
    ],
  },
  wrong: { content: [{ type: 'text', text: 'no such city' }], isError: true },
};

/** Blocks of kinds that the protocol knows, all malformed. */
export const MALFORMED = [
  { type: 'text' },
  { type: 'text', text: 5 },
  { type: 'image', data: PIXEL },
  { type: 'image', data: 'no base64', mimeType: 'image/png' },
  { type: 'audio', data: PIXEL.slice(0, -1), mimeType: 'audio/wav' },
  { type: 'audio', data: '\n', mimeType: 'audio/wav' },
  { type: 'image', data: '', mimeType: 'image/png' },
  { type: 'resource', resource: { uri: 'file:///a', blob: '' } },
  { type: 'resource', resource: { uri: 'file:///a' } },
  { type: 'resource', resource: { uri: 'file:///a', blob: '%%%%' } },
  { type: 'resource', resource: { uri: 'file:///a', blob: PIXEL, mimeType: 5 } },
  { type: 'resource', resource: 'file:///a' },
  { type: 'resource_link', name: 'c' },
  'no object',
  null,
];

const BEFORE = { type: 'text', text: 'before' };

/** What each tool of the server `malformed` answers. */
const MALFORMED_RESULTS = {
  blocks: { content: [BEFORE, ...MALFORMED] },
  failed: { content: [BEFORE, ...MALFORMED], isError: true },
  none: { content: 5 },
};

/** Parameters that are called like keywords, or like nothing that every model API takes; the same one level down. */
export const ODD_NAMES = [
  ...['properties', 'required', 'type', 'items', 'enum', 'anyOf', '$ref', '$defs', 'default', '_id', 'from', 'class', 'self'],
  ...['schema', 'constructor', '__proto__', 'filter[app]', 'a'.repeat(70)],
];

const each = (value) => Object.fromEntries(ODD_NAMES.map((name) => [name, value]));
const LEVEL = { type: 'object', properties: each({ type: 'string' }), required: ODD_NAMES };
export const NAMED = { ...LEVEL, properties: { ...each({ type: 'string' }), deep: LEVEL }, additionalProperties: false };

/** Arguments of that tool. */
export const GIVEN = { ...each('v'), deep: each('w') };

/** Arguments as a model names them that was shown this schema, where each argument that has another name says by its title which it is. */
export function named(schema) {
  const byOwn = new Map(Object.entries(schema.properties).map(([name, { title }]) => [title ?? name, name]));
  return Object.fromEntries(Object.entries(GIVEN).map(([name, value]) => [byOwn.get(name), value]));
}

/** Whether every model API takes the names of a schema's arguments. */
export const arePlain = ({ properties }) => Object.keys(properties).every((name) => /^[a-zA-Z0-9_.-]{1,64}$/.test(name));

/** Results that say little in blocks. */
const BARE = {
  alone: { content: [], structuredContent: { total: 5, word: 'für' } },
  wordless: { content: [], isError: true },
  reason: { content: [], isError: true, structuredContent: { why: 'closed' } },
  link: { content: [{ type: 'resource_link', uri: 'https://e.test/p.png', name: 'p', mimeType: 'image/png' }] },
};

const toolsOf = (results) => Object.keys(results).map((name) => ({
  name,
  description: `Answers with ${name}.`,
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  ...(name === 'structured' ? { outputSchema: SUM } : {}),
  ...(name === 'none' ? { description: null, title: null } : {}),
}));

const serving = (results, tools = toolsOf(results), others = {}, logs = []) => (connection, frame) => {
  const { method, id, params } = JSON.parse(frame);
  const serverInfo = { name: 'kinds', version: '1' };
  const capabilities = Object.fromEntries(['tools/list', ...Object.keys(others)].map((name) => [name.split('/')[0], {}]));
  const answers = {
    initialize: () => ({ protocolVersion: '2025-11-25', capabilities, serverInfo }),
    'tools/list': () => ({ tools }),
    'tools/call': () => results[params.name] ?? given(params),
    ...others,
  };
  if (id === undefined) return;
  const answer = answers[method];
  const notifications = method === 'tools/call' ? logs.map((params) => ({ jsonrpc: '2.0', method: 'notifications/message', params })) : [];
  for (const notification of notifications) connection.send(JSON.stringify(notification));
  const body = answer ? { result: answer() } : { error: { code: -32601, message: 'no such method' } };
  connection.send(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
};

/** A session with the reference server as `s`; at the end of the test no process of it is left. */
export async function opened(t, { flags = [], pool: options = {}, session = {}, server = 's' } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-adapters-'));
  const starts = join(folder, 'starts');
  const pool = new Pool({ cache: 'off', ...options });
  t.after(async () => {
    await pool.close();
    const pids = readFileSync(starts, 'utf8').split('\n').filter(Boolean).map(Number.parseFloat);
    await until(() => pids.every((pid) => !isRunning(pid)), 'processes are left');
    rmSync(folder, { recursive: true });
  });
  const command = process.env.TRUNKLINE_TESTSERVER;
  await pool.reconcile({ [server]: { command, args: [...flags, '--start-log', starts] } });
  const chat = pool.session('a', session);
  await chat.ready(server, { timeoutMs: HANG_BOUND_MS });
  return chat;
}

/** A session with the server `kinds`, held. */
export const kinds = (t) => provided(t, 'kinds', RESULTS);

/** What a tool answers that says what it was given, and refuses what it does not know. */
function given({ arguments: args }) {
  const unknown = Object.keys(args).filter((name) => !Object.hasOwn(NAMED.properties, name));
  const text = unknown.length > 0 ? `there is no ${unknown}` : JSON.stringify(args);
  return { content: [{ type: 'text', text }], isError: unknown.length > 0 };
}

/** A session with the server `named`, held: its tool has parameters with odd names. */
export const oddlyNamed = (t) => provided(t, 'named', {}, [{ name: 'given', inputSchema: NAMED }]);

/** A session with the server `bare`, held, whose definitions say more than others. */
export const bare = (t) => {
  const more = { annotations: { readOnlyHint: true, title: 'T' }, _meta: { of: 'mine' } };
  const tools = Object.keys(BARE).map((name) => ({ name, inputSchema: { type: 'object' }, ...more }));
  return provided(t, 'bare', BARE, tools);
};

/** Results of tools that have an output schema, but for the last. */
const OUTPUTS = {
  fits: { content: [], structuredContent: { total: 5 } },
  differs: { content: [], structuredContent: { total: 'five' } },
  lacks: { content: [{ type: 'text', text: '5' }] },
  fails: { content: [{ type: 'text', text: 'no such city' }], isError: true },
  free: { content: [], structuredContent: { total: 'five' } },
};

/** A session with the server `outputs`, held, which says these log messages before each answer. */
export const outputs = (t, logs = []) => {
  const schemas = Object.keys(OUTPUTS).map((name) => (name === 'free' ? {} : { outputSchema: SUM }));
  const tools = Object.keys(OUTPUTS).map((name, index) => ({ name, inputSchema: { type: 'object' }, ...schemas[index] }));
  return provided(t, 'outputs', OUTPUTS, tools, { 'logging/setLevel': () => ({}) }, logs);
};

/** A session with the server `malformed`, held. */
export const malformed = (t) => provided(t, 'malformed', MALFORMED_RESULTS);

/** What the things of each list need. */
const NEEDED = {
  tools: (number) => ({ name: `n${number}`, inputSchema: { type: 'object' } }),
  prompts: (number) => ({ name: `n${number}` }),
  resources: (number) => ({ name: `n${number}`, uri: `file:///${number}` }),
  resourceTemplates: (number) => ({ name: `n${number}`, uriTemplate: `file:///${number}/{a}` }),
};

/** Of a list the definitions that a server sends, and then what of each is listed: the table is that of all languages. A third element of a row is Python's. */
export function definitionsOf(list) {
  const rows = JSON.parse(readFileSync(join(process.env.TRUNKLINE_REPOSITORY, 'tests/definitions.json'), 'utf8'))[list];
  return [0, 1].map((side) => rows.map((row, number) => ({ ...NEEDED[list](number), ...row[side] })));
}

/** A session with the server `unfit`, held, whose definitions have members of a wrong type. */
export const unfit = (t) => {
  const [tools, prompts, resources, resourceTemplates] = Object.keys(NEEDED).map((list) => definitionsOf(list)[0]);
  const others = {
    'prompts/list': () => ({ prompts }),
    'resources/list': () => ({ resources }),
    'resources/templates/list': () => ({ resourceTemplates }),
  };
  return provided(t, 'unfit', {}, tools, others);
};

async function provided(t, name, results, tools, others, logs) {
  const pool = new Pool({ cache: 'off' });
  const chat = pool.session('a');
  chat.provide(name, serving(results, tools, others, logs));
  const lease = await chat.acquire(name);
  // Kept until then: a lease that is garbage lets its server go.
  t.after(() => pool.close().then(() => lease.release()));
  return chat;
}

export const namesOf = (session) => session.tools().map(({ name }) => name);

/** Has the reference server add a tool, and waits until the session has it. */
export async function changed(session, add) {
  await session.callTool('mcp__s__change_list', { add });
  await until(() => namesOf(session).includes(`mcp__s__${add}`), `no tool ${add}`);
}

export async function until(holds, otherwise) {
  const end = Date.now() + HANG_BOUND_MS;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(otherwise);
    await setTimeout(5);
  }
}

function isRunning(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}

/** The program that a diff of two leads to. */
function after(diff) {
  const lines = diff.split('\n').filter((line) => !line.startsWith('-'));
  return lines.map((line) => line.slice(1)).join('\n');
}

/**
 * Runs the examples of a page of the repository, with the reference server on the PATH. They print what the page says in its blocks of text, or what
 * is given, of each example a part.
 */
export function pageRuns(page, parts) {
  const text = readFileSync(join(process.env.TRUNKLINE_REPOSITORY, page), 'utf8');
  const programs = Array.from(text.matchAll(/^```(js|diff)\n(.*?)^```$/gms), ([, language, code]) => (language === 'js' ? code : after(code)));
  const printed = parts ?? Array.from(text.matchAll(/^```text\n(.*?)^```$/gms), ([, lines]) => lines);
  if (programs.length === 0) throw new Error(`no example in ${page}`);
  if (programs.length !== printed.length) throw new Error(`${page} says what ${printed.length} of ${programs.length} examples print`);
  for (const [index, code] of programs.entries()) {
    it(`${basename(page)}: example ${index + 1} prints what is said`, async () => {
      // Beside the tests, where the packages are found.
      const file = join(dirname(fileURLToPath(import.meta.url)), `${basename(page)}-${index + 1}.mjs`);
      writeFileSync(file, code);
      const PATH = dirname(process.env.TRUNKLINE_TESTSERVER) + delimiter + process.env.PATH;
      const env = { ...process.env, NODE_OPTIONS: '', PATH };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], { env, timeout: HANG_BOUND_MS });
      assert.equal(stderr, '');
      // A page has no spaces at the ends of its lines.
      if (parts === undefined) assert.equal(stdout.replaceAll(/ +$/gm, ''), printed[index]);
      else assert.ok(stdout.includes(printed[index]), stdout);
    });
  }
}
