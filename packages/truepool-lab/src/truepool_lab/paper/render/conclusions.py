"""Claims of the paper in Markdown: the main ones, those of a table, and all of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from truepool_lab.paper import claims
from truepool_lab.paper.claims import SOURCES, VERDICTS, Claim

RULES = (
    "- A claim that misreports the paper's own table does not hold, even where our run "
    "agrees with it; the reason says so.",
    "- A claim that states a direction and a size is judged on both; the size that we "
    "find is in the reason.",
    "- A claim of several other parts holds if all of them do; where a part is left "
    "out, the reason says which.",
    "- A claim that says whenever, always, consistently or both does not hold if one "
    "case is against it; the reason says which part is right.",
    "- What follows ± is a standard error, of the paired difference where methods are "
    "compared. Splits 70/30 of one data set overlap: their errors are to be "
    "multiplied by 2.30 for ten and 1.77 for five (Nadeau and Bengio 2003). Where "
    "that decides, the reason says so and has the p-value with it.",
)

OPENING = (
    "**What stands**: the mean of calibrated models is under-confident without any "
    "strategy, so recalibrate it.",
    "**What falls**: the bias of Brier agents and its price of 7.25, truth as a "
    "dominant strategy under VCG, the regret bound of its online weights, and its "
    "lead with few labels.",
    "**What holds in part**: VCG weights that are learned under attack survive 40 to "
    "60 % of bad agents, where median and trimmed mean fail, but not every such "
    "attack.",
)
"""The three sentences that the page begins with."""


def section(found: Sequence[Mapping[str, Any]], claims_page: str | None) -> list[str]:
    """Return the section that a page of tables begins with."""
    counts = Counter(claim["verdict"] for claim in found)
    more = f" All {len(claims.every())} claims are on "
    more += f"[a page of their own]({claims_page})."
    lines = [
        "## Which conclusions stand",
        "",
        *OPENING,
        "",
        f"Of the {len(found)} main conclusions {counts['holds']} hold, "
        f"{counts['holds in part']} hold in part, "
        f"{counts['does not hold']} do not, and {counts['not decidable']} cannot be "
        f"decided.{more if claims_page else ''}",
        "",
        "| conclusion | verdict | what we find |",
        "|---|---|---|",
    ]
    for claim in found:
        number = _number(claim["number"], claims_page)
        cells = [f"{claim['text']} ({number})", f"**{claim['verdict']}**"]
        lines.append(_line([*cells, claim["summary"]]))
    return lines


def of_table(found: Sequence[Mapping[str, Any]], claims_page: str | None) -> list[str]:
    """Return one line per claim about a table."""
    lines = [
        f"- **{claim['verdict']}**: {claim['text']} "
        f"({_number(claim['number'], claims_page)})"
        for claim in found
    ]
    return ["", *lines] if lines else []


def page() -> str:
    """Return the page of all claims."""
    every = claims.every()
    counts = Counter(claim.verdict for claim in every)
    lines = [
        "# The claims of the paper, one by one",
        "",
        f"{len(every)} checkable statements of the paper outside its tables, in our "
        "words: "
        + ", ".join(f"{counts[verdict]} {_noun(verdict)}" for verdict in VERDICTS)
        + ". The numbers of its tables are in [the re-run](reproduction.md), its 46 "
        "contradictions in [errata](errata.md). This page is made from "
        "`claims.toml` of the package `truepool_lab.paper`; a test walks that file: "
        "every test that it names exists, and every verdict names the quantity and "
        "the bound.",
        "",
        *(f"- **{verdict}**: {text}" for verdict, text in VERDICTS.items()),
        *RULES,
        "- The basis of a verdict: "
        + "; ".join(f"*{name}*, {text}" for name, text in SOURCES.items())
        + ".",
        "",
        "| | claim | verdict | looked at | asked for | what we find | basis | tests |",
        "|---|---|---|---|---|---|---|---|",
        *(_row(claim) for claim in every),
    ]
    return "\n".join(lines) + "\n"


def _noun(verdict: str) -> str:
    words = {
        "holds": "hold",
        "holds in part": "hold in part",
        "does not hold": "do not hold",
        "not decidable": "cannot be decided",
        "definition": "are definitions or settings",
    }
    return words[verdict]


def _row(claim: Claim) -> str:
    return _line(
        [
            f'<a id="claim-{claim.number}"></a>{claim.number}',
            f"[{claim.where}] {claim.claim}",
            claim.verdict,
            claim.quantity,
            claim.bound,
            claim.reason,
            claim.reading,
            _tests(claim.tests, "../"),
        ]
    )


def _number(number: int, claims_page: str | None) -> str:
    if claims_page is None:
        return f"claim {number}"
    return f"[claim {number}]({claims_page}#claim-{number})"


def _tests(tests: Sequence[str], root: str | None) -> str:
    names = [test.partition("::") for test in tests]
    if root is None:
        return "<br>".join(f"`{name}`" for _, _, name in names)
    return "<br>".join(f"[`{name}`]({root}{path})" for path, _, name in names)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
