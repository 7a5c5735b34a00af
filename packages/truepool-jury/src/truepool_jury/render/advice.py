"""The advice of a jury: what it can decide, whom to keep, what to label and review."""

from collections.abc import Iterator, Sequence

from truepool.core.formatting import percent, pluralize
from truepool.pages.numbers import amount, format_estimate
from truepool_jury.juries import Judge, Jury
from truepool_jury.juries.advice import (
    commoner_label_share,
    is_reversed,
    near_copies,
    slope_of,
    unrelated,
)
from truepool_jury.measures.automation import Certificate

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
    doubtful = unrelated(jury)
    if len(doubtful) == len(jury.judges):
        return f"Do not rely on this jury: {_all_doubtful(doubtful)}."
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


def _all_doubtful(judges: Sequence[Judge]) -> str:
    """Say what is wrong with judges of whom none can be relied on."""
    reverse = sum(map(is_reversed, judges))
    if not reverse:
        return "no judge shows a relation to the labels"
    if reverse == len(judges):
        return "every judge says the opposite of the labels"
    says = "judge says" if reverse == 1 else "judges say"
    return (
        f"{reverse} {says} the opposite of the labels, and no other judge shows a "
        "relation to them"
    )


def bound(found: Certificate) -> str:
    """Return what is promised of items that are decided without a person."""
    return (
        f"at most {amount(100 * found.max_error)} % errors, with "
        f"{amount(100 * found.confidence)} % confidence"
    )


def limit(found: Certificate) -> str:
    """Return what would have to hold of items that are decided without a person."""
    return (
        f"the limit is {amount(100 * found.max_error)} % errors, to be kept with "
        f"{amount(100 * found.confidence)} % confidence"
    )


def steps(jury: Jury) -> list[str]:
    """Say what to do, the most urgent first."""
    found = [
        *_doubt(jury),
        *_label(jury),
        *_review(jury),
        *_choose_judges(jury),
        *_merge_copies(jury),
        *_swap(jury),
    ]
    return found or ["Nothing: every item has a label, and no judge has to go."]


def _doubt(jury: Jury) -> Iterator[str]:
    none: list[str] = []
    reverse: list[str] = []
    for judge in unrelated(jury):
        slope = slope_of(judge)
        measured = f"slope {format_estimate(slope)}"
        if slope is None:
            measured = f"AUC {format_estimate(judge.auc)}"
        numbers = f"accuracy {percent(judge.accuracy or 0.0)}, {measured}"
        (reverse if is_reversed(judge) else none).append(f"{judge.name} ({numbers})")
    chance = (
        "Always answering the commoner label is right in "
        f"{percent(commoner_label_share(jury))} of the labelled items."
    )
    if none:
        yield (
            f"Do not rely on {_named(none)}: the verdicts show no relation to the "
            f"labels. {chance}"
        )
    if reverse:
        yield (
            f"Do not rely on {_named(reverse)}: the relation to the labels is "
            f"reversed. Check which label is positive. {chance}"
        )


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
    drop = [judge.name for judge in jury.judges if judge.advice == "drop"]
    keep = [judge.name for judge in jury.judges if judge.advice == "keep"]
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


def _swap(jury: Jury) -> Iterator[str]:
    biased = [
        pair.first
        for pair in jury.order_bias
        if pair.p_value is not None and pair.p_value < 1 - jury.level
    ]
    if biased:
        yield (
            f"Keep asking about each pair in both orders ({_named(biased)}): the mean "
            "of both verdicts cancels the order bias."
        )


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _named(names: list[str]) -> str:
    if len(names) > MAX_NAMED:
        return f"{', '.join(names[:MAX_NAMED])} and {len(names) - MAX_NAMED} more"
    return ", ".join(names)
