"""The layers of each distribution, drawn from its import contract."""

import tomllib
from html import escape

from reference.page import NOTE, ROOT, join

NAMES = ("truepool", "truepool-serve", "truepool-jury", "truepool-lab")
"""The distributions, the one that the others use first."""


def contract(name: str) -> list[list[str]]:
    """Return the layers of a distribution by its import contract, top first."""
    project = ROOT / "packages" / name / "pyproject.toml"
    settings = tomllib.loads(project.read_text())
    (found,) = (
        entry
        for entry in settings["tool"]["importlinter"]["contracts"]
        if entry.get("containers") == [name.replace("-", "_")]
    )
    return [layer.split(" : ") for layer in found["layers"]]


def layers() -> str:
    """Return the page on the layers."""
    shown = [
        part
        for name in NAMES
        for part in (f"## {name}", f"![The layers of {name}, top first]({name}.svg)")
    ]
    return join(
        [
            "# Layers",
            NOTE,
            "truepool-serve, truepool-jury and truepool-lab use public names of"
            " truepool, which imports none of them. In each an upper layer may import"
            " a lower one, never the reverse; packages of one layer do not import"
            " each other. import-linter checks it, and these diagrams are drawn from"
            " its contracts. [CONTRIBUTING](../../CONTRIBUTING.md) says what each"
            " holds.",
            *shown,
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
        f'{len(rows) * step - 14}" role="img"><title>Layers, top first</title>'
        f"<style>{style}</style>{''.join(parts)}</svg>\n"
    )
