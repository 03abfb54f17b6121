// Types of what `Pool.status` answers: `docs/guide/status.md` says what each member means.
//
// Durations are integer milliseconds. Members may be added to each, and words that a program does not know may come.

import type { JsonObject, TrunklineError } from './index.js';
import type { EntryState, ToolDifference } from './events.js';
import type { SourceScope } from './options.js';

/** The whole pool. */
export interface Status {
  v: number;
  initialized: boolean;
  scope: 'workspace';
  discovery: 'not_started' | 'in_progress' | 'completed';
  /** Whether the pool drains or has drained. */
  closing: boolean;
  totals: {
    servers: number;
    connected: number;
    connecting: number;
    failed: number;
    /** Kept out by a gate, which is no failure. */
    skipped: number;
    entries: number;
    sessions: number;
    sessionsKept: number;
  };
  /** Server processes that live, dying ones included. */
  processes: number;
  supervision: 'supervisor' | 'group' | 'job';
  budget: { limit: number | null; mode: 'off' | 'warn' | 'enforce'; live: number; reserved: number };
  /** The last servers that the budget or a limit refused, newest first. */
  refusals: Array<{ server: string; transport: string; reason: string; ageMs: number }>;
  /** The ids of the open sessions. */
  sessions: string[];
  /** Of each open session that made calls. */
  usage: SessionUsage[];
  servers: Record<string, ServerStatus>;
}

/** The calls of one session. */
export interface SessionUsage {
  session: string;
  calls: number;
  inFlight: number;
  errors: ErrorCount[];
  bytesSent: number;
  bytesReceived: number;
}

/** How often something failed with a code. */
export interface ErrorCount {
  /** The code as all languages have it, as in `connect_failed`. */
  code: string;
  count: number;
}

/** Why a server is not admitted, or is not ready; reasons may be added. */
export type ServerReason =
  | 'removed'
  | 'invalid_config'
  | 'untrusted'
  | 'excluded'
  | 'not_allowed'
  | 'disabled'
  | 'rejected'
  | 'pending_approval'
  | 'waiting'
  | 'connecting'
  | 'reconnecting'
  | 'budget'
  | 'auth_required'
  | 'failed'
  | 'closing'
  | 'asleep'
  | 'unused'
  | (string & {});

/** What was decided of a configuration. */
export type ApprovalState = 'not_required' | 'pending' | 'approved' | 'rejected';

/** Where an entry of settings stands. */
export interface EntryPlace {
  source: string;
  file: string | null;
  line: number | null;
}

/** One server. */
export interface ServerStatus {
  /** Whether a source names it. */
  configured: boolean;
  /** Whether it may run. */
  admitted: boolean;
  /** Why it is not admitted, or not ready. */
  reason: ServerReason | null;
  state: 'connected' | 'connecting' | 'disconnected';
  scope: 'workspace' | 'session';
  transport: string | null;
  era: 'legacy' | 'modern' | null;
  /** The scope of the source that it comes from. */
  origin: SourceScope;
  source: string | null;
  file: string | null;
  line: number | null;
  approvalState: ApprovalState;
  content: 'not_pinned' | null;
  authRequired: boolean;
  authNeed: {
    missing?: 'token' | 'scope' | 'permission';
    /** Where a person signs in, once a sign-in has begun. */
    url?: string;
    scope?: string;
    resourceMetadata?: string;
  } | null;
  /** The ids of the live sessions that have disabled it. */
  disabledBy: string[];
  pidCount: number;
  entryCount: number;
  /** Null without the option `processes`, and where it cannot be read. */
  memoryBytes: number | null;
  cpuMs: number | null;
  counts: {
    tools: number;
    prompts: number;
    resources: number;
    resourceTemplates: number;
    skipped: number;
    quarantined: number;
  };
  quarantined: Array<{ tool: string; difference: ToolDifference }>;
  skipped: Array<{ list: ListName; name: string | null; reason: string }>;
  usage: ServerUsage | null;
  errorCode: string | null;
  lastError: ErrorReport | null;
  hint: string | null;
  entries: EntryStatus[];
  /** The entries of project and workspace sources that would take its place and may not run. */
  waiting: Array<EntryPlace & { reason: string; approvalState: ApprovalState }>;
  /** The entry whose place it has. */
  hides: EntryPlace | null;
}

/** A list of the protocol. */
export type ListName = 'tools' | 'prompts' | 'resources' | 'resource_templates' | (string & {});

/** The calls of one server's name. */
export interface ServerUsage {
  errors: ErrorCount[];
  bytesSent: number;
  bytesReceived: number;
  durations: Array<{
    method: string;
    count: number;
    totalUs: number;
    /** Calls that took no longer than `leMs` and longer than the bucket before; null is beyond the last. */
    buckets: Array<{ leMs: number | null; count: number }>;
  }>;
}

/** An error as data, which nothing throws. */
export interface ErrorReport {
  /** The code as all languages have it, as in `connect_failed`. */
  code: string;
  number: number;
  message: string;
  retryable: boolean;
  server?: string;
  session?: string;
  outcome?: 'not_sent' | 'unknown';
  hint?: string;
  cause?: ErrorReport;
  detail: JsonObject;
}

/** One connection of a server. */
export interface EntryStatus {
  entryIndex: number;
  /** How many sessions hold it. */
  refs: number;
  state: EntryState;
  generation: number;
  uptimeMs: number | null;
  calls: number;
  errors: number;
  inFlight: number;
  losses: number;
  pid: number | null;
  era: 'legacy' | 'modern' | null;
  protocolVersion: string | null;
  /** What the server calls itself, escaped for a terminal. */
  serverName: string | null;
  serverVersion: string | null;
  serverInfo: JsonObject | null;
  capabilities: JsonObject | null;
  instructions: string | null;
  /** The lists that could not be read. */
  unlisted: Array<{ list: ListName; error: TrunklineError }> | null;
  /** The first lines that were no messages. */
  noise: string[] | null;
  ignored: { noise: number; replies: number; notifications: number } | null;
  /** Its last lines. */
  stderr: string[] | null;
}
