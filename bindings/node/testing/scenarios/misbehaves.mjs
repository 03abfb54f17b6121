// A callback of the host that does something wrong: of this kind, in this way.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { Pool } from '../../index.mjs';
import { server } from './open.mjs';

/** Lanes of calls beside a callback that blocks, and the answers of each meanwhile: one to a call that had begun, and those to later ones. */
const LANES = 4;
const ANSWERS = 1 + 5;

/** What waits for the callback takes longer. */
const HELD_UP_MS = 30_000;

const [kind, way] = process.argv.slice(3);
const uncaught = [];
process.on('uncaughtException', (error) => uncaught.push(error.message ?? 'bare'));
process.on('warning', ({ code }) => { if (code === 'TRUNKLINE_PROGRESS_FAILED') uncaught.push('warned'); });

let called;
const isCalled = new Promise((resolve) => { called = resolve; });
const inside = [];

function callback() {
  called();
  if (way === 'throw') throw new Error('as asked');
  if (way === 'throw-bare') throw Object.create(null);
  if (way === 'block') block();
  if (way === 're-enter') inside.push(other.callTool('echo', { message: 'inside' }).then((result) => result.content[0].text));
  if (way === 'close') inside.push(pool.close().then(() => 'closed'));
  if (way === 'exit') {
    console.log('exits');
    process.exit(0);
  }
  return { action: 'decline' };
}

/** Blocks the thread until another, whose calls went on before, has had answers in each of its lanes. */
function block() {
  const end = Date.now() + HELD_UP_MS;
  const enough = answers.map((count) => count + ANSWERS);
  for (let lane = 0; lane < LANES; lane += 1) {
    for (let count; (count = Atomics.load(answers, lane)) < enough[lane]; ) {
      if (Atomics.wait(answers, lane, count, Math.max(0, end - Date.now())) !== 'timed-out') continue;
      inside.push('others are held up');
      return;
    }
  }
}

/** Calls of another thread that go on until it is ended. */
async function startOthers() {
  const worker = new Worker(new URL('./beside.mjs', import.meta.url), { argv: [JSON.stringify(server)] });
  worker.postMessage(answers);
  await once(worker, 'message');
  return worker;
}

const answers = new Int32Array(new SharedArrayBuffer(4 * LANES));

const causes = {
  event: async () => {
    pool.once('status_changed', callback);
    await session.acquire('late', server);
  },
  progress: () => lease.callTool('progress', { steps: 2 }, { progress: callback }),
  handler: () => lease.callTool('ask', { method: 'elicitation/create', params: { message: '?' } }),
};

const pool = new Pool({ exitGraceMs: 100, killGraceMs: 100 });
const session = pool.session('a', { servers: [], handlers: { elicitation: callback } });
const lease = await session.acquire('s', server);
const other = await pool.session('b', { servers: [] }).acquire('s', server);
const others = way === 'block' ? await startOthers() : undefined;
const caused = causes[kind]().then(() => 'answered', (error) => error.code);
await isCalled;
if (way !== 'close') {
  for (let number = 0; number < 20; number += 1) {
    const { content } = await other.callTool('echo', { message: String(number) });
    if (content[0].text !== String(number)) throw new Error('another is held up');
  }
}
const end = await caused;
const words = [...new Set(await Promise.all(inside))];
await others?.terminate();
await pool.close();
console.log(way === 'close' ? words.join() : [end, ...words, ...new Set(uncaught)].join());
