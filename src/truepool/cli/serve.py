"""``truepool serve``: the coordinator."""

import inspect
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from truepool.cli import config as config_file
from truepool.cli import options

LOOPBACK = ("127.0.0.1", "::1", "localhost")
GRACE = 10
"""Seconds that open requests have to finish when the coordinator stops."""


def serve(
    ledger: Annotated[
        str,
        typer.Argument(
            metavar="LEDGER",
            help="File that keeps everything, made if it is not there.",
        ),
    ],
    host: options.Host = "127.0.0.1",
    port: options.Port = 8765,
    grpc_port: options.GrpcPort = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
    tls_client_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Ask callers for certificates signed by this."
        ),
    ] = None,
    insecure: options.Insecure = False,
    check: Annotated[
        bool, options.option("--check", "Check the ledger and the options, then exit.")
    ] = False,
    config: options.Config = None,
    quiet: options.Quiet = False,
) -> None:
    """Run a coordinator: cases are reported, decided, settled."""
    from truepool.cli.outputs import print_note
    from truepool.cli.screen import print_line
    from truepool.server.coordinator import Coordinator

    check_certificates(tls_cert, tls_key, tls_client_ca)
    exposed = host not in LOOPBACK and not insecure
    if exposed and (tls_cert is None or not Path(ledger).exists()):
        raise _exposed(ledger, host)
    with ExitStack() as stack:
        listener = None if check else stack.enter_context(listen(host, port))
        coordinator = stack.enter_context(Coordinator(ledger, create=not check))
        open_to_all = not coordinator.access.known
        if exposed and open_to_all:
            raise _exposed(ledger, host)
        if listener is None:
            if not quiet:
                print_line(f"{ledger} can be served.")
            return
        import uvicorn

        from truepool.server.http import app

        lifespan = None
        if grpc_port is not None:
            from truepool.server.grpc_server import Certificates, beside, services

            with listen(host, grpc_port, "--grpc-port") as probe:
                grpc_port = probe.getsockname()[1]
            certificates = Certificates.of(tls_cert, tls_key, tls_client_ca)
            lifespan = beside(
                lambda: services(coordinator), host, grpc_port, certificates, GRACE
            )
        settings = uvicorn.Config(
            app(coordinator, lifespan),
            ssl_certfile=None if tls_cert is None else str(tls_cert),
            ssl_keyfile=None if tls_key is None else str(tls_key),
            ssl_ca_certs=None if tls_client_ca is None else str(tls_client_ca),
            ssl_cert_reqs=0 if tls_client_ca is None else 2,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=GRACE,
        )
        scheme = "http" if tls_cert is None else "https"
        place = f"{scheme}://{host}:{listener.getsockname()[1]}"
        if not quiet:
            if open_to_all:
                print_note("No tokens: whoever reaches this address may do everything.")
            if grpc_port is not None:
                print_note(f"gRPC on {host}:{grpc_port}.")
            print_note(f"Serving {ledger} on {place}; Ctrl+C stops.")
        uvicorn.Server(settings).run([listener])


config_file.register("serve", inspect.signature(serve).parameters.values())


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
        raise SettingError("--tls-client-ca needs --tls-cert and --tls-key")
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


def listen(host: str, port: int, option: str = "--port") -> socket.socket:
    """Return a socket on an address that is free and ours."""
    from truepool.core.errors import SettingError

    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        raise SettingError(
            f"a coordinator cannot listen on {host}, port {port}: "
            f"{error.strerror or error}. Name another --host or {option}."
        ) from None
