"""A jury as one HTML file that needs nothing else: no network, no other file."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from truepool.audits.values import Calibration
from truepool.core.files import write_text
from truepool.pages.chart import Interval, axis_for, interval_rows, reliability_chart
from truepool.pages.grid import Grid
from truepool.pages.html import html as to_html
from truepool.pages.numbers import amount, format_estimate, number, percent
from truepool.pages.page import (
    Beside,
    Figure,
    Item,
    Items,
    Page,
    Part,
    Section,
    Template,
    Text,
)
from truepool_jury.juries import Jury
from truepool_jury.measures.automation import review_order
from truepool_jury.measures.label_plan import MIN_PER_STRATUM
from truepool_jury.render import sentences as jury_sentences
from truepool_jury.render import tables
from truepool_jury.render.advice import WHAT_CHOSEN_LABELS_DO, headline, steps

MAX_ITEMS = 12
"""Items that the page lists; the table of items has all."""
ALL_ITEMS = "the table of items has all."
MAX_JUDGES = 30
"""Judges that a figure has room for; tables show all."""
MAX_DIAGRAMS = 12
"""Reliability diagrams that are drawn, the least calibrated first."""


def html(jury: Jury) -> str:
    """Return the whole page: what to do, then the evidence."""
    return to_html(layout(jury), package="truepool_jury.render")


def layout(jury: Jury) -> Page:
    """Lay a jury out."""
    advice = Items(tuple(Item(step) for step in steps(jury)), numbered=True)
    known = jury_sentences.label_sentence(jury) if jury.labelled else ""
    first = Section("advice", "", (advice, *([Text((known,))] if known else [])))
    return Page(
        f"Jury: {headline(jury)}",
        headline(jury),
        (first, *sections(jury)),
        question="How far can this jury be relied on?",
        tone=_severity(jury),
        facts=tuple(_facts(jury)),
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
    name: str, link: str, title: str, lines: Iterable[str], *parts: Part
) -> Section:
    """Lay out sentences, then figures and tables."""
    said = tuple(lines)
    return Section(name, title, (*([Text(said)] if said else []), *parts), link)


def _judges(jury: Jury) -> Section:
    """What each judge adds, as a figure and in tables."""
    known = [(j.name, j.credit) for j in jury.judges if j.credit is not None]
    known.sort(key=lambda pair: -pair[1].value)
    parts: list[Part] = []
    if known:
        rows = [
            Interval(name, c.value, c.low, c.high, format_estimate(c))
            for name, c in known[:MAX_JUDGES]
        ]
        title = "Credit: Brier loss per item; right: helps"
        caption = (
            "How much the Brier loss of the mean verdict rises without each judge. "
            "Left of the line the jury would be better off without it."
        )
        chart = interval_rows(rows, title, form=number)
        parts.append(Figure(title, chart, caption=caption, name="credit"))
    parts += tables.judge_grids(jury)
    return _section("judges", "Judges", "Which judges earn a place?", (), *parts)


def _calibration(jury: Jury) -> Section:
    """A reliability diagram each."""
    known = [
        judge.calibration
        for judge in jury.judges
        if judge.calibration is not None and judge.calibration.reliability is not None
    ]
    known.sort(key=lambda one: -one.ece)
    shown = known[:MAX_DIAGRAMS]
    lines = [
        "When a judge says 80 %, are 80 % of these items positive? On the dotted line "
        "they are. The grey band is where calibrated verdicts would fall by chance; "
        "filled points lie outside it. A slope below 1 is over-confident."
    ]
    if not shown:
        lines = ["There are too few labels to draw it."]
    elif len(shown) < len(known):
        lines.append(f"The {len(shown)} least calibrated of {len(known)} judges.")
    diagrams = tuple(_diagrams(shown))
    parts: list[Part] = [Beside(diagrams, small=True)] if diagrams else []
    parts += [tables.scale_grid(jury)] if jury.score_scale else []
    title = "Are the verdicts calibrated?"
    return _section("calibration", "Calibration", title, lines, *parts)


def _diagrams(shown: Sequence[Calibration]) -> Iterator[Figure]:
    points = [one.reliability for one in shown if one.reliability is not None]
    if not points:
        return
    cases = sum(one.cases.sum() for one in points)
    rate = float(sum(one.frequency @ one.cases for one in points) / cases)
    axis = axis_for(rate, [p for o in points for p in (o.mean_report, o.frequency)])
    for place, (one, found) in enumerate(zip(shown, points, strict=True)):
        slope = f"Slope {format_estimate(one.slope)}"
        label = f"Reliability diagram of {one.who}; {slope[:1].lower()}{slope[1:]}."
        chart = reliability_chart(found, label, axis=axis)
        name = f"reliability-{place}"
        yield Figure(one.who, chart, caption=slope, name=name)


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
        *tables.forecast_grids(jury),
        *([grid] if len(items) else []),
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
    return _section("labels", "Labels", "What to label next?", lines, *grids)


def _method(jury: Jury) -> Section:
    """Which pool, which intervals, which level."""
    shown = {"jury": jury, "share": f"{100 * jury.level:g} %"}
    method = Template("jury/method.html.j2", shown)
    return Section("method", "How this was computed", (method,), "Method")
