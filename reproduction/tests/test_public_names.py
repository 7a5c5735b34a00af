"""The reproduction uses only what truepool offers to everybody."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from truepool import datasets, learners, pools, stress

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "reproduction/src").rglob("*.py"))
TESTS = sorted((ROOT / "reproduction/tests").rglob("*.py"))
PUBLIC = {
    "truepool",
    "truepool.agents",
    "truepool.agents.llm",
    "truepool.agents.zoo",
    "truepool.core.arrays",
    "truepool.audits.topics",
    "truepool.cli.engines",
    "truepool.cli.options",
    "truepool.cli.outputs",
    "truepool.cli.screen",
    "truepool.core.engine",
    "truepool.measures.credit",
    "truepool.datasets",
    "truepool.measures.diversity",
    "truepool.core.errors",
    "truepool.core.files",
    "truepool.games",
    "truepool.games.payments",
    "truepool.games.theory",
    "truepool.measures.inference",
    "truepool.learners",
    "truepool.measures.losses",
    "truepool.core.formatting",
    "truepool.core.kernels.arithmetic",
    "truepool.pools",
    "truepool.core.registry",
    "truepool.render.figures",
    "truepool.render.figures.charts",
    "truepool.render.figures.style",
    "truepool.render.html",
    "truepool.render.tables.grid",
    "truepool.measures.scores",
    "truepool.stress",
    "truepool.stress.drift",
    "truepool.data.weights",
}
"""Modules that others may import from; docs/extending.md lists the same."""
REGISTERED = {
    (cls.__module__, cls.__name__)
    for folder in (pools, learners, datasets, stress)
    for cls in folder.every().values()
}
"""A file of a registry is public for the class that it holds."""

ORACLES = {
    ("truepool.datasets.intrusion", "PARTS"),
    ("truepool.datasets.nsl_kdd", "FIFTH"),
    ("truepool.datasets.synthetic", "SKILLS"),
    ("truepool.games.marginals", "Beta"),
    ("truepool.games.marginals", "belief_correlation"),
    ("truepool.measures.folds", "out_of_fold"),
    ("truepool.measures.folds", "splits"),
}
"""What the tests compare with: the library's own constants and inner steps."""
TYPES = {"Array", "BoolArray", "FloatArray", "IntArray"}
"""All that is public of `truepool.core.arrays`."""


def offered(module: str) -> set[str]:
    """Names that a public module offers: ``__all__``, or what it defines itself."""
    if module == "truepool.core.arrays":
        return TYPES
    found = import_module(module)
    if hasattr(found, "__all__"):
        return set(found.__all__)
    names = set()
    for node in ast.parse(Path(found.__file__).read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def public(module: str, name: str) -> bool:
    if (module, name) in REGISTERED or f"{module}.{name}" in PUBLIC:
        return True
    return module in PUBLIC and name in offered(module)


def used(text: str) -> set[tuple[str, str]]:
    """Module and name of all that is imported from truepool, or read off its modules.

    >>> sorted(used("from truepool import pools as p\\np.vcg.VCG(p.every())"))
    [('truepool', 'pools'), ('truepool.pools', 'every'), ('truepool.pools', 'vcg')]
    """
    tree = ast.parse(text)
    found, modules = set(), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {alias.name for alias in node.names}
            found |= {(name, "*") for name in names if _ours(name)}
        if isinstance(node, ast.ImportFrom) and _ours(node.module or ""):
            for alias in node.names:
                found.add((node.module, alias.name))
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (owner := _dotted(node.value, modules)):
            found.add((owner, node.attr))
    return found


def _ours(module: str) -> bool:
    return module.partition(".")[0] == "truepool"


def _dotted(node: ast.expr, modules: dict[str, str]) -> str | None:
    """The truepool module that an expression names, if it names one."""
    if isinstance(node, ast.Name):
        name = modules.get(node.id)
    elif isinstance(node, ast.Attribute) and (owner := _dotted(node.value, modules)):
        name = f"{owner}.{node.attr}"
    else:
        return None
    return name if name in PUBLIC else None


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_name_it_uses_is_public(path):
    private = {pair for pair in used(path.read_text()) if not public(*pair)}
    assert not private


def test_its_tests_use_private_names_as_oracles_only():
    names = {pair for path in TESTS for pair in used(path.read_text())}
    assert {pair for pair in names if not public(*pair)} == ORACLES


@pytest.mark.parametrize(
    "line",
    [
        "import truepool.pools.interface",
        "from truepool.pools.interface import configure",
        "from truepool.pools import _private",
        "from truepool.datasets.synthetic import SKILLS",
        "from truepool import pools; pools.interface",
        "from truepool import kernels",
        "from truepool import agents; agents.zoo.interface",
    ],
)
def test_a_private_name_would_be_noticed(line):
    assert not all(public(*pair) for pair in used(line))


def test_the_guide_uses_only_public_names():
    lines = (ROOT / "docs/extending.md").read_text().splitlines()
    code = [line.lstrip(" >.") for line in lines]
    imports = [line for line in code if re.match(r"from truepool\b", line)]
    assert len(imports) > 5
    assert all(public(*pair) for pair in used("\n".join(imports)))


@pytest.mark.parametrize("module", sorted(PUBLIC))
def test_what_is_public_is_documented(module):
    assert f"`{module}`" in (ROOT / "docs/extending.md").read_text()
