"""Every figure that is money says in which currency.

Costs seven times as high change nothing but the figures that are costs: whatever number
differs between the two audits is money, and must have its currency.
"""

import re
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from faults import drifted

from truepool.audits import audit
from truepool.audits import comparison as pools
from truepool.comparison import compare
from truepool.core.sentences import catalogue
from truepool.pages import comparison as compared
from truepool.pages.audit import page
from truepool.pages.grid import Grid
from truepool.pages.page import Beside, Figure, Items, Text
from truepool.pages.wording import Speaker
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

UNIT = "EUR"
SCALES = (1, 7)
NUMBER = re.compile(r"[-+]?(?:\d[\d,]*)?\.?\d+")
INTERVAL = re.compile(r"EUR \[[-\d,. ]*$|[\d,.]+ \[[-\d,. ]*$")


def panel():
    whole = drifted(0, 900)
    reports = np.hstack([whole.reports, whole.reports[:, :1] ** 3])
    region = np.array(["north", "south", "west"])[np.arange(900) % 3]
    return Panel(reports, whole.outcomes, times=whole.times, columns={"region": region})


@pytest.fixture(scope="module", autouse=True)
def two_pools():
    """Compare fast pools alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "POOLS", ("platt", "vcg", "best-agent", "auto"))
        yield


@pytest.fixture(scope="module")
def pages(two_pools):
    """One page per scale, of findings without details: these are in the same unit."""
    found = []
    for scale in SCALES:
        costs = Costs(fn=5 * scale, fp=scale, currency=UNIT)
        one = audit(panel(), costs=costs, resamples=20, threshold=0.6, by="region")
        found.append(page(Speaker.of(bare_of_details(one))))
    return found


def bare_of_details(one):
    def without(diagnosis):
        first = diagnosis.finding and replace(diagnosis.finding, details=())
        rest = tuple(replace(each, details=()) for each in diagnosis.evidence)
        known = tuple(each for each in rest if each.unit in ("", *catalogue()["unit"]))
        return replace(diagnosis, finding=first, evidence=known)

    agents = tuple(map(without, one.agents))
    return replace(
        one, outcome=without(one.outcome), agents=agents, pool=without(one.pool)
    )


def flat(shown):
    for section in shown.sections:
        for part in section.parts:
            yield from part.parts if isinstance(part, Beside) else (part,)


def bare(*texts):
    """Numbers that differ between texts, with what follows, where no unit does."""
    found = [list(NUMBER.finditer(text)) for text in texts]
    assert len({NUMBER.sub("#", text) for text in texts}) == 1, texts
    for hits in zip(*found, strict=True):
        if len({hit.group() for hit in hits}) > 1:
            text, hit = texts[0], hits[0]
            before, after = text[: hit.start()], text[hit.end() :]
            whole = after.startswith(f" {UNIT}") or re.match(
                r" \[[-\d,. ]*\] EUR", after
            )
            inside = INTERVAL.search(before) and UNIT in before[-40:] + after
            if not (whole or inside):
                yield f"{before[-20:]}{hit.group()}{after[:30]}"


def test_a_cost_in_a_sentence_or_a_fact_has_its_currency(pages):
    def texts(shown):
        yield shown.headline
        yield from shown.about
        for part in flat(shown):
            rows = chain.from_iterable(part.opens) if isinstance(part, Grid) else ()
            items = part.items if isinstance(part, Items) else rows
            for item in items:
                yield item.text
                yield from (f"{name}: {value}" for name, value in item.facts)
            if isinstance(part, Text):
                yield from part.lines

    pairs = zip(*map(texts, pages), strict=True)
    assert [
        x for x in chain.from_iterable(bare(*pair) for pair in pairs) if UNIT not in x
    ] == []


def test_a_cost_in_a_table_has_its_currency(pages):
    tables = [
        [part for part in flat(shown) if isinstance(part, Grid)] for shown in pages
    ]
    check(*tables, least=20)


def test_a_cost_in_a_comparison_has_its_currency():
    found = [
        compare(
            panel(), costs=Costs(fn=5 * scale, fp=scale, currency=UNIT), by="region",
            pools=["platt", "vcg"], resamples=20, capacity="10%",
        )
        for scale in SCALES
    ]  # fmt: skip
    check(*([compared.grid(one), compared.groups(one)] for one in found), least=15)


def check(tables, others, least):
    bare_cells, seen = [], 0
    for one, other in zip(tables, others, strict=True):
        for row, scaled in zip(one.rows, other.rows, strict=True):
            for header, cell, larger in zip(one.headers, row, scaled, strict=True):
                if cell != larger:
                    seen += 1
                    if UNIT not in header + row[0] + cell:
                        bare_cells.append((one.title, header, cell))
    assert bare_cells == []
    assert seen >= least


def test_a_figure_of_costs_has_its_currency(pages):
    """Where the text of a row differs between the two, its title has the unit."""
    rows = re.compile(r'<span class="value[^>]*>([^<]*)</span>')
    drawn = [[p for p in flat(shown) if isinstance(p, Figure)] for shown in pages]
    money = [
        one.title
        for one, other in zip(*drawn, strict=True)
        if rows.findall(str(one.drawing)) != rows.findall(str(other.drawing))
    ]
    assert len(money) >= 3
    assert [title for title in money if UNIT not in title] == []
