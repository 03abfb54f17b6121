// `trunkline/otel` with OpenTelemetry's own SDK (SPEC 16.7).

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { it } from 'node:test';

import { ROOT_CONTEXT, SpanKind, SpanStatusCode, context, propagation, trace } from '@opentelemetry/api';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { instrument, traceMeta, uninstrument } from 'trunkline/otel';

import { opened, pageRuns } from './served.mjs';

const BOUNDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** What a host's SDK sets up, so that a span is current over an `await`. */
const current = new AsyncLocalStorage();
context.setGlobalContextManager({
  active: () => current.getStore() ?? ROOT_CONTEXT,
  with: (active, run, self, ...given) => current.run(active, () => run.apply(self, given)),
  bind: (_, target) => target,
  enable() {
    return this;
  },
  disable() {
    return this;
  },
});

/** Providers that keep what they are told. */
function telemetry(t) {
  const spans = new InMemorySpanExporter();
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: points, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ readers: [reader] });
  t.after(async () => {
    uninstrument();
    await tracers.shutdown();
    await meters.shutdown();
  });
  const durations = async () => {
    await meters.forceFlush();
    const [{ scopeMetrics }] = points.getMetrics();
    const [{ metrics }] = scopeMetrics;
    assert.deepEqual(metrics.map(({ descriptor }) => [descriptor.name, descriptor.unit]), [['mcp.client.operation.duration', 's']]);
    return metrics[0].dataPoints;
  };
  return { tracers, meters, spans: () => spans.getFinishedSpans(), durations };
}

/** The `_meta` that a server gets with a call. */
async function sent(lease, options) {
  const [{ text }] = (await lease.callTool('meta', {}, options)).content;
  return text === 'none' ? undefined : JSON.parse(text);
}

it('a call is a span whose trace goes to the server', async (t) => {
  const session = await opened(t);
  const lease = await session.acquire('s');
  const { tracers, meters, spans } = telemetry(t);
  assert.equal(await sent(lease), undefined);
  instrument({ tracerProvider: tracers, meterProvider: meters });
  const baggage = propagation.createBaggage({ user: { value: 'al ice' } });
  const turn = tracers.getTracer('host').startSpan('turn');
  const inside = propagation.setBaggage(trace.setSpan(context.active(), turn), baggage);
  const meta = await context.with(inside, () => sent(lease, { meta: { k: 1 } }));
  turn.end();
  const span = spans().find(({ name }) => name === 'tools/call meta');
  const { traceId, spanId, traceFlags } = span.spanContext();
  // The baggage is the host's own affair.
  assert.deepEqual(meta, { traceparent: `00-${traceId}-${spanId}-0${traceFlags}`, k: 1 });
  assert.equal(traceId, turn.spanContext().traceId);
  assert.equal(span.kind, SpanKind.CLIENT);
  assert.deepEqual(span.attributes, {
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'meta',
  });
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  assert.deepEqual(await sent(lease, { meta: { traceparent } }), { traceparent });
  instrument({ tracerProvider: tracers, meterProvider: meters, baggage: true });
  assert.equal((await context.with(inside, () => sent(lease))).baggage, 'user=al%20ice');
  uninstrument();
  assert.equal(await sent(lease), undefined);
});

/** A server of the host's own, whose answer to what it does not know is what it was sent. */
function answerParams(connection, frame) {
  const { id, method, params } = JSON.parse(frame);
  if (id === undefined) return;
  const facts = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' } };
  const known = { initialize: facts, 'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' } }] } };
  connection.send(JSON.stringify({ jsonrpc: '2.0', id, result: known[method] ?? params }));
}

it('a trace joins the `_meta` that stands in params', async (t) => {
  const session = await opened(t);
  session.provide('own', answerParams);
  const lease = await session.acquire('own');
  const { tracers, meters, spans } = telemetry(t);
  instrument({ tracerProvider: tracers, meterProvider: meters });
  const parent = (number) => {
    const { traceId, spanId, traceFlags } = spans()[number].spanContext();
    return `00-${traceId}-${spanId}-0${traceFlags}`;
  };
  const mine = { k: 1, _meta: { m: 1 } };
  const requested = await lease.request('x/y', mine);
  assert.deepEqual(requested.value, { k: 1, _meta: { traceparent: parent(0), m: 1 } });
  assert.deepEqual((await lease.complete(mine)).meta, { traceparent: parent(1), m: 1 });
  // What the host gave stays what it was.
  assert.deepEqual(mine, { k: 1, _meta: { m: 1 } });
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  assert.deepEqual((await lease.request('x/y', { _meta: { traceparent } })).meta, { traceparent });
  assert.deepEqual((await lease.request('x/y', { k: 1 })).meta, { traceparent: parent(3) });
  // Twice stays once too often, and what can be no `_meta` is the server's to refuse, as without a trace.
  await assert.rejects(lease.request('x/y', mine, { meta: { m: 2 } }), /given twice/);
  assert.equal((await lease.request('x/y', { _meta: null })).meta, null);
});

it('ends are told as the conventions have them', async (t) => {
  const session = await opened(t);
  const lease = await session.acquire('s');
  const { tracers, meters, spans, durations } = telemetry(t);
  instrument({ tracerProvider: tracers, meterProvider: meters });
  await session.callTool('mcp__s__echo', { message: 'hi' });
  assert.ok((await lease.callTool('fail', { text: 'no' })).isError);
  await assert.rejects(lease.callTool('error', { code: -32050, message: 'as asked' }), { code: 'TRUNKLINE_SERVER_ERROR' });
  await assert.rejects(lease.callTool('no_such_tool'), { code: 'TRUNKLINE_TOOL_NOT_FOUND' });
  await lease.readResource('test://one');
  await lease.getPrompt('greet', { who: 'Ada' });
  await lease.request('ping');
  // What cannot be a `_meta`, or options, is the library's to refuse.
  await assert.rejects(lease.callTool('echo', {}, { meta: 5 }), { code: 'TRUNKLINE_INVALID_ARGUMENT' });
  await assert.rejects(lease.callTool('echo', {}, 5), { code: 'TRUNKLINE_INVALID_ARGUMENT' });
  const { UNSET, ERROR } = SpanStatusCode;
  assert.deepEqual(
    spans().map(({ name, attributes, status }) => [name, attributes['error.type'], status.code]),
    [
      ['tools/call mcp__s__echo', undefined, UNSET],
      ['tools/call fail', 'tool_error', ERROR],
      ['tools/call error', '-32050', ERROR],
      ['tools/call no_such_tool', 'tool_not_found', ERROR],
      ['resources/read', undefined, UNSET],
      ['prompts/get greet', undefined, UNSET],
      ['ping', undefined, UNSET],
      ['tools/call echo', 'invalid_argument', ERROR],
      ['tools/call echo', 'invalid_argument', ERROR],
    ],
  );
  assert.equal(spans()[2].attributes['rpc.response.status_code'], '-32050');
  assert.ok(spans().every(({ events, status }) => events.length === 0 && status.message === undefined));
  const points = await durations();
  assert.equal(points.reduce((sum, { value }) => sum + value.count, 0), spans().length);
  for (const { value } of points) assert.deepEqual(value.buckets.boundaries, BOUNDS);
  // No name that a model made up, and no code that a server did, is told apart.
  const counted = points.map(({ attributes, value }) => [attributes['mcp.method.name'], attributes['error.type'], value.count]);
  assert.deepEqual(new Set(points.flatMap(({ attributes }) => Object.keys(attributes))), new Set(['mcp.method.name', 'error.type']));
  assert.deepEqual(counted.sort(), [
    ['_OTHER', undefined, 1],
    ['prompts/get', undefined, 1],
    ['resources/read', undefined, 1],
    ['tools/call', undefined, 1],
    ['tools/call', 'invalid_argument', 2],
    ['tools/call', 'server_error', 1],
    ['tools/call', 'tool_error', 1],
    ['tools/call', 'tool_not_found', 1],
  ].sort());
});

it('an address is told without its secrets', async (t) => {
  const session = await opened(t);
  const lease = await session.acquire('s');
  const { tracers, meters, spans } = telemetry(t);
  instrument({ tracerProvider: tracers, meterProvider: meters });
  for (const uri of ['https://me:hunter2@host/a?key=hunter2#hunter2', 'db://me:hun/ter2@host/a']) {
    await assert.rejects(lease.readResource(uri));
  }
  const told = spans().map(({ attributes }) => attributes);
  assert.deepEqual(told.map((attributes) => attributes['mcp.resource.uri']), ['https://host/a', 'db://']);
  assert.ok(!JSON.stringify(told).includes('hunter2'));
});

it('without a span nothing is added', () => {
  assert.deepEqual(traceMeta(), {});
  assert.deepEqual(traceMeta({ k: 1 }), { k: 1 });
});

pageRuns('docs/guide/observability.md', ["name: 'tools/call mcp__demo__echo'", 'info trunkline.client.connect connected']);
