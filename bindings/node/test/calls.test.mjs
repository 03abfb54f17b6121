// Calls, their results and their cancellation: SPEC 5.

import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { CallResult, TrunklineError } from '../index.mjs';
import { HANG_BOUND_MS, blockUntil, openLease, openPool, rejection, testserver, textOf, until, within } from '../testing/support.mjs';

/** A call whose session and lease nobody can reach any more. */
async function callAndForget(t) {
  const { lease } = await openLease(t);
  return lease.callTool('sleep', { ms: 300 });
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** A value as another thread has it. */
async function posted(value) {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(value);
  const [received] = await once(port2, 'message');
  port1.close();
  return received;
}

describe('results', () => {
  // SPEC 5.1, 5.3
  it('are decoded, and keep the text as received', async (t) => {
    const { lease } = await openLease(t);
    const sent = '{"zebra":1,"content":[{"type":"text","text":"x"}],"n":12345678901234567890,"_meta":{"k":1}}';
    const result = await lease.callTool('verbatim', { result: sent });
    assert.ok(result instanceof CallResult);
    assert.equal(result.raw, sent);
    assert.deepEqual(result.content, [{ type: 'text', text: 'x' }]);
    assert.equal(result.structuredContent, undefined);
    assert.equal(result.isError, false);
    assert.deepEqual(result.meta, { k: 1 });
    assert.deepEqual(JSON.parse(JSON.stringify(result)), JSON.parse(sent));
    assert.match(inspect(result), /^CallResult \{/);
  });

  // SPEC 5.1, 16.2
  it('are whole in copies: a clone, a spread, a message to another thread', async (t) => {
    const { lease } = await openLease(t);
    const sent = '{"content":[{"type":"text","text":"x"}],"structuredContent":{"n":1},"isError":true,"_meta":{"k":1}}';
    const call = { content: [{ type: 'text', text: 'x' }], structuredContent: { n: 1 }, isError: true, meta: { k: 1 } };
    const values = { values: ['one', 'two'], total: 2 };
    const argument = { name: 'who', value: '' };
    const raw = { ref: { type: 'ref/prompt', name: 'greet' }, argument };
    const rows = [
      [await lease.callTool('verbatim', { result: sent }), call],
      [await lease.request('completion/complete', raw), { value: { completion: values } }],
      [await lease.complete(raw), { completion: values, meta: undefined }],
    ];
    for (const [result, members] of rows) {
      assert.deepEqual(structuredClone(result), members);
      assert.deepEqual({ ...result }, members);
      assert.deepEqual(await posted(result), members);
    }
  });

  // SPEC 16.2: the shorter one is decoded at once, the longer one when somebody looks.
  for (const length of [4095, 4096]) {
    it(`of ${length} characters are written, wrapped, copied and shown alike`, async (t) => {
      const { lease } = await openLease(t);
      const [head, tail] = ['{"structuredContent":{"n":1},"padding":"', '"}'];
      const sent = head + 'x'.repeat(length - head.length - tail.length) + tail;
      const call = () => lease.callTool('verbatim', { result: sent });
      const result = await call();
      assert.equal(result.raw.length, length);
      const members = { content: [], structuredContent: { n: 1 }, isError: false, meta: undefined };
      const copies = [{ ...new Proxy(result, {}) }, { ...result }, structuredClone(result), await posted(result)];
      for (const copy of copies) assert.deepEqual(copy, members);
      assert.deepEqual(Object.keys(result), Object.keys(members));
      assert.match(inspect(result), /^CallResult \{\n? *structuredContent: \{ n: 1 \}/);
      // A member is one object, however often it is looked at.
      result.content.push('mine');
      assert.deepEqual(result.content, ['mine']);
      const heir = Object.create(result);
      assert.deepEqual(heir.structuredContent, { n: 1 });
      heir.content = 'of the heir';
      assert.deepEqual([Object.keys(heir), heir.content, result.content], [['content'], 'of the heir', ['mine']]);
      for (const one of [await call(), new Proxy(await call(), {})]) {
        one.content = 'other';
        one.isError = true;
        assert.deepEqual({ ...one }, { ...members, content: 'other', isError: true });
        assert.deepEqual(structuredClone({ ...one }), { ...one });
        assert.ok(delete one.content && !('content' in one));
      }
      const frozen = Object.freeze(await call());
      assert.throws(() => (frozen.content = 'other'), TypeError);
      assert.deepEqual(frozen.structuredContent, { n: 1 });
    });
  }

  // SPEC 16.2
  it('of no kind have a member that can be wrapped and written', async (t) => {
    const { lease } = await openLease(t);
    const result = await lease.request('completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: '' } });
    assert.deepEqual(new Proxy(result, {}).value, result.value);
    result.value = 'other';
    assert.deepEqual({ ...result }, { value: 'other' });
  });

  // SPEC 5.1, 16.2
  it('of prompts and resources are whole in copies, and so are lists and events', async (t) => {
    const { pool, session, lease } = await openLease(t, { flags: ['--list-changes'] });
    const heard = once(pool, 'tools_changed');
    await lease.callTool('change_list', { add: 'fresh' });
    const [event] = await within(heard, 'the event');
    const read = await lease.readResource('test://one');
    const got = await lease.getPrompt('greet', { who: 'x' });
    assert.ok(read.contents.length > 0 && got.messages.length > 0 && event.added.includes('fresh'));
    const views = [session.tools(), session.prompts(), session.resources(), session.resourceTemplates()];
    for (const view of views) assert.ok(view.length > 0);
    const rows = [
      [read, { contents: read.value.contents, meta: undefined }],
      [got, { description: got.value.description, messages: got.value.messages, meta: undefined }],
      [event, JSON.parse(JSON.stringify(event))],
      ...views.map((view) => [view, JSON.parse(JSON.stringify(view))]),
    ];
    for (const [value, members] of rows) {
      for (const copy of [structuredClone(value), await posted(value)]) {
        assert.deepEqual(Array.isArray(value) ? [...copy] : copy, members);
      }
    }
  });

  // SPEC 5.3, 5.10
  it('are read however deep they nest, and keep the text as received', async (t) => {
    const { lease } = await openLease(t);
    const depth = 200_000;
    const sent = `{"content":[],"structuredContent":{"deep":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
    const result = await lease.callTool('verbatim', { result: sent });
    assert.equal(result.raw.length, sent.length);
    assert.ok(result.raw === sent);
    let levels = 0;
    for (let inner = result.structuredContent.deep; inner !== undefined; [inner] = inner) levels += 1;
    assert.equal(levels, depth);
  });

  // SPEC 5.3
  it('carry text beyond ASCII and beyond the pipe', async (t) => {
    const { lease } = await openLease(t);
    const message = 'grüße 🚋 \u0000 "\\ '.repeat(20_000);
    assert.equal(textOf(await lease.callTool('echo', { message })), message);
    const big = await lease.callTool('structured', { bytes: 500_000 });
    assert.ok(big.structuredContent.rows.length > 1_000);
  });

  // SPEC 5.12
  it('of a failing tool are results, not exceptions', async (t) => {
    const { lease } = await openLease(t);
    const result = await lease.callTool('fail', { text: 'no such city' });
    assert.equal(result.isError, true);
    assert.equal(textOf(result), 'no such city');
  });
});

describe('requests', () => {
  // SPEC 5.1
  it('read resources, get prompts, complete, and anything else', async (t) => {
    const { session, lease } = await openLease(t);
    const [resource] = session.resources();
    const read = await lease.readResource(resource.ownName);
    assert.equal(read.contents[0].uri, resource.ownName);
    const [prompt] = session.prompts();
    const args = Object.fromEntries((prompt.definition.arguments ?? []).map(({ name }) => [name, 'x']));
    const got = await lease.getPrompt(prompt.ownName, args);
    assert.ok(got.messages.length > 0);
    const list = await lease.request('tools/list', {});
    assert.ok(list.value.tools.length > 0);
    assert.ok(Array.isArray(session.resourceTemplates()));
  });

  // SPEC 5.1
  it('of sessions use exposed names', async (t) => {
    const { session, lease } = await openLease(t, { session: { servers: 'all' } });
    await within(session.ready({ timeoutMs: 20_000 }), 'ready');
    const echo = session.tools().find((tool) => tool.ownName === 'echo');
    assert.deepEqual([echo.name, echo.server], ['mcp__s__echo', 's']);
    assert.equal(echo.definition.name, 'echo');
    assert.equal(textOf(await session.callTool(echo.name, { message: 'hi' })), 'hi');
    assert.deepEqual(
      lease.tools().map((tool) => tool.name),
      session.tools().map((tool) => tool.name),
    );
  });

  // SPEC 5.9
  it('run side by side, each with its own answer', async (t) => {
    const { lease } = await openLease(t);
    const sums = Array.from({ length: 500 }, (_, a) => lease.callTool('add', { a, b: 1 }));
    const texts = (await within(Promise.all(sums), 'the sums')).map(textOf);
    assert.deepEqual(texts, Array.from({ length: 500 }, (_, a) => String(a + 1)));
  });
});

describe('many calls at a time', () => {
  // SPEC 5.3, 5.6, 5.9: a caller that gets one of several results calls again at once, beside the
  // others.
  it('each get an answer of their own, also beside calls that fail or are given up', async (t) => {
    const { lease } = await openLease(t);
    const ends = { answered: 0, missing: 0, aborted: 0 };
    const round = async (lane, number) => {
      const message = `${lane}.${number}`;
      if ((lane + number) % 7 === 3) {
        assert.equal((await rejection(lease.callTool('nowhere'))).code, 'TRUNKLINE_TOOL_NOT_FOUND');
        ends.missing += 1;
      } else if ((lane + number) % 7 === 5) {
        const aborting = new AbortController();
        const call = rejection(lease.callTool('sleep', { ms: 60_000 }, { signal: aborting.signal }));
        aborting.abort(message);
        assert.equal(await call, message);
        ends.aborted += 1;
      } else {
        assert.equal(textOf(await lease.callTool('echo', { message })), message);
        ends.answered += 1;
      }
    };
    const lane = async (_, lane) => {
      for (let number = 0; number < 21; number += 1) await round(lane, number);
    };
    await within(Promise.all(Array.from({ length: 64 }, lane)), 'all calls');
    assert.deepEqual(ends, { answered: 64 * 15, missing: 64 * 3, aborted: 64 * 3 });
    await until(async () => textOf(await lease.callTool('under_way')) === '0');
  });

  it('on several servers go to each of them', async (t) => {
    const { pool } = openPool(t);
    await pool.reconcile(Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { command: testserver }])));
    const session = pool.session('x', { servers: [] });
    const leases = await Promise.all(['a', 'b', 'c'].map((name) => session.acquire(name)));
    const lane = async (_, lane) => {
      for (let number = 0; number < 10; number += 1) {
        const message = `${lane}.${number}`;
        assert.equal(textOf(await leases[(lane + number) % 3].callTool('echo', { message })), message);
      }
    };
    await within(Promise.all(Array.from({ length: 32 }, lane)), 'all calls');
  });

  // SPEC 5.3
  it('are written together when what they follow arrived together', async (t) => {
    const { pool, lease } = await openLease(t);
    const isAnswered = () => pool.status().servers.s.entries[0].inFlight === 0;
    // It does not go on before the turn of the event loop in which it is called is over, unless it is written at once.
    const isHeldBack = async () => {
      const both = [lease.callTool('echo', { message: 'a' }), lease.callTool('echo', { message: 'b' })];
      blockUntil(isAnswered, HANG_BOUND_MS);
      // Both are on their way to this thread.
      blockUntil(() => false, 20);
      await both[0];
      const call = lease.callTool('echo', { message: 'c' });
      blockUntil(isAnswered, 500);
      const held = !isAnswered();
      assert.equal(textOf(await within(call, 'the call')), 'c');
      await both[1];
      return held;
    };
    let held = false;
    // Two answers may be told one after the other, if rarely.
    for (let tries = 0; tries < 10 && !held; tries += 1) held = await isHeldBack();
    assert.ok(held, 'each call was written at once');
  });

  // SPEC 5.6, 9.7
  it('that are held back when their pool closes are answered, or fail by type', async (t) => {
    const { pool, lease } = await openLease(t);
    let closing;
    const lane = async (_, number) => {
      await lease.callTool('echo', { message: 'first' });
      const call = lease.callTool('echo', { message: String(number) });
      closing ??= pool.close();
      return call.then(textOf, (error) => {
        assert.ok(error instanceof TrunklineError, String(error));
        return 'failed';
      });
    };
    const ends = await within(Promise.all(Array.from({ length: 16 }, lane)), 'all calls');
    ends.forEach((end, number) => assert.ok(end === String(number) || end === 'failed', end));
    await within(closing, 'the close');
  });

  // SPEC 9.7
  for (const [ofPool, ofClose] of [[{}, { force: true }], [{}, { timeoutMs: 100 }], [{ closeTimeoutMs: 100 }, undefined]]) {
    it(`are interrupted when a close says so: ${JSON.stringify([ofPool, ofClose])}`, async (t) => {
      const { pool, lease } = await openLease(t, { options: ofPool });
      const call = rejection(lease.callTool('sleep', { ms: 600_000 }));
      await until(() => pool.status().servers.s.entries[0].inFlight === 1);
      await within(pool.close(ofClose), 'the close');
      assert.equal((await call).code, 'TRUNKLINE_CALL_INTERRUPTED');
      await assert.rejects(pool.close({ timeout: 1 }), { code: 'TRUNKLINE_UNKNOWN_OPTION' });
    });
  }
});

describe('AbortSignal', () => {
  // SPEC 5.5
  it('cancels at the server, and the promise rejects with the reason', async (t) => {
    const { lease } = await openLease(t);
    const controller = new AbortController();
    const call = lease.callTool('sleep', { ms: 60_000 }, { signal: controller.signal });
    await until(async () => textOf(await lease.callTool('under_way')) === '1');
    const reason = new Error('enough');
    controller.abort(reason);
    assert.equal(await rejection(call), reason);
    await until(async () => textOf(await lease.callTool('cancelled')) === '1');
    await until(async () => textOf(await lease.callTool('under_way')) === '0');
  });

  it('that is aborted already sends nothing', async (t) => {
    const { lease } = await openLease(t);
    const before = textOf(await lease.callTool('count'));
    const call = lease.callTool('echo', { message: 'x' }, { signal: AbortSignal.abort() });
    assert.equal((await rejection(call)).name, 'AbortError');
    assert.equal(textOf(await lease.callTool('count')), String(Number(before) + 1));
  });

  it('that fires later than the result changes nothing', async (t) => {
    const { lease } = await openLease(t);
    const controller = new AbortController();
    const result = await lease.callTool('echo', { message: 'x' }, { signal: controller.signal });
    controller.abort();
    assert.equal(textOf(result), 'x');
    assert.equal(textOf(await lease.callTool('cancelled')), '0');
  });

  it('of a timeout gives its own reason', async (t) => {
    const { lease } = await openLease(t);
    const call = lease.callTool('sleep', { ms: 60_000 }, { signal: AbortSignal.timeout(20) });
    assert.equal((await rejection(call)).name, 'TimeoutError');
  });

  // SPEC 5.5: an event target warns of more than ten listeners.
  it('of many calls is listened to once, and not after them', async (t) => {
    const { lease } = await openLease(t);
    const { signal } = new AbortController();
    const calls = Array.from({ length: 20 }, () => lease.callTool('sleep', { ms: 20 }, { signal }));
    assert.equal(getEventListeners(signal, 'abort').length, 1);
    await within(Promise.all(calls), 'the calls');
    assert.equal(getEventListeners(signal, 'abort').length, 0);

    const controller = new AbortController();
    const cancelled = Array.from({ length: 20 }, () => {
      return rejection(lease.callTool('sleep', { ms: 60_000 }, { signal: controller.signal }));
    });
    controller.abort();
    for (const error of await Promise.all(cancelled)) assert.equal(error, controller.signal.reason);
  });

  // SPEC 3.4
  it('ends an acquire, and nothing is left of it', async (t) => {
    const { pool, log, session } = await openLease(t);
    await pool.reconcile({ s: log.server(), slow: log.server('--initialize-delay-ms', '60000') });
    const controller = new AbortController();
    const acquire = session.acquire('slow', null, { signal: controller.signal });
    controller.abort();
    assert.equal((await rejection(acquire)).name, 'AbortError');
  });

  // SPEC 5.5: as those that older libraries bring.
  it('may be one that has no reason of its own', async (t) => {
    const { lease } = await openLease(t);
    const signal = new EventTarget();
    signal.aborted = false;
    assert.equal(textOf(await lease.callTool('echo', { message: 'x' }, { signal })), 'x');
    const call = rejection(lease.callTool('sleep', { ms: 60_000 }, { signal }));
    await until(async () => textOf(await lease.callTool('under_way')) === '1');
    signal.aborted = true;
    signal.dispatchEvent(new Event('abort'));
    const counted = Number(textOf(await lease.callTool('count')));
    for (const ended of [call, rejection(lease.callTool('echo', {}, { signal }))]) {
      const error = await ended;
      assert.deepEqual([error?.name, error?.code], ['AbortError', DOMException.ABORT_ERR], String(error));
    }
    assert.equal(Number(textOf(await lease.callTool('count'))), counted + 1);
  });

  it('must be one', async (t) => {
    const { lease } = await openLease(t);
    for (const signal of ['stop', { aborted: false, addEventListener() {} }]) {
      const error = await rejection(lease.callTool('echo', {}, { signal }));
      assert.ok(error instanceof TrunklineError);
      assert.equal(error.code, 'TRUNKLINE_INVALID_ARGUMENT');
    }
  });
});

describe('what nobody holds', () => {
  // A session that is collected closes, and that cancels its calls: so a lease and a pending call keep it.
  it('is kept by leases and by pending calls', async (t) => {
    const { lease } = await openLease(t);
    const pending = callAndForget(t);
    for (let round = 0; round < 20; round += 1) {
      collectGarbage();
      await lease.callTool('echo', { message: 'x' });
    }
    assert.equal(textOf(await pending), 'slept');
  });
});

describe('a stream that somebody waits for', () => {
  // SPEC 16.6: as with calls, its session would close if it were collected, and the stream end without a reason.
  it('keeps its session', async (t) => {
    const { lease } = await openLease(t);
    const { pool } = openPool(t);
    const next = (() => pool.session('forgotten', { servers: [] }).events().next())();
    for (let round = 0; round < 20; round += 1) {
      collectGarbage();
      await lease.callTool('echo', { message: 'x' });
    }
    assert.deepEqual(pool.status().sessions, ['forgotten']);
    await within(pool.close(), 'close');
    assert.equal((await within(next, 'the end')).done, true);
  });
});

describe('what the pool counts', () => {
  // SPEC 16.7
  it('is in its status, and written for collectors', async (t) => {
    const { lease, pool } = await openLease(t);
    await lease.callTool('echo', { message: 'hi' });
    const status = pool.status({ processes: true });
    const { session, calls, errors } = status.usage[0];
    assert.deepEqual([session, calls, errors], [status.sessions[0], 1, []]);
    const { server } = lease;
    assert.ok(status.servers[server].memoryBytes > 100_000);
    assert.equal(pool.status().servers[server].memoryBytes, null);
    const page = pool.metrics();
    assert.ok(page.includes(`mcp_client_operation_duration_seconds_count{server="${server}",mcp_method_name="tools/call"} 1\n`), page);
    assert.ok(!page.includes('memory') && pool.metrics({ processes: true }).includes('memory'));
    assert.throws(() => pool.status({ all: true }), { code: 'TRUNKLINE_UNKNOWN_OPTION' });
  });
});

describe('timeouts', () => {
  // SPEC 5.4, 5.5
  it('end a call and cancel it at the server', async (t) => {
    const { lease } = await openLease(t);
    const error = await rejection(lease.callTool('sleep', { ms: 60_000 }, { timeoutMs: 50 }));
    assert.equal(error.code, 'TRUNKLINE_TIMEOUT');
    assert.equal(error.detail.which, 'total');
    assert.equal(error.server, 's');
    // It may have run: SPEC 18.12.
    assert.deepEqual([error.outcome, error.retryable], ['unknown', false]);
    await until(async () => textOf(await lease.callTool('under_way')) === '0');
  });
});
