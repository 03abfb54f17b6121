// LangChain.js and LangGraph.js: the tools of a session as LangChain's.

import { ToolError, blocksOf, callOptions, encoded, framework, member, mimeTypeOf, partOf, schemaOf, toolsOf } from './shared.mjs';

const { DynamicStructuredTool } = await framework('langchain', '@langchain/core', () => import('@langchain/core/tools'));
const { ToolMessage } = await framework('langchain', '@langchain/core', () => import('@langchain/core/messages'));

export { ToolError };

export function tools(session, { servers, onProgress, raiseErrors = false, ...options } = {}) {
  return toolsOf(session, servers).map((listed) => toolOf(session, listed, onProgress, raiseErrors, options));
}

function toolOf(session, listed, onProgress, raiseErrors, options) {
  const { name, server, ownName, definition } = listed;
  return new DynamicStructuredTool({
    name,
    description: definition.description ?? '',
    schema: schemaOf(listed),
    responseFormat: 'content_and_artifact',
    metadata: { server, ownName, annotations: definition.annotations ?? {} },
    async func(input, _runManager, config) {
      const told = onProgress && ((event) => onProgress(name, event));
      const result = await session.callTool(name, input, callOptions(options, config?.signal, told));
      const content = blocksOf(result).map((from) => partOf(from, block));
      const artifact = { structuredContent: result.structuredContent, meta: result.meta };
      if (!result.isError) return [content, artifact];
      const id = config?.toolCall?.id;
      if (raiseErrors || id === undefined) throw new ToolError(name, result);
      return [new ToolMessage({ content, artifact, name, tool_call_id: id, status: 'error' }), artifact];
    },
  });
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
  return { type: 'file', url, ...(mimeType === undefined ? {} : { mimeType }) };
}

function resource(contents) {
  if (contents?.text !== undefined) return { type: 'text', text: member(contents, 'text') };
  const data = encoded(contents, 'blob');
  const mimeType = mimeTypeOf(contents, 'application/octet-stream');
  return { type: mimeType.startsWith('image/') ? 'image' : 'file', data, mimeType };
}
