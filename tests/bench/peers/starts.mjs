// The workloads of a start, for the benchmark's Node clients: what they are is in tests/bench/src/starts.rs.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuMs, show } from './measure.mjs';

export const SERVERS = 10;
const SLOW = [0, 1, 3];
const SLOW_MS = 2000;
const STARTS = 2;
/** How often, a millisecond apart, a log is looked at for what is about to be written. */
const LOOKS = 1000;
const NOBODY_WAKES = new Int32Array(new SharedArrayBuffer(4));

/** Milliseconds of the clock that all processes of the machine share. */
export function monotonic() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Where the servers of one start write when they listed their tools. */
class ListLog {
  constructor(folder) {
    this.path = join(folder, 'lists');
  }

  /** The arguments of a server when the first `slow` of them answer late. */
  argumentsOf(number, slow) {
    const late = number < slow ? ['--initialize-delay-ms', String(SLOW_MS)] : [];
    return ['--list-log', this.path, ...late];
  }

  /**
   * The last moment of those that have listed, which are so many. Each writes it down after its answer, so that the last ones may still
   * be about to.
   */
  lastOf(count) {
    let moments = this.#moments();
    for (let look = 0; look < LOOKS && moments.length < count; look += 1) {
      Atomics.wait(NOBODY_WAKES, 0, 0, 1);
      moments = this.#moments();
    }
    if (moments.length !== count) throw new Error(`${moments.length} servers listed`);
    return Math.max(...moments);
  }

  #moments() {
    const text = existsSync(this.path) ? readFileSync(this.path, 'utf8') : '';
    return text.split('\n').filter(Boolean).map((moment) => Number(BigInt(moment)) / 1e6);
  }
}

/**
 * Measures `start(slow, log)`, which ends all that it began. It gives how long the first list took, and how long after what was listed, and
 * how long the last server took.
 */
export async function measureStarts(start) {
  for (const slow of SLOW) {
    const began = performance.now();
    const before = cpuMs();
    const times = [];
    for (let turn = 0; turn < STARTS; turn += 1) {
      const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
      try {
        times.push(await start(slow, new ListLog(folder)));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
    const took = performance.now() - began;
    const used = cpuMs() - before;
    ['first', 'late', 'ready'].forEach((name, which) =>
      show(`start-${name}-${slow}`, STARTS, took, used, times.map((one) => one[which])),
    );
  }
}
