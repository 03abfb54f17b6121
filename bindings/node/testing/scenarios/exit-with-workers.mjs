// The main thread exits while workers are amid traffic.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { open, server } from './open.mjs';

await open();
const workers = Array.from(
  { length: 2 },
  () =>
    new Worker(new URL('./worker.mjs', import.meta.url), {
      argv: [JSON.stringify(server), 'terminate'],
    }),
);
await Promise.all(workers.map((worker) => once(worker, 'message')));
process.exit(0);
