"""Environments of model servers and their clients, each made once with uv."""

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / ".peers"
PACKAGES = {
    "mlserver": ("mlserver==1.7.1", "mlserver-sklearn==1.7.1"),
    "mlflow": ("mlflow-skinny==3.17.*", "scikit-learn", "pandas", "skops", "flask", "fastapi", "uvicorn"),
    "tritonclient": ("tritonclient[http,grpc]==2.73.0",),
}  # fmt: skip
PATIENCE = 180
"""Seconds that a server has to start."""


def environment(name):
    """Return the folder of an environment with a peer, made if it is not there."""
    mark = hashlib.sha256("\n".join(PACKAGES[name]).encode()).hexdigest()[:8]
    place = FOLDER / f"{name}-{mark}"
    if not (place / ".ok").exists():
        uv = Path(sys.executable).with_name("uv")
        shutil.rmtree(place, ignore_errors=True)
        words = [uv, "venv", "-q", "--python", sys.executable, place]
        subprocess.run(words, check=True)
        words = [
            uv,
            "pip",
            "install",
            "-q",
            "--python",
            place / "bin/python",
            *PACKAGES[name],
        ]
        subprocess.run(words, check=True)
        (place / ".ok").touch()
    return place


def variables(place):
    """Return the variables of a process in an environment."""
    kept = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    return kept | {
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
    }


def run_script(place, script, *words, cwd=None):
    """Run Python in an environment, and return what it prints."""
    command = [place / "bin/python", "-c", script, *map(str, words)]
    found = subprocess.run(
        command, cwd=cwd, env=variables(place), capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr[-3000:]
    return found.stdout


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextmanager
def serving(place, words, url, cwd):
    """Run a server until the block ends; it must answer at an address first."""
    log = cwd / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [place / "bin" / words[0], *words[1:]], cwd=cwd, env=variables(place),
            stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        wait_for(url, process, log)
        yield
    finally:
        os.killpg(process.pid, 15)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait(30)


def wait_for(url, process, log):
    for _ in range(PATIENCE * 4):
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (OSError, urllib.error.URLError):
            time.sleep(0.25)
        assert process.poll() is None, log.read_text()[-3000:]
    raise AssertionError(log.read_text()[-3000:])
