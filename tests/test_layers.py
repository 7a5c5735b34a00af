"""CONTRIBUTING shows the layers that the import contract enforces."""

import pkgutil
import re
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType

import truepool

ROOT = Path(__file__).parents[1]


def contract():
    """Names of each layer, top first; not yet built ones are in parentheses."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(c for c in contracts if c["type"] == "layers" and c["exhaustive"])
    return [re.findall(r"\w+", layer) for layer in layers["layers"]]


def shown():
    """Names of each row of the table in CONTRIBUTING."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = text.split("| layer | what it holds |")[1].split("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    return [re.findall(r"`(\w+)`", row.split("|")[1]) for row in rows]


def test_contributing_shows_the_layers_of_the_import_contract():
    assert shown() == contract()


def test_no_module_has_the_name_of_what_its_package_offers():
    # Python sets a module on its package when it is first imported: one of the same
    # name would then take the place of a function. `datasets` alone has such names,
    # and looks after them itself.
    for info in pkgutil.walk_packages(truepool.__path__, "truepool."):
        package, _, name = info.name.rpartition(".")
        import_module(info.name)
        if package != "truepool.datasets":
            found = getattr(import_module(package), name)
            assert isinstance(found, ModuleType), info.name
