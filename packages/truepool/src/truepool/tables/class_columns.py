"""Columns of classes whose names are not joined by a colon alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw

from truepool.core.formatting import is_number
from truepool.tables.table_format import TableFormat

JOINTS = (" ", "_", ".", "-")
"""What may join an agent and a class in the name of a column, beside a colon."""

FEWEST = 3
"""Classes from which such columns are looked for: of two, agents give one number."""


def class_columns(names: Iterable[str], labels: Iterable[str]) -> dict[str, str]:
    """Return the names ``agent:class`` of columns ``rf: urgent`` or ``rf_urgent``.

    Spaces around a colon are left out if an agent has columns for two or more labels.
    Another character joins them if two or more agents have a column for each of the
    same three or more labels. {} where there are none, where two characters would do,
    or where labels are numbers: ``model_1`` may be an agent.

    >>> class_columns(["id", "rf: no", "rf: yes"], ["no", "yes"])
    {'rf: no': 'rf:no', 'rf: yes': 'rf:yes'}
    >>> names = ["id", "rf_low", "rf_mid", "rf_top", "nb_low", "nb_mid", "nb_top"]
    >>> found = class_columns(names, ["low", "mid", "top"])
    >>> found["nb_top"], len(found)
    ('nb:top', 6)
    """
    names, words = [*names], sorted(labels, key=len, reverse=True)
    spaced = _spaced(names, words)
    if spaced:
        return spaced
    colons = any(name.endswith(f":{word}") for name in names for word in words)
    if len(words) < FEWEST or colons or any(map(is_number, words)):
        return {}
    found = [own for joint in JOINTS if (own := _joined_by(joint, names, words))]
    return found[0] if len(found) == 1 else {}


def without_spaces(name: str) -> str:
    """Return the name of a column without spaces around its last colon.

    >>> without_spaces("Dr. Who : yes"), without_spaces("Dr. Who")
    ('Dr. Who:yes', 'Dr. Who')
    """
    agent, colon, label = name.rpartition(":")
    return f"{agent.rstrip()}:{label.lstrip()}" if colon else name


def _spaced(names: Sequence[str], words: Sequence[str]) -> dict[str, str]:
    """Columns with spaces around the colon of agents that have two or more labels."""
    plain = {name: without_spaces(name) for name in names}
    split = [name.rpartition(":") for name in plain.values()]
    counts = Counter(agent for agent, _, label in split if agent and label in words)
    found = {
        name: new
        for name, new in plain.items()
        if name != new and counts[new.rpartition(":")[0]] > 1
    }
    return found if len({*plain.values()}) == len(plain) else {}


def _joined_by(
    joint: str, names: Sequence[str], words: Sequence[str]
) -> dict[str, str]:
    """Names of columns of classes that are joined by one character; longest word first.

    An agent whose columns are not those of the others makes all of them doubtful.
    """
    agents: dict[str, list[str]] = {}
    found: dict[str, str] = {}
    for name in names:
        word = next((word for word in words if name.endswith(joint + word)), "")
        agent = name.removesuffix(joint + word)
        if word and agent:
            agents.setdefault(agent, []).append(word)
            found[name] = f"{agent}:{word}"
    classes = {frozenset(own) for own in agents.values()}
    same = len(agents) > 1 and len(classes) == 1 and len(*classes) >= FEWEST
    return found if same else {}


def rename_class_columns(
    frame: nw.DataFrame[Any], written: TableFormat
) -> tuple[nw.DataFrame[Any], Mapping[str, str]]:
    """Call columns of classes ``agent:class``; also return what they were called.

    >>> import pyarrow as pa
    >>> table = pa.table({f"{a}_{k}": [0.1] * 3 for a in "uv" for k in "abc"})
    >>> table = table.append_column("y", pa.array(["a", "b", "c"]))
    >>> frame = nw.from_native(table, eager_only=True)
    >>> rename_class_columns(frame, TableFormat())[0].columns[:4]
    ['u:a', 'u:b', 'u:c', 'v:a']
    """
    name = written.outcome
    if written.long or name not in frame.columns:
        return frame, {}
    labels = frame[name].drop_nulls().unique()
    if len(labels) > len(frame.columns):
        return frame, {}
    words = [f"{k:g}" if labels.dtype.is_numeric() else str(k) for k in labels]
    others = [column for column in frame.columns if column not in written.apart]
    found = class_columns(others, [word for word in words if word.strip()])
    return (frame.rename(found), found) if found else (frame, {})


def describe_class_columns(found: Mapping[str, str]) -> str:
    """Say how such columns are read.

    >>> describe_class_columns({"rf_low": "rf:low"})
    "columns such as 'rf_low' are read as the class 'low' of the agent 'rf'"
    """
    column, name = next(iter(found.items()))
    agent, _, label = name.rpartition(":")
    return (
        f"columns such as {column!r} are read as the class {label!r} of the agent "
        f"{agent!r}"
    )
