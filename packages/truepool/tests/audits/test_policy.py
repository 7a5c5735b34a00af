"""What the docs of the audit state."""

import re
from pathlib import Path

from truepool.audits.topics import comparison


def test_the_documentation_lists_the_pools_that_an_audit_compares():
    docs = Path(__file__).parents[4] / "docs"
    listed = (docs / "audit.md").read_text().partition("compares the pool in use with")
    names = re.findall("`([a-z-]+)`", listed[2].partition(": one of each")[0])
    # The other tests of audits do without `auto`, which is slow.
    assert set(names) == {*comparison.POOLS, "auto"}
