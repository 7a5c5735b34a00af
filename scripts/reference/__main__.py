"""Write the pages."""

from reference import pages
from reference.page import ROOT

for name, text in pages().items():
    path = ROOT / "docs" / "reference" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
