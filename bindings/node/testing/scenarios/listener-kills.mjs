// A listener that throws, in a host without a handler for that: it ends as Node ends.

import { open } from './open.mjs';

const { session, lease } = await open();
session.on('log', () => {
  throw new Error('nobody catches this');
});
await lease.callTool('log', { level: 'error', text: 'one' });
await lease.callTool('sleep', { ms: 20_000 });
