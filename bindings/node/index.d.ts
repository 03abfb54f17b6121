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
  RestartReport,
  RuntimeReport,
  SettledReport,
  SourceReport,
  StartedReport,
} from './reports.js';
import type { ToolFormat, ToolShapes } from './shapes.js';
import type { Status } from './status.js';

export type * from './events.js';
export type * from './options.js';
export type * from './reports.js';
export type * from './shapes.js';
export type * from './status.js';

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

/** The answer of a server to a request. A long one is decoded when somebody looks. */
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

/**
 * A tool, prompt, resource or resource template in a view. It is frozen, with all that is in it: others that asked for the list have it too.
 * `structuredClone` makes a copy that can be changed.
 */
export interface ListedItem {
  /** Tools: the exposed name. Others: the server's own name, or URI. */
  readonly name: string;
  readonly server: string;
  /** The server's own name, or URI. */
  readonly ownName: string;
  /** Whether the session trusts the server. */
  readonly trust: boolean;
  /** Tools: whether the session wants it loaded whatever else is deferred. */
  readonly alwaysLoad: boolean;
  /** Whether it is known from an earlier list, and the session does not hold its server: a call starts the server, or waits for it. */
  readonly deferred: boolean;
  /** The definition as the server sent it. */
  readonly definition: Readonly<JsonObject>;
}

/**
 * A list, and its number in its session, from 1: lists that differ have different ones, and later ones no smaller ones; whether an item is
 * deferred makes no difference. A list whose number is the `revision` of its own `…_changed` event, or greater, has what the event tells.
 * Resources and their templates share their numbers; other kinds count for themselves.
 */
export type List<T> = T[] & { readonly revision: number };

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
export function startLogs(listener: (records: LogRecord[]) => void, options?: { level?: LogLevel | null | undefined }): Logs;

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

/** Events of Node's own, and of the host's own. */
type OtherEvent = symbol | 'error' | 'newListener' | 'removeListener';

/**
 * Events for listeners. A listener that throws ends up at `uncaughtException`. Listeners do not keep the process alive; they keep
 * the pool or session that they listen to, until they are removed or it is closed.
 */
declare class Emitter extends EventEmitter {
  on<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  on(name: OtherEvent, listener: (...given: any[]) => void): this;
  addListener<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  addListener(name: OtherEvent, listener: (...given: any[]) => void): this;
  once<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  once(name: OtherEvent, listener: (...given: any[]) => void): this;
  prependListener<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  prependListener(name: OtherEvent, listener: (...given: any[]) => void): this;
  prependOnceListener<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  prependOnceListener(name: OtherEvent, listener: (...given: any[]) => void): this;
  off<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  off(name: OtherEvent, listener: (...given: any[]) => void): this;
  removeListener<K extends EventKind>(kind: K, listener: (event: EventOf<K>) => void): this;
  removeListener(name: OtherEvent, listener: (...given: any[]) => void): this;
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
  // <operations pool> Written from core/pool/src/interface/operations; do not edit.
  /**
   * A lease on a server by its configuration, for a session by its id. It opens the session if need
   * be, puts the server into the session's own source, and waits until it is connected.
   *
   * `config`: what the settings of one server have (`{"command": ...}`). `session`: its id. Gives
   * the lease; `Lease.release` gives it up.
   *
   * Errors: those of `Session.acquire`.
   */
  acquire(server: string, config: ServerConfig, options: AcquireOptions & { session: string }): Promise<Lease>;
  /**
   * Replaces the connections of a server's entries, or of one of them, and waits for the new ones.
   *
   * `index`: of the one entry; all of the server's without one. Gives a report with `{entryIndex,
   * restarted, durationMs | reason}` for each entry; the reason is `in_flight`, `disabled`,
   * `auth_required`, `not_admitted`, `budget_would_exceed`, `superseded` (the server is configured
   * otherwise now, or no more), `failed` or `closing`.
   */
  restart(server: string, index?: number | null, options?: Abortable): Promise<RestartReport>;
  /**
   * Accepts the definition of a tool that is kept back. From then on it is listed and can be called
   * in every session, and, of a server that needed approval, in later processes. Accepting again
   * does nothing.
   *
   * `tool`: the server's own name. `digest`: `difference.to` of the `tool_quarantined` event, or of
   * the status, so that what is accepted is what was shown.
   *
   * Errors: `TRUNKLINE_STALE_APPROVAL` when the tool has changed again since,
   * `TRUNKLINE_TOOL_NOT_FOUND` when the server lists no tool of that name now,
   * `TRUNKLINE_INVALID_ARGUMENT` (also for a server that the pool never saw).
   */
  acceptTool(server: string, tool: string, digest: string, options?: Abortable): Promise<void>;
  /**
   * Replaces the folders that servers are told of, and waits until they are looked at. Servers that
   * can be told are told so, and the lists of every connection are asked for again, in the
   * background. Folders that are equal to those before do nothing. Changes are made in the order of
   * the calls. A file system that does not answer delays this change and later ones, and nothing
   * else. A cancellation takes no begun change back.
   *
   * `roots`: absolute, or relative to the workspace, as the option `roots` of the pool.
   *
   * Errors: `TRUNKLINE_INVALID_ARGUMENT` (with `detail.path`, `roots[0]`) for one that is not a
   * folder, with nothing changed.
   */
  setRoots(roots: string[], options?: Abortable): Promise<void>;
  /**
   * Replaces the lists of servers that may run, within the pool's option `launchAllowed`. A server
   * that is no longer admitted ends at once. A server that is admitted again starts in the sessions
   * that want it. A lease on a server that was kept out stays closed. Equal lists do nothing.
   * Returns at once.
   *
   * `lists`: any of `allowed`, `excluded` and `pending`, lists of patterns of names (`*` any
   * characters, `?` one). What is absent is not kept: without `allowed` all may run, and an empty
   * list is none. Gives the report `{v, servers: {name: {admitted, reason?}}}` of the servers about
   * which it changed.
   */
  setGates(lists: GateLists): GateReport;
  /**
   * Says why the pool has a server, or a tool by its exposed name, or has not. `Session.explain`
   * says what a session hides or switches off. Returns at once.
   *
   * Gives `{v, name, kind, server?, available, reason?, message, from?, remedy?}` with the kind
   * `server` or `tool`, and in `from` the `source`, `file`, `line` and `list` that decide.
   */
  explain(name: string): Explanation;
  /**
   * The whole pool: servers, entries, processes. It always works, and never shows a secret. With
   * `processes` it looks at more than the pool's own state.
   *
   * Gives the status.
   */
  status(options?: StatusOptions): Status;
  /**
   * Gives the counts of the status in the text format of Prometheus (0.0.4), for the host to serve.
   * Its labels are names of servers, methods of the protocol and codes of errors: nothing that a
   * model or a server writes.
   *
   * Gives the text.
   */
  metrics(options?: StatusOptions): string;
  /**
   * Ends every connection, one-way: later acquires, reconciles and restarts are refused as
   * `closing`. With `force`, calls under way are interrupted at once; otherwise they may finish
   * until the time is over. A cancellation ends the wait alone: the drain goes on.
   *
   * Gives the report, `{v, drained, forced, errors: [{server, entryIndex, error}]}`.
   */
  drainAll(options?: DrainOptions): Promise<DrainReport>;
  /**
   * Makes these servers the pool's run-time source, and waits until that is done. New servers start
   * in the sessions that want them; removed ones are released; equal ones stay untouched. A
   * cancellation takes no begun change back.
   *
   * `servers`: with or without a `mcpServers` around them. Gives the report, `{v, servers: {name:
   * {action, error?}}, findings?}`, with the members that no rule knows as `[{kind, server, path,
   * nearest?}]`.
   *
   * Errors: `TRUNKLINE_INVALID_CONFIG` when it is not an object of servers (a server that is wrong
   * spoils itself alone, in the report).
   */
  reconcile(servers: Servers, options?: Abortable): Promise<ReconcileReport>;
  /**
   * Reads a settings file into the source that its place implies, and waits until that is done.
   * Inside of the workspace that is `workspace`, or `project` for its `.mcp.json`; outside, what
   * the file is known as (`detect`), else `user`. Servers of the project and the workspace wait for
   * approval (`Pool.approve`). A cancellation takes no begun work back.
   *
   * `path`: absolute, or relative to the process's folder. Gives the report, `{v, source, servers:
   * {name: {action, source?, reason?, error?}}, findings}`. `findings` says what of the text is
   * without effect: `[{kind, path, line, column, server?, what?}]`.
   *
   * Errors: `TRUNKLINE_INVALID_CONFIG` (with `detail.source`, and `detail.line` where the text does
   * not parse) when the file cannot be read, with nothing changed.
   */
  load(path: string | URL, options?: LoadOptions): Promise<SourceReport>;
  /**
   * Replaces a source whole by settings, in any form that settings files have, or removes it. New
   * servers start in the sessions that want them; removed ones are released; equal ones stay
   * untouched. Variables are expanded, and servers of `project` and `workspace` wait for approval.
   * It asks nobody and returns once that is under way. The calling thread looks up programs and
   * files of variables of new servers, and the first time the file of approvals. So it waits for
   * the file system.
   *
   * `source`: a scope (`user`, `project`, `workspace`, `managed`, `session`, `launch` or
   * `extension`), or one with a name after a colon, such as `extension:git`. `settings`: as a
   * settings file; none removes the source. Gives the report of `Pool.load`.
   *
   * Errors: `TRUNKLINE_INVALID_CONFIG` for settings that cannot be read, with `detail.line`,
   * `TRUNKLINE_INVALID_ARGUMENT` (`runtime` has functions of its own).
   */
  setSource(source: string, settings: string | JsonObject | null): SourceReport;
  /**
   * Switches a source off, so that it is as if it were empty, or on again. Returns at once, as
   * `Pool.setSource`.
   *
   * `source`: as of `Pool.setSource`; a scope alone stands for all of its sources, those that come
   * later included. Gives the report of `Pool.load` without `findings`.
   */
  switchSource(source: string, to: 'on' | 'off'): SourceReport;
  /**
   * Adds a server to the run-time source, which beats every other, or replaces it there. Its values
   * are taken as they are. Returns at once, as `Pool.setSource`.
   *
   * `config`: what the settings of one server have (`{"command": ...}`). Gives `{v, server, result,
   * reason?, findings?}` with the result `added`, `replaced`, `unchanged` or `refused`, which
   * starts when what refuses it is gone, and with the members that no rule knows, as `[{kind,
   * server, path, nearest?}]`.
   */
  addServer(server: string, config: ServerConfig): RuntimeReport<'added' | 'replaced' | 'unchanged' | 'refused'>;
  /**
   * Takes a server out of the run-time source; what another source says of that name counts again.
   * Returns at once.
   *
   * Gives `{v, server, result}` with the result `removed` or `not_present`.
   */
  removeServer(server: string): RuntimeReport<'removed' | 'not_present'>;
  /**
   * Sets whether the workspace is trusted. A server that loses its trust ends at once; one that has
   * it again starts or waits for approval. Files that were not read without trust are read first.
   * Of several calls the last one made holds, no matter how long their files take. A cancellation
   * takes no begun work back.
   *
   * Gives the report of `Pool.approve`.
   */
  setTrusted(trusted: boolean, options?: Abortable): Promise<SourceReport>;
  /**
   * Reads every loaded file again, and waits until that is done. It looks up anew variables,
   * programs, decisions about servers, and questions without an answer. A file that cannot be read
   * keeps what it had. Files of sources that need trust are not read in a workspace that is not
   * trusted. The event `reconciled` that follows says what became of a `waiting` server. A
   * cancellation takes no begun work back.
   *
   * Gives `{v, servers, errors: [{source, error}], findings, reconnected?}`. `findings` are those
   * of every file that was read, as of `Pool.load`, each with its `source`. `reconnected` is there
   * when that was asked for: by server the rows of `Pool.restart`, or one with an `error` where it
   * could not be begun.
   */
  reload(options?: ReloadOptions): Promise<ReloadReport>;
  /**
   * Lists what waits for approval and what was decided for this workspace. It reads and follows
   * decisions that another process took meanwhile.
   *
   * Gives `{v, root, requests, decisions: [{server, hash, decision, atMs}]}`. A request says what
   * would run, with `server` and `hash`. Show `escaped` to decision makers, as it is; `exact` and
   * the file of `origin` hold what the settings hold, control characters and all, and are not for a
   * terminal.
   *
   * Errors: `TRUNKLINE_STORE` when the decisions cannot be read.
   */
  approvals(options?: Abortable): Promise<Approvals>;
  /**
   * Approves the configuration whose request with that hash was shown. Once the decision is kept,
   * the server starts in the sessions that want it. A rejection by another host that this one did
   * not see stays in force, and the report says so. A cancellation takes no begun work back.
   *
   * `hash`: of the request, so that what is decided is what was shown. Gives the report, `{v,
   * servers: {name: {action, source?, reason?, error?}}}`.
   *
   * Errors: `TRUNKLINE_STALE_APPROVAL` when the configuration is another by now, `TRUNKLINE_STORE`
   * when it cannot be kept, and is not in force then, `TRUNKLINE_INVALID_ARGUMENT` (also for a
   * server that needs no approval, or a text that is no hash).
   */
  approve(server: string, hash: string, options?: Abortable): Promise<SourceReport>;
  /**
   * Rejects the configuration with that hash: a running server ends, and nobody is asked about it
   * again. A cancellation takes no begun work back.
   *
   * `hash`: of the request, so that what is decided is what was shown. Gives the report of
   * `Pool.approve`.
   *
   * Errors: those of `Pool.approve`.
   */
  reject(server: string, hash: string, options?: Abortable): Promise<SourceReport>;
  /**
   * Forgets every decision about a server of this workspace, so that it waits for approval again. A
   * cancellation takes no begun work back.
   *
   * Gives `{v, forgotten, servers}`; `forgotten` counts the decisions.
   *
   * Errors: `TRUNKLINE_STORE` when that cannot be kept.
   */
  forget(server: string, options?: Abortable): Promise<SourceReport & { forgotten: number }>;
  /**
   * Waits until nothing that configuration caused is under way: no question to the host, no
   * connect. Says how every server stands that a source names.
   *
   * `timeoutMs`: by default as long as it takes: handlers have their time, connects theirs from
   * their turn on, and a file system that does not answer none. Gives `{v, servers: {name: {state,
   * source, reason?, error?, file?}}}` with the state `ready`, `failed`, `refused`, `waiting` or
   * `off`.
   *
   * Errors: `TRUNKLINE_TIMEOUT` (with `detail.servers`).
   */
  settled(options?: WaitOptions): Promise<SettledReport>;
  /**
   * Begins to sign in to a remote server, and waits for the address that a person has to visit.
   * What they are redirected to goes to `Pool.finishSignIn`. A sign-in to the same server that is
   * under way is over with it. The library opens no browser and listens on no port. What the
   * server's own `oauth` says goes before the options.
   *
   * Gives `{v, server, url, expiresInMs}`.
   *
   * Errors: `TRUNKLINE_PROTOCOL` when the server or an authorization server breaks a rule
   * (`detail.refused`), `TRUNKLINE_AUTH_REQUIRED` when there is nothing to sign in to,
   * `TRUNKLINE_INVALID_ARGUMENT` (also for a server that the pool does not know, or without a
   * redirect).
   */
  signIn(server: string, options?: SignInOptions): Promise<{ v: 1; server: string; url: string; expiresInMs: number }>;
  /**
   * Ends a sign-in with the whole address that the person was redirected to, and waits for the
   * token. The server is then connected to for those who hold or want it.
   *
   * Gives `{v, server}`, and with a file of `tokens` `stored` and, where that is false, `error`.
   *
   * Errors: `TRUNKLINE_PROTOCOL` (`detail.refused`), `TRUNKLINE_AUTH_REQUIRED` when the person or
   * the authorization server refused, `TRUNKLINE_INVALID_ARGUMENT` (also when it belongs to no
   * sign-in that is under way).
   */
  finishSignIn(
    redirectUrl: string | URL,
    options?: Abortable,
  ): Promise<{ v: 1; server: string; stored?: boolean; error?: TrunklineError }>;
  /**
   * Forgets what was signed in for a server, and a sign-in that is under way.
   *
   * Gives `{v, server, signedOut}`.
   *
   * Errors: `TRUNKLINE_STORE` when it is forgotten here and still in the file of `tokens`,
   * `TRUNKLINE_INVALID_ARGUMENT` (also for a server that the pool does not know).
   */
  signOut(server: string, options?: Abortable): Promise<{ v: 1; server: string; signedOut: boolean }>;
  // </operations pool>
  /** Keeps the process alive until `unref`, or until the pool is closed. Without it a pool lets the process end. */
  ref(): this;
  /** Undoes `ref`, however often that was called. */
  unref(): this;
  /**
   * Drains, then ends every subscription. With `force`, calls under way are interrupted at once; otherwise they may finish for
   * `timeoutMs`, or the pool's `closeTimeoutMs`. A second close waits for the first, and hurries it.
   */
  close(options?: Pick<DrainOptions, 'force' | 'timeoutMs'>): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** One conversation: its holds on servers, and its view of their tools. Its leases, calls, streams and listeners keep it. */
export class Session extends Emitter {
  private constructor();
  readonly id: string;
  // <operations session> Written from core/pool/src/interface/operations; do not edit.
  /**
   * An explicit lease on a server, once it is connected. Every acquire gives a lease of its own.
   *
   * `config`: none for a server that the pool knows; otherwise what the settings of one server
   * have, which is first put into the session's own source. Gives the lease; `Lease.release` gives
   * it up.
   */
  acquire(server: string, config?: ServerConfig | null, options?: AcquireOptions): Promise<Lease>;
  /**
   * Waits until each server that the session wants is ready, has failed or sleeps, and says how
   * each of them stands. The wait ends `startGateMs` of the pool after the session's opening. A
   * slow or failed server is no error; events tell what comes later.
   *
   * Gives `{v, servers: {name: {state, deferred?, error?}}}` with the state `ready`, `failed`,
   * `waiting` or `asleep`; `deferred` is there while it waits or sleeps, and counts the tools that
   * are listed of what is kept.
   */
  started(options?: Abortable): Promise<StartedReport>;
  /**
   * Reads the lists of a server anew, for servers that announce nothing, and waits until they are
   * in force. The call acquires the server: it first connects to a sleeping or lost one. A list
   * that fails alone keeps its last state, and a `warning` says so.
   *
   * Errors: those of `Session.acquire`, `TRUNKLINE_UNAVAILABLE` when the connection was lost
   * meanwhile, or why no list could be had.
   */
  refresh(server: string, options?: Abortable): Promise<void>;
  /**
   * Waits until no list of the session's servers is being read or owed, at most 5 s. A list that a
   * server announced before a result is then among the session's. Most often it does not wait.
   *
   * `server`: none for all; otherwise this one alone.
   */
  listed(server?: string | null, options?: Abortable): Promise<void>;
  /**
   * Gives what a server that the session holds said of itself, as `Lease.introduction` has it.
   *
   * Gives what `Lease.introduction` gives.
   *
   * Errors: `TRUNKLINE_NOT_ADMITTED` for a server that nobody has configured.
   */
  introduction(server: string): Introduction | null;
  /**
   * The tools of the session's view. A first list is sorted by exposed name; after that, tools that
   * were listed keep their places within the session, and new ones come after them.
   *
   * Gives a list of `{name, server, ownName, trust, alwaysLoad, deferred, definition}`, the
   * definitions as the servers sent them; it has a number, its revision.
   */
  tools(): List<ListedItem>;
  /**
   * The prompts of the session's view, as of `Session.tools`.
   *
   * Gives what `Session.tools` gives.
   */
  prompts(): List<ListedItem>;
  /**
   * The resources of the session's view, as of `Session.tools`; names are URIs.
   *
   * Gives what `Session.tools` gives.
   */
  resources(): List<ListedItem>;
  /**
   * The resource templates of the session's view, as of `Session.tools`; names are URI templates.
   *
   * Gives what `Session.tools` gives.
   */
  resourceTemplates(): List<ListedItem>;
  /**
   * Changes what a session sees and wants, at once and without touching a connection. Each option
   * replaces its old value; an absent one stays. Events tell the difference; equal options change
   * nothing. The servers of its own connections hear of other `roots`, and their lists are read
   * again. This thread looks at the folders, and a file system may keep it waiting.
   */
  configure(options: ConfigureOptions): void;
  /**
   * Says why this session has a server, or a tool by its exposed name, or has not. Beside what
   * `Pool.explain` says, the session's own servers, holds, switches and filters count.
   *
   * Gives what `Pool.explain` gives.
   */
  explain(name: string): Explanation;
  /**
   * Takes a server away from this session alone: its tools, prompts and resources go, its calls are
   * refused with the reason `disabled`, and the session holds it no longer. Calls under way finish.
   * Its leases stay, of no use until `Session.enable`. Repeating it does nothing.
   */
  disable(server: string): void;
  /**
   * Undoes `Session.disable`: the session acquires the server again in the background, and
   * `tools_changed` tells when it is back. Repeating it does nothing.
   */
  enable(server: string): void;
  /**
   * Calls a tool of the session's view by its exposed name (`mcp__server__tool`).
   *
   * `args`: as of `Lease.callTool`. Gives what `Lease.callTool` gives.
   *
   * Errors: those of `Lease.callTool`.
   */
  callTool(tool: string, args?: JsonObject | null, options?: CallOptions): Promise<CallResult>;
  /**
   * Sends any other request of the protocol to a server, as `Lease.request`. The server is acquired
   * for that: one that sleeps is connected to first, within the request's time.
   *
   * `params`: as of `Lease.request`. Gives what `Lease.request` gives.
   *
   * Errors: those of `Lease.request`, `TRUNKLINE_NOT_ADMITTED` and the others of `Session.acquire`,
   * with nothing sent.
   */
  request(server: string, method: string, params?: JsonObject | null, options?: CallOptions): Promise<Result>;
  /**
   * Reads a resource of a server, text or base64, as of `Session.request`.
   *
   * Gives the result.
   *
   * Errors: those of `Session.request`.
   */
  readResource(server: string, uri: string, options?: CallOptions): Promise<ResourceResult>;
  /**
   * Gets a prompt of a server, filled in with its arguments, as of `Session.request`.
   *
   * `name`: the server's own name. Gives the result.
   *
   * Errors: those of `Session.request`.
   */
  getPrompt(
    server: string,
    name: string,
    args?: Record<string, string> | null,
    options?: CallOptions,
  ): Promise<PromptResult>;
  /**
   * Asks a server for completions of an argument of a prompt or resource template, as of
   * `Session.request`.
   *
   * `params`: those of the request. Gives the result.
   *
   * Errors: those of `Session.request`.
   */
  complete(server: string, params: JsonObject, options?: CallOptions): Promise<CompletionResult>;
  // </operations session>
  /** Waits until every server that the session wants is ready, has failed or sleeps: then it is listed and runs for calls only. None is tried anew,
   * and no failure is the error: what failed stands in the status, in `started()` and in the log. */
  ready(options?: WaitOptions): Promise<void>;
  /** Waits for one server, whose failure is the error. One that failed is tried once more. */
  ready(server: string, options?: WaitOptions): Promise<void>;
  /**
   * The tools of its view in the shape in which a model API takes them, in the order and with the number of `tools`. Schemas are as the
   * servers sent them, but for what the API refuses. `openai` is that of Chat Completions. The array is the caller's own; the tools in it are
   * frozen, as those of `tools`.
   */
  toolsFor<Shape extends ToolFormat>(shape: Shape): List<Readonly<ToolShapes[Shape]>>;
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
  /** Ends it: its calls are cancelled, its holds go now or after `keepForMs`. No listener and no handler of it is called any more. */
  close(options?: { keepForMs?: number | null | undefined }): void;
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
  // <operations lease> Written from core/pool/src/interface/operations; do not edit.
  /**
   * Gives what the server of a lease said of itself at its last connection. Returns at once.
   *
   * Gives `{protocolVersion, serverInfo, capabilities, instructions}`, the values in the protocol's
   * spelling, unverified, and without the secrets that the server has of the host; nothing before
   * it was connected to.
   */
  introduction(): Introduction | null;
  /**
   * The tools of this server in the session's view, as of `Session.tools`.
   *
   * Gives what `Session.tools` gives.
   */
  tools(): ListedItem[];
  /**
   * Calls a tool by the server's own name. An error of a call that may have reached the server has
   * an `outcome`, and the arguments.
   *
   * `args`: an object; none for `{}`. Gives the result exactly as the server sent it, which may say
   * that the tool failed (`isError`).
   */
  callTool(tool: string, args?: JsonObject | null, options?: CallOptions): Promise<CallResult>;
  /**
   * Sends any other request of the protocol, and gives its result undecoded. The common ones and
   * their parameters: `resources/read` `{"uri"}`, `prompts/get` `{"name", "arguments"?}`,
   * `completion/complete` `{"ref", "argument", "context"?}`, `logging/setLevel` `{"level"}`.
   *
   * `params`: an object; none for `{}`. Gives the result exactly as the server sent it.
   *
   * Errors: those of `Lease.callTool`, `TRUNKLINE_INVALID_ARGUMENT` for `initialize`, for calls of
   * tools and for subscriptions, which have functions of their own, and for a prompt that the view
   * does not have.
   */
  request(method: string, params?: JsonObject | null, options?: CallOptions): Promise<Result>;
  /**
   * Reads a resource, text or base64.
   *
   * Gives the result.
   *
   * Errors: those of `Lease.request`.
   */
  readResource(uri: string, options?: CallOptions): Promise<ResourceResult>;
  /**
   * Gets a prompt, filled in with its arguments.
   *
   * Gives the result.
   *
   * Errors: those of `Lease.request`.
   */
  getPrompt(name: string, args?: Record<string, string> | null, options?: CallOptions): Promise<PromptResult>;
  /**
   * Asks for completions of an argument of a prompt or resource template, with the params of the
   * request.
   *
   * Gives the result.
   *
   * Errors: those of `Lease.request`.
   */
  complete(params: JsonObject, options?: CallOptions): Promise<CompletionResult>;
  /**
   * Subscribes the session to updates of a resource. They come as `resource_updated` events. A
   * modern server also sends those of a part, by the `uri` of the whole. All leases of the session
   * share one count: each subscription needs its `Lease.unsubscribeResource`.
   *
   * Errors: those of `Lease.request`.
   */
  subscribeResource(uri: string, options?: Abortable): Promise<void>;
  /**
   * The counterpart of `Lease.subscribeResource`: with the last the session gets no more updates.
   * Without any it does nothing.
   *
   * Errors: those of `Lease.request`.
   */
  unsubscribeResource(uri: string, options?: Abortable): Promise<void>;
  // </operations lease>
  /** How the server says that it is to be used, in words for a model. */
  readonly instructions: string | null;
  /** The server's name, version and what else it says of itself. */
  readonly serverInfo: JsonObject | null;
  /** What the server says that it offers. */
  readonly capabilities: JsonObject | null;
  /** The revision of the protocol that is spoken with the server. */
  readonly protocolVersion: string | null;
  /** Gives the hold up; calls in flight go on. Repeating it does nothing. */
  release(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}
// Without this line every declaration of the file counts as exported, `Emitter` too.
export {};
