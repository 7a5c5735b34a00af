"""Columns that may be scores of vendors and bureaus, in a look at a table."""

import numpy as np
import pandas as pd
import pytest

from truepool.data.tables import TableFormat, load_panel
from truepool.data.tables.profile import profile_table

T = 300


def look(tmp_path, **columns):
    """Profile of a table of which the columns are functions of the risk."""
    rng = np.random.default_rng(11)
    risk = rng.uniform(0.02, 0.98, T)
    values = {name: make(risk, rng) for name, make in columns.items()}
    labels = np.where(rng.uniform(size=T) < risk, "bad", "good")
    path = tmp_path / "t.csv"
    pd.DataFrame({**values, "result": labels}).to_csv(path, index=False)
    return profile_table(path), path


def fraction(risk, rng):
    return np.clip(risk + rng.normal(0, 0.1, T), 0, 1).round(3)


def percentage(risk, rng):
    return np.clip(100 * risk + rng.normal(0, 10, T), 0, 100).round(1)


def vendor(risk, rng):
    return (947 * fraction(risk, rng)).astype(int)


def bureau(risk, rng):
    return (840 - 520 * fraction(risk, rng)).astype(int)


def noise(risk, rng):
    return rng.integers(0, 900, T)


def amount(risk, rng):
    return (4000 * risk + rng.uniform(0, 100, T)).round(2)


def question(profile, option):
    return next((q for q in profile.questions if q.option == option), None)


@pytest.mark.parametrize(
    ("make", "span"), [(vendor, "score=0-999"), (bureau, "score=850-300")]
)
def test_scores_that_move_with_the_reports_are_asked_about(tmp_path, make, span):
    profile, path = look(tmp_path, a=fraction, b=fraction, score=make)
    assert profile.options["agents"] == ["a", "b"]
    asked = question(profile, "scores")
    assert asked.sentence == "is 'score' an agent with scores?"
    assert (asked.required, profile.amounts) == (False, ())
    assert asked.if_so == {"agents": ["a", "b", "score"], "scores": [span]}
    written = TableFormat("result", positive="bad", **asked.if_so)
    assert load_panel(path, written)[0].agents == ("a", "b", "score")


@pytest.mark.parametrize("make", [noise, amount])
def test_noise_and_amounts_are_no_scores(tmp_path, make):
    profile, _ = look(tmp_path, a=fraction, b=fraction, amount=make)
    assert question(profile, "scores") is None
    assert profile.amounts == ("amount",)


def test_scores_beside_one_probability_are_asked_about(tmp_path):
    profile, _ = look(tmp_path, a=fraction, kount=vendor)
    answer = question(profile, "scores").if_so
    assert answer == {"agents": ["a", "kount"], "scores": ["kount=0-999"]}


def test_scores_alone_move_with_the_outcome(tmp_path):
    profile, _ = look(tmp_path, kount=vendor, fico=bureau)
    asked = question(profile, "scores")
    assert asked.if_so["agents"] == ["kount", "fico"]
    assert "the outcome" in asked.reasons


def test_one_agent_in_percent_beside_one_in_fractions_is_named(tmp_path):
    profile, _ = look(tmp_path, house=fraction, sift=percentage)
    assert question(profile, "percent").choices[0][0] == ["sift"]
    assert profile.problem is None
