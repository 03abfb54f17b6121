'use strict';
// Event streams: the subscription to the addon, and the async iterator over it.

const { errorOf, fromFields, guarded, invalidArgument } = require('./errors.cjs');
const { inspected, shown, spellDocument, toCamel } = require('./names.cjs');
const { bridge, register, registry, unregister } = require('./native.cjs');
const { split } = require('./options.cjs');

let kindsByName;

/** The number of each kind of event, by its name. */
function eventKinds() {
  kindsByName ??= new Map(registry.events.map((row) => [row.type, row.bit]));
  return kindsByName;
}

/** Events taken from the addon at once: a stream never decodes much more than it is asked for. */
const BATCH = 64;

/** Streams that somebody waits for are not collected, even if nobody else holds them. */
const awaited = new Set();

/** A subscription to events, and the owner that hears when some wait. */
class Subscription {
  #native;
  #number;
  #onReadable;

  constructor(native, onReadable) {
    this.#native = native;
    this.#number = native.number();
    this.#onReadable = onReadable;
    register(this.#number, this);
  }

  onReadable() {
    this.#onReadable();
  }

  /** The text of what the events continue; empty once closed. */
  get snapshot() {
    return this.#native.snapshot();
  }

  /** Up to `most` events that wait, as the library spells them: `decodeEvent` is for the code that hands one out. */
  take(most) {
    const text = this.#native.take(most);
    return text === '' ? [] : JSON.parse(text);
  }

  /** Whether nothing waits, and nothing will come. */
  get isEnded() {
    return this.#native.isEnded();
  }

  hold() {
    awaited.add(this);
  }

  letGo() {
    awaited.delete(this);
  }

  close() {
    this.letGo();
    unregister(this.#number, this);
    this.#native.close();
  }
}

/** Events, one by one: `for await (const event of pool.events())`. Leaving the loop unsubscribes. */
class EventStream {
  /** What it listens to: that would close, and the stream end, if it were collected; and what serves it would be silent. */
  #target;
  #subscription;
  /** Its text, until somebody looks: most never do, and it is as long as the pool is large. */
  #snapshot;
  #events = [];
  #waiting = [];
  #kinds;

  constructor(native, target, kinds) {
    this.#target = target;
    this.#kinds = kinds;
    this.#subscription = new Subscription(native, () => this.#serve());
    this.#snapshot = this.#subscription.snapshot;
  }

  /** `{v, seq, status}` at the moment of subscribing; the events continue it. */
  get snapshot() {
    if (typeof this.#snapshot === 'string') {
      this.#snapshot = this.#snapshot === '' ? undefined : decodeEvent(JSON.parse(this.#snapshot));
    }
    return this.#snapshot;
  }

  next() {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#serve();
    });
  }

  async return(value) {
    this.#end();
    return { done: true, value };
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  [inspected](...how) {
    return shown(this, () => ({ kinds: this.#kinds, ended: this.#subscription === undefined }), how);
  }

  #serve() {
    while (this.#waiting.length > 0) {
      const event = this.#take();
      if (event === undefined) break;
      this.#waiting.shift()({ done: false, value: event });
    }
    if (this.#waiting.length === 0) this.#subscription?.letGo();
    else if (this.#subscription === undefined || this.#subscription.isEnded) this.#end();
    else this.#subscription.hold();
  }

  #take() {
    if (this.#events.length === 0 && this.#subscription !== undefined) {
      this.#events = this.#subscription.take(BATCH).reverse();
    }
    const event = this.#events.pop();
    return event === undefined ? undefined : decodeEvent(event);
  }

  #end() {
    this.#subscription?.close();
    this.#subscription = undefined;
    this.#target = undefined;
    this.#events = [];
    for (const resolve of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
  }
}
const asyncDispose = Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose');
Object.defineProperty(EventStream.prototype, asyncDispose, {
  value: async function dispose() {
    await this.return();
  },
});

/** A stream over `target`, whose native half is given, of these kinds, or of all. */
function openStream(native, target, options) {
  const { kinds = eventKinds().keys() } = split(options, ['kinds']).own;
  if (typeof kinds === 'string' || typeof kinds[Symbol.iterator] !== 'function') {
    throw invalidArgument('option `kinds` must be a list of kinds of events', 'kinds');
  }
  const list = [...kinds];
  const numbers = kindNumbers(list);
  return new EventStream(guarded(() => native.subscribe(numbers)), target, list);
}

/** The numbers of these kinds. */
function kindNumbers(kinds) {
  return Array.from(kinds, (kind) => {
    const number = eventKinds().get(kind);
    if (number === undefined) throw unknownEvent(kind, 'kinds');
    return number;
  });
}

/** The error of a kind that there is not, which stands in the argument of that name; with the one that was probably meant. */
function unknownEvent(kind, path) {
  return errorOf(bridge.unknownEvent(String(kind), path), unknownEvent);
}

function decodeEvent(event) {
  return spellDocument(event, toCamel, fromFields);
}

/** Tells a function of the host's. What that throws, or rejects with, goes to `failed`, and it is told what follows. */
function tell(listener, event, failed) {
  try {
    const answer = listener(decodeEvent(event));
    if (typeof answer?.then === 'function') answer.then(undefined, failed);
  } catch (error) {
    failed(error);
  }
}

module.exports = { EventStream, Subscription, asyncDispose, decodeEvent, eventKinds, kindNumbers, openStream, tell, unknownEvent };
