"""Answers of a model: how they are asked for, and the probability read from them."""

import json
import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from truepool_jury.llm.completion import VERDICTS, Completion, Fault, plain

Probability: TypeAlias = Literal["stated", "votes", "logprobs"]
Format: TypeAlias = Literal["auto", "schema", "tool", "line"]
TOOL = "give_answer"
TOP_LOGPROBS = 20
"""Tokens that the endpoint is asked to weigh at each place: the most it may list."""


@dataclass(frozen=True)
class Answer:
    """A probability, or why there is none."""

    probability: float
    fault: Fault | None = None


def missing(fault: Fault) -> Answer:
    """Return the answer that is none."""
    return Answer(math.nan, fault)


def instruction(probability: Probability) -> str:
    """Tell the model how to answer; the same in all formats.

    >>> instruction("votes")
    'End with one line that contains only this JSON object: {"verdict": "yes" or "no"}'
    """
    value = '"probability": a number from 0 to 1'
    if probability != "stated":
        value = '"verdict": "yes" or "no"'
    return f"End with one line that contains only this JSON object: {{{value}}}"


def options(form: Format, probability: Probability, *, reasoned: bool) -> Any:
    """Return what the request says about the form of the answer.

    >>> options("line", "stated", reasoned=False)
    {}
    """
    asked: dict[str, Any] = {}
    schema = _schema(probability, reasoned=reasoned)
    if form in ("auto", "schema"):
        named = {"name": TOOL, "strict": True, "schema": schema}
        asked["response_format"] = {"type": "json_schema", "json_schema": named}
    elif form == "tool":
        function = {"name": TOOL, "strict": True, "parameters": schema}
        asked["tools"] = [{"type": "function", "function": function}]
        asked["tool_choice"] = {"type": "function", "function": {"name": TOOL}}
    if probability == "logprobs":
        asked |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    return asked


def _schema(probability: Probability, *, reasoned: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if reasoned:
        fields["reasoning"] = {"type": "string", "description": "Before the answer."}
    if probability == "stated":
        fields["probability"] = {"type": "number", "description": "From 0 to 1."}
    else:
        fields["verdict"] = {"type": "string", "enum": list(VERDICTS)}
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def read(completion: Completion, probability: Probability) -> Answer:
    r"""Read the probability of a completion, strictly: a number in [0, 1] or none.

    >>> read(Completion('Likely.\n{"probability": 0.8}'), "stated").probability
    0.8
    >>> read(Completion("about 80 %"), "stated").fault
    'unreadable'
    """
    if completion.fault is not None:
        return missing(completion.fault)
    found = _read_object(completion.text)
    if probability == "stated":
        value = found.get("probability")
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Answer(float(value)) if 0 <= value <= 1 else missing("unreadable")
        return missing("unreadable")
    verdict = found.get("verdict")
    if not isinstance(verdict, str) or verdict not in VERDICTS:
        return missing("unreadable")
    if probability == "votes":
        return Answer(VERDICTS[verdict])
    return _weigh(completion.verdict_logprobs)


def _read_object(text: str) -> dict[str, Any]:
    """Return the JSON object that is the whole answer or its last line, else none."""
    lines = text.strip().splitlines()
    for part in (text, lines[-1] if lines else ""):
        try:
            found = json.loads(part, object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return {}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _weigh(logprobs: dict[str, float] | None) -> Answer:
    """Return P(yes) / (P(yes) + P(no)), of the tokens listed at the verdict.

    A verdict that is not listed is at most as probable as the last that is, and as all
    that are not listed together.
    """
    if not logprobs:
        return missing("unreadable")
    chances = {token: math.exp(min(lp, 0.0)) for token, lp in logprobs.items()}
    unlisted = max(0.0, min(*chances.values(), 1 - sum(chances.values()), 1.0))
    mass = dict.fromkeys(VERDICTS, 0.0)
    for token, chance in chances.items():
        word = plain(token)
        if word in mass:
            mass[word] += chance
    if not any(mass.values()):
        return missing("unreadable")
    yes, no = (mass[word] or unlisted for word in VERDICTS)
    return Answer(yes / (yes + no))
