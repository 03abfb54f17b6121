// The worker of the scenarios with workers: traffic on a pool of its own. Its arguments are a server and how it is to end.

import { parentPort } from 'node:worker_threads';

import { open, traffic } from './open.mjs';

const ending = process.argv[3];

const { pool, session, lease } = await open();
pool.on('status_changed', () => {});
session.on('log', () => {});
if (ending === 'natural') {
  const result = await lease.callTool('echo', { message: 'from a worker' });
  parentPort.postMessage(result.content[0].text);
} else if (ending === 'exit-held') {
  // The first to go on ends the thread, beside calls that wait to be written.
  const lane = async () => {
    await lease.callTool('echo', { message: 'first' });
    lease.callTool('echo', { message: 'held' }).catch(() => {});
    queueMicrotask(() => {
      parentPort.postMessage('called');
      process.exit(0);
    });
  };
  for (let number = 0; number < 8; number += 1) lane().catch(() => {});
} else if (ending.endsWith('-alone')) {
  for (let call = 0; call < 200; call += 1) await lease.callTool('echo', { message: 'x' });
  parentPort.postMessage('running');
  for (let call = 0; ending !== 'natural-alone'; call += 1) {
    const answer = lease.callTool('echo', { message: 'x' });
    if (ending === 'exit-alone' && call === 20) process.exit(0);
    await answer;
  }
} else {
  traffic(lease, 16, () => {
    parentPort.postMessage('running');
    if (ending === 'exit') process.exit(0);
  });
}
