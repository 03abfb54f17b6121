// The same declarations, for ES modules.

import trunkline, { Pool, type Session } from '../index.mjs';

const pool: Pool = new trunkline.Pool({ workspace: '.' });
export const session: Session = pool.session('a');
