// The interpreter of behaviour cases: docs/internals/behaviour.md.

import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Pool } from '../../index.mjs';
import { HANG_BOUND_MS, RemoteServer, StartLog, faultserver, repository, testserver, within } from '../support.mjs';
import { expect } from './expect.mjs';
import { withHandlers } from './handlers.mjs';
import { Record } from './record.mjs';
import { optionsOf } from './spelling.mjs';
import { STARTABLE, VERBS } from './verbs.mjs';

const MEMBERS = new Set(['name', 'spec', 'options', 'remotes', 'servers', 'steps', 'after']);

const EXPECTATIONS = new Set([
  'as',
  'equals',
  'differs',
  'is',
  'match',
  'text',
  'raw',
  'length',
  'own_names',
  'error',
]);

/** The members that stand for a server of the tests, and the program of each. */
const PROGRAMS = { testserver, fault: faultserver };

const UNTIL_PAUSE_MS = 10;

/** All cases of the suite. */
export function allCases() {
  const folder = process.env.TRUNKLINE_BEHAVIOUR ?? join(repository, 'tests/behaviour');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.sort().flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
}

/** Runs one case; throws when a step does not hold. */
export async function runCase(behaviour) {
  refuseUnknown(behaviour, MEMBERS, 'member of a case');
  const run = new Running(behaviour);
  try {
    await run.begin();
    for (const [index, step] of behaviour.steps.entries()) {
      try {
        await within(run.step(step), 'a step');
      } catch (error) {
        error.message = `step ${index + 1}, ${JSON.stringify(step)}: ${error.message}`;
        throw error;
      }
    }
  } finally {
    await run.end();
  }
}

class Running {
  log = new StartLog();
  folder = mkdtempSync(join(tmpdir(), 'trunkline-case-'));
  #saved = new Map([
    ['folder', this.folder],
    ['workspace', join(this.folder, 'workspace')],
    ['file', join(this.folder, 'file')],
  ]);
  #sessions = new Map();
  #records = new Map();
  /** What the handlers of a session, or of the pool, were asked. */
  #asked = new Map();
  /** Streams that nobody reads before a step looks into their record. */
  #unread = new Map();
  #leases = new Map();
  #operations = new Map();
  #remotes = [];
  #behaviour;

  constructor(behaviour) {
    this.#behaviour = behaviour;
    mkdirSync(join(this.folder, 'workspace'));
  }

  async begin() {
    for (const [name, wanted] of Object.entries(this.#behaviour.remotes ?? {})) {
      const { fault } = wanted;
      const remote = new RemoteServer(this.#filled(fault ?? wanted), fault && faultserver);
      this.#remotes.push(remote);
      this.#saved.set(name, await within(remote.address(), 'the address of a remote server'));
    }
    await this.#beginPool();
  }

  async #beginPool() {
    // Never the decisions of the person who runs the cases.
    const options = { approvals: 'memory', cache: 'off', ...this.#filled(this.#behaviour.options ?? {}) };
    this.pool = new Pool(this.optionsOf('pool', options));
    this.#records.set('pool', new Record(this.pool.events()));
    await this.pool.reconcile(this.serversOf(this.#filled(this.#behaviour.servers ?? {})));
  }

  async #endPool() {
    for (const { controller } of this.#operations.values()) controller.abort();
    try {
      if (this.pool !== undefined) await within(this.pool.close(), 'close');
    } finally {
      for (const record of this.#records.values()) await record.end();
    }
  }

  /** Another pool takes the place of the pool, and nothing is left of what was begun in that. */
  async reopen() {
    await this.#endPool();
    const begun = [this.#sessions, this.#records, this.#asked, this.#unread, this.#leases, this.#operations];
    for (const named of begun) named.clear();
    await this.#beginPool();
  }

  async end() {
    try {
      await this.#endPool();
    } finally {
      for (const remote of this.#remotes) await remote.end();
      await this.log.end();
      rmSync(this.folder, { recursive: true });
    }
  }

  async step(step) {
    const [verb, ...others] = Object.keys(step).filter((name) => !EXPECTATIONS.has(name));
    if (verb === undefined || others.length > 0) throw new Error('a step has one verb');
    const expected = this.#filled(Object.fromEntries(Object.entries(step).filter(([name]) => name !== verb)));
    if (verb === 'until') return this.#until(step.until);
    if (verb === 'start') return this.#start(step.start, expected.as);
    if (verb === 'cancel') return this.#operation(step.cancel).controller.abort();
    const outcome = await this.#outcome(() =>
      verb === 'finish' ? this.#operation(step.finish).promise : this.#carryOut(verb, step[verb]),
    );
    // One without a name is kept as well: the collector releases what nobody has.
    if (outcome.lease !== undefined) this.#leases.set(step.as ?? Symbol(verb), outcome.lease);
    expect(outcome, expected, this.#saved);
    if (step.as !== undefined) this.#saved.set(step.as, outcome.value);
  }

  /** What a verb gives, or `{error}`. */
  async #outcome(carryOut) {
    try {
      return await carryOut();
    } catch (error) {
      return { error };
    }
  }

  #carryOut(verb, args, signal) {
    if (!Object.hasOwn(VERBS, verb)) throw new Error(`unknown verb ${verb}`);
    const list = Array.isArray(args) ? args : [args];
    return VERBS[verb](this, this.#filled(list), signal);
  }

  #start(step, name) {
    const [[verb, args]] = Object.entries(step);
    if (!STARTABLE.has(verb)) throw new Error(`${verb} cannot be started`);
    const controller = new AbortController();
    const promise = this.#carryOut(verb, args, controller.signal);
    promise.catch(() => {});
    this.#operations.set(name, { promise, controller });
  }

  async #until(step) {
    const end = Date.now() + HANG_BOUND_MS;
    for (;;) {
      try {
        return await this.step(step);
      } catch (error) {
        if (Date.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, UNTIL_PAUSE_MS));
      }
    }
  }

  /** A value with its variables replaced. */
  #filled(value) {
    if (typeof value === 'string' && value.startsWith('$')) {
      const name = value.slice(1);
      return this.#saved.has(name) ? this.#saved.get(name) : value;
    }
    if (Array.isArray(value)) return value.map((item) => this.#filled(item));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.#filled(item)]));
  }

  /** Options of a session or of the pool as the library takes them. */
  optionsOf(owner, options) {
    const asked = [];
    this.#asked.set(owner, asked);
    return withHandlers(optionsOf(options), asked);
  }

  asked(owner) {
    return known(this.#asked, owner, 'handlers of');
  }

  /** A server object as the library takes it. */
  serverOf(server) {
    const [member, command] = Object.entries(PROGRAMS).find(([name]) => server?.[name] !== undefined) ?? [];
    if (member === undefined) return server;
    const { [member]: flags, ...others } = server;
    return { ...others, command, args: [...flags, '--start-log', this.log.path] };
  }

  /** A value with every server object in it as the library takes it. */
  serversWithin(value) {
    if (Array.isArray(value)) return value.map((item) => this.serversWithin(item));
    if (value === null || typeof value !== 'object') return value;
    const members = Object.entries(this.serverOf(value));
    return Object.fromEntries(members.map(([name, item]) => [name, this.serversWithin(item)]));
  }

  /** A map of servers as the library takes it. */
  serversOf(servers) {
    if (servers === null || typeof servers !== 'object' || Array.isArray(servers)) return servers;
    return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, this.serverOf(server)]));
  }

  addSession(id, session, record) {
    this.#sessions.set(id, session);
    this.#records.get(id)?.end();
    this.#records.set(id, record);
  }

  session(id) {
    return known(this.#sessions, id, 'session');
  }

  addStream(name, stream) {
    this.#unread.set(name, stream);
  }

  record(subscriber) {
    if (this.#unread.has(subscriber)) {
      this.#records.set(subscriber, new Record(this.#unread.get(subscriber)));
      this.#unread.delete(subscriber);
    }
    return known(this.#records, subscriber, 'subscriber');
  }

  lease(name) {
    return known(this.#leases, name, 'lease');
  }

  #operation(name) {
    return known(this.#operations, name, 'operation');
  }
}

function known(map, name, what) {
  if (map.has(name)) return map.get(name);
  throw new Error(`there is no ${what} ${name}`);
}

function refuseUnknown(object, names, what) {
  for (const name of Object.keys(object)) {
    if (!names.has(name)) throw new Error(`unknown ${what}: ${name}`);
  }
}
