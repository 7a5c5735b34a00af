"""A page of the reference: paragraphs of Markdown."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTE = "<!-- Written by `make reference`; do not edit. -->"


def join(parts: list[str]) -> str:
    """Return paragraphs as a page."""
    return "\n\n".join(parts) + "\n"
