"""Processes per call: what they print, use, and need of the machine."""

import os
import subprocess

import numpy as np
import pytest

from truepool_lab.paper.edge import (
    CallError,
    UnavailableError,
    machine,
    process_calls,
    processes,
)
from truepool_lab.paper.edge.process_calls import call, ssh_server, through_shell

CASES = np.array([[0.1 + 0.2, 1e-300, -2.5] + [0.0] * 17])


def test_cases_and_reports_keep_every_bit():
    text = process_calls.write_cases(CASES)
    assert text.splitlines()[0].startswith("x0,x1,")
    np.testing.assert_array_equal(process_calls.read_reports(text, 20), CASES)


def test_a_call_says_what_the_process_printed_and_used():
    done = call(["sh", "-c", "cat; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"], "given")  # fmt: skip
    assert done.output == "given"
    assert 0 < done.processor
    assert done.milliseconds > 0


def test_a_call_that_fails_is_told():
    with pytest.raises(CallError, match="it broke"):
        call(["sh", "-c", "echo it broke >&2; exit 1"], "")


def test_a_shell_stores_what_it_is_given_and_runs_the_command(tmp_path):
    table = tmp_path / "a file.csv"
    line = through_shell(["wc", "-c", str(table)], table)
    assert call(["sh", "-c", line], "12345").output.startswith("5 ")


def test_without_an_ssh_server_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(process_calls, "which", lambda name, path=None: None)
    with pytest.raises(UnavailableError, match="no command sshd"), ssh_server(tmp_path):
        pass


def test_an_ssh_server_that_does_not_start_is_quoted(tmp_path, monkeypatch):
    fake = tmp_path / "sshd"
    fake.write_text("#!/bin/sh\necho 'no hostkeys available' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(process_calls, "which", lambda name, path=None: str(fake))
    monkeypatch.setattr(process_calls, "_alone", lambda command, folder: command)
    with pytest.raises(UnavailableError, match="no SSH server: no hostkeys available"):
        with ssh_server(tmp_path):
            pass


def test_a_session_runs_a_command_and_is_counted_to_the_server(tmp_path):
    try:
        with ssh_server(tmp_path) as server:
            assert call(server.command("cat"), "there and back").output == "there and back"  # fmt: skip
            assert processes.processor_time(server.pid) >= 0
            pid = server.pid
    except UnavailableError as error:
        pytest.skip(str(error))
    assert not os.path.exists(f"/proc/{pid}")


def test_only_root_gets_a_private_view_of_two_files(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert process_calls._alone(["sshd", "-D"], tmp_path) == ["sshd", "-D"]
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    first, *_, line = process_calls._alone(["sshd", "-D"], tmp_path)
    assert first == "unshare"
    assert line.strip().endswith("exec sshd -D")
    assert "\nsshd:" in (tmp_path / "passwd").read_text()


def test_a_process_that_does_not_listen_is_killed(monkeypatch):
    monkeypatch.setattr(processes, "LAST_WORDS", 0.2)
    process = subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo ready; while true; do sleep 0.05; done"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    assert processes.memory(process.pid) > 0
    processes.end(process)
    assert process.returncode == -9


def test_the_machine_is_named_by_processor_and_cores(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert machine.describe().endswith(", 2 cores")
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert machine.describe().endswith(", 1 core")
    known = tmp_path / "cpuinfo"
    known.write_text("processor : 0\nmodel name\t: A Fast One\n")
    assert machine._processor(known) == "A Fast One"
    assert machine._processor(tmp_path / "none")
    assert machine.load() >= 0
