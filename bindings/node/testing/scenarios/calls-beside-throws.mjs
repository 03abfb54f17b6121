// Calls that go on together; beside each something is thrown.

import { open } from './open.mjs';

const { pool, lease } = await open();
let uncaught = 0;
process.on('uncaughtException', () => (uncaught += 1));
const lane = async (_, number) => {
  await lease.callTool('echo', { message: 'first' });
  queueMicrotask(() => {
    throw new Error(`beside ${number}`);
  });
  const result = await lease.callTool('echo', { message: String(number) });
  return result.content[0].text;
};
const texts = await Promise.all(Array.from({ length: 16 }, lane));
console.log(`uncaught: ${uncaught}`);
console.log(texts.join(' '));
await pool.close();
