"""A file of keys in TOML: what a table showed, and what it could not say."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from truepool.core.formatting import printable
from truepool.core.toml import to_toml
from truepool.tables.faults import Question
from truepool.tables.schema import Schema

COSTS = (
    "# What errors cost, in any unit; both are 1 by default",
    "# cost-fn = 10  # a missed case",
    "# cost-fp = 1  # a false alarm",
)


def config_text(
    schema: Schema,
    questions: Sequence[Question],
    source: str,
    rows: int,
    unused: Mapping[str, tuple[float, float] | None],
) -> str:
    """Return the text of a file of keys for a table.

    ``unused`` columns have their least and largest number, if they hold numbers.
    """
    known = declared_keys(schema)
    if any(question.key in ("outcome", "long") for question in questions):
        known.pop("agents", None)  # the outcome may be one of these columns
    lines = [
        f"# Keys for truepool, after a look at {source!r} ({rows:,} rows).",
        "# truepool help keys lists all; the command line wins.",
        "",
        *to_toml(known).splitlines(),
    ]
    for question in questions:
        asked = f"{question.text()} Remove the # of one line."
        lines += ["", f"# {_line(asked)}"]
        for keys, about in question.answers():
            why = f"  # {_line(about)}" if about else ""
            lines += [f"# {line}{why}" for line in to_toml(keys).splitlines()]
    lines += ["", *_costs(schema)]
    if unused:
        lines += ["", "# Not used", *_unused(unused)]
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    """Return text that may stand in a comment: on one line, and visible."""
    return printable(" ".join(text.splitlines()))


def declared_keys(schema: Schema) -> dict[str, Any]:
    """Return what a schema says, as keys that say it."""
    declared = schema.declared()
    found: dict[str, Any] = {}
    for name, value in vars(declared).items():
        key = name.replace("_", "-")
        if (
            name == "columns"
            or value in (None, (), {})
            or (key, value)
            == (
                "updates",
                "last",
            )
        ):
            continue
        if name == "scores":
            found |= {f"scores.{agent}": span for agent, span in value.items()}
        else:
            found[key] = value
    return found


def _costs(schema: Schema) -> Iterable[str]:
    if len(schema.labels) < 3:
        return COSTS
    return (
        "# What errors cost: one row per true class and one column per decision, both",
        f"# in the order {', '.join(map(str, schema.labels))}",
        f"# {to_toml({'cost-matrix': cost_matrix(len(schema.labels))}).rstrip()}",
    )


def _unused(columns: Mapping[str, tuple[float, float] | None]) -> Iterable[str]:
    for name, ends in columns.items():
        if ends is None:
            yield f"# {_line(name)}"
            continue
        low, high = ends
        spread = f"{_line(name)}: {low:g} to {high:g}"
        yield f"# {spread}. If it is an agent, add it to agents, and"
        yield f"# {to_toml({f'scores.{name}': f'{low:g}-{high:g}'}).rstrip()}"
        yield "# or, if it is what an error costs in each case:"
        yield f"# {to_toml({'cost-fn': name}).rstrip()}"


def cost_matrix(classes: int) -> str:
    """Return the matrix in which every error costs 1, as a key has it.

    >>> cost_matrix(3)
    '0,1,1; 1,0,1; 1,1,0'
    """
    K = range(classes)
    return "; ".join(",".join("0" if k == y else "1" for k in K) for y in K)
