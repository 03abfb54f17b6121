'use strict';
// The addon, its one bridge in this environment, and the end of the environment.

const addon = require('./addon.cjs');

/** Subscriptions and desks by number, held weakly: an abandoned one can be collected, and unsubscribes then. */
const subscriptions = new Map();

/** Who is told the progress of an operation, by its number: a function of the text of its events. */
const audiences = new Map();

/** What `async_hooks` shows of the environment. Tools that look for what keeps a process alive ask it. */
const resource = { hasRef: () => bridge.isHeld() };

const bridge = new addon.Bridge(
  (number) => subscriptions.get(number)?.deref()?.onReadable(),
  (number, events) => audiences.get(number)?.(events),
  // Bun exports the functions of libuv, and ends the process when one is called. Deno has no scope for handles where an environment
  // ends, and crashes there when the addon gives an asynchronous context back.
  process.versions.bun === undefined && process.versions.deno === undefined,
  resource,
);

/** The registry. A process that begins needs little of it: each part is read when it is first asked for. */
const registry = {};
for (const part of ['errors', 'events', 'envelope', 'options', 'telemetry']) {
  const get = () => {
    const value = JSON.parse(bridge.registry(part));
    Object.defineProperty(registry, part, { enumerable: true, value });
    return value;
  };
  Object.defineProperty(registry, part, { configurable: true, enumerable: true, get });
}

/**
 * The desk of each native pool and session, which alone keeps it: handlers may refer to their session, and one that is forgotten
 * has to be collected.
 */
const desks = new WeakMap();

const forgotten = new FinalizationRegistry((number) => subscriptions.delete(number));

/** From now on `subscription.onReadable()` is called when the native subscription with that number has events. */
function register(number, subscription) {
  subscriptions.set(number, new WeakRef(subscription));
  forgotten.register(subscription, number, subscription);
}

/** The counterpart of `register`. */
function unregister(number, subscription) {
  subscriptions.delete(number);
  forgotten.unregister(subscription);
}

let isWatchingExit = false;

/**
 * Ends what the host left open when it exits. Node runs no native clean-up on `process.exit`, and after the `exit` event nothing
 * can await; the end of a worker that is terminated is seen by the addon itself.
 */
function watchExit() {
  if (isWatchingExit) return;
  isWatchingExit = true;
  process.on('exit', () => {
    // Loading it takes as long as a tenth of everything here, so that it is not done before.
    const { isMainThread } = require('node:worker_threads');
    if (isMainThread) bridge.endProcess();
    else bridge.endEnvironment();
  });
}

/** Makes the native pool. */
function openPool(options, desk) {
  const pool = bridge.newPool(options, desk);
  watchExit();
  return pool;
}

module.exports = { audiences, bridge, desks, openPool, register, registry, unregister };
