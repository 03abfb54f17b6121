'use strict';
// The one error class, and how errors of the addon become one.

const { isNativeError } = require('node:util').types;

const { isPlainObject, spellDocument, spellKnown, spellText, toCamel } = require('./names.cjs');

/** What the addon throws carries this code, and the error as JSON text in its message. */
const MARK = 'TRUNKLINE';

/** Why an operation failed. */
class TrunklineError extends Error {
  constructor(fields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.retryable = fields.retryable ?? false;
    for (const name of ['server', 'session', 'outcome', 'hint']) {
      if (fields[name] !== undefined) this[name] = fields[name];
    }
    this.detail = fields.detail ?? {};
    if (fields.arguments !== undefined) {
      // For the caller alone: not enumerable, so that printing the error does not show them.
      Object.defineProperty(this, 'arguments', { value: fields.arguments, enumerable: false });
    }
  }

  /** Everything but the arguments and the stack. */
  toJSON() {
    const { code, message, server, session, retryable, outcome, detail, hint, cause } = this;
    return { code, message, server, session, retryable, outcome, detail, hint, cause };
  }
}
Object.defineProperty(TrunklineError.prototype, 'name', {
  value: 'TrunklineError',
  configurable: true,
  writable: true,
});

/** The error that the library's JSON form describes. */
function fromFields(fields) {
  const spelled = namesOf(fields.code) === 'files' ? fields : spellOptions(fields);
  return new TrunklineError({
    ...spelled,
    code: nodeCode(fields.code),
    message: fields.server === undefined ? spelled.message : `${fields.server}: ${spelled.message}`,
    detail: spellDocument(spelled.detail ?? {}, toCamel, fromFields),
    cause: isPlainObject(fields.cause) ? fromFields(fields.cause) : undefined,
    arguments: decodeArguments(fields.arguments),
  });
}

/** Whatever the addon threw, or rejected a promise with, as an error for the host. Its stack begins below `above`. */
function errorOf(reason, above = errorOf) {
  const error = made(reason);
  if (error !== reason) Error.captureStackTrace(error, above);
  return error;
}

function made(reason) {
  if (typeof reason === 'string') return fromFields(JSON.parse(reason));
  // Before any look at its class: that is of the realm in which the addon was loaded, which may be another than this one.
  if (reason?.code === MARK) return fromFields(JSON.parse(reason.message));
  if (reason instanceof TrunklineError || !isNativeError(reason)) return reason;
  // Without a code it is JavaScript's own, and none of ours.
  if (typeof reason.code !== 'string') return reason;
  // Node-API's: a panic that was caught, or a value of the wrong type.
  const panicked = reason.code === 'GenericFailure' ? require('./native.cjs').bridge.panicked() : null;
  if (panicked !== null) return fromFields(JSON.parse(panicked));
  const code = nodeCode(reason.code === 'GenericFailure' ? 'internal' : 'invalid_argument');
  return new TrunklineError({ code, message: reason.message, cause: reason });
}

/** What a function of the host failed with, for a warning: it may be anything, and have no text. */
function textOf(failure) {
  try {
    return String(failure?.stack ?? failure);
  } catch {
    return 'something that has no text';
  }
}

/** An error about a value that the host gave. */
function invalidArgument(message, path, cause) {
  const { advice } = rowOf('invalid_argument');
  return new TrunklineError({ code: nodeCode('invalid_argument'), message, detail: { path }, hint: advice, cause });
}

/** `tool_not_found` → `TRUNKLINE_TOOL_NOT_FOUND`. */
function nodeCode(name) {
  return `TRUNKLINE_${name.toUpperCase()}`;
}

/** Runs a synchronous call into the addon; what it throws becomes an error for the host. */
function guarded(call) {
  try {
    return call();
  } catch (reason) {
    throw errorOf(reason, guarded);
  }
}

let rows;

/** What the registry has about a code. */
function rowOf(code) {
  rows ??= new Map(require('./native.cjs').registry.errors.map((row) => [row.name, row]));
  return rows.get(code);
}

/** What errors of this code name: `options`; what stands in `files`, where it has the registry's spelling; or what is of `others`. */
function namesOf(code) {
  return rowOf(code)?.names;
}

/**
 * An error with the options that it names spelled as the host writes them. What a host or a server called so stays as it is, but for an
 * option that does not exist: its name has come here in the registry's spelling.
 */
function spellOptions(fields) {
  const isOfOption = fields.code === 'unknown_option';
  const spell = isOfOption ? toCamel : spellKnown;
  const inText = (text) => text && spellText(text, spell);
  const detail = { ...fields.detail };
  // What is nearest to no option is the name of a tool or a server, and so the hint has it.
  const isNear = detail.nearest !== undefined && !isOfOption;
  for (const name of isNear ? ['option', 'path'] : ['option', 'nearest', 'path']) {
    if (typeof detail[name] === 'string') detail[name] = spell(detail[name]);
  }
  const message = namesOf(fields.code) === 'others' ? fields.message : inText(fields.message);
  return { ...fields, message, hint: isNear ? fields.hint : inText(fields.hint), detail };
}

function decodeArguments(text) {
  if (typeof text !== 'string') return undefined;
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return text;
  }
}

module.exports = { TrunklineError, errorOf, fromFields, guarded, invalidArgument, nodeCode, textOf };
