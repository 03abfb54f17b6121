// What the declarations allow, and what they refuse: compiled by `tsc --noEmit`, never run.

import { CallResult, Lease, Pool, Refusal, Session, TrunklineError, detect } from '../index.js';
import type * as names from '../index.js';
import type { EventOf, ListedItem, TrunklineEvent } from '../index.js';

/** Whether two types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

function same<A, B>(_: Same<A, B>): void {}

export async function host(signal: AbortSignal): Promise<void> {
  const scopes: string[] = detect('.').files.map(({ path, format, scope }) => `${path} ${format} ${scope}`);
  void [detect(), scopes];
  await using pool = new Pool({
    drainDelayMs: 500,
    budget: { limit: 5, mode: 'enforce' },
    onToolChange: 'quarantine',
    limits: { frameBytes: 1 << 20 },
    clientInfo: { name: 'host', version: '1', icons: [{ src: 'data:,', theme: 'dark' }] },
    reconnect: { delaysMs: { local: [1, 2] }, breaker: { losses: 3 } },
  });
  const report = await pool.reconcile({ files: { command: 'files', args: ['--all'] } });
  same<names.ServerAction | undefined, NonNullable<(typeof report.servers)[string]>['action'] | undefined>(true);
  await pool.reconcile({ mcpServers: { files: { command: 'files' } } }, { signal });

  await using session: Session = pool.session('chat', { servers: ['files'], exclude: { files: ['rm'] } });
  const { servers: standing } = await session.started({ signal });
  const deferred: number | undefined = standing.files?.deferred;
  console.log(standing.files?.state === 'asleep', deferred);
  await session.ready({ timeoutMs: 1000 });
  await session.ready('files', { signal });
  await session.refresh('files', { signal });
  await session.listed(null, { signal });
  session.configure({ include: { s: ['echo'] }, alwaysLoad: {}, servers: 'all', roots: ['src'] });
  await pool.setRoots(['src'], { signal });
  const loaded = await pool.load('.mcp.json', { watch: true, signal });
  for (const { path, format } of detect().files) await pool.load(path, { format });
  const refused: string | undefined = loaded.servers.s?.reason;
  for (const { server, hash } of (await pool.approvals()).requests) await pool.approve(server, hash, { signal });
  pool.setSource('launch', { mcpServers: {} });
  pool.switchSource('extension', 'off');
  same<'removed' | 'not_present', ReturnType<typeof pool.removeServer>['result']>(true);
  void [refused, (await pool.settled({ timeoutMs: 10, signal })).servers.s?.state];
  session.disable('s');
  session.enable('s');
  const tools: ListedItem[] = session.tools();
  const result: CallResult = await session.callTool(tools[0]?.name ?? '', { a: 1 }, { signal, progress: true });
  const [block] = result.content;
  if (block?.type === 'text') same<string, typeof block.text>(true);
  same<boolean, typeof result.isError>(true);
  await session.callTool('slow', {}, { progress: ({ call }) => same<number, typeof call>(true) });

  using lease: Lease = await session.acquire('files', null, { timeoutMs: 5, logLevel: 'warning', signal });
  const said = () => session.introduction('files')?.instructions ?? lease.instructions;
  same<string | null, ReturnType<typeof said>>(true);
  const { contents } = await lease.readResource('file:///a');
  same<string | undefined, NonNullable<(typeof contents)[0]>['text']>(true);
  const drained = await pool.drainAll({ force: true });
  same<number, typeof drained.forced>(true);
}

export async function listen(pool: Pool): Promise<void> {
  pool.on('tools_changed', (event) => {
    same<string[], typeof event.added>(true);
    same<'tools_changed', typeof event.type>(true);
  });
  // Names of Node's own, and of the host's own.
  const [mine, ignore] = [Symbol('mine'), () => {}];
  pool.on('error', ignore).once('newListener', ignore).off(mine, (one: string, two: number) => console.log(one, two));
  pool.once('failed', ({ error }) => same<TrunklineError, typeof error>(true));
  pool.on('refused_batch', ({ refused, live }) => {
    same<string | undefined, (typeof refused)[number]['server'] | undefined>(true);
    same<number, typeof live>(true);
  });
  pool.on('tool_quarantined', ({ server, tool, difference }) => pool.acceptTool(server ?? '', tool, difference.to));
  for await (const event of pool.events({ kinds: ['log', 'progress'] })) {
    same<EventOf<'log' | 'progress' | 'lagged'>, typeof event>(true);
    if (event.type === 'progress') same<number, typeof event.progress>(true);
  }
  for await (const event of pool.events()) tell(event);
}

/** What the environment may lack, and what JSON has as null, counts as absent. */
export function absent(given: { signal?: AbortSignal; folder?: string }): void {
  const pool = new Pool({ workspace: given.folder, budget: null, reconnect: { delaysMs: { local: undefined } }, handlers: undefined });
  const session = pool.session('chat', { servers: undefined, keepForMs: null });
  void session.callTool('x', {}, { signal: given.signal, timeoutMs: undefined });
  void session.ready({ signal: given.signal });
  pool.events({ kinds: undefined });
  same<Pool, ReturnType<typeof pool.ref>>(true);
  same<Pool, ReturnType<typeof pool.unref>>(true);
}

/** Nothing of the status, or of a tool in a shape, is `unknown`. */
export async function known(pool: Pool, session: Session): Promise<void> {
  const { files } = pool.status().servers;
  same<number | null | undefined, NonNullable<typeof files>['entries'][number]['pid'] | undefined>(true);
  same<string | undefined, NonNullable<NonNullable<typeof files>['lastError']>['hint']>(true);
  const [chat] = session.toolsFor('openai');
  same<string | undefined, NonNullable<typeof chat>['function']['name'] | undefined>(true);
  const [message] = session.toolsFor('anthropic');
  same<'object', NonNullable<typeof message>['input_schema']['type']>(true);
  console.log(session.explain('x').shapes?.openai_responses?.renamed?.['city'] === 'città');
  for (const { restarted, reason } of (await pool.restart('files')).entries) console.log(restarted, reason === 'in_flight');
  const shape: names.ToolFormat = Math.random() > 2 ? 'mcp' : 'gemini';
  same<number, ReturnType<typeof session.toolsFor<typeof shape>>['revision']>(true);
}

function tell(event: TrunklineEvent): string {
  switch (event.type) {
    case 'reconnected':
      return `${event.server ?? ''} after ${event.downtimeMs} ms`;
    case 'lagged':
      return `${event.missed} missed`;
    default:
      return event.type;
  }
}

export function explain(error: unknown): string {
  if (!(error instanceof TrunklineError)) throw error;
  switch (error.code) {
    case 'TRUNKLINE_CALL_INTERRUPTED':
      return error.outcome === 'not_sent' ? 'try again' : `the server may have run it: ${error.arguments}`;
    case 'TRUNKLINE_TIMEOUT':
      return `${error.server}: ${error.detail['which']}`;
    default:
      return error.retryable ? 'later' : (error.hint ?? error.message);
  }
}

// @ts-expect-error: what a handler throws has nothing of the servers that the budget refused.
export type OfRefused = Refusal['transport'];

// @ts-expect-error: the class that pools and sessions share is no export.
export type Shared = names.Emitter;

export function refused(pool: Pool, session: Session): void {
  // @ts-expect-error: options are camelCase.
  new Pool({ drain_delay_ms: 5 });
  // @ts-expect-error: there is no such option.
  session.callTool('x', {}, { timeout: 5 });
  // @ts-expect-error: arguments are an object.
  session.callTool('x', 'y');
  // @ts-expect-error: there is no such kind of event.
  pool.events({ kinds: ['tool_changed'] });
  // @ts-expect-error: nor for listeners.
  pool.on('tool_changed', () => {});
  // @ts-expect-error: no product is called so.
  void pool.load('settings.json', { format: 'vs-code' });
  // @ts-expect-error: the status has no such member.
  void pool.status().sevrers;
  // @ts-expect-error: a tool of Anthropic's has no function.
  void session.toolsFor('anthropic')[0]?.function;
  // @ts-expect-error: there is no such shape.
  session.toolsFor('opnai');
  // @ts-expect-error: everybody who asks for the list has this item.
  session.tools()[0]!.name = 'mine';
  // @ts-expect-error: a server has no such member.
  void pool.reconcile({ x: { cmd: 'x' } });
  // @ts-expect-error: a signal stands in the options.
  void session.callTool('x', {}, AbortSignal.timeout(1));
  // @ts-expect-error: roots are an array.
  pool.setRoots('src');
  const gated = pool.setGates({ allowed: ['git*'], excluded: [] });
  const reason: string | undefined = gated.servers.git?.reason;
  // @ts-expect-error: there is no such list.
  pool.setGates({ allow: [reason] });
  // @ts-expect-error: a source is switched on or off.
  pool.switchSource('user', true);
  // @ts-expect-error: sessions are opened by their pool.
  new Session();
  // @ts-expect-error: an acquire in the pool says for which session.
  pool.acquire('x', { command: 'x' });
}
