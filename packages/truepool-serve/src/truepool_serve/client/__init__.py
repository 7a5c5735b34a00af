"""The Python client of a coordinator: it buffers, sends again, and loses nothing.

`exchange` sends one request until it is answered, `buffer` holds what was not sent yet,
`operations` is what a client can do. None of them touches a socket: they are generators
that yield what to send and how long to wait, and the two clients run them.
"""

from truepool_serve.client.async_client import AsyncClient
from truepool_serve.client.sync_client import Client

__all__ = ["AsyncClient", "Client"]
