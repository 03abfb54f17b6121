// A callback of the host that does something wrong: of this kind, in this way.

import { Pool } from '../../index.mjs';
import { server } from './open.mjs';

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
  if (way === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  if (way === 're-enter') inside.push(other.callTool('echo', { message: 'inside' }).then((result) => result.content[0].text));
  if (way === 'close') inside.push(pool.close().then(() => 'closed'));
  if (way === 'exit') {
    console.log('exits');
    process.exit(0);
  }
  return { action: 'decline' };
}

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
await pool.close();
console.log(way === 'close' ? words.join() : [end, ...words, ...new Set(uncaught)].join());
