'use strict';
// How things are called and shown here: the registry's snake_case in JavaScript's camelCase, and back; and what `util.inspect` shows.
//
// Names of our own are translated; those in texts by the core. Names of others never are: those of servers (the members of `servers` and
// `reconnected`), words of shapes (those of `shapes`), and whatever a server or the host wrote (`data`, `definition`, `difference`, `meta`, and the arguments in `renamed`).

/** Members whose own members are names of servers, or words of shapes. */
const NAMED_BY_OTHERS = new Set(['servers', 'reconnected', 'shapes']);

/** Members that are not ours. */
const FOREIGN = new Set(['capabilities', 'data', 'definition', 'difference', 'meta', 'renamed', 'server_info', 'serverInfo']);

/** `entry_index` → `entryIndex`; what begins with underscores is no name of ours, and begins with them here too. */
function toCamel(name) {
  // Most need nothing, and a process that begins has no use for the expression then.
  if (!name.includes('_')) return name;
  return name.replace(/(?<=[a-z0-9])_+([a-z0-9])/g, (_, letter) => letter.toUpperCase());
}

/** `entryIndex` → `entry_index`. */
function toSnake(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * A document of ours (an event, a report, a status) with its names spelled by `spell`.
 * `onError`, if given, makes the value of every `error` member.
 */
function spellDocument(value, spell, onError) {
  if (Array.isArray(value)) return value.map((item) => spellDocument(item, spell, onError));
  if (value === null || typeof value !== 'object') return value;
  const out = {};
  for (const [name, member] of Object.entries(value)) {
    put(out, spell(name), spellMember(name, member, spell, onError));
  }
  return out;
}

/** Makes it a member of its own, whatever its name. */
function put(object, name, value) {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
}

function spellMember(name, member, spell, onError) {
  if (FOREIGN.has(name)) return member;
  if (NAMED_BY_OTHERS.has(name) && isPlainObject(member)) {
    const entries = Object.entries(member);
    return Object.fromEntries(entries.map(([key, item]) => [key, spellDocument(item, spell, onError)]));
  }
  if (name === 'error' && onError !== undefined && isPlainObject(member)) return onError(member);
  if (name === 'remedy' && typeof member === 'string') return spellText(member);
  return spellDocument(member, spell, onError);
}

/** A text of the library as the core spells it here. */
function spellText(text) {
  // Most need nothing.
  return text.includes('_') ? require('./native.cjs').bridge.spellText(text) : text;
}

/** The method that `util.inspect` calls. It gets the arguments of `shown`. */
const inspected = Symbol.for('nodejs.util.inspect.custom');

/**
 * The name of its class, and these members; as Node does it, the name alone where the object stands too deep. Members that cannot be read
 * are no reason to throw: the code of the error stands for them, if it has one.
 */
function shown(object, members, [depth, options, inspect]) {
  const { name } = object.constructor;
  if (depth < 0) return `[${name}]`;
  let read;
  try {
    read = members();
  } catch (error) {
    return typeof error?.code === 'string' ? `[${name}: ${error.code}]` : `[${name}]`;
  }
  return `${name} ${inspect(read, { ...options, depth })}`;
}

function isPlainObject(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

module.exports = { inspected, isPlainObject, put, shown, spellDocument, spellText, toCamel, toSnake };
