// The workloads of a library that is loaded, for the benchmark's Node clients. As a program it is a host that has just begun: its arguments
// are the library (trunkline or sdk) and the server. What it prints is beyond a bare interpreter, whichever the library.

import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const HOSTS = 3;
const FEW = 1;
const MANY = 50;

/** Reads what some hosts printed, one after the other, and shows what is in the middle. */
export async function measureLoading(library, server) {
  const { execFileSync } = await import('node:child_process');
  const { show } = await import('./measure.mjs');
  const start = () => execFileSync('node', ['--expose-gc', fileURLToPath(import.meta.url), library, server]);
  const hosts = Array.from({ length: HOSTS }, () => JSON.parse(start()));
  const middle = (figure) => hosts.map((host) => host[figure]).sort((a, b) => a - b)[HOSTS >> 1];
  if (hosts[0].ready !== undefined) {
    const times = hosts.map((host) => host.ready);
    show('pool-ready', HOSTS, times.reduce((sum, time) => sum + time), 0, times);
  }
  const line = { workload: 'import', import_us: middle('import_us'), import_cpu_us: middle('import_cpu_us') };
  console.log(JSON.stringify(line));
  for (const count of [FEW, MANY]) {
    const figures = { kib: middle(`kib_${count}`), threads: middle(`threads_${count}`) };
    console.log(JSON.stringify({ workload: `import-${count}`, ...figures }));
  }
}

function privateKib() {
  globalThis.gc();
  const lines = readFileSync('/proc/self/smaps_rollup', 'utf8').matchAll(/^Private_(?:Clean|Dirty): +(\d+)/gm);
  return [...lines].reduce((sum, line) => sum + Number(line[1]), 0);
}

function cpuUs() {
  const usage = process.cpuUsage();
  return usage.user + usage.system;
}

async function host(library, server) {
  const before = privateKib();
  const began = performance.now();
  const cpu = cpuUs();
  const connected = await IMPORTS[library]();
  const figures = { import_us: (performance.now() - began) * 1000, import_cpu_us: cpuUs() - cpu };
  const look = (count) => {
    figures[`kib_${count}`] = privateKib() - before;
    figures[`threads_${count}`] = readdirSync('/proc/self/task').length;
  };
  await connected(began, server, figures, look);
  console.log(JSON.stringify(figures));
}

async function importTrunkline() {
  const { Pool } = await import('../../../bindings/node/index.mjs');
  return async (began, server, figures, look) => {
    const pool = new Pool({ cache: 'off' });
    await pool.reconcile({});
    figures.ready = performance.now() - began;
    const numbers = Array.from({ length: MANY }, (_, number) => number);
    await pool.reconcile(Object.fromEntries(numbers.map((number) => [`s${number}`, { command: server }])));
    const session = pool.session('a', { servers: [] });
    const leases = [];
    for (const count of [FEW, MANY]) {
      while (leases.length < count) leases.push(await session.acquire(`s${leases.length}`));
      look(count);
    }
    await pool.close();
  };
}

async function importSdk() {
  const sdk = `${process.env.NODE_MODULES}/@modelcontextprotocol/sdk/dist/esm/client`;
  const { Client } = await import(pathToFileURL(`${sdk}/index.js`));
  const { StdioClientTransport } = await import(pathToFileURL(`${sdk}/stdio.js`));
  return async (_began, server, _figures, look) => {
    const clients = [];
    for (const count of [FEW, MANY]) {
      while (clients.length < count) {
        const client = new Client({ name: 'bench', version: '1' });
        await client.connect(new StdioClientTransport({ command: server }));
        await client.listTools();
        clients.push(client);
      }
      look(count);
    }
    await Promise.all(clients.map((client) => client.close()));
  };
}

const IMPORTS = { trunkline: importTrunkline, sdk: importSdk };

if (process.argv[1] === fileURLToPath(import.meta.url)) await host(...process.argv.slice(2));
