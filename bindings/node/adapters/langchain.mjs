// LangChain.js and LangGraph.js: the tools of a session as LangChain's.

import { ToolError, callOptions, encoded, framework, member, mimeTypeOf, partOf, shownOf, toolsOf } from './shared.mjs';

const { DynamicStructuredTool } = await framework('langchain', '@langchain/core', () => import('@langchain/core/tools'));
const { ToolMessage } = await framework('langchain', '@langchain/core', () => import('@langchain/core/messages'));

export { ToolError };

export function tools(session, { servers, onProgress, raiseErrors = false, shape = 'any', ...options } = {}) {
  const asked = { ...options, shape };
  return toolsOf(session, servers, shape).map((listed) => toolOf(session, listed, onProgress, raiseErrors, asked));
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

function toolOf(session, listed, onProgress, raiseErrors, options) {
  const { name, server, ownName, definition } = listed;
  const { annotations, _meta } = definition;
  const title = definition.title ?? annotations?.title;
  const ownNames = session.explain(name).shapes?.[options.shape]?.renamed ?? {};
  return new Tool({
    name,
    description: definition.description ?? '',
    schema: definition.inputSchema,
    responseFormat: 'content_and_artifact',
    metadata: { server, ownName, title, annotations: annotations ?? {}, _meta },
    async func(input, _runManager, config) {
      const told = onProgress && ((event) => onProgress(name, event));
      const result = await session.callTool(name, input, callOptions(options, config?.signal, told));
      const content = shownOf(result).map((from) => partOf(from, block));
      const artifact = { structuredContent: result.structuredContent, meta: result.meta };
      if (!result.isError) return [content, artifact];
      const id = config?.toolCall?.id;
      if (raiseErrors || id === undefined) throw new ToolError(name, result);
      return [new ToolMessage({ content, artifact, name, tool_call_id: id, status: 'error' }), artifact];
    },
  }, ownNames);
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
  if (contents?.text !== undefined) return { type: 'text', text: member(contents, 'text') };
  const data = encoded(contents, 'blob');
  const mimeType = mimeTypeOf(contents, 'application/octet-stream');
  return { type: mimeType.startsWith('image/') ? 'image' : 'file', data, mimeType };
}
