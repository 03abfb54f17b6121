// Workers, each with a pool of its own, so many rounds; their end is `terminate`, `exit`, `exit-held` or `natural`, the first,
// the second and the last also as `…-alone`: amid calls one after another.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { server } from './open.mjs';

const [rounds, lanes, ending] = [Number(process.argv[3]), Number(process.argv[4]), process.argv[5]];

async function round() {
  const worker = new Worker(new URL('./worker.mjs', import.meta.url), {
    argv: [JSON.stringify(server), ending],
  });
  const exit = once(worker, 'exit');
  const [message] = await once(worker, 'message');
  if (ending.startsWith('terminate')) await worker.terminate();
  await exit;
  return message;
}

for (let left = rounds; left > 0; left -= lanes) {
  const messages = await Promise.all(Array.from({ length: Math.min(lanes, left) }, round));
  if (left === rounds) console.log(messages[0]);
}
console.log('end');
