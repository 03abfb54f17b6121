// Types of what trunkline tells without being asked: events.
//
// Durations are integer milliseconds.

import type { TrunklineError } from './index.js';
import type { ApprovalRequest, Finding, ServerReport } from './reports.js';

/** What every event carries. */
export interface EventEnvelope {
  v: number;
  /** Orders the events of a pool, its sessions' included. */
  seq: number;
  scope: 'pool' | 'session' | 'workspace' | 'subscriber';
  session?: string;
  server?: string;
  entryIndex?: number;
  generation?: number;
}

/** The visible states of an entry. */
export type EntryState =
  | 'spawning'
  | 'active'
  | 'draining'
  | 'reconnecting'
  | 'auth_required'
  | 'failed'
  | 'closed';

/** How a list of a session's view changed. */
export interface ListChange {
  added: string[];
  removed: string[];
  changed: string[];
  revision: number;
}

/** What is different about a tool that is kept back: digests, and excerpts of the server's own members. */
export interface ToolDifference {
  from?: string;
  to: string;
  fields?: Record<string, { from?: string; to?: string }>;
}

/** What is taken of the budget: names of servers that run, and of those that are to run. */
export interface BudgetFigures {
  mode: 'warn' | 'enforce';
  budget: number;
  live: number;
  reserved: number;
}

/** A server that was refused, and why. */
export interface RefusedServer {
  server: string;
  transport: string;
  reason: string;
}

/** What each kind of event carries besides the envelope. */
export interface EventPayloads {
  status_changed: { from?: EntryState; to: EntryState; reason: string };
  tools_changed: ListChange;
  prompts_changed: ListChange;
  resources_changed: ListChange;
  /** Of a modern server also of a part of it, by the `uri` of the whole. */
  resource_updated: { uri: string };
  disconnected: { reason: string; error?: TrunklineError };
  reconnected: { attempts: number; downtimeMs: number };
  failed: { error: TrunklineError };
  progress: { call: number; progress: number; total?: number; message?: string };
  log: { level: string; logger?: string; data: unknown };
  stderr: { line: string };
  approval_needed: { requests: ApprovalRequest[] };
  auth_required: { url?: string; missing?: string; scope?: string; resourceMetadata?: string };
  budget_warning: BudgetFigures & { ratio: number };
  refused_batch: BudgetFigures & { refused: RefusedServer[] };
  source_changed: { source: string; accepted: boolean; findings?: Finding[] };
  source_error: { source: string; path?: string; line?: number; message: string };
  reconciled: { servers: Record<string, ServerReport> };
  tool_quarantined: { tool: string; difference: ToolDifference };
  server_ready: { left: string[] };
  warning: { code: string; message: string };
  /** What a server asked the session to have opened, by the handler `elicitationUrl` or in an error, is over. */
  elicitation_completed: { elicitationId: string };
  lagged: { missed: number };
}

/** The kinds of event. */
export type EventKind = keyof EventPayloads;

/** One event of a kind. */
export type EventOf<K extends EventKind> = K extends EventKind
  ? EventEnvelope & { type: K } & EventPayloads[K]
  : never;

/** One event. */
export type TrunklineEvent = EventOf<EventKind>;

/** Which events a stream has. */
export interface EventsOptions<K extends EventKind = EventKind> {
  /** All by default. `lagged` always comes. */
  kinds?: Iterable<K> | null | undefined;
}
