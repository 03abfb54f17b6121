'use strict';
// Requests to servers: what sessions and leases have in common.

const { TrunklineError, errorOf, textOf } = require('./errors.cjs');
const { tell } = require('./events.cjs');
const { encodeArguments, encodeOptions, readText, split } = require('./options.cjs');
const { CallResult } = require('./results.cjs');
const { checkSignal, keptUntilHere, settle } = require('./settle.cjs');

/**
 * Calls a tool. One call into the addon, and nothing parsed before somebody looks at the result. The owner is the session or lease,
 * whose handlers may have to answer meanwhile.
 */
async function callTool(native, tool, args, options, owner) {
  if (options !== undefined) {
    const start = (json, number) => native.callTool(readText(tool, 'tool'), encodeArguments(args), json, number);
    return send(CallResult, options, start, owner);
  }
  let answer;
  try {
    answer = native.callTool(readText(tool, 'tool'), encodeArguments(args));
  } catch (reason) {
    throw unsent(reason);
  }
  try {
    return new CallResult(await answer);
  } catch (reason) {
    throw errorOf(reason);
  } finally {
    keptUntilHere(owner);
  }
}

/** Sends what `start(optionsJson, number)` starts; the answer becomes a `Kind`. */
async function send(Kind, options, start, owner) {
  const { signal, json, audience } = begun(() => readOptions(options));
  try {
    return new Kind(await settle(signal, (number) => begun(start, json, number), audience));
  } finally {
    keptUntilHere([start, owner]);
  }
}

/** Begins a call. */
function begun(begin, ...given) {
  try {
    return begin(...given);
  } catch (reason) {
    throw unsent(reason);
  }
}

/** The error of what fails before the call is on its way. */
function unsent(reason) {
  const error = errorOf(reason);
  if (error instanceof TrunklineError) error.outcome = 'not_sent';
  return error;
}

function readOptions(options) {
  const { own, rest } = split(options, ['signal'], 'call');
  const { asked, audience } = progressOf(rest);
  const isPlain = asked === undefined || Object.keys(asked).length === 0;
  return { signal: checkSignal(own.signal), json: isPlain ? undefined : encodeOptions('call', asked), audience };
}

/** A function as `progress` asks for progress, and is told it. */
function progressOf(options) {
  const listener = options?.progress;
  if (typeof listener !== 'function') return { asked: options };
  return { asked: { ...options, progress: true }, audience: (texts) => JSON.parse(texts).forEach((event) => tell(listener, event, warn)) };
}

/** What it fails with is a warning of the process: the call, which may have done its work, goes on. */
function warn(error) {
  process.emitWarning(`a progress function failed: ${textOf(error)}`, { code: 'TRUNKLINE_PROGRESS_FAILED' });
}

module.exports = { callTool, send };
