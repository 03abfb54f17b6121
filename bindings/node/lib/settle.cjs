'use strict';
// Promises of the addon: their errors, and their cancellation by an AbortSignal.

const { errorOf, invalidArgument, nodeCode } = require('./errors.cjs');
const { audiences, bridge } = require('./native.cjs');

const CANCELLED = nodeCode('cancelled');

/** Per signal the operations that its abort cancels, and the one listener for them all: many would draw a warning from Node. */
const watched = new WeakMap();

/**
 * Awaits what `start(number)` returns. With a signal, its abort cancels the operation, and the promise then rejects with the
 * signal's reason; a result that came first is still a result. An audience is told the operation's progress.
 */
async function settle(signal, start, audience) {
  if (checkSignal(signal) !== undefined) return settleUntilAbort(signal, start, audience);
  const number = audience === undefined ? undefined : bridge.reserve();
  return settleNumbered(number, start, audience);
}

async function settleUntilAbort(signal, start, audience) {
  if (signal.aborted) throw reasonOf(signal);
  const number = bridge.reserve();
  watch(signal, number);
  try {
    return await settleNumbered(number, start, audience);
  } catch (error) {
    throw signal.aborted && error.code === CANCELLED ? reasonOf(signal) : error;
  } finally {
    unwatch(signal, number);
  }
}

async function settleNumbered(number, start, audience) {
  if (audience !== undefined) audiences.set(number, audience);
  try {
    return await start(number);
  } catch (reason) {
    throw errorOf(reason);
  } finally {
    if (audience !== undefined) audiences.delete(number);
    keptUntilHere(start);
  }
}

/** Does nothing: what a suspended function goes on to name is not collected, nor what a closure among that refers to. */
function keptUntilHere(_kept) {}

function watch(signal, number) {
  const { numbers } = watched.get(signal) ?? listen(signal);
  numbers.add(number);
}

function listen(signal) {
  const numbers = new Set();
  const listener = () => numbers.forEach((number) => bridge.cancel(number));
  signal.addEventListener('abort', listener, { once: true });
  const entry = { numbers, listener };
  watched.set(signal, entry);
  return entry;
}

function unwatch(signal, number) {
  const { numbers, listener } = watched.get(signal);
  numbers.delete(number);
  if (numbers.size > 0) return;
  signal.removeEventListener('abort', listener);
  watched.delete(signal);
}

/** Why it was aborted. Those that are not the platform's own may have neither a reason nor what else came with it. */
function reasonOf(signal) {
  return signal.reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : signal.reason;
}

/** The signal, or undefined for none. */
function checkSignal(signal) {
  if (signal === undefined || signal === null) return undefined;
  const isTarget = typeof signal.addEventListener === 'function' && typeof signal.removeEventListener === 'function';
  if (typeof signal.aborted === 'boolean' && isTarget) return signal;
  throw invalidArgument('`signal` must be an AbortSignal', 'signal');
}

module.exports = { checkSignal, keptUntilHere, settle };
