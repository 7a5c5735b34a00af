"""Put a full run into the documentation: its means, its page and its figures.

Run: truepool reproduce --full --jobs 2, then python scripts/publish_reproduction.py.
"""

import json
import sys
from pathlib import Path

from truepool.paper.stored import retold, stored
from truepool.render.reproduced import markdown

DOCS = Path(__file__).parents[1] / "docs"


def publish(run: Path) -> None:
    """Write docs/reproduction.jsonl, docs/reproduction.md and docs/reproduction/*."""
    kept = stored(json.loads((run / "verdicts.json").read_text(encoding="utf-8")))
    folder = DOCS / "reproduction"
    folder.mkdir(exist_ok=True)
    for drawn in (run / "figures").glob("*.svg"):
        (folder / drawn.name).write_bytes(drawn.read_bytes())
    (DOCS / "reproduction.jsonl").write_text(kept, encoding="utf-8")
    (DOCS / "reproduction.md").write_text(page(kept), encoding="utf-8")


def page(kept: str) -> str:
    """The page that stored means and the figures beside them make."""
    drawn = sorted((DOCS / "reproduction").glob("*.svg"))
    names = {f.stem.replace("_", ":", 1): f"reproduction/{f.name}" for f in drawn}
    return markdown(retold(kept).to_dict(), names)


if __name__ == "__main__":
    publish(Path(sys.argv[1] if len(sys.argv) > 1 else "reproduction"))
