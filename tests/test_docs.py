"""What exists is documented, and the examples run (pytest collects them as doctests)."""

import re
from pathlib import Path

import pytest

from truepool import agents, datasets, learners, pools
from truepool.cli.keys import KEYS, VERBS
from truepool.cli.verbs import every_command
from truepool_lab import stress
from truepool_lab.games import payments

DOCS = Path(__file__).parents[1] / "docs"
COMMANDS = dict(every_command())
TOP = [words for words in COMMANDS if words.count(" ") == 0 and words]
PAGES_OF = {"help": "config"}
"""Pages of verbs that are called otherwise."""


@pytest.mark.parametrize("name", list(pools.every()))
def test_every_pool_has_its_line(name):
    assert (
        f"| `{name}` | `{pools.every()[name].__name__}` |"
        in (DOCS / "pools.md").read_text()
    )


@pytest.mark.parametrize("name", list(learners.every()))
def test_every_learner_has_its_line(name):
    assert f"| `{name}` |" in (DOCS / "learners.md").read_text()


@pytest.mark.parametrize("name", list(stress.every()))
def test_every_stress_has_its_line(name):
    cls = stress.every()[name]
    room = cls.__module__.rpartition(".")[2]
    line = f"| `{name}` | `{room}.{cls.__name__}` |"
    assert line in (DOCS / "stress.md").read_text()


@pytest.mark.parametrize("name", list(datasets.every()))
def test_every_data_set_has_its_line(name):
    assert f"| `{name}` |" in (DOCS / "data.md").read_text()


def parts_of(verb):
    """The verb itself, or the verbs under it, by what follows its name."""
    parts = {w: c for w, c in COMMANDS.items() if w.partition(" ")[0] == verb}
    if len(parts) > 1:
        parts.pop(verb)
    return [(words.partition(" ")[2], command) for words, command in parts.items()]


@pytest.mark.parametrize("name", list(payments.every()))
def test_every_payment_has_its_line(name):
    assert f"| `{name}` |" in (DOCS / "incentives.md").read_text()


@pytest.mark.parametrize("verb", TOP)
def test_every_verb_has_its_page_with_its_own_options_and_keys(verb):
    """What several verbs have is in the reference, which is written from the code."""
    page = (DOCS / f"{PAGES_OF.get(verb, verb)}.md").read_text()
    for name, part in parts_of(verb):
        assert f"truepool {verb} {name}".strip() in page
        options = {o for p in part.params for o in p.opts if o.startswith("--")}
        own = {o for o in options - {"--help"} if o.removeprefix("--") not in KEYS}
        known = VERBS.get(f"{verb}.{name}".strip("."), {})
        own |= {key for key, each in known.items() if not each.option} - {*KEYS}
        for word in own:
            assert re.search(rf"(?<![\w-]){word}(?![\w-])", page), word


@pytest.mark.parametrize("verb", TOP)
def test_every_verb_has_its_line_in_the_page_on_which_command_when(verb):
    page, own = (DOCS / "which_command.md").read_text(), PAGES_OF.get(verb, verb)
    assert re.search(rf"^\|.*\[`truepool {verb}\b.*\]\({own}\.md\) \|$", page, re.M)


@pytest.mark.parametrize("name", list(agents.zoo.every()))
def test_every_model_of_the_zoo_has_its_line(name):
    assert f"| `{name}` |" in (DOCS / "agents.md").read_text()


@pytest.mark.parametrize(
    "page", sorted((DOCS / "decisions").glob("*.md")), ids=lambda p: p.stem
)
def test_decisions_are_short(page):
    assert len(page.read_text().splitlines()) <= 30


@pytest.mark.parametrize(
    "page", sorted((DOCS / "decisions").glob("*.md")), ids=lambda p: p.stem
)
def test_a_decision_begins_with_its_number(page):
    number = int(page.stem.partition("-")[0])
    assert re.match(rf"# {number}\. [A-Z`]", page.read_text())


PAGES = [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md")]


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda p: p.stem)
def test_every_link_inside_the_project_leads_somewhere(page):
    links = re.findall(
        r"\]\((?!https?:|mailto:)([^)#\s]+)(?:#[^)]*)?\)", page.read_text()
    )
    assert not [link for link in links if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda p: p.stem)
def test_an_extra_is_installed_in_the_clone(page):
    """truepool need not be on an index: only the page on installing names it so."""
    given = re.findall(r"pip install '?truepool\b", page.read_text())
    assert page.stem in ("install", "CHANGELOG") or not given
    copies = re.findall(r"pip install '\.\[", page.read_text())
    assert page.stem == "CHANGELOG" or not copies  # make demo installs with -e
    extras = re.findall(r"pip install -e '\.\[", page.read_text())
    assert not extras or re.search(r"in the \[?clone", page.read_text())
