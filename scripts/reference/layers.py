"""The layers of the library, drawn from the import contract."""

import tomllib
from html import escape

from reference.page import NOTE, ROOT, join


def contract() -> list[list[str]]:
    """Return the layers of the import contract, top first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (found,) = (
        entry
        for entry in settings["tool"]["importlinter"]["contracts"]
        if entry.get("containers") == ["truepool"]
    )
    return [layer.split(" : ") for layer in found["layers"]]


def layers() -> str:
    """Return the page on the layers."""
    return join(
        [
            "# Layers",
            NOTE,
            "An upper layer may import a lower one, never the reverse; packages of one"
            " layer do not import each other. import-linter checks it, and this diagram"
            " is drawn from its contract. [CONTRIBUTING](../../CONTRIBUTING.md) says"
            " what each holds.",
            "![The layers of truepool, top first](layers.svg)",
        ]
    )


def diagram(rows: list[list[str]]) -> str:
    """Return the layers as an SVG: one row per layer, one box per package."""
    width, height, gap, step = 760, 34, 8, 52
    parts = []
    for i, names in enumerate(rows):
        box = (width - gap * (len(names) - 1)) / len(names)
        for j, name in enumerate(names):
            x, y = j * (box + gap), i * step
            parts.append(
                f'<rect x="{x:.0f}" y="{y}" width="{box:.0f}" height="{height}" '
                'rx="4"/>'
                f'<text x="{x + box / 2:.0f}" y="{y + 22}">{escape(name)}</text>'
            )
        if i:
            y = i * step - 4
            parts.append(f'<path d="M{width // 2} {y - 11}v8m-4 -4l4 5l4 -5"/>')
    style = (
        "rect{fill:#dbe7f3;stroke:#4878a8}text{fill:#12263a;text-anchor:middle;"
        "font:14px sans-serif}path{fill:none;stroke:#4878a8;stroke-width:1.5}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 {width + 4} '
        f'{len(rows) * step - 14}" role="img"><title>Layers of truepool</title>'
        f"<style>{style}</style>{''.join(parts)}</svg>\n"
    )
