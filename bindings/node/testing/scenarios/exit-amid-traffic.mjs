// process.exit while calls are in flight and events flow.

import { open, traffic } from './open.mjs';

const { pool, lease } = await open();
pool.on('status_changed', () => {});
traffic(lease, 64, () => process.exit(0));
