'use strict';
// Options on their way into the addon: camelCase objects become the registry's JSON.

const { TrunklineError, invalidArgument, nodeCode } = require('./errors.cjs');
const { isPlainObject, put, toSnake } = require('./names.cjs');
const { bridge, registry } = require('./native.cjs');

/** By scope, what was asked for of the options. */
const scopes = new Map();

/** The options of a scope by their name in Node: `{name, members?}`. */
function rowsOf(scope) {
  let rows = scopes.get(scope);
  if (rows === undefined) {
    rows = byNodeName(registry.options[scope]);
    // The id of a session is an argument of its own here.
    if (scope === 'session') rows.delete('id');
    scopes.set(scope, rows);
  }
  return rows;
}

function byNodeName(rows) {
  return new Map(
    rows.map((row) => [row.node, { name: row.name, members: row.members && byNodeName(row.members) }]),
  );
}

/** Of a method whose options are all JavaScript's own. */
const NONE = new Map();

/** The options of a scope (`pool`, `session`, `configure`, `call`, `acquire`, `drain`, `load`, …) as JSON text. */
function encodeOptions(scope, options) {
  const given = options ?? {};
  checkObject(given);
  if (Object.keys(given).length === 0) return '{}';
  const spelled = spell(rowsOf(scope), given, '');
  try {
    return encodeJson(spelled, 'options');
  } catch (error) {
    findUnwritable(rowsOf(scope), given, '');
    throw error;
  }
}

/** Throws the error that names the option. */
function findUnwritable(rows, options, path) {
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const members = rows.get(key)?.members;
    if (members !== undefined && isPlainObject(value)) findUnwritable(members, value, `${path}${key}.`);
    else encodeJson(value, `${path}${key}`);
  }
}

/** A value of the host as JSON text. */
function encodeJson(value, path) {
  let text;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw invalidArgument(`${path} cannot be written as JSON: ${cause.message}`, path, cause);
  }
  if (text === undefined) {
    throw invalidArgument(`${path} must be a value that JSON has, not ${describe(value)}`, path);
  }
  return text;
}

/** A value as JSON text, or undefined for none. */
function encodeOptionalJson(value, path) {
  return value === undefined || value === null ? undefined : encodeJson(value, path);
}

/** The arguments of a call as JSON text; none is an empty object. */
function encodeArguments(args) {
  if (args === undefined || args === null) return '';
  const text = encodeJson(args, 'arguments');
  if (text === '{}' && isOther(args)) refuse(args, 'arguments', 'an object');
  return text;
}

/**
 * The options of a method: its `own`, which belong to JavaScript (`signal`, …), where null is absent, and the `rest`, which the registry has
 * for `scope`, if one is given. One that is neither is refused.
 */
function split(options, names, scope) {
  if (options === undefined || options === null) return { own: {}, rest: undefined };
  checkObject(options);
  const own = {};
  const rest = { ...options };
  for (const name of names) {
    own[name] = options[name] ?? undefined;
    delete rest[name];
  }
  for (const [name, value] of Object.entries(rest)) {
    if (value === undefined) continue;
    const rows = scope === undefined ? NONE : rowsOf(scope);
    if (rows.has(name)) continue;
    throw unknownOption(name, [...names, ...rows.keys()]);
  }
  return { own, rest };
}

/** What a wait takes: `signal` and `timeoutMs`. */
function readTimes(options) {
  const { own } = split(options, ['signal', 'timeoutMs']);
  checkDuration(own.timeoutMs, 'timeoutMs');
  return own;
}

/** An argument that is a text. */
function readText(value, name) {
  if (typeof value !== 'string') refuse(value, name, 'a string');
  // Node would write another character in its place, and so of another text.
  if (!value.isWellFormed()) throw invalidArgument(`\`${name}\` has half a surrogate pair, which cannot be written as UTF-8`, name);
  return value;
}

/** One that may be absent. */
function readOptionalText(value, name) {
  return value === undefined || value === null ? value : readText(value, name);
}

/** An argument that is a yes or a no. */
function readFlag(value, name) {
  return typeof value === 'boolean' ? value : refuse(value, name, 'true or false');
}

function refuse(value, name, what) {
  throw invalidArgument(`\`${name}\` must be ${what}, not ${describe(value)}`, name);
}

function checkDuration(value, name) {
  if (value === undefined || (typeof value === 'number' && value >= 0)) return;
  throw invalidArgument(`option \`${name}\` must be a number of milliseconds`, name);
}

function checkObject(options) {
  if (isPlainObject(options) && !isOther(options)) return;
  const error = invalidArgument(`the options must be an object, not ${describe(options)}`, 'options');
  if (kindOf(options) === 'AbortSignal') error.hint = 'a signal stands in the options: `{ signal }`';
  throw error;
}

/** What an object is: `Object`, or `AbortSignal`, `Map`, …, of whichever realm. */
function kindOf(object) {
  return Object.prototype.toString.call(object).slice(8, -1);
}

/** Whether it is an object of the platform that says nothing by members of its own, so that nothing of it would be read. */
function isOther(object) {
  return kindOf(object) !== 'Object' && Object.keys(object).length === 0;
}

function spell(rows, options, path) {
  const out = {};
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const row = rows.get(key);
    if (row === undefined) refuseOtherSpelling(rows, key, path);
    if (typeof value === 'function') {
      throw invalidArgument(`option \`${path}${key}\` cannot be a function`, `${path}${key}`);
    }
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw invalidArgument(`option \`${path}${key}\` must be a number that JSON has, not ${value}`, `${path}${key}`);
    }
    const isNested = row?.members !== undefined && isPlainObject(value);
    put(out, row?.name ?? toSnake(key), isNested ? spell(row.members, value, `${path}${key}.`) : value);
  }
  return out;
}

/** One option has one spelling here: `drain_delay_ms` is refused, by its own name, like any other unknown one. */
function refuseOtherSpelling(rows, key, path) {
  const name = toSnake(key);
  for (const [nodeName, row] of rows) {
    if (row.name !== name) continue;
    throw unknownOption(`${path}${key}`, [`${path}${nodeName}`]);
  }
}

/** As the library says it of its own; the names are spelled here already. */
function unknownOption(option, known) {
  const fields = JSON.parse(bridge.unknownOption(option, known));
  return new TrunklineError({ ...fields, code: nodeCode(fields.code) });
}

function describe(value) {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const kind = kindOf(value);
  if (kind === 'Object') return 'an object';
  return `${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

module.exports = {
  checkDuration,
  checkObject,
  encodeArguments,
  encodeJson,
  encodeOptionalJson,
  encodeOptions,
  isOther,
  readFlag,
  readOptionalText,
  readText,
  readTimes,
  split,
};
