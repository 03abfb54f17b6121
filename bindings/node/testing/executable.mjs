// What a single executable does: one call, from the package that it carries.

import { Pool } from '../index.mjs';

async function main() {
  const pool = new Pool({ cache: 'off', approvals: 'memory' });
  await pool.reconcile({ demo: { command: process.env.TRUNKLINE_TESTSERVER } });
  const session = pool.session('a');
  await session.ready('demo');
  const result = await session.callTool('mcp__demo__echo', { message: 'carried' });
  await pool.close();
  console.log(result.content[0].text);
}

main();
