"""Discovery: files of a folder, and entry points of other distributions."""

import sys

import pytest
from distributions import install

from truepool.audits import topics
from truepool.core import registry
from truepool.core.errors import PluginError

TOOLS = {
    "workshop/__init__.py": "",
    "workshop/interface.py": """
        from abc import ABC, abstractmethod

        class Tool(ABC):
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
    from workshop.interface import Tool

    class Drill(Tool):
        name = "drill"
        def use(self): return "bore"

    class Unfinished(Tool):
        name = "unfinished"

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
        ({"rasp": "acme_tools:rasp"}, "must be a class that derives from Tool; got"),
        ({"unfinished": "acme_tools:Unfinished"}, "must define all abstract methods"),
        ({"borer": "acme_tools:Drill"}, "must have the name 'borer'; got Drill.name = 'drill'"),
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


def test_every_file_of_the_folder_is_a_topic_with_a_name_of_its_own():
    modules = list(registry.modules("truepool.audits.topics"))
    named = {vars(module)["topic"].name: vars(module)["topic"] for module in modules}
    assert len(named) == len(modules)
    assert topics.every() == dict(sorted(named.items()))
    assert list(topics.every()) == sorted(named)


def test_a_check_of_another_distribution_takes_its_place_by_name(tmp_path, monkeypatch):
    offers = {"truepool.checks": {"bias": "bias_checks:check"}}
    install(tmp_path, "bias-checks", {"bias_checks.py": "def check(e): ..."}, offers)
    monkeypatch.syspath_prepend(tmp_path)
    found = topics.every.__wrapped__()
    assert list(found) == sorted([*topics.every(), "bias"])
    assert found["bias"].check.__module__ == "bias_checks"


def test_a_check_must_be_a_function(tmp_path, monkeypatch):
    offers = {"truepool.checks": {"age": "age_checks:AGE"}}
    install(tmp_path, "age-checks", {"age_checks.py": "AGE = 3"}, offers)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match=r"'age-checks' must be a function .*; got 3"):
        topics.every.__wrapped__()
