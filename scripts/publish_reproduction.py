"""Put a run into the documentation: its numbers, its pages and its figures.

Run: truepool reproduce --full --set jobs=2, then
python scripts/publish_reproduction.py.
With labels only these are measured; they are added to the numbers published before,
and the page says that they are apart:
python scripts/publish_reproduction.py paper-run tab:regret tab:poa.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from truepool_lab.paper import reproduce
from truepool_lab.paper.archive import add, from_jsonl, to_jsonl
from truepool_lab.paper.render import conclusions
from truepool_lab.paper.render.report import markdown, svg

DOCS = Path(__file__).parents[1] / "docs"


def publish(out: Path, labels: Sequence[str] = ()) -> None:
    """Write docs/reproduction.jsonl, docs/reproduction.md and docs/reproduction/*."""
    jobs = 1 if labels else 2
    run = reproduce(labels, size="full", out=out, jobs=jobs)  # only what is missing
    folder = DOCS / "reproduction"
    folder.mkdir(exist_ok=True)
    for label, drawn in run.figures().items():
        name = f"{label.replace(':', '_')}.svg"
        (folder / name).write_text(svg(drawn), encoding="utf-8")
    archive = DOCS / "reproduction.jsonl"
    known = archive.read_text(encoding="utf-8") if labels else ""
    archive.write_text(add(known, run) if labels else to_jsonl(run), encoding="utf-8")
    render()


def render() -> None:
    """Write both pages from the stored numbers and the file of claims."""
    lines = (DOCS / "reproduction.jsonl").read_text(encoding="utf-8")
    (DOCS / "reproduction.md").write_text(page(lines), encoding="utf-8")
    (DOCS / "claims.md").write_text(conclusions.page(), encoding="utf-8")


def page(lines: str) -> str:
    """The page that stored numbers and the figures beside them make."""
    drawn = sorted((DOCS / "reproduction").glob("*.svg"))
    names = {f.stem.replace("_", ":", 1): f"reproduction/{f.name}" for f in drawn}
    return markdown(from_jsonl(lines).to_dict(), names, "claims.md")


if __name__ == "__main__":
    publish(Path(sys.argv[1] if len(sys.argv) > 1 else "paper-run"), sys.argv[2:])
