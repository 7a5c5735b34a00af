"""A jury as one HTML file that needs nothing else: no network, no other file."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from truepool.core.files import write_text
from truepool.core.formatting import printable
from truepool.render import figures
from truepool.render.html import Section, page
from truepool.render.numbers import amount, format_estimate, percent
from truepool.render.tables.grid import Grid
from truepool_jury.juries import Jury
from truepool_jury.measures.automation import review_order
from truepool_jury.measures.label_plan import MIN_PER_STRATUM
from truepool_jury.render import sentences as jury_sentences
from truepool_jury.render import tables
from truepool_jury.render.advice import WHAT_CHOSEN_LABELS_DO, headline, steps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_ITEMS = 12
"""Items that the page lists; the table of items has all."""
ALL_ITEMS = "the table of items has all."
MAX_JUDGES = 30
"""Judges that a figure has room for; tables show all."""
MAX_DIAGRAMS = 12
"""Reliability diagrams that are drawn, the least calibrated first."""


def html(jury: Jury) -> str:
    """Return the whole page: what to do, then the evidence."""
    title = f"Jury: {headline(jury)}"
    known = jury_sentences.label_sentence(jury) if jury.labelled else ""
    return printable(
        page(
            "jury.html.j2",
            package="truepool_jury.render",
            title=title,
            sections=list(sections(jury)),
            jury=jury,
            headline=headline(jury),
            severity=_severity(jury),
            steps=steps(jury),
            labels=known,
            facts=list(_facts(jury)),
        )
    )


def write(jury: Jury, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, html(jury))


def _severity(jury: Jury) -> str:
    if jury.selective:
        return "warning"
    found = jury.certificate
    decides = found is None or found.share
    return "note" if jury.rate is not None and decides else "unsure"


def _facts(jury: Jury) -> Iterator[tuple[str, str]]:
    worth = jury.effective_judges
    same = "" if np.isnan(worth) else f" (worth {worth:.1f})"
    yield "judges", f"{1 if jury.single else len(jury.judges)}{same}"
    yield "items", f"{len(jury):,}"
    if jury.empty_items:
        yield "items without a verdict", f"{jury.empty_items:,}"
    if jury.chosen_labels:
        yield "labels drawn at random", f"{jury.random_labels:,}"
        yield "labels chosen", f"{jury.chosen_labels:,}"
    else:
        yield "labels", f"{jury.labelled:,}"
    if jury.rate is not None:
        yield "true rate", jury_sentences.share(jury.rate)
    yield "decided without a person", f"{(jury.decided_by == 'automatic').sum():,}"
    yield "for a person", f"{(jury.decided_by == 'person').sum():,}"


def sections(jury: Jury) -> Iterator[Section]:
    """Yield what there is to say, in the order of a reader's questions."""
    yield _section("rate", "Rate", "What is the true rate?", jury_sentences.rates(jury))
    yield _judges(jury)
    if any(judge.calibration for judge in jury.judges):
        yield _calibration(jury)
    alike = [*jury_sentences.similarity(jury)]
    if alike:
        yield _section("copies", "Copies", "Do judges repeat each other?", alike)
    paired = [*jury_sentences.pairs(jury)]
    if paired:
        title = "Does the order matter, and do answers repeat?"
        yield _section("reliability", "Reliability", title, paired)
    if (jury.decided_by != "label").any():
        yield _people(jury)
    yield _labels(jury)
    yield _method(jury)


def _section(
    name: str,
    link: str,
    title: str,
    lines: Any,
    *,
    drawn: "dict[str, tuple[Figure, str, str]] | None" = None,
    small: bool = False,
    grids: Iterator[Grid] | list[Grid] | None = None,
) -> Section:
    """Lay out sentences, figures with what is read aloud and a caption, and tables."""
    given = drawn or {}
    words = {key: (label, caption) for key, (_, label, caption) in given.items()}
    return Section(
        name,
        link,
        title,
        "jury/section.html.j2",
        {"lines": [*lines], "words": words, "small": small},
        {key: figure for key, (figure, _, _) in given.items()},
        [*(grids or ())],
    )


def _judges(jury: Jury) -> Section:
    """What each judge adds, as a figure and in tables."""
    known = [(j.name, j.credit) for j in jury.judges if j.credit is not None]
    known.sort(key=lambda pair: -pair[1].value)
    drawn = {}
    if known:
        rows = known[:MAX_JUDGES]
        spoken = ", ".join(f"{name} {format_estimate(c)}" for name, c in rows[:8])
        drawn["credit"] = (
            figures.intervals(rows, "credit, Brier loss per item; right: helps"),
            f"Credit of the judges: {spoken}.",
            "How much the Brier loss of the mean verdict rises without each judge. "
            "Left of the line the jury would be better off without it.",
        )
    grids = tables.judge_grids(jury)
    return _section(
        "judges", "Judges", "Which judges earn a place?", (), drawn=drawn, grids=grids
    )


def _calibration(jury: Jury) -> Section:
    """A reliability diagram each."""
    known = [
        judge.calibration
        for judge in jury.judges
        if judge.calibration is not None and judge.calibration.reliability is not None
    ]
    known.sort(key=lambda one: -one.ece)
    shown = known[:MAX_DIAGRAMS]
    axis = figures.reliability_axis(shown)
    drawn = {
        f"reliability-{place}": (
            figures.reliability([one], axis=axis),
            f"Reliability diagram of {one.who}; slope {format_estimate(one.slope)}.",
            f"Slope {format_estimate(one.slope)}",
        )
        for place, one in enumerate(shown)
    }
    lines = [
        "When a judge says 80 %, are 80 % of these items positive? On the dotted line "
        "they are. The grey band is where calibrated verdicts would fall by chance; "
        "filled points lie outside it. A slope below 1 is over-confident."
    ]
    if not shown:
        lines = ["There are too few labels to draw it."]
    elif len(shown) < len(known):
        lines.append(f"The {len(shown)} least calibrated of {len(known)} judges.")
    grids = [tables.scale_grid(jury)] if jury.score_scale else []
    title = "Are the verdicts calibrated?"
    return _section(
        "calibration", "Calibration", title, lines, drawn=drawn, small=True, grids=grids
    )


def _people(jury: Jury) -> Section:
    """Which items to send to a person, the most expensive first."""
    items = np.flatnonzero(jury.decided_by == "person")
    first = items[review_order(jury.pooled[items], jury.costs)][:MAX_ITEMS]
    names = jury.labels.names
    rows = tuple(
        (str(jury.ids[t]), percent(jury.pooled[t]), names[int(jury.decisions[t])])
        for t in first
    )
    note = f"The {len(first)} with the largest expected cost; {ALL_ITEMS}"
    grid = Grid(
        "Items for a person",
        ("item", "pooled probability", "decided so if no person looks"),
        rows,
        (note,) if len(first) < len(items) else (),
    )
    return _section(
        "people",
        "For a person",
        "What should a person look at?",
        [*jury_sentences.automation(jury), *jury_sentences.people(jury)],
        grids=[*tables.forecast_grids(jury), *([grid] if len(items) else [])],
    )


def _labels(jury: Jury) -> Section:
    """What to label next, and what more labels would allow."""
    lines = [*jury_sentences.shortages(jury)]
    grids = []
    unlabelled = len(jury) - jury.labelled
    if jury.plan is None and unlabelled >= MIN_PER_STRATUM:
        most = min(unlabelled, 50)
        lines.append(
            f"A jury can choose {most} items to label next (label-next); their labels, "
            "given back with their weights, keep the rate unbiased. "
            f"{WHAT_CHOSEN_LABELS_DO}"
        )
    elif jury.plan is not None:
        lines += jury_sentences.label_plan_lines(jury)
        chosen = zip(jury.plan.cases, jury.plan.weights, strict=True)
        rows = tuple(
            (str(jury.ids[t]), percent(jury.pooled[t]), amount(round(float(weight), 3)))
            for t, weight in [*chosen][:MAX_ITEMS]
        )
        left = len(jury.plan.cases) - len(rows)
        grids.append(
            Grid(
                "Items to label",
                ("item", "pooled probability", "label_weight"),
                rows,
                (f"And {left} more; {ALL_ITEMS}",) if left else (),
            )
        )
    return _section("labels", "Labels", "What to label next?", lines, grids=grids)


def _method(jury: Jury) -> Section:
    """Which pool, which intervals, which level."""
    return Section(
        "method",
        "Method",
        "How this was computed",
        "jury/method.html.j2",
        {"share": f"{100 * jury.level:g} %"},
    )
