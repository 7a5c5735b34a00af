"""``truepool serve``: the coordinator."""

import inspect
import socket
import sys
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from truepool.cli import config as config_file
from truepool.cli import options

ENVIRONMENT = {"auto_envvar_prefix": "TRUEPOOL_SERVE"}
"""An option that the command line does not give is looked for in the environment."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Log(StrEnum):
    """Requests that are logged, as JSON lines on standard error."""

    ALL = "all"
    ERRORS = "errors"
    OFF = "off"


GRACE = 10
"""Seconds that open requests have to finish when the coordinator stops."""
TURN = 0.0005
"""Seconds after which the thread that commits gives way to the one that answers."""


def serve(
    ledger: Annotated[
        str,
        typer.Argument(
            metavar="LEDGER",
            help="File, made if it is not there, or postgresql://...",
            envvar="TRUEPOOL_SERVE_LEDGER",
            show_envvar=False,
        ),
    ],
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="NUMBER", help="Port; 0: any.")
    ] = 8765,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificate, in PEM format.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its key, in PEM format.")
    ] = None,
    tls_client_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Ask callers for certificates signed by this."
        ),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure",
            help="Listen beyond this machine even without TLS or tokens.",
        ),
    ] = False,
    rate_limit: Annotated[
        float,
        typer.Option(
            min=0.0, metavar="NUMBER", help="Requests per second and token; 0: any."
        ),
    ] = 1000.0,
    log: Annotated[
        Log, typer.Option(metavar="WHAT", help="Requests to log: all, errors, off.")
    ] = Log.ERRORS,
    traces: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Collector of OpenTelemetry traces."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Check the ledger and the options, then exit."),
    ] = False,
    config: options.Config = None,
    quiet: options.Quiet = False,
) -> None:
    """Run a coordinator: cases are reported, decided, settled."""
    from truepool.cli.outputs import print_note
    from truepool.cli.screen import print_line
    from truepool.core.errors import SettingError
    from truepool.server.coordinator import Coordinator
    from truepool.server.databases import display_name
    from truepool.server.observation import start_logging
    from truepool.server.tracing import open_tracer

    if (tls_cert is None) != (tls_key is None):
        raise SettingError("TLS needs both --tls-cert and --tls-key")
    if tls_client_ca is not None and tls_cert is None:
        raise SettingError("--tls-client-ca needs --tls-cert and --tls-key")
    if tls_cert is not None and tls_key is not None:
        _check_certificates(tls_cert, tls_key, tls_client_ca)
    exposed = host not in LOOPBACK and not insecure
    name = display_name(ledger)
    is_new = name == ledger and not Path(ledger).exists()
    if exposed and (tls_cert is None or is_new):
        raise _exposed(name, host)
    with ExitStack() as stack:
        tracer = None if traces is None else stack.enter_context(open_tracer(traces))
        listener = None if check else stack.enter_context(_listen(host, port))
        coordinator = stack.enter_context(
            Coordinator(ledger, create=not check, rate=rate_limit or None)
        )
        open_to_all = not coordinator.access.known
        if exposed and open_to_all:
            raise _exposed(name, host)
        if listener is None:
            if not quiet:
                print_line(f"{name} can be served.")
            return
        import uvicorn

        from truepool.server.http import app

        start_logging(log.value)
        settings = uvicorn.Config(
            app(coordinator, tracer),
            ssl_certfile=None if tls_cert is None else str(tls_cert),
            ssl_keyfile=None if tls_key is None else str(tls_key),
            ssl_ca_certs=None if tls_client_ca is None else str(tls_client_ca),
            ssl_cert_reqs=0 if tls_client_ca is None else 2,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=GRACE,
        )
        scheme = "http" if tls_cert is None else "https"
        place = f"{scheme}://{host}:{listener.getsockname()[1]}"
        if not quiet:
            if open_to_all:
                print_note("No tokens: whoever reaches this address may do everything.")
            _warn_of_memory(name, coordinator.ledger.database.sync_time())
            print_note(f"Serving {name} on {place}; Ctrl+C stops.")
        sys.setswitchinterval(TURN)
        uvicorn.Server(settings).run([listener])


config_file.register("serve", inspect.signature(serve).parameters.values())


def _warn_of_memory(name: str, seconds: float | None) -> None:
    """Say that a power cut would lose what is written to memory."""
    from truepool.cli.outputs import print_note
    from truepool.server.databases import FASTEST_SYNC

    if seconds is not None and seconds < FASTEST_SYNC:
        print_note(
            f"{name} is written in {seconds * 1e6:.1f} microseconds, as no disk can: "
            "it seems to be in memory, and a power cut would lose it."
        )


def _exposed(ledger: str, host: str) -> Exception:
    from truepool.core.errors import SettingError

    return SettingError(
        f"beyond this machine (--host {host}) a coordinator needs TLS (--tls-cert, "
        f"--tls-key) and tokens (truepool ledger token {ledger} --role admin); or "
        "accept the risk with --insecure"
    )


def _check_certificates(cert: Path, key: Path, client_ca: Path | None) -> None:
    """Refuse files that TLS cannot use."""
    import ssl

    from truepool.core.errors import SettingError

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


def _listen(host: str, port: int) -> socket.socket:
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
