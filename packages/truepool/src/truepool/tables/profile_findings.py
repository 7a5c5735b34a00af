"""What a look at a table has found so far."""

from dataclasses import dataclass, field
from typing import Any

from truepool.tables.column_profile import ColumnProfile
from truepool.tables.question import Question


@dataclass
class Findings:
    """Columns without a meaning yet, and what was found so far.

    ``missing`` holds words that may mean no report or no outcome yet, each with what
    speaks for it; the columns of a ``jury`` look like verdicts of judges.
    """

    open: dict[str, ColumnProfile]
    reports: list[ColumnProfile] = field(default_factory=list)
    suggested: list[ColumnProfile] = field(default_factory=list)
    """Columns that may be agents, which is asked."""
    classes: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    jury: bool = False
    owner: ColumnProfile | None = None
    """Agent of each report of a long table."""
    labels: tuple[str, ...] = ()
    """Labels of the outcome."""
    problem: str | None = None
    """Why the table cannot be read."""

    def set(self, option: str, value: Any, reason: str, *used: str) -> None:
        """Decide an option, and take the columns that it uses."""
        self.options[option], self.reasons[option] = value, reason
        for name in used:
            del self.open[name]

    def ask(self, option: str, sentence: str, *choices: tuple[Any, str]) -> None:
        """Ask for an option without which the table cannot be read."""
        self.questions.append(Question(option, sentence, choices))

    def offer(self, option: str, sentence: str, *choices: tuple[Any, str]) -> None:
        """Ask for an option that may be left out."""
        self.questions.append(Question(option, sentence, choices, required=False))

    @property
    def times(self) -> list[str]:
        """Columns of which every cell is a time."""
        return [name for name, column in self.open.items() if column.time_formats]
