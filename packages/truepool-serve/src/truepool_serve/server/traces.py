"""OpenTelemetry traces of requests, sent to a collector; needs the extra `tracing`.

Spans are made by OpenTelemetry's instrumentation of ASGI, which puts the path and the
query of a request into them, and the words of an error. They hold names of cases: so it
gets a request without them, and the span is named by the route afterwards.
"""

from http import HTTPStatus
from typing import Any

from truepool.core.distributions import require
from truepool.core.errors import SettingError
from truepool_serve.server.observation import Receive, Scope, Send


class Tracer:
    """Makes a span of each request, in the trace of its caller where it has one."""

    def __init__(self, exporter: Any) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        resource = Resource({"service.name": "truepool"})
        self.provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self.provider.add_span_processor(BatchSpanProcessor(exporter))

    def __enter__(self) -> "Tracer":
        return self

    def __exit__(self, *_: object) -> None:
        """Send what is left."""
        self.provider.shutdown()


class Tracing:
    """ASGI middleware: a span around each request, without what is in its path."""

    def __init__(self, app: Any, tracer: Tracer) -> None:
        from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware

        self.app = app
        self.instrumented = OpenTelemetryMiddleware(
            self._inside,
            tracer_provider=tracer.provider,
            exclude_spans=["receive", "send"],
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, which the instrumentation sees without its path."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        hidden = {"path": "/", "raw_path": b"/", "query_string": b""}
        masked: dict[str, Any] = {**scope, **hidden, "whole": scope, "error": None}
        await self.instrumented(masked, receive, send)
        if masked["error"] is not None:
            raise masked["error"]

    async def _inside(self, masked: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(masked["whole"], receive, send)
        except Exception as error:  # its words are not for the collector
            masked["error"] = error


def name_span(operation: str, status: int) -> None:
    """Name the span of the present request by its operation."""
    from opentelemetry import trace

    span = trace.get_current_span()
    span.update_name(operation)
    span.set_attribute("http.route", operation.partition(" ")[2])
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        span.set_status(trace.StatusCode.ERROR)


def open_tracer(collector: str) -> Tracer:
    """Return a tracer that sends to a collector by its URL (OTLP over HTTP)."""
    require("opentelemetry", "truepool-serve[tracing]", "traces")
    if not collector.startswith(("http://", "https://")):
        raise SettingError(
            "traces must be the URL of a collector, as in "
            f"http://localhost:4318/v1/traces; got {collector!r:.100}"
        )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return Tracer(OTLPSpanExporter(endpoint=collector))
