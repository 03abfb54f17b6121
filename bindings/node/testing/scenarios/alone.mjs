// Calls that wait alone, one after another, and then nothing that keeps the program alive.

import { open } from './open.mjs';

const { lease } = await open();
for (let call = 0; call < 200; call += 1) await lease.callTool('echo', { message: 'x' });
console.log('end');
