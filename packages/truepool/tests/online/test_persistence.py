"""Saved streams: they go on as if nothing had happened; damaged ones are refused."""

import json
import zipfile
from datetime import date

import numpy as np
import pytest
from panels import random_panel

import truepool as tp
from truepool import learners
from truepool.core import archive
from truepool.core.errors import SettingError, StreamFileError
from truepool.online import persistence

PANEL = random_panel(1, cases=40, silent=0.2)
AGENTS = ("a", "b", "c", "d")


def case(t):
    return dict(zip(AGENTS, PANEL.reports[t].tolist(), strict=True))


def halfway(**settings):
    """Twenty cases settled, five more waiting, one of them by agents who left."""
    stream = tp.Stream("boa", AGENTS, **settings)
    for t in range(20):
        stream.learn_one(case(t), int(PANEL.outcomes[t]))
    stream.join("eve")
    for t in range(20, 25):
        stream.predict_proba_one(case(t), case=f"c{t}")
    stream.predict_proba_one({"eve": 0.3}, case=("alone", 7))
    stream.settle("c20", 1)
    stream.leave("eve")
    return stream


def follow(stream):
    """What a stream answers from there on, to the last bit."""
    answers = []
    for t in range(21, 25):
        stream.settle(f"c{t}", int(PANEL.outcomes[t]))
    for t in range(25, 40):
        answers.append(stream.predict_proba_one(case(t)))
        stream.learn_one(case(t), int(PANEL.outcomes[t]))
    return answers, stream.weights, stream.waiting, stream.outcomes


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "x.stream"
    halfway(recalibrate=True).save(path)
    return path


@pytest.mark.parametrize("recalibrate", [False, True])
def test_cases_that_wait_are_settled_after_loading(tmp_path, recalibrate):
    stream = halfway(recalibrate=recalibrate)
    stream.save(tmp_path / "x.stream")
    again = tp.load_stream(tmp_path / "x.stream")
    assert repr(again) == repr(stream)
    assert follow(again) == follow(stream)


def test_labels_costs_and_the_bound_on_cases_come_back(tmp_path):
    stream = tp.Stream(
        "gradient", AGENTS, positive="fraud", negative="ok", costs=tp.Costs(fn=9),
        loss="cost-brier", memory=3, rate=0.5,
    )  # fmt: skip
    stream.learn_one({"a": 0.2, "b": 0.4}, "ok")
    stream.decide_one({"a": 0.3}, case=1)
    stream.save(tmp_path / "x.stream")
    again = tp.load_stream(tmp_path / "x.stream")
    assert (again.learner, again.numbers, again.memory) == (
        stream.learner, {"fraud": 1, "ok": 0}, 3,
    )  # fmt: skip
    again.settle(1, "fraud")
    assert again.outcomes == {1: 1}
    assert again.decide_one({"a": 0.2}) == "fraud"


def test_a_stream_without_any_case_is_saved_too(tmp_path):
    tp.Stream("hedge", AGENTS, classes=3).save(tmp_path / "x.stream")
    again = tp.load_stream(tmp_path / "x.stream")
    assert repr(again) == "Stream(hedge, 4 agents, 0 cases settled, 0 waiting)"
    again.learn_one({"a": [0.2, 0.3, 0.5]}, 2)


def test_the_same_stream_gives_the_same_bytes(saved, tmp_path):
    tp.load_stream(saved).save(tmp_path / "again.stream")
    assert (tmp_path / "again.stream").read_bytes() == saved.read_bytes()


def test_a_case_with_a_name_that_cannot_be_saved_is_refused(tmp_path):
    stream = tp.Stream("hedge", AGENTS)
    stream.predict_proba_one({"a": 0.5}, case=date(2026, 1, 1))
    with pytest.raises(SettingError, match=r"stream.waiting has datetime.date.*str\("):
        stream.save(tmp_path / "x.stream")
    assert not list(tmp_path.iterdir())


def test_a_learner_outside_the_registry_is_refused(tmp_path):
    class Own(type(learners.make("static"))):
        name = "own"

    with pytest.raises(SettingError, match="Own is not registered.*entry point"):
        tp.Stream(Own(), AGENTS).save(tmp_path / "x.stream")


def test_a_pool_is_no_stream_and_a_stream_is_no_pool(saved, tmp_path):
    tp.Mean().fit_panel(PANEL).save(tmp_path / "m.pool")
    with pytest.raises(
        StreamFileError, match="it is a saved pool. Load it with tp.load_pool"
    ):
        tp.load_stream(tmp_path / "m.pool")
    with pytest.raises(
        tp.TruepoolError, match="it is a saved stream. Load it with tp.load_stream"
    ):
        tp.load_pool(saved)


def test_every_cut_of_a_file_is_refused(saved):
    whole = saved.read_bytes()
    for length in range(0, len(whole), 97):
        saved.write_bytes(whole[:length])
        with pytest.raises(StreamFileError, match="damaged"):
            tp.load_stream(saved)


def rewrite(path, change):
    """Change the manifest; checksums are made to match again."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(members[archive.MANIFEST])
    change(manifest)
    del members[archive.CHECKSUMS]
    arrays = {k: v for k, v in members.items() if k != archive.MANIFEST}
    rest = {k: manifest[k] for k in manifest if k not in ("format", "truepool")}
    archive.write(path, persistence.KIND, rest, arrays)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights", "reports"),
        ("reports", "weights"),
        ("used", "weights"),
        ("outcomes", "weights"),
        ("memory", []),
        ("memory", ["x"] * 5),
        ("settled", -1),
        ("agents", ["a", "b"]),
        ("agents", ["a"]),
        ("numbers", [0, 7]),
        ("recalibration", [1, 2]),
        ("learner", {"learner": "os.system", "settings": {}}),
        ("learner", {"learner": "hedge", "settings": {"rate": -1}}),
        ("learner", {"eval": "1"}),
        ("waiting", ["c21"]),
        ("known", []),
    ],
)
def test_values_that_do_not_fit_together_are_refused(saved, name, value):
    def change(manifest):
        stream = manifest["stream"]
        known = isinstance(value, str)
        stream[name] = stream[value] if known else value

    rewrite(saved, change)
    with pytest.raises(StreamFileError, match="do not fit together|cannot be used"):
        tp.load_stream(saved)


def test_a_learner_of_a_plug_in_that_is_not_installed_is_named(saved):
    learner = {"learner": "inverse", "settings": {}}
    rewrite(saved, lambda manifest: manifest["stream"].update(learner=learner))
    with pytest.raises(
        StreamFileError, match="no learner is called 'inverse' .* plug-in"
    ):
        tp.load_stream(saved)


def test_a_newer_version_is_refused(saved):
    rewrite(saved, lambda manifest: manifest.update(version=2))
    with pytest.raises(StreamFileError, match="has version 2.*up to version 1"):
        tp.load_stream(saved)


def test_the_format_is_the_one_that_is_documented(saved):
    assert (persistence.KIND.format, persistence.KIND.version) == ("truepool-stream", 1)
    with zipfile.ZipFile(saved) as file:
        manifest = json.loads(file.read("manifest.json"))
    assert list(manifest) == ["format", "version", "truepool", "stream"]
    assert list(manifest["stream"]) == [
        "learner", "agents", "classes", "settled", "weights", "memory", "labels",
        "numbers", "recalibration", "experts", "limit", "waiting", "reports", "used", "known",
        "outcomes",
    ]  # fmt: skip
    assert np.array_equal(manifest["stream"]["known"], ["c20"])
