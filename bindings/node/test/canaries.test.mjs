// Secrets in what a host configures, looked for in all that Node shows of it: S-48, SECURITY row 13.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { inspect } from 'node:util';

import { Refusal, startLogs } from '../index.mjs';
import { RemoteServer, openPool, packageFolder, repository, score, testserver, textOf, until, visit, within } from '../testing/support.mjs';

/**
 * Where a secret may be seen: the arguments of a process in its command line and in the request to approve it, and what a function of
 * the host throws in the warning about it.
 */
const MAY_BE_SEEN = {
  'an argument': 'process',
  'an argument of what is approved': 'approvals',
  'what a handler fails with': 'warning',
};

/** As it is, and within the code of basic authentication: three bytes are four letters of it, wherever the secret begins. */
function formsOf(secret) {
  const aligned = [0, 1, 2].map((skip) => secret.slice(skip, skip + Math.floor((secret.length - skip) / 3) * 3));
  return [secret, ...aligned.map((part) => Buffer.from(part).toString('base64'))];
}

/** The inputs, with a secret for each place in them that has a mark. */
class Inputs {
  /** The secret of each place. */
  places = new Map();
  #text;

  constructor(folder) {
    this.folder = folder;
    const text = readFileSync(join(repository, 'tests/canaries.json'), 'utf8');
    const planted = text.replace(/CANARY ([A-Za-z ]+)/g, (_, place) => this.canary(place));
    this.#text = planted.replaceAll('"SERVER"', JSON.stringify(testserver)).replaceAll('FOLDER', folder);
  }

  /** The secret of that place: letters and digits alone, so that no escaping changes it. */
  canary(place, secret = undefined) {
    const number = this.places.size;
    const made = `q${String(number).padStart(2, '0')}Zcanary${String(97 - number).padStart(2, '0')}Y`;
    if (!this.places.has(place)) this.places.set(place, secret ?? made);
    return this.places.get(place);
  }

  /** The inputs, with their files written and their remote servers running until the test ends. */
  async given(t) {
    const { files, settings, remotes } = JSON.parse(this.#text);
    for (const [name, content] of Object.entries({ ...files, ...settings })) {
      writeFileSync(join(this.folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    }
    let whole = this.#text;
    for (const [name, flags] of Object.entries(remotes)) {
      const remote = new RemoteServer(flags.map((flag) => (typeof flag === 'string' ? flag : JSON.stringify(flag))));
      t.after(() => remote.end());
      const { host } = new URL(await within(remote.address(), name));
      whole = whole.replaceAll(`$${name}`, host);
    }
    return JSON.parse(whole);
  }
}

/** All that was shown, and where. */
class Shown {
  #texts = [];

  keep(place, ...things) {
    for (const thing of things) {
      const isError = thing instanceof Error;
      // The arguments of its call, which an error hides, are for the caller alone.
      const texts = [inspect(thing, { depth: 12, showHidden: !isError }), String(thing), JSON.stringify(thing) ?? ''];
      if (isError) texts.push(thing.stack, inspect(thing.cause, { depth: 12 }));
      this.#texts.push(...texts.map((shown) => [place, shown]));
    }
  }

  keepFiles(folder) {
    for (const name of readdirSync(folder, { recursive: true })) {
      const path = join(folder, name);
      if (statSync(path).isFile()) this.keep('file', `${name}: ${readFileSync(path, 'latin1')}`);
    }
  }

  /** Where it is seen, and what is around it. */
  placesOf(secret) {
    const seen = {};
    const forms = formsOf(secret);
    for (const [place, text] of this.#texts) {
      for (const form of forms) {
        const at = text.indexOf(form);
        if (at >= 0) seen[place] = text.slice(Math.max(at - 200, 0), at + 200);
      }
    }
    return seen;
  }

  count(place) {
    return this.#texts.filter(([shown]) => shown === place).length;
  }

  get size() {
    return this.#texts.length;
  }
}

/** The command lines of a server and of what holds it, and the environment of that. */
function processes(server) {
  const shown = [];
  for (let pid = server; pid !== 1 && pid !== process.pid; ) {
    try {
      shown.push(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      if (pid !== server) shown.push(readFileSync(`/proc/${pid}/environ`, 'utf8'));
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      pid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    } catch {
      break;
    }
  }
  return shown;
}

/** A pool with every input, and what it shows. */
class Scene {
  constructor(t, shown, inputs, given, home) {
    Object.assign(this, { shown, inputs, given, home });
    // What a handler does for each server, or each kind of question, is written down.
    this.answer = (request) => {
      shown.keep('question', request);
      const script = given.answers[request.kind === 'credentials' ? request.server : request.kind] ?? {};
      if (script.fail !== undefined) throw new Error(script.fail);
      if (script.refuse !== undefined) throw new Refusal(-1, script.refuse);
      return script.answer ?? {};
    };
    this.pool = openPool(t, {
      cache: join(home, 'cache'),
      approvals: join(home, 'approvals.json'),
      statusFile: join(home, 'status.json'),
      workspace: inputs.folder,
      trusted: true,
      commands: true,
      drainDelayMs: 0,
      limits: { eventBacklog: 1 << 16 },
      handlers: { inputs: this.answer, secrets: this.answer },
    }).pool;
  }

  /** What it gives, or why it fails, is shown. */
  async attempt(place, work) {
    const [{ value, reason }] = await within(Promise.allSettled([(async () => work())()]), place);
    this.shown.keep(place, reason ?? value);
    return value;
  }

  /** Acquires a server, calls it, and looks at what is said of it and of all. */
  async use(session, server, config = null) {
    const { pool, shown } = this;
    const lease = await this.attempt('acquire', () => session.acquire(server, config));
    if (lease) {
      shown.keep('tools of a lease', lease.tools());
      for (const tool of ['pid', 'nothing', 'fail', 'crash']) {
        const called = await this.attempt('call', () => lease.callTool(tool, this.given.arguments));
        if (called && tool === 'pid') shown.keep('process', ...processes(Number(textOf(called))));
      }
      lease.release();
    }
    for (const owner of [pool, session]) await this.attempt('explain', () => owner.explain(server));
    shown.keep('objects', pool, session, session.tools());
    shown.keep('status', pool.status({ processes: true }), pool.metrics({ processes: true }));
  }

  async refuse() {
    for (const refused of this.given.refused) {
      const report = await this.attempt('refused', () => this.pool.reconcile({ refused }));
      assert.ok(!report || report.servers.refused.error, inspect(report));
    }
  }

  /** A person signs in; the calls after that use the first token up, so that it is renewed. */
  async signIn(session, server) {
    const { pool } = this;
    const begun = await this.attempt('sign-in', () => pool.signIn(server, { redirectUri: 'http://localhost:3000/callback' }));
    const back = await visit(begun.url);
    this.inputs.canary('a code of a sign in', new URL(back).searchParams.get('code'));
    for (let times = 0; times < 2; times++) await this.attempt('sign-in', () => pool.finishSignIn(back));
    for (let times = 0; times < 3; times++) await this.use(session, server);
    await this.attempt('sign-in', () => pool.signOut(server));
  }

  /** Every settings file, as a text and as a file. */
  async settle() {
    const { pool } = this;
    for (const [name, content] of Object.entries(this.given.settings)) {
      for (const work of [
        () => pool.setSource('user', content),
        () => pool.load(join(this.inputs.folder, name), { source: 'user' }),
      ]) {
        await this.attempt('source', work);
        const session = pool.session('settings', { servers: [] });
        await this.use(session, 'f');
        await session.close();
      }
      await this.attempt('source', () => pool.setSource('user', null));
    }
  }

  async approve(session) {
    const { pool } = this;
    await this.attempt('source', () => pool.setSource('project', this.given.approved));
    const { requests } = await this.attempt('approvals', () => pool.approvals());
    await this.use(session, 'approved');
    await this.attempt('approvals', () => pool.approve('approved', requests[0].hash));
    await this.use(session, 'approved');
  }

  async showAll() {
    const { pool, given } = this;
    await this.refuse();
    await this.attempt('report', () => pool.reconcile(given.servers));
    const letIn = pool.session('let in', { servers: [], handlers: { credentials: this.answer } });
    const session = pool.session('a', { servers: [] });
    for (const server of Object.keys(given.servers)) await this.use(server in given.answers ? letIn : session, server);
    for (const config of given.brought) await this.use(session, 'own', config);
    await this.attempt('call', () => session.callTool('nothing', given.arguments));
    await this.signIn(session, 'person');
    await this.approve(session);
    await this.settle();
    const file = join(this.home, 'status.json');
    await until(() => statSync(file, { throwIfNoEntry: false }), () => 'the status is written');
    this.shown.keepFiles(this.home);
  }
}

/** What a process says of a panic of the library with that value in its words: the error, and all that it prints. */
function panicked(value) {
  const errors = JSON.stringify(join(packageFolder, 'lib/errors.cjs'));
  const native = JSON.stringify(join(packageFolder, 'lib/native.cjs'));
  const program = `
    const error = (() => { try { require(${errors}).guarded(() => require(${native}).bridge._panic(process.argv[1])); } catch (error) { return error; } })();
    console.log(error, error.stack, error.cause, JSON.stringify(error));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program, value], { encoding: 'utf8' });
  assert.match(stdout, /TRUNKLINE_INTERNAL[^]*bridge\.rs/);
  return `${stdout} ${stderr}`;
}

/** Makes two folders that are gone after the test. */
function folders(t) {
  const base = mkdtempSync(join(tmpdir(), 'trunkline-canaries-'));
  t.after(() => rmSync(base, { recursive: true }));
  return ['given', 'home'].map((name) => {
    mkdirSync(join(base, name));
    return join(base, name);
  });
}

/** Keeps the warnings of this process until the test ends, as who listens to them gets them. */
function keepWarnings(t, shown) {
  const keep = (warning) => shown.keep('warning', warning);
  process.on('warning', keep);
  t.after(() => process.off('warning', keep));
}

it('finds a secret as it is, and within the code of basic authentication', () => {
  const shown = new Shown();
  shown.keep('plain', 'a secretvalue77 b');
  shown.keep('coded', 'Basic dXNlcjpzZWNyZXR2YWx1ZTc4');
  const found = [77, 78, 79].map((number) => Object.keys(shown.placesOf(`secretvalue${number}`)));
  assert.deepEqual(found, [['plain'], ['coded'], []]);
});

// S-48
it('shows no secret of what is configured', async (t) => {
  const [folder, home] = folders(t);
  const shown = new Shown();
  const inputs = new Inputs(folder);
  const given = await inputs.given(t);
  Object.assign(process.env, given.variables);
  keepWarnings(t, shown);
  const logs = startLogs((records) => shown.keep('log', ...records), { level: 'trace' });
  const scene = new Scene(t, shown, inputs, given, home);
  scene.pool.on('error', (event) => shown.keep('event', event));
  const events = scene.pool.events();
  shown.keep('snapshot', events, events.snapshot);
  const heard = (async () => {
    for await (const event of events) shown.keep(event.type === 'approval_needed' ? 'approvals' : 'event', event);
  })();
  await scene.showAll();
  await within(scene.pool.close(), 'close');
  logs.close();
  await within(heard, 'the end of the events');
  shown.keepFiles(home);
  shown.keep('panic', panicked(inputs.canary('what a panic says')));
  for (const place of ['event', 'log', 'file', 'question', 'acquire', 'call', 'source', 'refused', 'process', 'sign-in', 'explain']) {
    assert.ok(shown.count(place) >= 4, place);
  }
  assert.ok(inputs.places.size >= 40 && shown.size > 500);
  const seen = new Map(Array.from(inputs.places, ([place, secret]) => [place, shown.placesOf(secret)]));
  for (const [place, where] of Object.entries(MAY_BE_SEEN)) {
    assert.ok(seen.get(place)[where], `${place} is not in ${where}`);
    delete seen.get(place)[where];
  }
  assert.deepEqual([...seen].filter(([, places]) => Object.keys(places).length > 0), []);
  score('canary/node', inputs.places.size);
});
