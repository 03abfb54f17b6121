// Types of trunkline/adapters/sdk: the methods of the SDKs' `Client`, with results as the server sent them.

import type {
  AcquireOptions,
  ContentBlock,
  JsonObject,
  Lease,
  ResourceContents,
  ServerConfig,
  ServerLogLevel,
  Session,
  ToolFormat,
} from '../index.mjs';

/** The SDK's own error class, or one of the same shape; its `cause` is the `TrunklineError`. */
export const McpError: new (code: number, message: string, data?: unknown) => Error & { code: number; data?: unknown };

/** What the SDKs call `RequestOptions`. */
export interface RequestOptions {
  signal?: AbortSignal;
  /** Milliseconds, of the call in all or, with `resetTimeoutOnProgress`, without progress; by default the pool's times. Rounded up, from 1 to a week. */
  timeout?: number;
  resetTimeoutOnProgress?: boolean;
  maxTotalTimeout?: number;
  /** Of a tool: whether the call waits while the server is reconnecting; default false. */
  wait?: boolean;
  /** Of a tool: what is sent again after a loss; default `'never'`. */
  retry?: 'never' | 'not_sent' | 'safe';
  onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
}

/** Notifications that a handler can be set for. */
export interface Notification {
  method: string;
  params?: JsonObject;
}

/** A notification's schema of version 1 of the SDK. */
export interface NotificationSchema {
  shape: { method: unknown };
}

/** The schema of a result, of version 1 of the SDK. */
export interface ResultSchema<T> {
  /** The value as the schema has it; throws where it does not fit. */
  parse(value: unknown): T;
}

/** What a tool answered, as the server sent it. */
export interface ToolResult {
  content: ContentBlock[];
  structuredContent?: JsonObject;
  isError?: boolean;
  _meta?: JsonObject;
  [name: string]: unknown;
}

type Definition = { name: string; description?: string; [name: string]: unknown };
type Meta = { _meta?: JsonObject };

/** Hears of a list that changed. */
export interface ListChanged<T> {
  /** With the list as it is then, or what asking for it failed with; both are null without `autoRefresh`. */
  onChanged: (error: Error | null, items: T[] | null) => unknown;
  /** Whether the list comes along; default true. */
  autoRefresh?: boolean;
  /** How long after the last change; default 300, where 0 is at once. */
  debounceMs?: number;
}

/** Makes of a schema what checks a value, as the SDKs have it. */
export interface JsonSchemaValidator {
  /** Throws where it does not take the schema. */
  getValidator(schema: never): (input: unknown) => { valid: boolean; errorMessage?: string | undefined };
}

/** Options of a client. */
export interface ClientOptions {
  /** The shape in which tools are listed; default `'any'`. */
  shape?: ToolFormat;
  /** Whether what the server says that it does not offer is not asked of it; default false. */
  enforceStrictCapabilities?: boolean;
  /** Checks structured content beside a tool's output schema, such as the validators of the SDKs; by default nothing does. */
  jsonSchemaValidator?: JsonSchemaValidator;
  /** Hears of lists that change: the handlers of their notifications. */
  listChanged?: {
    tools?: ListChanged<Definition & { inputSchema: JsonObject }>;
    prompts?: ListChanged<Definition>;
    resources?: ListChanged<Definition & { uri: string }>;
  };
}

/** One server of a session. Lists are whole, in one page; names are the server's own. */
export class Client {
  /**
   * Tools are listed as the server sent them, but for arguments whose names a model API refuses: these have others, and go to the server under its own. The
   * shape `mcp` leaves these as well; with that of one API (`toolsFor`) all schemas are as that takes them. A member that is null or that the SDK's
   * schemas refuse is left out of what is listed, at every depth; the shape `mcp` leaves it in tools.
   */
  constructor(session: Session, server: string, options?: ClientOptions);
  /** Acquires the server; there is no transport to give. Once, unless it was closed since. */
  connect(options?: AcquireOptions & { config?: ServerConfig }): Promise<void>;
  /** Releases the server, also one that is still being connected. The session and the pool stay. */
  close(): Promise<void>;
  onclose: (() => void) | undefined;
  /** Told of the notifications that a handler can be set for and none is set for. */
  fallbackNotificationHandler: ((notification: Notification) => unknown) | undefined;
  /** Throws when it is set: requests of servers are answered by the session's `handlers`. */
  fallbackRequestHandler: undefined;
  /** Told what a handler of notifications throws or rejects with. */
  onerror: ((error: unknown) => void) | undefined;
  /** The hold that it has on the server. */
  readonly lease: Lease;
  /** The tools of the session's view. This and the other lists have what the server announced. */
  listTools(params?: JsonObject, options?: Pick<RequestOptions, 'signal'>): Promise<{ tools: Array<Definition & { inputSchema: JsonObject }> }>;
  /** Its prompts. */
  listPrompts(params?: JsonObject, options?: Pick<RequestOptions, 'signal'>): Promise<{ prompts: Definition[] }>;
  /** Its resources. */
  listResources(params?: JsonObject, options?: Pick<RequestOptions, 'signal'>): Promise<{ resources: Array<Definition & { uri: string }> }>;
  /** Its resource templates. */
  listResourceTemplates(params?: JsonObject, options?: Pick<RequestOptions, 'signal'>): Promise<{ resourceTemplates: Array<Definition & { uriTemplate: string }> }>;
  /** Calls a tool. */
  callTool(params: { name: string; arguments?: JsonObject } & Meta, options?: RequestOptions): Promise<ToolResult>;
  /** Calls a tool; the result is what `schema` makes of it. */
  callTool<T = ToolResult>(
    params: { name: string; arguments?: JsonObject } & Meta,
    schema: ResultSchema<T> | undefined,
    options?: RequestOptions,
  ): Promise<T>;
  /** Reads a resource. */
  readResource(params: { uri: string } & Meta, options?: RequestOptions): Promise<{ contents: ResourceContents[] }>;
  /** Gets a prompt, filled in with its arguments. */
  getPrompt(
    params: { name: string; arguments?: Record<string, string> } & Meta,
    options?: RequestOptions,
  ): Promise<{ description?: string; messages: Array<{ role: 'user' | 'assistant'; content: ContentBlock }> }>;
  /** Completions of an argument of a prompt or resource template. */
  complete(
    params: JsonObject,
    options?: RequestOptions,
  ): Promise<{ completion: { values: string[]; total?: number; hasMore?: boolean } }>;
  /** From now on handlers of `notifications/resources/updated` hear of it; counted by session. */
  subscribeResource(params: { uri: string }, options?: Pick<RequestOptions, 'signal'>): Promise<{}>;
  /** With the last subscription of the session they hear of it no more. */
  unsubscribeResource(params: { uri: string }, options?: Pick<RequestOptions, 'signal'>): Promise<{}>;
  /** Any other request; the result is what `schema` makes of it. */
  request<T = JsonObject>(
    request: { method: string; params?: JsonObject },
    schema?: ResultSchema<T>,
    options?: RequestOptions,
  ): Promise<T>;
  /** Asks the server whether it is there. */
  ping(options?: RequestOptions): Promise<JsonObject>;
  /** How grave log messages have to be for the session to hear them. */
  setLoggingLevel(level: ServerLogLevel, options?: RequestOptions): Promise<JsonObject>;
  /** Sets who hears of a notification, by its method or its schema: one for each. */
  setNotificationHandler(notification: string | NotificationSchema, handler: (notification: Notification) => unknown): void;
  /** Nobody hears of it any more. */
  removeNotificationHandler(method: string): void;
  /** What the server says that it offers; nothing before it is connected. */
  getServerCapabilities(): JsonObject | undefined;
  /** The server's name, version and what else it says of itself. */
  getServerVersion(): JsonObject | undefined;
  /** How the server says that it is to be used. */
  getInstructions(): string | undefined;
  /** The revision of the protocol that is spoken with the server. */
  getNegotiatedProtocolVersion(): string | undefined;
  /** The era of that revision. */
  getProtocolEra(): 'modern' | 'legacy' | undefined;
}
