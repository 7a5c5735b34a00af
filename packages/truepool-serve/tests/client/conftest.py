import asyncio
from contextlib import ExitStack

import httpx
import pytest
from server.service import Local, serving

import truepool as tp


class Waiting:
    """An AsyncClient whose methods wait for their answer, so that one test is for both."""

    def __init__(self, *words, **settings):
        self.loop = asyncio.new_event_loop()
        self.client = tp.AsyncClient(*words, **settings)

    def __enter__(self):
        self.loop.run_until_complete(self.client.__aenter__())
        return self

    def __exit__(self, *error):
        try:
            return self.loop.run_until_complete(self.client.__aexit__(*error))
        finally:
            self.loop.close()

    def __getattr__(self, name):
        found = getattr(self.client, name)
        if not asyncio.iscoroutinefunction(found):
            return found
        return lambda *words, **settings: self.loop.run_until_complete(
            found(*words, **settings)
        )


class Lossy(httpx.HTTPTransport):
    """A network that carries requests, and loses every second answer."""

    count = 0

    def handle_request(self, request):
        answer = super().handle_request(request)
        self.count += 1
        if self.count % 2:
            answer.close()
            raise httpx.ReadError("the answer was lost")
        return answer


class AsyncLossy(httpx.AsyncHTTPTransport):
    """The same, for asyncio."""

    count = 0

    async def handle_async_request(self, request):
        answer = await super().handle_async_request(request)
        self.count += 1
        if self.count % 2:
            await answer.aclose()
            raise httpx.ReadError("the answer was lost")
        return answer


KINDS = {"sync": (tp.Client, Lossy), "async": (Waiting, AsyncLossy)}


@pytest.fixture(params=KINDS)
def kind(request):
    """The client to test, and a network that loses answers."""
    return KINDS[request.param]


@pytest.fixture
def connect(kind, service):
    """Make clients that are closed at the end."""
    with ExitStack() as stack:
        yield lambda *words, **settings: stack.enter_context(
            kind[0](service.url, *words, **settings)
        )


@pytest.fixture
def service(tmp_path):
    """A coordinator with the pool `fraud`, on a port of this machine."""
    with Local(tmp_path / "ledger.db") as local, serving(local) as url:
        local.url = url
        yield local
