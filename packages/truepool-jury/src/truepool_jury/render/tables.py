"""A jury, for a terminal and as Markdown."""

from collections.abc import Iterator
from functools import partial

from rich.console import Console

from truepool.comparison import Estimate
from truepool.core.formatting import pluralize, printable
from truepool.measures.groups import FEWEST_CASES, FEWEST_OF_A_CLASS
from truepool.pages.grid import Grid, plain, print_steps
from truepool.pages.numbers import amount, format_estimate, number, percent
from truepool_jury.juries import Judge, Jury
from truepool_jury.render.advice import headline, steps
from truepool_jury.render.sentences import sentences


def show(jury: Jury, console: Console) -> None:
    """Print what to do, then what was found and the tables behind it."""
    write = partial(console.print, highlight=False, markup=False)
    write(headline(jury), style="bold")
    print_steps(console, steps(jury))
    write(f"\n{heading(jury)}", style="bold")
    for line in sentences(jury):
        write(f"- {line}")
    console.print()
    for grid in grids(jury):
        grid.print(console)
        console.print()


def markdown(jury: Jury) -> str:
    """Return the same as a Markdown page."""
    lines = [f"# {plain(headline(jury))}", "", "**What to do:**", ""]
    lines += [f"{place}. {plain(s)}" for place, s in enumerate(steps(jury), start=1)]
    lines += ["", f"**{plain(heading(jury))}**", ""]
    lines += [f"- {plain(line)}" for line in sentences(jury)]
    for grid in grids(jury):
        lines += ["", grid.to_markdown()]
    return printable("\n".join(lines)) + "\n"


def heading(jury: Jury) -> str:
    """Say how many judges, items and labels there are."""
    return f"{judge_count(jury)}, {pluralize(len(jury), 'item')}, {label_count(jury)}"


def judge_count(jury: Jury) -> str:
    """Say how many judges there are; one alone may have several columns."""
    if jury.single:
        return f"1 judge ({len(jury.judges)} columns)"
    return pluralize(len(jury.judges), "judge")


def label_count(jury: Jury) -> str:
    """Say how many labels there are, and of which kind if there are two."""
    labels = pluralize(jury.labelled, "label")
    if not jury.chosen_labels:
        return labels
    chosen = f"{jury.chosen_labels:,} chosen"
    return f"{labels} ({jury.random_labels:,} drawn at random and {chosen})"


def grids(jury: Jury) -> Iterator[Grid]:
    """Lay out the judges: what each adds, and how well it is calibrated."""
    yield from forecast_grids(jury)
    yield from judge_grids(jury)
    if jury.score_scale:
        yield scale_grid(jury)


def forecast_grids(jury: Jury) -> Iterator[Grid]:
    """Lay out how many items more labels would let the jury decide."""
    found = jury.certificate
    if found is not None and found.forecast:
        rows = [(f"{one.labels:,}", percent(one.share)) for one in found.forecast]
        yield Grid(
            "What more labels would allow",
            ("labels drawn at random", "decided without a person"),
            ((f"{jury.random_labels:,} (now)", percent(found.share)), *rows),
            ("If the jury keeps erring as often in every share of the items.",),
        )


def scale_grid(jury: Jury) -> Grid:
    """Lay out what each score is worth."""
    rows = tuple(
        (amount(round(score, 2)), percent(chance)) for score, chance in jury.score_scale
    )
    return Grid(
        "What each score is worth",
        ("score", "probability"),
        rows,
        ("A rising curve through the labels (isotonic regression), all judges.",),
    )


def judge_grids(jury: Jury) -> Iterator[Grid]:
    """Lay out what each judge adds, and how good it is alone."""
    if not jury.labelled:
        rows = tuple((judge.name, percent(judge.answered)) for judge in jury.judges)
        yield Grid("Judges", ("judge", "answered"), rows)
        return
    share = f"{100 * jury.level:g} %"
    said = {judge.advice for judge in jury.judges}
    copies = "; of near-copies, keep one" * ("keep one" in said)
    useless = "; no relation is to the labels, at any credit" * ("no relation" in said)
    yield Grid(
        "What each judge adds",
        ("judge", "answered", "credit x 1000", "advice"),
        tuple(_credit_row(judge) for judge in jury.judges),
        (
            "Credit: how much the Brier loss of the mean verdict rises without the "
            f"judge. Keep or drop where the {share} interval excludes 0"
            f"{copies}{useless}.",
        ),
    )
    yield Grid(
        "How good each judge is alone, on labelled items",
        ("judge", "labels", "accuracy", "Brier", "bias", "slope"),
        tuple(_alone_row(judge) for judge in jury.judges),
        (
            "Bias: mean verdict minus the share of positive labels; above 0 is too "
            "generous. Slope of calibration: 1 is calibrated, below 1 over-confident, "
            "above 1 under-confident; verdicts of 0 and 1 count as "
            f"{percent(jury.clip)} and {percent(1 - jury.clip)}.",
            *_missing_slopes(jury),
        ),
        essential=5,
    )


def _missing_slopes(jury: Jury) -> Iterator[str]:
    """Say why a judge has no slope."""
    if any(j.calibration is None or j.calibration.slope is None for j in jury.judges):
        yield (
            f"Slope -: it needs {FEWEST_CASES} labelled verdicts of the judge, with "
            f"{FEWEST_OF_A_CLASS} of each label, and verdicts that differ but do not "
            "separate nearly all positive from negative items; if there are only two, "
            "such as two words, each must meet both labels."
        )


def _credit_row(judge: Judge) -> tuple[str, ...]:
    credit = judge.credit
    if credit is not None:
        credit = Estimate(*(1000 * x for x in (credit.value, credit.low, credit.high)))
    shown = format_estimate(credit, sign=True)
    return judge.name, percent(judge.answered), shown, judge.advice or "-"


def _alone_row(judge: Judge) -> tuple[str, ...]:
    accuracy = "-" if judge.accuracy is None else percent(judge.accuracy)
    brier = "-" if judge.brier is None else number(judge.brier)
    bias = format_estimate(judge.bias, sign=True)
    slope = None if judge.calibration is None else judge.calibration.slope
    return (
        judge.name,
        f"{judge.labels:,}",
        accuracy,
        brier,
        bias,
        format_estimate(slope),
    )
