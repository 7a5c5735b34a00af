"""Judges that answered an item more than once: each answer is a column of its own."""

from collections import Counter
from collections.abc import Iterable


def number_runs(
    items: Iterable[object], judges: Iterable[str]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Name the column of each verdict, and say which columns are one judge.

    The second answer of a judge to an item goes to the column ``judge (run 2)``.

    >>> number_runs(["q1", "q1", "q1", "q2"], ["gpt", "gpt", "llama", "gpt"])
    (['gpt', 'gpt (run 2)', 'llama', 'gpt'], [('gpt', 'gpt (run 2)')])
    """
    seen: Counter[tuple[object, str]] = Counter()
    runs: dict[str, int] = {}
    columns = []
    for item, judge in zip(items, judges, strict=True):
        seen[item, judge] += 1
        run = seen[item, judge]
        runs[judge] = max(runs.get(judge, 1), run)
        columns.append(_column(judge, run))
    return columns, [
        tuple(_column(judge, run) for run in range(1, last + 1))
        for judge, last in runs.items()
        if last > 1
    ]


def _column(judge: str, run: int) -> str:
    return judge if run == 1 else f"{judge} (run {run})"
