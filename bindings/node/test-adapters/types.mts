// The declarations of the adapters, used as users do.

import { ToolLoopAgent, type LanguageModel, type ToolSet } from 'ai';
import { CallToolResultSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { Pool, type CallResult } from 'trunkline';
import { ToolError, tools } from 'trunkline/adapters/ai';
import { instrument, traceMeta, uninstrument } from 'trunkline/otel';
import { tools as langchainTools } from 'trunkline/adapters/langchain';
import { Client, McpError, type ToolResult } from 'trunkline/adapters/sdk';

export async function used(model: LanguageModel): Promise<void> {
  const session = new Pool().session('a');
  const set: ToolSet = tools(session, { servers: ['s'], timeoutMs: 50, onProgress: (tool, event, id) => [tool, event.progress, id] });
  new ToolLoopAgent({ model, tools: set });
  // @ts-expect-error There is no such option.
  tools(session, { timeout: 50 });
  const list: StructuredToolInterface[] = langchainTools(session, { raiseErrors: true });
  list.at(0);
  instrument({ baggage: true });
  await session.callTool('mcp__s__x', {}, { meta: traceMeta({ k: 1 }, { baggage: false }) });
  uninstrument();
  const client = new Client(session, 's');
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
