'use strict';
// Results of servers: the text exactly as received, decoded when somebody looks.

const { inspect } = require('node:util');

/** The answer to a request. */
class Result {
  #raw;
  #value;

  constructor(raw) {
    this.#raw = raw;
  }

  /** The JSON text exactly as the server sent it; large numbers and the order of members survive in it. */
  get raw() {
    return this.#raw;
  }

  /** The decoded answer. */
  get value() {
    return (this.#value ??= JSON.parse(this.#raw));
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

/** The result of a tool call. */
class CallResult extends Result {
  /** The content blocks. */
  get content() {
    return this.value.content ?? [];
  }

  /** The structured content, if any. */
  get structuredContent() {
    return this.value.structuredContent;
  }

  /** Whether the tool reports an error. */
  get isError() {
    return this.value.isError === true;
  }
}

/** A resource that was read. */
class ResourceResult extends Result {
  /** Its contents. */
  get contents() {
    return this.value.contents ?? [];
  }
}

/** A prompt. */
class PromptResult extends Result {
  /** Its description, if any. */
  get description() {
    return this.value.description;
  }

  /** Its messages. */
  get messages() {
    return this.value.messages ?? [];
  }
}

/** Completions. */
class CompletionResult extends Result {
  /** `{values, total?, hasMore?}` */
  get completion() {
    return this.value.completion;
  }
}

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

module.exports = {
  CallResult,
  CompletionResult,
  PromptResult,
  ResourceResult,
  Result,
  decodeList,
  decodeNumbered,
  decodeShaped,
};
