"""``truepool demo``, as a user runs it."""

import json
import os
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from panels import random_panel

from truepool import Costs, audit, read_panel, replay
from truepool.cli import demo as verb
from truepool.cli import main, outputs
from truepool.comparison import compare
from truepool.core.errors import SourceError

QUICK = ("log-odds", "median", "vote")


def compare_few(panel, **settings):
    """Fewer pools: what every pool does is tested elsewhere."""
    return compare(panel, **settings | {"pools": ["trimmed", "platt", *QUICK]})


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Folder and output of one run, in eighty columns and of few pools."""
    folder = tmp_path_factory.mktemp("demo") / "my demo"
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("truepool.comparison.compare", compare_few)
        patch.setattr("truepool.cli.screen.WIDTH", 80)
        patch.setattr(sys, "argv", ["truepool", "demo", "--output", str(folder)])
        with redirect_stdout(out), redirect_stderr(err):
            with pytest.raises(SystemExit) as stop:
                main()
    assert (stop.value.code or 0, err.getvalue()) == (0, "")
    return folder, out.getvalue()


def test_the_demo_says_that_more_pools_were_compared_than_shown(demo):
    _, out = demo
    pools = int(re.search(r"(\d+) pools of 5 agents", out)[1])
    rows = re.search(r"pools of 5 agents.*?─\n(.*?)\n\n", out, re.DOTALL)[1]
    more = re.search(r"and the mean; (\d+) more were compared", out)
    assert len(rows.splitlines()) + int(more[1]) == pools


def test_the_demo_goes_through_four_steps_and_writes_four_files(demo):
    folder, out = demo
    text = " ".join(out.split())
    starts = [text.index(f" {n}. " if n > 1 else "1. ") for n in range(1, 5)]
    takeaways = [match.start() for match in re.finditer("Take-away: ", text)]
    pairs = zip(starts, takeaways, strict=True)
    assert sorted(starts + takeaways) == [place for pair in pairs for place in pair]
    files = {path.name for path in folder.iterdir()}
    assert files == {*verb.FILES, ".truepool.json"}
    assert "<!doctype html>" in (folder / "report.html").read_text()
    header = next(line for line in out.splitlines() if line.startswith("pool "))
    assert re.fullmatch(r"pool +cost per case +recall +alarms *", header)
    assert len(header) <= 80  # what a head of fraud needs fits eighty columns


def test_the_audit_of_the_demo_finds_what_it_broke(demo):
    folder, out = demo
    text = " ".join(out.split())
    written = json.loads((folder / "audit.json").read_text())
    found = {one["who"]: one for one in written["agents"]}
    errors = [who for who, one in found.items() if one["severity"] == "error"]
    assert errors == ["forest", "neighbours"]
    forest, neighbours = found["forest"], found["neighbours"]
    assert (forest["state"], neighbours["state"]) == ("broken", "reversed")
    # Where a correlation was lost is known to about 2 % of the 569 cases.
    assert abs(forest["since"] - 228) <= 12
    assert abs(neighbours["since"] - 399) <= 12
    plan = written["plan"]
    assert plan["without"] == ["forest", "neighbours"]
    for step in plan["steps"]:
        assert step["text"] in text
    # The last line has the saving per 1,000 cases: that of the plan.
    saving = plan["saving"]["value"]
    assert f"{saving:,.0f} false alarms" in text.rpartition("Take-away")[2]


def test_the_commands_it_ends_with_work_as_they_are(demo, truepool, monkeypatch):
    monkeypatch.setattr("truepool.comparison.compare", compare_few)
    folder, out = demo
    commands = [shlex.split(line) for line in out.splitlines()[-3:]]
    assert [words[1] for words in commands] == ["audit", "compare", "replay"]
    for words in commands:
        assert truepool(*words[1:])[0] == 0, words
    assert (folder / "replay.svg").exists()


def test_the_demo_compiles_nothing_unless_it_is_asked_to(monkeypatch):
    monkeypatch.delenv("TRUEPOOL_KERNELS", raising=False)
    verb._skip_compilation()  # the kernels are chosen already
    assert "TRUEPOOL_KERNELS" not in os.environ
    monkeypatch.delitem(sys.modules, "truepool.core.kernels")
    monkeypatch.setenv("TRUEPOOL_KERNELS", "compiled")
    verb._skip_compilation()
    assert os.environ["TRUEPOOL_KERNELS"] == "compiled"
    monkeypatch.delenv("TRUEPOOL_KERNELS")
    verb._skip_compilation()
    assert os.environ["TRUEPOOL_KERNELS"] == "reference"


@pytest.mark.no_cover
def test_the_page_on_the_demo_shows_what_is_printed(truepool, tmp_path):
    page = (Path(__file__).parents[4] / "docs" / "demo.md").read_text()
    shown = page.split("```text\n")[1].split("```")[0].splitlines()
    _, out, _ = truepool("demo", "--output", tmp_path)
    printed = [line.rstrip() for line in out.splitlines()]
    assert [line for line in shown if line != "..." and line not in printed] == []


def test_the_table_it_writes_gives_the_same_audit(demo):
    folder, _ = demo
    panel = read_panel(folder / "panel.csv", "malignant")
    again = audit(panel, costs=Costs(fn=verb.COST_FN))
    assert json.loads(json.dumps(again.to_dict())) == json.loads(
        (folder / "audit.json").read_text()
    )


@pytest.mark.parametrize(
    ("place", "named"), [("file", "is a file"), ("no/demo", "no folder")]
)
def test_a_folder_that_cannot_be_is_refused_before_anything_is_done(
    truepool, tmp_path, place, named
):
    (tmp_path / "file").write_text("")
    code, out, err = truepool("demo", "--output", tmp_path / place)
    assert (code, out, named in err) == (2, "", True)


def test_a_users_own_file_is_refused_before_anything_is_done(truepool, tmp_path):
    own = tmp_path / "panel.csv"
    own.write_text("mine")
    code, out, err = truepool("demo", "--output", tmp_path)
    assert (code, out, str(own) in err, "--force" in err) == (2, "", True, True)
    assert [path.name for path in tmp_path.iterdir()] == ["panel.csv"]
    assert own.read_text() == "mine"


def test_own_files_are_replaced_until_somebody_changes_them(tmp_path):
    names = ("a.csv", "b.json")
    outputs.check_own_files(tmp_path, names, force=False)
    for name in names:
        (tmp_path / name).write_text(name)
    with pytest.raises(SourceError, match="did not write"):
        outputs.check_own_files(tmp_path, names, force=False)
    outputs.record_own_files(tmp_path, names)
    outputs.check_own_files(tmp_path, names, force=False)
    (tmp_path / "b.json").write_text("edited")
    with pytest.raises(SourceError, match=r"b\.json"):
        outputs.check_own_files(tmp_path, names, force=False)
    outputs.check_own_files(tmp_path, names, force=True)
    (tmp_path / outputs.MANIFEST).write_text("[]")
    with pytest.raises(SourceError, match=r"a\.csv"):
        outputs.check_own_files(tmp_path, names, force=False)


def test_the_commands_name_the_program_that_runs(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    assert verb._program() == "truepool"
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("sys.argv", [".venv/my bin/truepool"])
    assert verb._program() == "'.venv/my bin/truepool'"


def test_how_far_the_models_are_apart_is_the_ratio_of_their_losses():
    from truepool import Panel

    panel = Panel([[0.9, 0.7], [0.1, 0.3]], [1, 0], agents=("ada", "bob"))
    assert "the Brier loss of bob is 9.0 times that of ada" in verb.spread_sentence(
        panel
    )


def test_only_a_significant_saving_is_claimed():
    result = compare(random_panel(0, cases=30, skill=0.3), pools=["vcg"], resamples=50)
    assert all(row.p_mean >= 0.05 for row in result.rows)
    assert verb.comparison_sentence(result) == (
        "no pool is significantly better than the plain mean on these cases."
    )


def test_the_weight_before_and_after_a_failure_is_that_of_the_trace():
    trace = replay("gradient", random_panel(1, cases=100))
    agent = trace.panel.agents[2]
    before, after = 100 * trace.weights[40, 2], 100 * trace.weights[-1, 2]
    sentence = verb.weights_sentence(trace, [(agent, 40)])
    assert sentence.endswith(
        f"gradient cut {agent} from {before:.1f} % to {after:.1f} %."
    )
    with pytest.raises(AssertionError, match="path=False"):
        verb.weights_sentence(
            replay("gradient", random_panel(1, cases=100), path=False), []
        )
