"""OpenTelemetry traces of requests, sent to a collector; needs the extra `tracing`."""

from collections.abc import Callable, MutableMapping
from http import HTTPStatus
from typing import Any

from truepool.core.distributions import require
from truepool.core.errors import SettingError


class Tracer:
    """Makes a span of each request, in the trace of its caller where it has one."""

    def __init__(self, exporter: Any) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        resource = Resource({"service.name": "truepool"})
        self.provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self.provider.add_span_processor(BatchSpanProcessor(exporter))
        self.tracer = self.provider.get_tracer("truepool_serve.server")

    def start(self, scope: MutableMapping[str, Any]) -> Callable[[str, int], None]:
        """Begin the span of a request; return what ends it."""
        from opentelemetry.trace import SpanKind, Status, StatusCode
        from opentelemetry.trace.propagation.tracecontext import (
            TraceContextTextMapPropagator,
        )

        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        span = self.tracer.start_span(
            "request",
            context=TraceContextTextMapPropagator().extract(headers),
            kind=SpanKind.SERVER,
        )

        def end(operation: str, status: int) -> None:
            span.update_name(operation)
            span.set_attribute("http.request.method", scope["method"])
            span.set_attribute("http.route", operation.partition(" ")[2])
            span.set_attribute("http.response.status_code", status)
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                span.set_status(Status(StatusCode.ERROR))
            span.end()

        return end

    def __enter__(self) -> "Tracer":
        return self

    def __exit__(self, *_: object) -> None:
        """Send what is left."""
        self.provider.shutdown()


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
