// What servers list with members of a wrong type, through each adapter.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import {
  ListPromptsResultSchema,
  ListResourceTemplatesResultSchema,
  ListResourcesResultSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { tools as aiTools } from 'trunkline/adapters/ai';
import { tools as langchainTools } from 'trunkline/adapters/langchain';
import { Client } from 'trunkline/adapters/sdk';

import { definitionsOf, unfit } from './served.mjs';

const LISTS = {
  tools: ['listTools', ListToolsResultSchema],
  prompts: ['listPrompts', ListPromptsResultSchema],
  resources: ['listResources', ListResourcesResultSchema],
  resourceTemplates: ['listResourceTemplates', ListResourceTemplatesResultSchema],
};

const byName = ({ name: a }, { name: b }) => (a < b ? -1 : 1);

async function connected(session, options) {
  const client = new Client(session, 'unfit', options);
  await client.connect();
  return client;
}

// SPEC 18.2
for (const [list, [method, schema]] of Object.entries(LISTS)) {
  it(`the SDK's client: a member of a wrong type costs itself alone: ${list}`, async (t) => {
    const client = await connected(await unfit(t));
    const listed = await client[method]();
    assert.deepEqual(listed[list].toSorted(byName), definitionsOf(list)[1].toSorted(byName));
    schema.parse(listed);
  });
}

it('the SDK\'s client: so it does where schemas are as one API takes them, and the shape `mcp` leaves it', async (t) => {
  const session = await unfit(t);
  const [sent, fit] = definitionsOf('tools').map((tools) => tools.toSorted(byName));
  for (const shape of ['openai', 'anthropic', 'gemini']) {
    const { tools } = await (await connected(session, { shape })).listTools();
    const withoutSchema = ({ inputSchema: _, ...definition }) => definition;
    assert.deepEqual(tools.toSorted(byName).map(withoutSchema), fit.map(withoutSchema), shape);
    ListToolsResultSchema.parse({ tools });
  }
  const { tools } = await (await connected(session, { shape: 'mcp' })).listTools();
  // SPEC 18.3
  const whole = JSON.parse(JSON.stringify(sent).replaceAll('\\ud83d', '\\ufffd'));
  assert.deepEqual(tools.toSorted(byName), whole);
});

/** What a framework gets of a tool beside its schema. */
const said = ({ title, annotations, _meta, description }) => ({ title: title ?? annotations?.title, annotations, _meta, description });

it('the AI SDK: a member of a wrong type costs itself alone', async (t) => {
  const given = await aiTools(await unfit(t));
  for (const [number, definition] of definitionsOf('tools')[1].entries()) {
    assert.deepEqual(said(given[`mcp__unfit__n${number}`]), said(definition), JSON.stringify(definition));
  }
});

it('LangChain: a member of a wrong type costs itself alone', async (t) => {
  const given = new Map((await langchainTools(await unfit(t))).map((tool) => [tool.name, tool]));
  for (const [number, definition] of definitionsOf('tools')[1].entries()) {
    const { metadata, description } = given.get(`mcp__unfit__n${number}`);
    const expected = said({ description: '', annotations: {}, ...definition });
    assert.deepEqual(said({ ...metadata, description }), expected, JSON.stringify(definition));
  }
});
