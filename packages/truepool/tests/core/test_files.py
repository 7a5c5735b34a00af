"""Files are written whole or not at all."""

import os
import signal
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

from truepool.core import files
from truepool.core.errors import SourceError
from truepool.core.files import (
    DiskCache,
    atomic_path,
    cache_folder,
    check_path,
    missing_file,
    write_text,
)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("alrets.csv", "alerts.csv"),
        ("Alerts.csv", "alerts.csv"),
        ("alerts.xlsx", "alerts.csv"),
        ("bnak.pool", "bank.pool"),
        ("bank.csv", None),  # a saved pool is no table
        ("other.pool", None),  # that it ends in .pool makes it no better
        ("none/alerts.csv", None),
    ],
)
def test_the_file_that_may_be_meant_is_suggested(tmp_path, monkeypatch, name, meant):
    monkeypatch.chdir(tmp_path)
    for other in ("alerts.csv", "alerts.pool", "bank.pool", "x.pool"):
        Path(other).touch()
    hint = "" if meant is None else f" (did you mean {meant!r}?)"
    assert missing_file(name) == f"there is no file {name!r}{hint}"
    far = tmp_path / name
    hint = "" if meant is None else f" (did you mean {str(tmp_path / meant)!r}?)"
    assert missing_file(far) == f"there is no file {str(far)!r}{hint}"


def test_a_file_takes_the_place_of_the_old_one(tmp_path):
    place = tmp_path / "page.html"
    write_text(place, "old")
    write_text(place, "neü")
    assert place.read_text(encoding="utf-8") == "neü"
    assert os.listdir(tmp_path) == ["page.html"]
    assert place.stat().st_mode & 0o777 == 0o666 & ~_umask()


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError(28, "No space left on device")]
)
def test_after_an_error_the_old_file_is_unchanged(tmp_path, error):
    place = tmp_path / "page.html"
    write_text(place, "old")
    expected = SourceError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        interrupted(place, error)
    assert place.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]
    if expected is SourceError:
        assert str(caught.value).endswith("cannot be written: No space left on device")


def test_paths_that_cannot_be_written_are_refused(tmp_path, monkeypatch):
    with pytest.raises(SourceError, match="is a folder; name a file in it"):
        check_path(tmp_path)
    with pytest.raises(SourceError, match=r"must end in .onnx; got 'agent.joblib'"):
        check_path("agent.joblib", ".onnx")
    with pytest.raises(SourceError, match="there is no folder"):
        check_path(tmp_path / "no" / "page.html")
    monkeypatch.setattr(os, "access", lambda *arguments: False)
    with pytest.raises(SourceError, match="cannot be written into"):
        check_path(tmp_path / "page.html")


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path, monkeypatch):
    def full(**arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    with pytest.raises(SourceError, match="cannot be written: No space left"):
        write_text(tmp_path / "page.html", "x")


def test_half_a_letter_does_not_stop_a_page(tmp_path):
    write_text(tmp_path / "page.html", "a\ud800b")
    assert (tmp_path / "page.html").read_text() == "a?b"


@pytest.mark.parametrize(
    ("variable", "named", "folder"),
    [
        ("TRUEPOOL_CACHE", "/kept", "/kept"),
        ("TRUEPOOL_CACHE", "~/kept", "~/kept"),
        ("XDG_CACHE_HOME", "/caches", "/caches/truepool"),
        ("TRUEPOOL_CACHE", "", "~/.cache/truepool"),
    ],
)
def test_the_cache_folder_is_that_of_the_user_or_the_platform(
    variable, named, folder, monkeypatch
):
    for name in ("TRUEPOOL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("truepool.core.files.user_cache_path", unix_cache)
    monkeypatch.setenv(variable, named)
    assert cache_folder() == Path(folder).expanduser()


def unix_cache(name, **arguments):
    return Unix(name, **arguments).user_cache_path


def test_other_platforms_have_their_own_cache_folder():
    # As docs/data.md says; Windows asks the system, which is not here to be asked.
    arguments = {"appauthor": False, "opinion": False}
    found = MacOS("truepool", **arguments).user_cache_path
    assert found == Path("~/Library/Caches/truepool").expanduser()


@pytest.fixture
def cache(tmp_path):
    def read(path):
        number = path.read_text()
        return int(number)

    def write(number, path):
        Path(path).write_text(str(number))

    return DiskCache(tmp_path / "new" / "folder", read, write)


def test_a_cache_returns_the_stored_value_and_nothing_else(cache):
    assert cache.load("a") is None
    cache.store("a", 5)
    assert cache.load("a") == 5
    assert cache.load("b") is None
    assert [entry.name for entry in cache.folder.iterdir()] == ["a"]


def test_a_damaged_entry_is_absent_until_it_is_stored_again(cache):
    cache.store("a", 5)
    (cache.folder / "a").write_text("5x")
    assert cache.load("a") is None
    cache.store("a", 6)
    assert cache.load("a") == 6


def test_a_cache_that_cannot_be_written_costs_a_warning(cache):
    cache.folder.parent.write_text("a file where the folder should be")
    with pytest.warns(
        UserWarning,
        match=r"nothing can be stored in .* TRUEPOOL_CACHE to another folder\.$",
    ):
        cache.store("a", 5)
    assert cache.load("a") is None


def interrupted(place, error):
    with atomic_path(place) as unfinished:
        Path(unfinished).write_text("half")
        raise error


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "data").mkdir()
    real, link = tmp_path / "data" / "page.html", tmp_path / "latest.html"
    link.symlink_to(real)
    for text in ("first", "second"):  # a dangling link at first
        write_text(link, text)
        assert link.is_symlink()
        assert real.read_text() == text
    assert os.listdir(tmp_path / "data") == ["page.html"]
    assert sorted(os.listdir(tmp_path)) == ["data", "latest.html"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_an_old_file_keeps_its_mode(tmp_path, mode):
    place = tmp_path / "page.html"
    place.write_text("old")
    place.chmod(mode)
    write_text(place, "new")
    assert place.stat().st_mode & 0o777 == mode


def test_an_old_file_keeps_its_owner_where_that_is_allowed(tmp_path, monkeypatch):
    place = tmp_path / "page.html"
    place.write_text("old")
    owner = place.stat().st_uid, place.stat().st_gid
    calls = []

    def refuse(path, *ids):
        calls.append(ids)
        raise PermissionError

    monkeypatch.setattr(os, "chown", refuse)
    write_text(place, "new")
    assert (calls, place.read_text()) == ([owner], "new")


def test_a_pipe_gets_the_content_once_it_is_complete(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "through")
    assert os.read(reader, 100) == b"through"
    with pytest.raises(KeyboardInterrupt):
        interrupted(pipe, KeyboardInterrupt())
    assert os.read(reader, 100) == b""
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_device_stays_a_device():
    write_text("/dev/null", "gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(SourceError, match="'/dev/full' cannot be written: No space"):
        write_text("/dev/full", "x")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_link_that_cannot_be_followed_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        with pytest.raises(SourceError, match="is not a regular file; name another"):
            write_text(path, "x")
    (tmp_path / "page.html").write_text("old")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for place in (loop, tmp_path / ("x" * 300), tmp_path / "a\0b"):
        with pytest.raises(SourceError, match="cannot be written: "):
            write_text(place, "x")
    monkeypatch.setattr(os, "access", lambda place, mode: place == tmp_path)
    with pytest.raises(SourceError, match="'.*page.html' is write-protected"):
        write_text(tmp_path / "page.html", "x")


def test_a_long_name_that_the_system_takes_can_be_written(tmp_path):
    place = tmp_path / ("ä" * 125 + ".csv")
    write_text(place, "x")
    assert place.read_text() == "x"


def test_sigterm_leaves_the_old_file_and_nothing_else(tmp_path):
    place = tmp_path / "page.html"
    place.write_text("old")
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from truepool.core.files import atomic_path\n"
        "with atomic_path(sys.argv[1]) as unfinished:\n"
        "    Path(unfinished).write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(place)], check=False)
    assert done.returncode == 128 + signal.SIGTERM
    assert (os.listdir(tmp_path), place.read_text()) == (["page.html"], "old")


def test_sigterm_is_handled_only_while_a_file_is_written(tmp_path):
    with atomic_path(tmp_path / "a"):
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        with atomic_path(tmp_path / "b"):
            pass
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    with ThreadPoolExecutor(1) as pool:  # only the main thread may set handlers
        pool.submit(write_text, tmp_path / "a", "x").result()
    assert (tmp_path / "a").read_text() == "x"


def test_sigterm_leaves_no_temporary_folder(tmp_path):
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from truepool.core.files import temporary_folder\n"
        "with temporary_folder(Path(sys.argv[1]), 'download') as folder:\n"
        "    (folder / 'part').write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert (done.returncode, os.listdir(tmp_path)) == (128 + signal.SIGTERM, [])


def test_a_signal_ends_the_process_as_a_shell_expects():
    with pytest.raises(SystemExit) as exit_of:
        files._exit(15, None)
    assert exit_of.value.code == 143
