// The Vercel AI SDK: the tools of a session for `generateText`, `streamText` and agents.

import { ToolError, blocksOf, callOptions, encoded, framework, member, mimeTypeOf, partOf, toolsOf } from './shared.mjs';

const { dynamicTool, jsonSchema } = await framework('ai', 'ai', () => import('ai'));

export { ToolError };

export function tools(session, { servers, onProgress, shape = 'any', ...options } = {}) {
  const asked = { ...options, shape };
  return Object.fromEntries(
    toolsOf(session, servers, shape).map((listed) => [listed.name, toolOf(session, listed, onProgress, asked)]),
  );
}

function toolOf(session, listed, onProgress, options) {
  const { name, definition } = listed;
  const title = definition.title ?? definition.annotations?.title;
  const made = dynamicTool({
    description: definition.description ?? undefined,
    ...(title == null ? {} : { title }),
    inputSchema: jsonSchema(definition.inputSchema),
    async execute(input, { abortSignal, toolCallId }) {
      const told = onProgress && ((event) => onProgress(name, event, toolCallId));
      const result = await session.callTool(name, input, callOptions(options, abortSignal, told));
      if (result.isError) throw new ToolError(name, result);
      return result.value;
    },
    // Version 5 gives the output alone.
    toModelOutput: (given) => modelOutput(given?.output ?? given),
  });
  const { annotations, _meta } = definition;
  const beside = Object.entries({ annotations, _meta }).filter(([, value]) => value != null);
  return { ...made, ...Object.fromEntries(beside) };
}

/** What the model is shown of a result. */
function modelOutput(result) {
  const blocks = blocksOf(result);
  if (blocks.length === 0) return { type: 'json', value: result.structuredContent ?? null };
  return { type: 'content', value: blocks.map((block) => partOf(block, part)) };
}

function part(block) {
  switch (member(block, 'type')) {
    case 'text':
      return { type: 'text', text: member(block, 'text') };
    case 'image':
    case 'audio':
      return media(encoded(block, 'data'), member(block, 'mimeType'));
    case 'resource':
      return resource(block.resource);
    default:
      return undefined;
  }
}

function resource(contents) {
  if (contents?.text !== undefined) return { type: 'text', text: member(contents, 'text') };
  return media(encoded(contents, 'blob'), mimeTypeOf(contents, 'application/octet-stream'));
}

/** The one part for bytes that versions 5 and 6 both know. */
function media(data, mediaType) {
  return { type: 'media', data, mediaType };
}
