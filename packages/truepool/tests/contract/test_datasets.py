"""What every data set owes. Data sets are found by folder."""

import gzip
import inspect
import string
from functools import cache
from typing import get_type_hints

import numpy as np
import pytest
from dataset_requirements import needs
from http_publisher import publish
from numpy.testing import assert_array_equal

from truepool import datasets
from truepool.agents.features import Features
from truepool.core.errors import ChecksumError, SettingError, SourceError, TruepoolError
from truepool.datasets.files import File
from truepool.panel.panel import Panel

EVERY = datasets.every()
READ = {name: one for name, one in EVERY.items() if one.files}
LARGE = 200_000
"""Rows from which on reading a data set twice takes half a minute."""

# Outcomes as DATASETS.md counts them in the files; what is made is told by its docs.
COUNTS = {
    "example": [357, 212],
    "governors": [3_811, 2_772],
}


def each_dataset(names):
    """Each data set by name; one that is read from files needs them here."""
    marks = {
        name: [pytest.mark.data, needs(name)] if name in READ else [] for name in names
    }
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=marks[name]) for name in names]
    )


@cache
def full(name):
    """The whole of a data set, in the order of its files where that can be asked."""
    settings = inspect.signature(EVERY[name].load).parameters
    wanted = {"rows": None, "seed": None} if name in READ else {}
    return datasets.load(name, **{k: v for k, v in wanted.items() if k in settings})


def values(data):
    return data.values if isinstance(data, Features) else data.reports


@each_dataset(EVERY)
def test_its_size_is_as_declared(name):
    data = full(name)
    assert isinstance(data, Features | Panel)
    assert values(data).shape[:2] == (EVERY[name].rows, EVERY[name].columns)
    assert data.classes == len(EVERY[name].labels)
    if isinstance(data, Features):
        assert data.labels == EVERY[name].labels
        assert data.name == name


@each_dataset(EVERY)
def test_values_are_finite_but_for_the_missing_ones_it_owns_up_to(name):
    array = values(full(name))
    assert not np.isinf(array).any()
    assert np.isnan(array).sum() == EVERY[name].missing


@each_dataset(COUNTS)
def test_outcomes_are_as_many_of_each_class_as_are_published(name):
    assert np.bincount(full(name).outcomes).tolist() == COUNTS[name]


def test_every_data_set_that_is_read_has_its_outcomes_counted():
    own = {name for name, one in READ.items() if one.__module__.startswith("truepool.")}
    assert own <= set(COUNTS)


@each_dataset([name for name in EVERY if EVERY[name].rows < LARGE])
def test_a_seed_gives_the_same_rows_and_another_seed_others(name):
    takes_seed = "seed" in inspect.signature(EVERY[name].load).parameters
    first, again = (datasets.load(name) for _ in range(2))
    assert_array_equal(values(first), values(again))
    assert_array_equal(first.outcomes, again.outcomes)
    if takes_seed:
        other = datasets.load(name, seed=1)
        assert not np.array_equal(values(first), values(other), equal_nan=True)


@each_dataset(
    [name for name in EVERY if "seed" in inspect.signature(EVERY[name].load).parameters]
)
def test_a_negative_seed_is_refused(name):
    with pytest.raises(SettingError, match="must not be negative"):
        datasets.load(name, seed=-1)


@each_dataset(
    [
        name
        for name, one in READ.items()
        if "rows" in inspect.signature(one.load).parameters
    ]
)
def test_more_rows_than_there_are_cannot_be_had(name):
    with pytest.raises(SettingError, match="; got"):
        datasets.load(name, rows=10**9)


@each_dataset(
    [
        name
        for name, one in READ.items()
        if one.column_kind == "feature" and one.rows < LARGE
    ]
)
def test_encoded_rows_are_numbers_and_depend_only_on_the_training_rows(name):
    data = full(name)
    half = len(data) // 2
    ready = data.encoder().fit(data.values[:half])
    late = ready.transform(data.values[half:])
    assert late.shape[1] == EVERY[name].columns
    assert np.isfinite(late).all()
    alone = data.encoder().fit(data.values[:half]).transform(data.values[-1:])
    assert_array_equal(alone[0], late[-1])


@pytest.mark.parametrize("name", EVERY)
def test_a_setting_it_does_not_have_is_refused(name):
    with pytest.raises(LookupError, match=f"no setting of {name} is called 'sede'"):
        datasets.load(name, sede=1)


@pytest.mark.parametrize("name", EVERY)
def test_its_source_is_stated(name):
    one = EVERY[name]
    assert min(len(one.source), len(one.licence)) > 2
    assert len(one.cite) > 20
    assert one.home in ("made", "bundled")
    loaded = get_type_hints(one.load)["return"]
    assert (loaded is Panel) == (one.column_kind == "agent")
    assert one.__doc__
    assert len(set(one.labels)) == len(one.labels) >= 2
    for file in one.files:
        assert len(file.sha256) == 64
        assert set(file.sha256) <= set(string.hexdigits.lower())
        assert file.size > 0
        assert file.address is None or file.address.startswith("https://")


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A folder without data, and a cache without any."""
    monkeypatch.setenv("TRUEPOOL_DATA", str(tmp_path))
    monkeypatch.setenv("TRUEPOOL_CACHE", str(tmp_path / "caches" / "truepool"))
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    return tmp_path


@pytest.mark.parametrize("name", READ)
def test_a_truncated_archive_is_refused_in_one_sentence(name, bare):
    for file in READ[name].files:
        packed = gzip.compress(np.random.default_rng(0).bytes(5000).hex().encode())
        (bare / f"{file.name}.gz").write_bytes(packed[:-1000])
    with pytest.raises(SourceError, match="must be a complete file; it is truncated"):
        datasets.load(name)


@pytest.mark.parametrize("name", READ)
def test_a_table_of_something_else_is_refused_in_one_sentence(name, bare):
    for file in READ[name].files:
        (bare / file.name).write_text("this,that\n1,2\n")
    with pytest.raises(
        SourceError, match="must have a column|must be the published file"
    ):
        datasets.load(name)


@pytest.mark.parametrize("name", READ)
def test_a_missing_file_is_fetched_and_its_checksum_verified(name, bare, monkeypatch):
    with publish({"file": b"not the data"}) as address:
        monkeypatch.setattr(
            READ[name],
            "files",
            tuple(
                File(f.name, f.sha256, f.size, f"{address}/file")
                for f in READ[name].files
            ),
        )
        assert READ[name].location() is None
        with pytest.raises(ChecksumError, match=READ[name].files[0].sha256):
            datasets.load(name)
    left = sorted(path.name for path in (bare / "caches/truepool").iterdir())
    assert left == [f"{READ[name].files[0].name}.mismatch"]


def test_an_unknown_data_set_is_offered_the_known_ones():
    with pytest.raises(
        TruepoolError, match="no data set is called 'synthet'.*'synthetic'"
    ):
        datasets.load("synthet")
