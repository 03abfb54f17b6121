// Where the blocks of a result go, and the hooks around a call, as `@langchain/mcp-adapters` has them.

import { invalidArgument } from './shared.mjs';

const KINDS = ['text', 'image', 'audio', 'resource', 'resource_link'];

const PLACES = ['content', 'artifact'];

/** Which place a block of a result has. */
export function placing(handling = 'content') {
  if (typeof handling === 'string') {
    check(handling, 'outputHandling');
    return () => handling;
  }
  if (handling === null || typeof handling !== 'object') {
    throw invalidArgument('option `outputHandling` must be a place, or one for each kind', 'outputHandling');
  }
  for (const [kind, place] of Object.entries(handling)) {
    const path = `outputHandling.${kind}`;
    if (!KINDS.includes(kind)) throw invalidArgument(`option \`${path}\`: the kinds are ${KINDS.join(', ')}`, path);
    if (place !== undefined) check(place, path);
  }
  const places = new Map(Object.entries(handling));
  return (block) => places.get(block?.type) ?? 'content';
}

function check(place, path) {
  if (!PLACES.includes(place)) throw invalidArgument(`option \`${path}\` must be ${PLACES.map((name) => `'${name}'`).join(' or ')}`, path);
}

/** What a call leads to between its hooks; one that failed has none after it. */
export async function withHooks({ beforeToolCall, afterToolCall }, about, config, call) {
  if (beforeToolCall === undefined && afterToolCall === undefined) return call(about.args, config);
  const state = await stateOf(config);
  const changed = await beforeToolCall?.(about, state, config ?? {});
  refuseHeaders(changed);
  const args = { ...about.args, ...changed?.args };
  const output = await call(args, config);
  // Of a call that failed there is the message itself.
  if (output[0]?.lc_direct_tool_output === true) return output;
  const after = await afterToolCall?.({ ...about, args, result: output }, state, config ?? {});
  return after?.result === undefined ? output : outputOf(after.result);
}

function refuseHeaders(changed) {
  if (Object.keys(changed?.headers ?? {}).length === 0) return;
  const why = 'the connection is shared, and headers are those of the server\'s configuration';
  throw invalidArgument(`\`headers\` of beforeToolCall: ${why}`, 'beforeToolCall.headers');
}

/** What a hook puts in the place of a result: a text, a message, both members of one, or a command of LangGraph. */
function outputOf(result) {
  if (typeof result === 'string') return [result, []];
  if (Array.isArray(result) && result.length === 2) return result;
  if (result?.lc_direct_tool_output !== true) {
    throw invalidArgument('`result` of afterToolCall must be a text, a message, a command, or content and artifact', 'afterToolCall.result');
  }
  return typeof result.getType === 'function' ? [result.contentBlocks, []] : [result, []];
}

/** The state of the graph that a call is made in; none outside of LangGraph. */
async function stateOf(config) {
  try {
    const { getCurrentTaskInput } = await import('@langchain/langgraph');
    return getCurrentTaskInput(config) ?? {};
  } catch {
    return {};
  }
}
