// The declarations of the adapters, used as users do.

import { ToolLoopAgent, jsonSchema, type LanguageModel, type Tool, type ToolSet } from 'ai';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { CallToolResultSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { Pool, type CallResult } from 'trunkline';
import { ToolError, tools } from 'trunkline/adapters/ai';
import { instrument, traceMeta, uninstrument } from 'trunkline/otel';
import { tools as langchainTools } from 'trunkline/adapters/langchain';
import { Client, McpError, type ToolResult } from 'trunkline/adapters/sdk';

export async function used(model: LanguageModel, validator: jsonSchemaValidator): Promise<void> {
  const session = new Pool().session('a');
  const set: ToolSet = await tools(session, { servers: ['s'], timeoutMs: 50, onProgress: (tool, event, id) => [tool, event.progress, id] });
  new ToolLoopAgent({ model, tools: set });
  // @ts-expect-error There is no such option.
  await tools(session, { timeout: 50 });
  const list: StructuredToolInterface[] = await langchainTools(session, { raiseErrors: true });
  list.at(0);
  await langchainTools(session, {
    outputHandling: { resource: 'artifact' },
    beforeToolCall: ({ args }, state, config) => ({ args: { ...args, of: [Object.keys(state).length, config.runName] } }),
    afterToolCall: async ({ name, result: [content, artifact] }) => {
      return { result: [[...content, name], artifact.filter(({ type }) => type === 'mcp_meta')] };
    },
  });
  // @ts-expect-error Names are the session's.
  await langchainTools(session, { prefixToolNameWithServerName: true });
  const inputSchema = jsonSchema<{ city: string }>({ type: 'object' });
  const typed = await tools(session, { schemas: { mcp__s__x: { inputSchema, outputSchema: jsonSchema<number>({ type: 'number' }) } } });
  typed.mcp__s__x satisfies Tool<{ city: string }, number>;
  new ToolLoopAgent({ model, tools: typed });
  instrument({ baggage: true });
  await session.callTool('mcp__s__x', {}, { meta: traceMeta({ k: 1 }, { baggage: false }) });
  uninstrument();
  const listChanged = { tools: { onChanged: (error: Error | null, found: unknown[] | null) => [error, found] } };
  const client = new Client(session, 's', { shape: 'mcp', enforceStrictCapabilities: true, listChanged, jsonSchemaValidator: validator });
  client.fallbackNotificationHandler = async ({ method, params }) => [method, params];
  (await client.request({ method: 'tools/call', params: { name: 'x' } }, CallToolResultSchema, { timeout: 5 })).content.length;
  client.getProtocolEra() satisfies 'modern' | 'legacy' | undefined;
  // @ts-expect-error Requests of servers are answered by handlers.
  client.setRequestHandler('ping', () => ({}));
  await client.connect({ timeoutMs: 1000, config: { command: 'x' } });
  const plain: ToolResult = await client.callTool({ name: 'x' }, { timeout: 5 });
  const parsed = await client.callTool({ name: 'x', arguments: plain.structuredContent ?? {} }, CallToolResultSchema);
  parsed.content.length;
  client.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => method.length);
  const { tools: listed } = await client.listTools();
  listed[0]?.inputSchema;
  try {
    await client.close();
  } catch (error) {
    if (error instanceof McpError) error.code.toFixed();
    if (error instanceof ToolError) error.result satisfies CallResult;
  }
}
