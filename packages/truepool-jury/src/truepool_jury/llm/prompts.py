"""Prompts: a template filled in with one case, everything from tables quoted."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from truepool_jury.llm.answer import Probability, instruction
from truepool_jury.llm.quotation import Quotation
from truepool_jury.llm.template import OPTIONAL, Messages, Template

Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Material:
    """What all prompts of a run have in common.

    ``examples`` are rows with their known answers, ``focus`` the features that say
    most, the most informative one first.
    """

    question: str
    features: Sequence[str]
    probability: Probability = "stated"
    examples: Sequence[tuple[Row, str]] = ()
    focus: Sequence[str] = ()

    def prompt(
        self, template: Template, row: Row, *, swapped: bool = False
    ) -> Messages:
        """Return the messages on one row; of a pair, in the other order if swapped."""
        if swapped:
            row = {**row, "output_a": row["output_b"], "output_b": row["output_a"]}
        rest = [name for name in self.features if name not in self.focus]
        features = {"case": self.features, "focus": self.focus, "rest": rest}
        used = template.variables
        texts = {n: _write(row, features[n]) for n in features if n in used}
        named = [name for name in row if name in used or "columns" in used]
        columns = {name: _text(row[name]) for name in named}
        shown = self.examples if "examples" in used else ()
        examples = [(_write(case, self.features), known) for case, known in shown]
        # The mark depends on all that is quoted in this prompt, and on nothing else.
        fence = Quotation.from_texts(
            [*texts.values(), *columns.values(), *(case for case, _ in examples)]
        )
        how = instruction(self.probability)
        quoted = {name: fence.quote(text) for name, text in columns.items()}
        values: dict[str, Any] = {
            **quoted,
            **{name: "" for name in OPTIONAL if not columns.get(name)},
            **{name: fence.quote(text) for name, text in texts.items()},
            "columns": quoted,
            "examples": [
                {"case": fence.quote(case), "answer": known} for case, known in examples
            ],
            "question": self.question,
            "answer": how,
            "reasoned_answer": how,
        }
        return template.render(values, fence.rule)


def _write(row: Row, names: Sequence[str]) -> str:
    r"""Return features as JSON, where no value can pass for the name of another.

    >>> _write({"flag": "SF", "rate": 0.5, "size": None}, ["flag", "rate", "size"])
    '{\n "flag": "SF",\n "rate": 0.5,\n "size": null\n}'
    """
    values = {name: _plain(row[name]) for name in names}
    return json.dumps(values, ensure_ascii=False, indent=1)


def _plain(value: Any) -> Any:
    """Return a value that JSON has: numbers, booleans, none for gaps, else text."""
    if value is None or value != value:
        return None
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return str(value)


def _text(value: Any) -> str:
    plain = _plain(value)
    return "" if plain is None else str(plain)
