// A chat server: fifty sessions share the pool's servers, and a page shows the pool as it changes.
//
//   node server.mjs '{"demo": {"command": "trunkline-testserver"}}' [--port 8080]
//
// GET / is the page, GET /pool the pool's events, POST /chats/N says something in a chat. It listens on this machine alone.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

import { Pool, TrunklineError } from '../../index.mjs';

export const CHATS = 50;

/** Bytes of what somebody may say. */
const SAID_MAX = 10_000;

/** The page hears of the pool at most this often. */
const TOLD_EVERY_MS = 100;

const page = readFileSync(fileURLToPath(new URL('page.html', import.meta.url)));

/** Starts the server; what it gives has its `address` and ends all of it by `close`. */
export async function serve(servers, port = 0) {
  const pool = new Pool({ drainDelayMs: 5000 });
  await pool.reconcile(servers);
  const chats = Array.from({ length: CHATS }, (_, number) => pool.session(`chat-${number}`));
  const watchers = new Set();
  const http = createServer((request, response) => {
    answer(request, response, pool, chats, watchers).catch((error) => {
      if (response.headersSent) return void response.destroy();
      response.writeHead(error.status ?? 500).end(error instanceof TrunklineError ? error.message : 'failed');
    });
  });
  await new Promise((resolve) => http.listen(port, '127.0.0.1', resolve));
  const close = async () => {
    for (const watcher of watchers) watcher();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
    await pool.close();
  };
  return { address: `http://127.0.0.1:${http.address().port}`, pool, close };
}

async function answer(request, response, pool, chats, watchers) {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (request.method === 'GET' && pathname === '/') {
    return void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  }
  if (request.method === 'GET' && pathname === '/pool') return watch(pool, response, watchers);
  const chat = request.method === 'POST' && chats[/^\/chats\/(\d+)$/.exec(pathname)?.[1]];
  if (!chat) return void response.writeHead(404).end();
  const said = await read(request);
  await chat.ready();
  // Where a model would decide, each message is one call.
  const result = await chat.callTool('mcp__demo__echo', { message: said }, { timeoutMs: 30_000 });
  const [{ text: pid }] = (await chat.callTool('mcp__demo__pid')).content;
  const body = JSON.stringify({ chat: chat.id, reply: result.content[0].text, server: Number(pid) });
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
}

async function read(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > SAID_MAX) throw Object.assign(new Error('too long'), { status: 413 });
  }
  return text;
}

/** Tells a page of the pool whenever something happened to it, until the page has gone. */
function watch(pool, response, watchers) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  let last;
  const tell = () => {
    const { servers, sessions } = pool.status();
    const rows = Object.entries(servers).flatMap(([name, { entries }]) =>
      entries.map(({ state, pid, refs, calls, inFlight }) => ({ name, state, pid, refs, calls, inFlight })),
    );
    const text = JSON.stringify({ sessions: Object.keys(sessions ?? {}).length, rows });
    if (text !== last) response.write(`event: pool\ndata: ${(last = text)}\n\n`);
  };
  tell();
  const timer = setInterval(tell, TOLD_EVERY_MS);
  const events = pool.events();
  const stop = () => {
    clearInterval(timer);
    events.return();
    watchers.delete(stop);
  };
  watchers.add(stop);
  response.on('close', stop);
  (async () => {
    for await (const { type, server, session } of events) {
      response.write(`event: happened\ndata: ${JSON.stringify({ type, server, session })}\n\n`);
    }
    response.end();
  })();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('--port');
  const { address, close } = await serve(JSON.parse(process.argv[2]), at < 0 ? 0 : Number(process.argv[at + 1]));
  console.log(address);
  process.once('SIGINT', close);
}
