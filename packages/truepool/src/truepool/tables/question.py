"""What a table cannot say, and what is asked about it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from truepool.core.formatting import join_names

SCORE_NOTE = (
    "The range in --scores is a guess, since the table does not say which scores are "
    "possible: write the lowest and the highest, the highest first if a high score "
    "means a low probability."
)


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
    if_percent: Mapping[str, Any] = field(default_factory=dict)
    """Options that say yes to percentages, where those of ``if_so`` say scores."""
    note: str = ""
    """A sentence about what an answer must say."""

    @property
    def heading(self) -> str:
        """What is wanted of the user."""
        if self.option == "ignore" or self.if_so:
            return "To check"
        return "To fill in" if self.required else "Optional"

    @property
    def condition(self) -> str:
        """When the options of ``if_so`` are to be used."""
        if "agents" not in self.if_so:
            return "If so"
        return "If it is an agent" if len(self.choices) == 1 else "If they are agents"

    @property
    def reasons(self) -> str:
        """What speaks for the values, as sentences."""
        if len(self.choices) == 1:
            ((_, why),) = self.choices
            found = f"{why[:1].upper()}{why[1:]}."
        else:
            found = " ".join(f"{value!r}: {why}." for value, why in self.choices)
        return f"{found} {self.note}".rstrip()


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
    found: Mapping[str, str],
    agents: Sequence[str],
    percent: bool | Sequence[str],
    ranges: Sequence[str],
) -> Question:
    """Ask whether columns are agents with scores, beside ``agents`` that are known.

    ``percent`` says which of these are in percent; where all are, their names have to
    be told from those of the scores.

    >>> score_question({"vendor": "..."}, ["rf"], [], ["vendor=0-999"]).if_so
    {'agents': ['rf', 'vendor'], 'scores': ['vendor=0-999']}
    >>> score_question({"vendor": "..."}, ["rf"], True, ["vendor=0-999"]).if_so
    {'agents': ['rf', 'vendor'], 'percent': ['rf'], 'scores': ['vendor=0-999']}
    """
    named = {"percent": [*agents]} if percent is True else {}
    answer = {"agents": [*agents, *found], **named, "scores": [*ranges]}
    question = agent_question("scores", found, " with scores")
    return replace(question, if_so=answer, note=SCORE_NOTE)


def vote_question(
    found: Mapping[str, str], agents: Sequence[str], note: str
) -> Question:
    """Ask whether columns are agents that vote, beside ``agents`` that are known.

    >>> vote_question({"coder": "..."}, ["rf", "gbm"], "").if_so
    {'agents': ['rf', 'gbm', 'coder']}
    """
    kind = f" that {'votes' if len(found) == 1 else 'vote'} 0 or 1"
    question = agent_question("agents", found, kind)
    return replace(question, if_so={"agents": [*agents, *found]}, note=note)


def unit_question(
    found: Mapping[str, str],
    agents: Sequence[str],
    percent: bool | Sequence[str],
    ranges: Sequence[str],
) -> Question:
    """Ask whether columns are agents, in percent or with scores.

    >>> unit_question({"news2": "..."}, ["rf"], [], ["news2=0-20"]).sentence
    "is 'news2' an agent, in percent or with scores?"
    """
    scores = score_question(found, agents, percent, ranges)
    kind = ", in percent or with scores"
    return replace(
        scores,
        sentence=agent_question("scores", found, kind).sentence,
        if_percent=percent_question(found, agents, percent).if_so,
    )


def join_answers(questions: Iterable[Question]) -> dict[str, list[str]]:
    """Return the options that say yes to all questions about agents; {} below two.

    Of several lists of agents the last one would count alone.

    >>> asked = [percent_question({"a": "..."}, ["rf"], []),
    ...          score_question({"b": "..."}, ["rf"], [], ["b=0-999"])]
    >>> join_answers(asked)
    {'agents': ['rf', 'a', 'b'], 'percent': ['a'], 'scores': ['b=0-999']}
    """
    answers = [q.if_so for q in questions if "agents" in q.if_so]
    joined: dict[str, list[str]] = {}
    for answer in answers if len(answers) > 1 else ():
        for option, value in answer.items():
            names = answer["agents"] if value is True else value
            joined[option] = [*dict.fromkeys([*joined.get(option, ()), *names])]
    return joined


def agent_question(option: str, found: Mapping[str, str], kind: str = "") -> Question:
    """Ask whether columns are agents, by their names and what speaks for or against.

    >>> agent_question("ignore", {"tax": "..."}).sentence
    "is 'tax' an agent?"
    """
    names = join_names([repr(name) for name in found])
    is_one = "is {} an agent{}?" if len(found) == 1 else "are {} agents{}?"
    sentence = is_one.format(names, kind)
    return Question(option, sentence, tuple(found.items()), required=False)
