'use strict';
// Promises of the addon: their errors, and their cancellation by an AbortSignal.

const { errorOf, invalidArgument, nodeCode } = require('./errors.cjs');
const { bridge } = require('./native.cjs');

const CANCELLED = nodeCode('cancelled');

/**
 * Awaits what `start(number)` returns. With a signal, its abort cancels the operation, and the promise then rejects with the
 * signal's reason; a result that came first is still a result.
 */
async function settle(signal, start) {
  if (signal === undefined || signal === null) {
    try {
      return await start(undefined);
    } catch (reason) {
      throw errorOf(reason);
    }
  }
  return settleUntilAbort(checked(signal), start);
}

async function settleUntilAbort(signal, start) {
  signal.throwIfAborted();
  const number = bridge.reserve();
  const cancel = () => bridge.cancel(number);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await start(number);
  } catch (reason) {
    const error = errorOf(reason);
    throw signal.aborted && error.code === CANCELLED ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function checked(signal) {
  if (typeof signal.aborted === 'boolean' && typeof signal.addEventListener === 'function') return signal;
  throw invalidArgument('`signal` must be an AbortSignal', 'signal');
}

module.exports = { settle };
