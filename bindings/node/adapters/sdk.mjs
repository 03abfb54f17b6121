// The `Client` of the protocol's TypeScript SDKs: an object with its methods, for one server of a trunkline session.
//
// Of the SDK itself nothing is needed; where one is installed, errors are instances of its class.

import trunkline from '../index.cjs';
import { OPTIONS, REQUEST_OPTIONS, checkServer, explain, missingFor } from './sdk-elsewhere.mjs';
import { PROMPT, RESOURCE, TEMPLATE, TOOL, fit, isFit, isObject } from './sdk-fit.mjs';
import { ListChanged } from './sdk-lists.mjs';
import { OutputChecks } from './sdk-output.mjs';
import { copyOf, hasPlainNames, invalidArgument, refuse, toolsOf } from './shared.mjs';

const { TrunklineError } = trunkline;

const REQUEST_TIMEOUT = -32001;
const CONNECTION_CLOSED = -32000;
const INTERNAL_ERROR = -32603;

/** The longest that a call may take: a week. */
const TIMEOUT_MAX_MS = 7 * 24 * 3600 * 1000;

/** How an import fails for a package that is not there, and for one of another version that has no such module. */
const ABSENT = new Set(['ERR_MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED']);

/** The error of `@modelcontextprotocol/sdk`, or that of `@modelcontextprotocol/client`; else one of the same shape. */
export const McpError = await errorClass();

async function errorClass() {
  for (const [module, name] of [['@modelcontextprotocol/sdk/types.js', 'McpError'], ['@modelcontextprotocol/client', 'ProtocolError']]) {
    try {
      const found = (await import(module))[name];
      if (typeof found === 'function') return found;
    } catch (error) {
      if (!ABSENT.has(error.code)) throw error;
    }
  }
  return class McpError extends Error {
    constructor(code, message, data) {
      super(`MCP error ${code}: ${message}`);
      Object.assign(this, { name: 'McpError', code, data });
    }
  };
}

/** Of a list: what was missed may have been a change of it. */
const changed = (event) => ({ events: [event, 'lagged'], params: () => undefined });

/** The notification that each event of a session becomes, and its params. */
const NOTIFICATIONS = {
  'notifications/tools/list_changed': changed('tools_changed'),
  'notifications/prompts/list_changed': changed('prompts_changed'),
  'notifications/resources/list_changed': changed('resources_changed'),
  'notifications/resources/updated': { events: ['resource_updated'], params: ({ uri }) => ({ uri }) },
  'notifications/elicitation/complete': { events: ['elicitation_completed'], params: ({ elicitationId }) => ({ elicitationId }) },
  'notifications/message': {
    events: ['log'],
    params: ({ level, logger, data }) => ({ level, ...(logger == null ? {} : { logger }), data }),
  },
};

/** Requests that there are methods of: what a session does not see, it does not see by another way. */
const REQUESTS = {
  'tools/list': 'listTools',
  'prompts/list': 'listPrompts',
  'resources/list': 'listResources',
  'resources/templates/list': 'listResourceTemplates',
  'prompts/get': 'getPrompt',
  'resources/read': 'readResource',
  'resources/subscribe': 'subscribeResource',
  'resources/unsubscribe': 'unsubscribeResource',
  'completion/complete': 'complete',
};

/** The first revision of the newer era of the protocol. */
const MODERN = '2026-07-28';

export class Client {
  #session;
  #server;
  #shape;
  #lease;
  /** The hold that `connect` waits for. */
  #acquiring;
  /** What the host set, by the method of the notification. */
  #handlers = new Map();
  #fallback;
  /** Who hears of the session's events, by the method of the notification. */
  #listeners = new Map();
  #isStrict;
  #listChanged;
  #outputChecks;
  onclose;
  onerror;

  constructor(session, server, options) {
    checkServer(session, server);
    refuse(options, OPTIONS);
    const { shape = 'any', listChanged, enforceStrictCapabilities = false, jsonSchemaValidator } = options ?? {};
    this.#isStrict = enforceStrictCapabilities;
    this.#session = session;
    this.#server = server;
    this.#shape = shape;
    this.#listChanged = new ListChanged(this, listChanged);
    this.#outputChecks = new OutputChecks(session, server, jsonSchemaValidator);
  }

  async connect(options = {}) {
    checkConnect(options);
    if (this.#lease !== undefined || this.#acquiring !== undefined) throw new Error('Already connected: close it first');
    const acquiring = asMcp(() => this.#session.acquire(this.#server, options.config, without(options, 'config')));
    this.#acquiring = acquiring;
    try {
      const lease = await acquiring;
      if (this.#acquiring !== acquiring) {
        lease.release();
        throw new McpError(CONNECTION_CLOSED, 'it was closed while it connected');
      }
      this.#lease = lease;
    } finally {
      if (this.#acquiring === acquiring) this.#acquiring = undefined;
    }
    for (const method of this.#listeners.keys()) this.#listen(method);
  }

  async close() {
    const [acquiring, lease] = [this.#acquiring, this.#lease];
    this.#acquiring = undefined;
    this.#lease = undefined;
    if (lease === undefined) {
      // What `connect` gets now it gives back, and says so itself. What a later one gets is not
      // this one's.
      await acquiring?.catch(() => {});
      return;
    }
    for (const method of this.#listeners.keys()) this.#unlisten(method);
    this.#listChanged.stop();
    lease.release();
    this.onclose?.();
  }

  get lease() {
    if (this.#lease === undefined) throw new Error('Not connected');
    return this.#lease;
  }

  /** The hold on the server, which is asked to do that. */
  #asking(method) {
    const { lease } = this;
    const missing = this.#isStrict ? missingFor(method, lease.capabilities) : undefined;
    if (missing !== undefined) throw new Error(`Server does not support ${missing} (required for ${method})`);
    return lease;
  }

  /** The hold on the server, once what it announced is listed (SPEC 7.9). */
  async #listing(method, options) {
    refuse(options, REQUEST_OPTIONS);
    const lease = this.#asking(method);
    await asMcp(() => this.#session.listed(this.#server, only(options, 'signal')));
    return lease;
  }

  // Of lists the parameters, which have a page and `_meta`, ask for nothing: there is one page.
  async listTools(_params, options) {
    const tools = (await this.#listing('tools/list', options)).tools().map(({ definition }) => copyOf(definition));
    return { tools: this.#shape === 'mcp' ? tools : this.#fitted(tools) };
  }

  /** The same as model APIs take them: of the shape `any` the schemas of those alone that have an argument whose name is refused. */
  #fitted(tools) {
    const keeps = (definition) => this.#shape === 'any' && hasPlainNames(definition);
    const stays = (definition) => keeps(definition) && isFit(TOOL, definition);
    if (tools.every(stays)) return tools;
    const fitted = new Map(toolsOf(this.#session, [this.#server], this.#shape).map(({ ownName, definition }) => [ownName, definition]));
    return tools.map((tool) => {
      if (stays(tool)) return tool;
      const own = keeps(tool) ? schemasOf(fit(TOOL, tool)) : {};
      return { ...fit(TOOL, { ...(fitted.get(tool.name) ?? tool), ...own }), name: tool.name };
    });
  }

  async listPrompts(_params, options) {
    await this.#listing('prompts/list', options);
    return { prompts: this.#listed(this.#session.prompts(), PROMPT) };
  }

  async listResources(_params, options) {
    await this.#listing('resources/list', options);
    return { resources: this.#listed(this.#session.resources(), RESOURCE) };
  }

  async listResourceTemplates(_params, options) {
    await this.#listing('resources/templates/list', options);
    return { resourceTemplates: this.#listed(this.#session.resourceTemplates(), TEMPLATE) };
  }

  /** What is asked of the server, with options of the SDK's. */
  async #ask(method, options, meta, start) {
    const given = asked(options, meta);
    const lease = this.#asking(method);
    return (await asMcp(() => start(lease, given))).value;
  }

  async callTool({ name, arguments: args, _meta }, schema, options) {
    const { parse, given } = parsing(schema, options);
    const tools = ofTools(given, this.#shape);
    const problemOf = this.#outputCheck(name);
    const result = await this.#ask('tools/call', given, _meta, (lease, asked) => lease.callTool(name, args, { ...asked, ...tools }));
    const problem = problemOf?.(result);
    if (problem !== undefined) throw new McpError(problem.code, problem.message);
    return parse(result);
  }

  /** What checks the results of that tool. */
  #outputCheck(name) {
    try {
      return this.#outputChecks.of(name);
    } catch (error) {
      const message = `the output schema of \`${name}\` is refused by \`jsonSchemaValidator\`: ${error?.message ?? error}`;
      throw Object.assign(new McpError(INTERNAL_ERROR, message), { cause: error });
    }
  }

  async request({ method, params = {} }, schema, options) {
    const { parse, given } = parsing(schema, options);
    if (method === 'tools/call') return parse(await this.callTool(params, undefined, given));
    if (Object.hasOwn(REQUESTS, method)) return parse(await this[REQUESTS[method]](params, given));
    const { _meta, ...rest } = params;
    return parse(await this.#ask(method, given, _meta, (lease, asked) => lease.request(method, rest, asked)));
  }

  async readResource({ uri, _meta }, options) {
    return this.#ask('resources/read', options, _meta, (lease, asked) => lease.readResource(uri, asked));
  }

  async getPrompt({ name, arguments: args, _meta }, options) {
    return this.#ask('prompts/get', options, _meta, (lease, asked) => lease.getPrompt(name, args, asked));
  }

  async complete(params, options) {
    return this.#ask('completion/complete', options, undefined, (lease, asked) => lease.complete(params, asked));
  }

  async subscribeResource({ uri }, options) {
    return this.#subscribing('subscribeResource', uri, options);
  }

  async unsubscribeResource({ uri }, options) {
    return this.#subscribing('unsubscribeResource', uri, options);
  }

  async #subscribing(how, uri, options) {
    refuse(options, REQUEST_OPTIONS);
    const lease = this.#asking(`resources/${how.replace('Resource', '')}`);
    await asMcp(() => lease[how](uri, only(options, 'signal')));
    return {};
  }

  async ping(options) {
    return this.#ask('ping', options, undefined, (lease, asked) => lease.request('ping', undefined, asked));
  }

  async setLoggingLevel(level, options) {
    return this.#ask('logging/setLevel', options, undefined, (lease, asked) => lease.request('logging/setLevel', { level }, asked));
  }

  /** Of a method, or of the schema that version 1 names it by. */
  setNotificationHandler(notification, handler) {
    const method = typeof notification === 'string' ? notification : methodOf(notification);
    if (!Object.hasOwn(NOTIFICATIONS, method)) throw new TypeError(`no notification ${method}`);
    this.#handlers.set(method, handler);
    this.#attend(method);
  }

  removeNotificationHandler(method) {
    if (this.#handlers.delete(method)) this.#attend(method);
  }

  get fallbackNotificationHandler() {
    return this.#fallback;
  }

  /** Of those that no handler is set for. */
  set fallbackNotificationHandler(handler) {
    this.#fallback = handler;
    for (const method of Object.keys(NOTIFICATIONS)) this.#attend(method);
  }

  #handlerOf(method) {
    return this.#handlers.get(method) ?? this.#fallback;
  }

  /** Hears of a notification as long as somebody is to be told of it. */
  #attend(method) {
    const isWanted = this.#handlerOf(method) !== undefined;
    if (isWanted === this.#listeners.has(method)) return;
    if (isWanted) this.#listeners.set(method, (told) => this.#tell(method, told));
    else if (this.#lease !== undefined) this.#unlisten(method);
    if (!isWanted) this.#listeners.delete(method);
    else if (this.#lease !== undefined) this.#listen(method);
  }

  #tell(method, told) {
    if (told.type !== 'lagged' && told.server !== this.#server) return;
    const given = NOTIFICATIONS[method].params(told);
    const notification = given === undefined ? { method } : { method, params: given };
    Promise.resolve(notification)
      .then(this.#handlerOf(method))
      .catch((error) => this.onerror?.(error));
  }

  #listen(method) {
    for (const event of NOTIFICATIONS[method].events) listen(this.#session, event, this.#listeners.get(method));
  }

  #unlisten(method) {
    for (const event of NOTIFICATIONS[method].events) unlisten(this.#session, event, this.#listeners.get(method));
  }

  getServerCapabilities() {
    return this.#lease?.capabilities ?? undefined;
  }

  getServerVersion() {
    return this.#lease?.serverInfo ?? undefined;
  }

  getInstructions() {
    return this.#lease?.instructions ?? undefined;
  }

  getNegotiatedProtocolVersion() {
    return this.#lease?.protocolVersion ?? undefined;
  }

  getProtocolEra() {
    const revision = this.getNegotiatedProtocolVersion();
    return revision && (revision >= MODERN ? 'modern' : 'legacy');
  }

  #listed(rows, kind) {
    const { server } = this.lease;
    return rows.filter((row) => row.server === server).map(({ definition }) => fit(kind, copyOf(definition)));
  }
}

explain(Client);

/** Per session and event the one listener for all clients, which are as many as its servers: many would draw a warning from Node. */
const heard = new WeakMap();

function listen(session, event, listener) {
  const events = heard.get(session) ?? new Map();
  heard.set(session, events);
  const { listeners, tell } = events.get(event) ?? audience();
  events.set(event, { listeners, tell });
  listeners.add(listener);
  // The host may have removed all listeners of the session.
  if (!session.listeners(event).includes(tell)) session.on(event, tell);
}

function unlisten(session, event, listener) {
  const entry = heard.get(session)?.get(event);
  if (!entry?.listeners.delete(listener) || entry.listeners.size > 0) return;
  heard.get(session).delete(event);
  session.off(event, entry.tell);
}

function audience() {
  const listeners = new Set();
  return { listeners, tell: (told) => listeners.forEach((listener) => listener(told)) };
}

/** The schemas of a tool as the server sent them, where they are any. */
function schemasOf(tool) {
  return Object.fromEntries(['inputSchema', 'outputSchema'].filter((name) => isObject(tool[name])).map((name) => [name, tool[name]]));
}

/** What `connect` takes is no transport. */
function checkConnect(options) {
  refuse(options, REQUEST_OPTIONS);
  if (typeof options?.start !== 'function' && typeof options?.send !== 'function') return;
  throw invalidArgument('`connect` takes no transport: the pool has the servers, and `config` gives the session another', 'transport');
}

/** The schema of a result is of either version; without one the options may stand in its place. */
function parsing(schema, options) {
  const validate = schema?.['~standard']?.validate;
  if (typeof schema?.parse === 'function') return { parse: (value) => schema.parse(value), given: options };
  if (validate === undefined) return { parse: (value) => value, given: options ?? schema };
  return { parse: async (value) => checked(await validate(value)), given: options };
}

function checked({ value, issues }) {
  if (issues === undefined) return value;
  throw new TypeError(`the result is not as its schema has it: ${issues.map(({ message }) => message).join(', ')}`);
}

/** The options of a request as a call takes them. */
function asked(options = {}, meta) {
  refuse(options, REQUEST_OPTIONS);
  return taken(options, meta);
}

function taken({ signal, onprogress, ...options }, meta) {
  const progress = onprogress && (({ progress, total, message }) => onprogress({ progress, total, message }));
  const all = { ...times(options), signal, progress, meta };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** What calls of tools have besides. */
function ofTools({ wait = false, retry = 'never' } = {}, shape) {
  // What is not listed is for the server to refuse, as the SDK has it.
  return { wait, retry, shape, unlisted: true };
}

/** The SDK has one time, which progress begins anew where that is asked for, and then perhaps one in all, where 0 is none. */
function times({ timeout, resetTimeoutOnProgress = false, maxTotalTimeout }) {
  const each = bounded(timeout);
  if (!resetTimeoutOnProgress) return { timeoutMs: each, idleTimeoutMs: each };
  const timeoutMs = bounded(maxTotalTimeout || undefined) ?? (each && TIMEOUT_MAX_MS);
  return { timeoutMs, idleTimeoutMs: each && Math.min(each, timeoutMs) };
}

/** A time as a call takes it: the SDK takes any number. */
function bounded(ms) {
  if (ms === undefined || ms === null) return undefined;
  return Math.min(Math.max(Math.ceil(ms), 1), TIMEOUT_MAX_MS);
}

function methodOf(schema) {
  const method = schema?.shape?.method;
  const value = method?.value ?? method?.def?.values?.[0] ?? method?._def?.value;
  if (typeof value !== 'string') throw new TypeError('a notification is named by its method or its schema');
  return value;
}

function only(options, name) {
  return options?.[name] === undefined ? undefined : { [name]: options[name] };
}

function without(options, name) {
  return Object.fromEntries(Object.entries(options).filter(([key]) => key !== name));
}

/** What the library throws is thrown as the SDK's error, with the library's as its `cause`. */
async function asMcp(start) {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof TrunklineError)) throw error;
    throw Object.assign(described(error), { cause: error });
  }
}

function described(error) {
  const { code, detail, retryable, outcome } = error;
  if (code === 'TRUNKLINE_SERVER_ERROR') return ofServer(detail);
  const lost = ['TRUNKLINE_CALL_INTERRUPTED', 'TRUNKLINE_CLOSED', 'TRUNKLINE_CLOSING'].includes(code);
  const number = code === 'TRUNKLINE_TIMEOUT' ? REQUEST_TIMEOUT : lost ? CONNECTION_CLOSED : INTERNAL_ERROR;
  return new McpError(number, error.message, { code, retryable, outcome });
}

/** Of some codes the SDKs have classes of their own. */
function ofServer({ code, message, data }) {
  return McpError.fromError?.(code, message, data) ?? new McpError(code, message, data);
}
