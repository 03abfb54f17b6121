// A pool that keeps the process alive: `unref` or `close` ends that. The arguments are which of them, and how often it was asked for.

import { Pool } from '../../index.mjs';

const [ending, times] = process.argv.slice(3);
const pool = new Pool();
for (let time = 0; time < Number(times); time += 1) pool.ref();

/** Longer than a process that nothing holds goes on for. The timer itself does not hold it. */
const HELD_MS = 300;

setTimeout(async () => {
  console.log('held');
  if (ending === 'unref') pool.unref();
  else await pool.close();
  // A closed pool holds nothing.
  if (ending === 'close') pool.ref();
}, HELD_MS).unref();
process.on('exit', () => console.log('end'));
