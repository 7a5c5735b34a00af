"""What another distribution adds is used like what truepool has itself."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoints

import pytest
from command import EXAMPLE_NOTE
from distributions import install

from truepool import datasets
from truepool.audits import checks, kinds
from truepool.core import registry
from truepool.core.sentences import catalogue

VERB = '''
    """A verb with a key, and a group of verbs."""
    from typing import Annotated
    import typer
    from truepool.cli.keys import key

    def greet(
        name: Annotated[str, typer.Argument(help="Whom.")] = "you",
        word: Annotated[str, key("word", "How.", "WORD")] = "hello",
    ) -> None:
        """Say hello."""
        print(f"{word} {name}")

    tools = typer.Typer(help="Two tools.", rich_markup_mode=None)

    @tools.command()
    def saw() -> None:
        """Cut."""
        print("cut")

    @tools.command()
    def drill() -> None:
        """Bore."""
'''
POOL = '''
    from typing import ClassVar, final
    import numpy as np
    from truepool.pools import Pool

    @final
    class Highest(Pool):
        """Believe whoever is most alarmed."""
        name: ClassVar[str] = "highest"
        complexity: ClassVar[int] = 0

        def _learn(self, panel, case_weights):
            pass

        def combine(self, values):
            return np.nanmax(values, axis=1)
'''
LEARNER = '''
    from dataclasses import dataclass
    from typing import ClassVar, final
    import numpy as np
    from truepool.learners import Learner

    @final
    @dataclass(frozen=True, kw_only=True)
    class Ramp(Learner):
        """Weights 1, 2, 3, ... whatever happens."""
        name: ClassVar[str] = "ramp"

        @property
        def signal(self):
            return "own"

        def update(self, state, feedback):
            return state.after(np.arange(1.0, len(state.agents) + 1))
'''
CHECK = '''
    from truepool.audits.checks import Candidate, Check, Kind

    def few(evidence):
        """A note on panels of few agents."""
        agents = len(evidence.panel.agents)
        yield Candidate("few-agents", facts={"agents": agents}, least="note")

    check = Check(
        "few", few, about="pool",
        kinds=(Kind("few-agents", "pool", "few-agents", most="note"),),
    )
'''
WORDS = """
    [finding]
    few-agents = "there are only {agents} agents"
"""
DATASET = '''
    from typing import ClassVar, final
    import numpy as np
    from truepool import Panel
    from truepool.datasets import Dataset

    @final
    class Coin(Dataset):
        """Tosses of a fair coin."""
        name: ClassVar[str] = "coin"
        rows: ClassVar[int] = 4
        columns: ClassVar[int] = 2
        labels: ClassVar[tuple[str, ...]] = ("tails", "heads")
        source: ClassVar[str] = "made"
        licence: ClassVar[str] = "CC0"
        cite: ClassVar[str] = "nobody"
        column_kind: ClassVar[str] = "agent"

        @classmethod
        def load(cls) -> Panel:
            return Panel(np.full((4, 2), 0.5), [0, 1, 1, 0])
'''
MODULES = {
    "toolbox/__init__.py": "",
    "toolbox/verbs.py": VERB,
    "toolbox/highest.py": POOL,
    "toolbox/ramp.py": LEARNER,
    "toolbox/crowd.py": CHECK,
    "toolbox/words/__init__.py": "",
    "toolbox/words/audit.toml": WORDS,
    "toolbox/coin.py": DATASET,
}
OFFERS = {
    "truepool.verbs": {"greet": "toolbox.verbs:greet", "tools": "toolbox.verbs:tools"},
    "truepool.pools": {"highest": "toolbox.highest:Highest"},
    "truepool.learners": {"ramp": "toolbox.ramp:Ramp"},
    "truepool.checks": {"size of the crowd": "toolbox.crowd:check"},
    "truepool.words": {"toolbox": "toolbox.words"},
    "truepool.datasets": {"coin": "toolbox.coin:Coin"},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder in which the distribution is installed."""
    return install(tmp_path_factory.mktemp("site"), "tool-box", MODULES, OFFERS)


@pytest.fixture
def toolbox(site, monkeypatch, truepool):
    """Run the command where the distribution is installed."""

    def run(*words):
        code, out, err = truepool(*words)
        assert code == 0
        assert err in ("", EXAMPLE_NOTE)
        return out

    monkeypatch.syspath_prepend(site)
    for known in (registry.every, checks.every, kinds.every, catalogue):
        known.cache_clear()
    yield run
    monkeypatch.undo()
    for known in (registry.every, checks.every, kinds.every, catalogue):
        known.cache_clear()


@pytest.fixture
def process(site):
    """Run code in a new process, where the distribution is installed."""

    def run(*words, code="from truepool.cli import main; main()"):
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(site), "COLUMNS": "100"},
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def test_a_verb_is_run_and_listed(process):
    assert process("greet", "Ada") == "hello Ada\n"
    assert process("tools", "saw") == "cut\n"
    listed = process("--help")
    assert re.search(r"greet +From tool-box\.", listed)
    assert re.search(r"tools +From tool-box\.", listed)


def test_a_verb_may_have_keys(toolbox, truepool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert toolbox("greet", "Ada", "--set", "word=good day,") == "good day, Ada\n"
    (tmp_path / "pool.toml").write_text('outcome = "y"\n[greet]\nword = "hi"\n')
    assert toolbox("greet", "Ada") == "hi Ada\n"
    assert toolbox("greet", "Ada", "--set", "word=ho") == "ho Ada\n"
    assert "word" in toolbox("help", "keys")
    code, out, err = truepool("greet", "--set", "wrod=ho")
    assert (code, out, "did you mean 'word'?" in err) == (2, "", True)


def test_a_pool_and_a_data_set_are_names_of_the_package(process):
    code = (
        "import truepool as tp; print(tp.pools.make('highest'), tp.Highest.name, "
        "len(tp.datasets.load('coin')))"
    )
    assert process(code=code) == "Highest() highest 4\n"


def test_verbs_may_come_as_a_group(monkeypatch, tmp_path, truepool):
    offers = {"truepool.verbs": {"tools": "hardware_verbs:tools"}}
    site = install(tmp_path, "hardware", {"hardware_verbs.py": VERB}, offers)
    monkeypatch.syspath_prepend(site)
    assert truepool("tools", "saw") == (0, "cut\n", "")
    shown = truepool("tools", "--help")[1]
    assert "truepool tools [OPTIONS] COMMAND" in shown
    assert "--install-completion" not in shown


def test_a_pool_is_compared(toolbox):
    result = json.loads(toolbox("compare", "--pool", "highest", "--json", "-"))
    assert "highest" in json.dumps(result)


FAILING = POOL.replace('"highest"', '"failing"').replace("pass", '{}["seed"]')
OWN_ERROR = FAILING.replace('{}["seed"]', "raise Trouble('no\\n luck')").replace(
    "    @final", "    class Trouble(Exception):\n        pass\n\n    @final"
)
TOO_HIGH = POOL.replace('"highest"', '"failing"').replace(
    "axis=1)", "axis=1) * 0 + 1.3"
)
NAMED = LEARNER.replace('"ramp"', '"failing"')
FAILING_LEARNER = NAMED.replace("return state.after", "raise StopIteration")
SILENT_LEARNER = NAMED.replace("return state.after", "state.after")
NO_MEMORY = NAMED.replace(
    "        @property",
    """        def memory(self, agents):
            {}["seed"]

        @property""",
)
FAILING_VERB = '''
    import typer

    class Trouble(Exception):
        pass

    def trip(code: int = 0) -> None:
        """Fall, or leave with a code."""
        if code:
            raise typer.Exit(code)
        raise Trouble("no\\n luck")

    tools = typer.Typer(help="One tool.", rich_markup_mode=None)
    tools.command()(trip)

    @tools.callback()
    def before() -> None:
        """Nothing."""
'''


@pytest.fixture
def faulty(monkeypatch, tmp_path, truepool):
    """Run the command where one faulty plug-in is installed; return its error."""

    def run(kind, source, *words, value):
        offers = {f"truepool.{kind}": {"failing": value}}
        install(tmp_path, "faulty", {"failing.py": source}, offers)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "failing", raising=False)
        registry.every.cache_clear()
        code, out, err = truepool(*words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        return err

    yield run
    monkeypatch.undo()
    registry.every.cache_clear()


@pytest.mark.parametrize(
    ("kind", "source", "words", "value", "where"),
    [
        ("learners", SILENT_LEARNER, "replay --learner failing", "Ramp",
         "update() of learner 'failing' of the distribution 'faulty' returned None"),
        ("pools", TOO_HIGH, "compare --pool failing", "Highest",
         "combine() of pool 'failing' of the distribution 'faulty' returned 1.3"),
    ],
)  # fmt: skip
def test_what_returns_what_it_must_not_is_named_with_its_distribution(
    kind, source, words, value, where, faulty
):
    err = faulty(kind, source, *words.split(), value=f"failing:{value}")
    assert where in err


@pytest.mark.parametrize(
    ("kind", "source", "words", "fault", "where"),
    [
        ("pools", FAILING, "compare --pool", "{}", "_learn: KeyError: 'seed'"),
        ("pools", OWN_ERROR, "compare --pool", "raise", "_learn: Trouble: no luck"),
        ("learners", FAILING_LEARNER, "replay --learner", "raise", "update: StopIter"),
        ("learners", NO_MEMORY, "replay --learner", "{}", "memory: KeyError: 'seed'"),
    ],
)
def test_what_fails_is_named_with_its_line_in_one_sentence(
    kind, source, words, fault, where, faulty
):
    value = f"failing:{'Highest' if kind == 'pools' else 'Ramp'}"
    err = faulty(kind, source, *words.split(), "failing", value=value)
    start = (
        f"error: the plug-in 'failing' ({value}) of the distribution 'faulty' failed"
    )
    assert err.startswith(f"{start} in {where}")
    line = 1 + next(
        n
        for n, text in enumerate(source.splitlines())
        if text.strip().startswith(fault)
    )
    assert err.endswith(
        f" (failing.py, line {line}). Upgrade or uninstall 'faulty'; "
        "TRUEPOOL_TRACEBACK=1 shows the traceback.\n"
    )


@pytest.mark.parametrize(
    ("verb", "words"), [("trip", ["failing"]), ("tools", ["failing", "trip"])]
)
def test_a_command_that_fails_is_named_in_one_sentence(verb, words, faulty, truepool):
    err = faulty("verbs", FAILING_VERB, *words, value=f"failing:{verb}")
    assert f"'failing' (failing:{verb}) of the distribution 'faulty'" in err
    assert "Trouble: no luck (failing.py, line 11)" in err
    assert truepool(*words, "--code", "3") == (3, "", "")
    assert "no such option: --cod" in truepool(*words, "--coda", "3")[2]


def test_the_author_of_a_plug_in_can_see_the_traceback(faulty, truepool, monkeypatch):
    faulty("verbs", FAILING_VERB, "failing", value="failing:trip")
    monkeypatch.setenv("TRUEPOOL_TRACEBACK", "1")
    code, out, err = truepool("failing")
    assert (code, out) == (2, "")
    first, *_, last = err.splitlines()
    assert first == "Traceback (most recent call last):"
    assert 'failing.py", line 11, in trip' in err
    assert last.startswith("error: the plug-in 'failing'")


def test_a_learner_is_replayed_by_its_own_update(toolbox):
    result = json.loads(toolbox("replay", "--learner", "ramp", "--json", "-"))
    assert result["learner"] == "ramp"
    weights = list(result["weights"].values())
    assert weights == pytest.approx([n / 15 for n in range(1, 6)])


def test_a_check_is_asked(toolbox):
    assert "There are only 5 agents." in toolbox("audit", "--verbose")


def test_a_data_set_is_listed(toolbox):
    result = json.loads(toolbox("data", "list", "--json", "-"))
    assert {data["name"]: data["found"] for data in result}["coin"] == "made"
    shown = " ".join(toolbox("data", "list").split())
    agents = [n for n, one in datasets.every().items() if one.column_kind == "agent"]
    assert "coin" in agents
    assert f"or agents in panels: {', '.join(agents)}." in shown


@pytest.mark.parametrize(
    ("words", "distribution"),
    [("reproduce tab:poa --full", "lab"), ("agent llm t.csv --model m", "jury")],
)
def test_a_verb_of_another_distribution_says_how_to_get_it(
    monkeypatch, truepool, words, distribution
):
    monkeypatch.setattr(
        "truepool.core.plugins.entry_points", lambda **group: EntryPoints()
    )
    code, out, err = truepool(*words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"pip install 'truepool[{distribution}]'" in err
    code, out, err = truepool("--help")
    assert (code, err) == (0, "")
    assert "reproduce  Re-run the paper's tables and compare the numbers." in out


def test_a_broken_verb_stops_nobody_else(monkeypatch, tmp_path, truepool):
    offers = {"truepool.verbs": {"snap": "broken_verb:snap"}}
    install(tmp_path, "snap-tools", {"broken_verb.py": "import nothing_of_that_name"}, offers)  # fmt: skip
    monkeypatch.syspath_prepend(tmp_path)
    code, out, err = truepool("snap", "--loudly")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "plug-in 'snap' (broken_verb:snap) of the distribution 'snap-tools'" in err
    assert "No module named 'nothing_of_that_name'" in err
    assert " (broken_verb.py, line 1). Reinstall or uninstall 'snap-tools'; " in err
    assert truepool("--help")[0] == 0
    assert truepool("data", "list")[0] == 0


def test_a_verb_of_a_taken_name_is_refused_and_changes_nothing(
    monkeypatch, tmp_path, truepool
):
    offers = {"truepool.verbs": {"show": "other:show"}}
    monkeypatch.syspath_prepend(install(tmp_path, "auditors", {}, offers))
    code, out, err = truepool("--help")
    assert (code, err) == (0, "")
    assert "the distribution 'auditors' offers 'show'" in " ".join(out.split())
    code, out, err = truepool("show", "--help")
    assert (code, "saved pool" in out, err) == (0, True, "")


def test_two_verbs_of_one_name_are_both_refused(monkeypatch, tmp_path, truepool):
    for owner in ("left", "right"):
        offers = {"truepool.verbs": {"turn": f"{owner}:turn"}}
        monkeypatch.syspath_prepend(install(tmp_path / owner, owner, {}, offers))
    code, out, err = truepool("turn")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "offers 'turn', which" in err
    assert "turn       Not available" in truepool("--help")[1]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("class verb: ...", "must be a function or a typer.Typer; got the class 'verb'"),
        ("def verb(x: int | str): ...", "cannot be a command: AssertionError: Typer"),
        ("raise ValueError('one\\ntwo')", "cannot be loaded: ValueError: one two (verb_"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_verb_is_refused_in_one_line(
    monkeypatch, tmp_path, truepool, code, why
):
    module = f"verb_{abs(hash(code))}"
    offers = {"truepool.verbs": {"odd": f"{module}:verb"}}
    install(tmp_path, "odd-tools", {f"{module}.py": code}, offers)
    monkeypatch.syspath_prepend(tmp_path)
    status, out, err = truepool("odd")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert why in err
    assert truepool("--help")[0] == 0


@pytest.mark.parametrize("words", ["compare --pool sharp", "replay --learner sharp"])
def test_a_mistyped_group_of_entry_points_is_pointed_out(
    words, monkeypatch, tmp_path, truepool
):
    offers = {"truepool.polls": {"sharp": "sharp:Sharp", "blunt": "sharp:Blunt"}}
    monkeypatch.syspath_prepend(install(tmp_path, "sharpener", {}, offers))
    fault = "'truepool.polls', which nothing reads (did you mean 'truepool.pools'?)"
    assert fault in " ".join(truepool("--help")[1].split())
    code, out, err = truepool(*words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "'sharpener' offers 'sharp'" in err
    assert fault in err
    assert "sharpener" not in truepool("compare", "--pool", "shrap")[2]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("compare --pool trimmed(alpha=0.3)",
         "truepool.pools.make('trimmed', alpha=0.3)"),
        ("replay --learner hedge(rate=3)", "truepool.learners.make('hedge', rate=3)"),
        ("compare --pool mean()", "truepool.pools.make('mean')"),
    ],
)  # fmt: skip
def test_a_name_with_settings_is_told_where_settings_go(words, hint, truepool):
    code, out, err = truepool(*words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert hint in err
