'use strict';
// trunkline: a shared pool of MCP server connections. The public names; `index.d.ts` documents them.

const { Refusal, TrunklineError } = require('./lib/errors.cjs');
const { EventStream } = require('./lib/events.cjs');
const { Lease } = require('./lib/lease.cjs');
const { Logs, startLogs } = require('./lib/logs.cjs');
const { Pool, detect } = require('./lib/pool.cjs');
const {
  CallResult,
  CompletionResult,
  PromptResult,
  ResourceResult,
  Result,
} = require('./lib/results.cjs');
const { HostConnection, Session } = require('./lib/session.cjs');

module.exports = {
  CallResult,
  CompletionResult,
  EventStream,
  HostConnection,
  Lease,
  Logs,
  Pool,
  PromptResult,
  Refusal,
  ResourceResult,
  Result,
  Session,
  TrunklineError,
  detect,
  startLogs,
};
