"""Saved pools: what is written, what is refused, and that no file can run code."""

import io
import json
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from panels import random_panel
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import TimeSeriesSplit

import truepool as tp
from truepool.core import archive
from truepool.core.errors import PoolFileError, SettingError
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.pools import persistence
from truepool.pools.auto import Auto
from truepool.pools.bayes import Bayes
from truepool.pools.boosted import Boosted
from truepool.pools.extremized import Extremized
from truepool.pools.interface import FixedPool
from truepool.pools.mean import Mean
from truepool.pools.platt import Platt
from truepool.pools.simplest import Simplest
from truepool.pools.vcg import VCG
from truepool.tables import Schema, Unit

PANEL = random_panel(1)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "vcg.pool"
    VCG(costs=Costs(fn=10, fp=1)).fit_panel(PANEL).save(path)
    return path


def changed(path, change):
    """Rewrite the manifest; checksums are made to match again."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(members["manifest.json"])
    change(manifest, members)
    members["manifest.json"] = json.dumps(manifest).encode()
    rewritten(path, members)


def rewritten(path, members, compression=zipfile.ZIP_STORED):
    members.pop("SHA256SUMS", None)
    sums = [f"{archive._sha256(part)}  {name}\n" for name, part in members.items()]
    members["SHA256SUMS"] = "".join(sums).encode()
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, part in members.items():
            file.writestr(name, part)


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def test_the_same_pool_gives_the_same_bytes(saved, tmp_path):
    again = tmp_path / "again.pool"
    tp.load_pool(saved).save(again)
    assert again.read_bytes() == saved.read_bytes()


def test_settings_labels_and_training_cases_are_restored(tmp_path):
    costs = Costs(fn=10, fp=1)
    pool = Platt(base=VCG(loss="log"), costs=costs, threshold=0.2)
    labels = np.array(["ok", "fraud"])[PANEL.outcomes]
    pool.fit(PANEL.reports, labels, positive="fraud").save(tmp_path / "p.pool")
    back = tp.load_pool(tmp_path / "p.pool")
    assert repr(back) == repr(pool)
    assert back.labels_.positive == "fraud"
    assert back.training_ == pool.training_
    assert back.training_.cases == len(PANEL)
    assert back.training_.counts == PANEL.counts


@pytest.mark.parametrize(
    "pool",
    [
        Auto(candidates=("mean", VCG(loss="log"))),
        Simplest(candidates=("mean", VCG(loss="log")), loss="brier"),
        Bayes(prior=np.array([0.4])),
        Extremized(factor="neyman-roughgarden", base=Platt(base="vcg")),
        VCG(costs=Costs(matrix=[[0, 1], [5, 0]])),
        VCG(loss=Loss("cost", Costs(fn=10))),
    ],
    ids=[
        "pools inside",
        "candidates",
        "an array",
        "NaN and two pools inside",
        "a matrix",
        "a loss",
    ],
)
def test_settings_of_every_type_are_restored(tmp_path, pool):
    pool.fit_panel(PANEL).save(tmp_path / "x.pool")
    back = tp.load_pool(tmp_path / "x.pool")
    assert repr(back) == repr(pool)
    assert_array_equal(
        back.predict_proba(PANEL.reports), pool.predict_proba(PANEL.reports)
    )


def test_a_pool_that_has_not_learned_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        Mean().save(tmp_path / "m.pool")
    assert not list(tmp_path.iterdir())


def test_a_setting_without_a_plain_form_is_refused_with_the_cure(tmp_path):
    pool = Platt(base="vcg", cv=TimeSeriesSplit(3)).fit_panel(PANEL)
    with pytest.raises(SettingError, match="platt.cv is TimeSeriesSplit.*set_params"):
        pool.save(tmp_path / "p.pool")
    pool.set_params(cv=5).save(tmp_path / "p.pool")
    assert tp.load_pool(tmp_path / "p.pool").factor_ == pool.factor_


def test_numbers_of_numpy_are_saved_as_numbers(tmp_path):
    pool = Extremized(factor=np.float64(2), seed=np.int64(3)).fit_panel(PANEL)
    pool.has_names_ = np.bool_(True)
    pool.save(tmp_path / "x.pool")
    back = tp.load_pool(tmp_path / "x.pool")
    assert (back.factor, back.seed, back.has_names_) == (2.0, 3, True)
    assert (type(back.factor), type(back.seed)) == (float, int)


def test_an_undeclared_attribute_is_refused(tmp_path):
    pool = Mean().fit_panel(PANEL)
    pool.extra_ = 1
    with pytest.raises(SettingError, match="Mean does not declare 'extra_'"):
        pool.save(tmp_path / "x.pool")


def test_a_pool_outside_the_registry_is_refused(tmp_path):
    class Own(FixedPool):
        name = "own"

        def combine(self, values):
            return np.nanmean(values, axis=1)

    with pytest.raises(SettingError, match="Own is not registered.*entry point"):
        Own().fit_panel(PANEL).save(tmp_path / "own.pool")


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(PoolFileError, match="there is no file .*truepool fit wrote"):
        tp.load_pool(tmp_path / "none.pool")
    with pytest.raises(PoolFileError, match="cannot be read"):
        tp.load_pool(tmp_path)


def test_every_cut_of_a_file_is_refused(saved):
    whole = saved.read_bytes()
    for length in range(0, len(whole), 7):
        saved.write_bytes(whole[:length])
        with pytest.raises(PoolFileError, match="damaged"):
            tp.load_pool(saved)


def test_a_flipped_bit_is_refused_or_harmless(saved):
    whole = saved.read_bytes()
    pooled = tp.load_pool(saved).predict_proba(PANEL.reports)
    for place in range(0, len(whole), 3):
        other = bytearray(whole)
        other[place] ^= 1 << place % 8
        saved.write_bytes(other)
        try:
            pool = tp.load_pool(saved)
        except PoolFileError:
            continue
        assert_array_equal(pool.predict_proba(PANEL.reports), pooled)


def _newer(manifest, members):
    manifest["version"] = 2


def _format(manifest, members):
    manifest["format"] = "zip"


def _unknown_pool(manifest, members):
    manifest["pool"]["name"] = "os.system"


def _unknown_setting(manifest, members):
    manifest["pool"]["settings"]["command"] = "rm"


def _undeclared(manifest, members):
    manifest["pool"]["learned"]["combine"] = "x"


def _record(manifest, members):
    manifest["pool"]["learned"]["credit_"] = {"record": "Popen", "fields": {}}


def _tag(manifest, members):
    manifest["pool"]["learned"]["credit_"] = {"eval": "1"}


def _no_pool(manifest, members):
    manifest["pool"] = None


def _no_agents(manifest, members):
    del manifest["pool"]["learned"]["agents_"]


def _text_for_agents(manifest, members):
    manifest["pool"]["learned"]["agents_"] = "abcd"


def _weights(array):
    def change(manifest, members):
        name = manifest["pool"]["learned"]["weights_"]["array"]
        members[name] = npy(array)

    return change


def _newer_array(manifest, members):
    name = manifest["pool"]["learned"]["weights_"]["array"]
    members[name] = members[name].replace(b"NUMPY\x01", b"NUMPY\x02")


def _long_header(manifest, members):
    name = manifest["pool"]["learned"]["weights_"]["array"]
    members[name] = npy(np.ones(4)).replace(b"(4,)", b"(9,)")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_newer, "has version 2 of the format.*up to version 1. Upgrade"),
        (_format, "names the format 'zip'"),
        (
            _unknown_pool,
            "no pool is called 'os.system' .* Install the plug-in that has it",
        ),
        (_unknown_setting, "no setting of vcg is called 'command'"),
        (_undeclared, "'combine'"),
        (_record, "do not fit together"),
        (_tag, "do not fit together"),
        (_no_pool, "names no pool"),
        (_no_agents, "lacks agents_, .* Fit it again"),
        (_text_for_agents, "do not fit together"),
        (_weights(np.ones(5) / 5), "do not fit together"),
        (_weights(np.ones((2, 2)) / 4), "do not fit together"),
        (_weights(np.full(4, np.nan)), "do not fit together"),
        (_weights(np.array(["a", "b", "c", "d"])), "do not fit together"),
        (_long_header, "do not fit together"),
        (_newer_array, "do not fit together"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(saved, change, message):
    changed(saved, change)
    with pytest.raises(PoolFileError, match=message):
        tp.load_pool(saved)


def test_a_pool_that_does_not_answer_with_probabilities_is_refused(tmp_path):
    path = tmp_path / "b.pool"
    Bayes().fit_panel(PANEL).save(path)

    def change(manifest, members):
        members[manifest["pool"]["learned"]["prior_"]["array"]] = npy([np.nan])

    changed(path, change)
    with pytest.raises(PoolFileError, match="do not fit together"):
        tp.load_pool(path)


def test_pickled_arrays_are_never_opened(saved):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("it ran code",))

    trap = npy(np.array([Trap()], dtype=object), allow_pickle=True)

    def change(manifest, members):
        members[manifest["pool"]["learned"]["weights_"]["array"]] = trap

    changed(saved, change)
    with pytest.raises(PoolFileError, match="do not fit together"):
        tp.load_pool(saved)


def test_a_compressed_archive_is_refused_so_that_no_small_file_fills_memory(saved):
    with zipfile.ZipFile(saved) as file:
        members = {name: file.read(name) for name in file.namelist()}
    rewritten(saved, members, zipfile.ZIP_DEFLATED)
    with pytest.raises(PoolFileError, match="damaged"):
        tp.load_pool(saved)


def test_a_file_whose_pool_answers_nan_is_damaged(tmp_path, monkeypatch):
    path = tmp_path / "p.pool"
    Platt().fit_panel(PANEL).save(path)
    monkeypatch.setattr(Platt, "combine", lambda self, values: values[:, 0] * np.nan)
    with pytest.raises(PoolFileError, match="do not fit together"):
        tp.load_pool(path)


def test_a_pool_inside_must_be_about_the_same_agents(tmp_path):
    path = tmp_path / "p.pool"
    Platt().fit_panel(PANEL).save(path)

    def change(manifest, members):
        inner = manifest["pool"]["learned"]["pool_"]["pool"]["learned"]
        inner["agents_"]["tuple"] = ["a"]
        members[inner["weights_"]["array"]] = npy(np.ones(1))

    changed(path, change)
    with pytest.raises(PoolFileError, match="do not fit together"):
        tp.load_pool(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("left", 10_000),
        ("left", 0),
        ("left", -5),
        ("right", 10_000),
        ("right", 0),
        ("roots", 10_000),
        ("roots", -1),
        ("feature", 100),
    ],
)
def test_trees_that_lead_nowhere_are_refused(tmp_path, name, value):
    path = tmp_path / "b.pool"
    Boosted(trees=3).fit_panel(random_panel(1, cases=200)).save(path)

    def change(manifest, members):
        nodes = manifest["pool"]["learned"]["nodes_"]["mapping"]
        array = np.load(io.BytesIO(members[nodes[name]["array"]]))
        inner = np.load(io.BytesIO(members[nodes["feature"]["array"]])) >= 0
        array[inner if name in ("left", "right") else ...] = value
        members[nodes[name]["array"]] = npy(array)

    changed(path, change)
    with pytest.raises(PoolFileError, match="do not fit together"):
        tp.load_pool(path)


def test_the_format_is_the_one_that_is_documented(saved):
    with zipfile.ZipFile(saved) as file:
        names = file.namelist()
        manifest = json.loads(file.read("manifest.json"))
    assert (names[0], names[-1]) == ("manifest.json", "SHA256SUMS")
    assert (persistence.KIND.format, persistence.KIND.version) == ("truepool-pool", 1)
    assert list(manifest) == ["format", "version", "truepool", "pool"]
    assert list(manifest["pool"]) == ["name", "settings", "learned"]


def test_what_the_columns_were_is_kept_and_may_be_missing(saved, tmp_path):
    assert tp.load_pool(saved).table is None
    agents = tp.load_pool(saved).agents_
    known = Schema(
        agents, {a: (a,) for a in agents}, units={agents[0]: Unit(0, 100)},
        outcome="label", labels=("ok", "fraud"), decimal=",", missing=("n/d",),
        formats={"day": "%d.%m.%Y"}, time="day", unused=("note",), signed=agents[:1],
    )  # fmt: skip
    persistence.save(tp.load_pool(saved), tmp_path / "t.pool", known)
    assert persistence.load(tmp_path / "t.pool").table == known
    assert repr(tp.load_pool(tmp_path / "t.pool")) == repr(tp.load_pool(saved))


@pytest.mark.parametrize(
    "described",
    [
        {"schema": {"agents": 1}},
        {"schema": {"units": {"a": 1}}},
        {"schema": [1]},
        {"table": {"record": "TableFormat", "fields": {"scores": {"tuple": ["a=b"]}}}},
        {"table": {"record": "X", "fields": {}}},
        {"table": {"x": 1}},
    ],
)
def test_a_table_that_is_not_described_is_refused(saved, described):
    changed(saved, lambda manifest, members: manifest.update(described))
    with pytest.raises(PoolFileError, match="its table is not described"):
        persistence.load(saved)
