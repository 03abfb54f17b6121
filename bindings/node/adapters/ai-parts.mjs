// What a model of the Vercel AI SDK is shown of a result.

import { blocksOf, encoded, member, mimeTypeOf, partOf } from './shared.mjs';

/** The part for bytes: that which versions 5 and 6 both know, and that of version 7, which does not. */
const bytesOf = (major) => (data, mediaType) =>
  major < 7 ? { type: 'media', data, mediaType } : { type: 'file', data: { type: 'data', data }, mediaType };

/** What shows a result in the terms of that version of the SDK; of one without a list of blocks the whole. */
export function shownIn(major) {
  const bytes = bytesOf(major);
  return (result) => {
    const blocks = blocksOf(result);
    if (blocks.length > 0) return { type: 'content', value: blocks.map((block) => partOf(block, (known) => part(known, bytes))) };
    return { type: 'json', value: result.structuredContent ?? (Array.isArray(result.content) ? null : result) };
  };
}

function part(block, bytes) {
  switch (member(block, 'type')) {
    case 'text':
      return { type: 'text', text: member(block, 'text') };
    case 'image':
    case 'audio':
      return bytes(encoded(block, 'data'), member(block, 'mimeType'));
    case 'resource':
      return resource(block.resource, bytes);
    default:
      return undefined;
  }
}

function resource(contents, bytes) {
  if (contents?.text != null) return { type: 'text', text: member(contents, 'text') };
  return bytes(encoded(contents, 'blob'), mimeTypeOf(contents, 'application/octet-stream'));
}
