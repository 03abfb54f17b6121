// The workload of a list that changed and many sessions, for the benchmark's Node client: what it is is in tests/bench/src/crowd.rs.
// Beside its time, how often the loop turned between the change and the last event, less the once that the answer of the
// call takes.

import { setTimeout } from 'node:timers/promises';
import { Pool } from '../../../bindings/node/index.mjs';
import { cpuMs } from './measure.mjs';

const SESSIONS = 1000;
const CHANGES = 10;
/** Between one change and the next: lists are read again four times a second at most. */
const BETWEEN_MS = 300;

export async function measureCrowd(server) {
  const pool = new Pool({ cache: 'off' });
  await pool.reconcile({ s: { command: server, args: ['--list-changes'] } });
  const sessions = Array.from({ length: SESSIONS }, (_, number) => pool.session(String(number), { servers: [] }));
  const leases = [];
  for (const session of sessions) leases.push(await session.acquire('s'));
  const streams = sessions.map((session) => session.events({ kinds: ['tools_changed'] }));
  // A stream of events does not keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  const lists = await seen(leases[0]);
  const times = [];
  const woken = [];
  const cpu = cpuMs();
  for (let turn = 0; turn < CHANGES; turn += 1) {
    await setTimeout(BETWEEN_MS);
    const waiting = streams.map((stream) => stream.next());
    const began = performance.now();
    const first = wakes();
    await leases[0].callTool('change_list', { [turn % 2 === 1 ? 'remove' : 'add']: ['sometimes'] });
    await Promise.all(waiting);
    times.push(performance.now() - began);
    woken.push(wakes() - first - 1);
  }
  const used = cpuMs() - cpu;
  const middle = (values) => values.sort((a, b) => a - b)[CHANGES >> 1];
  const line = {
    workload: `fan-out-${SESSIONS}`,
    p50_us: middle(times) * 1000,
    cpu_us: (used * 1000) / CHANGES,
    lists: ((await seen(leases[0])) - lists) / CHANGES,
    wakes: middle(woken),
  };
  console.log(JSON.stringify(line));
  clearInterval(alive);
  await pool.close();
}

async function seen(lease) {
  const result = await lease.callTool('seen', { method: 'tools/list' });
  return Number(result.content[0].text);
}

/** Turns of the loop; each ends with a wait for something to do. */
function wakes() {
  return performance.nodeTiming.uvMetricsInfo.loopCount;
}
