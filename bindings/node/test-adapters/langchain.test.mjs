// `trunkline/adapters/langchain` with LangChain.js, LangGraph.js, and a model that says what it is told to.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { Command } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ToolError, tools } from 'trunkline/adapters/langchain';

import { GIVEN, MALFORMED, ODD_NAMES, PIXEL, arePlain, bare, changed, kinds, malformed, named, namesOf, oddlyNamed, opened, pageRuns } from './served.mjs';

/** Asks for tools in an order that is written down, then says that it is done. */
class Scripted extends BaseChatModel {
  offered = [];
  #calls;
  #turn = 0;

  constructor(...calls) {
    super({});
    this.#calls = calls;
  }

  _llmType() {
    return 'scripted';
  }

  bindTools(offered) {
    this.offered.push(offered.map(({ name }) => name));
    return this;
  }

  async _generate() {
    const call = this.#calls[this.#turn++];
    const message = call
      ? new AIMessage({ content: '', tool_calls: [{ name: call[0], args: call[1], id: `c${this.#turn}`, type: 'tool_call' }] })
      : new AIMessage('done');
    return { generations: [{ text: '', message }] };
  }
}

/** Runs the loop of LangGraph; the messages of its tools. */
async function told(llm, given) {
  const { messages } = await createReactAgent({ llm, tools: given }).invoke({ messages: [['user', 'go on']] });
  assert.equal(messages.at(-1).content, 'done');
  return messages.filter((message) => message.getType() === 'tool');
}

it('an agent calls the tools of a session', async (t) => {
  const session = await opened(t, { session: { exclude: { s: ['crash'] } } });
  const llm = new Scripted(['mcp__s__add', { a: 2, b: 3 }], ['mcp__s__fail', { text: 'no such city' }]);
  const [added, failed] = await told(llm, await tools(session));
  assert.deepEqual([added.text, added.status], ['5', 'success']);
  assert.deepEqual([failed.text, failed.status], ['no such city', 'error']);
  assert.deepEqual(llm.offered[0], namesOf(session));
  assert.ok(!namesOf(session).includes('mcp__s__crash'));
  const sent = session.tools().map(({ definition }) => ({ properties: {}, ...definition.inputSchema }));
  assert.deepEqual((await tools(session)).map(({ schema }) => schema), sent);
});

it('results of every kind are standard blocks', async (t) => {
  const session = await kinds(t);
  const calls = ['text', 'picture', 'structured', 'resource'].map((name) => [`mcp__kinds__${name}`, { city: 'x' }]);
  const [text, picture, structured, resource] = await told(new Scripted(...calls), await tools(session));
  assert.deepEqual([text.content, text.artifact], ['a text', [{ type: 'mcp_meta', data: { trace: 't1' } }]]);
  assert.deepEqual(picture.content.map(({ type }) => type), ['text', 'image', 'audio']);
  assert.equal(picture.content[1].data, PIXEL);
  assert.deepEqual(picture.artifact, []);
  assert.deepEqual(structured.artifact, [{ type: 'mcp_structured_content', data: { total: 5 } }]);
  assert.deepEqual(resource.content.map(({ type }) => type), ['text', 'file', 'file']);
  assert.equal(resource.content[2].url, 'file:///c');
});

// SPEC 4.5: and costs nobody the rest of the result.
it('a block that is not as the protocol has it is its JSON', async (t) => {
  const session = await malformed(t);
  const calls = ['blocks', 'failed', 'none'].map((name) => [`mcp__malformed__${name}`, { city: 'x' }]);
  const [blocks, failed, none] = await told(new Scripted(...calls), await tools(session));
  for (const { content } of [blocks, failed]) {
    const [before, ...rest] = content.map(({ text }) => text);
    assert.deepEqual([before, rest.map((text) => JSON.parse(text))], ['before', MALFORMED]);
  }
  assert.deepEqual([blocks, failed].map(({ status }) => status), ['success', 'error']);
  assert.deepEqual(none.content, []);
});

// SPEC 18.8: a model of any API is shown names that it takes, and the server gets its own.
it('parameters may have any name', async (t) => {
  const session = await oddlyNamed(t);
  const [{ schema }] = await tools(session);
  assert.ok(arePlain(schema));
  for (const args of [named(schema), GIVEN]) {
    const [message] = await told(new Scripted(['mcp__named__given', args]), await tools(session));
    assert.deepEqual(JSON.parse(message.text), GIVEN);
  }
  const [{ schema: ofOpenAi }] = await tools(session, { shape: 'openai' });
  assert.ok(ODD_NAMES.every((name) => Object.hasOwn(ofOpenAi.properties, name)));
});

// SPEC 18.8: structured content alone is its JSON, an error has words, and a link to a picture is one.
it('a result that says little reaches the model', async (t) => {
  const session = await bare(t);
  const calls = ['alone', 'wordless', 'reason', 'link'].map((name) => [`mcp__bare__${name}`, {}]);
  const [alone, wordless, reason, link] = await told(new Scripted(...calls), await tools(session));
  assert.deepEqual(JSON.parse(alone.text), { total: 5, word: 'für' });
  assert.deepEqual([wordless.status, wordless.text], ['error', 'the tool reports an error without a text']);
  assert.deepEqual([reason.status, JSON.parse(reason.text)], ['error', { why: 'closed' }]);
  assert.deepEqual(link.content.map(({ type, url }) => [type, url]), [['image', 'https://e.test/p.png']]);
  // SPEC 16.8
  const { title, annotations, _meta } = (await tools(session))[0].metadata;
  assert.deepEqual([title, annotations, _meta], ['T', { readOnlyHint: true, title: 'T' }, { of: 'mine' }]);
});

it('a change is there when tools are asked for again', async (t) => {
  const session = await opened(t, { flags: ['--list-changes'] });
  assert.ok(!(await tools(session)).some(({ name }) => name === 'mcp__s__fresh'));
  await changed(session, 'fresh');
  const [message] = await told(new Scripted(['mcp__s__fresh', {}]), await tools(session));
  assert.equal(message.text, 'fresh');
});

// SPEC 7.9
it('what was announced before an answer is there after it', async (t) => {
  const session = await opened(t, { flags: ['--list-delay-ms', '200'] });
  for (const [add, servers] of [['tool_1001', undefined], ['tool_1002', ['s']]]) {
    await session.callTool('mcp__s__change_list', { add });
    assert.ok((await tools(session, { servers })).some(({ name }) => name === `mcp__s__${add}`), add);
  }
});

it('progress, typed errors, a signal, and the tools of some servers', async (t) => {
  const session = await opened(t);
  const steps = [];
  const onProgress = (name, { progress }) => steps.push([name, progress]);
  await told(new Scripted(['mcp__s__progress', { steps: 2 }]), await tools(session, { onProgress }));
  assert.deepEqual(steps, [['mcp__s__progress', 1], ['mcp__s__progress', 2]]);
  const byName = async (options) => Object.fromEntries((await tools(session, options)).map((tool) => [tool.name, tool]));
  await assert.rejects((await byName({ timeoutMs: 50 })).mcp__s__sleep.invoke({ ms: 600_000 }), { code: 'TRUNKLINE_TIMEOUT' });
  await assert.rejects((await byName({ raiseErrors: true })).mcp__s__fail.invoke({ text: 'no such city' }), ToolError);
  // FAULTS P11: what a program of `@langchain/mcp-adapters` reads is a text.
  assert.equal(await (await byName()).mcp__s__add.invoke({ a: 2, b: 3 }), '5');
  const signal = AbortSignal.timeout(50);
  await assert.rejects((await byName()).mcp__s__sleep.invoke({ ms: 600_000 }, { signal }), () => signal.aborted);
  assert.deepEqual(await tools(session, { servers: ['other'] }), []);
});

// FAULTS P11: the hooks of `@langchain/mcp-adapters`.
it('hooks see a call, change its arguments, and what comes of it', async (t) => {
  const session = await opened(t);
  const seen = [];
  const given = await tools(session, {
    beforeToolCall: async (call, state, config) => {
      seen.push([call, state.messages?.length, config.toolCall?.id]);
      return { args: { b: 40 } };
    },
    afterToolCall: ({ name, args, result: [content, artifact] }) => {
      seen.push([name, args, content, artifact]);
    },
  });
  const [added] = await told(new Scripted(['mcp__s__add', { a: 2, b: 3 }]), given);
  assert.equal(added.text, '42');
  assert.deepEqual(seen, [
    [{ serverName: 's', name: 'add', args: { a: 2, b: 3 } }, 2, 'c1'],
    ['add', { a: 2, b: 40 }, '42', []],
  ]);
});

/** What `afterToolCall` gives, and the text and artifact of the message. */
const AFTER = [
  [undefined, 'a text', [{ type: 'mcp_meta', data: { trace: 't1' } }]],
  [{}, 'a text', [{ type: 'mcp_meta', data: { trace: 't1' } }]],
  [{ result: 'another' }, 'another', []],
  [{ result: [[{ type: 'text', text: 'both' }], { mine: 1 }] }, 'both', { mine: 1 }],
  [{ result: new ToolMessage({ content: 'of a message', tool_call_id: 'x' }) }, 'of a message', []],
];

it('what a hook gives takes the place of a result', async (t) => {
  const session = await kinds(t);
  for (const [after, text, artifact] of AFTER) {
    const [message] = await told(new Scripted(['mcp__kinds__text', { city: 'x' }]), await tools(session, { afterToolCall: () => after }));
    assert.deepEqual([message.text, message.artifact], [text, artifact]);
  }
  const goto = new Command({ update: { messages: [new ToolMessage({ content: 'of a command', tool_call_id: 'c1' })] } });
  const [message] = await told(new Scripted(['mcp__kinds__text', { city: 'x' }]), await tools(session, { afterToolCall: () => ({ result: goto }) }));
  assert.equal(message.text, 'of a command');
  // An error is told as it is.
  const never = () => assert.fail('it was called');
  const [wrong] = await told(new Scripted(['mcp__kinds__wrong', { city: 'x' }]), await tools(session, { afterToolCall: never }));
  assert.deepEqual([wrong.status, wrong.text], ['error', 'no such city']);
});

it('what a hook gives that is no result is refused by its name', async (t) => {
  const session = await kinds(t);
  const text = async (options) => (await tools(session, options)).find(({ name }) => name === 'mcp__kinds__text').invoke({ city: 'x' });
  const refused = [
    [{ beforeToolCall: () => ({ headers: { 'X-Of': 'mine' } }) }, 'beforeToolCall.headers'],
    [{ afterToolCall: () => ({ result: 5 }) }, 'afterToolCall.result'],
    [{ afterToolCall: () => ({ result: [1, 2, 3] }) }, 'afterToolCall.result'],
  ];
  for (const [options, path] of refused) {
    const error = await text(options).then(assert.fail, (error) => error);
    assert.deepEqual([error.code, error.detail?.path], ['TRUNKLINE_INVALID_ARGUMENT', path]);
  }
  const thrown = new Error('not today');
  await assert.rejects(text({ beforeToolCall: () => Promise.reject(thrown) }), thrown);
});

/** `outputHandling`, the tool, and the kinds of blocks in the content and the artifact. */
const HANDLING = [
  [undefined, 'picture', ['text', 'image', 'audio'], []],
  ['content', 'picture', ['text', 'image', 'audio'], []],
  ['artifact', 'picture', [], ['text', 'image', 'audio']],
  [{ image: 'artifact' }, 'picture', ['text', 'audio'], ['image']],
  [{ resource: 'artifact' }, 'resource', ['file'], ['resource', 'resource']],
  [{ resource_link: 'artifact', text: 'content', audio: undefined }, 'resource', ['text', 'file'], ['resource_link']],
];

it('blocks go where the host has them', async (t) => {
  const session = await kinds(t);
  const typesOf = (blocks) => blocks.map(({ type }) => type);
  for (const [outputHandling, tool, content, kept] of HANDLING) {
    const [message] = await told(new Scripted([`mcp__kinds__${tool}`, { city: 'x' }]), await tools(session, { outputHandling }));
    assert.deepEqual([typesOf(message.content), typesOf(message.artifact)], [content, kept], JSON.stringify(outputHandling));
  }
  const wrong = [['model', 'outputHandling'], [null, undefined], [5, 'outputHandling'], [{ picture: 'content' }, 'outputHandling.picture'], [{ text: 'no' }, 'outputHandling.text']];
  for (const [outputHandling, path] of wrong) {
    if (path === undefined) await tools(session, { outputHandling });
    else await assert.rejects(tools(session, { outputHandling }), (error) => error.detail?.path === path);
  }
});

pageRuns('docs/guide/migrate/langchain-js.md');
