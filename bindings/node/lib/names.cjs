'use strict';
// Spelling: the registry's snake_case in JavaScript's camelCase, and back.
//
// Names of our own are translated, in texts of ours as well; names of others never are: those of servers (the members of `servers` and
// `reconnected`), and whatever a server or the host wrote (`data`, `definition`, `difference`, `meta`, and the arguments in `renamed`).

/** Members whose own members are names of servers. */
const NAMED_BY_HOST = new Set(['servers', 'reconnected']);

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
  if (NAMED_BY_HOST.has(name) && isPlainObject(member)) {
    const entries = Object.entries(member);
    return Object.fromEntries(entries.map(([key, item]) => [key, spellDocument(item, spell, onError)]));
  }
  if (name === 'error' && onError !== undefined && isPlainObject(member)) return onError(member);
  if (name === 'remedy' && typeof member === 'string') return spellText(member);
  return spellDocument(member, spell, onError);
}

/** A text of the library, such as a hint, with the names in backticks as `spell` spells them. */
function spellText(text, spell = spellKnown) {
  return text.replace(/`([a-z0-9_.[\]]+)`/g, (_, name) => `\`${spell(name)}\``);
}

/** `limits.frame_bytes` → `limits.frameBytes`; of `include.my_server` the first part alone is ours. */
function spellKnown(path) {
  // Most need nothing, and the table is made for the first that does.
  if (!path.includes('_')) return path;
  let rows = optionRows();
  const parts = path.split('.').map((part) => {
    const row = rows?.get(part.replace(/\[\d+\]$/, ''));
    rows = row?.members && new Map(row.members.map((member) => [member.name, member]));
    return row === undefined ? part : toCamel(part);
  });
  return parts.join('.');
}

let known;

/** The options of all scopes, and what else an error may name, by the registry's names. */
function optionRows() {
  if (known === undefined) {
    const { server, ...scopes } = require('./native.cjs').registry.options;
    const rows = [...NAMES.map((name) => ({ name })), ...Object.values(scopes).flat()];
    // Of those that are called alike one may have members, as `reconnect` of a pool has; it is kept.
    rows.sort((one, other) => (one.members ? 1 : 0) - (other.members ? 1 : 0));
    known = new Map(rows.map((row) => [row.name, row]));
  }
  return known;
}

/** Functions, their parameters, handlers and what these answer, and what a status has. */
const NAMES = [
  'accept_tool',
  'add_server',
  'elicitation_url',
  'expires_in_ms',
  'last_error',
  'redirect_url',
  'remove_server',
  'sampling_tools',
  'set_gates',
  'set_trusted',
  'sign_in',
];

function isPlainObject(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

module.exports = { isPlainObject, put, spellDocument, spellKnown, spellText, toCamel, toSnake };
