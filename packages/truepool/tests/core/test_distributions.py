"""What is not installed is named with what brings it."""

import tomllib
from pathlib import Path

import pytest

import truepool as tp
from truepool.core import distributions, names, registry
from truepool.core.errors import MissingExtraError, MissingPluginError

PACKAGES = Path(__file__).parents[4] / "packages"
GROUPS = {
    "name": "truepool.names",
    "verb": "truepool.verbs",
    "pool": "truepool.pools",
    "learner": "truepool.learners",
    "data set": "truepool.datasets",
    "model": "truepool.agents.zoo",
}


def entry_points(extra):
    path = PACKAGES / f"truepool-{extra}" / "pyproject.toml"
    return tomllib.loads(path.read_text())["project"]["entry-points"]


@pytest.mark.parametrize("extra", distributions.HOMES)
def test_what_lives_elsewhere_is_what_that_distribution_offers(extra):
    for kind, group in GROUPS.items():
        offered = entry_points(extra).get(group, {})
        named = distributions.HOMES[extra].get(kind, ())
        if kind == "name":  # classes of its pools are names of truepool too
            pools = entry_points(extra).get("truepool.pools", {}).values()
            offered = {*offered, *(value.rpartition(":")[2] for value in pools)}
        assert set(offered) == set(named)


def test_a_missing_library_is_named_with_what_brings_it():
    with pytest.raises(MissingExtraError) as stop:
        distributions.require("no_such.part", "truepool-lab[neural]", "tabnet")
    assert str(stop.value) == (
        "tabnet needs no_such, which is not installed; pip install "
        "'truepool-lab[neural]'"
    )


@pytest.fixture
def library_alone(monkeypatch):
    """Entry points of truepool's other distributions are gone."""
    monkeypatch.setattr("truepool.core.plugins.entry_points", lambda **_: [])
    for cached in (registry.every, registry.places, names._entries):
        cached.cache_clear()
    yield
    for cached in (registry.every, registry.places, names._entries):
        cached.cache_clear()


@pytest.mark.usefixtures("library_alone")
class TestTheLibraryAlone:
    @pytest.mark.parametrize(
        ("extra", "name"),
        [(e, n) for e, kinds in distributions.HOMES.items() for n in kinds["name"]],
    )
    def test_a_name_says_what_to_install(self, extra, name):
        with pytest.raises(MissingPluginError) as stop:
            getattr(tp, name)
        assert f"pip install 'truepool[{extra}]'" in str(stop.value)

    @pytest.mark.parametrize(
        ("extra", "kind", "name"),
        [
            (extra, kind, name)
            for extra, kinds in distributions.HOMES.items()
            for kind in kinds
            if kind not in ("name", "verb")
            for name in kinds[kind]
        ],
    )
    def test_what_is_found_by_name_says_what_to_install(self, extra, kind, name):
        with pytest.raises(MissingPluginError) as stop:
            registry.make(kind, name)
        assert f"pip install 'truepool[{extra}]'" in str(stop.value)

    def test_names_of_nobody_are_no_attributes(self):
        for name in ("nothing", "Nothing"):
            with pytest.raises(AttributeError):
                getattr(tp, name)
        assert "games" not in dir(tp)


def test_a_saved_pool_of_another_distribution_says_what_to_install(tmp_path, request):
    panel = tp.datasets.example()
    if "krum" not in tp.pools.every():
        pytest.skip("truepool-lab is not installed")
    path = tmp_path / "krum.pool"
    tp.pools.make("krum").fit(panel.reports, panel.outcomes).save(path)
    request.getfixturevalue("library_alone")
    with pytest.raises(tp.TruepoolError) as stop:
        tp.load_pool(path)
    assert "pip install 'truepool[lab]'" in str(stop.value)
