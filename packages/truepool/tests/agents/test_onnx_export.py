"""Exports are written only where they are true."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from training_data import features, small_model

from truepool import agents
from truepool.agents.zoo import conversion, random_forest
from truepool.core.errors import ExportError, FeatureError, SourceError

X, Y = features(gaps=0.1)
FULL, _ = features(gaps=0.0)


def trained(agent, X=X, **options):
    return agents.train(X, Y, {"agent": agent}, cache=False, **options)["agent"]


def test_a_forest_as_the_converter_leaves_it_is_refused(tmp_path, monkeypatch):
    """The converter's own forests go astray where values are missing, and say nothing."""
    monkeypatch.setattr(
        random_forest,
        "from_trees",
        lambda fitted, trees, width: conversion.from_scikit_learn(fitted, width),
    )
    for rows in (X, FULL):
        with pytest.raises(ExportError) as stop:
            agents.export(
                trained(small_model("random-forest"), rows), tmp_path / "a.onnx"
            )
        assert "cases with missing values. Nothing was written." in str(stop.value)
    assert list(tmp_path.iterdir()) == []


def test_forests_of_many_trees_are_added_up_in_double(tmp_path):
    agent = trained(agents.zoo.make("random-forest", n_estimators=400))
    assert agents.export(agent, tmp_path / "a.onnx", X).gap < 2e-7


def test_networks_and_regressions_lose_nothing(tmp_path):
    for name in ("logistic", "mlp"):
        found = agents.export(trained(small_model(name)), tmp_path / "a.onnx", 1e6 * X)
        assert max(found.gap, found.missing_gap) < 1e-12


def test_the_tolerance_is_the_users(tmp_path):
    with pytest.raises(ExportError, match=r"differs by up to .* \(allowed: 1e-12\)"):
        agents.export(
            trained(small_model("xgboost")), tmp_path / "a.onnx", tolerance=1e-12
        )


def test_an_agent_that_takes_no_gaps_has_an_export_that_takes_none(tmp_path):
    agent = trained(GaussianNB(), FULL)
    found = agents.export(agent, tmp_path / "a.onnx", tolerance=1e-4)
    assert found.missing_gap is None
    copy = agents.load(tmp_path / "a.onnx")
    assert_allclose(copy.predict_proba(FULL), agent.predict_proba(FULL), atol=1e-4)
    with pytest.raises(FeatureError, match="takes no missing values; case 3 has some"):
        copy.predict_proba(np.where(np.arange(240)[:, None] == 3, np.nan, FULL))


def test_a_model_without_a_converter_is_refused(tmp_path):
    class Mine(KNeighborsClassifier):
        pass

    with pytest.raises(
        ExportError, match=r"'agent' \(Mine\) cannot be written as ONNX"
    ):
        agents.export(trained(Mine(), FULL), tmp_path / "a.onnx")


def test_only_plain_agents_of_ours_are_exported(tmp_path):
    with pytest.raises(ExportError, match="got GaussianNB. Train it with agents.train"):
        agents.export(GaussianNB().fit(FULL, Y), tmp_path / "a.onnx")
    with pytest.raises(ExportError, match="'agent' is calibrated by platt"):
        agents.export(trained("logistic", calibration="platt"), tmp_path / "a.onnx")


def test_an_onnx_agent_can_be_calibrated_instead(tmp_path):
    agents.export(trained("logistic", FULL), tmp_path / "a.onnx")
    better = agents.calibrate(agents.load(tmp_path / "a.onnx"), FULL, Y, "temperature")
    assert_allclose(better.predict_proba(FULL).sum(axis=1), 1)


def test_a_path_that_cannot_be_written_to_is_refused_before_the_work(tmp_path):
    agent = trained("tree")
    for path, expected in ((tmp_path / "a.bin", "must end in .onnx"), (tmp_path / "no" / "a.onnx", "no folder")):  # fmt: skip
        with pytest.raises(SourceError, match=expected):
            agents.export(agent, path)


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    agent = trained("tree")
    (tmp_path / "a.onnx").write_text("precious")

    def full(*paths, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(SourceError, match="a.onnx' cannot be written: No space left"):
        agents.export(agent, tmp_path / "a.onnx")
    monkeypatch.setattr("tempfile.mkstemp", full)
    with pytest.raises(SourceError, match="a.onnx' cannot be written: No space left"):
        agents.export(agent, tmp_path / "a.onnx")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["precious"]
