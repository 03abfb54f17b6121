// The program ends with a pool, a session, a lease, listeners and streams open.

import { open } from './open.mjs';

const { pool, session, lease } = await open();
pool.on('tools_changed', () => {});
session.on('log', () => {});
session.events().next();
const stream = pool.events();
(async () => {
  for await (const event of stream) void event;
})();
await lease.callTool('echo', { message: 'hi' });
console.log('end');
