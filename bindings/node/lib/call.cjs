'use strict';
// Requests to servers: what sessions and leases have in common.

const { errorOf } = require('./errors.cjs');
const { encodeArguments, encodeOptions, split } = require('./options.cjs');
const { CallResult } = require('./results.cjs');
const { settle } = require('./settle.cjs');

/** Calls a tool. One call into the addon, and nothing parsed before somebody looks at the result. */
async function callTool(native, tool, args, options) {
  const text = encodeArguments(args);
  if (options !== undefined) {
    return send(CallResult, options, (json, number) => native.callTool(tool, text, json, number));
  }
  try {
    return new CallResult(await native.callTool(tool, text));
  } catch (reason) {
    throw errorOf(reason);
  }
}

/** Sends what `start(optionsJson, number)` starts; the answer becomes a `Kind`. */
async function send(Kind, options, start) {
  const { own, rest } = split(options, ['signal']);
  const isPlain = rest === undefined || Object.keys(rest).length === 0;
  const json = isPlain ? undefined : encodeOptions('call', rest);
  return new Kind(await settle(own.signal, (number) => start(json, number)));
}

module.exports = { callTool, send };
