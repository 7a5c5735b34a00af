"""``truepool agent serve``: an agent as a model server."""

import asyncio
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from truepool.cli import options
from truepool.cli.keys import option
from truepool_serve.cli.serve import (
    GRACE,
    LOOPBACK,
    QUIET_GRPC,
    check_certificates,
    listen,
    stop_on_sigint,
)

TOKEN_VARIABLE = "TRUEPOOL_AGENT_TOKEN"
"""Environment variable with the token that callers must send."""


def serve(
    agent: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="An agent: a .onnx or .joblib file."),
    ],
    host: options.Host = "127.0.0.1",
    port: options.Port = 8080,
    grpc_port: options.GrpcPort = None,
    trust: options.Trust = False,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
    insecure: options.Insecure = False,
    check: Annotated[
        bool, option("check", "Check the model and the options, then exit.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Serve MODEL over the Open Inference Protocol."""
    from truepool import agents
    from truepool.cli.outputs import print_note
    from truepool.cli.screen import print_line
    from truepool.core.errors import SettingError
    from truepool_serve.server.inference.agent_models import AgentModel

    check_certificates(tls_cert, tls_key)
    token = os.environ.get(TOKEN_VARIABLE) or None
    if host not in LOOPBACK and not insecure and (tls_cert is None or token is None):
        raise SettingError(
            f"beyond this machine (--host {host}) a model needs TLS (--tls-cert, "
            f"--tls-key) and a token (in {TOKEN_VARIABLE}); or accept the risk with "
            "--insecure"
        )
    guarded = host in LOOPBACK and not insecure and token is None
    model = AgentModel(agents.load(agent, trust=trust), agent.stem, token)
    if check:
        if not quiet:
            print_line(f"{agent} can be served.")
        return
    os.environ.setdefault(*QUIET_GRPC)
    import uvicorn

    from truepool_serve.server.inference import grpc_server, rest
    from truepool_serve.server.local_requests import LocalRequests

    with ExitStack() as stack:
        stack.enter_context(stop_on_sigint())
        listener = stack.enter_context(listen(host, port))
        runner = stack.enter_context(asyncio.Runner())
        lifespan = None
        if grpc_port is not None:
            certificates = grpc_server.Certificates.read(tls_cert, tls_key, None)
            beside, grpc_port = runner.run(
                grpc_server.bind(model, None, host, grpc_port, certificates)
            )
            lifespan = grpc_server.beside(beside, GRACE)
        settings = uvicorn.Config(
            LocalRequests(rest.app(model, lifespan), lambda: guarded),
            ssl_certfile=None if tls_cert is None else str(tls_cert),
            ssl_keyfile=None if tls_key is None else str(tls_key),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=GRACE,
        )
        scheme = "http" if tls_cert is None else "https"
        place = f"{scheme}://{host}:{listener.getsockname()[1]}"
        if not quiet:
            if grpc_port is not None:
                print_note(f"gRPC on {host}:{grpc_port}.")
            print_note(f"Serving model {model.name} on {place}; Ctrl+C stops.")
        runner.run(uvicorn.Server(settings).serve([listener]))
