"""What a table cannot say, and what is asked about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from truepool.core.formatting import join_names


@dataclass(frozen=True)
class Question:
    """What a table cannot say about an option, and the values it could have."""

    option: str
    sentence: str
    choices: tuple[tuple[Any, str], ...]
    """Values, each with what speaks for it."""
    required: bool = True
    """Whether the table cannot be read without an answer."""
    if_so: Mapping[str, Any] = field(default_factory=dict)
    """Options that say yes together, where one value is not the whole answer."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Per column that may be the outcome, the labels of which one is positive."""
    likely: bool = False
    """Whether all values together are a likely answer."""

    @property
    def heading(self) -> str:
        """What is wanted of the user."""
        if self.option == "ignore" or self.if_so:
            return "To check"
        return "To fill in" if self.required else "Optional"

    @property
    def reasons(self) -> str:
        """What speaks for the values, as sentences."""
        if len(self.choices) == 1:
            ((_, why),) = self.choices
            return f"{why[:1].upper()}{why[1:]}."
        return " ".join(f"{value!r}: {why}." for value, why in self.choices)


def percent_question(
    found: Mapping[str, str], agents: Sequence[str], percent: bool | Sequence[str]
) -> Question:
    """Ask whether columns are agents in percent, beside ``agents`` that are known.

    ``percent`` says which of these are in percent.

    >>> percent_question({"vendor": "..."}, ["rf"], []).if_so
    {'agents': ['rf', 'vendor'], 'percent': ['vendor']}
    """
    names = percent if isinstance(percent, bool) else [*percent, *found]
    answer = {"agents": [*agents, *found], "percent": names}
    return replace(agent_question("percent", found, " in percent"), if_so=answer)


def score_question(
    found: Mapping[str, str], agents: Sequence[str], ranges: Sequence[str]
) -> Question:
    """Ask whether columns are agents with scores, beside ``agents`` that are known.

    >>> score_question({"vendor": "..."}, ["rf"], ["vendor=0-999"]).if_so
    {'agents': ['rf', 'vendor'], 'scores': ['vendor=0-999']}
    """
    answer = {"agents": [*agents, *found], "scores": [*ranges]}
    return replace(agent_question("scores", found, " with scores"), if_so=answer)


def agent_question(option: str, found: Mapping[str, str], kind: str = "") -> Question:
    """Ask whether columns are agents, by their names and what speaks for or against.

    >>> agent_question("ignore", {"tax": "..."}).sentence
    "is 'tax' an agent?"
    """
    names = join_names([repr(name) for name in found])
    is_one = "is {} an agent{}?" if len(found) == 1 else "are {} agents{}?"
    sentence = is_one.format(names, kind)
    return Question(option, sentence, tuple(found.items()), required=False)
