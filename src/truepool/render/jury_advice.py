"""The advice of a jury: what it can decide, whom to keep, what to label and review."""

from collections.abc import Iterator

from truepool.core.formatting import percent, pluralize
from truepool.juries import Jury
from truepool.measures.automation import Certificate
from truepool.render.numbers import amount

MAX_NAMED = 5
"""Judges that are named in a sentence; more are counted."""
WHAT_CHOSEN_LABELS_DO = (
    "They help the pool to learn, and estimate the rate and the credit of the judges; "
    "only labels drawn at random allow more decisions without a person."
)


def headline(jury: Jury) -> str:
    """Say in one sentence how far the jury can be relied on."""
    if jury.selective:
        return (
            "Do not rely on the rate and the bound on errors: the labelled items are "
            "not a random sample."
        )
    if jury.rate is None:
        return (
            f"Too few labels to assess this jury: {jury.labelled} of the "
            f"{jury.needed_labels} that the first statements need."
        )
    found = jury.certificate
    if found is None:
        automatic = int((jury.decided_by == "automatic").sum())
        return (
            f"{pluralize(automatic, 'item')} decided without a person, at the lowest "
            "expected cost; within a budget no bound on errors is promised."
        )
    share = found.share
    if not share:
        return "No item may be decided without a person yet."
    which = "All items" if share == 1 else f"{percent(share)} of items"
    return f"{which} may be decided without a person: {bound(found)}."


def bound(found: Certificate) -> str:
    """Return what is promised of items that are decided without a person."""
    return (
        f"at most {amount(100 * found.max_error)} % errors, with "
        f"{amount(100 * found.confidence)} % confidence"
    )


def steps(jury: Jury) -> list[str]:
    """Say what to do, the most urgent first."""
    found = [
        *_label(jury),
        *_review(jury),
        *_choose_judges(jury),
        *_merge_copies(jury),
        *_swap(jury),
    ]
    return found or ["Nothing: every item has a label, and no judge has to go."]


def _label(jury: Jury) -> Iterator[str]:
    if jury.selective:
        yield "Label items that are drawn at random, and analyse the jury with those."
    elif jury.rate is None:
        yield _label_more(jury)
    elif jury.certificate is not None and jury.certificate.labels_needed is not None:
        number = "about" if jury.certificate.outlook == "possible" else "at least"
        yield (
            f"To decide more items without a person, label {number} "
            f"{jury.certificate.labels_needed:,} in all, drawn at random."
        )
    if jury.plan is not None and not jury.selective:
        yield (
            f"Label the {pluralize(len(jury.plan.cases), 'chosen item')}, and give "
            f"the labels back with their weights. {WHAT_CHOSEN_LABELS_DO}"
        )


def _label_more(jury: Jury) -> str:
    more, rest = jury.needed_labels - jury.labelled, len(jury) - jury.labelled
    if more <= rest:
        return f"Label {pluralize(more, 'more item')}, drawn at random."
    more_items = f"Add at least {pluralize(more - rest, 'item')} with verdicts"
    all_labelled = f", and label all {len(jury) + more - rest:,}"
    return (
        f"{more_items}{all_labelled}: the first statements need "
        f"{jury.needed_labels} labels."
    )


def _review(jury: Jury) -> Iterator[str]:
    persons = int((jury.decided_by == "person").sum())
    if persons:
        first = ", those with the largest expected cost" * (jury.review is not None)
        yield f"Send {pluralize(persons, 'item')} to a person{first}."


def _choose_judges(jury: Jury) -> Iterator[str]:
    copies = {name for group in near_copies(jury) for name in group}
    others = [judge for judge in jury.judges if judge.name not in copies]
    drop = [judge.name for judge in others if judge.advice == "drop"]
    keep = [judge.name for judge in others if judge.advice == "keep"]
    if drop:
        better = f"without {_it(drop)} the mean verdict is significantly better"
        yield f"Drop {_named(drop)}: {better}."
    if keep:
        worse = f"without {_it(keep)} the mean verdict is significantly worse"
        yield f"Keep {_named(keep)}: {worse}."


def _merge_copies(jury: Jury) -> Iterator[str]:
    groups = [" or ".join(group) for group in near_copies(jury)]
    if groups:
        yield f"Of near-copies keep one: {_named(groups)}."


def near_copies(jury: Jury) -> list[list[str]]:
    """Return groups of judges of whom one is enough, by their shared errors.

    Those to be dropped are left out, unless all are: the credit of a copy is what it
    adds beside the others, and one of them alone may well help.
    """
    groups: list[list[str]] = []
    for copy in jury.copies:
        if copy.error_correlation is not None:
            # A judge comes after the one that it repeats.
            group = next((one for one in groups if copy.model in one), None)
            if group is None:
                groups.append(group := [copy.model])
            group.append(copy.judge)
    drop = {judge.name for judge in jury.judges if judge.advice == "drop"}
    left = [[name for name in group if name not in drop] or group for group in groups]
    return [group for group in left if len(group) > 1]


def _swap(jury: Jury) -> Iterator[str]:
    biased = [
        pair.first
        for pair in jury.order_bias
        if pair.p_value is not None and pair.p_value < 1 - jury.level
    ]
    if biased:
        yield (
            f"Keep showing {_named(biased)} each pair in both orders: the mean of "
            "both cancels the order bias."
        )


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _named(names: list[str]) -> str:
    if len(names) > MAX_NAMED:
        return f"{', '.join(names[:MAX_NAMED])} and {len(names) - MAX_NAMED} more"
    return ", ".join(names)
