'use strict';
// A session's hold on a server.

const { callTool, send } = require('./call.cjs');
const { guarded } = require('./errors.cjs');
const { asyncDispose } = require('./events.cjs');
const { inspected, shown } = require('./names.cjs');
const { encodeArguments, encodeJson, readText, split } = require('./options.cjs');
const { CompletionResult, PromptResult, ResourceResult, Result, decodeIntroduction, decodeList } = require('./results.cjs');
const { settle } = require('./settle.cjs');

class Lease {
  #native;
  /** Its session, or the pool, kept for their handlers. */
  #owner;

  constructor(native, owner) {
    this.#native = native;
    this.#owner = owner;
  }

  get server() {
    return this.#native.server();
  }

  get entryIndex() {
    return this.#native.entryIndex();
  }

  get generation() {
    return this.#native.generation();
  }

  get state() {
    return this.#native.state();
  }

  // <operations lease> Written from core/pool/src/interface/operations; do not edit.
  introduction() {
    return decodeIntroduction(guarded(() => this.#native.introduction()));
  }

  tools() {
    return decodeList(guarded(() => this.#native.tools()));
  }

  callTool(tool, args, options) {
    return callTool(this.#native, tool, args, options, this);
  }

  async request(method, params, options) {
    return send(Result, options, (json, number) => this.#native.request(readText(method, 'method'), encodeArguments(params), json, number));
  }

  async readResource(uri, options) {
    return send(ResourceResult, options, (json, number) => this.#native.readResource(readText(uri, 'uri'), json, number));
  }

  async getPrompt(name, args, options) {
    return send(PromptResult, options, (json, number) => this.#native.getPrompt(readText(name, 'name'), encodeArguments(args), json, number));
  }

  async complete(params, options) {
    return send(CompletionResult, options, (json, number) => this.#native.complete(encodeJson(params, 'params'), json, number));
  }

  async subscribeResource(uri, options) {
    const { signal } = split(options, ['signal']).own;
    return settle(signal, (number) => this.#native.subscribeResource(readText(uri, 'uri'), number));
  }

  async unsubscribeResource(uri, options) {
    const { signal } = split(options, ['signal']).own;
    return settle(signal, (number) => this.#native.unsubscribeResource(readText(uri, 'uri'), number));
  }
  // </operations lease>

  get instructions() {
    return this.introduction()?.instructions ?? null;
  }

  get serverInfo() {
    return this.introduction()?.serverInfo ?? null;
  }

  get capabilities() {
    return this.introduction()?.capabilities ?? null;
  }

  get protocolVersion() {
    return this.introduction()?.protocolVersion ?? null;
  }

  release() {
    this.#native.release();
  }

  [inspected](...how) {
    const members = () => {
      const { server, entryIndex, generation, state } = this;
      return { server, entryIndex, generation, state };
    };
    return shown(this, () => guarded(members), how);
  }
}
Object.defineProperty(Lease.prototype, asyncDispose, {
  value: async function dispose() {
    this.release();
  },
});
Object.defineProperty(Lease.prototype, Symbol.dispose ?? Symbol.for('nodejs.dispose'), {
  value: function dispose() {
    this.release();
  },
});

module.exports = { Lease };
