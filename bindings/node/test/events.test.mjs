// Events, for listeners and as streams: SPEC 16.2, 16.6; I-16, I-18.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';

import { TrunklineError } from '../index.mjs';
import { openLease, openPool, until, within } from '../testing/support.mjs';

const require = createRequire(import.meta.url);
const { Emitter, finish } = require('../lib/emitter.cjs');
const { eventKinds } = require('../lib/events.cjs');

/** The kinds with these numbers. */
const named = (numbers) => numbers.map((number) => Array.from(eventKinds()).find(([, bit]) => bit === number)?.[0]);

/** What an emitter subscribes to, and how often it looks there; with events `log` between each subscription and the end of the one before. */
function overlapping(between = 1) {
  const open = new Map();
  const asked = [];
  let last = 0;
  let taken = 0;
  const tell = (type) => {
    last += 1;
    for (const [queue, kinds] of open) if (kinds.includes(type)) queue.push({ type, seq: last });
  };
  const subscribe = (numbers) => {
    const waiting = [];
    open.set(waiting, named(numbers));
    asked.push(named(numbers));
    const number = -asked.length;
    for (let n = 0; n < between; n += 1) tell('log');
    return {
      number: () => number,
      take: (most) => {
        taken += 1;
        return waiting.length === 0 ? '' : JSON.stringify(waiting.splice(0, most));
      },
      isEnded: () => false,
      close: () => open.delete(waiting),
    };
  };
  return { subscribe, tell, open, asked, taken: () => taken };
}

/** Comes back once other work of the event loop had its turn. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

const add = (lease, name) => lease.callTool('change_list', { add: name });

describe('listeners', () => {
  // SPEC 7.4, 16.6
  it('of a session and of its pool hear of a list change', async (t) => {
    const { pool, session, lease } = await openLease(t, { flags: ['--list-changes'] });
    const heard = [once(pool, 'tools_changed'), once(session, 'tools_changed')];
    await add(lease, 'fresh');
    for (const [event] of await within(Promise.all(heard), 'the events')) {
      assert.deepEqual(event.added, ['fresh']);
      assert.equal(event.type, 'tools_changed');
      assert.equal(event.scope, 'session');
      assert.equal(event.session, 'a');
      assert.equal(event.server, 's');
      assert.equal(event.entryIndex, lease.entryIndex);
      assert.equal(event.generation, lease.generation);
    }
    assert.ok(lease.tools().some((tool) => tool.ownName === 'fresh'));
  });

  // I-16
  it('that were removed are not called again', async (t) => {
    const { session, lease } = await openLease(t, { flags: ['--list-changes'] });
    const heard = [];
    const listener = (event) => heard.push(event.added[0]);
    session.on('tools_changed', listener);
    await add(lease, 'one');
    await until(() => heard.length === 1);
    session.off('tools_changed', listener);
    const later = once(session, 'tools_changed');
    await add(lease, 'two');
    await within(later, 'the event for the other listener');
    assert.deepEqual(heard, ['one']);
  });

  // SPEC 8.5: the order across kinds, with a listener that comes later.
  it('keep the order of seq when more kinds are listened to', async (t) => {
    const { session, lease } = await openLease(t, { flags: ['--list-changes'] });
    const seqs = [];
    session.on('log', (event) => seqs.push(event.seq));
    const say = (text) => lease.callTool('log', { level: 'info', text });
    await say('one');
    session.on('tools_changed', (event) => seqs.push(event.seq));
    await say('two');
    await add(lease, 'fresh');
    await say('three');
    await until(() => seqs.length === 4, () => `${seqs}`);
    assert.deepEqual(seqs, [...seqs].sort((a, b) => a - b));
    assert.equal(new Set(seqs).size, 4);
  });

  // An event that comes while one subscription takes over from another is in both.
  it('hear of an event once, however many listeners are added at once', () => {
    const heard = [];
    const emitter = new Emitter(overlapping());
    for (const kind of ['log', 'failed', 'progress']) emitter.on(kind, ({ seq }) => heard.push(seq));
    emitter[finish]();
    assert.deepEqual(heard, [1, 2, 3]);
  });

  // SPEC 9.6, 16.6: of a kind that nobody hears any more nothing comes, so that it pushes out nothing.
  it('get the kinds that have listeners, and no others', async () => {
    const target = overlapping();
    const emitter = new Emitter(target);
    const ignore = () => {};
    for (const kind of ['log', 'failed', 'progress', 'failed']) emitter.on(kind, ignore);
    emitter.once('stderr', ignore).off('progress', ignore);
    const asked = [['log'], ['log', 'failed'], ['log', 'failed', 'progress'], ['log', 'failed', 'progress', 'stderr']];
    await until(() => target.asked.length > asked.length);
    emitter.removeAllListeners('stderr').off('failed', ignore).off('failed', ignore);
    await until(() => target.asked.length > asked.length + 1);
    asked.push(['log', 'failed', 'stderr'], ['log']);
    assert.deepEqual(target.asked, asked);
    assert.equal(target.open.size, 1);
    emitter.off('log', ignore);
    await until(() => target.open.size === 0);
    assert.equal(target.asked.length, asked.length);
  });

  // SPEC 9.6, 16.6: at once, or where a promise of the event goes on; beside listeners of another kind, and alone.
  for (const [way, others, rearm] of [
    ['at once beside others', ['log'], (again) => again()],
    ['at once', [], (again) => again()],
    ['a moment later beside others', ['log'], queueMicrotask],
  ]) {
    it(`that begin anew ${way} miss nothing of what comes between`, async () => {
      const target = overlapping();
      const emitter = new Emitter(target);
      for (const kind of others) emitter.on(kind, () => {});
      let heard = 0;
      const listen = () =>
        emitter.once('failed', () => {
          heard += 1;
          rearm(() => {
            if (heard < 3) target.tell('failed');
            listen();
          });
        });
      listen();
      const subscribed = target.asked.length;
      target.tell('failed');
      for (let turns = 0; turns < 4; turns += 1) await turn();
      emitter[finish]();
      assert.deepEqual([heard, target.asked.length], [3, subscribed]);
    });
  }

  // SPEC 9.6
  it('that come and go keep a bounded number of events waiting', async () => {
    const most = 1000;
    const emitter = new Emitter(overlapping(most));
    let heard = 0;
    emitter.on('log', () => (heard += 1));
    const ignore = () => {};
    for (let n = 0; n < 50; n += 1) {
      emitter.on('failed', ignore).off('failed', ignore);
      // Others' promises, in the same turn of the event loop.
      await null;
    }
    emitter[finish]();
    assert.ok(heard <= 3 * most, `${heard}`);
  });

  // SPEC 9.6: what waits is handed out before another subscription adds to it.
  it('that come and go in turns keep a bounded number of events waiting', async () => {
    const most = 1000;
    const target = overlapping(most);
    const emitter = new Emitter(target);
    emitter.on('log', () => {});
    const ignore = () => {};
    const rounds = 50;
    for (let n = 0; n < rounds; n += 1) {
      emitter.on('failed', ignore).off('failed', ignore);
      await turn();
    }
    assert.ok(target.asked.length <= rounds / 2, `${target.asked.length}`);
  });

  it('that go where others stay, or from symbols of the host’s own, cost no turn', async () => {
    const target = overlapping();
    const emitter = new Emitter(target);
    const [ignore, mine] = [() => {}, Symbol('mine')];
    emitter.on('log', () => {}).on('log', ignore).on(mine, ignore);
    emitter.off('log', ignore).off(mine, ignore).removeAllListeners(mine);
    await turn();
    assert.equal(target.taken(), 0);
    emitter.removeAllListeners();
    await until(() => target.open.size === 0);
  });

  // I-16
  it('of a closed session are silent', async (t) => {
    const { pool, session, lease } = await openLease(t, { flags: ['--list-changes'] });
    let heard = 0;
    session.on('tools_changed', () => (heard += 1));
    const b = pool.session('b', { servers: [] });
    const other = await b.acquire('s');
    const told = once(b, 'tools_changed');
    await add(other, 'fresh');
    session.close();
    const before = heard;
    await within(told, 'the event of the other session');
    assert.equal(heard, before);
    lease.release();
  });

  it('of symbols are the host’s own', (t) => {
    const { pool } = openPool(t);
    const mine = Symbol('mine');
    let heard;
    pool.once(mine, (value) => (heard = value));
    pool.emit(mine, 5);
    assert.equal(heard, 5);
  });
});

describe('streams', () => {
  // SPEC 16.6
  it('begin with a snapshot, and have the kinds that were asked for', async (t) => {
    const { session, lease } = await openLease(t, { flags: ['--list-changes'] });
    const stream = session.events({ kinds: ['tools_changed'] });
    assert.equal(typeof stream.snapshot.seq, 'number');
    assert.equal(typeof stream.snapshot.status, 'object');
    await lease.callTool('log', { level: 'info', text: 'not asked for' });
    await add(lease, 'fresh');
    const first = async () => {
      for await (const event of stream) return event;
    };
    const event = await within(first(), 'the event');
    assert.equal(event.type, 'tools_changed');
    assert.ok(event.seq > stream.snapshot.seq);
    assert.deepEqual(await stream.next(), { done: true, value: undefined });
  });

  it('end when the pool is closed, after what was left', async (t) => {
    const { pool, lease } = await openLease(t);
    const stream = pool.events();
    lease.release();
    const types = [];
    const reading = (async () => {
      for await (const event of stream) types.push(event.type);
    })();
    await within(pool.close(), 'close');
    await within(reading, 'the end of the stream');
    assert.ok(types.includes('status_changed'), `${types}`);
  });

  it('answer several readers in order', async (t) => {
    const { session, lease } = await openLease(t);
    const stream = session.events({ kinds: ['log'] });
    const reads = [stream.next(), stream.next(), stream.next()];
    for (const text of ['one', 'two', 'three']) await lease.callTool('log', { level: 'info', text });
    const events = await within(Promise.all(reads), 'the events');
    assert.deepEqual(events.map(({ value }) => value.data), ['one', 'two', 'three']);
    await stream.return();
  });

  // SPEC 9.6, I-18: a slow reader loses events, and is told so.
  it('that nobody reads say what they lost', async (t) => {
    const { session, lease } = await openLease(t, { options: { limits: { eventBacklog: 4 } } });
    const stream = session.events({ kinds: ['log'] });
    for (let n = 0; n < 20; n += 1) await lease.callTool('log', { level: 'info', text: String(n) });
    const types = [];
    while (!types.includes('lagged')) {
      const { value } = await within(stream.next(), 'an event');
      types.push(value.type);
      if (value.type === 'lagged') assert.ok(value.missed > 0);
    }
    await stream.return();
  });

  it('of unknown kinds are refused, by listeners too', async (t) => {
    const { pool, session } = await openLease(t);
    const refused = (path, nearest) => (error) => {
      assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT');
      assert.match(error.message, /^there is no kind of event `\w+`$/);
      assert.deepEqual(error.detail, nearest === undefined ? { path } : { path, nearest });
      if (nearest !== undefined) assert.equal(error.hint, `did you mean \`${nearest}\`?`);
      return true;
    };
    const listener = () => {};
    for (const emitter of [pool, session]) {
      for (const method of ['on', 'once', 'addListener', 'prependListener', 'prependOnceListener']) {
        assert.throws(() => emitter[method]('tool_changed', listener), refused('event', 'tools_changed'), method);
        assert.throws(() => emitter[method]('nothing', listener), refused('event'), method);
      }
      for (const method of ['off', 'removeListener', 'removeAllListeners']) assert.equal(emitter[method]('tool_changed', listener), emitter);
      assert.throws(() => emitter.events({ kinds: ['tool_changed'] }), refused('kinds', 'tools_changed'));
      // Names of Node's own, and of the host's own.
      for (const name of ['error', 'newListener', 'removeListener', Symbol('mine')]) emitter.on(name, listener).off(name, listener);
      assert.deepEqual(emitter.eventNames(), []);
    }
    const told = once(pool, 'status_changed');
    await pool.restart('s');
    assert.equal((await within(told, 'an event'))[0].server, 's');
  });

  it('of unknown kinds are refused by streams', (t) => {
    const { pool } = openPool(t);
    assert.throws(() => pool.events({ kinds: ['tool_changed'] }), { code: 'TRUNKLINE_INVALID_ARGUMENT' });
  });

  // SPEC 5.9
  it('deliver progress before the result', async (t) => {
    const { session, lease } = await openLease(t);
    const stream = session.events({ kinds: ['progress'] });
    await lease.callTool('progress', { steps: 3 }, { progress: true });
    const events = [];
    while (events.length < 3) events.push((await within(stream.next(), 'progress')).value);
    assert.deepEqual(events.map(({ progress, total }) => [progress, total]), [[1, 3], [2, 3], [3, 3]]);
    await stream.return();
  });

  // SPEC 5.9
  it('go to the function of the call that they are about, in order and before its result', async (t) => {
    const { session, lease } = await openLease(t);
    const listed = once(session, 'progress');
    const lines = await Promise.all(
      [5, 7, 6].map(async (steps, index) => {
        const line = [];
        const signal = index === 1 ? new AbortController().signal : undefined;
        const told = ({ type, call, progress, total, session }) => line.push({ type, call, progress, total, session });
        const call = (name) => (name === 'session' ? session.callTool('mcp__s__progress', { steps, interval_ms: 5 }, { progress: told }) : lease.callTool('progress', { steps, interval_ms: 5 }, { progress: told, signal }));
        await within(call(index === 2 ? 'session' : 'lease'), 'the call');
        assert.deepEqual(line.map(({ progress }) => progress), Array.from({ length: steps }, (_, step) => step + 1));
        assert.ok(line.every(({ type, total, session }) => type === 'progress' && total === steps && session === 'a'));
        return line;
      }),
    );
    const numbers = lines.map((line) => new Set(line.map(({ call }) => call)));
    assert.ok(numbers.every(({ size }) => size === 1));
    assert.equal(new Set(numbers.flatMap((set) => [...set])).size, 3);
    assert.ok((await within(listed, 'an event'))[0].call > 0);
  });
});

describe('the error of an event', () => {
  // SPEC 8.5
  it('is a TrunklineError', async (t) => {
    const options = { reconnect: { delaysMs: { local: [] } } };
    const { session, lease } = await openLease(t, { options });
    const failed = once(session, 'failed');
    await lease.callTool('crash', { code: 3 }).catch(() => {});
    const [event] = await within(failed, 'failed');
    assert.ok(event.error instanceof TrunklineError);
    assert.match(event.error.code, /^TRUNKLINE_/);
  });
});
