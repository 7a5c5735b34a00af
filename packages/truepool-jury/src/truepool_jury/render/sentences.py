"""What a jury knows and what it cannot know, in sentences."""

from collections.abc import Iterator
from dataclasses import asdict
from math import comb, isnan

from truepool.comparison import Estimate
from truepool.core.formatting import pluralize
from truepool.measures.groups import FEWEST_CASES
from truepool.measures.inference import Rate
from truepool.pages import labels
from truepool.pages.costs import unit
from truepool.pages.numbers import (
    amount,
    equation,
    format_estimate,
    number,
    per_thousand,
    percent,
)
from truepool_jury.juries import Jury
from truepool_jury.juries.column_pairs import MIN_ITEMS
from truepool_jury.juries.values import WEIGHT
from truepool_jury.measures.automation import Certificate
from truepool_jury.render.advice import WHAT_CHOSEN_LABELS_DO, bound, limit


def sentences(jury: Jury) -> Iterator[str]:
    """What can be said, and what cannot for lack of labels."""
    if jury.labelled:
        yield label_sentence(jury)
    yield from empty_items(jury)
    yield from rates(jury)
    yield from automation(jury)
    yield from people(jury)
    yield from label_plan_lines(jury)
    yield from pairs(jury)
    yield from similarity(jury)
    yield from shortages(jury)


def label_sentence(jury: Jury) -> str:
    """Say which label is positive, and how many items have which."""
    return labels.sentence(jury.labels, jury.label_cases, unit="item")


def empty_items(jury: Jury) -> Iterator[str]:
    """Say how many items no judge gave a verdict on."""
    if jury.empty_items:
        has = "has" if jury.empty_items == 1 else "have"
        count = pluralize(jury.empty_items, "item")
        yield f"{count} {has} no verdict of any judge: left out."


def shortages(jury: Jury) -> Iterator[str]:
    """Say which statements are not made for lack of labels."""
    for shortage in jury.withheld:
        yield (
            f"Too few labels for {shortage.statement}: {shortage.needed} are needed, "
            f"{'there is' if jury.labelled == 1 else 'there are'} {jury.labelled}."
        )


def rates(jury: Jury) -> Iterator[str]:
    """Say how many items are positive, and what deciding alone would cost."""
    if jury.rate is not None:
        plain_labels = jury.labels.plain
        which = "positive items" if plain_labels else jury.labels.positive
        yield f"True rate of {which}: {share(jury.rate)}."
    if jury.cost is not None:
        yield cost_sentence(jury, jury.cost.value)
        yield (
            f"Errors of these decisions, as shares of all items: {share(jury.cost.fn)} "
            f"are missed, {share(jury.cost.fp)} are false alarms."
        )
        kinds = (
            ("positive", "missed", jury.cost.miss_rate),
            ("negative", "false alarms", jury.cost.alarm_rate),
        )
        known = [
            f"of the {kind} items, {share(rate)} are {wrong}"
            for kind, wrong, rate in kinds
            if rate is not None
        ]
        yield f"The same errors by class: {'; '.join(known)}."
    if jury.selective:
        yield (
            "Warning: the labelled items differ from the others, so they are not a "
            "random sample. The rate, the cost and the bound on errors need one: do "
            "not rely on them."
        )


def cost_sentence(jury: Jury, cost: Estimate) -> str:
    """Say what the decisions on all items cost if no person looks."""
    given = asdict(jury.costs)
    total = per_thousand(cost, jury.level, unit(given), of="items")
    missed, false_alarm = (
        f"{amount(given[name])} {jury.costs.currency}".rstrip() for name in ("fn", "fp")
    )
    return (
        f"If no person looks at any of the {len(jury):,} items, the errors of the "
        f"jury's decisions add up to {total}. A missed item costs {missed}, a "
        f"false alarm {false_alarm}."
    )


def share(rate: Rate) -> str:
    """Return a share with its interval, in percent."""
    low, high = (number(100 * end, 10.0) for end in (rate.low, rate.high))
    return f"{percent(rate.estimate)} [{low}, {high}]"


def automation(jury: Jury) -> Iterator[str]:
    """Say what may be decided without a person, and what more labels would allow."""
    found = jury.certificate
    if found is None:
        if jury.selective and jury.review is None:
            yield (
                "No item may be decided without a person: that would need labels of "
                "items drawn at random."
            )
        return
    if found.share:
        share = percent(found.share)
        yield (
            f"{share} of items may be decided without a person: {bound(found)}. The "
            "bound is on the errors among these items only: the surest ones, decided "
            "by the judges' mean log-odds."
        )
    else:
        yield f"No item may be decided without a person yet: {limit(found)}."
    if jury.costs.fn != jury.costs.fp and jury.labelled < len(jury):
        yield (
            "A missed item and a false alarm count alike in this limit on errors, "
            "whatever they cost. To go by cost, say how many items a person can look "
            "at (budget): those with the largest expected cost. No limit is promised "
            "then."
        )
    if found.outlook != "complete":
        yield _outlook(found)


def _outlook(found: Certificate) -> str:
    """Say whether more labels would allow more, and why."""
    tested = "next 5 %" if found.share else "surest half"
    where = "in these and the next 5 %" if found.share else "in the surest half"
    errors = (
        f"of {pluralize(found.labels, 'labelled item')} {where}, the jury decides "
        f"{found.errors} wrongly"
    )
    if found.outlook == "possible":
        return (
            f"About {found.labels_needed:,} labels in all, drawn at random, would "
            f"allow more, if errors stay as frequent: {errors}."
        )
    if found.outlook == "unlikely":
        return (
            f"More labels are unlikely to allow more decisions without one: {errors}."
        )
    if found.outlook == "beyond":
        return (
            "To decide more items without a person would take more labels than there "
            "are items" + (f": {errors}." if found.labels else ".")
        )
    if found.labels_needed is None:
        return f"Whether more labels would allow more is not known yet: {errors}."
    so_far = f" So far, {errors}." if found.labels else ""
    return (
        f"At least {found.labels_needed:,} labels, drawn at random, are needed for the "
        f"{tested}; that is enough if the jury makes no error there.{so_far}"
    )


def people(jury: Jury) -> Iterator[str]:
    """Say how many items a person should look at."""
    persons = int((jury.decided_by == "person").sum())
    automatic = int((jury.decided_by == "automatic").sum())
    if jury.review is not None:
        yield (
            f"{pluralize(persons, 'item')} for a person, those with the largest "
            f"expected cost; {automatic:,} decided without one, at the lowest expected "
            "cost and without a bound on errors. By the pooled probabilities that "
            f"leaves {percent(jury.review.cost_left)} of the cost."
        )
    else:
        yield (
            f"{pluralize(persons, 'item')} for a person, {automatic:,} decided without "
            "one."
        )


def label_plan_lines(jury: Jury) -> Iterator[str]:
    """Say what to label next."""
    if jury.plan is not None:
        yield (
            f"{pluralize(len(jury.plan.cases), 'item')} chosen to label next, more of "
            "them where the jury is less sure; the table of items has their "
            f"{WEIGHT}. Give the labels back with it. "
            f"{WHAT_CHOSEN_LABELS_DO}"
        )


def pairs(jury: Jury) -> Iterator[str]:
    """Say what swapped orders and repeated answers show."""
    if jury.single:
        yield (
            "All columns are answers of one judge, and there is no other. They are "
            "listed and pooled as if each were a judge."
        )
    for pair in jury.order_bias:
        names = f"{pair.first} / {pair.second}"
        if pair.bias is None or pair.p_value is None:
            yield _few(names, "pairs in both orders", pair.items)
            continue
        doubt = 1 - jury.level
        found = "order bias" if pair.p_value < doubt else "no significant order bias"
        yield (
            f"{names}: {found}. The order shifts the log-odds of a verdict by "
            f"{format_estimate(pair.bias, sign=True)} on average "
            f"({pluralize(pair.items, 'pair')}, {equation('p', pair.p_value)})."
        )
    for twice in jury.repetitions:
        names, times = " / ".join(twice.runs), len(twice.runs)
        asked = "twice" if times == 2 else f"up to {times} times"
        if twice.flips is None or twice.difference is None:
            yield _few(names, f"items asked {asked}", twice.items)
            continue
        yield (
            f"{names}: asked {asked}, {percent(twice.flips)} of "
            f"{pluralize(twice.items, 'verdict')} change sides, and the mean "
            f"difference is {number(twice.difference)}. That is reliability, not skill."
        )


def _few(names: str, what: str, items: int) -> str:
    return f"{names}: too few {what}: {MIN_ITEMS} are needed, there are {items}."


def similarity(jury: Jury) -> Iterator[str]:
    """Say what the judges are worth together, and who repeats whom."""
    if not isnan(jury.effective_judges):
        yield (
            f"The {len(jury.judges)} judges are worth {jury.effective_judges:.1f} "
            "independent ones, by their errors on labelled items."
        )
    yield from _few_shared(jury)
    for copy in jury.copies:
        if copy.error_correlation is None:
            yield (
                f"{copy.judge} and {copy.model} agree nearly always: copies, or both "
                f"right. {'More labels' if jury.labelled else 'Labels'} would tell "
                f"(their log-odds correlate by {copy.correlation:.3f})."
            )
        else:
            yield (
                f"{copy.judge} nearly repeats {copy.model}: their log-odds correlate "
                f"by {copy.correlation:.3f}, and by {copy.error_correlation:.3f} on "
                "items of one label."
            )


def _few_shared(jury: Jury) -> Iterator[str]:
    """Say how many pairs of judges share too few items to look for copies."""
    few = comb(len(jury.judges), 2) - jury.compared_pairs
    if not few or jury.single:
        return
    if not jury.compared_pairs:
        yield f"Too few shared items to look for copies: {FEWEST_CASES} are needed."
    else:
        share = "pair of judges shares" if few == 1 else "pairs of judges share"
        yield (
            f"{few:,} {share} too few items to look for copies: {FEWEST_CASES} are "
            "needed."
        )
