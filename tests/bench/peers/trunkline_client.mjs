// The benchmark's client on trunkline's Node package.

import { Pool } from '../../../bindings/node/index.mjs';
import { measureCached } from './cached.mjs';
import { isWanted, measure, warmAcquire } from './measure.mjs';
import { SERVERS, argumentsOf, measureStarts } from './starts.mjs';

const pool = new Pool();
const session = pool.session('a', { servers: [] });
const lease = await session.acquire('s', { command: process.argv[2] });
async function call(size) {
  const result = await lease.callTool('big', { bytes: size });
  if (result.content[0].text.length !== size) throw new Error('a result of another size');
}
if (isWanted('calls')) await measure(call);
if (isWanted('acquire')) await warmAcquire(() => session.acquire('s'));
await pool.close();
if (isWanted('starts')) await measureStarts(start);
if (isWanted('cached')) await measureCached(process.argv[2]);

async function start(slow) {
  const all = Array.from({ length: SERVERS }, (_, number) => number);
  const starting = new Pool();
  await starting.reconcile(
    Object.fromEntries(all.map((n) => [`s${n}`, { command: process.argv[2], args: argumentsOf(n, slow) }])),
  );
  const began = performance.now();
  const opened = starting.session('a');
  for (const number of all.slice(slow)) await opened.ready(`s${number}`);
  const listed = new Set(opened.tools().map((tool) => tool.server));
  const first = performance.now() - began;
  if (!all.slice(slow).every((number) => listed.has(`s${number}`))) throw new Error('a server that is ready is not listed');
  await opened.ready();
  const ready = performance.now() - began;
  await starting.close();
  return [first, ready];
}
