// What the tests share: the reference server, its start log, waiting, and pools that are closed and looked after.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { Pool } from '../index.mjs';

/** The folder of the package. */
export const packageFolder = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** The folder of the repository. */
export const repository = resolve(packageFolder, '../..');

/** The path of the reference server. */
export const testserver =
  process.env.TRUNKLINE_TESTSERVER ?? join(repository, 'target/debug/trunkline-testserver');

/** The path of the server that misbehaves, beside it. */
export const faultserver = join(dirname(testserver), 'trunkline-faultserver');

/** Writes down for the scoreboard that a promise was put to the test so many times, and kept. */
export function score(row, times) {
  const file = process.env.TRUNKLINE_SCORES;
  if (file) appendFileSync(file, `${row} ${times}\n`);
}

/** How long a test waits for anything: a hang, not a measure. */
export const HANG_BOUND_MS = 90_000;

const POLL_MS = 10;

/** A file in which every reference server that was started with it notes its process. */
export class StartLog {
  #folder = mkdtempSync(join(tmpdir(), 'trunkline-node-'));

  get path() {
    return join(this.#folder, 'starts');
  }

  /** The configuration of a reference server. */
  server(...flags) {
    return { command: testserver, args: [...flags, '--start-log', this.path] };
  }

  /** How many servers were started. */
  get starts() {
    return this.#lines().filter((line) => line.endsWith(' server')).length;
  }

  /** The processes that still run, helpers included. */
  get running() {
    return this.#lines()
      .map((line) => Number.parseInt(line, 10))
      .filter(isRunning);
  }

  /** Waits until none runs, and removes the log. */
  async end() {
    try {
      await until(() => this.running.length === 0, () => `processes ${this.running} are left`);
    } finally {
      rmSync(this.#folder, { recursive: true });
    }
  }

  #lines() {
    try {
      return readFileSync(this.path, 'utf8').split('\n').filter(Boolean);
    } catch (error) {
      if (error.code === 'ENOENT') return [];
      throw error;
    }
  }
}

/** A reference server, or another program, that is reached by an address, which it prints. */
export class RemoteServer {
  #process;

  constructor(flags, program = testserver) {
    this.#process = spawn(program, flags, { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  async address() {
    for await (const line of createInterface({ input: this.#process.stdout })) return line;
    throw new Error('a remote server printed no address');
  }

  async end() {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}

/** Whether a process runs; what somebody else has to reap does not. */
/** Visits an address as a person does; where it redirects to. */
export async function visit(address) {
  const answer = await fetch(address, { redirect: 'manual' });
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`no redirect: ${answer.status}`);
  return location;
}

export function isRunning(pid) {
  const { state, parent } = stateOf(pid);
  return state !== undefined && (state !== 'Z' || parent === process.pid);
}

/** A process and all below it. */
export function treeOf(pid) {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number);
  const tree = [pid];
  for (const above of tree) tree.push(...all.filter((other) => stateOf(other).parent === above));
  return tree;
}

function stateOf(pid) {
  let stat;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return {};
  }
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state, parent: Number(parent) };
}

/** Waits until `condition()` holds. */
export async function until(condition, what = () => String(condition)) {
  const end = Date.now() + HANG_BOUND_MS;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not within ${HANG_BOUND_MS} ms: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Keeps this thread busy until something holds, or for so long. */
export function blockUntil(holds, ms) {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  for (const end = Date.now() + ms; !holds() && Date.now() < end; ) Atomics.wait(nothing, 0, 0, 1);
}

/** The promise's value; an error when it is not settled within the bound. Keeps the event loop alive meanwhile. */
export async function within(promise, what, bound = HANG_BOUND_MS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${bound} ms: ${what}`)), bound);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A pool for one test, closed at its end; then no process of its log may be left. */
export function openPool(t, options) {
  // Without what other tests listed.
  const pool = new Pool({ cache: 'off', ...options });
  // After what may throw: nothing else removes its folder.
  const log = new StartLog();
  t.after(async () => {
    await within(pool.close(), 'close');
    await log.end();
  });
  return { pool, log };
}

/** A pool with one reference server `s`, a session `a` and its lease on it. */
export async function openLease(t, { options, flags = [], session = {} } = {}) {
  const { pool, log } = openPool(t, options);
  await pool.reconcile({ s: log.server(...flags) });
  const a = pool.session('a', { servers: [], ...session });
  const lease = await within(a.acquire('s'), 'acquire');
  return { pool, log, session: a, lease };
}

/** The text of a result's first content block. */
export function textOf(result) {
  return result.content[0].text;
}

/** What a promise rejects with. */
export async function rejection(promise) {
  try {
    await within(promise, 'a rejection');
  } catch (error) {
    return error;
  }
  throw new Error('the promise was fulfilled');
}
