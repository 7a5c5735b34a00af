"""The words about tables: a sentence for every code, in every dialect, and no other."""

import ast
import json
import os
import re
import shlex
from pathlib import Path
from string import Formatter

import pytest
from corpus import TABLES, frame

import truepool
from truepool.core.sentences import TERMINAL, Voice, catalogue, setting
from truepool.tables import Declared, TableFaults, load_panel

SNAPSHOT = Path(__file__).with_name("words.json")
SOURCE = Path(truepool.__file__).parent
CODE = {"fault": ("Fault", "refuse", "refusal", "_refusal", "add_rows"), "cure": ("Cure",),
        "note": ("Note",), "question": ("ask", "Question"), "place": ("Place",)}  # fmt: skip
MADE = {
    "fault": {"weight-range", "propensity-range"},  # from the key
    "note": {"more-faults", "read"}, "question": set(), "cure": set(), "place": set(),
}  # fmt: skip


def sentences():
    """Every template about tables, as it is."""
    return {
        kind: dict(sorted(catalogue()[kind].items()))
        for kind in (*CODE, "read", "setting")
    }


def test_the_sentences_are_those_of_the_snapshot():
    """Rewrite it with TRUEPOOL_SNAPSHOT=1 and read the difference."""
    text = json.dumps(sentences(), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("TRUEPOOL_SNAPSHOT"):
        SNAPSHOT.write_text(text, encoding="utf-8")
    assert SNAPSHOT.read_text(encoding="utf-8") == text


def used():
    """Codes that the library raises, by kind, as its source has them."""
    found = {kind: set(MADE[kind]) for kind in CODE}
    for path in (SOURCE / "tables").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                texts = [each.value for arg in node.args[:1] for each in ast.walk(arg)
                         if isinstance(each, ast.Constant) and isinstance(each.value, str)]  # fmt: skip
                for kind, names in CODE.items():
                    found[kind] |= {*texts} if name in names else set()
    return found


@pytest.mark.parametrize("kind", ["fault", "cure", "note", "question"])
def test_every_code_that_is_raised_has_a_sentence(kind):
    lower = {
        code for code in used()[kind] if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
    }
    assert lower <= {*catalogue()[kind]} | {*catalogue()["fault"]}


def rendered(name):
    case = TABLES[name]
    try:
        _, table = load_panel(frame(case), Declared.of(case.keys))
    except TableFaults as faults:
        return faults
    return table.notes


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("dialect", ["python", "terminal", "http"])
def test_every_table_of_the_corpus_has_sentences_in_every_dialect(name, dialect):
    found, voice = rendered(name), Voice(dialect)
    lines = (
        found.lines(voice)
        if isinstance(found, TableFaults)
        else [n.sentence(voice) for n in found]
    )
    assert all(line and "{" not in re.sub(r"\{'[^}]*\}", "", line) for line in lines)
    assert not any("\n" in line or "!" in line for line in lines)
    if dialect != "terminal":
        assert not any("--" in line for line in lines)


def test_templates_are_lower_case_and_can_be_parsed():
    for kind in ("fault", "cure"):
        for code, template in catalogue()[kind].items():
            texts = template.values() if isinstance(template, dict) else [template]
            for text in texts:
                assert [*Formatter().parse(text)]
                assert not text[:1].isupper(), code
                assert not text.endswith(("!", "."))


def test_a_terminal_names_options_where_python_names_keywords():
    assert setting("sep", ";") == "sep=';'"
    assert shlex.split(setting("sep", ";", TERMINAL)) == ["--set", "sep=;"]
    assert shlex.split(setting("ignore", ["a b"], TERMINAL)) == ["--ignore", "a b"]
