// A call's own function throws: the host hears of it by a warning, nothing ends, and the call and later progress go on.

import { open } from './open.mjs';

const { pool, lease } = await open();
process.on('warning', ({ code, message }) => console.log(`${code}: ${message.split('\n')[0]}`));
const progress = ({ progress: step }) => {
  if (step === 2) throw new Error('not now');
  if (step === 4) return Promise.reject(new Error('nor later'));
  console.log(`step ${step}`);
};
await lease.callTool('progress', { steps: 4 }, { progress });
await new Promise((resolve) => setImmediate(resolve));
console.log('answered');
await pool.close();
