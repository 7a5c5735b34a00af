"""``truepool serve``: the coordinator."""

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from truepool.cli import options
from truepool.cli.keys import key, option

LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Log(StrEnum):
    """Requests that are logged, as JSON lines on standard error."""

    ALL = "all"
    ERRORS = "errors"
    OFF = "off"


QUIET_GRPC = "GRPC_VERBOSITY", "NONE"
"""Keeps gRPC from printing lines of its own, of a port that is taken for example."""
GRACE = 10
"""Seconds that open requests have to finish when the coordinator stops."""
TURN = 0.0005
"""Seconds after which the thread that commits gives way to the one that answers."""
YOUNG = 50_000
"""Objects that are made, and stay, before the garbage collector looks at them."""


def serve(
    ledger: Annotated[
        str | None,
        typer.Argument(
            metavar="LEDGER",
            help="File, created if missing, or postgresql://...; optional with --demo.",
            envvar="TRUEPOOL_SERVE_LEDGER",
            show_envvar=False,
        ),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo",
            help="Serve a demo pool: five agents, traffic, drift and a dead feed.",
        ),
    ] = False,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8765,
    grpc_port: options.GrpcPort = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
    tls_client_ca: Annotated[
        Path | None,
        key(
            "tls-client-ca",
            "Ask callers for certificates signed by this authority.",
            "FILE",
        ),
    ] = None,
    insecure: options.Insecure = False,
    rate_limit: Annotated[
        float,
        key(
            "rate-limit",
            "Most requests per second for each token; 0 means no limit.",
            "NUMBER",
        ),
    ] = 1000.0,
    log: Annotated[
        Log, typer.Option(metavar="WHAT", help="Requests to log: all, errors, off.")
    ] = Log.ERRORS,
    traces: Annotated[
        str | None,
        key("traces", "Collector of OpenTelemetry traces.", "URL"),
    ] = None,
    alarm_webhook: Annotated[
        str | None,
        key("alarm-webhook", "Where each new alarm is sent, as JSON.", "URL"),
    ] = None,
    verify_every: Annotated[
        float,
        key(
            "verify-every",
            "Hours between two verifications of the ledger; 0 means none.",
            "HOURS",
        ),
    ] = 24.0,
    check: Annotated[
        bool, option("check", "Check the ledger and the options, then exit.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a coordinator: collect reports, decide cases, learn online."""
    from truepool.cli.outputs import print_note
    from truepool.cli.screen import print_line
    from truepool.core.errors import SettingError
    from truepool.core.files import exit_on_sigterm
    from truepool_serve.server.alarms import check_webhook
    from truepool_serve.server.background import Background
    from truepool_serve.server.coordinator import Coordinator
    from truepool_serve.server.databases import display_name
    from truepool_serve.server.observation import start_logging
    from truepool_serve.server.traces import open_tracer

    check_certificates(tls_cert, tls_key, tls_client_ca)
    if demo and (host not in LOOPBACK or tls_cert is not None or check):
        raise SettingError(
            "--demo serves this machine, without TLS; leave out --host, --tls-cert and "
            "--check"
        )
    if ledger is None and not demo:
        raise SettingError(
            "a coordinator needs a ledger, the file that keeps everything, as in "
            "`truepool serve pools.db`; or try --demo"
        )
    webhook = None if alarm_webhook is None else check_webhook(alarm_webhook)
    exposed = host not in LOOPBACK and not insecure
    local = host in LOOPBACK and not insecure
    with ExitStack() as stack:
        stack.enter_context(stop_on_sigint())
        # uvicorn raises SIGTERM again when it is done: the ledger is closed first.
        stack.enter_context(exit_on_sigterm())
        ledger = ledger or _temporary_ledger(stack)
        name = display_name(ledger)
        is_new = name == ledger and not Path(ledger).exists()
        if exposed and (tls_cert is None or is_new):
            raise _exposed(name, host)
        tracer = None if traces is None else stack.enter_context(open_tracer(traces))
        listener = None if check else stack.enter_context(listen(host, port))
        coordinator = stack.enter_context(
            Coordinator(ledger, create=not check, rate=rate_limit or None)
        )
        if webhook is not None:
            coordinator.alarms.webhook = webhook
        open_to_all = coordinator.access.is_open
        if exposed and open_to_all:
            raise _exposed(name, host)
        if listener is None:
            if not quiet:
                print_line(f"{name} can be served.")
            return
        import uvicorn

        from truepool_serve.server.http import app
        from truepool_serve.server.limits import LimitedProtocol

        start_logging(log.value)
        runner = stack.enter_context(asyncio.Runner())
        lifespan = None
        if grpc_port is not None:
            os.environ.setdefault(*QUIET_GRPC)
            from truepool_serve.server.inference import grpc_server
            from truepool_serve.server.inference.pool_models import PoolModels

            models, metrics = PoolModels(coordinator), coordinator.metrics
            certificates = grpc_server.Certificates.read(
                tls_cert, tls_key, tls_client_ca
            )
            beside, grpc_port = runner.run(
                grpc_server.bind(models, metrics, host, grpc_port, certificates)
            )
            lifespan = grpc_server.beside(beside, GRACE)
        settings = uvicorn.Config(
            app(coordinator, tracer, lifespan, local=local),
            ssl_certfile=None if tls_cert is None else str(tls_cert),
            ssl_keyfile=None if tls_key is None else str(tls_key),
            ssl_ca_certs=None if tls_client_ca is None else str(tls_client_ca),
            ssl_cert_reqs=0 if tls_client_ca is None else 2,
            log_config=None,
            access_log=False,
            http=LimitedProtocol,
            timeout_graceful_shutdown=GRACE,
        )
        scheme = "http" if tls_cert is None else "https"
        place = f"{scheme}://{host}:{listener.getsockname()[1]}"
        if not quiet:
            if open_to_all:
                print_note(
                    "No tokens: anyone who can reach this address may do everything."
                )
            if grpc_port is not None:
                print_note(f"gRPC on {host}:{grpc_port}.")
            if coordinator.ledger.database.log_is_missing:
                print_note(
                    f"{name} was not closed, and there is no {name}-wal, which had "
                    "what was answered last. If the file was moved, stop, and move "
                    "its log too."
                )
            _warn_of_memory(name, coordinator.ledger.database.sync_time())
            print_note(f"Serving {name} on {place}; Ctrl+C stops.")
        if demo:
            from truepool_serve.server.demo import Traffic

            stack.enter_context(Traffic(coordinator, place))
            if not quiet:
                print_note(f"Open {place}/ in a browser: five agents report to a pool.")
        stack.enter_context(Background(coordinator, verify_every))
        sys.setswitchinterval(TURN)
        gc.freeze()  # looking through all modules again and again takes half the time
        gc.set_threshold(YOUNG)  # requests that wait for a commit stay a while, and go
        runner.run(uvicorn.Server(settings).serve([listener]))


@contextmanager
def stop_on_sigint() -> Iterator[None]:
    """Let SIGINT end the block with exit code 130, whatever runs in it.

    A script that starts a server in the background has it ignore SIGINT. uvicorn stops
    on it all the same, and then raises it again for whoever handled it before: where
    that is nobody, the command would end as if all had gone well.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _temporary_ledger(stack: ExitStack) -> str:
    """Return a place for a ledger that goes when the stack does."""
    import tempfile

    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="truepool-demo-"))
    return str(Path(folder, "demo.db"))


def _warn_of_memory(name: str, seconds: float | None) -> None:
    """Say that a power cut would lose what is written to memory."""
    from truepool.cli.outputs import print_note
    from truepool_serve.server.databases import FASTEST_SYNC

    if seconds is not None and seconds < FASTEST_SYNC:
        print_note(
            f"A write to {name} takes {seconds * 1e6:.1f} microseconds, less than on "
            "any disk: it seems to be in memory, and a power cut would lose it."
        )


def _exposed(ledger: str, host: str) -> Exception:
    from truepool.core.errors import SettingError

    return SettingError(
        f"beyond this machine (--host {host}) a coordinator needs TLS (--tls-cert, "
        f"--tls-key) and tokens (truepool ledger token {ledger} --role admin); or "
        "accept the risk with --insecure"
    )


def check_certificates(
    cert: Path | None, key: Path | None, client_ca: Path | None = None
) -> None:
    """Refuse files that TLS cannot use."""
    import ssl

    from truepool.core.errors import SettingError

    if (cert is None) != (key is None):
        raise SettingError("TLS needs both --tls-cert and --tls-key")
    if client_ca is not None and cert is None:
        raise SettingError("tls-client-ca needs --tls-cert and --tls-key")
    if cert is None:
        return
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        if client_ca is not None:
            context.load_verify_locations(client_ca)
    except (OSError, ValueError) as error:
        names = ", ".join(repr(str(path)) for path in (cert, key, client_ca) if path)
        raise SettingError(
            f"TLS needs readable certificates and keys in PEM format; with {names} it "
            f"has {error.args[-1]!s:.100}"
        ) from None


def listen(host: str, port: int) -> socket.socket:
    """Return a socket on an address that is free and ours."""
    from truepool.core.errors import SettingError

    try:
        listener = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
        # Else the second part of an answer waits 40 ms for the caller's receipt.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        raise SettingError(
            f"a coordinator cannot listen on {host}, port {port}: "
            f"{error.strerror or error}. Name another --host or --port."
        ) from None


verb = options.Verb(serve, environment="TRUEPOOL_SERVE")
