'use strict';
// Events for listeners: `pool.on('tools_changed', …)`.

const { EventEmitter } = require('node:events');

const { errorOf, nodeCode } = require('./errors.cjs');
const { Subscription, decodeEvent, eventKinds, kindNumbers, unknownEvent } = require('./events.cjs');
const { bridge } = require('./native.cjs');

/** Events handed to listeners before other work of the event loop gets its turn. */
const BATCH = 256;

/** Events that are Node's: those about listeners, and what `events.once` and its like listen to beside what they wait for. */
const OF_NODE = new Set(['error', 'newListener', 'removeListener']);

/** Methods for the subclasses alone. */
const finish = Symbol('finish');
const detach = Symbol('detach');
const isOver = Symbol('isOver');

/**
 * An EventEmitter whose registry events come from the addon. It is subscribed to the kinds that have listeners, and to nothing
 * else; like every subscription it does not keep the event loop alive.
 */
class Emitter extends EventEmitter {
  #target;
  #subscription;
  /** The kinds that it is subscribed to. */
  #kinds = new Set();
  /** Of earlier subscriptions, not yet handed out. */
  #backlog = [];
  /** Of the subscription that it has, taken and not yet handed out. */
  #taken = [];
  #lastSeq = 0;
  /** Kinds that events up to `#lastSeq` were already delivered of. */
  #deliveredKinds = new Set();
  #isScheduled = false;
  /** Whether a kind may have lost its last listener. */
  #mayShrink = false;

  /** `target` is the native object whose events these are. */
  constructor(target) {
    super();
    this.#target = target;
  }

  /** Hands out what waits, then ends. */
  [finish]() {
    this.#dispatch(Infinity);
    this[detach]();
  }

  /** Ends: no listener is called any more. */
  [detach]() {
    this.#unsubscribe();
    this.#target = undefined;
  }

  /** Whether it has ended. */
  get [isOver]() {
    return this.#target === undefined;
  }

  on(name, listener) {
    checkName(name);
    super.on(name, listener);
    this.#follow(name);
    return this;
  }

  addListener(name, listener) {
    return this.on(name, listener);
  }

  prependListener(name, listener) {
    checkName(name);
    super.prependListener(name, listener);
    this.#follow(name);
    return this;
  }

  removeListener(name, listener) {
    super.removeListener(name, listener);
    this.#lose(name);
    return this;
  }

  off(name, listener) {
    return this.removeListener(name, listener);
  }

  removeAllListeners(...names) {
    super.removeAllListeners(...names);
    this.#lose(...names);
    return this;
  }

  #follow(name) {
    if (!eventKinds().has(name) || this.#kinds.has(name) || this.#target === undefined) return;
    this.#listenTo(new Set([...this.#kinds, name]));
  }

  #listenTo(kinds) {
    const subscription = this.#subscribe(kinds);
    if (subscription === undefined) return;
    this.#replace(subscription);
    this.#kinds = kinds;
  }

  /** A closed target has no more events, which is no reason for `on` to throw. */
  #subscribe(kinds) {
    try {
      const native = this.#target.subscribe(kindNumbers(kinds));
      return new Subscription(native, () => this.#dispatch(BATCH));
    } catch (reason) {
      const error = errorOf(reason);
      if (error.code === nodeCode('closed')) return undefined;
      throw error;
    }
  }

  /** The new subscription began before the old one is emptied, so nothing is lost; what both have is told apart by `seq`. */
  #replace(subscription) {
    const former = this.#subscription;
    this.#subscription = subscription;
    subscription.hold();
    if (former === undefined) return;
    const left = this.#taken.concat(takeAll(former).filter((event) => !this.#isDelivered(event)));
    this.#backlog = this.#backlog.concat(left);
    this.#taken = [];
    former.close();
    this.#lastSeq = Math.max(this.#lastSeq, this.#backlog.at(-1)?.seq ?? 0);
    this.#deliveredKinds = new Set(this.#kinds);
    this.#schedule();
  }

  /** In a later turn: until then a listener may be back, and what comes for it is not to be missed. */
  #lose(name) {
    const isOver = (kind) => this.#kinds.has(kind) && this.listenerCount(kind) === 0;
    if (name === undefined ? this.#kinds.size === 0 : !isOver(name)) return;
    this.#mayShrink = true;
    this.#schedule();
  }

  /**
   * Nothing comes of kinds that lost their last listener: it would push out what others wait for. But the backlog is handed out first: so it
   * grows once for each kind at most, by what one subscription holds, however listeners come and go.
   */
  #shrink() {
    const kinds = new Set([...this.#kinds].filter((kind) => this.listenerCount(kind) > 0));
    if (kinds.size === 0) this.#unsubscribe();
    else if (kinds.size < this.#kinds.size) {
      if (this.#backlog.length > 0) return;
      this.#listenTo(kinds);
    }
    this.#mayShrink = false;
  }

  #unsubscribe() {
    this.#subscription?.close();
    this.#subscription = undefined;
    this.#kinds.clear();
    this.#backlog = [];
    this.#taken = [];
  }

  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Events never keep the event loop alive. So it would sleep before the turn that this asks for, if it were not woken.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#dispatch(BATCH);
    }).unref();
    bridge.wake();
  }

  #dispatch(most) {
    if (this.#mayShrink) this.#shrink();
    for (let left = most; left > 0; left -= 1) {
      const event = this.#next();
      if (event === undefined) {
        if (this.#subscription?.isEnded) this.#unsubscribe();
        else if (this.#mayShrink) this.#schedule();
        return;
      }
      this.#emit(event);
    }
    this.#schedule();
  }

  #next() {
    if (this.#backlog.length > 0) return this.#backlog.shift();
    while (this.#taken.length === 0) {
      const taken = this.#subscription?.take(BATCH) ?? [];
      if (taken.length === 0) return undefined;
      this.#taken = taken.filter((event) => !this.#isDelivered(event));
    }
    return this.#taken.shift();
  }

  #isDelivered(event) {
    return event.seq <= this.#lastSeq && this.#deliveredKinds.has(event.type);
  }

  /** A listener that throws ends up at `uncaughtException`, as with every emitter; the events after it are not lost. */
  #emit(event) {
    try {
      this.emit(event.type, decodeEvent(event));
    } catch (error) {
      process.nextTick(() => {
        throw error;
      });
    }
  }
}

/** Of an event that there is not, a listener would never hear. Symbols are names that a host makes for itself. */
function checkName(name) {
  if (typeof name !== 'symbol' && !eventKinds().has(name) && !OF_NODE.has(name)) throw unknownEvent(name, 'event');
}

function takeAll(subscription) {
  const events = [];
  for (;;) {
    const taken = subscription.take(BATCH);
    if (taken.length === 0) return events;
    events.push(...taken);
  }
}

module.exports = { Emitter, detach, finish, isOver };
