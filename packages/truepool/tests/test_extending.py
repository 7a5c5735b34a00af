"""The samples of docs/extending.md pass the contract that the page tells you to run."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from distributions import install

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "extending.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def code_of(block):
    """The statements of a block, of a session too: the prompts and the output go."""
    lines = block.splitlines()
    if not lines[0].startswith(">>> "):
        return block
    return "\n".join(line[4:] for line in lines if line[:3] in (">>>", "...")) + "\n"


def defining(name):
    """The block of the page that defines this name."""
    start = re.compile(rf"^((class|def) {name}\b|{name} = )", re.MULTILINE)
    (found,) = [code for code in map(code_of, BLOCKS) if start.search(code)]
    return found


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package of the page, installed, with the page's tests of it."""
    project, words = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    offers = tomllib.loads(project)["project"]["entry-points"]
    modules = {"toolbox/__init__.py": ""}
    for entries in offers.values():
        for value in entries.values():
            module, _, name = value.partition(":")
            if name:
                modules[f"{module.replace('.', '/')}.py"] = defining(name)
    modules |= {"toolbox/words/__init__.py": "", "toolbox/words/audit.toml": words}
    site = install(tmp_path_factory.mktemp("site"), "toolbox", modules, offers)
    for block in BLOCKS:
        if "\ndef test_" in block:
            (name,) = re.findall(r"(?:make|Stream)\(\"(\w+)|toolbox\.(\w+)", block)[:1]
            (site / f"test_{''.join(name)}.py").write_text(block)
    return site


def test_the_tree_of_the_page_lists_the_modules_of_its_entry_points(package):
    listed = set(re.findall(r"^    src/(toolbox/\w+\.py)", PAGE, re.MULTILINE))
    written = {p.relative_to(package).as_posix() for p in package.glob("toolbox/*.py")}
    assert listed == written


@pytest.mark.no_cover
def test_the_samples_pass_their_own_tests_and_the_whole_contract(package):
    tests = sorted(map(str, package.glob("test_*.py")))
    assert len(tests) == 3
    (wanted,) = re.findall(
        r'^scripts/test packages/truepool/tests/contract -k "(.+)"$', PAGE, re.M
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider",
         "packages/truepool/tests/contract", *tests, "-k", f"{wanted} or few_agents"],
        cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(package)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"^(\d+) passed", done.stdout, re.M).group(1)) > 60


def test_one_pool_is_called_cautious():
    source = (ROOT / "examples" / "own_pool.py").read_text()
    trees = (ast.parse(text) for text in (source, defining("Cautious")))
    script, page = (
        ast.unparse(next(n for n in tree.body if isinstance(n, ast.ClassDef)))
        for tree in trees
    )
    assert script == page
