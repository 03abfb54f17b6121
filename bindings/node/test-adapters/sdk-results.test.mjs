// `trunkline/adapters/sdk`: structured content beside a tool's output schema, and what a log message lacks.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { AjvJsonSchemaValidator as OfVersion2 } from '@modelcontextprotocol/client/validators/ajv';
import { AjvJsonSchemaValidator as OfVersion1 } from '@modelcontextprotocol/sdk/validation/ajv';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { Client } from 'trunkline/adapters/sdk';

import { outputs, until } from './served.mjs';

/** What comes of each tool's call: no error, or its code. */
const CHECKED = [
  ['fits', undefined],
  ['differs', ErrorCode.InvalidParams],
  ['lacks', ErrorCode.InvalidRequest],
  ['fails', undefined],
  ['free', undefined],
  ['not_listed', undefined],
];

async function connected(session, options) {
  const client = new Client(session, 'outputs', options);
  await client.connect();
  return client;
}

// FAULTS P11
it('structured content is checked by the validator that the host gives', async (t) => {
  const session = await outputs(t);
  for (const jsonSchemaValidator of [new OfVersion1(), new OfVersion2(), undefined]) {
    const client = await connected(session, { jsonSchemaValidator });
    for (const [name, code] of CHECKED) {
      const asked = [
        () => client.callTool({ name, arguments: {} }),
        () => client.request({ method: 'tools/call', params: { name, arguments: {} } }),
      ];
      for (const ask of asked) {
        if (code === undefined || jsonSchemaValidator === undefined) await ask();
        else await assert.rejects(ask(), (error) => error instanceof McpError && error.code === code && error.message.includes(name));
      }
    }
    await client.close();
  }
});

it('a schema that the validator refuses is told before the call', async (t) => {
  const session = await outputs(t);
  const refused = new Error('no such keyword');
  const getValidator = () => {
    throw refused;
  };
  const client = await connected(session, { jsonSchemaValidator: { getValidator } });
  const error = await client.callTool({ name: 'fits', arguments: {} }).then(assert.fail, (error) => error);
  assert.ok(error.cause === refused && error.message.includes('fits'));
  await client.callTool({ name: 'free', arguments: {} });
});

it('a validator is made once for each state of the list', async (t) => {
  const session = await outputs(t);
  let made = 0;
  const getValidator = () => {
    made += 1;
    return (data) => ({ valid: true, data });
  };
  const client = await connected(session, { jsonSchemaValidator: { getValidator } });
  for (const name of ['fits', 'fits', 'differs', 'fits']) await client.callTool({ name, arguments: {} });
  assert.equal(made, 2);
});

it('what is no validator is refused by its name', async (t) => {
  const session = await outputs(t);
  for (const jsonSchemaValidator of [5, null, {}, { getValidator: 5 }]) {
    const wrong = () => new Client(session, 'outputs', { jsonSchemaValidator });
    assert.throws(wrong, ({ code, detail }) => code === 'TRUNKLINE_INVALID_ARGUMENT' && detail.path === 'jsonSchemaValidator');
  }
});

it('a log message without a logger has no such member', async (t) => {
  const said = [{ level: 'info', data: 'bare' }, { level: 'info', data: 'of one', logger: 'mine' }];
  const session = await outputs(t, said);
  const client = await connected(session);
  const heard = [];
  client.setNotificationHandler('notifications/message', ({ params }) => heard.push(params));
  await client.callTool({ name: 'free', arguments: {} });
  await until(() => heard.length === said.length, 'not all was heard');
  assert.deepEqual(heard, said);
});
