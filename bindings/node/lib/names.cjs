'use strict';
// Spelling: the registry's snake_case in JavaScript's camelCase, and back.
//
// Names of our own are translated; names of others never are: those of servers (the members of `servers` and `reconnected`), and whatever a
// server or the host wrote (`data`, `definition`, `difference`, `meta`).

/** Members whose own members are names of servers. */
const NAMED_BY_HOST = new Set(['servers', 'reconnected']);

/** Members that are not ours. */
const FOREIGN = new Set(['data', 'definition', 'difference', 'meta']);

/** `entry_index` → `entryIndex`. */
function toCamel(name) {
  // Most need nothing, and a process that begins has no use for the expression then.
  if (!name.includes('_')) return name;
  return name.replace(/(?<!^)_+([a-z0-9])/g, (_, letter) => letter.toUpperCase());
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
    out[spell(name)] = spellMember(name, member, spell, onError);
  }
  return out;
}

function spellMember(name, member, spell, onError) {
  if (FOREIGN.has(name)) return member;
  if (NAMED_BY_HOST.has(name) && isPlainObject(member)) {
    const entries = Object.entries(member);
    return Object.fromEntries(entries.map(([key, item]) => [key, spellDocument(item, spell, onError)]));
  }
  if (name === 'error' && onError !== undefined && isPlainObject(member)) return onError(member);
  return spellDocument(member, spell, onError);
}

function isPlainObject(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

module.exports = { isPlainObject, spellDocument, toCamel, toSnake };
