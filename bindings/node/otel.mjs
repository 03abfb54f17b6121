// Spans and durations of requests through the host's own OpenTelemetry provider, by its conventions for MCP.
//
// Nothing loads this module but the host; it needs `@opentelemetry/api` alone. Nothing of a request's arguments or of its
// answer is told. A span has names of tools and prompts, and the address of a resource without what stands before its host and behind its
// path; a duration has neither, since models invent names.

import { createRequire } from 'node:module';

import { SpanKind, SpanStatusCode, context, metrics, propagation, trace } from '@opentelemetry/api';

const require = createRequire(import.meta.url);
const { version } = require('./package.json');
const { Lease, Session, TrunklineError } = require('./index.cjs');
const { isOther } = require('./lib/options.cjs');

/** The names of the conventions, which all languages have from the registry. */
const { bridge, registry } = require('./lib/native.cjs');
const NAMES = registry.telemetry;
const [OPERATION, EXECUTE_TOOL] = NAMES.operation;

/** By the name of a function: where its params and options stand. */
const PLACES = {
  callTool: { options: 2 },
  getPrompt: { options: 2 },
  readResource: { options: 1 },
  complete: { params: 0, options: 1 },
  request: { params: 1, options: 2 },
};

/** What durations tell apart; `request` is given its method itself. */
const METHODS = new Set(NAMES.requests.flatMap(({ method }) => method ?? []));

/** What the classes had before. */
let originals = [];

/** `meta` for a call, with the current trace in it as W3C writes it; a `traceparent` that it has already stays. */
export function traceMeta(meta = {}, { baggage = false } = {}) {
  const active = context.active();
  const ours = {};
  const ids = trace.getSpanContext(active);
  if (ids !== undefined && trace.isSpanContextValid(ids) && meta.traceparent === undefined) {
    const flags = (ids.traceFlags & 0xff).toString(16).padStart(2, '0');
    ours.traceparent = `00-${ids.traceId}-${ids.spanId}-${flags}`;
    const state = ids.traceState?.serialize();
    if (state) ours.tracestate = state;
  }
  if (baggage) {
    const entries = propagation.getBaggage(active)?.getAllEntries() ?? [];
    const text = entries.map(([key, { value }]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join(',');
    if (text !== '') ours.baggage = text;
  }
  return { ...ours, ...meta };
}

/** Gives each request of every session and lease a span, whose trace goes to the server, and a duration. */
export function instrument({ tracerProvider = trace, meterProvider = metrics, baggage = false } = {}) {
  uninstrument();
  const tracer = tracerProvider.getTracer(NAMES.scope, version);
  const { name: told, description, bounds } = NAMES.duration;
  const advice = { explicitBucketBoundaries: bounds };
  const duration = meterProvider.getMeter(NAMES.scope, version).createHistogram(told, { unit: 's', description, advice });
  for (const { prototype } of [Session, Lease]) {
    for (const row of NAMES.requests) {
      const name = row.node;
      const before = Object.getOwnPropertyDescriptor(prototype, name);
      if (before === undefined) continue;
      originals.push([prototype, name, before]);
      Object.defineProperty(prototype, name, { ...before, value: observed({ tracer, duration, baggage }, before.value, row) });
    }
  }
}

/** Undoes `instrument`; requests under way end as they began. */
export function uninstrument() {
  for (const [prototype, name, before] of originals) Object.defineProperty(prototype, name, before);
  originals = [];
}

function observed({ tracer, duration, baggage }, original, row) {
  return function request(...given) {
    const method = row.method ?? String(given[0]);
    const { name, attributes } = described(method, row, given[0]);
    const counted = { [NAMES.method]: METHODS.has(method) ? method : NAMES.other };
    const began = performance.now();
    return tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      const failed = ({ kind, told }) => {
        counted[NAMES.error] = kind;
        span.setAttributes(told);
        span.setStatus({ code: SpanStatusCode.ERROR });
      };
      try {
        const result = await original.apply(this, withMeta(given, PLACES[row.node], baggage));
        if (method === 'tools/call' && result.isError) {
          failed({ kind: NAMES.tool_error, told: { [NAMES.error]: NAMES.tool_error } });
        }
        return result;
      } catch (error) {
        failed(failureOf(error));
        throw error;
      } finally {
        span.end();
        duration.record((performance.now() - began) / 1000, counted);
      }
    });
  };
}

/** The name of a span, and what it says from its beginning. */
function described(method, { attribute, is_named }, subject) {
  const attributes = { [NAMES.method]: method };
  if (method === 'tools/call') attributes[OPERATION] = EXECUTE_TOOL;
  if (attribute === null) return { name: method, attributes };
  const text = String(subject);
  attributes[attribute] = is_named ? text : bridge.plainAddress(text);
  return { name: is_named ? `${method} ${text}` : method, attributes };
}

/** The arguments with the trace in the `_meta` of their params or options. What can be neither is not ours to refuse. */
function withMeta(given, places, baggage) {
  const options = given[places.options] ?? {};
  if (!isObject(options) || isOther(options)) return given;
  const params = given[places.params];
  const stands = isObject(params) && params._meta !== undefined;
  const meta = stands ? params._meta : (options.meta ?? {});
  if (!isObject(meta) || (stands && (options.meta ?? null) !== null)) return given;
  const joined = traceMeta(meta, { baggage });
  if (Object.keys(joined).length === 0) return given;
  const out = [...given];
  if (stands) out[places.params] = { ...params, _meta: joined };
  else out[places.options] = { ...options, meta: joined };
  return out;
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The name of an error's code that all languages share. */
const nameOf = ({ code }) => code.replace(/^TRUNKLINE_/, '').toLowerCase();

/** What a failure counts as, and what its span says: of the protocol's errors there are as many as servers make up. */
function failureOf(error) {
  const kind = error instanceof TrunklineError ? nameOf(error) : (error?.name ?? NAMES.other);
  const code = error?.detail?.code;
  if (kind !== 'server_error' || code === undefined) return { kind, told: { [NAMES.error]: kind } };
  return { kind, told: { [NAMES.error]: String(code), [NAMES.status_code]: String(code) } };
}
