// The benchmark's client on trunkline's Node package.

import { Pool } from '../../../bindings/node/index.mjs';
import { measure } from './measure.mjs';

const pool = new Pool();
const session = pool.session('a', { servers: [] });
const lease = await session.acquire('s', { command: process.argv[2] });
await measure(async (size) => {
  const result = await lease.callTool('big', { bytes: size });
  if (result.content[0].text.length !== size) throw new Error('a result of another size');
});
await pool.close();
