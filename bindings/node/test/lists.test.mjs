// Lists of a session that are asked for again: the array is the caller's own, its items are frozen. SPEC 7.4, 7.6.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { openLease, openPool, until, within } from '../testing/support.mjs';

/** Whether it and all that is in it is frozen. */
const isFrozen = (value) => Object.isFrozen(value) && (typeof value !== 'object' || value === null || Object.values(value).every(isFrozen));

const LISTS = {
  tools: (session) => session.tools(),
  prompts: (session) => session.prompts(),
  resources: (session) => session.resources(),
  resourceTemplates: (session) => session.resourceTemplates(),
  'toolsFor openai': (session) => session.toolsFor('openai'),
  'toolsFor anthropic': (session) => session.toolsFor('anthropic'),
};

describe('a list that is asked for again', () => {
  for (const [name, list] of Object.entries(LISTS)) {
    it(`is another array of the same frozen items: ${name}`, async (t) => {
      const { session } = await openLease(t);
      const first = list(session);
      assert.ok(first.length > 0 && first.every(isFrozen), name);
      const whole = structuredClone([...first]);
      const again = list(session);
      assert.notEqual(again, first);
      assert.equal(again.revision, first.revision);
      assert.ok(again.every((item, place) => item === first[place]), 'it was decoded once more');
      // What a host does with its array, nobody else sees.
      again.length = 0;
      first.push('mine');
      assert.throws(() => Object.assign(first[0], { name: 'mine' }), TypeError);
      assert.deepEqual([...list(session)], whole);
    });
  }

  it('is new where the list is', async (t) => {
    const { session, lease } = await openLease(t, { flags: ['--list-changes'] });
    const [before, shaped] = [session.tools(), session.toolsFor('mcp')];
    await lease.callTool('change_list', { add: 'fresh' });
    await until(() => session.tools().revision > before.revision);
    assert.ok(session.tools().some(({ ownName }) => ownName === 'fresh'));
    assert.ok(session.toolsFor('mcp').some(({ name }) => name === 'mcp__s__fresh'));
    assert.ok(!before.some(({ ownName }) => ownName === 'fresh') && !shaped.some(({ name }) => name === 'mcp__s__fresh'));
  });

  it('is new where its number is the same, and what is deferred is not', async (t) => {
    const { pool, log } = openPool(t, { start: 'lazy' });
    await pool.reconcile({ s: log.server() });
    const session = pool.session('a');
    await within(session.ready(), 'the tools are known');
    const asleep = session.tools();
    assert.ok(asleep.length > 0 && asleep.every(({ deferred }) => deferred));
    const lease = await within(session.acquire('s'), 'acquire');
    const awake = session.tools();
    assert.equal(awake.revision, asleep.revision);
    assert.ok(awake.every(({ deferred }) => !deferred) && asleep.every(({ deferred }) => deferred));
    lease.release();
    assert.ok(session.tools().every(({ deferred }) => deferred));
  });

  it('has what its session has, and nothing of another', async (t) => {
    const { pool, session } = await openLease(t);
    const other = pool.session('b', { exclude: { s: ['echo'] } });
    await within(other.ready('s'), 'ready');
    const has = (one) => one.tools().some(({ ownName }) => ownName === 'echo');
    for (let round = 0; round < 2; round += 1) assert.deepEqual([has(session), has(other)], [true, false]);
    other.configure({ exclude: {} });
    assert.deepEqual([has(session), has(other)], [true, true]);
  });

  it('is new after it was not taken', async (t) => {
    const { session, lease } = await openLease(t, { flags: ['--list-changes'] });
    const { revision } = session.tools();
    session.toolsFor('openai');
    await lease.callTool('change_list', { add: 'fresh' });
    await until(() => session.explain('mcp__s__fresh').available);
    const { freeze } = Object;
    for (const list of [LISTS.tools, LISTS['toolsFor openai']]) {
      Object.freeze = () => {
        throw new RangeError('no room');
      };
      try {
        assert.throws(() => list(session), RangeError);
      } finally {
        Object.freeze = freeze;
      }
      assert.ok(list(session).revision > revision);
      assert.match(JSON.stringify(list(session)), /mcp__s__fresh/);
    }
  });

  it('is refused once the session is closed', async (t) => {
    const { session } = await openLease(t);
    session.tools();
    session.close();
    assert.throws(() => session.tools(), { code: 'TRUNKLINE_CLOSED' });
    assert.throws(() => session.toolsFor('mcp'), { code: 'TRUNKLINE_CLOSED' });
  });
});

describe('the list of a lease', () => {
  it('is the caller\'s own, its items are frozen', async (t) => {
    const { lease } = await openLease(t);
    const tools = lease.tools();
    assert.ok(tools.length > 0 && tools.every(isFrozen));
    tools.length = 0;
    assert.ok(lease.tools().length > 0);
  });
});
