// Types of trunkline/adapters/sdk: the methods of the SDKs' `Client`, with results as the server sent them.

import type {
  AcquireOptions,
  ContentBlock,
  JsonObject,
  Lease,
  ResourceContents,
  ServerConfig,
  Session,
} from '../index.mjs';

/** The SDK's own error class, or one of the same shape; its `cause` is the `TrunklineError`. */
export const McpError: new (code: number, message: string, data?: unknown) => Error & { code: number; data?: unknown };

/** What the SDKs call `RequestOptions`. */
export interface RequestOptions {
  signal?: AbortSignal;
  /** Milliseconds, of the call in all or, with `resetTimeoutOnProgress`, without progress; by default the pool's times. */
  timeout?: number;
  resetTimeoutOnProgress?: boolean;
  maxTotalTimeout?: number;
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
  parse(value: unknown): T;
}

export interface ToolResult {
  content: ContentBlock[];
  structuredContent?: JsonObject;
  isError?: boolean;
  _meta?: JsonObject;
  [name: string]: unknown;
}

type Definition = { name: string; description?: string; [name: string]: unknown };
type Meta = { _meta?: JsonObject };

/** One server of a session. Lists are whole, in one page; names are the server's own. */
export class Client {
  constructor(session: Session, server: string);
  /** Acquires the server; there is no transport to give. Once, unless it was closed since. */
  connect(options?: AcquireOptions & { config?: ServerConfig }): Promise<void>;
  /** Releases the server, also one that is still being connected. The session and the pool stay. */
  close(): Promise<void>;
  onclose: (() => void) | undefined;
  /** Told what a handler of notifications throws or rejects with. */
  onerror: ((error: unknown) => void) | undefined;
  /** The hold that it has on the server. */
  readonly lease: Lease;
  listTools(): Promise<{ tools: Array<Definition & { inputSchema: JsonObject }> }>;
  listPrompts(): Promise<{ prompts: Definition[] }>;
  listResources(): Promise<{ resources: Array<Definition & { uri: string }> }>;
  listResourceTemplates(): Promise<{ resourceTemplates: Array<Definition & { uriTemplate: string }> }>;
  callTool(params: { name: string; arguments?: JsonObject } & Meta, options?: RequestOptions): Promise<ToolResult>;
  callTool<T = ToolResult>(
    params: { name: string; arguments?: JsonObject } & Meta,
    schema: ResultSchema<T> | undefined,
    options?: RequestOptions,
  ): Promise<T>;
  readResource(params: { uri: string } & Meta, options?: RequestOptions): Promise<{ contents: ResourceContents[] }>;
  getPrompt(
    params: { name: string; arguments?: Record<string, string> } & Meta,
    options?: RequestOptions,
  ): Promise<{ description?: string; messages: Array<{ role: 'user' | 'assistant'; content: ContentBlock }> }>;
  complete(
    params: JsonObject,
    options?: RequestOptions,
  ): Promise<{ completion: { values: string[]; total?: number; hasMore?: boolean } }>;
  subscribeResource(params: { uri: string }, options?: Pick<RequestOptions, 'signal'>): Promise<{}>;
  unsubscribeResource(params: { uri: string }, options?: Pick<RequestOptions, 'signal'>): Promise<{}>;
  ping(options?: RequestOptions): Promise<JsonObject>;
  setNotificationHandler(notification: string | NotificationSchema, handler: (notification: Notification) => unknown): void;
  removeNotificationHandler(method: string): void;
  getServerCapabilities(): JsonObject | undefined;
}
