"""Work on the nodes of a Ray cluster, or of a Ray that runs on this machine only."""

import logging
import os
import pickle
import platform
import signal
import socket
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import islice
from types import TracebackType
from typing import Any, Self, TypeVar, final

from truepool.core.engine.engines import Engine
from truepool.core.errors import EngineError, MissingExtraError, SettingError

A = TypeVar("A")
B = TypeVar("B")

AHEAD = 2
"""Items in flight for each core: one is worked on, one waits. Memory is bounded by
them, however many items there are."""
RETRIES = 3
"""How often an item is tried again after its worker or its node has died."""
CONNECT_TIMEOUT = 5.0
"""Seconds that the head node has to answer."""
CANCEL_TIMEOUT = 10.0
"""Seconds that the items in flight have to end after an error."""
OWN = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
"""For a Ray of our own: listen on loopback only, and report to nobody. Ray listens on
the outer interface, for other nodes, even where 127.0.0.1 is asked for."""
PACKAGES = ("truepool", "numpy", "scipy", "scikit-learn", "numba", "pyarrow")
"""What the bits of a result depend on."""


@final
class RayCluster(Engine):
    """The cores of all nodes of a Ray cluster.

    Parameters
    ----------
    address : str, optional
        HOST:PORT of the head node; this machine must be a node of the cluster. Without
        it, ``RAY_ADDRESS`` if that is set; else a Ray of its own is started on this
        machine, and ended with the engine.
    """

    def __init__(self, address: str | None = None) -> None:
        if find_spec("ray") is None:
            raise MissingExtraError("the engine 'ray'", "ray", "truepool[ray]")
        address = address or os.environ.get("RAY_ADDRESS") or None
        self.address = None if address is None else _check_address(address)
        self._connected = False

    def __enter__(self) -> Self:
        where = f"the Ray cluster at {self.address}" if self.address else "Ray"
        if self.address:
            _check_reachable(self.address)
        try:
            with (
                _quiet(),
                _same_signal_handler(),
                _environment({} if self.address else OWN),
            ):
                import ray

                self._connected = not ray.is_initialized()
                if self._connected:
                    own = {} if self.address else {"include_dashboard": False}
                    ray.init(
                        self.address or "local",
                        log_to_driver=False,
                        logging_level=logging.ERROR,
                        **own,
                    )
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise EngineError(
                f"{where} cannot be used from this machine: {reason.rstrip('.')}. Run "
                "the command on a node of the cluster, with its token, or leave out "
                "engine=ray."
            ) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the cluster; a Ray of our own ends."""
        import ray

        if self._connected:
            ray.shutdown()

    def map(self, work: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """Yield the results in the order of the items."""
        for _, result in self._results(work, items, ordered=True):
            yield result

    def map_unordered(
        self, work: Callable[[A], B], items: Iterable[A]
    ) -> Iterator[tuple[int, B]]:
        """Yield results as soon as they are there, each with the place of its item."""
        return self._results(work, items, ordered=False)

    def _results(
        self, work: Callable[[A], B], items: Iterable[A], *, ordered: bool
    ) -> Iterator[tuple[int, B]]:
        import ray
        from ray import cloudpickle

        with _quiet():
            call = ray.remote(
                num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD"
            )(_call)
            # Bytes, because arrays that Ray itself passes on cannot be written to.
            shared = ray.put(cloudpickle.dumps(work))
            cores = int(ray.cluster_resources().get("CPU", 1))
        here = ray.put((_versions(), os.getcwd()))
        todo, waiting = enumerate(items), dict[Any, int]()
        try:
            while True:
                for place, item in islice(todo, AHEAD * max(cores, 1) - len(waiting)):
                    packed = cloudpickle.dumps(item)
                    waiting[call.remote(shared, packed, here)] = place
                if not waiting:
                    return
                first = next(iter(waiting))
                if not ordered:
                    [first], _ = ray.wait(list(waiting), num_returns=1)
                result = _get(first)
                yield waiting.pop(first), result
        finally:
            _cancel(list(waiting))


def _call(work: bytes, item: bytes, here: tuple[dict[str, str], str]) -> bytes:
    """Do one item on a node, if it gives the bits that the driver would get."""
    versions, folder = here
    for name, wanted in versions.items():
        found = _versions()[name]
        if found != wanted:
            raise EngineError(
                f"every node must have {name} {wanted}, like the machine of the "
                f"command; {socket.gethostname()} has {found}. Install it there."
            )
    with suppress(OSError):  # only relative paths need it
        os.chdir(folder)
    return pickle.dumps(pickle.loads(work)(pickle.loads(item)))


def _get(reference: Any) -> Any:
    """Return a result; an error of the work is raised as it is without Ray."""
    import ray
    from ray.exceptions import RayError, RayTaskError

    try:
        return pickle.loads(ray.get(reference))
    except RayTaskError as error:
        if "failed to import on the worker" in str(error.cause):
            raise EngineError(
                f"every node must have truepool {_versions()['truepool']} and its "
                "packages; one could not import them. Install them there."
            ) from None
        raise error.cause from None
    except RayError as error:
        reason = str(error).strip().splitlines()[0].rstrip(".:")
        raise EngineError(
            f"Ray could not finish a part of the work, tried up to {RETRIES + 1} "
            f"times: {reason}. Give the nodes more memory, make the parts smaller, or "
            "leave out engine=ray."
        ) from None


def _cancel(references: list[Any]) -> None:
    """Let what is in flight end, so that nothing is written after the command."""
    import ray

    if not references or not ray.is_initialized():
        return
    for reference in references:
        ray.cancel(reference)
    ray.wait(references, num_returns=len(references), timeout=CANCEL_TIMEOUT)


@lru_cache
def _versions() -> dict[str, str]:
    """Versions of Python and of the packages that the bits of a result depend on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _check_address(address: str) -> str:
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise SettingError(
            "address must be HOST:PORT of the head node of a Ray cluster, as in "
            f"10.0.0.1:6379; got {address!r}"
        )
    return address


def _check_reachable(address: str) -> None:
    """Ask for a connection first: Ray itself tries for a minute."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise EngineError(
            f"the head node of a Ray cluster must answer at {address}; the connection "
            f"failed: {reason}. Start it, or correct the address."
        ) from None


@contextmanager
def _same_signal_handler() -> Iterator[None]:
    """Keep the handler of SIGTERM: Ray's would not let files be cleaned up."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        main = threading.current_thread() is threading.main_thread()
        if main and before is not None:
            signal.signal(signal.SIGTERM, before)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set variables for the processes that are started; what is set already stays."""
    new = {name: text for name, text in variables.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Ray says to its developers off the terminal."""
    logger = logging.getLogger("ray")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
