"""What a table cannot say, and what is asked about it."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truepool.data.tables.origin import Origin


@dataclass(frozen=True)
class Question:
    """What a table cannot say about an option, and the values it could have."""

    option: str
    sentence: str
    choices: tuple[tuple[Any, str], ...]
    """Values, each with what speaks for it."""
    required: bool = True
    """Whether the table cannot be read without an answer."""
    cure: str = ""
    """What to do, where no option is the answer."""

    @property
    def heading(self) -> str:
        """What is wanted of the user."""
        if self.option == "ignore" or self.cure:
            return "To check"
        return "To fill in" if self.required else "Optional"

    @property
    def reasons(self) -> str:
        """What speaks for the values, as sentences."""
        if len(self.choices) == 1:
            ((_, why),) = self.choices
            return f"{why[:1].upper()}{why[1:]}."
        return " ".join(f"{value!r}: {why}." for value, why in self.choices)


def agent_question(
    option: str, found: Mapping[str, str], kind: str = "", cure: str = ""
) -> Question:
    """Ask whether columns are agents, by their names and what speaks for or against.

    >>> agent_question("ignore", {"tax": "..."}).sentence
    "is 'tax' an agent?"
    """
    names = " and ".join(map(repr, found))
    is_one = "is {} an agent{}?" if len(found) == 1 else "are {} agents{}?"
    sentence = is_one.format(names, kind)
    return Question(option, sentence, tuple(found.items()), required=False, cure=cure)


def percent_question(
    found: Mapping[str, str], path: Path, origin: Origin, *, comma: bool
) -> Question:
    """Ask about columns that may be agents in percent, and say what to do then."""
    cure = _divide_by_100(path, origin, [*found], comma=comma)
    return agent_question("percent", found, " in percent", cure)


def _divide_by_100(
    path: Path, origin: Origin, names: Sequence[str], *, comma: bool
) -> str:
    """Say how columns in percent become fractions: for text, with the command."""
    them = "it" if len(names) == 1 else "them"
    cure = f"divide {them} by 100 in the table, and add {them} to the agents"
    if origin.kind != "csv":
        return f"{cure}."
    sep = {"sep": origin.delimiter} if origin.delimiter != "," else {}
    encoding = {} if origin.encoding is None else {"encoding": origin.encoding}
    read = _arguments(str(path), **sep, **encoding) + ", dtype=str"
    target = str(path.with_name(f"{path.name.partition('.')[0]}_fractions.csv"))
    decimal = {"decimal": ","} if comma else {}
    steps = ["import pandas as pd", f"t = pd.read_csv({read})"]
    for name in names:
        cells = f"t[{_text(name)}]"
        text = f'{cells}.str.replace(",", ".")' if comma else cells
        steps.append(f"{cells} = pd.to_numeric({text}) / 100")
    steps.append(f"t.to_csv({_arguments(target, **sep, **decimal)}, index=False)")
    return f"{cure}: {shlex.join(['python', '-c', '; '.join(steps)])}"


def _arguments(path: str, **named: str) -> str:
    return ", ".join([_text(path), *(f"{k}={_text(v)}" for k, v in named.items())])


def _text(value: str) -> str:
    """A text in Python, in double quotes so that a shell can have the single ones."""
    return json.dumps(value, ensure_ascii=False)
