"""Columns that may be scores of vendors and bureaus, in a look at a table."""

import numpy as np
import pandas as pd
import pytest

from truepool.render.config import config_text
from truepool.tables import TableFormat, load_panel
from truepool.tables.profile import profile_table
from truepool.tables.question import join_answers

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


def points(top):
    return lambda risk, rng: (top * fraction(risk, rng)).round().astype(int)


@pytest.mark.parametrize(("top", "span"), [(17, "0-20"), (87, "0-100")])
def test_whole_numbers_up_to_100_are_percentages_or_scores(tmp_path, top, span):
    profile, path = look(tmp_path, a=fraction, b=fraction, news2=points(top))
    (asked,) = (q for q in profile.questions if q.if_so)
    assert asked.sentence == "is 'news2' an agent, in percent or with scores?"
    agents = ["a", "b", "news2"]
    assert asked.if_percent == {"agents": agents, "percent": ["news2"]}
    assert asked.if_so == {"agents": agents, "scores": [f"news2={span}"]}
    assert "the table does not say which scores are possible" in asked.reasons
    text = config_text(profile, "t.csv")
    assert "# If these are percentages, use these lines instead of agents" in text
    assert f'# If these are scores, use these lines instead of agents above:\n# agents = ["a", "b", "news2"]\n# scores = ["news2={span}"]' in text  # fmt: skip
    for answer in (asked.if_so, asked.if_percent):
        load_panel(path, TableFormat("result", positive="bad", **answer))


def test_decimals_and_a_name_that_says_so_are_percentages(tmp_path):
    profile, _ = look(tmp_path, a=fraction, b=fraction, x=percentage, y_pct=points(90))
    assert question(profile, "percent").if_so["percent"] == ["x", "y_pct"]
    assert question(profile, "scores") is None


def test_whole_numbers_up_to_10_that_rise_are_scores_and_others_are_not_used(tmp_path):
    profile, _ = look(
        tmp_path,
        a=fraction,
        b=fraction,
        qsofa=points(7),
        visits=lambda risk, rng: 7 - points(7)(risk, rng),
        euros=lambda risk, rng: 90 * points(40)(risk, rng),
    )
    asked = question(profile, "scores")
    assert asked.if_so["scores"] == ["qsofa=0-10"]
    assert [*profile.unused] == ["visits", "euros"]


def test_the_answer_to_all_questions_about_agents_can_be_pasted(tmp_path):
    profile, path = look(
        tmp_path, a=fraction, b=fraction, x=percentage, news2=points(17), kount=vendor
    )
    answer = join_answers(profile.questions)
    assert answer == {
        "agents": ["a", "b", "x", "news2", "kount"],
        "percent": ["x"],
        "scores": ["news2=0-20", "kount=0-999"],
    }
    load_panel(path, TableFormat("result", positive="bad", **answer))
    text = config_text(profile, "t.csv")
    assert "# If all of these are agents, use these lines instead of agents" in text


def test_scores_beside_percent_signs_name_the_agents_in_percent(tmp_path):
    def signed(risk, rng):
        return [f"{x}%" for x in percentage(risk, rng)]

    profile, path = look(tmp_path, a=signed, b=signed, kount=vendor)
    assert profile.options["percent"] is True
    answer = question(profile, "scores").if_so
    assert answer["percent"] == ["a", "b"]
    load_panel(path, TableFormat("result", positive="bad", **answer))


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
