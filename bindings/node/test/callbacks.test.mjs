// Callbacks of a host that do everything wrong: none ends the process, and none holds up others. SPEC 16.2, 16.4; I-18, I-19.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { run } from '../testing/scenario.mjs';
import { score } from '../testing/support.mjs';

/** What a process says at its end. What a listener throws is the host's own exception; a handler's is an answer. */
const SAID = {
  throw: { event: 'answered,as asked', progress: 'answered,warned', handler: 'answered' },
  // It has no text, and no way to be one.
  'throw-bare': { event: 'answered,bare', progress: 'answered,warned', handler: 'answered' },
  block: 'answered',
  're-enter': 'answered,inside',
  close: 'closed',
  exit: 'exits',
};

for (const kind of ['event', 'progress', 'handler']) {
  describe(`a callback of kind ${kind}`, () => {
    for (const [way, said] of Object.entries(SAID)) {
      // I-18, I-19
      it(`${way}s`, async () => {
        const { code, signal, out, err } = await run('misbehaves', { args: [kind, way] });
        assert.deepEqual({ code, signal, out }, { code: 0, signal: null, out: `${said[kind] ?? said}\n` }, err);
        score('callbacks/node', 1);
      });
    }
  });
}
