// A call's own function throws: the host hears of it, and the call and later progress go on.

import { open } from './open.mjs';

const { pool, lease } = await open();
process.on('uncaughtException', (error) => console.log(`uncaught: ${error.message}`));
const progress = ({ progress: step }) => {
  if (step === 2) throw new Error('not now');
  console.log(`step ${step}`);
};
await lease.callTool('progress', { steps: 3 }, { progress });
await new Promise((resolve) => setImmediate(resolve));
console.log('answered');
await pool.close();
