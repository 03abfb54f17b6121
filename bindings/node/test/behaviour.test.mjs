// The behaviour suite that all four languages run: SPEC 16.1.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { allCases, runCase } from '../testing/behaviour/case.mjs';
import { fits, isEqual } from '../testing/behaviour/pattern.mjs';

const cases = allCases();

/** Cases at one time: they wait more than they compute. */
const CONCURRENCY = 4;

describe('behaviour', { concurrency: CONCURRENCY }, () => {
  for (const behaviour of cases) {
    it(behaviour.name, () => runCase(behaviour));
  }

  it('has cases, each with a name of its own', () => {
    assert.ok(cases.length >= 30);
    assert.equal(new Set(cases.map((behaviour) => behaviour.name)).size, cases.length);
  });
});

describe('the interpreter of behaviour cases', () => {
  it('fits patterns as docs/internals/behaviour-steps.md says', () => {
    const value = { a: [1, { b: 'text' }], c: null };
    const fitting = [
      {},
      { a: { $has: { b: { $has: 'ex' } } } },
      { d: { $absent: true } },
      { a: { $any: true } },
    ];
    for (const pattern of fitting) assert.ok(fits(value, pattern), JSON.stringify(pattern));
    const others = [{ a: [1] }, { c: { $any: true } }, { a: { $not: { $has: 1 } } }, { d: { $not: 1 } }, []];
    for (const pattern of others) assert.ok(!fits(value, pattern), JSON.stringify(pattern));
    assert.throws(() => fits(value, { a: { $like: 1 } }), /unknown operator/);
  });

  it('compares as JSON', () => {
    assert.ok(isEqual({ a: 1, b: [2] }, { b: [2], a: 1.0 }));
    assert.ok(!isEqual({ a: 1 }, { a: 1, b: 2 }));
    assert.ok(!isEqual([], {}));
  });

  it('fails on what it does not know', async () => {
    await assert.rejects(runCase({ name: 'x', steps: [], extra: 1 }), /unknown member of a case/);
    await assert.rejects(runCase({ name: 'x', steps: [{ fly: [] }] }), /unknown verb fly/);
    await assert.rejects(runCase({ name: 'x', steps: [{ status: [], looks: 1 }] }), /one verb/);
  });
});
