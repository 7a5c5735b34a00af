"""Every figure that is money says in which currency.

Costs seven times as high change nothing but the figures that are costs: whatever number
differs between the two audits is money, and must have its currency.
"""

import re
from itertools import chain

import numpy as np
import pytest
from faults import drifted

from truepool.audits import audit, topics
from truepool.audits.topics import comparison
from truepool.comparison import compare
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.render.advice import steps
from truepool.render.html.audit import html, sections
from truepool.render.tables import comparison as compared
from truepool.render.tables.audit import details
from truepool.render.tables.evidence import alarms, grids
from truepool.render.verdict import changes, sentence

UNIT = "EUR"
SCALES = (1, 7)
NUMBER = re.compile(r"[-+]?(?:\d[\d,]*)?\.?\d+")
INTERVAL = re.compile(
    r"((EUR per 1,000 cases \(|per 1,000 cases: [-\d,.]+ EUR, )95 % interval [-\d,. to]*"
    r"|EUR \[[-\d,. ]*)$"
)
CODES = {"drifted", "threshold", "capacity", "better-pool"}
"""Findings that speak of costs."""
if "robustness" in topics.every():  # truepool-lab is installed
    CODES |= {"fragile", "misreport-gain"}


def panel():
    whole = drifted(0, 900)
    reports = np.hstack([whole.reports, whole.reports[:, :1] ** 3])
    region = np.array(["north", "south", "west"])[np.arange(900) % 3]
    return Panel(reports, whole.outcomes, times=whole.times, columns={"region": region})


@pytest.fixture(scope="module", autouse=True)
def two_pools():
    """Compare fast pools alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "POOLS", ("platt", "vcg", "best-agent", "auto"))
        yield


@pytest.fixture(scope="module")
def audits(two_pools):
    """One audit per scale, each with what changed since the first."""
    found = []
    for scale in SCALES:
        costs = Costs(fn=5 * scale, fp=scale, currency=UNIT)
        settings = {"threshold": 0.6, "by": "region", "capacity": "10%"}
        since = audit(panel(), costs=costs, resamples=20, threshold=0.6).to_dict()
        found.append(audit(panel(), costs=costs, resamples=20, since=since, **settings))
    return found


@pytest.fixture(scope="module")
def comparisons():
    return [
        compare(
            panel(), costs=Costs(fn=5 * scale, fp=scale, currency=UNIT), by="region",
            pools=["platt", "vcg"], resamples=20, capacity="10%",
        )
        for scale in SCALES
    ]  # fmt: skip


def bare(*texts):
    """Numbers that differ between texts, with what follows, where no unit does."""
    found = [list(NUMBER.finditer(text)) for text in texts]
    assert len({NUMBER.sub("#", text) for text in texts}) == 1, texts
    for hits in zip(*found, strict=True):
        if len({hit.group() for hit in hits}) > 1:
            text, hit = texts[0], hits[0]
            before, after = text[: hit.start()], text[hit.end() :]
            named = f"({UNIT})" in before.rpartition(";")[2]
            if not (after.startswith(f" {UNIT}") or named or INTERVAL.search(before)):
                yield f"{hit.group()}{after[:30]}"


def test_the_audit_has_findings_that_speak_of_costs(audits):
    assert {f.code for f in audits[0].findings} >= CODES


def test_a_cost_in_a_sentence_has_its_currency(audits):
    def texts(found):
        yield from (sentence(found), *steps(found), *changes(found))
        for finding in found.findings:
            yield finding.sentence
            yield from details(finding, found)

    pairs = zip(*map(texts, audits), strict=True)
    assert list(chain.from_iterable(bare(*pair) for pair in pairs)) == []


def test_a_cost_in_a_table_has_its_currency(audits, comparisons):
    def tables(found, compared_pools):
        yield from grids(found)
        yield alarms(found.drift)
        yield compared.grid(found.comparison)
        yield compared.grid(compared_pools)
        yield compared.groups(compared_pools)

    bare_cells, seen = [], 0
    for one, other in zip(*map(tables, audits, comparisons), strict=True):
        bare_cells += chain.from_iterable(
            bare(*notes) for notes in zip(one.notes, other.notes, strict=True)
        )
        for row, scaled in zip(one.rows, other.rows, strict=True):
            for header, cell, larger in zip(one.headers, row, scaled, strict=True):
                if cell != larger:
                    seen += 1
                    if f"({UNIT})" not in header + row[0]:
                        bare_cells.append((one.title, header, cell))
    assert bare_cells == []
    assert seen > 50


def test_a_cost_on_an_axis_has_its_currency(audits):
    def axes(found):
        for section in sections(found):
            for figure in section.figures.values():
                for ax in figure.axes:
                    yield section.name, ax.get_xlabel(), ax.get_xlim()
                    yield section.name, ax.get_ylabel(), ax.get_ylim()

    money = [
        (name, label)
        for (name, label, one), (_, _, other) in zip(*map(axes, audits), strict=True)
        if not np.allclose(one, other)
    ]
    assert len(money) >= 4
    assert [pair for pair in money if UNIT not in pair[1]] == []


def test_what_is_read_aloud_has_its_currency(audits):
    page = html(audits[0])
    best = audits[0].comparison.rows[0]
    assert f"Lowest: {best.pool}, " in page
    money = re.compile(
        r'aria-label="((?:Credit|Cost per case of|rise in|gain per)[^"]*)"'
    )
    labels = money.findall(page)
    assert len(labels) >= 2
    assert all(UNIT in label for label in labels)


def test_a_cost_between_classes_has_its_currency():
    rng = np.random.default_rng(0)
    reports, outcomes = rng.dirichlet(np.ones(3), (120, 3)), rng.integers(0, 3, 120)
    texts = []
    for scale in SCALES:
        costs = Costs(fn=5 * scale, fp=scale, currency=UNIT)
        found = audit(Panel(reports, outcomes), costs=costs, resamples=20)
        texts.append([*steps(found), *(f.sentence for f in found.findings)])
    pairs = zip(*texts, strict=True)
    assert list(chain.from_iterable(bare(*pair) for pair in pairs)) == []
