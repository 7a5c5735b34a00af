"""The coordinator: agents report over the network, cases are decided and settled.

`online` holds the only logic. What is added here is transport, durability and access:
a ledger that loses nothing, one core of operations, and the protocols in front of it.
"""

from importlib.util import find_spec

from truepool.core.errors import MissingExtraError

for _package in ("fastapi", "grpc", "httpx", "msgspec", "sqlalchemy", "uvicorn"):
    if find_spec(_package) is None:
        raise MissingExtraError("the coordinator", _package, "server")
