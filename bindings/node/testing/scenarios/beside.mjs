// The worker beside a callback that blocks: as many lanes of calls as there are shared numbers, which are the answers of each.

import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';

import { open } from './open.mjs';

const [answers] = await once(parentPort, 'message');
const { lease } = await open();

async function goOn(lane) {
  for (;;) {
    await lease.callTool('echo', { message: `lane ${lane}` });
    if (Atomics.add(answers, lane, 1) === 0) parentPort.postMessage('answered');
    Atomics.notify(answers, lane);
  }
}

for (const lane of answers.keys()) goOn(lane);
