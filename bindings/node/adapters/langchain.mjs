// LangChain.js and LangGraph.js: the tools of a session as LangChain's.

import { ToolError, callOptions, framework, schemaOf, toolsOf } from './shared.mjs';

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
      const content = result.content.map(block);
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
  switch (from.type) {
    case 'text':
      return { type: 'text', text: from.text };
    case 'image':
    case 'audio':
      return { type: from.type, data: from.data, mimeType: from.mimeType };
    case 'resource_link':
      return { type: 'file', url: from.uri, ...(from.mimeType === undefined ? {} : { mimeType: from.mimeType }) };
    case 'resource':
      return resource(from.resource);
    default:
      return { type: 'text', text: JSON.stringify(from) };
  }
}

function resource({ text, blob, mimeType = 'application/octet-stream' }) {
  if (text !== undefined) return { type: 'text', text };
  return { type: mimeType.startsWith('image/') ? 'image' : 'file', data: blob, mimeType };
}
