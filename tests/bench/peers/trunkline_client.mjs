// The benchmark's client on trunkline's Node package.

import { Pool } from '../../../bindings/node/index.mjs';
import { measureCached } from './cached.mjs';
import { measureCrowd } from './crowd.mjs';
import { measureLoading } from './loading.mjs';
import { httpServer, isWanted, measure, measureHttp, warmAcquire } from './measure.mjs';
import { SERVERS, measureStarts, monotonic } from './starts.mjs';
import { measureTurns } from './turns.mjs';

const server = process.argv[2];
if (isWanted('calls') || isWanted('acquire')) {
  const pool = new Pool();
  const session = pool.session('a', { servers: [] });
  const lease = await session.acquire('s', { command: server });
  if (isWanted('calls')) await measure((size) => call(lease, size));
  if (isWanted('acquire')) await warmAcquire(() => session.acquire('s'));
  await pool.close();
}
if (isWanted('http')) {
  const [url, end] = await httpServer(server);
  const pool = new Pool({ cache: 'off' });
  const lease = await pool.session('a', { servers: [] }).acquire('s', { type: 'http', url });
  await measureHttp((size) => call(lease, size));
  await pool.close();
  end();
}
if (isWanted('crowd')) await measureCrowd(server);
if (isWanted('loading')) await measureLoading('trunkline', server);
if (isWanted('starts')) await measureStarts(start);
if (isWanted('cached')) await measureCached(server);
if (isWanted('turns')) await measureTurns(server);

async function call(lease, size) {
  const result = await lease.callTool('big', { bytes: size });
  if (result.content[0].text.length !== size) throw new Error('a result of another size');
}

async function start(slow, log) {
  const all = Array.from({ length: SERVERS }, (_, number) => number);
  const starting = new Pool({ cache: 'off' });
  await starting.reconcile(
    Object.fromEntries(all.map((n) => [`s${n}`, { command: server, args: log.argumentsOf(n, slow) }])),
  );
  const began = monotonic();
  const opened = starting.session('a');
  for (const number of all.slice(slow)) await opened.ready(`s${number}`);
  const listed = new Set(opened.tools().map((tool) => tool.server));
  const first = monotonic();
  const late = first - log.lastOf(SERVERS - slow);
  if (!all.slice(slow).every((number) => listed.has(`s${number}`))) throw new Error('a server that is ready is not listed');
  await opened.ready();
  const ready = monotonic();
  await starting.close();
  return [first - began, late, ready - began];
}
