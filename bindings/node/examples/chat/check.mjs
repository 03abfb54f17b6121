// The chat server as its users meet it: fifty chats speak at the same time, and the page's stream says so. `cargo xtask test examples` runs it.
//
//   node check.mjs '{"demo": {"command": "trunkline-testserver"}}'

import assert from 'node:assert/strict';

import { CHATS, serve } from './server.mjs';

const { address, close } = await serve(JSON.parse(process.argv[2]));

const page = await (await fetch(address)).text();
assert.ok(page.includes('EventSource'));
assert.equal((await fetch(`${address}/nowhere`)).status, 404);
assert.equal((await fetch(`${address}/chats/50`, { method: 'POST', body: 'x' })).status, 404);

const say = async (number) => (await fetch(`${address}/chats/${number}`, { method: 'POST', body: `hello ${number}` })).json();
const replies = await Promise.all(Array.from({ length: CHATS }, (_, number) => say(number)));
assert.deepEqual(replies.map(({ reply }) => reply), replies.map((_, number) => `hello ${number}`));
assert.equal(new Set(replies.map(({ server }) => server)).size, 1);

// What the page is told, until it has been told of all calls.
const isAllTold = () => told.includes(`"refs":${CHATS}`) && told.includes(`"calls":${2 * CHATS}`);
let told = '';
for await (const chunk of (await fetch(`${address}/pool`)).body.pipeThrough(new TextDecoderStream())) {
  told += chunk;
  if (isAllTold()) break;
}
assert.ok(isAllTold(), told);
console.log(`${CHATS} chats, one process`);
await close();
