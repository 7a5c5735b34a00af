"""The container's command, user and environment, on a root that is read-only.

No container is built: a mount namespace of the test's own stands in for it.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
import pytest

FILE = Path(__file__).parents[1] / "Containerfile"
NAMESPACE = """
set -e
mount --make-rprivate /
mount --bind "$VOLUME" "$VOLUME"
mount -o remount,bind,ro /
if touch /written 2>/dev/null; then echo "error: the root can be written"; exit 1; fi
cd "$VOLUME"
exec setpriv --reuid "$USER" --regid "$USER" --clear-groups --no-new-privs --inh-caps=-all "$@"
"""


def final_stage():
    return FILE.read_text().rpartition("\nFROM ")[2].replace("\\\n", " ")


@pytest.fixture
def volume():
    """A folder that the container's user owns and can reach, and that user."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "setpriv"))):
        pytest.skip("a mount namespace needs root, unshare and setpriv")
    user = int(re.search(r"^USER (\d+)$", final_stage(), re.MULTILINE)[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, user, user)
        tried = in_namespace(folder, user, [sys.executable, "-c", "import truepool"])
        said = tried.communicate()[1]
        if tried.returncode:
            pytest.skip(f"no such namespace, or the user cannot read: {said[-80:]}")
        yield Path(folder), user


def in_namespace(folder, user, command, **variables):
    """Start a command as a user where nothing but the folder can be written."""
    return subprocess.Popen(
        ["unshare", "-m", "bash", "-c", NAMESPACE, "bash", *command],
        env={"PATH": os.environ["PATH"], "VOLUME": str(folder), "USER": str(user)}
        | variables,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_serves_as_its_user_and_writes_to_its_volume_only(volume):
    folder, user = volume
    (settings,) = re.findall(r"^ENV (.*)$", final_stage(), re.MULTILINE)
    found = dict(pair.split("=", 1) for pair in settings.split())
    found.pop("PATH")
    environment = {
        name: value.replace("/data", str(folder)) for name, value in found.items()
    }
    (words,) = re.findall(r'^CMD \["(.*)"\]$', final_stage(), re.MULTILINE)
    words = [word.replace("/data", str(folder)) for word in words.split('", "')]
    command = [sys.executable, "-c", "from truepool.cli import main; main()", *words]
    # As behind a proxy; without it a new ledger has no tokens, and is refused.
    environment["TRUEPOOL_SERVE_INSECURE"] = "true"
    process = in_namespace(folder, user, [*command, "--port", "0"], **environment)
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            if at := re.search(r"on (http://\S+:\d+);", line):
                break
        else:
            pytest.fail("".join(said))
        assert httpx.get(f"{at[1]}/readyz").status_code == 200
        pool = {"name": "cards", "agents": ["rf", "nn"], "costs": {"fn": 10, "fp": 1}}
        assert httpx.post(f"{at[1]}/v1/pools", json=pool).status_code == 201
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert (folder / "pools.db").stat().st_uid == user
