'use strict';
// The one error class, and how errors of the addon become one.

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

/** The error that the library's JSON form describes. */
function fromFields(fields) {
  const spelled = isAboutOptions(fields) ? spellOptions(fields) : fields;
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
  if (reason instanceof TrunklineError || !(reason instanceof Error)) return reason;
  if (reason.code === MARK) return fromFields(JSON.parse(reason.message));
  // Without a code it is JavaScript's own, and none of ours.
  if (typeof reason.code !== 'string') return reason;
  // Node-API's: a value of the wrong type, or a panic that was caught.
  const code = nodeCode(reason.code === 'GenericFailure' ? 'internal' : 'invalid_argument');
  return new TrunklineError({ code, message: reason.message, cause: reason });
}

/** An error about a value that the host gave. */
function invalidArgument(message, path, cause) {
  return new TrunklineError({ code: nodeCode('invalid_argument'), message, detail: { path }, cause });
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

/** Errors whose texts name options; those about configurations name what stands in files. */
const ABOUT_OPTIONS = new Set(['unknown_option', 'invalid_argument', 'timeout', 'limit']);

function isAboutOptions(fields) {
  return ABOUT_OPTIONS.has(fields.code);
}

/** Such an error with the options spelled as the host wrote them. */
function spellOptions(fields) {
  const inText = (text) => text?.replace(/`([a-z0-9_.]+)`/g, (_, name) => `\`${toCamel(name)}\``);
  const detail = { ...fields.detail };
  for (const name of ['option', 'nearest', 'path']) {
    if (typeof detail[name] === 'string') detail[name] = toCamel(detail[name]);
  }
  return { ...fields, message: inText(fields.message), hint: inText(fields.hint), detail };
}

function decodeArguments(text) {
  if (typeof text !== 'string') return undefined;
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return text;
  }
}

module.exports = { TrunklineError, errorOf, fromFields, guarded, invalidArgument, nodeCode };
