"""The distributions that plug into truepool use what it offers to everybody."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from truepool import agents, datasets, learners, pools

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs/extending.md").read_text()
PLUGGED = ("truepool-serve", "truepool-jury", "truepool-lab")
LISTED = GUIDE.split("### What others may import")[1].split("\n### ")[0]
PUBLIC = {"truepool", *re.findall(r"`(truepool(?:\.\w+)+)`", LISTED)}
"""Modules that others may import from, as docs/extending.md lists them."""
REGISTERED = {
    (cls.__module__, cls.__name__)
    for folder in (pools, learners, datasets, agents.zoo)
    for cls in folder.every().values()
}
"""A file of a registry is public for the class that it holds."""


def files(name):
    return sorted((ROOT / "packages" / name / "src").rglob("*.py"))


def used(text):
    """Module and name of everything that is imported from truepool.

    >>> sorted(used("from truepool import pools\\nimport truepool.panel.panel"))
    [('truepool', 'pools'), ('truepool.panel.panel', '')]
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((a.name, "") for a in node.names if ours(a.name))
        elif isinstance(node, ast.ImportFrom) and ours(node.module or ""):
            yield from ((node.module, alias.name) for alias in node.names)


def ours(module):
    return module.partition(".")[0] == "truepool"


def public(module, name):
    if (module, name) in REGISTERED or f"{module}.{name}" in PUBLIC:
        return True
    if module not in PUBLIC or (name.startswith("_") and name != "__version__"):
        return False
    offered = getattr(import_module(module), "__all__", [name])
    return name in (*offered, "", "__version__")


@pytest.mark.parametrize("name", PLUGGED)
def test_every_name_that_it_uses_is_public(name):
    private = {
        (path.relative_to(ROOT).as_posix(), *pair)
        for path in files(name)
        for pair in used(path.read_text())
        if not public(*pair)
    }
    assert not private


@pytest.mark.parametrize("name", PLUGGED)
def test_it_imports_no_other_that_plugs_in(name):
    others = {other.replace("-", "_") for other in PLUGGED if other != name}
    for path in files(name):
        for node in ast.walk(ast.parse(path.read_text())):
            named = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            named += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {each.partition(".")[0] for each in named} & others, path


@pytest.mark.parametrize("module", sorted(PUBLIC))
def test_what_is_listed_exists_and_is_used_by_somebody(module):
    import_module(module)
    code = "\n".join(line.lstrip(" >.") for line in GUIDE.splitlines())
    texts = [path.read_text() for name in PLUGGED for path in files(name)]
    needed = {
        one
        for text in texts
        for pair in used(text)
        for one in (pair[0], ".".join(pair))
    }
    assert module in needed or module in code.replace(LISTED, "")


@pytest.mark.parametrize(
    "line",
    [
        "import truepool.pools.mixture",
        "from truepool.pools.mixture import Mixture",
        "from truepool.pools import _private",
        "from truepool.datasets.synthetic import SKILLS",
        "from truepool import kernels",
        "from truepool.audits.evidence import Evidence",
    ],
)
def test_a_private_name_would_be_noticed(line):
    assert not all(public(*pair) for pair in used(line))


def test_the_guide_uses_only_public_names():
    lines = [line.lstrip(" >.") for line in GUIDE.splitlines()]
    imports = [line for line in lines if re.match(r"from truepool\b.* import \w", line)]
    assert len(imports) > 5
    assert all(public(*pair) for pair in used("\n".join(imports)))
