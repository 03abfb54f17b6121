// `trunkline/adapters/ai` with the AI SDK and its own model for tests.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { it } from 'node:test';

import { generateText, jsonSchema, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { TrunklineError } from 'trunkline';
import { ToolError, tools } from 'trunkline/adapters/ai';

import { shownIn } from '../node_modules/trunkline/adapters/ai-parts.mjs';
import { GIVEN, MALFORMED, ODD_NAMES, PIXEL, arePlain, bare, changed, kinds, malformed, named, namesOf, oddlyNamed, opened, pageRuns } from './served.mjs';

/** The version of the SDK. */
const MAJOR = Number.parseInt(createRequire(import.meta.url)('ai/package.json').version);

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** The error for a model: from version 7 on with the name of its class. */
const said = (words) => (MAJOR < 7 ? words : `ToolError: ${words}`);

/** A model that asks for tools in an order that is written down, then says that it is done. */
function scripted(...calls) {
  let turn = 0;
  return new MockLanguageModelV3({
    async doGenerate() {
      const call = calls[turn++];
      if (call === undefined) {
        return { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop' }, usage, warnings: [] };
      }
      const [toolName, input] = call;
      const content = [{ type: 'tool-call', toolCallId: `c${turn}`, toolName, input: JSON.stringify(input) }];
      return { content, finishReason: { unified: 'tool-calls' }, usage, warnings: [] };
    },
  });
}

/** Runs the loop of the SDK; what the model was told of each call, and what it was offered at first. */
async function told(model, given, options) {
  const { text, steps } = await generateText({ model, tools: given, prompt: 'go on', stopWhen: stepCountIs(10), ...options });
  assert.equal(text, 'done');
  const last = model.doGenerateCalls.at(-1).prompt;
  const outputs = last.filter(({ role }) => role === 'tool').flatMap(({ content }) => content.map(({ output }) => output));
  return { outputs, steps, offered: model.doGenerateCalls[0].tools };
}

it('an agent calls the tools of a session', async (t) => {
  const session = await opened(t, { session: { exclude: { s: ['crash'] } } });
  const model = scripted(['mcp__s__add', { a: 2, b: 3 }], ['mcp__s__fail', { text: 'no such city' }]);
  const { outputs, offered, steps } = await told(model, await tools(session));
  assert.deepEqual(outputs, [
    { type: 'content', value: [{ type: 'text', text: '5' }] },
    { type: 'error-text', value: said('no such city') },
  ]);
  assert.deepEqual(offered.map(({ name }) => name), namesOf(session));
  assert.ok(!namesOf(session).includes('mcp__s__crash'));
  const { definition } = session.tools().find(({ ownName }) => ownName === 'add');
  const shown = offered.find(({ name }) => name === 'mcp__s__add');
  assert.equal(shown.description, definition.description);
  assert.deepEqual(shown.inputSchema.properties, definition.inputSchema.properties);
  const failed = steps[1].content.find(({ type }) => type === 'tool-error');
  assert.ok(failed.error instanceof ToolError && failed.error.result.isError);
});

it('schemas are as the servers sent them, and say that there are no arguments', async (t) => {
  const session = await opened(t);
  const { offered } = await told(scripted(), await tools(session));
  const sent = session.tools().map(({ definition }) => ({ properties: {}, ...definition.inputSchema }));
  assert.deepEqual(offered.map(({ inputSchema }) => inputSchema), sent);
});

// SPEC 18.8: a model of any API is shown names that it takes, and the server gets its own.
it('parameters may have any name', async (t) => {
  const session = await oddlyNamed(t);
  const { offered: [{ inputSchema: shown }] } = await told(scripted(), await tools(session));
  assert.ok(arePlain(shown));
  assert.deepEqual(Object.keys(shown.properties.deep.properties), ODD_NAMES);
  // Without the SDK in between, which refuses a call that has a `__proto__`.
  for (const args of [named(shown), GIVEN]) {
    const { content } = await (await tools(session)).mcp__named__given.execute(args, {});
    assert.deepEqual(JSON.parse(content[0].text), GIVEN);
  }
  const { offered: [ofOpenAi] } = await told(scripted(), await tools(session, { shape: 'openai' }));
  assert.ok(ODD_NAMES.every((name) => Object.hasOwn(ofOpenAi.inputSchema.properties, name)));
});

// SPEC 18.8: structured content alone reaches the model, and an error has words.
it('a result that says little reaches the model', async (t) => {
  const session = await bare(t);
  const given = await tools(session);
  const { outputs } = await told(scripted(...['alone', 'wordless', 'reason'].map((name) => [`mcp__bare__${name}`, {}])), given);
  assert.deepEqual(outputs[0], { type: 'json', value: { total: 5, word: 'für' } });
  assert.match(outputs[1].value, /without a text/);
  assert.equal(outputs[2].value, said('{"why":"closed"}'));
  // SPEC 16.8
  const { title, annotations, _meta } = given.mcp__bare__alone;
  assert.deepEqual([title, annotations, _meta], ['T', { readOnlyHint: true, title: 'T' }, { of: 'mine' }]);
});

it('results of every kind reach the model', async (t) => {
  const session = await kinds(t);
  const calls = ['picture', 'structured', 'resource'].map((name) => [`mcp__kinds__${name}`, { city: 'x' }]);
  const { outputs, steps } = await told(scripted(...calls), await tools(session));
  const [picture, , resource] = outputs.map(({ value }) => value);
  // What the SDK makes of the parts for this model.
  assert.deepEqual(picture.map(({ type }) => type), ['text', MAJOR < 7 ? 'image-data' : 'file-data', 'file-data']);
  assert.equal(picture[1].data, PIXEL);
  assert.deepEqual(resource.map(({ type }) => type), ['text', 'file-data', 'text']);
  const { output } = steps[1].content.find(({ type }) => type === 'tool-result');
  assert.deepEqual(output.structuredContent, { total: 5 });
  // As `@ai-sdk/mcp` has it of a server that leaves it out.
  assert.equal(output.isError, false);
});

// The SDK has other parts for bytes in version 7, whatever its version is that is installed.
it('bytes are parts that the version knows', () => {
  const result = { content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] };
  const media = { type: 'media', data: PIXEL, mediaType: 'image/png' };
  const file = { type: 'file', data: { type: 'data', data: PIXEL }, mediaType: 'image/png' };
  for (const [major, part] of [[5, media], [6, media], [7, file], [8, file]]) {
    assert.deepEqual(shownIn(major)(result), { type: 'content', value: [part] }, `version ${major}`);
  }
});

// SPEC 4.5: and costs nobody the rest of the result.
it('a block that is not as the protocol has it is its JSON', async (t) => {
  const session = await malformed(t);
  const calls = ['blocks', 'failed', 'none'].map((name) => [`mcp__malformed__${name}`, { city: 'x' }]);
  const { outputs } = await told(scripted(...calls), await tools(session));
  const [before, ...rest] = outputs[0].value.map(({ text }) => text);
  assert.deepEqual([before, rest.map((text) => JSON.parse(text))], ['before', MALFORMED]);
  assert.deepEqual(outputs[1], { type: 'error-text', value: said('before') });
  assert.deepEqual(outputs[2], { type: 'json', value: { content: 5, isError: false } });
});

// SPEC 4.5: the SDK's streams of messages refuse a title of null, and the description goes to the model's API as it is.
it('a member of a definition that is null is none', async (t) => {
  const session = await malformed(t);
  const { definition } = session.tools().find(({ ownName }) => ownName === 'none');
  assert.deepEqual([definition.description, definition.title], [null, null]);
  const given = await tools(session);
  const { offered } = await told(scripted(), given);
  assert.equal(offered.find(({ name }) => name === 'mcp__malformed__none').description, undefined);
  assert.equal(given.mcp__malformed__none.title, undefined);
});

it('a change is there when tools are asked for again', async (t) => {
  const session = await opened(t, { flags: ['--list-changes'] });
  assert.ok(!('mcp__s__fresh' in (await tools(session))));
  await changed(session, 'fresh');
  const { outputs } = await told(scripted(['mcp__s__fresh', {}]), await tools(session));
  assert.deepEqual(outputs[0].value, [{ type: 'text', text: 'fresh' }]);
});

// SPEC 7.9
it('what was announced before an answer is there after it', async (t) => {
  const session = await opened(t, { flags: ['--list-delay-ms', '200'] });
  for (const [add, servers] of [['tool_1001', undefined], ['tool_1002', ['s']]]) {
    await session.callTool('mcp__s__change_list', { add });
    assert.ok(`mcp__s__${add}` in (await tools(session, { servers })), add);
  }
});

it('progress, time-outs, an abort, and the tools of some servers', async (t) => {
  const session = await opened(t);
  const steps = [];
  const heard = await tools(session, { onProgress: (name, { progress }, id) => steps.push([name, progress, id]) });
  await told(scripted(['mcp__s__progress', { steps: 2 }]), heard);
  assert.deepEqual(steps, [['mcp__s__progress', 1, 'c1'], ['mcp__s__progress', 2, 'c1']]);
  const late = await told(scripted(['mcp__s__sleep', { ms: 600_000 }]), await tools(session, { timeoutMs: 50 }));
  const { error } = late.steps[0].content.find(({ type }) => type === 'tool-error');
  assert.ok(error instanceof TrunklineError && error.code === 'TRUNKLINE_TIMEOUT');
  const abort = new AbortController();
  const slow = await tools(session, { onProgress: () => abort.abort() });
  const endless = scripted(['mcp__s__progress', { steps: 1000, interval_ms: 1000 }]);
  await told(endless, slow, { abortSignal: abort.signal }).then(
    () => assert.fail('the abort was not heard of'),
    () => assert.equal(abort.signal.aborted, true),
  );
  assert.deepEqual(await tools(session, { servers: ['other'] }), {});
});

// FAULTS P11: the option `schemas` of `@ai-sdk/mcp`.
it('tools are those that the host has schemas of', async (t) => {
  const session = await kinds(t);
  const inputSchema = jsonSchema({ type: 'object', properties: { city: { type: 'string' } } });
  const outputSchema = jsonSchema({ type: 'object' }, {
    validate: (value) => (value.total === 5 ? { success: true, value: value.total } : { success: false, error: new Error('no total') }),
  });
  const schemas = {
    mcp__kinds__structured: { inputSchema, outputSchema },
    mcp__kinds__text: { inputSchema },
    mcp__kinds__picture: { inputSchema, outputSchema },
    mcp__kinds__nowhere: { inputSchema },
  };
  const given = await tools(session, { schemas });
  assert.deepEqual(Object.keys(given).toSorted(), ['mcp__kinds__picture', 'mcp__kinds__structured', 'mcp__kinds__text']);
  const calls = ['structured', 'text', 'picture'].map((name) => [`mcp__kinds__${name}`, { city: 'x' }]);
  const { outputs, steps } = await told(scripted(...calls), given);
  assert.deepEqual(outputs.slice(0, 2), [{ type: 'json', value: 5 }, { type: 'content', value: [{ type: 'text', text: 'a text' }] }]);
  assert.match(outputs[2].value, /no text that is JSON/);
  assert.equal(steps[0].toolResults[0].output, 5);
  assert.equal(steps[0].toolCalls[0].dynamic, undefined);
  await assert.rejects(tools(session, { schemas: { mcp__kinds__text: {} } }), { code: 'TRUNKLINE_INVALID_ARGUMENT' });
});

it('a call says whose tool it is', async (t) => {
  const session = await bare(t);
  const { steps } = await told(scripted(['mcp__bare__alone', {}]), await tools(session));
  const metadata = { clientName: 'bare', toolName: 'alone', title: 'T', annotations: { readOnlyHint: true, title: 'T' } };
  assert.deepEqual(steps[0].toolCalls[0].toolMetadata, metadata);
});

pageRuns('docs/guide/migrate/ai-sdk.md');
