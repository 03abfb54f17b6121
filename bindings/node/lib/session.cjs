'use strict';
// One conversation in a host.

const { callTool, send } = require('./call.cjs');
const { Emitter, detach, isOver } = require('./emitter.cjs');
const { guarded, invalidArgument } = require('./errors.cjs');
const { asyncDispose, openStream } = require('./events.cjs');
const { Lease } = require('./lease.cjs');
const { inspected, shown } = require('./names.cjs');
const { desks } = require('./native.cjs');
const { checkDuration, encodeArguments, encodeJson, encodeOptionalJson, encodeOptions, readOptionalText, readText, readTimes, split } = require('./options.cjs');
const { CompletionResult, Lists, PromptResult, ResourceResult, Result, decodeIntroduction, report } = require('./results.cjs');
const { settle } = require('./settle.cjs');

class Session extends Emitter {
  #native;
  #id;
  /** Kept for its handlers, which answer for the session too. */
  #pool;
  #provided = new Set();
  #lists = new Lists();

  constructor(native, id, pool) {
    super(native);
    this.#native = native;
    this.#id = id;
    this.#pool = pool;
  }

  get id() {
    return this.#id;
  }

  // <operations session> Written from core/pool/src/interface/operations; do not edit.
  async acquire(server, config, options) {
    const { own, rest } = split(options, ['signal'], 'acquire');
    const configGiven = encodeOptionalJson(config, 'config');
    const json = encodeOptions('acquire', rest);
    return new Lease(await settle(own.signal, (number) => this.#native.acquire(readText(server, 'server'), configGiven, json, number)), this);
  }

  async started(options) {
    const { signal } = split(options, ['signal']).own;
    return report(await settle(signal, (number) => this.#native.started(number)));
  }

  async refresh(server, options) {
    const { signal } = split(options, ['signal']).own;
    return settle(signal, (number) => this.#native.refresh(readText(server, 'server'), number));
  }

  async listed(server, options) {
    const { signal } = split(options, ['signal']).own;
    const serverGiven = readOptionalText(server, 'server');
    return settle(signal, (number) => this.#native.listed(serverGiven, number));
  }

  introduction(server) {
    return decodeIntroduction(guarded(() => this.#native.introduction(readText(server, 'server'))));
  }

  tools() {
    return this.#lists.listed('tools', (known) => guarded(() => this.#native.tools(known)));
  }

  prompts() {
    return this.#lists.listed('prompts', (known) => guarded(() => this.#native.prompts(known)));
  }

  resources() {
    return this.#lists.listed('resources', (known) => guarded(() => this.#native.resources(known)));
  }

  resourceTemplates() {
    return this.#lists.listed('resource_templates', (known) => guarded(() => this.#native.resourceTemplates(known)));
  }

  configure(options) {
    const json = encodeOptions('configure', options);
    guarded(() => this.#native.configure(json));
  }

  explain(name) {
    return report(guarded(() => this.#native.explain(readText(name, 'name'))));
  }

  disable(server) {
    guarded(() => this.#native.disable(readText(server, 'server')));
  }

  enable(server) {
    guarded(() => this.#native.enable(readText(server, 'server')));
  }

  callTool(tool, args, options) {
    return callTool(this.#native, tool, args, options, this);
  }

  async request(server, method, params, options) {
    return send(Result, options, (json, number) => this.#native.request(readText(server, 'server'), readText(method, 'method'), encodeArguments(params), json, number));
  }

  async readResource(server, uri, options) {
    return send(ResourceResult, options, (json, number) => this.#native.readResource(readText(server, 'server'), readText(uri, 'uri'), json, number));
  }

  async getPrompt(server, name, args, options) {
    return send(PromptResult, options, (json, number) => this.#native.getPrompt(readText(server, 'server'), readText(name, 'name'), encodeArguments(args), json, number));
  }

  async complete(server, params, options) {
    return send(CompletionResult, options, (json, number) => this.#native.complete(readText(server, 'server'), encodeJson(params, 'params'), json, number));
  }
  // </operations session>

  async ready(server, options) {
    if (server !== null && typeof server === 'object') return this.ready(undefined, server);
    const { signal, timeoutMs } = readTimes(options);
    const name = readOptionalText(server, 'server');
    return settle(signal, (number) => this.#native.ready(name, timeoutMs, number));
  }

  toolsFor(shape) {
    return this.#lists.shaped(shape, (known) => guarded(() => this.#native.toolsFor(readText(shape, 'shape'), known)));
  }

  provide(server, receive, closed) {
    checkFunction(receive, 'receive');
    if (closed !== undefined) checkFunction(closed, 'closed');
    const native = guarded(() => this.#native.provide(readText(server, 'server')));
    const { Provided } = require('./hosted.cjs');
    new Provided(native, receive, closed, this.#provided);
  }

  events(options) {
    return openStream(this.#native, this, options);
  }

  close(options) {
    const { own } = split(options, ['keepForMs']);
    checkDuration(own.keepForMs, 'keepForMs');
    this[detach]();
    // Its handlers are called no more, whatever waits for them.
    desks.get(this.#native)?.dropHandlers();
    for (const provided of this.#provided) provided.outlive();
    guarded(() => this.#native.close(own.keepForMs));
    this.#lists.clear();
  }

  [inspected](...how) {
    return shown(this, () => ({ id: this.#id, closed: this[isOver] || this.#pool[isOver] }), how);
  }
}
Object.defineProperty(Session.prototype, asyncDispose, {
  value: async function dispose() {
    this.close();
  },
});

/** The server's end of one connection. */
class HostConnection {
  #native;
  #id;

  constructor(native, id) {
    this.#native = native;
    this.#id = id;
  }

  get id() {
    return this.#id;
  }

  send(frame) {
    guarded(() => this.#native.send(this.#id, readText(frame, 'frame')));
  }

  close() {
    guarded(() => this.#native.close(this.#id));
  }

  [inspected](...how) {
    return shown(this, () => ({ id: this.#id }), how);
  }
}

function checkFunction(value, name) {
  if (typeof value !== 'function') throw invalidArgument(`\`${name}\` must be a function`, name);
}

module.exports = { HostConnection, Session };
