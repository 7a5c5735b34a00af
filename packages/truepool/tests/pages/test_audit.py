"""An audit, on a terminal, as Markdown and as a page: what is shown, and what is not."""

import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from example_audit import (
    AGENTS,
    DEAD,
    EVERY,
    KEEP,
    SHARP,
    audit,
    change,
    diagnosis,
    estimate,
    leak,
    many,
    operation,
    plan,
    sound,
    summaries,
    tradeoff,
    with_prices,
)

from truepool.audits import kinds
from truepool.cli.screen import Screen
from truepool.core.sentences import TERMINAL
from truepool.pages.audit import agents, html, markdown, operations, page, show
from truepool.pages.grid import Grid
from truepool.pages.page import Figure, Items
from truepool.pages.wording import Speaker

TALL, WIDE = 40, 100
"""Lines and columns of a screen."""


def printed(one, width=WIDE, **how):
    out = io.StringIO()
    console = Screen(file=out, width=width, markup=False, highlight=False)
    show(Speaker.of(one, TERMINAL), console, **how)
    return out.getvalue()


class Reader(HTMLParser):
    """Words of a page, and the attributes of its elements by tag."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.words, self.all, self.inside = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.all.append((tag, dict(attrs)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.inside):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def grids(one, **how):
    for section in page(Speaker.of(one), **how).sections:
        for part in section.parts:
            if isinstance(part, Grid):
                yield part


# The terminal


@pytest.mark.parametrize("name", EVERY)
def test_an_audit_of_up_to_ten_agents_fits_on_one_screen(name):
    one = EVERY[name]()
    if name != "many":
        one = change(one, changes=None)
    lines = printed(one).splitlines()
    assert len(lines) <= TALL
    commands = [line for line in lines if line.startswith("   truepool ")]
    assert max(len(line.rstrip()) for line in lines if line not in commands) <= WIDE


def test_ten_agents_with_prices_fit_on_one_screen():
    names = (*AGENTS, *(f"vendor-{i}" for i in range(5)))
    priced = with_prices()
    ten = change(audit(names), costs=priced.costs, summaries=summaries(names, 0.02),
                 best_set=priced.best_set, operations=priced.operations)  # fmt: skip
    lines = printed(ten).splitlines()
    assert len(lines) <= TALL
    assert all(any(line.startswith(name) for line in lines) for name in names)


def test_a_sound_table_is_calm():
    one = sound()
    text = printed(one)
    assert len(text.splitlines()) <= 20
    assert "\n1. " in text
    assert "\n2. " not in text
    first = page(Speaker.of(one)).sections[0]
    assert not any(
        isinstance(part, Figure) and part.name == "health" for part in first.parts
    )
    assert "error" not in {tone for grid in grids(one) for tone in grid.tones}


def test_a_narrow_terminal_still_names_agent_and_state():
    text = printed(audit(), width=48)
    assert "bayes" in text
    assert "broken" in text


def test_of_many_agents_those_at_fault_come_first_and_the_rest_is_counted():
    one = many(40)
    text = printed(one)
    assert len(text.splitlines()) <= TALL
    shown = agents(Speaker.of(one), 12)
    assert len([row for row in shown.rows if row[0] in one.names]) == 12
    assert {row[0] for row in shown.rows[:3]} == {"bayes", "forest", "tree"}
    assert "12 of 40" in text
    assert len(agents(Speaker.of(one)).rows) == 41  # and the pool


def test_verbose_prints_what_the_page_has():
    assert len(printed(audit(), verbose=True).splitlines()) > TALL


# The plan is one, everywhere


@pytest.mark.parametrize("name", EVERY)
def test_terminal_markdown_and_page_have_the_same_steps_in_the_same_order(name):
    one = EVERY[name]()
    say = Speaker.of(one, TERMINAL)
    texts = printed(one, width=400), markdown(one, say), Reader(html(one, say)).text
    for text in texts:
        places = [text.index(say.step(step)) for step in one.plan.steps]
        assert places == sorted(places)
        assert all(say.command(step) in text for step in one.plan.steps)


def test_if_the_plan_is_to_keep_the_pool_no_other_remedy_is_shown():
    """Faults that it does not pay to act on are named, and nothing is advised."""
    kept = change(
        audit(), agents=tuple(diagnosis("agent", a, *([SHARP] if a == "forest" else [])) for a in AGENTS),
        findings=(SHARP,), plan=plan(KEEP, trust="with care", pool="mean", alternative=None),
        operations=(operation("mean"),), tradeoff=tradeoff(pools=("mean",)),
    )  # fmt: skip
    say = Speaker.of(kept)
    listed = [
        part for s in page(say).sections for part in s.parts if isinstance(part, Items)
    ]
    assert [len(part.items) for part in listed] in ([1], [])
    for text in (printed(kept), markdown(kept), html(kept)):
        assert "--ignore" not in text
        assert "truepool fit" not in text
        assert "tp.pools.make" not in text


def test_the_command_names_the_table_and_repeats_what_was_said_of_it():
    one = audit()
    say = Speaker.of(one, TERMINAL, "data/reports.csv", "--positive ja")
    command = say.command(one.plan.steps[-1])
    assert command.startswith(
        "truepool fit data/reports.csv --pool auto --ignore bayes"
    )
    assert command.endswith(" -o reports.pool --positive ja")


# In doubt


@pytest.mark.parametrize("name", ["leak", "doubt"])
def test_while_the_outcome_is_in_doubt_nothing_that_depends_on_it_is_shown(name):
    one = EVERY[name]()
    say = Speaker.of(one)
    shown = page(say)
    assert {s.name for s in shown.sections} == {
        "plan",
        "agents",
        "redundancy",
        "method",
    }
    table = agents(say)
    assert len(table.headers) == 3
    for row in table.rows:
        known = next((d for d in one.diagnoses if d.who == row[0]), one.outcome)
        kind = kinds.every().get(known.code)
        hidden = kind is None or (
            kind.needs_outcomes and not (kind.doubts or kind.asked)
        )
        assert (row[1] == say.label("unjudged")) == hidden
    worth = f"{one.summaries[0].worth.value:g}"
    for text in (printed(one), Reader(html(one)).text):
        assert "38 [24, 52]" not in text
        assert f" {worth} [" not in text


def test_why_it_is_asked_stands_above_the_question():
    one = leak()
    text = printed(one)
    finding = Speaker.of(one).finding(one.findings[0])
    assert text.index(finding[:40]) < text.index("\n1. ")


# The page


def test_the_tables_are_the_same_everywhere():
    one = audit()
    page_text, text = Reader(html(one)).text, markdown(one)
    for grid in grids(one):
        for row in grid.rows:
            for cell in filter(None, row):
                assert " ".join(cell.split()) in page_text
                assert cell.replace("<", "\\<") in text


def test_pools_are_named_by_the_part_they_play():
    one, say = audit(), Speaker.of(audit())
    assert [row[0] for row in operations(say).rows] == [
        say.text("in-use", pool="mean"),
        say.text("recommended", pool=say.text("pool-of", pool="auto", left=4)),
        say.text("alternative", pool="platt"),
    ]  # fmt: skip
    kept = replace(
        one,
        plan=replace(one.plan, pool="mean"),
        operations=(operation("mean"), operation("mean", 150.0)),
    )
    rows = operations(Speaker.of(kept)).rows
    assert rows[0][0] != rows[1][0]


def test_the_findings_open_under_their_agent_the_first_one_first():
    found = (DEAD, replace(SHARP, who=("bayes",)))
    one = change(
        audit(),
        agents=tuple(
            diagnosis("agent", a, *(found if a == "bayes" else ())) for a in AGENTS
        ),
    )
    grid, say = agents(Speaker.of(one)), Speaker.of(one)
    opened = grid.opens[[row[0] for row in grid.rows].index("bayes")]
    assert [item.text for item in opened[:2]] == [say.finding(each) for each in found]
    assert [item.tone for item in opened[:2]] == ["error", "warning"]
    assert "38 [24, 52] false alarms" in dict(opened[0].facts).values()


def test_a_feed_is_sound_until_it_broke_and_outside_its_gap():
    text = html(audit())
    figure = text[text.index('id="figure-health"') :].partition("</figure>")[0]
    rows = re.findall(r'<span class="name">(\w+)</span>(.*?)</li>', figure, re.S)
    bands = {
        name: re.findall(r'health (\w+)" x="([\d.]+)%" width="([\d.]+)%"', row)
        for name, row in rows
    }
    share = 100 * 412 / 569
    assert bands["bayes"] == [
        ("sound", "0.00", f"{share:.2f}"),
        ("error", f"{share:.2f}", f"{100 - share:.2f}"),
    ]
    assert [tone for tone, _, _ in bands["neighbours"]] == ["sound", "gap"]
    assert bands["logistic"] == [("sound", "0.00", "100.00")]


def test_the_page_of_a_million_cases_and_of_a_thousand_agents_is_small():
    names = tuple(f"vendor {i:04d} of a long list" for i in range(1000))
    rng = np.random.default_rng(0)
    fine = tradeoff(cases=10**6, bins=2000)
    rough = replace(
        fine,
        positives=rng.random(fine.positives.shape),
        negatives=rng.random(fine.negatives.shape),
    )
    one = change(audit(), cases=10**6, tradeoff=rough)
    assert len(html(one).encode()) < 1_000_000
    wide = change(
        audit(), agents=tuple(diagnosis("agent", name) for name in names), summaries=summaries(names),
        correlation=np.eye(1000), drift=None, calibration=(),
    )  # fmt: skip
    assert len(html(wide).encode()) < 1_000_000


def test_a_page_loads_nothing_and_runs_only_its_own_script():
    text = html(with_prices())
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    reader = Reader(text)
    assert not [
        a for _, a in reader.all if "style" in a or any(k.startswith("on") for k in a)
    ]
    assert not [
        a
        for _, a in reader.all
        if str(a.get("src", "") + a.get("href", "")).startswith("http")
    ]


@pytest.mark.parametrize(
    "name", ["<b>", "a&b", 'x"y', "{agent}", "%s", "`code`", "[red]"]
)
def test_names_are_shown_as_they_are(name):
    one = audit(tuple(name + agent for agent in AGENTS))
    reader = Reader(html(one))
    assert (
        reader.text.count(f"{name}bayes".replace("`", ""))
        or f"{name}bayes" in reader.text
    )
    assert f"{name}bayes" in printed(one)


def test_costs_by_amount_are_in_money_and_no_threshold_is_named():
    one = with_prices()
    text = html(one)
    assert '"byAmount": true' in text.replace("&#34;", '"')
    headers = [header for grid in grids(one) for header in grid.headers]
    assert [h for h in headers if h.startswith("recall in money")]
    assert all(
        "EUR" in h for h in headers if h.startswith(("cost per 1,000", "worth", "net"))
    )


def test_four_classes_have_no_slider_and_no_recall():
    one = EVERY["four-classes"]()
    assert 'id="tradeoff"' not in html(one)
    assert [h for h in operations(Speaker.of(one)).headers if "recall" in h] == []


def test_where_no_price_is_worth_it_no_set_is_recommended():
    one = with_prices()
    unsure = change(one, best_set=replace(one.best_set, saving=estimate(3.0, 9.0)))
    assert Speaker.of(one).text("best-set-all") not in printed(one, width=200)
    assert Speaker.of(one).text("best-set-all") in printed(unsure, width=200)


def test_a_plugin_without_words_is_shown_by_its_codes():
    odd = replace(SHARP, code="toolbox-odd", who=("tree",))
    one = change(
        audit(),
        agents=tuple(
            diagnosis("agent", a, *([odd] if a == "tree" else [])) for a in AGENTS
        ),
    )
    assert "toolbox-odd" in printed(one)
    assert "toolbox-odd" in html(one)
