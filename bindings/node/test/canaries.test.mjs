// Secrets in what a host configures, looked for in all that Node shows of it: S-48, SECURITY row 13.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { inspect } from 'node:util';

import { startLogs } from '../index.mjs';
import { openPool, repository, score, testserver, within } from '../testing/support.mjs';

/** The inputs, and the place of each canary in them by its secret. */
function inputs() {
  const places = new Map();
  const text = readFileSync(join(repository, 'tests/canaries.json'), 'utf8');
  const marked = text.replace(/CANARY ([A-Za-z ]+)/g, (_, place) => {
    const secret = `q${String(places.size).padStart(2, '0')}Zcanary${97 - places.size}Y`;
    places.set(secret, place);
    return secret;
  });
  return { given: JSON.parse(marked.replace('"SERVER"', JSON.stringify(testserver))), places };
}

/** All that was shown, and where. */
class Shown {
  #texts = [];

  keep(place, ...things) {
    for (const thing of things) {
      const texts = [inspect(thing, { depth: 12, showHidden: true }), String(thing), JSON.stringify(thing) ?? ''];
      if (thing instanceof Error) texts.push(thing.stack, inspect(thing.cause, { depth: 12 }));
      this.#texts.push(...texts.map((shown) => [place, shown]));
    }
  }

  placesOf(secret) {
    return this.#texts.filter(([, text]) => text.includes(secret)).map(([place, text]) => `${place}: ${text.slice(0, 400)}`);
  }

  get count() {
    return this.#texts.length;
  }
}

/** Acquires a server, and calls it. */
async function use(shown, session, server) {
  const settled = async (place, promise) => {
    const [{ value, reason }] = await within(Promise.allSettled([promise]), `${place} of ${server}`);
    shown.keep(place, value ?? reason);
    return value;
  };
  const lease = await settled('acquire', session.acquire(server));
  if (!lease) return;
  shown.keep('tools', lease.tools());
  for (const tool of ['pid', 'nothing', 'fail', 'crash']) await settled('call', lease.callTool(tool));
}

// S-48
it('shows no secret of what is configured', async (t) => {
  const { given, places } = inputs();
  const shown = new Shown();
  const logs = startLogs((records) => shown.keep('log', ...records), { level: 'trace' });
  const { pool } = openPool(t);
  pool.on('error', (event) => shown.keep('event', event));
  const events = pool.events();
  const heard = (async () => {
    for await (const event of events) shown.keep('event', event);
  })();
  for (const refused of given.refused) {
    await assert.rejects(async () => {
      const report = await pool.reconcile({ refused });
      shown.keep('report', report);
      throw new Error(JSON.stringify(report));
    }, (error) => (shown.keep('refused', error), true));
  }
  shown.keep('report', await pool.reconcile(given.servers));
  const session = pool.session('a', { servers: [] });
  for (const server of Object.keys(given.servers)) {
    await use(shown, session, server);
    shown.keep('explain', pool.explain(server), session.explain(server));
  }
  shown.keep('objects', pool, session, session.tools());
  shown.keep('status', pool.status({ processes: true }), pool.metrics({ processes: true }));
  await within(pool.close(), 'close');
  logs.close();
  await within(heard, 'the end of the events');
  assert.ok(places.size >= 20 && shown.count > 100);
  const seen = [...places].flatMap(([secret, place]) => shown.placesOf(secret).slice(0, 1).map((text) => [place, text]));
  assert.deepEqual(seen, []);
  score('canary', places.size);
});
