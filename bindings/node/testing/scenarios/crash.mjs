// A server that dies amid writes: the pipe breaks, and only the calls hear of it.

import { open } from './open.mjs';

const { pool, lease } = await open();
const crash = lease.callTool('crash', { code: 3 });
const calls = Array.from({ length: 20 }, () => lease.callTool('echo', { message: 'x'.repeat(100_000) }));
const results = await Promise.allSettled([crash, ...calls]);
console.log([...new Set(results.map((result) => result.reason?.code ?? 'answered'))].join());
await pool.close();
