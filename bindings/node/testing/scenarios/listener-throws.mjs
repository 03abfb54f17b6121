// A listener that throws: the host hears of it, and everything goes on.

import { open } from './open.mjs';

const { pool, session, lease } = await open();
process.on('uncaughtException', (error) => console.log(`uncaught: ${error.message}`));
session.on('log', (event) => {
  throw new Error(`no good: ${event.data}`);
});
await lease.callTool('log', { level: 'error', text: 'one' });
await lease.callTool('log', { level: 'error', text: 'two' });
await new Promise((resolve) => setImmediate(resolve));
const result = await lease.callTool('echo', { message: 'still here' });
console.log(result.content[0].text);
await pool.close();
