"""The advice about each judge: by its credit, its copies, its relation to labels."""

from dataclasses import replace

from truepool.comparison import Estimate
from truepool_jury.juries.values import Advice, Judge, Jury


def advise(jury: Jury) -> Jury:
    """Return the jury with the advice about each judge, which so far is by its credit.

    Whatever the credit of each: of near-copies one is enough, and a judge without a
    relation to the labels is none to keep.
    """
    new: dict[str, Advice] = {}
    for group in _groups_to_choose_from(jury):
        new |= dict.fromkeys(group, "keep one")
    drop = _dropped(jury)
    new |= {j.name: "no relation" for j in unrelated(jury) if j.name not in drop}
    judges = (replace(j, advice=new.get(j.name, j.advice)) for j in jury.judges)
    return replace(jury, judges=tuple(judges))


def unrelated(jury: Jury) -> list[Judge]:
    """Judges without a relation to the labels, or with a reversed one.

    The interval of the slope is not above 0, and always answering the commoner label is
    right more often. Labels that are no random sample say nothing about it.
    """
    if jury.selective:
        return []
    usual = commoner_label_share(jury)
    return [
        judge
        for judge in jury.judges
        if judge.accuracy is not None and judge.accuracy < usual
        if is_reversed(judge) or ((slope := slope_of(judge)) and slope.low <= 0)
    ]


def is_reversed(judge: Judge) -> bool:
    """Whether positive items surely get lower verdicts: by the slope, or by the AUC.

    Verdicts in words have no slope where one of the words always meets the same label.
    """
    slope = slope_of(judge)
    if slope is not None:
        return slope.high < 0
    return judge.auc is not None and judge.auc.high < 0.5


def slope_of(judge: Judge) -> Estimate | None:
    """Slope of a judge's calibration, where there is one."""
    return None if judge.calibration is None else judge.calibration.slope


def commoner_label_share(jury: Jury) -> float:
    """Share of the labelled items that have the commoner label."""
    return max(jury.label_cases) / max(jury.labelled, 1)


def near_copies(jury: Jury) -> list[list[str]]:
    """Return groups of judges of whom one is enough, by the advice about each."""
    chosen = {judge.name for judge in jury.judges if judge.advice == "keep one"}
    return [
        group for one in _groups(jury) if (group := [n for n in one if n in chosen])
    ]


def _groups_to_choose_from(jury: Jury) -> list[list[str]]:
    """Return groups of judges who share their errors, without those who are no choice.

    Those to be dropped are left out, unless all are: the credit of a copy is what it
    adds beside the others, and one of them alone may well help. One without a relation
    to the labels is no judge to keep.
    """
    drop, useless = _dropped(jury), {judge.name for judge in unrelated(jury)}
    groups = [[name for name in one if name not in useless] for one in _groups(jury)]
    left = [[name for name in group if name not in drop] or group for group in groups]
    return [group for group in left if len(group) > 1]


def _groups(jury: Jury) -> list[list[str]]:
    groups: list[list[str]] = []
    for copy in jury.copies:
        if copy.error_correlation is not None:
            # A judge comes after the one that it repeats.
            group = next((one for one in groups if copy.model in one), None)
            if group is None:
                groups.append(group := [copy.model])
            group.append(copy.judge)
    return groups


def _dropped(jury: Jury) -> set[str]:
    return {judge.name for judge in jury.judges if judge.advice == "drop"}
