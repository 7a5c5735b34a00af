"""Ranges of scores: numbers of agents that are no probabilities, such as 0 to 999."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from truepool.core.errors import SettingError
from truepool.tables.agent_columns import is_chosen

NUMBER = r"\s*(-?\d+(?:\.\d+)?)\s*"


@dataclass(frozen=True)
class ScoreRange:
    """The score that counts as 0, the one that counts as 1, and whose scores they are.

    Without ``agents``, by names or patterns, they are those of every agent.

    >>> ScoreRange.parse("vendor_*,bureau = 850-300")
    ScoreRange(agents=('vendor_*', 'bureau'), zero=850.0, one=300.0)
    """

    agents: tuple[str, ...]
    zero: float
    one: float

    @classmethod
    def parse(cls, text: str) -> "ScoreRange":
        """Read a range, as in ``1-5``, after the names of its agents, if any."""
        names, equals, span = text.rpartition("=")
        agents = tuple(name.strip() for name in names.split(",")) if equals else ()
        found = re.fullmatch(f"{NUMBER}-{NUMBER}", span)
        if not found or float(found[1]) == float(found[2]) or not all(agents):
            raise SettingError(
                "scores must be given as the lowest and the highest, as in 1-5, or as "
                f"in vendor=0-999 if only some agents report scores; got {text!r} "
                "(--scores)"
            )
        return cls(agents, float(found[1]), float(found[2]))

    def is_of(self, agent: str) -> bool:
        """Whether an agent, or a column, reports these scores."""
        return not self.agents or is_chosen(agent, self.agents)

    @property
    def formula(self) -> str:
        """How a score s is counted.

        >>> ScoreRange.parse("1-5").formula, ScoreRange.parse("0-999").formula
        ('(s - 1) / 4', 's / 999')
        >>> ScoreRange.parse("850-300").formula
        '(850 - s) / 550'
        >>> ScoreRange.parse("1-0").formula
        '1 - s'
        """
        width = abs(self.one - self.zero)
        if (self.zero, self.one) == (1, 0):
            return "1 - s"
        if self.one < self.zero:
            return f"({self.zero:g} - s) / {width:g}"
        sign = "+" if self.zero < 0 else "-"
        top = f"(s {sign} {abs(self.zero):g})" if self.zero else "s"
        return f"{top} / {width:g}"


REVERSED = ScoreRange((), 1.0, 0.0)
"""The range of probabilities that are those of the other class."""


def by_formula(ends: Mapping[str, tuple[float, float]]) -> dict[str, list[str]]:
    """Return the agents whose numbers are counted alike, by how that is done.

    >>> by_formula({"a": (0, 999), "b": (0, 100), "c": (0, 999)})
    {'s / 999': ['a', 'c'], 's / 100': ['b']}
    """
    agents: dict[str, list[str]] = {}
    for name, (zero, one) in ends.items():
        agents.setdefault(ScoreRange((), zero, one).formula, []).append(name)
    return agents


def parse_ranges(given: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return ranges as they are written, each once; refuse one that is none.

    >>> parse_ranges(["a=0-999", "b=300-850"])
    ('a=0-999', 'b=300-850')
    """
    listed = (given,) if isinstance(given, str) else tuple(given or ())
    for text in listed:
        ScoreRange.parse(str(text))
    return tuple(dict.fromkeys(map(str, listed)))
