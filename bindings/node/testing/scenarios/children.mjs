// A host with children of its own, amid servers that come and go, so many rounds: each hears of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { Pool } from '../../index.mjs';
import { server } from './open.mjs';

const rounds = Number(process.argv[3]);
const pool = new Pool({ exitGraceMs: 200, killGraceMs: 200, drainDelayMs: 0 });
await pool.reconcile({ s: server });
const session = pool.session('a', { servers: [] });

async function child(code) {
  const [status] = await once(spawn('/bin/sh', ['-c', `exit ${code}`]), 'exit');
  return status === code;
}

async function use() {
  const lease = await session.acquire('s');
  const result = await lease.callTool('echo', { message: 'x' });
  lease.release();
  return result.content[0].text === 'x';
}

for (let round = 1; round <= rounds; round += 1) {
  const results = await Promise.all([child(round), use(), child(round + 1)]);
  if (results.includes(false)) throw new Error(`round ${round}: ${results}`);
}
await pool.close();
console.log('end');
