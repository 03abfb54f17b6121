// The Vercel AI SDK: the tools of a session for `generateText`, `streamText` and agents.

import { createRequire } from 'node:module';

import { shownIn } from './ai-parts.mjs';
import { ToolError, blocksOf, callOptions, framework, invalidArgument, toolOptions, toolsOf, untilListed } from './shared.mjs';

const { asSchema, dynamicTool, jsonSchema, tool } = await framework('ai', 'ai', () => import('ai'));

/** What the model is shown of a result. */
const modelOutput = shownIn(Number.parseInt(createRequire(import.meta.url)('ai/package.json').version));

export { ToolError };

const HOST = 'who the host is is the option `clientInfo` of the pool';
const SERVERS = 'servers are given to the pool: `pool.reconcile(servers)`';
const NEGOTIATED = 'the pool negotiates the revision, once for all who share the server';

/** What `createMCPClient` and its methods take and is said elsewhere: the reason, then values that ask for nothing. */
const ELSEWHERE = {
  transport: [SERVERS],
  protocolVersionDiscovery: [NEGOTIATED, true],
  initialInitializeResult: [NEGOTIATED],
  initializationOptions: ['`session.ready` waits for servers, with `timeoutMs` and `signal`'],
  onUncaughtError: ['what befalls a connection is told by events of the session'],
  maxRetries: ['what is sent again is said by `retry`', 0],
  clientName: [HOST],
  name: [HOST],
  version: [HOST],
  capabilities: ['what servers are told of the host follows from `handlers` and `roots`'],
  experimental_events: ['there are no webhooks: what changes is told by events of the session'],
  timeout: ['it is `timeoutMs`'],
  maxTotalTimeout: ['it is `timeoutMs`; without progress the time is `idleTimeoutMs`'],
  signal: ['the SDK gives each call its own, as `abortSignal`'],
  progress: ['it is `onProgress`'],
};

export async function tools(session, options = {}) {
  const { servers, onProgress, shape = 'any', schemas, ofCalls } = toolOptions(options, ['servers', 'onProgress', 'shape', 'schemas'], ELSEWHERE);
  const asked = { ...ofCalls, shape };
  await untilListed(session, servers);
  const listed = toolsOf(session, servers, shape).filter(({ name }) => schemas === undefined || Object.hasOwn(schemas, name));
  return Object.fromEntries(listed.map((row) => [row.name, toolOf(session, row, schemas?.[row.name], onProgress, asked)]));
}

function toolOf(session, listed, schemas, onProgress, options) {
  const { name, server, ownName, definition } = listed;
  const { annotations, _meta } = definition;
  const title = definition.title ?? annotations?.title;
  const about = {
    description: definition.description ?? undefined,
    ...known({ title }),
    // As `@ai-sdk/mcp` calls them, whose clients have a server each.
    metadata: { clientName: server, toolName: ownName, ...known({ title, annotations }) },
    async execute(input, { abortSignal, toolCallId } = {}) {
      const told = onProgress && ((event) => onProgress(name, event, toolCallId));
      const result = await session.callTool(name, input, callOptions(options, abortSignal, told));
      if (result.isError) throw new ToolError(name, result);
      // `isError` is there in any case, as `@ai-sdk/mcp` has it.
      return schemas?.outputSchema === undefined ? { ...result.value, isError: false } : structured(name, result, schemas.outputSchema);
    },
    // Version 5 gives the output alone.
    toModelOutput: (given) => modelOutput(given?.output ?? given),
  };
  return { ...made(name, about, definition, schemas), ...known({ annotations, _meta }) };
}

/** What a server said: a member that is null is none. */
function known(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value != null));
}

/** A tool whose arguments are as the server says, or as the host. */
function made(name, about, { inputSchema }, schemas) {
  if (schemas === undefined) return dynamicTool({ ...about, inputSchema: jsonSchema(inputSchema) });
  const path = `schemas.${name}.inputSchema`;
  if (schemas.inputSchema === undefined) throw invalidArgument(`option \`${path}\` is missing`, path);
  if (schemas.outputSchema === undefined) return tool({ ...about, inputSchema: schemas.inputSchema });
  return tool({ ...about, ...schemas, toModelOutput: (given) => ({ type: 'json', value: given?.output ?? given }) });
}

/** What the host's schema makes of structured content, or of a text that is JSON. */
async function structured(name, result, outputSchema) {
  const { validate } = asSchema(outputSchema);
  const value = result.structuredContent ?? json(blocksOf(result).find((block) => block?.type === 'text')?.text);
  if (value === undefined) throw new TypeError(`${name} has no structured content, and no text that is JSON`);
  const checked = validate === undefined ? { success: true, value } : await validate(value);
  if (!checked.success) throw new TypeError(`what ${name} answers is not as \`outputSchema\` has it`, { cause: checked.error });
  return checked.value;
}

function json(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
