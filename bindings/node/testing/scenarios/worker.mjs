// The worker of the scenarios with workers: traffic on a pool of its own.

import { parentPort, workerData } from 'node:worker_threads';

import { open, traffic } from './open.mjs';

const { pool, session, lease } = await open(workerData.server);
pool.on('status_changed', () => {});
session.on('log', () => {});
if (workerData.ending === 'natural') {
  const result = await lease.callTool('echo', { message: 'from a worker' });
  parentPort.postMessage(result.content[0].text);
} else {
  traffic(lease, 16, () => {
    parentPort.postMessage('running');
    if (workerData.ending === 'exit') process.exit(0);
  });
}
