"""The numbers that modules define as constants, for the tests that pin them."""

import ast
from importlib import import_module
from numbers import Number
from pathlib import Path
from pkgutil import walk_packages


def numeric_constants(package):
    """Numbers and tuples of numbers, by module and name."""
    found = {}
    for name in module_names(package):
        module = import_module(name)
        constants = {
            key: value
            for key in assigned_names(module)
            if numeric(value := vars(module)[key])
        }
        if constants:
            found[name.removeprefix("truepool.")] = constants
    return found


def module_names(package):
    """A package and all modules in it."""
    yield package
    for info in walk_packages(import_module(package).__path__, f"{package}."):
        yield info.name


def assigned_names(module):
    """Upper-case names that a module assigns itself, not those it imports."""
    for node in ast.parse(Path(module.__file__).read_text()).body:
        match node:
            case ast.Assign():
                names = [n.id for t in node.targets for n in ast.walk(t)
                         if isinstance(n, ast.Name)]  # fmt: skip
            case ast.AnnAssign(target=ast.Name(id=name)):
                names = [name]
            case _:
                names = []
        yield from (name for name in names if name.isupper())


def numeric(value):
    """Whether a value is made of numbers, none of them NaN."""
    parts = value if isinstance(value, tuple) and value else (value,)
    return all(
        isinstance(part, Number) and not isinstance(part, bool) and part == part
        for part in parts
    )
