"""CONTRIBUTING shows the layers that the import contracts enforce."""

import pkgutil
import re
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.name for path in (ROOT / "packages").iterdir())
FUNCTIONS = ("truepool.datasets", "truepool_lab.datasets", "truepool_jury.datasets")
"""Packages that offer functions named like their modules, and look after that."""


def contract(name):
    """Names of each layer, top first; the contract leaves no package out."""
    path = ROOT / "packages" / name / "pyproject.toml"
    contracts = tomllib.loads(path.read_text())["tool"]["importlinter"]["contracts"]
    containers = [name.replace("-", "_")]
    (layers,) = (c for c in contracts if c["containers"] == containers)
    assert layers["exhaustive"]
    return [re.findall(r"\w+", layer) for layer in layers["layers"]]


def shown(name):
    """Names of each row of the table of a distribution in CONTRIBUTING."""
    text = (ROOT / "CONTRIBUTING.md").read_text().split(f"**{name}**")[1]
    table = text.split("| layer | what it holds |")[1].split("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    return [re.findall(r"`(\w+)`", row.split("|")[1]) for row in rows]


@pytest.mark.parametrize("name", NAMES)
def test_contributing_shows_the_layers_of_the_import_contract(name):
    assert shown(name) == contract(name)


@pytest.mark.parametrize("name", NAMES)
def test_no_module_has_the_name_of_what_its_package_offers(name):
    # Python sets a module on its package when it is first imported: one of the same
    # name would then take the place of a function.
    root = import_module(name.replace("-", "_"))
    for info in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
        package, _, own = info.name.rpartition(".")
        import_module(info.name)
        if package not in FUNCTIONS:
            found = getattr(import_module(package), own)
            assert isinstance(found, ModuleType), info.name
