// Types of what trunkline answers: reports of what was done.
//
// Durations are integer milliseconds. Members may be added to each.

import type { JsonObject, TrunklineError } from './index.js';
import type { SourceScope } from './options.js';
import type { ToolFormat } from './shapes.js';
import type { ApprovalState, EntryPlace } from './status.js';

/** What became of one server. */
export interface ServerReport {
  action: ServerAction;
  /** Why it was refused. */
  reason?: string;
  error?: TrunklineError;
}

/** What was done with a server; words may be added. */
export type ServerAction =
  | 'unchanged'
  | 'reviewed'
  | 'added'
  | 'replaced'
  | 'removed'
  | 'invalid'
  | 'refused'
  | 'waiting'
  | (string & {});

/** What a reconcile did. */
export interface ReconcileReport {
  v: number;
  servers: Record<string, ServerReport>;
  findings?: UnknownMember[];
}

/** A member of a server's configuration that no rule knows; it has no effect. */
export interface UnknownMember {
  kind: 'unknown';
  server: string;
  path: string;
  /** The known member that was probably meant. */
  nearest?: string;
}

/** What a change of the gates did: the servers about which it changed. */
export interface GateReport {
  v: number;
  servers: Record<string, { admitted: boolean; reason?: string }>;
}

/** What a change of sources, trust or decisions did: the servers that it is about, and others that it changed. */
export interface SourceReport {
  v: number;
  /** The source that was changed, as in `user` or `project:/path/.mcp.json`. */
  source?: string;
  servers: Record<string, SourcedServer>;
  /** Of `load`, `setSource` and `reload`: what of the settings has no effect, or is read other than it is written. */
  findings?: Finding[];
}

/** What of settings has no effect, or is read other than it is written. */
export interface Finding {
  kind: string;
  path: string;
  line: number;
  column: number;
  server?: string;
  /** Of an entry that is part of the product itself, what it is. */
  what?: string;
  /** Of a reload, whose it is. */
  source?: string;
}

/** What became of one server of a source. */
export interface SourcedServer extends ServerReport {
  source?: string;
}

/** What a reload did, and the files that cannot be read. */
export interface ReloadReport extends SourceReport {
  errors: Array<{ source: string; error: TrunklineError }>;
  /** With `reconnect`: by server what became of each of its entries, as `restart` says it. */
  reconnected?: Record<string, RestartedEntry[]>;
}

/** What a restart did. */
export interface RestartReport {
  v: number;
  entries: RestartedEntry[];
}

/** What a restart did with one entry. */
export interface RestartedEntry {
  /** Null for a server without an entry. */
  entryIndex: number | null;
  restarted: boolean;
  durationMs?: number;
  /** Why it was not restarted; reasons may be added. */
  reason?:
    | 'in_flight'
    | 'disabled'
    | 'auth_required'
    | 'not_admitted'
    | 'budget_would_exceed'
    | 'superseded'
    | 'failed'
    | 'closing'
    | (string & {});
  error?: TrunklineError;
}

/** What became of a server of the run-time source. */
export interface RuntimeReport<Result extends string> {
  v: number;
  server: string;
  result: Result;
  /** Why it was refused. */
  reason?: string;
  findings?: UnknownMember[];
}

/** A server that waits for approval, in exact and in escaped form: `docs/guide/approvals.md`. */
export interface ApprovalRequest {
  server: string;
  /** What a decision carries. */
  hash: string;
  origin: { scope: SourceScope; file: string | null; line: number | null };
  transport: string;
  exact: JsonObject;
  escaped: { line: string; server: string; text: string } & JsonObject;
  /** Names of variables; no value of one is ever told. */
  env: string[];
  unsetEnv: string[];
  inheritEnv: string[];
  envFile: string | null;
  /** Names of headers. */
  headers: string[];
  /** What it takes of the host by name, and the fields that it goes into. */
  takes: Array<{ kind: 'env' | 'input' | 'secret'; name: string; fields: string[] }>;
  /** Where its sign-in leads to, and what it asks for there. */
  oauth: {
    addresses: Array<{ field: string; address: string; otherOrigin: boolean }>;
    grant: string | null;
    clientId: string | null;
    scopes: string[];
    audiences: string[];
    others: string[];
  } | null;
  /** What its file declares of the inputs that it takes. */
  inputs: Array<{
    id: string;
    kind: 'text' | 'choice' | 'command';
    command: string | null;
    choices: string[];
    default: string | null;
    description: string | null;
    secret: boolean;
  }>;
  /** The entry of the same name that it would take the place of. */
  hides: EntryPlace | null;
  /** What of its program is another than was looked at; the path is escaped. */
  replaced: {
    file: 'program' | 'interpreter';
    path: string;
    difference: 'other_file' | 'size' | 'content' | 'time';
  } | null;
  risks: JsonObject[];
  /** What is different since the last decision about that name. */
  changes: JsonObject | null;
}

/** What waits for approval, and what was decided for this workspace. */
export interface Approvals {
  v: number;
  root: string;
  requests: ApprovalRequest[];
  decisions: Array<{ server: string; hash: string; decision: 'approved' | 'rejected'; atMs: number }>;
}

/** How every server stands that a source names. */
export interface SettledReport {
  v: number;
  servers: Record<
    string,
    {
      state: 'ready' | 'failed' | 'refused' | 'waiting' | 'off';
      source: string;
      file?: string;
      reason?: string;
      error?: TrunklineError;
    }
  >;
}

/** How every server stands that a session wants. */
export interface StartedReport {
  v: number;
  servers: Record<
    string,
    {
      state: 'ready' | 'failed' | 'waiting' | 'asleep';
      /** While it waits or sleeps: how many tools are listed of what is kept. */
      deferred?: number;
      /** Why it failed, why there is no room for it, or how the last start of one that sleeps ended. */
      error?: TrunklineError;
    }
  >;
}

/** Why a server or a tool is there, or is not. */
export interface Explanation {
  v: number;
  name: string;
  kind: 'server' | 'tool';
  /** Of a tool: the server that it is of, or would be by its name. */
  server?: string;
  available: boolean;
  /** The first that applies; reasons may be added. */
  reason?: string;
  message: string;
  /** Where it is said. */
  from?: { source: string; file?: string; line?: number; list?: string };
  /** Of a server: the entries that would take its place, and may not run. */
  waiting?: Array<EntryPlace & { reason: string; approvalState: ApprovalState }>;
  /** Of a server: the entry whose place it has. */
  hides?: EntryPlace;
  /** What helps. */
  remedy?: string;
  /** Filters that do nothing; without a pattern: the server is configured nowhere. */
  unmatched?: Array<{
    option: 'include' | 'exclude' | 'trust' | 'always_load';
    server: string;
    by: 'server' | 'session';
    pattern?: string;
    /** The server that is probably meant. */
    meant?: string;
  }>;
  /** Of a tool, by a session: members of its definition that have the wrong type, each as a JSON pointer. They count as absent. */
  leftOut?: Array<{ path: string; reason: string }>;
  /** Of a tool, by a session: what becomes of its arguments in a shape that takes them otherwise than they are. */
  shapes?: Partial<Record<ToolFormat, ShapedArguments>>;
}

/** What becomes of a tool's arguments in the shape of a model API. */
export interface ShapedArguments {
  /** By the name in the shape, the tool's own. */
  renamed?: Record<string, string>;
  /** What their schema does not say any more, each as a JSON pointer. */
  leftOut?: Array<{ path: string; reason: string }>;
}

/** What a drain did. */
export interface DrainReport {
  v: number;
  drained: number;
  forced: number;
  errors: Array<{ server: string | null; entryIndex: number | null; error: TrunklineError }>;
}

/** A settings file of a product. */
export interface DetectedFile {
  path: string;
  /** Whose it is, as in `docs/reference/settings.md`. */
  format: SettingsFormat;
  /** Which source it belongs to. */
  scope: 'user' | 'project' | 'workspace' | 'managed';
}

/** The products whose settings are read. */
export type SettingsFormat =
  | 'trunkline'
  | 'claude-code'
  | 'claude-desktop'
  | 'vscode'
  | 'cursor'
  | 'windsurf'
  | 'codex'
  | 'gemini'
  | 'qwen'
  | 'cline'
  | 'roo'
  | 'kiro'
  | 'copilot-cli'
  | 'opencode'
  | 'zed'
  | 'goose'
  | 'continue'
  | 'fastmcp'
  | 'mcporter'
  | 'mcp-hub'
  | 'mcpproxy';

/** What a server said of itself: unverified, in the protocol's spelling, and without the secrets that it has of the host. */
export interface Introduction {
  /** The revision of the protocol that is spoken with it. */
  protocolVersion: string;
  /** Its name, version and what else it says of itself. */
  serverInfo: JsonObject;
  /** What it says that it offers. */
  capabilities: JsonObject;
  /** How it is to be used, in words for a model. */
  instructions: string | null;
}
