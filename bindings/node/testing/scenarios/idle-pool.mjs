// A pool that has nothing, and is listened to.

import { Pool } from '../../index.mjs';

const pool = new Pool();
pool.on('tools_changed', () => {});
pool.events().next();
console.log('end');
