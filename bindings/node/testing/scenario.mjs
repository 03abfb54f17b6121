// Runs one of `scenarios/` as a process of its own and looks at how it ends.

import { spawn } from 'node:child_process';
import { join } from 'node:path';

import { HANG_BOUND_MS, StartLog, packageFolder } from './support.mjs';

/**
 * Runs a scenario; its first argument is the JSON text of a server's configuration. Afterwards no process of that server is left.
 * `shell` is a command line around it, in which `"$@"` stands for node and its arguments.
 */
export async function run(name, { flags = [], args = [], shell } = {}) {
  const log = new StartLog();
  const script = join(packageFolder, 'testing/scenarios', `${name}.mjs`);
  const argv = [process.execPath, script, JSON.stringify(log.server(...flags)), ...args];
  const child = shell === undefined ? spawned(argv) : spawned(['/bin/sh', '-c', shell, 'sh', ...argv]);
  const outcome = await ended(child);
  outcome.starts = log.starts;
  await log.end();
  return outcome;
}

function spawned([command, ...args]) {
  return spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NODE_OPTIONS: '' } });
}

async function ended(child) {
  const output = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (output.out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (output.err += text));
  const began = Date.now();
  const hang = setTimeout(() => child.kill('SIGKILL'), HANG_BOUND_MS);
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (...end) => resolve(end));
  });
  clearTimeout(hang);
  return { code, signal, ...output, ms: Date.now() - began };
}

/** Runs `once` so many times, a few at a time, and hands back what each gave. */
export async function repeat(times, once) {
  const results = [];
  let left = times;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      results.push(await once());
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

/** Processes at one time: a little more than the cores of a small machine, so that they get into each other's way. */
const LANES = 3;
