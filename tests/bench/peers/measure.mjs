// The workloads and figures of the benchmark's Node clients: the contract is in tests/bench/src/lib.rs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

const WIDTH = 64;
const WARM_UP_MS = 100;
const MEASURED_MS = 400;
const CALLS_MIN = 200;
const SIZES = [
  [100, '100'],
  [100_000, '100k'],
];

/** Whether a group of workloads is to be carried out. */
export function isWanted(group) {
  return (process.env.BENCH_ONLY ?? group).split(',').includes(group);
}

export function cpuMs() {
  const usage = process.cpuUsage();
  return (usage.user + usage.system) / 1000;
}

/** Pages that the system gave so far: memory that is given back and taken again costs them. */
function pages() {
  return process.resourceUsage().minorPageFault;
}

export function show(workload, calls, tookMs, cpu, times, taken) {
  const line = { workload, calls, calls_per_s: (calls / tookMs) * 1000, cpu_us: (cpu * 1000) / calls };
  if (taken !== undefined) line.pages = taken / calls;
  if (times) {
    times.sort((a, b) => a - b);
    line.p50_us = times[(calls - 1) >> 1] * 1000;
    line.p99_us = times[Math.floor((calls - 1) * 0.99)] * 1000;
  }
  console.log(JSON.stringify(line));
}

async function sequential(name, call, size) {
  const end = performance.now() + WARM_UP_MS;
  while (performance.now() < end) await call(size);
  const times = [];
  const started = performance.now();
  const [before, had] = [cpuMs(), pages()];
  while (performance.now() - started < MEASURED_MS || times.length < CALLS_MIN) {
    const start = performance.now();
    await call(size);
    times.push(performance.now() - start);
  }
  show(name, times.length, performance.now() - started, cpuMs() - before, times, pages() - had);
}

/** Measures `acquire()`, whose lease is released at once. */
export async function warmAcquire(acquire) {
  for (let turn = 0; turn < CALLS_MIN; turn += 1) (await acquire()).release();
  const times = [];
  const started = performance.now();
  const before = cpuMs();
  while (performance.now() - started < MEASURED_MS) {
    const start = performance.now();
    (await acquire()).release();
    times.push(performance.now() - start);
  }
  show('acquire', times.length, performance.now() - started, cpuMs() - before, times);
}

async function wide(name, call, size) {
  const started = performance.now();
  const [before, had] = [cpuMs(), pages()];
  let calls = 0;
  const caller = async () => {
    while (performance.now() - started < MEASURED_MS) {
      await call(size);
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, caller));
  show(name, calls, performance.now() - started, cpuMs() - before, undefined, pages() - had);
}

/** Measures `call(size)` over Streamable HTTP. */
export async function measureHttp(call) {
  await sequential('http-100', call, SIZES[0][0]);
}

/** Starts the server over Streamable HTTP; gives its address, and what ends it. */
export async function httpServer(server) {
  const child = spawn(server, ['--http', '0', '--http-faults', 'json'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  return [String(line).trim(), () => child.stdin.end()];
}

/** Measures `call(size)`, which calls the tool `big` and looks at the text that comes back. */
export async function measure(call) {
  for (const [size, name] of SIZES) {
    await sequential(`seq-${name}`, call, size);
    await wide(`wide-${name}`, call, size);
  }
}
