// What a kept error keeps, and what large results cost: SPEC 16.4, 16.8.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { openLease, rejection } from '../testing/support.mjs';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

const REFUSED = 200;
const ARGUMENT_BYTES = 100_000;

/** Calls that are refused, each with arguments of its own; by one who has a lease and one who has a session. */
const REFUSALS = {
  'a tool': (lease, _session, given) => lease.callTool('none', given),
  'an exposed tool': (_lease, session, given) => session.callTool('none', given),
  'a request': (lease, _session, given) => lease.request('none/such', given),
  'a prompt': (lease, _session, given) => lease.getPrompt('none', given),
  'an option': (lease, _session, given) => lease.callTool('none', given, { nonsense: 1 }),
  progress: (lease, _session, given) => lease.callTool('none', given, { progress: () => {} }),
  'a signal': (lease, _session, given) => lease.callTool('none', given, { signal: new AbortController().signal }),
  'a signal that came before': (lease, _session, given) => lease.callTool('none', given, { signal: AbortSignal.abort(new Error('no')) }),
};

/** Memory of JavaScript and of what it holds, when everything is collected that can be. */
async function kept() {
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('errors that are kept', () => {
  for (const [name, refusal] of Object.entries(REFUSALS)) {
    it(`keep no arguments: ${name}`, async (t) => {
      const { lease, session } = await openLease(t);
      const argument = (number) => ({ message: `${number}`.padStart(ARGUMENT_BYTES, 'x') });
      await rejection(refusal(lease, session, argument(0)));
      const before = await kept();
      const errors = [];
      for (let number = 0; number < REFUSED; number += 1) errors.push(await rejection(refusal(lease, session, argument(number))));
      const bytes = (await kept()) - before;
      assert.equal(errors.length, REFUSED);
      assert.ok(bytes < (REFUSED * ARGUMENT_BYTES) / 10, `${bytes} bytes are kept by ${REFUSED} errors`);
    });
  }
});

const LONG = 100_000;

/** Results by what is long in them. */
const RESULTS = {
  'a text': { content: [{ type: 'text', text: 'x'.repeat(LONG) }] },
  escapes: { content: [{ type: 'text', text: 'a"\\/\n\r\t\b\f\u0001\u001f\u007f'.repeat(LONG / 10) }] },
  'wide characters': { content: [{ type: 'text', text: 'aä→\u2028\u{1f6a2}'.repeat(LONG / 10) }], isError: true },
  several: {
    content: [{ text: 'x'.repeat(LONG) }, { text: '' }, { text: 'ä\n'.repeat(LONG) }],
    _meta: { a: [[], { b: 'y'.repeat(LONG) }] },
  },
  'a member called __proto__': JSON.parse(`{"content":[],"__proto__":{"__proto__":"${'x'.repeat(LONG)}"}}`),
  'many members': { structuredContent: { rows: Array.from({ length: LONG / 20 }, (_, n) => ({ n, f: n / 7, ok: null })) } },
};

/** The texts of a value, as several servers write it. */
function written(value) {
  const text = JSON.stringify(value);
  const escaped = text.replace(/[^\0-\u007e]/g, (character) => `\\u${character.charCodeAt().toString(16).padStart(4, '0')}`);
  return [text, escaped, JSON.stringify(value, null, 2).replaceAll('\n', ' '), text.replaceAll('/', '\\/')];
}

/** Texts in which a member that has something long is there twice, or what is long cannot be a text of Unicode. */
const ODD = {
  twice: `{"content":[{"text":"${'x'.repeat(LONG)}","text":"last"}]}`,
  'twice with an escape': `{"content":[{"text":"${'x'.repeat(LONG)}","te\\u0078t":"last"}]}`,
  'twice above': `{"content":[{"text":"${'x'.repeat(LONG)}"}],"content":[{"text":"last"}]}`,
  'half a pair': `{"content":[{"text":"${'x'.repeat(LONG)}\\ud83d"}],"half":"\\ud83d"}`,
  'half a pair beside it': `{"content":[{"text":"${'x'.repeat(LONG)}"}],"half":"\\ud83d"}`,
};

/** So many calls are under way, and so many come one after the other. */
const WIDTH = 16;
const TURNS = 16;

describe('a large result', () => {
  for (const [name, value] of Object.entries(RESULTS)) {
    it(`is what the server sent: ${name}`, async (t) => {
      const { lease } = await openLease(t);
      for (const text of written(value)) {
        const result = await lease.callTool('verbatim', { result: text });
        assert.deepEqual(result.value, value);
        assert.equal(result.raw, text);
        assert.deepEqual(result.content, value.content ?? []);
        assert.deepEqual(structuredClone(result).content, result.content);
      }
    });
  }

  for (const [name, text] of Object.entries(ODD)) {
    // SPEC 18.3
    it(`that is odd is decoded as a small one: ${name}`, async (t) => {
      const { lease } = await openLease(t);
      const result = await lease.callTool('verbatim', { result: text });
      assert.deepEqual(result.value, JSON.parse(text.replaceAll('\\ud83d', '\\ufffd')));
      assert.equal(result.raw, text);
    });
  }

  // Pages that are given back for each result are taken anew for the next: 25 for each copy of 100 KB.
  it('takes no memory of the system', async (t) => {
    const { lease } = await openLease(t);
    const call = async () => assert.equal((await lease.callTool('big', { bytes: LONG })).content[0].text.length, LONG);
    const caller = async () => {
      for (let turn = 0; turn < TURNS; turn += 1) await call();
    };
    let before;
    for (let round = 0; round < 3; round += 1) {
      before = process.resourceUsage().minorPageFault;
      await Promise.all(Array.from({ length: WIDTH }, caller));
    }
    const faults = (process.resourceUsage().minorPageFault - before) / (WIDTH * TURNS);
    assert.ok(faults < 2, `${faults} pages for each result`);
  });
});
