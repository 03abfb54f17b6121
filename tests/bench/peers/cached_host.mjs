// A host that has just begun: its arguments are how servers start, the folder of kept catalogs, and the servers as JSON. It prints after
// how many milliseconds it had its pool, reconciled, had its session, and had a list of all tools.

import { Pool } from '../../../bindings/node/index.mjs';

const TOOLS = 200;

const began = performance.now();
const [start, folder, servers] = process.argv.slice(2);
const pool = new Pool({ cache: folder, start });
const made = performance.now();
await pool.reconcile(JSON.parse(servers));
const reconciled = performance.now();
const session = pool.session('a');
const opened = performance.now();
// A stream of events does not keep the process alive.
const alive = setInterval(() => {}, 60_000);
const events = session.events({ kinds: ['tools_changed'] });
while (session.tools().length < TOOLS) await events.next();
const listed = performance.now();
console.log(JSON.stringify([made, reconciled, opened, listed].map((moment) => moment - began)));
clearInterval(alive);
await pool.close();
