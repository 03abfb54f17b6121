// Types of what trunkline is given: options and configurations.
//
// Durations are integer milliseconds.

import type { EventOf, JsonObject, SettingsFormat, ToolFormat } from './index.js';

/** Options of a pool. */
export interface PoolOptions {
  /** The workspace folder; the current directory by default. */
  workspace?: string | null | undefined;
  /** Whether the workspace is trusted; default false. In one that is not only the sources of `untrustedSources` may start. */
  trusted?: boolean | null | undefined;
  /** Scopes of the sources that may start in an untrusted workspace; default launch, session and runtime. */
  untrustedSources?: Array<Exclude<SourceScope, 'project' | 'workspace'>> | null | undefined;
  /** Where decisions about servers are kept: `memory`, or the whole path of a file; by default a file in the platform's state folder. */
  approvals?: string | null | undefined;
  /** Where what servers listed last is kept for the next process: `on` is a folder in the platform's cache folder and the default, `off` is nowhere, anything else the whole path of a folder. */
  cache?: string | null | undefined;
  /** Whether commands in the values of settings (`!cmd`) run; default false. Those of the project and the workspace never do. */
  commands?: boolean | null | undefined;
  /** Threads of the internal runtime, 1 to 64, one setting per process; default 1. */
  workers?: number | null | undefined;
  /** Transports whose connections sessions share; default stdio and websocket, `[]` switches sharing off. */
  sharedTransports?: Array<'stdio' | 'http' | 'sse' | 'websocket'> | null | undefined;
  /** From the last release of a server to its close; default 30000. */
  drainDelayMs?: number | null | undefined;
  /** From first becoming idle to the close, whatever comes and goes between; default 300000. */
  idleCapMs?: number | null | undefined;
  /** From the close of stdin to SIGTERM; default 1000. */
  exitGraceMs?: number | null | undefined;
  /** From SIGTERM to SIGKILL; default 1000. */
  killGraceMs?: number | null | undefined;
  /** Connecting and listing together, 100 to 300000; default 30000 for stdio, 5000 for remote servers. */
  connectTimeoutMs?: number | null | undefined;
  /** A call in all; default 600000. */
  callTimeoutMs?: number | null | undefined;
  /** A call without progress; default 300000. */
  callIdleTimeoutMs?: number | null | undefined;
  /** What a handler has for its answer; default 600000. */
  handlerTimeoutMs?: number | null | undefined;
  /** Without traffic, until a server is asked whether it lives; default 30000. */
  keepaliveMs?: number | null | undefined;
  /** Missed answers in a row that count as loss; default 3. */
  keepaliveMisses?: number | null | undefined;
  /** How lost connections come back. */
  reconnect?: ReconnectOptions | null | undefined;
  /** How many servers may run, by name; any number by default. */
  budget?: BudgetOptions | null | undefined;
  /** Bounds, each with a typed refusal. */
  limits?: LimitOptions | null | undefined;
  /** How long `started` of a session waits for its servers, from its opening; default 250. */
  startGateMs?: number | null | undefined;
  /** When a close or a drain interrupts and kills what is left, unless it has a time of its own; default 10000. */
  closeTimeoutMs?: number | null | undefined;
  /** When servers start: with the session, the default, or at the first call of one of their tools. */
  start?: 'eager' | 'lazy' | null | undefined;
  /** Servers that connect at one time, those with `alwaysLoad` first; default two for each core, and at least 4. */
  startParallel?: number | null | undefined;
  /** Names or patterns of host variables that every server inherits. */
  inheritEnv?: string[] | null | undefined;
  /** The folders that servers are told of; the workspace by default. */
  roots?: string[] | null | undefined;
  /** What answers the servers of sessions without a handler of their own, and what settings ask for. */
  handlers?: Handlers | null | undefined;
  /** How a tool's name is made of its server's and its own; default `mcp__server__tool`. */
  nameStyle?: 'mcp__server__tool' | 'server__tool' | 'none' | null | undefined;
  /** Exposed names that the host keeps for itself. */
  reservedNames?: string[] | null | undefined;
  /** Where sign-ins are kept: `memory`, the default, or the whole path of a file. */
  tokens?: string | null | undefined;
  /** The whole path of a file that the status is written to each second, for other programs of the same user; none by default. */
  statusFile?: string | null | undefined;
  /** Patterns of the servers that may run (`*` any characters, `?` one); all by default, `[]` is none. */
  allowed?: string[] | null | undefined;
  /** Patterns of the servers that may not run, whatever else admits them. */
  excluded?: string[] | null | undefined;
  /** The upper bound of both: patterns of the servers that may run, whatever `setGates` says later; no bound by default. */
  launchAllowed?: string[] | null | undefined;
  /** What becomes of a tool whose definition changed: sessions hear of it, or it is kept back until `acceptTool`; by default kept back where the server needed approval, else told of. */
  onToolChange?: 'notify' | 'quarantine' | null | undefined;
  /** What becomes of a server that lists nothing: it is connected with a warning, or refused. */
  nothingListed?: 'warn' | 'error' | null | undefined;
  /** Who the host is, as servers are told at the handshake and by each request of the modern era; the library by default. */
  clientInfo?: ClientInfo | null | undefined;
}

/** Where a configuration comes from, low to high; what an extension says fills gaps alone. */
export type SourceScope = 'extension' | 'user' | 'project' | 'workspace' | 'managed' | 'session' | 'launch' | 'runtime';

/** What a host answers to servers. A handler's presence is what servers are offered. */
export interface Handlers {
  /** `sampling/createMessage`. */
  sampling?: Handler | null | undefined;
  /** `sampling/createMessage` with tools; where it stands alone, without them too. */
  samplingTools?: Handler | null | undefined;
  /** `elicitation/create` of a form. */
  elicitation?: Handler | null | undefined;
  /** `elicitation/create` of an address that the user is to visit; only `http` and `https` ones arrive. */
  elicitationUrl?: Handler | null | undefined;
  /** Gets each `log` event of the session, in order. What it throws, or rejects with, is a warning of the process (`process.on('warning')`). */
  logging?: ((event: EventOf<'log'>) => unknown) | null | undefined;
  /** Gives the token of a remote server that refuses what it was sent; nothing for none. */
  credentials?: CredentialsHandler | null | undefined;
  /** Of a pool: gives the value of an `${input:id}` of settings; nothing for none. Each is asked once. */
  inputs?: SettingsHandler<InputsRequest, string | null | undefined> | null | undefined;
  /** Of a pool: gives a secret that settings name; nothing for none, and then the environment's variable counts. */
  secrets?: SettingsHandler<SecretsRequest, string | null | undefined> | null | undefined;
  /** Of a pool: says what becomes of an entry of settings before it is admitted; nothing keeps it. */
  entries?: SettingsHandler<EntriesRequest, { drop: true } | { configuration: ServerConfig } | null | undefined> | null | undefined;
}

/** Answers what settings ask, within `handlerTimeoutMs`. What it throws is a refusal. */
export type SettingsHandler<Request, Answer> = (request: Request, context: { signal: AbortSignal }) => Answer | Promise<Answer>;

/** What a request for the sake of settings has in common. */
export interface SettingsRequest {
  /** The server that it is asked for. */
  server: string;
  entryIndex: null;
  generation: null;
  session: null;
}

/** A value is asked for, as that source declares it. */
export interface InputsRequest extends SettingsRequest {
  kind: 'inputs';
  method: 'inputs';
  params: {
    id: string;
    source: string;
    description?: string | null;
    default?: string | null;
    /** Whether it is not to be shown while it is typed. */
    secret?: boolean;
    /** What may be chosen. */
    options?: string[];
    command?: string;
  };
}

/** A secret is asked for by its name. */
export interface SecretsRequest extends SettingsRequest {
  kind: 'secrets';
  method: 'secrets';
  params: { name: string; source: string };
}

/** An entry of settings is about to count. */
export interface EntriesRequest extends SettingsRequest {
  kind: 'entries';
  method: 'entries';
  params: { source: string; configuration: ServerConfig };
}

/** What a remote server is to be let in with: the token, or it and how long it lives. */
export type Bearer = string | { token: string; expiresInMs?: number } | null | undefined;

/** Gives credentials, within 30 seconds or `handlerTimeoutMs` if that is less. What it throws is a refusal. */
export type CredentialsHandler = (request: CredentialsRequest, context: { signal: AbortSignal }) => Bearer | Promise<Bearer>;

/** What the library asks for a remote server's sake. */
export interface CredentialsRequest {
  kind: 'credentials';
  method: 'credentials';
  params: {
    /** The server's address, without its query. */
    url: string;
    /** Nothing was sent, what was sent was refused, it is about to expire, or it is good for too little. */
    reason: 'missing' | 'refused' | 'expired' | 'scope';
    /** The scopes that the server names. */
    scopes: string[];
    /** Its `WWW-Authenticate`, as it sent it. */
    challenge: string | null;
  };
  /** The server's name. */
  server: string;
  entryIndex: null;
  generation: null;
  /** The id of the session whose handler it is; null for the pool's. */
  session: string | null;
}

/**
 * Answers one request with its result, or throws: a `Refusal` is the error that the server gets, anything else is told it as a
 * failure, and the process as a warning. `signal` is aborted when nobody waits for the answer any more.
 */
export type Handler = (request: ServerRequest, context: { signal: AbortSignal }) => JsonObject | Promise<JsonObject>;

/** What a server asks. */
export interface ServerRequest {
  /** The name of the handler that it is for. */
  kind: 'sampling' | 'samplingTools' | 'elicitation' | 'elicitationUrl';
  /** The protocol's method. */
  method: string;
  /** The params, as the server sent them: to be shown to people with care. */
  params: JsonObject;
  /** The server's name. */
  server: string;
  /** The index of its entry. */
  entryIndex: number;
  /** The incarnation of its connection. */
  generation: number;
  /** The id of the session that is asked. */
  session: string;
}

/** How lost connections come back. */
export interface ReconnectOptions {
  /** Waits before each attempt: `local` for stdio and websocket, `remote` for http and sse. */
  delaysMs?: { local?: number[] | null | undefined; remote?: number[] | null | undefined } | null | undefined;
  /** More losses than this within the window, and the server is given up; default 5 within 30000. */
  breaker?: { losses?: number | null | undefined; windowMs?: number | null | undefined } | null | undefined;
  /** Health that forgives earlier attempts; default 30000. */
  healthyAfterMs?: number | null | undefined;
  /** Waits before quiet attempts of a server that has failed and is wanted. The last one repeats; `[]` makes no attempt. Default one to five minutes. */
  reviveMs?: number[] | null | undefined;
}

/** Who a host is, as servers are told. */
export interface ClientInfo {
  /** The name, for programs. */
  name: string;
  /** The name, for people. */
  title?: string | null | undefined;
  /** The version. */
  version: string;
  /** Icons, as the protocol has them. */
  icons?: ClientIcon[] | null | undefined;
  /** The address of the host's site. */
  website?: string | null | undefined;
}

/** An icon of a host. */
export interface ClientIcon {
  /** Where it is: an address of `https`, `http` or `data`. */
  src: string;
  mimeType?: string | null | undefined;
  /** As `48x48`, or `any`. */
  sizes?: string[] | null | undefined;
  /** What it is drawn for. */
  theme?: 'light' | 'dark' | null | undefined;
}

/** How grave a log message of a server is, from the least to the most. */
export type ServerLogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** How many servers may run. All connections of one name count once. */
export interface BudgetOptions {
  /** Names of servers that may run at one time, 0 to 65536; `warn` and `enforce` need it. */
  limit?: number | null | undefined;
  /** Whether the limit is only told of, or kept; default `warn` with a limit, else `off`. */
  mode?: 'off' | 'warn' | 'enforce' | null | undefined;
}

/** Bounds of a pool. */
export interface LimitOptions {
  /** Server processes in all; default 1024. */
  processes?: number | null | undefined;
  /** Entries of one server name; default 256. */
  entriesPerName?: number | null | undefined;
  /** Calls in flight of one session; default 1024. */
  inFlightPerSession?: number | null | undefined;
  /** Calls in flight on one entry; default 4096. */
  inFlightPerEntry?: number | null | undefined;
  /** Bytes of one message of a server; default 67108864. */
  frameBytes?: number | null | undefined;
  /** Bytes that are kept of a server's stderr; default 65536. */
  stderrBytes?: number | null | undefined;
  /** Events that wait for one subscriber; default 1024. */
  eventBacklog?: number | null | undefined;
}

/** Options of a session. */
export interface SessionOptions extends ConfigureOptions {
  /** Whether it follows the pool's configuration, or keeps the servers that it was opened with; default true. */
  follow?: boolean | null | undefined;
  /** How long its holds stay after a close; default 0. */
  keepForMs?: number | null | undefined;
  /** How grave log messages of its servers have to be to be heard; as each server has it by default. */
  logLevel?: ServerLogLevel | null | undefined;
  /** What answers its servers; the pool's where one is missing. */
  handlers?: Handlers | null | undefined;
}

/** What of a session can be changed while it lives: what is given replaces what was, what is absent stays. */
export interface ConfigureOptions {
  /** The servers that the session wants without asking; all by default. */
  servers?: 'all' | string[] | null | undefined;
  /** Per server, the tools and prompts that the session sees; `[]` is none. */
  include?: Record<string, string[]> | null | undefined;
  /** Per server, the tools and prompts that it does not see; wins. */
  exclude?: Record<string, string[]> | null | undefined;
  /** Per server, the trust mark on the session's own copy of its tools. */
  trust?: Record<string, boolean> | null | undefined;
  /** Per server, the tools that are marked always-load on the session's own copy. */
  alwaysLoad?: Record<string, string[]> | null | undefined;
  /** Further folders that servers are told of, where the connection is the session's own. */
  roots?: string[] | null | undefined;
}

/** Something that can be aborted. */
export interface Abortable {
  /** Its abort cancels the operation, and the promise rejects with its reason, or an `AbortError` where it has none. */
  signal?: AbortSignal | null | undefined;
}

/** Options of a call. */
export interface CallOptions extends Abortable {
  /** The call in all; the server's or the pool's by default. */
  timeoutMs?: number | null | undefined;
  /** The call without progress; the server's or the pool's by default. */
  idleTimeoutMs?: number | null | undefined;
  /**
   * Whether progress is asked for; default false. It comes as `progress` events, and with a function also to that, in the order of
   * the wire and before the result. What that throws, or rejects with, is a warning of the process (`process.on('warning')`): the call goes on.
   */
  progress?: boolean | ((event: EventOf<'progress'>) => unknown) | null | undefined;
  /** `_meta` of the request; `traceparent`, `tracestate` and `baggage` in it must be as W3C defines them. A `progressToken` does not go out: the library has its own. */
  meta?: JsonObject | null | undefined;
  /**
   * What is sent again after a loss, within the call's time: nothing, what was never sent, or also a tool that a trusted
   * server declares read-only or idempotent; default `'never'`.
   */
  retry?: 'never' | 'not_sent' | 'safe' | null | undefined;
  /** Whether the call waits while the server is reconnecting, at most for its time in all; default false. */
  wait?: boolean | null | undefined;
  /**
   * The shape that a model was given the tool in (`toolsFor`): arguments that have other names there go to the server under its own; default `'mcp'`,
   * where each has its own.
   */
  shape?: ToolFormat | null | undefined;
  /**
   * Whether a tool that the server does not list is asked of the server all the same, by a lease; default false. Never one that a filter, a gate or
   * a quarantine keeps from the session.
   */
  unlisted?: boolean | null | undefined;
}

/** Options of an acquire. */
export interface AcquireOptions extends Abortable {
  /** How long the acquire waits; the connection's own time by default. */
  timeoutMs?: number | null | undefined;
  /** The scope that a given configuration counts as; default `session`. That of `project` and `workspace` needs approval. */
  origin?: 'session' | 'project' | 'workspace' | null | undefined;
  /** How grave log messages of this server have to be to be heard by the session; as the session has it by default. */
  logLevel?: ServerLogLevel | null | undefined;
}

/** Options of a wait. */
export interface WaitOptions extends Abortable {
  /** How long it waits. */
  timeoutMs?: number | null | undefined;
}

/** Options of a load. */
export interface LoadOptions extends Abortable {
  /** Whether the file is read again when it changes, comes or goes; default false. It may be missing at first then. */
  watch?: boolean | null | undefined;
  /** The scope of the source; by default by the place of the file. */
  source?: Exclude<SourceScope, 'runtime'> | null | undefined;
  /** The product by whose rules it is read, as in `docs/reference/settings.md`; by default the file says. */
  format?: SettingsFormat | null | undefined;
}

/** Options of a reload. */
export interface ReloadOptions extends Abortable {
  /** The servers whose connections are made anew, all or these; default none. */
  reconnect?: 'all' | string[] | null | undefined;
}

/** Options of `status` and `metrics`. */
export interface StatusOptions {
  /** Whether memory and processor time of the servers' processes are looked up, for which the table of all processes is read; on Linux alone. */
  processes?: boolean | null | undefined;
}

/** Options of a sign-in. What the server's own `oauth` says goes first. */
export interface SignInOptions extends Abortable {
  /** Where the authorization server sends the person back to; required, here or in `oauth`. */
  redirectUri?: string | null | undefined;
  /** The address of the document that says who the client is, where the authorization server takes one. */
  clientMetadataUrl?: string | null | undefined;
  /** The name by which the client is registered; default `trunkline`. */
  clientName?: string | null | undefined;
}

/** The lists of servers that may run. What is not given is not kept. */
export interface GateLists {
  /** Patterns of the servers that may run (`*` any characters, `?` one); all by default, `[]` is none. */
  allowed?: string[] | null | undefined;
  /** Patterns of the servers that may not run, whatever else admits them. */
  excluded?: string[] | null | undefined;
  /** Patterns of the servers that wait for approval. */
  pending?: string[] | null | undefined;
}

/** Options of a drain. */
export interface DrainOptions extends Abortable {
  /** Whether calls are interrupted at once, instead of finishing by the deadline; default false. */
  force?: boolean | null | undefined;
  /** When what is left is killed; by default the pool's `closeTimeoutMs`. */
  timeoutMs?: number | null | undefined;
}

/**
 * The configuration of a server, as it stands in an `mcpServers` map. Its names are those of settings files: each can be written in
 * snake_case and in camelCase, and some as other products write them. `docs/reference/options.md` has all of them. A member that is not
 * among them has no effect, and is reported.
 */
export interface ServerConfig {
  /** The transport; the other members say it by default. */
  transport?: Transport | null | undefined;
  type?: Transport | null | undefined;
  transportType?: Transport | null | undefined;
  /** The program of a server over stdio. */
  command?: string | null | undefined;
  args?: string[] | null | undefined;
  /** Its working directory; the workspace by default. */
  cwd?: string | null | undefined;
  /** Its own environment; null unsets a variable of the base environment. */
  env?: Record<string, string | null> | null | undefined;
  /** Names or patterns of host variables that it inherits. */
  inherit_env?: string[] | null | undefined;
  inheritEnv?: string[] | null | undefined;
  /** The address of a remote server; `httpUrl` implies http, `tcp` a websocket. */
  url?: string | null | undefined;
  serverUrl?: string | null | undefined;
  httpUrl?: string | null | undefined;
  tcp?: string | null | undefined;
  headers?: Record<string, string> | null | undefined;
  /** The Unix socket over which `url` is reached. */
  socket_path?: string | null | undefined;
  socketPath?: string | null | undefined;
  /** A call in all. */
  call_timeout_ms?: number | null | undefined;
  callTimeoutMs?: number | null | undefined;
  timeout?: number | null | undefined;
  /** A call without progress. */
  call_idle_timeout_ms?: number | null | undefined;
  callIdleTimeoutMs?: number | null | undefined;
  /** Connecting and listing together. */
  connect_timeout_ms?: number | null | undefined;
  connectTimeoutMs?: number | null | undefined;
  discoveryTimeoutMs?: number | null | undefined;
  /** The tools and prompts that sessions see, by their own or exposed names; `[]` is none. */
  include?: string[] | null | undefined;
  includeTools?: string[] | null | undefined;
  /** The tools and prompts that sessions do not see; wins. */
  exclude?: string[] | null | undefined;
  excludeTools?: string[] | null | undefined;
  disabledTools?: string[] | null | undefined;
  /** Whether sessions share its connection; its transport says it by default. */
  share?: 'pool' | 'session' | null | undefined;
  /** The protocol family that is spoken. */
  era?: 'auto' | 'legacy' | 'modern' | null | undefined;
  /** How it is signed in to: `docs/guide/auth.md`. */
  oauth?: JsonObject | null | undefined;
  auth?: JsonObject | string | null | undefined;
  oauth_scopes?: string[] | null | undefined;
  oauthScopes?: string[] | null | undefined;
  provider_type?: string | null | undefined;
  providerType?: string | null | undefined;
  authProviderType?: string | null | undefined;
  target_audience?: string | null | undefined;
  targetAudience?: string | null | undefined;
  target_service_account?: string | null | undefined;
  targetServiceAccount?: string | null | undefined;
  /** Whether it is switched off; `enabled` is the opposite. */
  disabled?: boolean | null | undefined;
  enabled?: boolean | null | undefined;
  /** The trust mark of its tools. */
  trust?: boolean | null | undefined;
  /** Its tools that are marked always-load. */
  always_load?: string[] | null | undefined;
  alwaysLoad?: string[] | null | undefined;
  alwaysLoadTools?: string[] | null | undefined;
  /** What it is, for people. */
  description?: string | null | undefined;
  /** When it starts; as the pool says by default. */
  start?: 'eager' | 'lazy' | null | undefined;
  /** How its lost connection comes back, in the names of settings; what is left out is the pool's. */
  reconnect?: JsonObject | null | undefined;
}

/** What carries the messages of a server. */
export type Transport =
  | 'stdio'
  | 'http'
  | 'sse'
  | 'websocket'
  | 'local'
  | 'streamable-http'
  | 'streamableHttp'
  | 'streamable_http'
  | 'remote'
  | 'ws';

/** Servers by name, with or without an `mcpServers` around them. */
export type Servers = Record<string, ServerConfig> | { mcpServers: Record<string, ServerConfig> };
