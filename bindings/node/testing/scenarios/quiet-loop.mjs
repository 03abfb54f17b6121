// A listener of more events than are heard in one turn of the event loop, in a process where nothing else wakes that. `all`: it hears
// them all before the one timer. `endless`: each brings another, and the process ends although there is always one more.

import { stat } from 'node:fs';
import { createRequire } from 'node:module';

const { Emitter } = createRequire(import.meta.url)('../../lib/emitter.cjs');

const EVENTS = 5000;

/** Less than the 8 s after which V8 looks whether there is something to collect. */
const QUIET_MS = 5000;

const isEndless = process.argv[3] === 'endless';
const waiting = Array.from({ length: EVENTS }, () => ({ type: 'log', seq: 1 }));
let heard = 0;
const emitter = new Emitter({
  subscribe: () => ({
    number: () => -1,
    take: (most) => (waiting.length === 0 ? '' : JSON.stringify(waiting.splice(0, most))),
    isEnded: () => false,
    close() {},
  }),
});
let timer;
emitter.on('log', () => {
  heard += 1;
  if (isEndless) waiting.push({ type: 'log', seq: 1 });
  else if (heard === EVENTS) clearTimeout(timer);
});
// From here, where the addon wakes the loop too: the new subscription takes over what waits.
stat('.', () => {
  if (!isEndless) timer = setTimeout(() => console.log('the timer was first'), QUIET_MS);
  emitter.on('failed', () => {});
});
process.on('exit', () => console.log(`heard ${isEndless ? 'some' : heard}`));
