// The workloads of kept catalogs, for the benchmark's Node client: what they are is in tests/bench/src/cached.rs. The host is
// cached_host.mjs.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from '../../../bindings/node/index.mjs';
import { cpuMs, show } from './measure.mjs';

const SERVERS = 10;
const HOSTS = 20;
const HOST = fileURLToPath(new URL('cached_host.mjs', import.meta.url));

function servers(server) {
  return Object.fromEntries(Array.from({ length: SERVERS }, (_, number) => [`s${number}`, { command: server }]));
}

export async function measureCached(server) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  try {
    const pool = new Pool({ cache: folder });
    await pool.reconcile(servers(server));
    await pool.session('a').ready();
    await pool.close();
    for (const start of ['lazy', 'eager']) {
      const began = performance.now();
      const before = cpuMs();
      const times = Array.from({ length: HOSTS }, () => Number(execFileSync('node', [HOST, start, folder, server])));
      show(`cached-${start}`, HOSTS, performance.now() - began, cpuMs() - before, times);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
