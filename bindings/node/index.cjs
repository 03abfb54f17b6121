'use strict';
// trunkline: a shared pool of MCP server connections. The public names; `index.d.ts` documents them.

const { detect } = require('./lib/detect.cjs');
const { TrunklineError } = require('./lib/errors.cjs');
const { EventStream } = require('./lib/events.cjs');
const { Refusal } = require('./lib/handlers.cjs');
const { HostConnection } = require('./lib/hosted.cjs');
const { Lease } = require('./lib/lease.cjs');
const { Logs, startLogs } = require('./lib/logs.cjs');
const { Pool } = require('./lib/pool.cjs');
const {
  CallResult,
  CompletionResult,
  PromptResult,
  ResourceResult,
  Result,
} = require('./lib/results.cjs');
const { Session } = require('./lib/session.cjs');

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
