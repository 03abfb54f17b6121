// Types of trunkline/otel: spans and durations of requests through the host's own OpenTelemetry provider.

import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import type { JsonObject } from './index.mjs';

/** What `instrument` takes. */
export interface Instruments {
  /** The global provider by default. */
  tracerProvider?: TracerProvider;
  /** The global provider by default. */
  meterProvider?: MeterProvider;
  /** Whether the host's baggage goes along, which every server then reads. */
  baggage?: boolean;
}

/**
 * Gives each request of every session and lease of this thread a span, whose trace goes to the server, and a duration
 * (`mcp.client.operation.duration`). Repeating it replaces the providers.
 */
export function instrument(instruments?: Instruments): void;

/** Undoes `instrument`; requests under way end as they began. */
export function uninstrument(): void;

/**
 * `meta` for a call, with the current trace in it as W3C writes it; a `traceparent` that it has already stays. Without a current span nothing
 * is added.
 */
export function traceMeta(meta?: JsonObject, options?: { baggage?: boolean }): JsonObject;
