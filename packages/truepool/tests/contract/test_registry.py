"""What everything that has a name owes: to be made by it, and to refuse a typo."""

from importlib import import_module
from pathlib import Path

import pytest

from truepool.core import registry
from truepool.core.errors import UnknownNameError

KINDS = tuple(registry.places())
EVERYTHING = [(kind, name) for kind in KINDS for name in registry.names(kind)]
EVERY_POOL = registry.names("pool").values()
each = pytest.mark.parametrize(("kind", "name"), EVERYTHING)

# A setting of one thing of each kind, and the same with a slip of the finger.
SLIPS = {
    "pool": ("vcg", "loss", "los"),
    "learner": ("hedge", "rate", "raet"),
    "loss": ("cost", "threshold", "thresholds"),
    "payment": ("vcg", "loss", "lose"),
    "response": ("shift", "reach", "raech"),
    "stress": ("copycat", "noise", "noises"),
    "data set": ("synthetic", "cases", "case"),
    "model": ("random-forest", "max_depth", "max_dpeth"),
    "drift detector": ("adwin", "delta", "detla"),
}


@each
def test_everything_is_found_by_its_name(kind, name):
    assert registry.find(kind, name) is not None


@each
def test_a_setting_that_nothing_takes_is_refused(kind, name):
    with pytest.raises(
        UnknownNameError, match=f"no setting of {name} is called 'no_such_thing'"
    ):
        registry.make(kind, name, no_such_thing=1)


@pytest.mark.parametrize(
    ("kind", "name"), [k for k in EVERYTHING if k[0] != "data set"]
)
def test_everything_can_be_made_by_its_name_alone(kind, name):
    assert registry.make(kind, name) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_a_slip_of_the_finger_is_answered_with_the_nearest_setting(kind):
    name, right, wrong = SLIPS[kind]
    with pytest.raises(UnknownNameError, match=f"did you mean '{right}'"):
        registry.make(kind, name, **{wrong: 1})


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_name_is_answered_with_the_known_ones(kind):
    name, _, _ = SLIPS[kind]
    with pytest.raises(UnknownNameError, match=f"no {kind} is called .*'{name}'"):
        registry.make(kind, name + "x")


def test_an_unknown_kind_is_answered_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="did you mean 'pool'"):
        registry.make("pol", "vcg")


@pytest.mark.parametrize("folder", ["truepool.pools", "truepool_lab.pools"])
def test_a_file_of_the_pools_holds_one_pool(folder):
    """What pools are made of is in packages beside them; the lab has two bases."""
    files = {path.stem for path in Path(import_module(folder).__path__[0]).glob("*.py")}
    held = [cls.__module__.removeprefix(f"{folder}.") for cls in EVERY_POOL]
    own = sorted(name for name in held if "." not in name)
    bases = {"neural", "dense"} if folder == "truepool_lab.pools" else set()
    assert own == sorted(files - {"__init__"} - bases)


@pytest.mark.parametrize(
    "package", ["candidates", "interface", "onnx", "persistence", "training"]
)
def test_what_pools_are_made_of_imports_no_pool(package):
    folder = Path(import_module(f"truepool.pools.{package}").__path__[0])
    lines = "\n".join(path.read_text() for path in folder.glob("*.py")).splitlines()
    used = {line.split()[1] for line in lines if line.startswith("from truepool.pools")}
    assert used.isdisjoint(cls.__module__ for cls in EVERY_POOL)
