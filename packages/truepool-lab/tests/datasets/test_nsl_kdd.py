"""The NSL-KDD loader, on the real files where they are and on tiny ones made here."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from dataset_requirements import needs

from truepool.core.errors import SettingError, SourceError
from truepool_lab.datasets.nsl_kdd import FIFTH, NAMES, TEST, TRAIN, Features, nsl_kdd


@pytest.mark.data
@needs("nsl-kdd")
def test_the_rows_of_readings_are_a_fifth_of_train_and_all_of_test() -> None:
    rows = nsl_kdd(rows=None, train=FIFTH)
    assert rows.values.shape == (47_736, 41)
    assert rows.outcomes.sum() == 11_743 + 12_833  # attacks, as the files are published


@pytest.mark.data
@needs("nsl-kdd")
def test_the_share_of_attacks_drawn_is_the_one_asked_for() -> None:
    rows = nsl_kdd()
    assert rows.values.shape == (50_000, len(rows.names))
    assert rows.outcomes.mean() == 0.48


@pytest.mark.data
@needs("nsl-kdd")
def test_rows_in_published_order_are_train_and_then_test() -> None:
    rows = nsl_kdd(rows=None, seed=None)
    assert len(rows) == 125_973 + 22_544
    assert rows.outcomes[:125_973].sum() == 58_630
    assert rows.outcomes[125_973:].sum() == 12_833
    first = dict(zip(rows.names, rows.values[0].tolist(), strict=True))
    assert first["src_bytes"] == 491
    assert rows.levels["service"][int(first["service"])] == "ftp_data"


def line(service: str, label: str) -> str:
    numbers = ["0"] * (len(NAMES) - 4)
    return ",".join(["0", "tcp", service, "SF", *numbers, label, "21"])


@pytest.fixture
def files(nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = {
        TRAIN: [line("http", "normal"), line("smtp", "neptune")],
        TEST: [line("auth", "normal"), line("smtp", "mscan")],
    }
    for file, content in lines.items():
        with gzip.open(tmp_path / f"{file.name}.gz", "wt") as stream:
            stream.write("\n".join(content) + "\n")
    monkeypatch.setenv("TRUEPOOL_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("files")
def test_a_category_has_the_same_number_whichever_rows_are_taken() -> None:
    def services(rows: Features) -> set[tuple[int, int]]:
        numbers = rows.values[:, rows.names.index("service")].astype(int)
        return set(zip(numbers.tolist(), rows.outcomes.tolist(), strict=True))

    assert services(nsl_kdd(rows=None)) == {(0, 0), (1, 0), (2, 1)}
    assert services(nsl_kdd(rows=None, train=0)) == {(0, 0), (2, 1)}


@pytest.mark.usefixtures("files")
def test_no_row_is_drawn_twice_and_a_seed_gives_the_same_rows() -> None:
    first, again = (nsl_kdd(rows=4, attacks=0.5, seed=7) for _ in range(2))
    assert first.outcomes.tolist().count(1) == 2
    np.testing.assert_array_equal(first.values, again.values)
    np.testing.assert_array_equal(first.outcomes, again.outcomes)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("rows", "attacks"), [(5, 0.5), (2, 1.5), (-1, 0.5)])
def test_more_rows_than_there_are_cannot_be_drawn(rows: int, attacks: float) -> None:
    with pytest.raises(SettingError, match="2 normal and 2 attack rows to draw from"):
        nsl_kdd(rows=rows, attacks=attacks)


def test_a_file_with_a_header_is_not_the_original(files: Path) -> None:
    with gzip.open(files / f"{TRAIN.name}.gz", "wt") as file:
        file.write(",".join([*NAMES, "label", "difficulty"]) + "\n")
    with pytest.raises(SourceError, match="without a header; it cannot be read"):
        nsl_kdd()
