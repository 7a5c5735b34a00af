"""Discovery: files of a folder, and entry points of other distributions."""

import sys
from textwrap import dedent
from types import SimpleNamespace

import pytest
from distributions import install

from truepool.audits import checks
from truepool.core import plugins, registry
from truepool.core.errors import PluginError
from truepool.panel.panel import Panel

TOOLS = {
    "workshop/__init__.py": "",
    "workshop/interface.py": """
        from abc import ABC, abstractmethod

        class Tool(ABC):
            def __init__(self, *, grip=1): ...

            @abstractmethod
            def use(self): ...
    """,
    "workshop/saws.py": """
        from workshop.interface import Tool

        class Saw(Tool):
            name = "saw"
            def use(self): return "cut"

        class Shared(Tool):
            "Has no name: nothing to offer."
    """,
    "workshop/axes.py": """
        from workshop.interface import Tool
        from workshop.saws import Saw

        class Axe(Tool):
            name = "axe"
            def use(self): return "chop"
    """,
}
OTHERS = """
    from typing import ClassVar

    from workshop.interface import Tool

    class Drill(Tool):
        name = "drill"
        def use(self): return "bore"

    class Unfinished(Tool):
        name = "unfinished"

    class Electric(Drill):
        power: ClassVar[int]

    class Sander(Electric):
        name = "sander"

    class Lathe(Drill):
        name = "lathe"
        def __init__(self, speed=1): ...

    class Awl:
        name = "awl"

    def rasp(): ...
"""


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """Discover the tools of a package that others add to."""
    monkeypatch.syspath_prepend(install(tmp_path / "own", "workshop", TOOLS, {}))
    before = set(sys.modules)

    def discover(**offers):
        for owner, entries in offers.items():
            folder = tmp_path / owner
            install(folder, owner, {f"{owner}_tools.py": OTHERS}, {"workshop": entries})  # fmt: skip
            monkeypatch.syspath_prepend(folder)
        return registry.every.__wrapped__("workshop")

    yield discover
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_classes_with_a_name_are_found_by_file(workshop):
    assert list(workshop()) == ["axe", "saw"]


def test_plug_ins_are_found_too(workshop):
    found = workshop(acme={"drill": "acme_tools:Drill"})
    assert list(found) == ["axe", "drill", "saw"]
    assert found["drill"]().use() == "bore"


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ({"drill": "acme_tools:Dril"}, r"cannot be loaded: AttributeError: .*Reinstall"),
        ({"drill": "acme_tool:Drill"}, "cannot be loaded: ModuleNotFoundError"),
        ({"awl": "acme_tools:Awl"}, "must be a class that derives from Tool; got"),
        ({"rasp": "acme_tools:rasp"}, r"derives from Tool; got the function rasp\(\)\."),
        ({"sander": "acme_tools:Sander"}, "must define power; got the class 'Sander'"),
        ({"lathe": "acme_tools:Lathe"}, r"must take .* the settings grip; got .*'Lathe'"),
        ({"unfinished": "acme_tools:Unfinished"}, "must define use; got the class 'Unfinished'"),
        ({"borer": "acme_tools:Drill"}, r"must have a class variable name = 'borer' .*; got 'drill'"),
        ({"saw": "acme_tools:Drill"}, "'acme' offers 'saw', which 'truepool' has too"),
    ],
)  # fmt: skip
def test_the_error_about_a_broken_plug_in_names_its_distribution(
    workshop, entries, why
):
    with pytest.raises(PluginError, match=why) as refused:
        workshop(acme=entries)
    assert "distribution 'acme'" in str(refused.value)


def test_two_distributions_may_not_offer_the_same_name(workshop):
    with pytest.raises(PluginError, match="'drill', which '(acme|bolt)' has too"):
        workshop(acme={"drill": "acme_tools:Drill"}, bolt={"drill": "bolt_tools:Drill"})


def test_an_empty_folder_has_no_base_class(tmp_path, monkeypatch):
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert registry.every.__wrapped__("bare") == {}


def test_every_file_of_the_folder_holds_checks_with_names_of_their_own():
    modules = list(registry.modules("truepool.audits.checks"))
    held = [check for module in modules for check in vars(module)["checks"]]
    named = {check.name: check for check in held}
    assert len(named) == len(held) >= len(modules)
    assert checks.every().items() >= named.items()
    assert list(checks.every()) == sorted(checks.every())


def test_a_check_of_another_distribution_takes_its_place_by_name(tmp_path, monkeypatch):
    offers = {"truepool.checks": {"bias": "bias_checks:check"}}
    code = "from truepool.audits.checks import Check\ncheck = Check('other', None)\n"
    install(tmp_path, "bias-checks", {"bias_checks.py": code}, offers)
    monkeypatch.syspath_prepend(tmp_path)
    found = checks.every.__wrapped__()
    assert list(found) == sorted([*checks.every(), "bias"])


def test_a_check_must_be_a_check(tmp_path, monkeypatch):
    offers = {"truepool.checks": {"age": "age_checks:AGE"}}
    install(tmp_path, "age-checks", {"age_checks.py": "AGE = 3"}, offers)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match=r"'age-checks' must be a .*Check; got 3"):
        checks.every.__wrapped__()


def load_check(folder, monkeypatch, code):
    """Return the check that a distribution offers with this code."""
    name = f"trial_{abs(hash(code))}"
    offers = {"truepool.checks": {"trial": f"{name}:check"}}
    header = "from truepool.audits.checks import Candidate, Check\n"
    text = header + dedent(code) + "\ncheck = Check('trial', check)\n"
    install(folder, "trial-checks", {f"{name}.py": text}, offers)
    monkeypatch.syspath_prepend(folder)
    return checks.every.__wrapped__()["trial"].run


SOUND = """
    def check(evidence):
        yield Candidate("copy", ("ada",), p_value=0.5)
"""
BROKEN_CHECKS = {
    "def check(): ...": "failed: TypeError",
    "def check(evidence): ...": "must yield candidates; got None",
    "def check(evidence): return [3]": "must yield objects of the class Candidate; got 3",
    "def check(evidence): 1 / 0": r"division by zero \(trial_\d+.py, line 2\)\. Upgrade",
    "def check(evidence): raise ValueError('a\\nb')": r"ValueError: a b \(trial_\d+.py, line 2\)\. Upgrade",
    SOUND.replace('("ada",)', '("eve",)'): r"among ada, bob; got \('eve',\)",
    SOUND.replace('("ada",)', '"ada"'): "tuple of agents among ada, bob; got 'ada'",
    SOUND.replace("0.5", "1.5"): r"a p-value in \[0, 1\] or None; got 1.5",
    SOUND.replace("p_value=0.5", "least='fatal'"): "a `least` among .*; got 'fatal'",
    SOUND.replace("p_value=0.5", "most=None"): "a `most` among .*; got None",
    SOUND.replace("p_value=0.5", "number=2"): "an Estimate or None as `number`; got 2",
    SOUND.replace('"copy"', '"mine"'): "the code of one of its kinds; got 'mine'",
}  # fmt: skip


@pytest.mark.parametrize(("code", "why"), BROKEN_CHECKS.items(), ids=range(12))
def test_a_broken_check_is_refused_in_one_line_that_names_its_distribution(
    tmp_path, monkeypatch, code, why
):
    panel = Panel([[0.2, 0.4], [0.6, 0.8]], [0, 1], agents=("ada", "bob"))
    with pytest.raises(PluginError, match=why) as refused:
        list(load_check(tmp_path, monkeypatch, code)(SimpleNamespace(panel=panel)))
    assert "distribution 'trial-checks'" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("price", "why"),
    [("lambda: 1 / 0", "failed: ZeroDivisionError"), ("lambda: 3", "as price; got 3")],
)
def test_the_price_of_a_finding_is_checked_when_it_is_asked_for(
    tmp_path, monkeypatch, price, why
):
    panel = Panel([[0.2, 0.4], [0.6, 0.8]], [0, 1], agents=("ada", "bob"))
    code = SOUND.replace("p_value=0.5", f"price={price}")
    (found,) = load_check(tmp_path, monkeypatch, code)(SimpleNamespace(panel=panel))
    with pytest.raises(PluginError, match=why):
        found.price()


@pytest.mark.parametrize("price", ["lambda: None", "None"])
def test_a_price_that_is_unknown_stays_unknown(tmp_path, monkeypatch, price):
    panel = Panel([[0.2, 0.4], [0.6, 0.8]], [0, 1], agents=("ada", "bob"))
    code = SOUND.replace("p_value=0.5", f"price={price}")
    (found,) = load_check(tmp_path, monkeypatch, code)(SimpleNamespace(panel=panel))
    assert (found.price and found.price()) is None


def test_an_object_is_described_without_its_address():
    assert plugins.describe(object()) == "<object object>"


def test_a_plug_in_of_a_dataclass_is_a_dataclass(tmp_path, monkeypatch):
    code = """
        from truepool.learners import Learner

        class Plain(Learner):
            name = "plain"
            signal = "own"
            speed: float = 1.0
            def update(self, state, feedback): return state
    """
    offers = {"truepool.learners": {"plain": "plain_learner:Plain"}}
    install(tmp_path, "plain-tools", {"plain_learner.py": code}, offers)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match="must have the decorator @dataclass"):
        registry.every.__wrapped__("truepool.learners")
