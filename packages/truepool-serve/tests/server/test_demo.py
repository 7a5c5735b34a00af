"""The demonstration: a coordinator with traffic, which stops when told."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import numpy as np
import pytest
from server.service import Local, serving

from truepool.online.alarms import Monitor
from truepool_serve.server import demo
from truepool_serve.server.demo import AGENTS, DEAD, DRIFT, World


def test_the_agents_of_the_demonstration_are_calibrated_until_the_drift():
    world = World(np.random.default_rng(1))
    rows = [world.next(0) for _ in range(20_000)]
    reports = np.array([list(reports.values()) for _, reports in rows])
    truth = np.array([fraud for fraud, _ in rows])
    for column in reports.T:
        for low, high in ((0.0, 0.1), (0.1, 0.4), (0.4, 1.0)):
            some = (column >= low) & (column < high)
            error = column[some].mean() - truth[some].mean()
            assert abs(error) < 4 * np.sqrt(0.25 / some.sum())


def test_the_drift_and_the_dead_feed_are_found_and_nothing_else():
    world, monitor = World(np.random.default_rng(0)), Monitor(AGENTS)
    found = {}
    for number in range(DEAD + 100):
        fraud, reports = world.next(number)
        for alarm in monitor.update(reports, int(fraud)):
            found.setdefault(alarm.who, (alarm.kind, number))
    assert set(found) == {"bob", "cyd"}
    assert found["bob"][0] == "level"
    assert DRIFT < found["bob"][1] < DRIFT + 60
    assert found["cyd"][0] == "stopped"
    assert DEAD < found["cyd"][1] < DEAD + 60


def test_traffic_comes_over_http_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "HISTORY", 40)
    monkeypatch.setattr(demo, "PAUSE", 0.0)
    with Local(tmp_path / "l.db", None) as local, serving(local) as url:
        for _ in range(2):
            before = local.describe("demo")["entries"] if local.pools() else 0
            with demo.Traffic(local.coordinator, url):
                while local.describe("demo")["entries"] < before + 60:
                    time.sleep(0.02)
        assert local.describe("demo")["challengers"] == ["hedge"]
        assert local.describe("demo")["entries"] > 120


@contextmanager
def start(before="pass"):
    """Start the demonstration as a process, after a statement; end it at last."""
    code = (
        f"{before}; import sys; from truepool.cli import main; "
        "sys.argv[0] = 'truepool'; main()"
    )
    command = [sys.executable, "-c", code, "serve", "--demo", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stderr.close()


@pytest.fixture
def running():
    with start() as process:
        yield process


def test_a_newcomer_reports_with_curl_settles_and_stops_with_control_c(running):
    """The steps of docs/serve.md."""
    place = url = None
    for line in running.stderr:
        if found := re.search(r"Serving (\S+) on (http://\S+);", line):
            place, url = found[1], found[2]
        if line.startswith("Open "):
            break
    assert os.path.exists(place)

    def ask(method, path, content=None):
        body = None if content is None else json.dumps(content).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(url + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    case = "/v1/pools/demo/cases/mine"
    ask("PUT", f"{case}/reports/ada", {"probability": 0.7})
    assert json.loads(ask("POST", f"{case}/decision"))["decision"] == "fraud"
    ask("PUT", f"{case}/outcome", {"outcome": "fraud"})
    assert re.search(
        r'scope="row">mine</th>.*<td>fraud</td>', ask("GET", "/pools/demo")
    )
    mine = json.loads(ask("GET", case))
    assert (mine["reports"], mine["outcome"]) == ({"ada": 0.7}, "fraud")
    assert "/pools/demo" in ask("GET", "/")
    running.send_signal(signal.SIGINT)
    said = running.stderr.read()
    assert running.wait(60) == 130
    assert said.strip() in ("", "Aborted.")
    assert not os.path.exists(os.path.dirname(place))


def read_until(process, words):
    """Read up to a line with these words; return the folder of the ledger, the URL."""
    said = ""
    for line in process.stderr:
        said += line
        if words in line:
            break
    found = re.search(r"Serving (\S+) on (http://\S+);", said)
    return os.path.dirname(found[1]), found[2]


@pytest.mark.parametrize(
    ("number", "moment"),
    [
        (signal.SIGINT, "Serving"),
        (signal.SIGINT, "Open"),
        (signal.SIGINT, "twice"),
        (signal.SIGTERM, "Open"),
    ],
)
def test_a_signal_at_any_moment_says_so_in_the_exit_code(number, moment):
    with start() as process:
        folder, url = read_until(process, "Serving" if moment == "Serving" else "Open")
        if moment == "twice":
            urllib.request.urlopen(url, timeout=60).close()
            process.send_signal(number)
        process.send_signal(number)
        process.stderr.read()
        assert process.wait(60) == 128 + number
        assert not os.path.exists(folder)


def test_an_interrupt_that_the_shell_had_ignored_is_no_success():
    """In a script, `truepool serve --demo &` starts with SIGINT ignored."""
    ignored = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    with start(ignored) as process:
        folder, url = read_until(process, "Open")
        urllib.request.urlopen(url, timeout=60).close()
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        assert process.wait(60) == 130
        assert not os.path.exists(folder)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "a coordinator needs a ledger, the file that keeps everything"),
        (("--demo", "--host", "0.0.0.0"), "--demo serves this machine"),
        (("--demo", "--check"), "--demo serves this machine"),
    ],
)
def test_what_cannot_be_served_is_refused(truepool, words, sentence):
    code, _, err = truepool("serve", *words)
    assert code == 2
    assert sentence in err
