"""The agents of an unknown table: which columns they are, and in which unit."""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from truepool.core.formatting import join_names, pluralize
from truepool.panel.report_units import UNIT_RATIO, join_patterns
from truepool.tables.column_profile import (
    ColumnProfile,
    agents_in_percent,
    columns_by_class,
    describe_units,
    largest_by_agent,
)
from truepool.tables.doubtful_columns import (
    doubtful_columns,
    name_parts,
    percent_columns,
    score_columns,
)
from truepool.tables.profile_findings import Findings
from truepool.tables.profile_outcome import (
    has_usual_name,
    outcome_labels,
    set_outcome,
)
from truepool.tables.question import Question, agent_question, percent_question

CHANCES = ("propensity", "propensities")
"""How the chance that an outcome became known is called."""

REVIEWS = ("review", "reviewed", "inspection", "inspected", "audit", "audited")
PROBABILITIES = ("prob", "probability", "p", "chance", "rate")
"""A name with one of each is that of such a chance too."""

PEOPLE = ("human", "gold", "expert", "person", "reference", "annotator")
"""How labels of people are called, beside the usual names of an outcome."""


def find_agents(look: Findings) -> None:
    """Take columns of probabilities for agents, or ask which columns they are."""
    by_agent = columns_by_class(look.open)
    first = next(iter(by_agent.values()), [])
    classes = [name.rpartition(":")[2] for name in first]
    if all(name.isdecimal() for name in classes):
        classes.sort(key=int)
    look.classes = tuple(classes)
    if not by_agent:
        by_agent = {n: [n] for n, column in look.open.items() if column.is_report}
    if len(by_agent) == 1 and not look.classes:
        by_agent |= _scores_beside(look, [*by_agent])
    if len(by_agent) < 2:
        if not _find_jury(look):
            _ask_for_agents(look)
        return
    used = [name for names in by_agent.values() for name in names]
    look.reports = [look.open[name] for name in used]
    look.set("agents", list(by_agent), describe_units(look.reports), *used)


def _scores_beside(look: Findings, agents: Sequence[str]) -> dict[str, list[str]]:
    """Columns of scores that rise with the reports of a lone agent, as agents.

    Their range is asked for.
    """
    scores = {n: c for n, c in look.open.items() if c.is_score}
    reports = [look.open[name].by_row for name in agents]
    if not scores or not reports:
        return {}
    numbers = {name: column.by_row for name, column in scores.items()}
    found = score_columns(numbers, reports, "the reports")
    rising = [name for name, (_, falls) in found.items() if not falls]
    if rising:
        low, high = score_range([scores[name] for name in rising])
        names = join_patterns(rising)
        sentence = f"are the reports of {join_names([*map(repr, rising)])} scores?"
        why = f"whole or halves, and rise with those of {agents[0]!r}; check the ends"
        look.ask("scores", sentence, (f"{names}={low}-{high}", why))
    return {name: [name] for name in rising}


def find_propensity(look: Findings) -> None:
    """Offer a column with the chance of a review, which is no agent."""
    found = {n: look.open[n] for n in look.open if _is_chance(look.open[n])}
    for name, column in found.items():
        sentence = (
            "is this the chance that the outcome of a case became known (--propensity)?"
        )
        look.offer("propensity", sentence, (name, column.describe()))
        del look.open[name]
        return


def _is_chance(column: ColumnProfile) -> bool:
    n, parts = column.numbers, {*name_parts(column.name)}
    named = not parts.isdisjoint(CHANCES) or not (
        parts.isdisjoint(REVIEWS) or parts.isdisjoint(PROBABILITIES)
    )
    if not named or n is None or not len(n):
        return False
    return bool(n.min() > 0 and n.max() <= (100.0 if column.percent else 1.0))


def _ask_for_agents(look: Findings) -> None:
    """Ask which columns are agents where fewer than two look like probabilities."""
    large = {n: c for n, c in look.open.items() if c.lies_within(100.0) and not c.is_id}
    fine = {name: column for name, column in large.items() if not column.is_score}
    large = fine if len(fine) > 1 else large
    every = tuple((n, c.describe()) for n, c in (large or look.open).items())
    sentence = "which columns hold the reports of agents?"
    look.questions.append(Question("agents", sentence, every, likely=len(large) > 1))
    look.suggested += large.values()
    tops = {n: float(np.nanmax(c.by_row)) for n, c in (fine or large).items()}
    if far := _far_beyond_one(tops):
        falling = _falling(large, tops, far)
        if percent := {name: top for name, top in far.items() if name not in falling}:
            _ask_if_percentages(look, percent)
        if falling:
            _ask_for_falling_scores(look, falling)
        return
    above = [name for name, top in tops.items() if top > 1]
    if above and len(tops) < len(large):
        rest = "the whole numbers of the others look like scores"
        _ask_if_percentages(look, {name: tops[name] for name in above}, rest)
    elif above:
        some = (above, "if those of the others are fractions")
        look.ask(
            "percent",
            "are the reports percentages?",
            (True, "if the reports lie between 0 and 100"),
            *([some] if len(above) < len(large) else []),
        )


def _falling(
    columns: Mapping[str, ColumnProfile],
    tops: Mapping[str, float],
    far: Iterable[str],
) -> dict[str, str]:
    """Say why columns up to 100 may be high where a probability is low."""
    fractions = [columns[name].by_row for name, top in tops.items() if 0 < top <= 1]
    numbers = {name: columns[name].by_row for name in far}
    found = score_columns(numbers, fractions, "the reports")
    return {name: why for name, (why, falls) in found.items() if falls}


def _ask_for_falling_scores(look: Findings, found: Mapping[str, str]) -> None:
    """Ask whether a high number means a low probability."""
    ends = f"{join_patterns([*found])}=100-0"
    why = "; ".join(f"{name!r}: {reason}" for name, reason in found.items())
    sentence = (
        f"does a high number of {join_names([*map(repr, found)])} mean a low "
        f"probability? {why}. If so, pass --scores {shlex.quote(ends)}."
    )
    look.ask("scores", sentence, (ends, "the highest first"))


def _find_jury(look: Findings) -> bool:
    """Find columns of judges: two words that they share, or scores on a small scale."""
    scores = {n: c for n, c in look.open.items() if c.is_score}
    if len(scores) > 1:
        look.jury = True
        low, high = score_range([*scores.values()])
        reason = f"numbers from {low} to {high}, whole or halves"
        look.reports = [*scores.values()]
        look.set("agents", list(scores), reason, *scores)
        ask_for_scores(look, low, high)
        return True
    words = sharing_words(look.open)
    label = _label_of_people(words)
    if len(words) < 3 or label is None:
        return False
    look.jury = True
    set_outcome(look, label)
    judges = [column.name for column in words if column is not label]
    shared = outcome_labels(label)
    known = {word.casefold() for word in shared}
    others: Counter[str] = Counter()
    for column in words:
        if column is not label:
            others.update(
                {w: n for w, n in column.counts.items() if w.casefold() not in known}
            )
    for word, count in others.items():
        reason = f"no verdict ({pluralize(count, 'cell')})"
        look.missing.setdefault(word, []).insert(0, reason)
    both = " and ".join(map(repr, shared))
    look.set("agents", judges, f"the words {both}", *judges)
    return True


def ask_for_scores(look: Findings, low: int, high: int) -> None:
    """Ask whether whole numbers are scores of judges."""
    look.jury = True
    sentence = f"are these scores of judges, from {low} to {high}?"
    look.ask("scores", sentence, (f"{low}-{high}", "by truepool jury"))


def score_range(columns: Sequence[ColumnProfile]) -> tuple[int, int]:
    """Return the scale of scores: from 0 or 1 to 5 or 10."""
    numbers = np.concatenate([c.numbers for c in columns if c.numbers is not None])
    return int(min(1, numbers.min())), 5 if numbers.max() <= 5 else 10


def sharing_words(columns: Mapping[str, ColumnProfile]) -> list[ColumnProfile]:
    """Columns with the same two words, the most that share any.

    Words that may mean that there is no verdict are left aside.
    """
    groups: dict[frozenset[str], list[ColumnProfile]] = {}
    for column in columns.values():
        labels = outcome_labels(column)
        if len(labels) == 2 and column.numbers is None:
            words = frozenset(word.casefold() for word in labels)
            groups.setdefault(words, []).append(column)
    return max(groups.values(), key=len, default=[])


def _label_of_people(columns: Sequence[ColumnProfile]) -> ColumnProfile | None:
    """The column that holds labels and no verdicts: by its name, or it has gaps."""
    named = [
        c for c in columns
        if has_usual_name(c) or not {*name_parts(c.name)}.isdisjoint(PEOPLE)
    ]  # fmt: skip
    gaps = [column for column in columns if not column.complete]
    found = named or gaps
    return found[0] if len(found) == 1 else None


def ask_for_words(look: Findings) -> None:
    """Ask what words in columns of reports, and in that of the outcome, mean."""
    counts: dict[str, int] = {}
    within: dict[str, list[str]] = {}
    for column in (*look.reports, *look.suggested):
        for word, count in column.words.items():
            counts[word] = counts.get(word, 0) + count
            within.setdefault(word, []).append(column.name)
    for word, count in counts.items():
        names = within[word]
        where = f"of {names[0]!r}" if len(names) == 1 else f"of {len(names)} columns"
        reason = f"no report ({pluralize(count, 'cell')} {where})"
        look.missing.setdefault(word, []).insert(0, reason)
    if not look.missing:
        return
    meaning = join_names(
        [f"does {word!r} mean {join_names(why)}" for word, why in look.missing.items()]
    )
    options = shlex.join(
        [part for word in look.missing for part in ("--missing", word)]
    )
    sentence = f"{meaning}? Then pass {options}; else correct these cells."
    choices = ((word, join_names(why)) for word, why in look.missing.items())
    look.ask("missing", sentence, *choices)


def doubt_agents(look: Findings, columns: Mapping[str, ColumnProfile]) -> None:
    """Ask about columns that look like reports and may be something else."""
    if look.classes or look.jury or "agents" not in look.options:
        return
    outcome = columns.get(look.options.get("outcome", ""))
    labels = None
    if outcome is not None:
        labels = np.where(outcome.codes < 0, np.nan, outcome.codes)
    reports = {column.name: column.by_row for column in look.reports}
    doubts = doubtful_columns(reports, labels)
    if doubts:
        look.questions.append(agent_question("ignore", doubts))


def find_percentages(look: Findings) -> None:
    """Take columns with percent signs for percentages; others up to 1 are fractions."""
    percent = agents_in_percent(look.reports, by_class=bool(look.classes))
    if percent is True and look.owner is not None:
        percent = _signed_agents(look.reports[0], look.owner)
    if percent is True:
        look.set("percent", True, "percent signs in the reports")
    elif percent:
        reason = "percent signs, which the others do not have"
        look.set("percent", percent, reason)


def ask_for_percentages(look: Findings) -> None:
    """Ask about columns up to 100 without percent signs that rise with the reports.

    And about those whose names say so. Whole numbers may be scores, which is asked
    elsewhere. The reports of a long table may be such a column.
    """
    if "long" in look.options:
        if not look.reports:
            return  # verdicts in words
        (reports,) = look.reports
        if reports.is_score:
            ask_for_scores(look, *score_range([reports]))
        elif reports.percent or reports.lies_within(1.0):
            return
        else:
            far = {} if look.owner is None else _far_above(reports, look.owner)
            _ask_if_percentages(look, far)
        return
    if look.classes and "percent" not in look.options:
        _ask_for_percentages_by_class(look)
    if look.classes or look.jury or "agents" not in look.options:
        return
    others = [column.by_row for column in look.reports]
    numbers = {n: c for n, c in look.open.items() if c.lies_within(100.0)}
    fine = {n: c.by_row for n, c in numbers.items() if not c.may_be_score}
    found = percent_columns(fine, others)
    look.suggested += [numbers[name] for name in found]
    if found:
        percent = look.options.get("percent", [])
        question = percent_question(found, look.options["agents"], percent)
        look.questions.append(question)


def _ask_for_percentages_by_class(look: Findings) -> None:
    """Ask about agents some of whose columns of classes go beyond 1, up to 100."""
    tops: dict[str, float] = {}
    for column in look.reports:
        agent = column.name.rpartition(":")[0]
        tops[agent] = max(tops.get(agent, 0.0), float(np.nanmax(column.by_row)))
    above = {name: top for name, top in tops.items() if top > 1}
    if above:
        _ask_if_percentages(look, above if len(above) < len(tops) else {})


def _ask_if_percentages(
    look: Findings,
    above: Mapping[str, float],
    rest: str = "those of the other agents at most to 1",
) -> None:
    """Ask whether the reports of some agents, or of all, are percentages."""
    if not above:
        why = (True, "if the reports lie between 0 and 100")
        look.ask("percent", "are the reports percentages?", why)
        return
    names = join_names([repr(name) for name in above])
    sentence = f"are the reports of {names} percentages?"
    look.ask("percent", sentence, ([*above], f"up to {max(above.values()):g}; {rest}"))


def _far_above(reports: ColumnProfile, owner: ColumnProfile) -> dict[str, float]:
    """Largest report of each agent of a long table in percent, beside fractions."""
    return _far_beyond_one(largest_by_agent(reports.by_row, owner))


def _far_beyond_one(tops: Mapping[str, float]) -> dict[str, float]:
    """Largest reports of the agents that go far beyond those of the others, up to 1."""
    small = [top for top in tops.values() if 0 < top <= 1]
    large = {name: top for name, top in tops.items() if top > 1}
    far = small and large and max(large.values()) >= UNIT_RATIO * max(small)
    return large if far else {}


def _signed_agents(reports: ColumnProfile, owner: ColumnProfile) -> bool | list[str]:
    """Agents of a long table who write percent signs; True where all do."""
    signs = np.array([*(value.endswith("%") for value in reports.distinct), False])
    signed = largest_by_agent(signs[reports.codes].astype(np.float64), owner)
    names = [name for name, sign in signed.items() if sign]
    bare = largest_by_agent(
        np.where(signs[reports.codes], np.nan, reports.by_row), owner
    )
    fractions = [name for name, top in bare.items() if 0 < top <= 1]
    return names if {*fractions} - {*names} else True
