"""Whoever adds a pool or learner finds which promises there are, and their keys."""

import os
import re
import subprocess
import sys
from pathlib import Path

import promises
import pytest
from distributions import install

ROOT = Path(__file__).parents[4]
EXAMPLE = (ROOT / "examples" / "own_pool.py").read_text().partition("panel =")[0]
BOASTFUL = EXAMPLE.replace('"label swap": ', '"duplicate": ')


def test_the_documentation_lists_every_promise_by_its_key():
    text = (ROOT / "docs" / "extending.md").read_text()
    pools, learners = re.findall(r"\| key \| promise \|\n\|.*\n((?:\|.*\n)+)", text)
    assert set(re.findall(r"^\| `(.+?)` \|", pools, re.MULTILINE)) == promises.POOLS
    assert set(re.findall(r"^\| `(.+?)` \|", learners, re.MULTILINE)) == (
        promises.LEARNERS
    )


@pytest.fixture
def contract(tmp_path):
    """Run the promises of a pool 'cautious' from outside; return what is printed."""

    def run(source):
        offers = {"truepool.pools": {"cautious": "own:Cautious"}}
        site = install(tmp_path, "own-pool", {"own.py": source}, offers)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider",
             "packages/truepool/tests/contract/test_pools.py", "-m", "promise", "-k", "cautious"],
            cwd=ROOT, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(site)},
        )  # fmt: skip
        return done.stdout

    return run


@pytest.mark.no_cover
def test_the_example_keeps_every_promise_that_it_makes(contract):
    assert re.search(r"^6 passed", contract(EXAMPLE), re.MULTILINE)


@pytest.mark.no_cover
def test_a_broken_promise_is_named_by_its_key(contract):
    shown = contract(BOASTFUL)
    assert "This is the promise 'label swap'." in shown
    assert "exemptions: ClassVar = {'label swap': '...'}" in shown
    assert re.search(r"^1 failed, 5 passed", shown, re.MULTILINE)
