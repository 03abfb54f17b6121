// A server that dies amid writes: the pipe breaks, and only the calls hear of it.

import { open } from './open.mjs';

const { pool, lease } = await open();
const calls = Array.from({ length: 50 }, () => lease.callTool('echo', { message: 'x'.repeat(100_000) }));
const crash = lease.callTool('crash', { code: 3 });
const results = await Promise.allSettled([...calls, crash]);
const codes = new Set(results.map((result) => result.reason?.code ?? 'answered'));
codes.delete('answered');
console.log([...codes].sort().join());
await pool.close();
