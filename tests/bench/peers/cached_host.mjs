// A host that has just begun: its arguments are how servers start, the folder of kept catalogs, and the server. It prints after how many
// milliseconds it lists all tools.

import { Pool } from '../../../bindings/node/index.mjs';

const SERVERS = 10;
const TOOLS = 36;

const began = performance.now();
const [start, folder, server] = process.argv.slice(2);
const pool = new Pool({ cache: folder, start });
const names = Array.from({ length: SERVERS }, (_, number) => `s${number}`);
await pool.reconcile(Object.fromEntries(names.map((name) => [name, { command: server }])));
const session = pool.session('a');
// A stream of events does not keep the process alive.
const alive = setInterval(() => {}, 60_000);
const events = session.events({ kinds: ['tools_changed'] });
while (session.tools().length < SERVERS * TOOLS) await events.next();
console.log(performance.now() - began);
clearInterval(alive);
await pool.close();
