"""Spans and durations of requests through the host's own OpenTelemetry provider, by its conventions for MCP.

Nothing imports this module but the host, and it needs ``opentelemetry-api`` alone: ``instrument()`` once, as a host instruments anything
else. Nothing of a request's arguments or of its answer is told. A span has names of tools and prompts, and the address of a resource without
what stands before its host and behind its path; a duration has neither, since models invent names.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

try:
    from opentelemetry import metrics, trace
    from opentelemetry.baggage.propagation import W3CBaggagePropagator
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError as error:
    raise ImportError(
        f"trunkline.otel needs opentelemetry-api: pip install opentelemetry-api ({error})", name=error.name
    ) from error

from . import _aio, _trunkline, sync
from ._errors import TrunklineError
from ._options import registry

__all__ = ["instrument", "trace_meta", "uninstrument"]

#: The names of the conventions, which all languages have from the registry.
_NAMES: dict[str, Any] = registry()["telemetry"]
_METHOD, _ERROR = _NAMES["method"], _NAMES["error"]

#: What durations tell apart; ``request`` is given its method itself.
_METHODS = {row["method"] for row in _NAMES["requests"]} - {None}

#: What the classes had before, by class and name.
_originals: dict[tuple[type, str], Any] = {}


def trace_meta(meta: Mapping[str, Any] | None = None, *, baggage: bool = False) -> dict[str, Any]:
    """``meta`` for a call, with the current trace in it as W3C writes it; a ``traceparent`` that it has already stays.

    Without a current span nothing is added. ``baggage`` adds the host's baggage, which every server then reads.
    """
    joined = dict(meta or {})
    carrier: dict[str, str] = {}
    if "traceparent" not in joined:
        TraceContextTextMapPropagator().inject(carrier)
    if baggage and "baggage" not in joined:
        W3CBaggagePropagator().inject(carrier)
    return {**carrier, **joined}


def instrument(
    *,
    tracer_provider: trace.TracerProvider | None = None,
    meter_provider: metrics.MeterProvider | None = None,
    baggage: bool = False,
) -> None:
    """Gives each request of every session and lease of the process a span, whose trace goes to the server, and a duration.

    The providers are the global ones by default. Repeating it replaces the providers. ``baggage`` sends the host's baggage along.
    """
    uninstrument()
    operations = _Operations(tracer_provider, meter_provider, baggage)
    for kind in (_aio.Session, _aio.Lease, sync.Session, sync.Lease):
        for row in _NAMES["requests"]:
            name = row["python"]
            original = vars(kind).get(name)
            if original is not None:
                _originals[kind, name] = original
                setattr(kind, name, _observed(operations, original, row))


def uninstrument() -> None:
    """Undoes ``instrument``; requests under way end as they began."""
    while _originals:
        (kind, name), original = _originals.popitem()
        setattr(kind, name, original)


def _observed(operations: _Operations, original: Any, row: dict[str, Any]) -> Any:
    _, *names = inspect.signature(original).parameters
    before_params = names.index("params") if "params" in names else None

    def begun(args: tuple[Any, ...], options: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
        """The arguments that stay without a name, and the operation: what it puts a trace into has its name."""
        subject = args[0] if args else options.get(names[0])
        if before_params is not None and len(args) == before_params + 1 and "params" not in options:
            *before, options["params"] = args
            args = tuple(before)
        return args, operations.operation(row, subject, options)

    @functools.wraps(original)
    async def awaited(self: Any, *args: Any, **options: Any) -> Any:
        args, operation = begun(args, options)
        with operation as ended:
            return ended(await original(self, *args, **options))

    @functools.wraps(original)
    def blocking(self: Any, *args: Any, **options: Any) -> Any:
        args, operation = begun(args, options)
        with operation as ended:
            return ended(original(self, *args, **options))

    return awaited if inspect.iscoroutinefunction(original) else blocking


class _Operations:
    def __init__(self, tracers: Any, meters: Any, baggage: bool) -> None:
        version = _trunkline.__version__
        self._tracer = trace.get_tracer(_NAMES["scope"], version, tracers)
        meter = metrics.get_meter(_NAMES["scope"], version, meters)
        told = _NAMES["duration"]
        self._duration = meter.create_histogram(
            told["name"],
            unit="s",
            description=told["description"],
            explicit_bucket_boundaries_advisory=told["bounds"],
        )
        self._baggage = baggage

    def _join(self, options: dict[str, Any]) -> None:
        """Puts the trace into the ``_meta`` of a call. One that is none is not ours to refuse."""
        given, params = options.get("meta"), options.get("params")
        if isinstance(params, Mapping) and "_meta" in params:
            if given is None and isinstance(params["_meta"], Mapping):
                options["params"] = {**params, "_meta": trace_meta(params["_meta"], baggage=self._baggage)}
        elif given is None or isinstance(given, Mapping):
            meta = trace_meta(given, baggage=self._baggage)
            if meta:
                options["meta"] = meta

    @contextmanager
    def operation(self, row: dict[str, Any], subject: Any, options: dict[str, Any]) -> Iterator[Any]:
        method = row["method"] or str(subject)
        name, attributes = _described(method, row, subject)
        counted = {_METHOD: method if method in _METHODS else _NAMES["other"]}
        began = time.perf_counter()
        with self._tracer.start_as_current_span(
            name,
            kind=trace.SpanKind.CLIENT,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            self._join(options)

            def failed(kind: str, told: dict[str, str]) -> None:
                counted[_ERROR] = kind
                span.set_attributes(told)
                span.set_status(trace.StatusCode.ERROR)

            def ended(result: Any) -> Any:
                if method == "tools/call" and result.is_error:
                    failed(_NAMES["tool_error"], {_ERROR: _NAMES["tool_error"]})
                return result

            try:
                yield ended
            except BaseException as error:
                failed(*_failure(error))
                raise
            finally:
                self._duration.record(time.perf_counter() - began, counted)


def _described(method: str, row: dict[str, Any], subject: Any) -> tuple[str, dict[str, str]]:
    """The name of a span, and what it says from its beginning."""
    attributes = {_METHOD: method}
    if method == "tools/call":
        operation, word = _NAMES["operation"]
        attributes[operation] = word
    if row["is_named"]:
        attributes[row["attribute"]] = str(subject)
        return f"{method} {subject}", attributes
    if row["attribute"] is not None:
        attributes[row["attribute"]] = _trunkline.plain_address(str(subject).encode("utf-8", "replace").decode())
    return method, attributes


def _failure(error: BaseException) -> tuple[str, dict[str, str]]:
    """What a failure counts as, and what its span says: of the protocol's errors there are as many as servers make up."""
    if not isinstance(error, TrunklineError):
        kind = type(error).__qualname__
        return kind, {_ERROR: kind}
    if error.code == "server_error" and "code" in error.detail:
        code = str(error.detail["code"])
        return error.code, {_ERROR: code, _NAMES["status_code"]: code}
    return error.code, {_ERROR: error.code}
