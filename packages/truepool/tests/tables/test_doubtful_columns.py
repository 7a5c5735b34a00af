"""Columns between 0 and 1 that may be no agents are asked about, weak agents are not."""

import tomllib
import warnings

import numpy as np
import pandas as pd
import pytest
from faults import drifted, flipped, sound
from messy_tables import TABLES, write
from panels import random_panel, stationary

from truepool.datasets import example
from truepool.render.config import config_text
from truepool.tables import TableFormat, load_panel, read_panel
from truepool.tables.doubtful_columns import SHARES, doubtful_columns
from truepool.tables.profile import profile_table
from truepool.tables.reader import TableWarning


def vendors(rng, cases=2000, rate=0.03, skills=(1.5, 1.5, 1.5)):
    """Reports that depend on each other through the outcome only, and the outcome."""
    y = (rng.random(cases) < rate).astype(float)
    return {f"v{i}": report(rng, y, skill) for i, skill in enumerate(skills)}, y


def report(rng, y, skill):
    return 1 / (1 + np.exp(-(skill * (y - 0.5) + rng.normal(size=len(y)))))


def steps(rng, cases):
    return rng.choice([0.0, 0.05, 0.1, 0.2], cases)


def doubts_of(panel):
    columns = dict(zip(panel.agents, panel.values[:, :, 0].T, strict=True))
    return doubtful_columns(columns, panel.outcomes.astype(float))


def test_a_column_of_few_values_without_any_relation_is_doubtful():
    rng = np.random.default_rng(0)
    columns, y = vendors(rng)
    (name, why), *rest = doubtful_columns(columns | {"d": steps(rng, 2000)}, y).items()
    assert (name, rest) == ("d", [])
    assert why == (
        "it has only 4 different values, and no relation to the outcome or to the "
        "other agents was found"
    )


def test_the_name_of_a_share_and_one_other_reason_make_a_doubt():
    rng = np.random.default_rng(0)
    columns, y = vendors(rng)
    spread = {"Discount-Rate": rng.random(2000)}
    assert list(doubtful_columns(columns | spread, y)) == ["Discount-Rate"]
    related = {"discount": np.round(columns["v0"], 1)}
    why = doubtful_columns(columns | related, y)["discount"]
    assert why == (
        "it has only 11 different values, and its name is that of a share or rate"
    )
    assert doubtful_columns(columns | {"best_rate": columns["v0"] ** 2}, y) == {}


def test_noise_without_another_reason_is_left_to_the_audit():
    rng = np.random.default_rng(0)
    columns, y = vendors(rng)
    assert doubtful_columns(columns | {"v3": rng.random(2000)}, y) == {}


def test_two_columns_that_are_no_agents_do_not_vouch_for_each_other():
    rng = np.random.default_rng(0)
    columns, y = vendors(rng)
    first = steps(rng, 2000)
    shares = {"p": first, "q": np.where(rng.random(2000) < 0.1, 0.3, first)}
    assert list(doubtful_columns(columns | shares, y)) == ["p", "q"]


@pytest.mark.parametrize("cases", [30, 200])
def test_few_positives_are_no_reason_to_doubt_a_column_by_its_values(cases):
    rng = np.random.default_rng(0)
    columns, y = vendors(rng, cases)
    y[:3] = 1
    assert doubtful_columns(columns | {"d": steps(rng, cases)}, y) == {}


def test_without_an_outcome_no_relation_can_be_missed():
    rng = np.random.default_rng(0)
    columns, _ = vendors(rng)
    assert doubtful_columns(columns | {"d": steps(rng, 2000)}, None) == {}


def test_where_all_columns_have_few_values_none_is_doubtful_for_it():
    rng = np.random.default_rng(0)
    columns, y = vendors(rng, rate=0.5)
    marks = {name: np.round(4 * values) / 4 for name, values in columns.items()}
    assert doubtful_columns(marks | {"v3": rng.choice([0.0, 0.5, 1.0], 2000)}, y) == {}


@pytest.mark.parametrize(
    "panel",
    [example(), sound(), flipped(), drifted(), stationary(2000), random_panel(),
     random_panel(cases=2000), random_panel(cases=2000, silent=0.5)],
    ids=lambda panel: f"{len(panel)}x{len(panel.agents)}",
)  # fmt: skip
def test_the_agents_of_these_panels_are_not_doubted(panel):
    assert doubts_of(panel) == {}


@pytest.mark.parametrize(("rate", "most"), [(0.03, 0.3), (0.3, 0.02)])
def test_a_weak_agent_that_rounds_is_rarely_doubted(rate, most):
    """An AUC of 0.6 in tenths, with nothing in common with others but the outcome."""
    weak, nothing = 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        columns, y = vendors(rng, rate=rate)
        own = {"w": report(rng, y, 0.36).round(1), "n": report(rng, 0 * y, 1).round(1)}
        found = doubtful_columns(columns | own, y)
        weak, nothing = weak + ("w" in found), nothing + ("n" in found)
    assert weak <= most * 60
    assert nothing >= 0.8 * 60


@pytest.mark.parametrize("kind", TABLES)
def test_nothing_in_the_messy_tables_is_doubted(tmp_path, kind):
    profile = profile_table(write(tmp_path, kind))
    assert "ignore" not in [question.option for question in profile.questions]


def test_the_names_of_shares_are_words_of_lower_case():
    assert all(name.isalpha() and name.islower() for name in SHARES)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    columns, y = vendors(rng)
    path = tmp_path / "t.csv"
    frame = pd.DataFrame(columns).assign(discount=steps(rng, 2000), y=y.astype(int))
    frame.to_csv(path, index=False)
    return path


def test_a_look_at_the_table_asks_and_the_line_of_the_file_is_the_cure(table):
    profile = profile_table(table)
    (question,) = profile.questions
    assert (question.option, question.required) == ("ignore", False)
    assert question.sentence == "is 'discount' an agent?"
    assert profile.problem is None
    text = config_text(profile, "t.csv")
    assert "# To check: is 'discount' an agent?\n# It has only 4 different" in text
    line = '# ignore = ["discount"]'
    assert tomllib.loads(text)["agents"] == ["v0", "v1", "v2", "discount"]
    cured = tomllib.loads(text.replace(line, line[2:]))
    assert load_panel(table, TableFormat(**cured))[0].agents == ("v0", "v1", "v2")


def test_a_reader_warns_unless_the_agents_were_named(table):
    with pytest.warns(TableWarning, match="'discount' may be no agent: .*--ignore dis"):
        read_panel(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_panel(table, agents="v*,discount")
        read_panel(table, ignore=["discount"])
