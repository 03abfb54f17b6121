// What the scenarios begin with: a pool, a session and a lease on the server of the command line.

import { Pool } from '../../index.mjs';

/** The configuration that the test gave. */
export const server = JSON.parse(process.argv[2]);

/** Opens a pool and a lease in it. */
export async function open(config = server) {
  const pool = new Pool({ exitGraceMs: 200, killGraceMs: 200 });
  await pool.reconcile({ s: config });
  const session = pool.session('a', { servers: [] });
  const lease = await session.acquire('s');
  return { pool, session, lease };
}

/** Calls going on for ever, so many at a time; `onFirst` is called once each of them has had an answer. */
export function traffic(lease, lanes, onFirst) {
  let answered = 0;
  const lane = async () => {
    for (let round = 0; ; round += 1) {
      await lease.callTool('echo', { message: `round ${round}` });
      if (round === 0 && ++answered === lanes) onFirst();
    }
  };
  for (let number = 0; number < lanes; number += 1) lane().catch(() => {});
}
