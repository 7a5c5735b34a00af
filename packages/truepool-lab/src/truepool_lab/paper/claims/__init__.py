"""Claims of the paper outside its tables, each with its verdict and what decides it."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

ClaimVerdict: TypeAlias = Literal[
    "holds", "holds in part", "does not hold", "not decidable", "definition"
]
Source: TypeAlias = Literal["stated", "inferred", "ours", "print", "theory"]

VERDICTS: dict[ClaimVerdict, str] = {
    "holds": "A test shows it.",
    "holds in part": "Of a direction and a size that it states, a test shows the "
    "direction; the size is another, or cannot be decided.",
    "does not hold": "A test shows that it is false as stated.",
    "not decidable": "The paper gives too little, or it needs what we do not have.",
    "definition": "A definition, a setting or a statement about the paper itself.",
}
SOURCES: dict[Source, str] = {
    "stated": "the setting that the paper states",
    "inferred": "a setting inferred from printed cells",
    "ours": "a setting of ours, where the paper leaves a choice",
    "print": "arithmetic over the paper's own printed cells",
    "theory": "mathematics, checked by simulation",
}


@dataclass(frozen=True)
class Claim:
    """One claim in our words, where the paper makes it, and its verdict.

    A verdict of ``holds`` or ``does not hold`` names its tests, the ``quantity`` that
    they look at, and the ``bound`` which the claim asks for. ``reading`` is the basis
    of the verdict; ``headline`` marks a main conclusion, with its ``rank`` among them
    (in the order of the paper's contributions) and what we find in at most 15 words
    (``summary``); ``tables`` are those that the
    claim is about. A claim that states a direction and a size has a verdict on each,
    from which its own follows (`in_parts`).
    """

    number: int
    where: str
    claim: str
    verdict: ClaimVerdict
    reading: Source
    headline: str = ""
    rank: int = 0
    summary: str = ""
    quantity: str = ""
    bound: str = ""
    reason: str = ""
    tables: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    direction: ClaimVerdict | None = None
    size: ClaimVerdict | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what a page of tables shows of it."""
        return {
            "number": self.number,
            "text": self.headline or self.claim,
            "verdict": self.verdict,
            "reason": self.reason,
            "summary": self.summary,
            "tests": list(self.tests),
        }


@cache
def every() -> tuple[Claim, ...]:
    """All claims in the order of their numbers.

    >>> len(every()), every()[36].verdict
    (218, 'does not hold')
    """
    text = (files(__name__) / "claims.toml").read_text(encoding="utf-8")
    return tuple(_claim(entry) for entry in tomllib.loads(text)["claim"])


def _claim(entry: dict[str, Any]) -> Claim:
    lists: dict[str, Any] = {
        name: tuple(value) for name, value in entry.items() if isinstance(value, list)
    }
    if "direction" in entry:
        lists["verdict"] = in_parts(entry["direction"], entry["size"])
    return Claim(**{**entry, **lists})


def in_parts(direction: ClaimVerdict, size: ClaimVerdict) -> ClaimVerdict:
    """Return the verdict on a claim that states a direction and a size.

    >>> in_parts("holds", "does not hold"), in_parts("does not hold", "not decidable")
    ('holds in part', 'does not hold')
    """
    if direction == "holds" and size != "holds":
        return "holds in part"
    return direction


def about(label: str) -> tuple[Claim, ...]:
    """Return the claims about a table or figure that can be true or false.

    >>> [claim.number for claim in about("tab:empirical_rho")]
    [62, 63]
    """
    return tuple(
        claim
        for claim in every()
        if label in claim.tables and claim.verdict != "definition"
    )


def main() -> tuple[Claim, ...]:
    """Return the main conclusions, in the order of the paper's contributions."""
    found = (claim for claim in every() if claim.headline)
    return tuple(sorted(found, key=lambda claim: claim.rank))
