'use strict';
// Handlers: the host's answers to what servers ask of it. Loaded for the first pool or session that has some.

const { Refusal, guarded, invalidArgument, isErrorCode, textOf } = require('./errors.cjs');
const { tell } = require('./events.cjs');
const { isPlainObject, toCamel } = require('./names.cjs');
const { bridge, desks, register, unregister } = require('./native.cjs');
const { encodeJson } = require('./options.cjs');

const INTERNAL_ERROR = -32603;
const FAILED = 'the handler failed';

/** The handlers that settings are asked of. */
const OF_SETTINGS = new Set(['inputs', 'secrets', 'entries']);

/** Desks that somebody waits for an answer of. */
const answering = new Set();

/** Brings requests to the handlers of one pool or session, and their answers back. */
class Desk {
  #native;
  #number;
  /** None once no handler is to be called any more. */
  #handlers;
  /** What tells a handler that nobody waits any more, by the number of its request. */
  #open = new Map();

  constructor(handlers) {
    if (!isPlainObject(handlers)) {
      throw invalidArgument('option `handlers` must be an object of functions', 'handlers');
    }
    const given = Object.entries(handlers).filter(([, handler]) => handler !== undefined && handler !== null);
    this.#handlers = Object.fromEntries(given);
    for (const [name, handler] of given) {
      if (typeof handler !== 'function') {
        throw invalidArgument(`option \`handlers.${name}\` must be a function`, `handlers.${name}`);
      }
      // One handler has one spelling here.
      if (toCamel(name) !== name) throw invalidArgument(`no handler is called "${name}"`, `handlers.${name}`);
    }
    this.#native = guarded(() => bridge.newDesk(given.map(([name]) => name)));
    this.#number = this.#native.number();
  }

  /** Makes the pool or session, which has the desk from then on. */
  serve(make) {
    const made = guarded(() => make(this.#native));
    register(this.#number, this);
    desks.set(made, this);
    this.onReadable();
    return made;
  }

  onReadable() {
    const text = this.#native.take();
    if (text === '') return this.#end();
    for (const [news, number, what] of JSON.parse(text)) {
      if (news === 'asked') this.#answer(number, what);
      else if (news === 'withdrawn') this.#withdraw(number);
      // The handler that was told the one before may have closed its session.
      else if (this.#handlers !== undefined) tell(this.#handlers.logging, what, warn);
    }
  }

  /** No handler is called any more. Those at work hear that nobody waits for their answers when that is so, as ever. */
  dropHandlers() {
    this.#handlers = undefined;
  }

  async #answer(number, { params, method, kind, ...who }) {
    if (this.#handlers === undefined) return this.#native.refuse(number, INTERNAL_ERROR, FAILED);
    const controller = new AbortController();
    this.#open.set(number, controller);
    answering.add(this);
    const { signal } = controller;
    const request = { kind: toCamel(kind), method, params, ...fieldsOf(who) };
    const handler = this.#handlers[request.kind] ?? this.#handlers.samplingTools;
    try {
      const given = await handler(request, { signal });
      if (request.kind === 'credentials') this.#letIn(number, given);
      else if (OF_SETTINGS.has(request.kind)) this.#settle(number, given);
      else if (!isPlainObject(given)) throw new TypeError("a handler's answer is an object");
      else this.#native.answer(number, encodeJson(given, 'answer'));
    } catch (error) {
      if (!signal.aborted) this.#fail(number, error);
    } finally {
      this.#letGo(number);
    }
  }

  #letGo(number) {
    this.#open.delete(number);
    if (this.#open.size === 0) answering.delete(this);
  }

  #letIn(number, given) {
    const { wrong, why, bearer } = readBearer(given);
    if (wrong === undefined) this.#native.answer(number, JSON.stringify(bearer));
    else this.#native.unfit(number, wrong, `\`${wrong}\` ${why}`);
  }

  /** What a host gives for settings: a text, where one is asked for, and nothing for none; of an entry nothing keeps it. */
  #settle(number, given) {
    const answer = typeof given === 'string' ? { value: given } : (given ?? {});
    if (!isPlainObject(answer)) throw new TypeError("a handler's answer is a text or an object");
    this.#native.answer(number, encodeJson(answer, 'answer'));
  }

  #fail(number, error) {
    const refusal = readRefusal(error);
    this.#native.refuse(number, refusal?.code ?? INTERNAL_ERROR, refusal?.message ?? FAILED);
    if (refusal === undefined) warn(error);
  }

  /** Its handler may never end, and is not kept for that. */
  #withdraw(number) {
    const controller = this.#open.get(number);
    this.#letGo(number);
    controller?.abort(new Error('nobody waits for the answer any more'));
  }

  #end() {
    unregister(this.#number, this);
    for (const number of [...this.#open.keys()]) this.#withdraw(number);
  }
}

/** The code and the message that a handler refuses with; nothing of whatever else it threw, which may even throw when it is looked at. */
function readRefusal(error) {
  try {
    if (!(error instanceof Refusal)) return undefined;
    const { code, message } = error;
    return { code: isErrorCode(code) ? code : INTERNAL_ERROR, message: String(message) };
  } catch {
    return undefined;
  }
}

function warn(error) {
  process.emitWarning(`a handler failed: ${textOf(error)}`, { code: 'TRUNKLINE_HANDLER_FAILED' });
}

/**
 * What a host gives a server to be let in with: the token, or it and how long it lives; null for none. The library reads the rest;
 * what JSON has no word for is judged here.
 */
function readBearer(given) {
  if (given === null || given === undefined || typeof given === 'string') return { bearer: { token: given ?? null } };
  if (!isPlainObject(given)) return { wrong: 'answer', why: 'is not a token' };
  const { token = null, expiresInMs = null } = given;
  if (token !== null && typeof token !== 'string') return { wrong: 'token', why: 'is not a text' };
  if (expiresInMs !== null && !Number.isSafeInteger(expiresInMs)) {
    return { wrong: 'expiresInMs', why: 'is not a whole number of milliseconds' };
  }
  return { bearer: { token, expires_in_ms: expiresInMs } };
}

function fieldsOf(who) {
  return Object.fromEntries(Object.entries(who).map(([name, value]) => [toCamel(name), value]));
}

/** Makes a pool or session that these handlers serve: `make` gets the native desk. */
function serve(handlers, make) {
  return new Desk(handlers).serve(make);
}

module.exports = { serve };
