// The package is imported, and nothing of it is used.

import { Pool } from '../../index.mjs';

console.log(typeof Pool === 'function' ? 'end' : 'no package');
