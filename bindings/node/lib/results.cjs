'use strict';
// Results of servers: the text exactly as received, decoded when somebody looks.

const { inspect } = require('node:util');

const { fromFields } = require('./errors.cjs');
const { spellDocument, toCamel } = require('./names.cjs');

/** A pair of surrogates, half a pair, or any other escape. */
const ESCAPES = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\[^]/g;

/** The text with U+FFFD in place of half a pair of surrogates, which no encoder takes. */
function withWholeCharacters(text) {
  if (!text.includes('\\ud') && !text.includes('\\uD')) return text;
  return text.replace(ESCAPES, (escape) => (escape.length === 6 ? '\\ufffd' : escape));
}

/** The decoded answer: of its text, or of a text that its long strings were taken out of. */
function decoded(received) {
  if (typeof received === 'string') return JSON.parse(withWholeCharacters(received));
  const [around, strings, places] = received;
  const value = JSON.parse(withWholeCharacters(around.join('')));
  JSON.parse(places).forEach((place, number) => {
    const last = place.pop();
    place.reduce((inside, step) => inside[step], value)[last] = strings[number];
  });
  return value;
}

/** The text as it came: the library takes out no string that is written otherwise. */
function textOf(received) {
  if (typeof received === 'string') return received;
  const [around, strings] = received;
  return strings.reduce((text, string, number) => text + JSON.stringify(string).slice(1, -1) + around[number + 1], around[0]);
}

/** It is several times as fast as `Object.defineProperties`, and each call makes a result. What it defines is enumerable. */
const defineGetter = Object.prototype.__defineGetter__;

/** Getters by the name of the member, each of the decoded answer. */
function gettersOf(members) {
  return Object.entries(members).map(([name, of]) => [
    name,
    function () {
      return of(this.value);
    },
  ]);
}

/**
 * The answer to a request. Its members are its own, and decoded when somebody looks: a copy has them too, by `structuredClone`, by
 * `{...result}`, or in a message to a worker or another process.
 */
class Result {
  #received;
  #value;

  /** One that is of no kind has the whole answer as its member. */
  constructor(received, getters = WHOLE) {
    this.#received = received;
    for (const [name, getter] of getters) defineGetter.call(this, name, getter);
  }

  /** The JSON text exactly as the server sent it; large numbers and the order of members survive in it. Copies do not have it. */
  get raw() {
    return textOf(this.#received);
  }

  /** The decoded answer. Copies of a kind of result do not have it. */
  get value() {
    return (this.#value ??= decoded(this.#received));
  }

  /** Its `_meta`. */
  get meta() {
    return this.value._meta;
  }

  toJSON() {
    return this.value;
  }

  [inspect.custom](depth, options) {
    return `${this.constructor.name} ${inspect(this.value, options)}`;
  }
}

const { get: valueOf } = Object.getOwnPropertyDescriptor(Result.prototype, 'value');

const WHOLE = [['value', valueOf]];

/** A kind of result with these members, and with the answer's `_meta` as `meta`. */
function kind(members) {
  const getters = gettersOf({ ...members, meta: (value) => value._meta });
  return class extends Result {
    constructor(received) {
      super(received, getters);
    }
  };
}

/** The result of a tool call: its content blocks, the structured content, if any, and whether the tool reports an error. */
class CallResult extends kind({
  content: (value) => value.content ?? [],
  structuredContent: (value) => value.structuredContent,
  isError: (value) => value.isError === true,
}) {}

/** A resource that was read: its contents. */
class ResourceResult extends kind({ contents: (value) => value.contents ?? [] }) {}

/** A prompt: its description, if any, and its messages. */
class PromptResult extends kind({
  description: (value) => value.description,
  messages: (value) => value.messages ?? [],
}) {}

/** Completions: `{values, total?, hasMore?}`. */
class CompletionResult extends kind({ completion: (value) => value.completion }) {}

/** A list of a view, decoded: `[{name, server, ownName, definition}]`. */
function decodeList(text) {
  return spelled(JSON.parse(text));
}

/** A list of a session, with its number. */
function decodeNumbered(text) {
  const { revision, items } = JSON.parse(text);
  return withRevision(spelled(items), revision);
}

/** A list in the shape of a model API, which is nobody's to spell, with its number. */
function decodeShaped(text) {
  const { revision, items } = JSON.parse(text);
  return withRevision(items, revision);
}

/** The number is no element, and is not enumerated with them. */
function withRevision(list, revision) {
  return Object.defineProperty(list, 'revision', { value: revision });
}

function spelled(rows) {
  return rows.map(({ name, server, own_name: ownName, trust, always_load: alwaysLoad, deferred, definition }) => ({
    name,
    server,
    ownName,
    trust,
    alwaysLoad,
    deferred,
    definition,
  }));
}

/** What a server said of itself; null before it was connected to. Our own names alone are spelled: the rest is the protocol's. */
function decodeIntroduction(text) {
  if (text === null || text === undefined) return null;
  const { protocol_version: protocolVersion, server_info: serverInfo, capabilities, instructions } = JSON.parse(text);
  return { protocolVersion, serverInfo, capabilities, instructions };
}

/** A document of the library's, in the names of JavaScript. */
function report(text) {
  return spellDocument(JSON.parse(text), toCamel, fromFields);
}

module.exports = {
  CallResult,
  CompletionResult,
  PromptResult,
  ResourceResult,
  Result,
  decodeIntroduction,
  decodeList,
  decodeNumbered,
  decodeShaped,
  report,
};
