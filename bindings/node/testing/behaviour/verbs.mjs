// The verbs of behaviour cases: docs/internals/behaviour-steps.md, "Steps". Each gives `{value, raw?, lease?}`.

import assert from 'node:assert/strict';

import { Pool } from '../../index.mjs';
import { visit } from '../support.mjs';
import { provided } from './provided.mjs';
import { Record } from './record.mjs';
import { SETTINGS } from './settings.mjs';
import { documentOf, optionsOf } from './spelling.mjs';

/** The verbs that `start` can begin. They take an AbortSignal last. */
export const STARTABLE = new Set([
  'acquire',
  'call',
  'call_exposed',
  'request',
  'request_of',
  'read_resource',
  'get_prompt',
  'drain',
  'restart',
  'settled',
  'started',
  'ready',
  'refresh',
  'listed',
]);

const nothing = { value: undefined };

const answer = (result) => ({ value: result.value, raw: result.raw });

const held = (lease) => ({
  value: { server: lease.server, entry_index: lease.entryIndex, generation: lease.generation },
  lease,
});

const introductionOf = (said) => {
  if (said === null) return null;
  const { protocolVersion, serverInfo, capabilities, instructions } = said;
  return { protocol_version: protocolVersion, server_info: serverInfo, capabilities, instructions };
};

const views = (listed) => ({
  value: listed.map(({ name, server, ownName, trust, alwaysLoad, deferred, definition }) => ({
    name,
    server,
    own_name: ownName,
    trust,
    always_load: alwaysLoad,
    deferred,
    definition,
  })),
});

/** The number of the event that was told last. */
const lastTold = (pool) => {
  const stream = pool.events();
  stream.return();
  return stream.snapshot.seq;
};

const withSignal = (options, signal) => {
  const spelled = optionsOf(options);
  if (signal === undefined) return spelled;
  return { ...spelled, signal };
};

/** Verb → `(case, args, signal)`; `case` is the running case of `case.mjs`. */
export const VERBS = {
  ...SETTINGS,
  async settled(run, [options], signal) {
    return { value: documentOf(await run.pool.settled(withSignal(options, signal))) };
  },
  async started(run, [id], signal) {
    return { value: documentOf(await run.session(id).started(withSignal(undefined, signal))) };
  },
  async ready(run, [id, server, options], signal) {
    await run.session(id).ready(server ?? undefined, withSignal(options, signal));
    return nothing;
  },
  async refresh(run, [id, server], signal) {
    await run.session(id).refresh(server, withSignal(undefined, signal));
    return nothing;
  },
  async listed(run, [id, server], signal) {
    await run.session(id).listed(server, withSignal(undefined, signal));
    return nothing;
  },
  introduction(run, [owner, server]) {
    if (server !== undefined) return { value: introductionOf(run.session(owner).introduction(server)) };
    const lease = run.lease(owner);
    const said = lease.introduction();
    const { protocolVersion, serverInfo, capabilities, instructions } = lease;
    assert.deepEqual(said ?? {}, said === null ? {} : { protocolVersion, serverInfo, capabilities, instructions });
    return { value: introductionOf(said) };
  },
  open(run, [id, options]) {
    const before = lastTold(run.pool);
    const session = run.pool.session(id, run.optionsOf(id, { servers: [], ...options }));
    run.addSession(id, session, new Record(session.events(), { record: run.record('pool'), session: id, before }));
    return nothing;
  },
  close(run, [id, options]) {
    run.session(id).close(optionsOf(options));
    return nothing;
  },
  async acquire(run, [id, server, config, options], signal) {
    const spec = config === undefined || config === null ? undefined : run.serverOf(config);
    return held(await run.session(id).acquire(server, spec, withSignal(options, signal)));
  },
  provide(run, [id, server, flags]) {
    const { receive, closed } = provided([...flags, '--start-log', run.log.path]);
    run.session(id).provide(server, receive, closed);
    return nothing;
  },
  release(run, [lease]) {
    run.lease(lease).release();
    return nothing;
  },
  async call(run, [lease, tool, args, options], signal) {
    return answer(await run.lease(lease).callTool(tool, args, withSignal(options, signal)));
  },
  async call_exposed(run, [id, tool, args, options], signal) {
    return answer(await run.session(id).callTool(tool, args, withSignal(options, signal)));
  },
  async request(run, [lease, method, params, options], signal) {
    return answer(await run.lease(lease).request(method, params, withSignal(options, signal)));
  },
  async request_of(run, [id, server, method, params, options], signal) {
    return answer(await run.session(id).request(server, method, params, withSignal(options, signal)));
  },
  async read_resource(run, [lease, uri], signal) {
    return answer(await run.lease(lease).readResource(uri, withSignal(undefined, signal)));
  },
  async get_prompt(run, [lease, name, args], signal) {
    return answer(await run.lease(lease).getPrompt(name, args, withSignal(undefined, signal)));
  },
  async subscribe(run, [lease, uri]) {
    await run.lease(lease).subscribeResource(uri);
    return nothing;
  },
  async unsubscribe(run, [lease, uri]) {
    await run.lease(lease).unsubscribeResource(uri);
    return nothing;
  },
  configure(run, [id, options]) {
    run.session(id).configure(optionsOf(options));
    return nothing;
  },
  async set_roots(run, [roots]) {
    await run.pool.setRoots(roots);
    return nothing;
  },
  set_gates: (run, [lists]) => ({ value: documentOf(run.pool.setGates(optionsOf(lists))) }),
  disable(run, [id, server]) {
    run.session(id).disable(server);
    return nothing;
  },
  enable(run, [id, server]) {
    run.session(id).enable(server);
    return nothing;
  },
  tools: (run, [id]) => views(run.session(id).tools()),
  tools_for: (run, [id, shape]) => ({ value: run.session(id).toolsFor(shape) }),
  revision: (run, [id]) => ({ value: run.session(id).tools().revision }),
  prompts: (run, [id]) => views(run.session(id).prompts()),
  resources: (run, [id]) => views(run.session(id).resources()),
  resource_templates: (run, [id]) => views(run.session(id).resourceTemplates()),
  status: (run) => ({ value: documentOf(run.pool.status()) }),
  watch(run, [name, subscriber]) {
    const watched = subscriber === 'pool' ? run.pool : run.session(subscriber);
    run.addStream(name, watched.events());
    return nothing;
  },
  async wait_event(run, [subscriber, type, pattern = {}]) {
    return { value: await run.record(subscriber).take(type, pattern) };
  },
  no_event(run, [subscriber, type, pattern = {}]) {
    const event = run.record(subscriber).find(type, pattern);
    if (event !== undefined) throw new Error(`there was such an event: ${JSON.stringify(event)}`);
    return nothing;
  },
  asked: (run, [owner]) => ({ value: [...run.asked(owner)] }),
  async reconcile(run, [servers]) {
    return { value: documentOf(await run.pool.reconcile(run.serversOf(servers))) };
  },
  async accept_tool(run, [server, tool, shown]) {
    await run.pool.acceptTool(server, tool, shown?.difference?.to ?? shown);
    return nothing;
  },
  async sign_in(run, [server, options]) {
    return { value: documentOf(await run.pool.signIn(server, optionsOf(options))) };
  },
  async visit(run, [address]) {
    return { value: await visit(address.url ?? address) };
  },
  async finish_sign_in(run, [address]) {
    return { value: documentOf(await run.pool.finishSignIn(address)) };
  },
  async sign_out(run, [server]) {
    return { value: documentOf(await run.pool.signOut(server)) };
  },
  async drain(run, [options], signal) {
    return { value: documentOf(await run.pool.drainAll(withSignal(options, signal))) };
  },
  async restart(run, [server, index], signal) {
    return { value: documentOf(await run.pool.restart(server, index, withSignal(undefined, signal))) };
  },
  async pool(run, [options]) {
    await new Pool(optionsOf(options)).close();
    return nothing;
  },
  async reopen(run) {
    await run.reopen();
    return nothing;
  },
  count(run, [what]) {
    if (what === 'starts') return { value: run.log.starts };
    if (what === 'processes') return { value: run.log.running.length };
    throw new Error(`count knows no ${what}`);
  },
};
