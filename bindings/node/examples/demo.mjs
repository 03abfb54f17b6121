// The main job: two sessions share one server process. `cargo xtask demo` runs it; docs/guide/demo.md says what it prints.
//
//   node demo.mjs '{"demo": {"command": "trunkline-testserver"}}'

import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

import { Pool } from '../index.mjs';

const say = (line) => console.log(JSON.stringify(line));
const textOf = (result) => result.content[0].text;

const pool = new Pool();
await pool.reconcile(JSON.parse(process.argv[2]));
say({ step: 'pool' });

const alpha = pool.session('alpha');
const beta = pool.session('beta');
const sessions = [alpha, beta];

// One server is started, for the first to ask.
const leases = await Promise.all(sessions.map((session) => session.acquire('demo')));
for (const [index, lease] of leases.entries()) {
  say({ step: 'acquire', session: sessions[index].id, server: lease.server });
}

for (const [index, lease] of leases.entries()) {
  const text = textOf(await lease.callTool('pid'));
  say({ step: 'call', session: sessions[index].id, tool: 'pid', text });
}

const tool = 'mcp__demo__echo';
const text = textOf(await beta.callTool(tool, { message: 'hello from Node' }));
say({ step: 'call', session: beta.id, tool, text });

// A change that one session causes reaches both. Listeners do not keep a program alive; the deadline does.
const deadline = new AbortController();
const late = setTimeout(10_000, undefined, deadline).then(() => {
  throw new Error('the list did not change');
});
const changes = Promise.all(sessions.map((session) => once(session, 'tools_changed')));
await leases[0].callTool('change_list', { add: 'fresh' });
for (const [index, [event]] of (await Promise.race([changes, late])).entries()) {
  say({ step: 'change', session: sessions[index].id, added: event.added });
}
late.catch(() => {});
deadline.abort();

for (const [index, lease] of leases.entries()) {
  lease.release();
  say({ step: 'release', session: sessions[index].id });
}

const { drained, forced } = await pool.drainAll();
await pool.close();
say({ step: 'drain', drained, forced });
