"""What a table cannot say, and what is asked about it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Question:
    """What a table cannot say about an option, and the values it could have."""

    option: str
    sentence: str
    choices: tuple[tuple[Any, str], ...]
    """Values, each with what speaks for it."""
    required: bool = True
    """Whether the table cannot be read without an answer."""

    @property
    def heading(self) -> str:
        """What is wanted of the user."""
        if self.option == "ignore":
            return "To check"
        return "To fill in" if self.required else "Optional"

    @property
    def reasons(self) -> str:
        """What speaks for the values, as sentences."""
        if len(self.choices) == 1:
            ((_, why),) = self.choices
            return f"{why[:1].upper()}{why[1:]}."
        return " ".join(f"{value!r}: {why}." for value, why in self.choices)
