"""Templates of prompts: plain text files that users can copy and edit."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeAlias

from jinja2 import StrictUndefined, TemplateError, meta
from jinja2.sandbox import SandboxedEnvironment

from truepool.core.errors import SettingError, SourceError, UnknownNameError
from truepool.core.files import missing_file

FOLDER = Path(__file__).parent / "templates"
SUFFIX = ".txt"
PAPER = ("direct", "cot", "fewshot", "focused")
"""The four strategies of the paper (apd:llm_agent)."""
SEPARATOR = "---"
"""The line between the system message and the user message."""
FROM_TRAINING = {"examples", "focus", "rest"}
PAIR = {"output_a", "output_b"}
OPTIONAL = {"reference"}
"""Columns that the table may lack."""
ANSWERS = {"answer", "reasoned_answer"}
GENERAL = {"question", "case", "columns", *ANSWERS, *FROM_TRAINING}

Messages: TypeAlias = list[dict[str, str]]


ENVIRONMENT = SandboxedEnvironment(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
"""Jinja without access to Python, and without text for what is not there."""
FAILURES = (TemplateError, ArithmeticError, LookupError, TypeError, ValueError)
"""What an expression in a template may raise."""


def names() -> list[str]:
    """Return the names of the templates that come with truepool.

    >>> names()
    ['cot', 'direct', 'fewshot', 'focused', 'judge', 'pairwise']
    """
    return sorted(path.stem for path in FOLDER.glob(f"*{SUFFIX}"))


@dataclass(frozen=True)
class Template:
    """A prompt with variables; text before the line ``---`` is the system message.

    >>> sorted(Template.load("focused").variables)
    ['answer', 'focus', 'question', 'rest']
    """

    name: str
    text: str

    @classmethod
    def load(cls, source: str | Path) -> Self:
        """Return a template of truepool by name, or one in a file."""
        known = names()
        if str(source) in known:
            path = FOLDER / f"{source}{SUFFIX}"
        elif Path(source).suffix != SUFFIX:
            raise UnknownNameError(
                f"template (and no {SUFFIX} file)", str(source), known
            )
        else:
            path = Path(source)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise SourceError(missing_file(path)) from None
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise SourceError(f"{str(path)!r} cannot be read: {reason}") from None
        template = cls(path.stem, text)
        if not template.variables & ANSWERS:
            raise SettingError(
                "a template must say how to answer, with {{ answer }} or "
                f"{{{{ reasoned_answer }}}}; {str(path)!r} has neither"
            )
        return template

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names of all that is filled in."""
        try:
            parsed = ENVIRONMENT.parse(self.text)
        except TemplateError as error:
            raise self._refused(error) from None
        return frozenset(meta.find_undeclared_variables(parsed))

    @property
    def pairwise(self) -> bool:
        """Whether two outputs are compared, so that their order matters."""
        return self.variables >= PAIR

    @property
    def reasoned(self) -> bool:
        """Whether the answer starts with a reasoning."""
        return "reasoned_answer" in self.variables

    @property
    def columns(self) -> frozenset[str]:
        """Columns that the table must have."""
        return self.variables - GENERAL - OPTIONAL

    def render(self, values: Mapping[str, Any], rule: str) -> Messages:
        """Return the messages; ``rule`` says what quoted text is, before all else."""
        try:
            system, user = (part.render(values).strip() for part in self._parts)
        except FAILURES as error:
            raise self._refused(error) from None
        if not system:
            return [{"role": "user", "content": f"{rule}\n\n{user}"}]
        return [
            {"role": "system", "content": f"{system}\n\n{rule}"},
            {"role": "user", "content": user},
        ]

    @cached_property
    def _parts(self) -> list[Any]:
        """System message and user message, compiled; the first may be empty."""
        lines = self.text.splitlines()
        cut = lines.index(SEPARATOR) if SEPARATOR in lines else 0
        parts = lines[:cut], lines[cut + bool(cut) :]
        return [ENVIRONMENT.from_string("\n".join(part)) for part in parts]

    def _refused(self, error: Exception) -> SettingError:
        return SettingError(
            f"the template {self.name!r} cannot be filled in: {error}. Compare "
            "it with truepool agent template direct."
        )
