"""A link delays and loses packets as told, and leaves nothing behind."""

import json
import os
import sys
import threading

import pytest

from truepool_lab.paper.edge import CallError, UnavailableError, echo, link
from truepool_lab.paper.edge.link import FAR_END, NEAR_END


@pytest.fixture(scope="module")
def echoes():
    """A link with an echo at its far end, and how to send packets to it."""
    try:
        with (
            link.laid(1) as laid,
            link.started(
                laid, FAR_END, [sys.executable, echo.__file__, "serve", FAR_END]
            ) as process,
        ):
            port = process.stdout.readline().strip()

            def ping(count):
                words = [sys.executable, echo.__file__, "ping", FAR_END, port, str(count)]  # fmt: skip
                return json.loads(link.run(laid, NEAR_END, words))

            yield laid, ping
    except UnavailableError as error:
        pytest.skip(str(error))


def test_a_packet_comes_back_and_is_counted_in_both_directions(echoes):
    laid, ping = echoes
    laid.impair(0.0, 0.0)
    assert None not in ping(10)
    assert (laid.passed, laid.dropped) == (20, 0)


def test_a_delay_is_added_in_each_direction(echoes):
    laid, ping = echoes
    laid.impair(0.05, 0.0)
    assert min(ping(3)) >= 100.0  # never earlier; later on a busy machine


def test_all_is_lost_where_all_packets_are(echoes, monkeypatch):
    laid, ping = echoes
    laid.impair(0.0, 1.0)
    assert ping(1) == [None]
    assert (laid.passed, laid.dropped) == (0, 1)


def test_the_share_that_is_lost_is_drawn_from_the_seed(tmp_path):
    drawn = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        one = link.Link(tmp_path / name, seed=7)
        one.impair(0.0, 0.05)
        drawn.append([one._lost() for _ in range(2000)])
        one.close()
    assert drawn[0] == drawn[1]
    assert 0.03 < sum(drawn[0]) / 2000 < 0.07


def test_the_namespaces_and_the_thread_end_with_the_link(echoes):
    with link.laid(2) as laid:
        link.run(laid, NEAR_END, ["true"])
        folder, thread = laid._path.parent, laid._thread
        assert os.path.exists(folder)
    assert not os.path.exists(folder)
    assert thread not in threading.enumerate()


def test_a_command_that_fails_at_an_end_is_told(echoes):
    laid, _ = echoes
    with pytest.raises(CallError, match="at 10.77.0.1: no such thing"):
        link.run(laid, NEAR_END, ["sh", "-c", "echo no such thing >&2; exit 3"])


def test_a_machine_without_the_commands_says_so(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UnavailableError, match="no command unshare"), link.laid(0):
        pass


def test_a_machine_that_forbids_namespaces_says_so(tmp_path, monkeypatch):
    fake = tmp_path / "unshare"
    fake.write_text("#!/bin/sh\necho 'unshare: Operation not permitted' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(link, "PATIENCE", 0.5)
    with link.laid(0) as laid:
        with pytest.raises(UnavailableError, match="no network namespace: unshare: Op"):
            link.run(laid, NEAR_END, ["true"])
