'use strict';
// The error classes, and how errors of the addon become ours.

const { isNativeError } = require('node:util').types;

const { isPlainObject, spellDocument, toCamel } = require('./names.cjs');

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

/** Thrown by a handler: the server gets this JSON-RPC error in place of an answer. -1 stands for a user who declines. */
class Refusal extends Error {
  constructor(code, message) {
    super(message);
    if (!isErrorCode(code)) throw invalidArgument('`code` must be an integer of 32 bits', 'code');
    this.code = code;
  }
}
Object.defineProperty(Refusal.prototype, 'name', { value: 'Refusal', configurable: true, writable: true });

/** Whether JSON-RPC has it as the code of an error. */
function isErrorCode(code) {
  return Number.isInteger(code) && code >= -(2 ** 31) && code < 2 ** 31;
}

/** The error that stands in a document of the library. */
function fromFields(fields) {
  return fromSpelled(JSON.parse(require('./native.cjs').bridge.spellError(JSON.stringify(fields))));
}

/** The error that the addon's JSON form describes, whose texts are spelled already. */
function fromSpelled(fields) {
  return new TrunklineError({
    ...fields,
    code: nodeCode(fields.code),
    message: fields.server === undefined ? fields.message : `${fields.server}: ${fields.message}`,
    detail: spellDocument(fields.detail ?? {}, toCamel, fromFields),
    cause: isPlainObject(fields.cause) ? fromSpelled(fields.cause) : undefined,
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
  if (typeof reason === 'string') return fromSpelled(JSON.parse(reason));
  // Before any look at its class: that is of the realm in which the addon was loaded, which may be another than this one.
  if (reason?.code === MARK) return fromSpelled(JSON.parse(reason.message));
  if (reason instanceof TrunklineError || !isNativeError(reason)) return reason;
  // Without a code it is JavaScript's own, not ours.
  if (typeof reason.code !== 'string') return reason;
  // Node-API's: a panic that was caught, or a value of the wrong type.
  const panicked = reason.code === 'GenericFailure' ? require('./native.cjs').bridge.panicked() : null;
  if (panicked !== null) return fromSpelled(JSON.parse(panicked));
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

function decodeArguments(text) {
  if (typeof text !== 'string') return undefined;
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return text;
  }
}

module.exports = { Refusal, TrunklineError, errorOf, fromFields, guarded, invalidArgument, isErrorCode, nodeCode, textOf };
