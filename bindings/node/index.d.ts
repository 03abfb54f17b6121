// Types of trunkline: a shared pool of MCP server connections.
//
// Durations are integer milliseconds. Every promise rejects with a `TrunklineError`, or with `signal.reason` when its own
// `signal` was aborted.

/// <reference types="node" />

import { EventEmitter } from 'node:events';

import type {
  Abortable,
  AcquireOptions,
  CallOptions,
  ConfigureOptions,
  DrainOptions,
  LoadOptions,
  PoolOptions,
  ReloadOptions,
  StatusOptions,
  ServerConfig,
  Servers,
  SessionOptions,
  GateLists,
  SignInOptions,
  WaitOptions,
} from './options.js';
import type { EntryState, EventKind, EventOf, EventsOptions, TrunklineEvent } from './events.js';
import type {
  Approvals,
  DetectedFile,
  DrainReport,
  Explanation,
  GateReport,
  Introduction,
  ReconcileReport,
  ReloadReport,
  RuntimeReport,
  SettledReport,
  SourceReport,
  StartedReport,
  Status,
} from './reports.js';

export type * from './events.js';
export type * from './options.js';
export type * from './reports.js';

/** Any JSON object. */
export type JsonObject = { [name: string]: unknown };

// ---------------------------------------------------------------------------------------------- Errors

/** The stable codes of errors. */
export type ErrorCode =
  | 'TRUNKLINE_INVALID_ARGUMENT'
  | 'TRUNKLINE_UNKNOWN_OPTION'
  | 'TRUNKLINE_BAD_HANDLE'
  | 'TRUNKLINE_CLOSED'
  | 'TRUNKLINE_CLOSING'
  | 'TRUNKLINE_FORKED'
  | 'TRUNKLINE_CANCELLED'
  | 'TRUNKLINE_TIMEOUT'
  | 'TRUNKLINE_INVALID_CONFIG'
  | 'TRUNKLINE_UNDEFINED_VARIABLE'
  | 'TRUNKLINE_NOT_ADMITTED'
  | 'TRUNKLINE_STALE_APPROVAL'
  | 'TRUNKLINE_BUDGET_EXHAUSTED'
  | 'TRUNKLINE_LIMIT'
  | 'TRUNKLINE_SPAWN_FAILED'
  | 'TRUNKLINE_CONNECT_FAILED'
  | 'TRUNKLINE_EXITED'
  | 'TRUNKLINE_PROTOCOL'
  | 'TRUNKLINE_AUTH_REQUIRED'
  | 'TRUNKLINE_UNAVAILABLE'
  | 'TRUNKLINE_CALL_INTERRUPTED'
  | 'TRUNKLINE_TOOL_NOT_FOUND'
  | 'TRUNKLINE_SERVER_ERROR'
  | 'TRUNKLINE_DECLINED'
  | 'TRUNKLINE_CRASH_LOOP'
  | 'TRUNKLINE_STORE'
  | 'TRUNKLINE_WRONG_THREAD'
  | 'TRUNKLINE_INTERNAL'
  | 'TRUNKLINE_UNSTABLE';

/** Thrown by a handler: the server gets this JSON-RPC error in place of an answer. */
export class Refusal extends Error {
  /** -1 stands for a user who declines; any integer of 32 bits is a code. */
  constructor(code: number, message: string);
  readonly name: 'Refusal';
  readonly code: number;
}

/** Why an operation failed. */
export class TrunklineError extends Error {
  private constructor();
  readonly name: 'TrunklineError';
  /** Stable; new codes may be added. */
  readonly code: ErrorCode;
  /** The server it is about. */
  readonly server?: string;
  /** The session it is about. */
  readonly session?: string;
  /** Whether the same operation may succeed later without a change by the user. */
  readonly retryable: boolean;
  /** For calls: whether the server can have seen it. */
  readonly outcome?: 'not_sent' | 'unknown';
  /** Particulars for programs. */
  readonly detail: JsonObject;
  /** What the user can do about it. */
  readonly hint?: string;
  /** The error that led to this one. */
  readonly cause?: unknown;
  /** The arguments of a tool's call that was interrupted, for the caller alone: not enumerable, so that printing the error does not show them. */
  readonly arguments?: unknown;
  /** Everything but the arguments and the stack. */
  toJSON(): JsonObject;
}

// --------------------------------------------------------------------------------------------- Results

/** The answer of a server to a request, decoded when somebody looks. */
export class Result {
  protected constructor();
  /** The JSON text exactly as received: large numbers and the order of members survive in it. A clone or spread does not have it. */
  readonly raw: string;
  /** The decoded answer. A clone or spread has the members below, and of a result without any this one. */
  readonly value: JsonObject;
  /** Its `_meta`. */
  readonly meta: JsonObject | undefined;
  toJSON(): JsonObject;
}

/** A content block; servers may send types that are newer than these. */
export type ContentBlock =
  | { type: 'text'; text: string; [name: string]: unknown }
  | { type: 'image' | 'audio'; data: string; mimeType: string; [name: string]: unknown }
  | { type: 'resource'; resource: ResourceContents; [name: string]: unknown }
  | { type: 'resource_link'; uri: string; name: string; [name: string]: unknown };

/** The result of a tool call. */
export class CallResult extends Result {
  readonly content: ContentBlock[];
  readonly structuredContent: JsonObject | undefined;
  /** Whether the tool reports an error: that is a result, not an exception. */
  readonly isError: boolean;
}

/** One piece of a resource: text or base64. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  [name: string]: unknown;
}

/** A resource that was read. */
export class ResourceResult extends Result {
  readonly contents: ResourceContents[];
}

/** A prompt. */
export class PromptResult extends Result {
  readonly description: string | undefined;
  readonly messages: Array<{ role: 'user' | 'assistant'; content: ContentBlock }>;
}

/** Completions. */
export class CompletionResult extends Result {
  readonly completion: { values: string[]; total?: number; hasMore?: boolean };
}

/** A tool, prompt, resource or resource template in a view. */
export interface Listed {
  /** Tools: the exposed name. Others: the server's own name, or URI. */
  name: string;
  server: string;
  /** The server's own name, or URI. */
  ownName: string;
  /** Whether the session trusts the server. */
  trust: boolean;
  /** Tools: whether the session wants it loaded whatever else is deferred. */
  alwaysLoad: boolean;
  /** Whether it is known from an earlier list, and the session does not hold its server: a call starts the server, or waits for it. */
  deferred: boolean;
  /** The definition as the server sent it. */
  definition: JsonObject;
}

/**
 * A list, and its number in its session, from 1: lists that differ have different ones, and later ones no smaller ones; whether an item is
 * deferred makes no difference. A list whose number is the `revision` of its own `…_changed` event, or greater, has what the event tells.
 * Resources and their templates share their numbers; other kinds count for themselves.
 */
export type List<T> = T[] & { readonly revision: number };

/** How a model API takes tools. */
export type Shape = 'mcp' | 'openai' | 'openai_responses' | 'anthropic' | 'gemini' | 'any';

// ---------------------------------------------------------------------------------------------- Events

/** A record of what the library logs. */
export interface LogRecord {
  /** Milliseconds since 1970. */
  timeMs: number;
  level: LogLevel;
  /** `trunkline.` and the place. */
  logger: string;
  /** A constant; what varies is in `fields`. */
  message: string;
  fields: JsonObject;
}

/** How urgent a record is, the most urgent first. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** What `startLogs` started. */
export class Logs {
  private constructor();
  /** Ends it, once the function was told what was logged so far. Repeating it does nothing. */
  close(): void;
}

/**
 * Tells a function what the library logs from a level on (default `info`), in batches, on this thread. 4096 records wait for it at most, and one
 * says how many were dropped. The process has one such function: starting it again, on whichever thread, takes its place. It does not keep
 * the process alive. Nothing is logged without it.
 */
export function startLogs(listener: (records: LogRecord[]) => void, options?: { level?: LogLevel }): Logs;

/** Events, one by one. It does not keep the process alive; leaving a `for await` loop over it unsubscribes. */
export class EventStream<E = TrunklineEvent> implements AsyncIterableIterator<E> {
  private constructor();
  /** The pool's status at the moment of subscribing; the events continue it. */
  readonly snapshot: { v: number; seq: number; status: Status } | undefined;
  next(): Promise<IteratorResult<E, undefined>>;
  return(value?: unknown): Promise<IteratorResult<E, undefined>>;
  [Symbol.asyncIterator](): this;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Events for listeners. A listener that throws ends up at `uncaughtException`. Listeners do not keep the process alive; they keep
 * the pool or session that they listen to, until they are removed or it is closed.
 */
declare class Emitter extends EventEmitter {
  on<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  addListener<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  once<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  prependListener<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  prependOnceListener<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  off<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  removeListener<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  /** A stream of the same events. */
  events<K extends EventKind = EventKind>(options?: EventsOptions<K>): EventStream<EventOf<K | 'lagged'>>;
}

// --------------------------------------------------------------------------------------- Settings files

/**
 * The settings files of products that exist for this user and a workspace, the current directory by default. Some fifty paths are looked
 * up at once; nothing is opened.
 */
export function detect(workspace?: string): { v: number; files: DetectedFile[] };

// ----------------------------------------------------------------------------------------- Pool and below

/** The connections of one workspace. */
export class Pool extends Emitter {
  /** Returns at once; throws for a wrong option. */
  constructor(options?: PoolOptions);
  /** The capability tags of this version. */
  static features(): string[];
  /** Opens a session. Returns at once; the servers that it wants start in the background. */
  session(id: string, options?: SessionOptions): Session;
  /** A lease for a session by its id, which is opened if need be. */
  acquire(
    server: string,
    config: ServerConfig,
    options: AcquireOptions & { session: string },
  ): Promise<Lease>;
  /**
   * Makes these the servers of the pool: starts what is new, releases what is gone, leaves alone what is equal. An abort does not take back a
   * change that was begun.
   */
  reconcile(servers: Servers, options?: Abortable): Promise<ReconcileReport>;
  /**
   * Replaces the connections of a server's entries, or of the one with that index. One report per entry, with the `reason` when it
   * was not restarted: `in_flight`, `disabled`, `auth_required`, `not_admitted`, `budget_would_exceed`, `superseded` (the server
   * is configured otherwise now), `failed` or `closing`.
   */
  restart(server: string, index?: number | null, options?: Abortable): Promise<unknown>;
  /**
   * Accepts the definition of a tool that is kept back, of a server that needed approval in later processes too. `digest` is `difference.to` of
   * the `tool_quarantined` event, or of the status: what is accepted is what was shown.
   */
  acceptTool(server: string, tool: string, digest: string, options?: Abortable): Promise<void>;
  /**
   * Replaces the folders that servers are told of: absolute, or relative to the workspace. Servers that can be told are told so, and the lists
   * of every connection are asked for again, in the background. Equal folders do nothing; one that is no folder is refused, with nothing changed.
   * Changes are made in the order of the calls. A file system that does not answer keeps this waiting and the changes after it, and nothing else.
   * An abort does not take back a change that was begun.
   */
  setRoots(roots: string[], options?: Abortable): Promise<void>;
  /**
   * Replaces the lists of servers that may run, within `launchAllowed` of the pool's options. What is no longer admitted ends at once; what is
   * admitted again starts in the sessions that want it. A lease on what was kept out stays closed. Equal lists do nothing. It does not wait.
   */
  setGates(lists: GateLists): GateReport;
  /**
   * Reads a settings file into the source that its place implies; its servers start in the sessions that want them. A file inside of the
   * workspace is a source `workspace`, its `.mcp.json` `project`, and its servers wait for approval; one outside is `user`.
   */
  load(path: string | URL, options?: LoadOptions): Promise<SourceReport>;
  /**
   * Replaces a source whole by settings, in any form that settings files have; null removes it. `source` is a scope, or one and a name of its
   * own, as in `extension:tools`. Variables are expanded, and what a `project` or `workspace` gives waits for approval. It does not wait.
   */
  setSource(source: string, settings: string | JsonObject | null): SourceReport;
  /** Switches a source off, so that it is as if it were empty, or on again; a scope by itself stands for all of its sources. */
  switchSource(source: string, to: 'on' | 'off'): SourceReport;
  /** Adds a server to the run-time source, which beats every other, or replaces it there. One that is refused starts when what refuses it is gone. */
  addServer(server: string, config: ServerConfig): RuntimeReport<'added' | 'replaced' | 'unchanged' | 'refused'>;
  /** Takes a server out of the run-time source. What another source says of it counts again. */
  removeServer(server: string): RuntimeReport<'removed' | 'not_present'>;
  /**
   * Says whether the workspace is trusted. What needs trust and has it no more ends at once; files that were not read without it are read
   * before anything of them starts. Of several calls the last that was made holds, whichever of their files take how long.
   */
  setTrusted(trusted: boolean, options?: Abortable): Promise<SourceReport>;
  /** Reads every loaded file again and looks everything up anew. */
  reload(options?: ReloadOptions): Promise<ReloadReport>;
  /** What waits for approval, and what was decided for this workspace. */
  approvals(options?: Abortable): Promise<Approvals>;
  /**
   * Lets the configuration run whose request with that hash was shown; it starts in the sessions that want it. When the server is configured
   * otherwise by now, the code of the error is `TRUNKLINE_STALE_APPROVAL`.
   */
  approve(server: string, hash: string, options?: Abortable): Promise<SourceReport>;
  /** Keeps the configuration with that hash from running, which ends at once if it runs; nobody is asked again. */
  reject(server: string, hash: string, options?: Abortable): Promise<SourceReport>;
  /** Forgets every decision about a server, so that it waits for approval again; `forgotten` counts them. */
  forget(server: string, options?: Abortable): Promise<SourceReport & { forgotten: number }>;
  /** Waits until nothing that configuration caused is under way, and says how each server of a source stands. */
  settled(options?: WaitOptions): Promise<SettledReport>;
  /**
   * Begins to sign in to a remote server: a person has to visit `url`, and what they are redirected to goes to `finishSignIn`. Nothing is
   * opened, and no port is listened on.
   */
  signIn(server: string, options?: SignInOptions): Promise<{ v: 1; server: string; url: string; expiresInMs: number }>;
  /**
   * Ends a sign-in with the whole address that the person was redirected to. The server is then connected to for those who want it. With a
   * file of `tokens`, `stored` says whether it is in there, and `error` why it is not.
   */
  finishSignIn(redirectUrl: string | URL, options?: Abortable): Promise<{ v: 1; server: string; stored?: boolean; error?: unknown }>;
  /** Forgets what was signed in for a server, and a sign-in that is under way. */
  signOut(server: string, options?: Abortable): Promise<{ v: 1; server: string; signedOut: boolean }>;
  /**
   * Why a server, or a tool by its exposed name, is there or is not, by what the pool knows. What a session hides or switches off is told by
   * the session's own `explain`.
   */
  explain(name: string): Explanation;
  /** The whole pool. Always works, and never shows a secret. */
  status(options?: StatusOptions): Status;
  /**
   * What `status` counts, in the text format of Prometheus (0.0.4), for the host to serve. Labels are names of servers, methods of the protocol
   * and codes of errors: nothing that a model or a server writes.
   */
  metrics(options?: StatusOptions): string;
  /** Ends everything, one-way. */
  drainAll(options?: DrainOptions): Promise<DrainReport>;
  /** Drains with the defaults, then ends every subscription. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** One conversation: its holds on servers, and its view of their tools. Its leases, calls, streams and listeners keep it. */
export class Session extends Emitter {
  private constructor();
  readonly id: string;
  /** A lease, once the server is connected. With `config`, the server is first put into the session's own source. */
  acquire(server: string, config?: ServerConfig | null, options?: AcquireOptions): Promise<Lease>;
  /**
   * Waits until each server that the session wants is ready, has failed or sleeps, at most until the pool's `startGateMs` have passed since
   * the session was opened, and says how each of them stands. A server that is slow or fails is no error; events tell what comes later.
   */
  started(options?: Abortable): Promise<StartedReport>;
  /** Waits until every server that the session wants is ready, has failed or sleeps: then it is listed and runs for calls only. None is tried anew,
   * and no failure is the error: what failed stands in the status, in `started()` and in the log. */
  ready(options?: WaitOptions): Promise<void>;
  /** Waits for one server, whose failure is the error. One that failed is tried once more. */
  ready(server: string, options?: WaitOptions): Promise<void>;
  /** Has the lists of a server read anew, which is acquired for that. Rejects with why no list could be had; one that fails alone keeps its last state. */
  refresh(server: string, options?: Abortable): Promise<void>;
  /** Waits, at most 5 s, until no list of the session's servers, or of this one, is being read or has to be: `tools` has what was announced then. */
  listed(server?: string | null, options?: Abortable): Promise<void>;
  /** What a server that the session holds said of itself; null before it was connected to. */
  introduction(server: string): Introduction | null;
  /** The tools of its view. Those that were listed keep their places within the session, and new ones come after them. */
  tools(): List<Listed>;
  /**
   * The tools of its view in the shape in which a model API takes them, in the order and with the number of `tools`. Schemas are as the
   * servers sent them, but for what the API refuses. `openai` is that of Chat Completions.
   */
  toolsFor(shape: Shape): List<JsonObject>;
  /** The prompts of its view. */
  prompts(): List<Listed>;
  /** The resources of its view. */
  resources(): List<Listed>;
  /** The resource templates of its view. */
  resourceTemplates(): List<Listed>;
  /**
   * Changes what it sees and wants, at once and without touching a connection. Events tell what is different. Other `roots` are told to the
   * servers of its own connections, whose lists are then asked for again; they are looked at before this returns, for which a file system that
   * does not answer may keep the event loop waiting.
   */
  configure(options: ConfigureOptions): void;
  /**
   * Provides a server of the host's own to this session alone, for `acquire`; it is never shared.
   *
   * `receive` gets each message of the pool, the text of one JSON-RPC message, in their order, and answers by `connection.send`, then
   * or later; `closed` is told last. Both may be async. What they throw ends the connection, and is told as a process warning. A
   * server that is lost is connected anew, with another connection. Providing a name again replaces it for acquires to come.
   */
  provide(
    server: string,
    receive: (connection: HostConnection, frame: string) => unknown,
    closed?: (connection: HostConnection) => unknown,
  ): void;
  /** Why a server, or a tool by its exposed name, is there for this session or is not. */
  explain(name: string): Explanation;
  /** Takes a server away from this session alone; its leases are of no use until `enable`. Calls under way finish. */
  disable(server: string): void;
  /** Undoes `disable`: the server is acquired again in the background, and events tell when it is back. */
  enable(server: string): void;
  /** Calls a tool by its exposed name. */
  callTool(tool: string, args?: JsonObject | null, options?: CallOptions): Promise<CallResult>;
  /** Ends it: its calls are cancelled, its holds go now or after `keepForMs`. No listener and no handler of it is called any more. */
  close(options?: { keepForMs?: number }): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The server's end of a connection with a server that the host provides. */
export class HostConnection {
  private constructor();
  /** A number that no other connection of the process has or had. */
  readonly id: number;
  /** Sends one JSON-RPC message of the server. Throws `limit` while too many wait to be read, `closed` once it is over. */
  send(frame: string): void;
  /** Ends the connection from the server's side. What was sent before still counts. */
  close(): void;
}

/** A session's hold on a server. */
export class Lease {
  private constructor();
  /** The server's name. */
  readonly server: string;
  /** The entry's index: per server name, stable, never reused. */
  readonly entryIndex: number;
  /** The incarnation of the connection; grows with each reconnect. */
  readonly generation: number;
  readonly state: EntryState;
  /** What the server said of itself when it was connected to last; null before that. */
  introduction(): Introduction | null;
  /** How the server says that it is to be used, in words for a model. */
  readonly instructions: string | null;
  /** The server's name, version and what else it says of itself. */
  readonly serverInfo: JsonObject | null;
  /** What the server says that it offers. */
  readonly capabilities: JsonObject | null;
  /** The revision of the protocol that is spoken with the server. */
  readonly protocolVersion: string | null;
  /** The tools of this server in the session's view. */
  tools(): Listed[];
  /** Calls a tool by the server's own name. */
  callTool(tool: string, args?: JsonObject | null, options?: CallOptions): Promise<CallResult>;
  /** Any other request. Calls of tools and subscriptions have methods of their own, and are `TRUNKLINE_INVALID_ARGUMENT` here. */
  request(method: string, params?: JsonObject | null, options?: CallOptions): Promise<Result>;
  /** Reads a resource, text or base64. */
  readResource(uri: string, options?: CallOptions): Promise<ResourceResult>;
  /** Gets a prompt, filled in with its arguments. */
  getPrompt(name: string, args?: Record<string, string> | null, options?: CallOptions): Promise<PromptResult>;
  /** Completions of an argument of a prompt or resource template. */
  complete(params: JsonObject, options?: CallOptions): Promise<CompletionResult>;
  /**
   * From now on the session gets `resource_updated` for this resource; of a modern server also for a part of it, by the `uri` of the whole.
   * Counted: each needs its `unsubscribeResource`.
   */
  subscribeResource(uri: string, options?: Abortable): Promise<void>;
  /** The counterpart of `subscribeResource`: with the last the session gets no more of them. */
  unsubscribeResource(uri: string, options?: Abortable): Promise<void>;
  /** Gives the hold up; calls in flight go on. Repeating it does nothing. */
  release(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}
// Without this line every declaration of the file counts as exported, `Emitter` too.
export {};
