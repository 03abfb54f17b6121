// The workload of an agent's turns for the benchmark's Node client: the lists of 1,000 tools, which are the same each time.

import { Pool } from '../../../bindings/node/index.mjs';
import { cpuMs, show } from './measure.mjs';

const TOOLS = 1000;
const TURNS = 500;
const SHAPE = 'openai';

export async function measureTurns(server) {
  const args = ['--generated-only', '--tools', String(TOOLS), '--label', 'words '.repeat(50)];
  const pool = new Pool({ cache: 'off' });
  await pool.reconcile({ s: { command: server, args } });
  const session = pool.session('a');
  await session.ready('s');
  for (const [name, turn] of [['turn-tools', () => session.tools()], ['turn-tools-for', () => session.toolsFor(SHAPE)]]) {
    if (turn().length !== TOOLS) throw new Error('a list of another length');
    const times = [];
    const [started, before] = [performance.now(), cpuMs()];
    for (let number = 0; number < TURNS; number += 1) {
      const began = performance.now();
      turn();
      times.push(performance.now() - began);
    }
    show(name, TURNS, performance.now() - started, cpuMs() - before, times);
  }
  await pool.close();
}
