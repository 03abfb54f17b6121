// What the adapters share: frameworks that may not be installed, tools that report an error, and blocks that are not as the protocol has them.

import errors from '../lib/errors.cjs';
import options from '../lib/options.cjs';

const { invalidArgument } = errors;

/**
 * Refuses what a framework's own client takes and is said elsewhere here. Of each option the table has the reason, and values, or tests
 * of a value, that ask for nothing.
 */
export function refuse(given, elsewhere) {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === undefined || !Object.hasOwn(elsewhere, name)) continue;
    const [why, ...nothing] = elsewhere[name];
    const isNothing = nothing.some((taken) => (typeof taken === 'function' ? taken(value) : taken === value));
    if (!isNothing) throw invalidArgument(`option \`${name}\`: ${why}`, name);
  }
}

/** What tools are made of: the options of the framework, and those of each call. One that there is not is refused at once. */
export function toolOptions(given, names, elsewhere) {
  options.checkObject(given);
  refuse(given, elsewhere);
  const ours = Object.fromEntries(Object.entries(given).filter(([name]) => !Object.hasOwn(elsewhere, name)));
  const { own, rest } = options.split(ours, names, 'call');
  return { ...own, ofCalls: rest };
}

/** What a host gives that has to be a function, where it is given. */
export function checkFunction(value, name) {
  if (value !== undefined && typeof value !== 'function') throw invalidArgument(`option \`${name}\` must be a function`, name);
}

export { invalidArgument };

/** What `load` imports; where it is not installed, an error that names what to install. */
export async function framework(adapter, name, load) {
  try {
    return await load();
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const wanted = `trunkline/adapters/${adapter} needs the package ${name}: npm install ${name}`;
    throw new Error(wanted, { cause: error });
  }
}

/** A tool that reports an error. */
export class ToolError extends Error {
  constructor(tool, result) {
    const texts = shownOf(result).filter((block) => block?.type === 'text' && typeof block.text === 'string').map(({ text }) => text);
    super(texts.join('\n') || `${tool} reports an error without a text`);
    this.result = result;
  }

  get name() {
    return 'ToolError';
  }
}

/** A block of a result is not as the protocol has it. */
class Malformed extends Error {}

/** The blocks of a result: each may be anything; none where the server sent no list. */
export function blocksOf({ content }) {
  return Array.isArray(content) ? content : [];
}

/** The blocks that a model is shown: those of the result, else its structured content as JSON, else, of an error, words. */
export function shownOf(result) {
  const blocks = blocksOf(result);
  if (blocks.length > 0) return blocks;
  if (result.structuredContent != null) return [{ type: 'text', text: JSON.stringify(result.structuredContent) }];
  return result.isError ? [{ type: 'text', text: 'the tool reports an error without a text' }] : [];
}

/** What `known` makes of a block; a text, which is its JSON, where it is not as the protocol has it, or of no kind that `known` knows. */
export function partOf(block, known) {
  try {
    const made = known(block);
    if (made !== undefined) return made;
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
  }
  return { type: 'text', text: JSON.stringify(block) };
}

/** A member that the protocol has as a text. */
export function member(block, name) {
  const value = block?.[name];
  if (typeof value !== 'string') throw new Malformed(name);
  return value;
}

/**
 * A member that the protocol has as bytes in base64 (RFC 4648, section 4), without the line breaks that some put into it. No bytes at all are
 * nothing that a model can be shown.
 */
export function encoded(block, name) {
  const text = member(block, name).replaceAll(/[\r\n]/g, '');
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw new Malformed(name);
  return text;
}

/** What the bytes of a block are, where it says so. */
export function mimeTypeOf(block, otherwise) {
  return block.mimeType == null ? otherwise : member(block, 'mimeType');
}

/** Waits for what servers announced, at most 5 s: all servers of a session, or some (SPEC 7.9). */
export async function untilListed(session, servers = [undefined]) {
  await Promise.all(Array.from(servers, (server) => session.listed(server)));
}

/** The tools of a session's view, or of some of its servers, with definitions whose `inputSchema` is as that shape has it. */
export function toolsOf(session, servers, shape = 'any') {
  const wanted = servers === undefined ? undefined : new Set(servers);
  const definitions = new Map(session.toolsFor('any').map((definition) => [definition.name, definition]));
  const schemas = new Map(shape === 'any' ? [] : session.toolsFor(shape).map(schemaOf));
  const rows = session.tools().filter(({ server, name }) => (wanted === undefined || wanted.has(server)) && definitions.has(name));
  return rows.map(({ name, server, ownName }) => {
    const definition = definitions.get(name);
    const inputSchema = schemas.get(name) ?? definition.inputSchema;
    return { name, server, ownName, definition: copyOf({ ...definition, inputSchema }) };
  });
}

/** A definition for a framework, whose validators may write into it: the session's own is frozen. */
export const copyOf = (definition) => structuredClone(definition);

/** The name of a tool in a shape, and the schema of its arguments there. */
function schemaOf(tool) {
  const about = tool.function ?? tool;
  const schema = about.inputSchema ?? about.input_schema ?? about.parameters ?? about.parametersJsonSchema;
  return [about.name, schema ?? { type: 'object', properties: {} }];
}

/** Whether every model API takes the names of a tool's arguments. */
export function hasPlainNames({ inputSchema }) {
  const properties = inputSchema?.properties;
  return properties === null || typeof properties !== 'object' || Object.keys(properties).every((name) => /^[a-zA-Z0-9_.-]{1,64}$/.test(name));
}

/** The options of one call: those of every call, whose end it hears of, and who is told its progress. */
export function callOptions(options, signal, onProgress) {
  const asked = { ...options };
  if (signal) asked.signal = signal;
  if (onProgress) asked.progress = onProgress;
  return asked;
}
