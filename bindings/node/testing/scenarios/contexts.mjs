// What a progress function runs in, beside calls of somebody else that the event loop answers by itself.

import { AsyncLocalStorage } from 'node:async_hooks';

import { open, server } from './open.mjs';

const store = new AsyncLocalStorage();
const { pool, session, lease } = await open();
await pool.reconcile({ s: server, t: server });
const other = await session.acquire('t');
const call = () => lease.callTool('echo', { message: 'x' });
await store.run('somebody', async () => {
  for (let calls = 0; calls < 200; calls += 1) await call();
});
const seen = new Set();
let isOver = false;
const told = other.callTool('progress', { steps: 300, interval_ms: 1 }, { progress: () => seen.add(store.getStore() ?? 'nobody') });
told.finally(() => { isOver = true; });
await store.run('somebody', async () => {
  while (!isOver) await call();
});
await told;
console.log([...seen].join());
