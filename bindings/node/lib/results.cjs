'use strict';
// What servers answer and list. A result keeps its text exactly as received; a long one is decoded when somebody looks.

const { fromFields } = require('./errors.cjs');
const { inspected, shown, spellDocument, toCamel } = require('./names.cjs');

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

/** They are several times as fast as `Object.defineProperties`. What they define is enumerable. */
const { __defineGetter__: defineGetter, __defineSetter__: defineSetter } = Object.prototype;

/** From here on a result is decoded when somebody looks; a shorter one is, for less than its getters cost. */
const LAZY_CHARACTERS = 4096;

/** The result itself, where a proxy of it or an object that inherits from it is asked. */
const SELF = Symbol('self');

/** A member, by what it is of the decoded answer. Once it is written, it is a member like any other. */
function member(name, of) {
  const get = function () {
    return of(this[SELF].value);
  };
  const set = function (value) {
    Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
  };
  return { name, of, get, set };
}

/**
 * The answer to a request. Its members are its own: a copy has them too, by `structuredClone`, by `{...result}`, or in a message to a
 * worker or another process. A long one is decoded when somebody looks, a short one at once; nothing else tells them apart.
 */
class Result {
  #received;
  #value;

  /** One that is of no kind has the whole answer as its member. */
  constructor(received, members = WHOLE) {
    this.#received = received;
    if (members !== WHOLE && typeof received === 'string' && received.length < LAZY_CHARACTERS) {
      this.#value = decoded(received);
      for (const { name, of } of members) this[name] = of(this.#value);
    } else this.#decodeLater(members);
  }

  /** Its getters are those of every result: what each result had of its own would live as long as its text. */
  #decodeLater(members) {
    Object.defineProperty(this, SELF, { value: this });
    for (const { name, get, set } of members) {
      defineGetter.call(this, name, get);
      defineSetter.call(this, name, set);
    }
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

  [inspected](...how) {
    return shown(this, () => this.value, how);
  }
}

const { get: valueOf } = Object.getOwnPropertyDescriptor(Result.prototype, 'value');

const WHOLE = [
  {
    ...member('value'),
    get() {
      return valueOf.call(this[SELF]);
    },
  },
];

/** A kind of result with these members, and with the answer's `_meta` as `meta`. */
function kind(named) {
  const members = Object.entries({ ...named, meta: (value) => value._meta }).map(([name, of]) => member(name, of));
  class Kind extends Result {
    constructor(received) {
      super(received, members);
    }
  }
  // The getter of every result would refuse a member of this name.
  return Object.defineProperty(Kind.prototype, 'meta', { value: undefined, writable: true }).constructor;
}

const EMPTY = new WeakMap();

/** What stands for a list that the answer lacks: the same one at each look. */
function emptyOf(value) {
  if (!EMPTY.has(value)) EMPTY.set(value, []);
  return EMPTY.get(value);
}

/** The result of a tool call: its content blocks, the structured content, if any, and whether the tool reports an error. */
class CallResult extends kind({
  content: (value) => value.content ?? emptyOf(value),
  structuredContent: (value) => value.structuredContent,
  isError: (value) => value.isError === true,
}) {}

/** A resource that was read: its contents. */
class ResourceResult extends kind({ contents: (value) => value.contents ?? emptyOf(value) }) {}

/** A prompt: its description, if any, and its messages. */
class PromptResult extends kind({
  description: (value) => value.description,
  messages: (value) => value.messages ?? emptyOf(value),
}) {}

/** Completions: `{values, total?, hasMore?}`. */
class CompletionResult extends kind({ completion: (value) => value.completion }) {}

/**
 * The lists of one session, decoded when they are other ones. Everybody who asks for one gets the same items, which are frozen for that.
 */
class Lists {
  /** By name the list that was given last: `{revision, mark, items}`. */
  #given = new Map();

  /** The list that `ask` has the text of. It gets the mark of the one that is here, and gives null where that one is still right. */
  listed(name, ask) {
    return this.#give(name, ask, spelled);
  }

  /** The same in the shape of a model API, whose members are nobody's to spell. */
  shaped(shape, ask) {
    return this.#give(shape, ask, (items) => items);
  }

  /** Nobody asks any more. */
  clear() {
    this.#given.clear();
  }

  #give(name, ask, spell) {
    let given = this.#given.get(name);
    const text = ask(given?.mark);
    if (text !== null) {
      const { revision, mark, items } = JSON.parse(text);
      given = { revision, mark, items: frozen(spell(items)) };
      this.#given.set(name, given);
    }
    const { revision, items } = given;
    // The number is no element, and is not enumerated with them.
    return Object.defineProperty([...items], 'revision', { value: revision });
  }
}

/** A list of a lease, decoded. */
function decodeList(text) {
  return [...frozen(spelled(JSON.parse(text)))];
}

/** `[{name, server, ownName, definition, …}]`. */
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

/** Freezes it, and all that is in it. A server may nest its definitions deeper than functions can call each other. */
function frozen(root) {
  const open = [root];
  while (open.length > 0) {
    const value = open.pop();
    for (const name in value) {
      // What is no object counts as frozen.
      if (!Object.isFrozen(value[name])) open.push(value[name]);
    }
    Object.freeze(value);
  }
  return root;
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
  Lists,
  PromptResult,
  ResourceResult,
  Result,
  decodeIntroduction,
  decodeList,
  report,
};
