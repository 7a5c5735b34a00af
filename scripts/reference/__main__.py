"""Write the pages, and the help that the command prints at once."""

from pathlib import Path

from reference import command_line, pages
from reference.page import ROOT
from truepool.cli import PAGE

for name, text in pages().items():
    path = ROOT / "docs" / "reference" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
Path(PAGE).write_text(command_line.verbs())
