"""Put a full run into the documentation: its numbers, its page and its figures.

Run: truepool reproduce --full --jobs 2, then python reproduction/scripts/publish.py.
"""

import sys
from pathlib import Path

from truepool_paper import reproduce
from truepool_paper.archive import from_jsonl, to_jsonl
from truepool_paper.render.report import markdown, svg

DOCS = Path(__file__).parents[2] / "docs"


def publish(out: Path) -> None:
    """Write docs/reproduction.jsonl, docs/reproduction.md and docs/reproduction/*."""
    run = reproduce(size="full", out=out, jobs=2)  # only what is missing is measured
    folder = DOCS / "reproduction"
    folder.mkdir(exist_ok=True)
    for label, drawn in run.figures().items():
        name = f"{label.replace(':', '_')}.svg"
        (folder / name).write_text(svg(drawn), encoding="utf-8")
    lines = to_jsonl(run)
    (DOCS / "reproduction.jsonl").write_text(lines, encoding="utf-8")
    (DOCS / "reproduction.md").write_text(page(lines), encoding="utf-8")


def page(lines: str) -> str:
    """The page that stored numbers and the figures beside them make."""
    drawn = sorted((DOCS / "reproduction").glob("*.svg"))
    names = {f.stem.replace("_", ":", 1): f"reproduction/{f.name}" for f in drawn}
    return markdown(from_jsonl(lines).to_dict(), names)


if __name__ == "__main__":
    publish(Path(sys.argv[1] if len(sys.argv) > 1 else "paper-run"))
