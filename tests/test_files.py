"""Files are written whole or not at all."""

import os
from pathlib import Path

import pytest

from truepool.errors import SourceError
from truepool.files import check_place, whole, write_text


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
def test_what_goes_wrong_leaves_the_old_file(tmp_path, error):
    place = tmp_path / "page.html"
    write_text(place, "old")
    expected = SourceError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        interrupted(place, error)
    assert place.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]
    if expected is SourceError:
        assert str(caught.value).endswith("cannot be written: No space left on device")


def test_places_where_nothing_can_be_written_are_refused(tmp_path, monkeypatch):
    with pytest.raises(SourceError, match="is a folder; name a file in it"):
        check_place(tmp_path)
    with pytest.raises(SourceError, match="there is no folder"):
        check_place(tmp_path / "no" / "page.html")
    monkeypatch.setattr(os, "access", lambda *asked: False)
    with pytest.raises(SourceError, match="cannot be written into"):
        check_place(tmp_path / "page.html")


def test_a_folder_that_takes_no_file_is_told(tmp_path, monkeypatch):
    def full(**asked):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    with pytest.raises(SourceError, match="cannot be written: No space left"):
        write_text(tmp_path / "page.html", "x")


def test_half_a_letter_does_not_stop_a_page(tmp_path):
    write_text(tmp_path / "page.html", "a\ud800b")
    assert (tmp_path / "page.html").read_text() == "a?b"


def interrupted(place, error):
    with whole(place) as unfinished:
        Path(unfinished).write_text("half")
        raise error


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
