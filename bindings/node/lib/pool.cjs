'use strict';
// One workspace's set of connections.

const { fileURLToPath } = require('node:url');

const { Emitter, finish } = require('./emitter.cjs');
const { guarded, invalidArgument } = require('./errors.cjs');
const { asyncDispose, openStream } = require('./events.cjs');
const { Lease } = require('./lease.cjs');
const { inspected, shown } = require('./names.cjs');
const { bridge, openPool } = require('./native.cjs');
const { encodeJson, encodeOptions, readFlag, readText, readTimes, split } = require('./options.cjs');
const { report } = require('./results.cjs');
const { Session } = require('./session.cjs');
const { settle } = require('./settle.cjs');

/** The longest interval of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

class Pool extends Emitter {
  #native;
  #isClosed = false;
  /** The timer that keeps the process alive, and the pool with it. */
  #hold;

  constructor(options) {
    const native = withHandlers('pool', options, (rest, desk) => openPool(encodeOptions('pool', rest), desk));
    super(native);
    this.#native = native;
  }

  static features() {
    return bridge.features();
  }

  session(id, options) {
    const open = (rest, desk) => this.#native.session(encodeOptions('session', { ...rest, id: readText(id, 'id') }), desk);
    return new Session(withHandlers('session', options, open), id, this);
  }

  // <operations pool> Written from core/pool/src/interface/operations; do not edit.
  async acquire(server, config, options) {
    const { own, rest } = split(options, ['signal', 'session'], 'acquire');
    const configGiven = encodeJson(config, 'config');
    checkSession(own.session);
    const json = encodeOptions('acquire', rest);
    return new Lease(await settle(own.signal, (number) => this.#native.acquire(readText(server, 'server'), configGiven, own.session, json, number)), this);
  }

  async restart(server, index, options) {
    const { signal } = split(options, ['signal']).own;
    const indexGiven = readIndex(index);
    return report(await settle(signal, (number) => this.#native.restart(readText(server, 'server'), indexGiven, number)));
  }

  async acceptTool(server, tool, digest, options) {
    const { signal } = split(options, ['signal']).own;
    return settle(signal, (number) => this.#native.acceptTool(readText(server, 'server'), readText(tool, 'tool'), readText(digest, 'digest'), number));
  }

  async setRoots(roots, options) {
    const { signal } = split(options, ['signal']).own;
    const rootsGiven = encodeJson(roots, 'roots');
    return settle(signal, (number) => this.#native.setRoots(rootsGiven, number));
  }

  setGates(lists) {
    const json = encodeOptions('gates', lists);
    return report(guarded(() => this.#native.setGates(json)));
  }

  explain(name) {
    return report(guarded(() => this.#native.explain(readText(name, 'name'))));
  }

  status(options) {
    const json = encodeOptions('status', options);
    return report(guarded(() => this.#native.status(json)));
  }

  metrics(options) {
    const json = encodeOptions('status', options);
    return guarded(() => this.#native.metrics(json));
  }

  async drainAll(options) {
    const { own, rest } = split(options, ['signal'], 'drain');
    const json = encodeOptions('drain', rest);
    return report(await settle(own.signal, (number) => this.#native.drainAll(json, number)));
  }

  async reconcile(servers, options) {
    const { signal } = split(options, ['signal']).own;
    const serversGiven = encodeJson(servers, 'servers');
    return report(await settle(signal, (number) => this.#native.reconcile(serversGiven, number)));
  }

  async load(path, options) {
    const { own, rest } = split(options, ['signal'], 'load');
    const pathGiven = fileOf(path);
    const json = encodeOptions('load', rest);
    return report(await settle(own.signal, (number) => this.#native.load(pathGiven, json, number)));
  }

  setSource(source, settings) {
    const settingsGiven = settingsText(settings);
    return report(guarded(() => this.#native.setSource(readText(source, 'source'), settingsGiven)));
  }

  switchSource(source, to) {
    const toGiven = readSwitch(to, 'to');
    return report(guarded(() => this.#native.switchSource(readText(source, 'source'), toGiven)));
  }

  addServer(server, config) {
    const configGiven = encodeJson(config, 'config');
    return report(guarded(() => this.#native.addServer(readText(server, 'server'), configGiven)));
  }

  removeServer(server) {
    return report(guarded(() => this.#native.removeServer(readText(server, 'server'))));
  }

  async setTrusted(trusted, options) {
    const { signal } = split(options, ['signal']).own;
    return report(await settle(signal, (number) => this.#native.setTrusted(readFlag(trusted, 'trusted'), number)));
  }

  async reload(options) {
    const { own, rest } = split(options, ['signal'], 'reload');
    const json = encodeOptions('reload', rest);
    return report(await settle(own.signal, (number) => this.#native.reload(json, number)));
  }

  async approvals(options) {
    const { signal } = split(options, ['signal']).own;
    return report(await settle(signal, (number) => this.#native.approvals(number)));
  }

  async approve(server, hash, options) {
    const { signal } = split(options, ['signal']).own;
    return report(await settle(signal, (number) => this.#native.approve(readText(server, 'server'), readText(hash, 'hash'), number)));
  }

  async reject(server, hash, options) {
    const { signal } = split(options, ['signal']).own;
    return report(await settle(signal, (number) => this.#native.reject(readText(server, 'server'), readText(hash, 'hash'), number)));
  }

  async forget(server, options) {
    const { signal } = split(options, ['signal']).own;
    return report(await settle(signal, (number) => this.#native.forget(readText(server, 'server'), number)));
  }

  async settled(options) {
    const { signal, timeoutMs } = readTimes(options);
    return report(await settle(signal, (number) => this.#native.settled(timeoutMs, number)));
  }

  async signIn(server, options) {
    const { own, rest } = split(options, ['signal'], 'sign_in');
    const json = encodeOptions('sign_in', rest);
    return report(await settle(own.signal, (number) => this.#native.signIn(readText(server, 'server'), json, number)));
  }

  async finishSignIn(redirectUrl, options) {
    const { signal } = split(options, ['signal']).own;
    return report(await settle(signal, (number) => this.#native.finishSignIn(String(redirectUrl), number)));
  }

  async signOut(server, options) {
    const { signal } = split(options, ['signal']).own;
    return report(await settle(signal, (number) => this.#native.signOut(readText(server, 'server'), number)));
  }
  // </operations pool>

  events(options) {
    return openStream(this.#native, this, options);
  }

  ref() {
    if (!this.#isClosed) this.#hold ??= setInterval(() => {}, LONGEST_MS, this);
    return this;
  }

  unref() {
    if (this.#hold !== undefined) clearInterval(this.#hold);
    this.#hold = undefined;
    return this;
  }

  async close(options) {
    const json = encodeOptions('drain', options);
    await settle(undefined, () => this.#native.close(json));
    this.#isClosed = true;
    this.unref();
    this[finish]();
  }

  [inspected](...how) {
    const members = () => {
      const { closing, servers, sessions } = JSON.parse(guarded(() => this.#native.status('{}')));
      const states = Object.entries(servers ?? {}).map(([name, { state }]) => [name, state]);
      return { servers: Object.fromEntries(states), sessions, closing };
    };
    return shown(this, members, how);
  }
}
Object.defineProperty(Pool.prototype, asyncDispose, {
  value: function dispose() {
    return this.close();
  },
});

/** Makes a pool or session from the options of that scope, with their handlers: `make` gets the other options, and the native desk. */
function withHandlers(scope, options, make) {
  const { own, rest } = split(options, ['handlers'], scope);
  if (own.handlers === undefined) return guarded(() => make(rest));
  return require('./handlers.cjs').serve(own.handlers, (desk) => make(rest, desk));
}

/** The settings files that there are. */
function detect(workspace = '') {
  return JSON.parse(guarded(() => bridge.detect(workspace)));
}

/** Without one it is about every entry. The addon would make an index of any number: one that is none stands for the last, as far as no entry gets. */
function readIndex(index) {
  if (index === undefined || index === null) return index;
  if (!Number.isInteger(index)) throw invalidArgument('`index` must be the index of an entry', 'index');
  return index >= 0 && index < 2 ** 32 ? index : 2 ** 32 - 1;
}

/** Settings: the text of a file, or what it says; null for none. */
function settingsText(settings) {
  if (settings === null) return undefined;
  return typeof settings === 'string' ? readText(settings, 'settings') : encodeJson(settings, 'settings');
}

/** A path, or the address of a file, as a path. */
function fileOf(path) {
  if (typeof path === 'string') return readText(path, 'path');
  if (!(path instanceof URL)) throw invalidArgument('`path` must be a string or a URL', 'path');
  try {
    return fileURLToPath(path);
  } catch (cause) {
    throw invalidArgument('`path` is not a file URL', 'path', cause);
  }
}

/** The id of the session that an acquire is for. */
function checkSession(id) {
  if (typeof id !== 'string') throw invalidArgument('option `session` must be the id of a session', 'session');
}

/** Whether that is `on`. */
function readSwitch(to, name) {
  if (to !== 'on' && to !== 'off') throw invalidArgument(`\`${name}\` must be 'on' or 'off'`, name);
  return to === 'on';
}

module.exports = { Pool, detect };
