import io
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from faults import COSTS, flipped, sound, timed
from panels import random_panel
from rich.console import Console

from truepool.audits import audit
from truepool.audits.values import Detail
from truepool.comparison import Estimate
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.render.advice import steps
from truepool.render.numbers import percent
from truepool.render.tables.agent_choice import MOST_AGENTS
from truepool.render.tables.audit import markdown, scope, show
from truepool.render.tables.evidence import grids
from truepool.render.verdict import sentence

QUICK = {"costs": COSTS, "resamples": 50}


@cache
def audited():
    return audit(flipped(cases=500), **QUICK)


def shown(result, width=120):
    screen = io.StringIO()
    show(result, Console(file=screen, width=width))
    return screen.getvalue()


def test_the_terminal_shows_every_finding_with_what_to_do():
    text = " ".join(shown(audited()).split())
    for finding in audited().findings:
        assert " ".join(finding.sentence.split()) in text
        assert (f"Do: {finding.advice}" in text) == (not finding.cause)
    assert "1. ERROR agent1 is reversed" in text
    numbered = " ".join(
        f"{n}. {step}" for n, step in enumerate(steps(audited()), start=1)
    )
    assert text.startswith(f"{audited().verdict} What to do: {numbered}")
    assert re.search(
        r"AUC: 0\.2\d+ \[\.\d+, \.\d+\]; savings per case if fixed \(in "
        r"false alarms\): \+0\.\d+ \[",
        text,
    )


def test_an_agent_that_earned_no_weight_may_have_had_one_in_the_pool_that_is_tested():
    panel = timed(sound(cases=600))
    reports = panel.reports.copy()
    right = np.where(panel.outcomes == 1, 0.95, 0.05)
    reports[:, 0] = np.where(np.arange(600) < 250, right, 1 - right)
    late = Panel(reports, panel.outcomes, panel.agents, times=panel.times)
    result = audit(late, pool="vcg", **QUICK)
    first = result.agent_summaries[0]
    assert (first.weight.value, first.weight.high) == (0, 0)
    assert first.leave_one_out.value < 0  # pools of earlier cases believed it
    assert (
        "its weight in the pool may differ, also in vcg, which is fitted on other cases "
        "than it is tested on." in " ".join(shown(result).split())
    )


def test_of_many_agents_a_terminal_shows_those_with_the_largest_weights():
    result = audit(random_panel(1, cases=60, agents=24), resamples=20)
    tables = grids(result, MOST_AGENTS)[:2]
    weights = {one.agent: one.weight.value for one in result.agent_summaries}
    first = sorted(weights, key=lambda agent: -weights[agent])[:MOST_AGENTS]
    for table in tables:
        rows = [row[0] for row in table.rows if not row[0].startswith("pool")]
        assert len(rows) == MOST_AGENTS == 20
        assert min(weights[name] for name in rows) >= min(weights[n] for n in first)
        assert "those with 30 tested cases or more first" in table.notes[-1]
        assert "; 4 more are in --json and --markdown." in table.notes[-1]
    assert [row[0] for row in tables[0].rows[-2:]] == ["pool", "pool, recalibrated"]
    assert all(name in markdown(result) for name in result.agents)


def test_a_dead_feed_is_marked_beside_its_weight():
    dead = sound(cases=600)
    reports = dead.reports.copy()
    reports[300:, 2] = 0.01
    result = audit(timed(Panel(reports, dead.outcomes)), **QUICK)
    names = [row[0] for row in grids(result)[1].rows]
    assert names[1:3] == ["agent1", "agent2†"]
    assert "leave-one-out credit in Brier loss (vcg), not in costs" in markdown(result)
    assert "†: see the finding about its feed." in markdown(result)


@pytest.mark.parametrize("width", [72, 80, 180])
def test_terminals_of_any_width_are_enough(width):
    page = shown(audited(), width)
    assert ("Left out for lack of width" in page) == (width < 180)
    for line in page.splitlines():
        assert len(line) <= width
        if line.startswith(("agent", "pool", "mean")):
            assert line.count("[") == line.count("]"), "an interval was torn apart"


def test_findings_are_blocks_to_the_right_of_their_places():
    page = shown(audited(), 80)
    listed = page[page.index(" 1. ERROR") : page.index("\n\n", page.index(" 1. ERROR"))]
    for line in listed.splitlines():
        assert re.match(r" ?\d+\. (ERROR|WARNING|note) |    (  )?\S", line)
        assert line == line.rstrip()


NAMES = ["[/]", "[red]x[/red]", "a|b", "<script>alert(1)</script>", "模型"]


@pytest.fixture(scope="module")
def renamed():
    panel = flipped(cases=300)
    return audit(Panel(panel.reports, panel.outcomes, NAMES), **QUICK)


def test_names_are_printed_as_they_are(renamed):
    page = shown(renamed)
    assert all(name in page for name in NAMES)
    assert renamed.findings[0].who == ("[red]x[/red]",)


def test_names_neither_end_cells_nor_become_tags_in_markdown(renamed):
    page = markdown(renamed)
    tables = [line for line in page.splitlines() if line.startswith("|")]
    assert any(line.startswith("| a\\|b |") for line in tables)
    assert not re.search(r"(?<!\\)<script", page)
    heads = [n for n, line in enumerate(tables) if line.startswith("|:--")]
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in tables]
    for start, end in zip(heads, [*heads[1:], len(tables) + 1], strict=True):
        assert len(set(widths[start - 1 : end - 1])) == 1


def test_markdown_says_the_same():
    page = markdown(audited())
    assert page == audited().to_markdown()
    assert page.startswith(f"# {sentence(audited())}\n")
    assert "1. **ERROR** agent1 is reversed" in page
    assert "| agent0 |" in page
    assert page.count("\n## ") == 1
    assert page.index(audited().advice.split("`")[0][:40]) < page.index("## Findings")


def test_what_was_withheld_and_sampled_is_said(monkeypatch):
    from truepool.audits import topics
    from truepool.audits.topics import drift

    plugged = ("incentives", "robustness")  # where truepool-lab is installed
    own = {name: one for name, one in topics.every().items() if name not in plugged}
    monkeypatch.setattr(topics, "every", lambda: own)
    few = audit(Panel([[0.9, 0.5], [0.1, 0.5], [0.8, 0.2]], [1, 0, 1]))
    lines = [line for line in shown(few, 200).splitlines() if "Skipped" in line]
    assert lines == [
        "Skipped: calibration, comparison, harm, levels, reversed reports, credit and "
        "weights. At least 30 outcomes are needed, got 3."
    ]
    monkeypatch.setattr(drift, "DRIFT_CASES", 100)
    some = audit(timed(sound(cases=200)), **QUICK)
    assert "are from 100 cases, thinned evenly" in markdown(some)


@pytest.mark.parametrize("silent", [0.0, 0.2])
def test_the_page_says_which_pool_cases_and_costs_it_is_about(silent):
    page = markdown(audit(random_panel(1, cases=100, silent=silent), resamples=20))
    assert "positive is decided above 0.500." in page
    assert "% of them positive" in page
    assert ("of reports missing" in page) == (silent > 0)
    many = markdown(audit(timed(random_panel(1, classes=3)), resamples=20))
    assert "3 classes; every error costs 1; the class" in many
    assert "positive" not in many.split("\n## ")[0]
    rare = audit(sound(cases=100), costs=Costs(fn=50_000), resamples=20)
    assert "positive is decided above 0.000020." in markdown(rare)


def test_whether_other_pools_are_cheaper_is_shown_with_the_p_values_that_matter():
    """The adjusted one is the recommendation's; the other tests are in JSON."""
    assert "| pool | saves per case | adjusted p | p |\n" in markdown(audited())


def test_what_to_use_is_said_once_and_the_rule_of_thumb_of_the_paper_is_in_json():
    result = audited()
    plan = result.to_dict()["recommendation"]
    assert (plan["usual"], plan["regime"] != "") == (result.recommendation.usual, True)
    assert plan["regime"] not in markdown(result)
    assert "the paper" not in markdown(result)


def test_where_nothing_was_found_markdown_says_so():
    few = audit(Panel([[0.9, 0.5], [0.1, 0.5], [0.8, 0.2]], [1, 0, 1]))
    assert "## Findings\n\nNothing was found.\n" in markdown(few)


def test_the_share_of_positives_is_that_of_the_weights_where_there_are_any():
    share = audited().positives / audited().cases
    assert f"{percent(share)} of them positive;" in scope(audited())
    text = scope(replace(audited(), weighted_share=0.012))
    assert f"1.2 % of them positive by weight ({percent(share)} of the rows)" in text


def test_the_numbers_that_a_finding_rests_on_have_a_table():
    names = [f"{agent} reports the opposite" for agent in audited().agents]
    rests = [Detail(name, Estimate(0.1, 0.0, 0.2)) for name in names]
    finding = replace(audited().findings[0], unit="gain", details=tuple(rests))
    found = replace(audited(), findings=(finding,))
    tables = {grid.title: grid.rows for grid in grids(found)}
    assert [name for name, _ in tables["Gain"]] == names
    assert "| agent3 reports the opposite |" in markdown(found)
    assert grids(replace(found, findings=()))[-1].title != "Gain"


@pytest.mark.parametrize("sure", [True, False])
def test_the_table_of_calibration_says_what_reports_of_0_and_1_count_as(sure):
    """Stars of 1 to 5, read as 0 to 1, have lower slopes here than in a jury."""
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 300)
    stars = (outcomes[:, None] + rng.integers(0, 4, (300, 3))) / 4
    reports = stars if sure else 0.01 + 0.98 * stars
    result = audit(Panel(reports, outcomes), resamples=20)
    text = result.to_markdown()
    assert ("0 and 1 count as 0.000001 and 0.999999" in text) is sure
