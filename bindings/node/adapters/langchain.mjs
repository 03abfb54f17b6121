// LangChain.js and LangGraph.js: the tools of a session as LangChain's.

import { placing, withHooks } from './langchain-output.mjs';
import {
  ToolError,
  callOptions,
  checkFunction,
  encoded,
  framework,
  member,
  mimeTypeOf,
  partOf,
  shownOf,
  toolOptions,
  toolsOf,
  untilListed,
} from './shared.mjs';

const { DynamicStructuredTool } = await framework('langchain', '@langchain/core', () => import('@langchain/core/tools'));
const { ToolMessage } = await framework('langchain', '@langchain/core', () => import('@langchain/core/messages'));

export { ToolError };

const NAMES = 'names are the session\'s: its `nameStyle` says how they are made';
const EVENTS = 'it is told by events of the session';

/** What `MultiServerMCPClient` and `loadMcpTools` take and is said elsewhere: the reason, then values that ask for nothing. */
const ELSEWHERE = {
  mcpServers: ['servers are given to the pool: `pool.reconcile(servers)`'],
  throwOnLoadError: ['a tool is there or is not: `session.explain(name)` says why'],
  prefixToolNameWithServerName: [NAMES, true],
  additionalToolNamePrefix: [NAMES, '', 'mcp'],
  useStandardContentBlocks: ['blocks are LangChain\'s standard ones', true],
  defaultToolTimeout: ['it is `timeoutMs`'],
  onConnectionError: ['`session.ready(server)` fails where a server is not there; the others are', 'ignore'],
  onMessage: [`${EVENTS}: \`log\``],
  onInitialized: [`${EVENTS}: \`server_ready\``],
  onCancelled: ['a server that cancels a request of its own is not told of'],
  onPromptsListChanged: [`${EVENTS}: \`prompts_changed\``],
  onResourcesListChanged: [`${EVENTS}: \`resources_changed\``],
  onResourcesUpdated: [`${EVENTS}: \`resource_updated\``],
  onRootsListChanged: ['no server sends it'],
  onToolsListChanged: [`${EVENTS}: \`tools_changed\``],
  timeout: ['it is `timeoutMs`'],
  signal: ['LangChain gives each call that of its run'],
  progress: ['it is `onProgress`'],
};

const NAMED = ['servers', 'onProgress', 'raiseErrors', 'shape', 'outputHandling', 'beforeToolCall', 'afterToolCall'];

export async function tools(session, options = {}) {
  const { ofCalls, servers, shape = 'any', beforeToolCall, afterToolCall, outputHandling, ...own } = toolOptions(options, NAMED, ELSEWHERE);
  for (const [name, hook] of Object.entries({ beforeToolCall, afterToolCall })) checkFunction(hook, name);
  const given = { ...own, options: { ...ofCalls, shape }, place: placing(outputHandling), hooks: { beforeToolCall, afterToolCall } };
  await untilListed(session, servers);
  return toolsOf(session, servers, shape).map((listed) => toolOf(session, listed, given));
}

/** A tool whose arguments are taken under the server's own names too: LangChain looks at them before anybody else. */
class Tool extends DynamicStructuredTool {
  constructor(fields, ownNames) {
    super(fields);
    this.shapedNames = new Map(Object.entries(ownNames).map(([shaped, own]) => [own, shaped]));
  }

  call(input, ...rest) {
    return super.call(this.#shaped(input), ...rest);
  }

  #shaped(input) {
    if (this.shapedNames.size === 0 || input === null || typeof input !== 'object') return input;
    // A call of a model has its arguments within.
    if (input.type === 'tool_call') return { ...input, args: this.#shaped(input.args) };
    return Object.fromEntries(Object.entries(input).map(([name, value]) => [this.shapedNames.get(name) ?? name, value]));
  }
}

function toolOf(session, listed, given) {
  const { name, server, ownName, definition } = listed;
  const { annotations, _meta } = definition;
  const title = definition.title ?? annotations?.title;
  const ownNames = session.explain(name).shapes?.[given.options.shape]?.renamed ?? {};
  const call = (args, config) => called(session, name, args, config, given);
  return new Tool({
    name,
    description: definition.description ?? '',
    schema: definition.inputSchema,
    responseFormat: 'content_and_artifact',
    metadata: { server, ownName, title, annotations: annotations ?? {}, _meta },
    func: (args, _runManager, config) => withHooks(given.hooks, { serverName: server, name: ownName, args }, config, call),
  }, ownNames);
}

/** The content and the artifact of the message that a call leads to. */
async function called(session, name, args, config, { onProgress, raiseErrors = false, place, options }) {
  const told = onProgress && ((event) => onProgress(name, event));
  const result = await session.callTool(name, args, callOptions(options, config?.signal, told));
  const shown = shownOf(result);
  const kept = result.isError ? [] : shown.filter((from) => place(from) === 'artifact');
  const content = contentOf(shown.filter((from) => !kept.includes(from)).map((from) => partOf(from, block)));
  const artifact = artifactOf(kept, result);
  if (!result.isError) return [content, artifact];
  const id = config?.toolCall?.id;
  if (raiseErrors || id === undefined) throw new ToolError(name, result);
  return [new ToolMessage({ content, artifact, name, tool_call_id: id, status: 'error' }), artifact];
}

/** A text alone is that text, which is what programs of `@langchain/mcp-adapters` read. */
function contentOf(blocks) {
  return blocks.length === 1 && blocks[0].type === 'text' ? blocks[0].text : blocks;
}

/** The blocks that the model is not shown, and what else the result says, as entries of that package. */
function artifactOf(kept, { structuredContent, meta }) {
  const said = { mcp_structured_content: structuredContent, mcp_meta: meta };
  return [...kept, ...Object.entries(said).flatMap(([type, data]) => (data == null ? [] : [{ type, data }]))];
}

/** A content block of the protocol as one of LangChain's. */
function block(from) {
  switch (member(from, 'type')) {
    case 'text':
      return { type: 'text', text: member(from, 'text') };
    case 'image':
    case 'audio':
      return { type: from.type, data: encoded(from, 'data'), mimeType: member(from, 'mimeType') };
    case 'resource_link':
      return link(member(from, 'uri'), mimeTypeOf(from));
    case 'resource':
      return resource(from.resource);
    default:
      return undefined;
  }
}

function link(url, mimeType) {
  // What can be looked at is a picture: model APIs take no other file by its address.
  const type = mimeType?.startsWith('image/') ? 'image' : 'file';
  return { type, url, ...(mimeType === undefined ? {} : { mimeType }) };
}

function resource(contents) {
  if (contents?.text != null) return { type: 'text', text: member(contents, 'text') };
  const data = encoded(contents, 'blob');
  const mimeType = mimeTypeOf(contents, 'application/octet-stream');
  return { type: mimeType.startsWith('image/') ? 'image' : 'file', data, mimeType };
}
