// A host for `cargo xtask reap`, in Node: it does what its standard input says, a line at a time; docs/internals/reap.md has the words.

import { createInterface } from 'node:readline';

import { Pool } from '../../bindings/node/index.mjs';

const pool = new Pool();
const session = pool.session('a', { servers: [] });
let lease;

/** What is begun may end as it likes. */
const begin = (promise) => void promise.catch(() => {});

for await (const line of createInterface({ input: process.stdin })) {
  const [, word, name, server] = /^(\S+)(?: (\S+) (.*))?$/.exec(line);
  if (word === 'connect') lease = await session.acquire(name, JSON.parse(server));
  if (word === 'begin') begin(session.acquire(name, JSON.parse(server)));
  if (word === 'call') begin(lease.callTool('hang'));
  if (word === 'drain') begin(pool.drainAll());
  console.log(pool.status().supervision);
}
await pool.close();
