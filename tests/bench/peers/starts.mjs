// The workloads of a start, for the benchmark's Node clients: what they are is in tests/bench/src/starts.rs.

import { cpuMs, show } from './measure.mjs';

export const SERVERS = 10;
const SLOW = [0, 1, 3];
const SLOW_MS = 2000;
const STARTS = 2;

/** The arguments of a server when the first `slow` of them answer late. */
export function argumentsOf(number, slow) {
  return number < slow ? ['--initialize-delay-ms', String(SLOW_MS)] : [];
}

/** Measures `start(slow)`, which ends all that it began and gives the times of the first list and of the last server. */
export async function measureStarts(start) {
  for (const slow of SLOW) {
    const began = performance.now();
    const before = cpuMs();
    const first = [];
    const ready = [];
    for (let turn = 0; turn < STARTS; turn += 1) {
      const [one, all] = await start(slow);
      first.push(one);
      ready.push(all);
    }
    const took = performance.now() - began;
    const used = cpuMs() - before;
    show(`start-first-${slow}`, STARTS, took, used, first);
    show(`start-ready-${slow}`, STARTS, took, used, ready);
  }
}
