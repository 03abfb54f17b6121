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
const TOOLS = 20;
const HOSTS = 20;
const HOST = fileURLToPath(new URL('cached_host.mjs', import.meta.url));
const PARTS = ['pool', 'reconcile', 'session', 'listed'];

export async function measureCached(server) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  const args = ['--generated-only', '--tools', String(TOOLS), '--label', 'words '.repeat(50)];
  const names = Array.from({ length: SERVERS }, (_, number) => `s${number}`);
  const servers = Object.fromEntries(names.map((name) => [name, { command: server, args }]));
  try {
    const pool = new Pool({ cache: folder });
    await pool.reconcile(servers);
    await pool.session('a').ready();
    await pool.close();
    for (const start of ['lazy', 'eager']) {
      const began = performance.now();
      const before = cpuMs();
      const host = () => JSON.parse(execFileSync('node', [HOST, start, folder, JSON.stringify(servers)]));
      const hosts = Array.from({ length: HOSTS }, host);
      const took = [performance.now() - began, cpuMs() - before];
      show(`cached-${start}`, HOSTS, ...took, hosts.map((moments) => moments.at(-1)));
      PARTS.forEach((part, number) => {
        const times = hosts.map((moments) => moments[number] - (moments[number - 1] ?? 0));
        show(`cached-${start}-${part}`, HOSTS, ...took, times);
      });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
