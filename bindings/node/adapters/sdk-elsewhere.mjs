// What the SDKs' `Client` has and the one here has not, with the reason.

import trunkline from '../index.cjs';
import { invalidArgument } from './shared.mjs';

const NEGOTIATED = 'the pool negotiates the revision, once for all who share the server';
const TASKS = 'tasks are not supported, and the server is not told of any';
const HANDLERS = 'requests of servers are answered by the option `handlers` of the pool or the session';
const OFFERED = 'what servers are told of the host follows from `handlers` and `roots`';
const CACHE = 'lists come from the session\'s view, and what is read is kept nowhere';
const ROUNDS = 'the pool answers what a call needs by the handlers, within its own bound';
const TRANSPORT = 'the connection is the pool\'s, which takes a stream up again by itself';

/** Options of the constructor: the reason, then values that ask for nothing. */
export const OPTIONS = {
  capabilities: [OFFERED],
  supportedProtocolVersions: [NEGOTIATED],
  versionNegotiation: [NEGOTIATED, (given) => given?.mode === 'auto'],
  debouncedNotificationMethods: ['a client sends no notifications'],
  inputRequired: [ROUNDS],
  listMaxPages: ['the limits of the pool bound a list'],
  responseCacheStore: [CACHE],
  cachePartition: [CACHE],
  defaultCacheTtlMs: [CACHE, 0],
  taskStore: [TASKS],
  taskMessageQueue: [TASKS],
  defaultTaskPollInterval: [TASKS],
  maxTaskQueueSize: [TASKS],
};

/** Options of a request: the same. */
export const REQUEST_OPTIONS = {
  task: [TASKS],
  relatedTask: [TASKS],
  allowInputRequired: [ROUNDS, false],
  relatedRequestId: [TRANSPORT],
  resumptionToken: [TRANSPORT],
  onresumptiontoken: [TRANSPORT],
  requestSignal: ['it is `signal`'],
  onRequestStreamEnd: [TRANSPORT],
  prior: [NEGOTIATED],
  toolDefinition: ['tools are known from the session\'s view'],
  headers: ['the connection is shared: headers are those of the server\'s configuration'],
  cacheMode: [CACHE, 'use', 'refresh', 'bypass'],
};

/** Methods that there are not. */
const METHODS = {
  registerCapabilities: OFFERED,
  setRequestHandler: HANDLERS,
  removeRequestHandler: HANDLERS,
  assertCanSetRequestHandler: HANDLERS,
  notification: 'the pool sends what a server must be told',
  sendRootsListChanged: '`setRoots` of the pool tells the servers',
  setVersionNegotiation: NEGOTIATED,
  discover: NEGOTIATED,
  getDiscoverResult: NEGOTIATED,
  listen: 'handlers of notifications hear of servers of both eras; `subscribeResource` is for resources',
};

/** Properties that there are not. */
const PROPERTIES = {
  transport: 'the connection is the pool\'s',
  experimental: TASKS,
  autoOpenedSubscription: 'the pool listens, once for all who share the server',
};

/** Properties that a host sets, and would count on. */
const SET = { fallbackRequestHandler: HANDLERS };

/** Has a class say why something of the SDKs' is not there. */
export function explain(kind) {
  for (const [name, why] of Object.entries(METHODS)) define(kind, name, { writable: true, value: () => refused(name, why) });
  for (const [name, why] of Object.entries(PROPERTIES)) define(kind, name, { get: () => refused(name, why) });
  for (const [name, why] of Object.entries(SET)) {
    define(kind, name, { get: () => undefined, set: (given) => given === undefined || refused(name, why) });
  }
}

function define(kind, name, how) {
  Object.defineProperty(kind.prototype, name, { configurable: true, enumerable: false, ...how });
}

function refused(name, why) {
  throw new TypeError(`Client has no ${name}: ${why}`);
}

/** What a server has to offer for a request, by how the method begins. */
const OFFERS = { tools: 'tools', prompts: 'prompts', resources: 'resources', logging: 'logging', completion: 'completions' };

/** What a server that offers this does not offer, and is needed for a request. */
export function missingFor(method, offered) {
  const kind = method.split('/', 1)[0];
  const wanted = Object.hasOwn(OFFERS, kind) ? OFFERS[kind] : undefined;
  if (wanted === undefined) return undefined;
  if (offered?.[wanted] == null) return wanted;
  return method === 'resources/subscribe' && !offered.resources.subscribe ? 'resource subscriptions' : undefined;
}

/** A program that was moved halfway gives who it is, and what it can. */
export function checkServer(session, server) {
  const isSession = typeof session?.acquire === 'function' && !(session instanceof trunkline.Pool);
  if (!isSession) throw invalidArgument('`session` must be a session of a pool: `new Client(pool.session(id), server)`', 'session');
  if (typeof server !== 'string') throw invalidArgument('`server` must be the name of a server', 'server');
}
