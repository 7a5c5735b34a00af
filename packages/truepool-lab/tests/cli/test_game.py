"""``truepool game``, as a user runs it."""

import json
import re

import numpy as np
import pytest
from panels import random_panel

from truepool.core.errors import SettingError
from truepool.tables import write_table
from truepool_lab.cli.game import parse_sweep


def keys(**values):
    """Words that set keys."""
    words = (("--set", f"{name.replace('_', '-')}={v}") for name, v in values.items())
    return [word for pair in words for word in pair]


QUICK = ["--cost-fn", "10", *keys(cases=500)]


def test_game_prints_a_table_of_all_payments(truepool):
    code, out, err = truepool("game", *QUICK, *keys(threshold=0.3))
    assert (code, err) == (0, "")
    assert "5 agents, correlation" in out
    for name in ("brier", "vcg", "wsu", "own-accuracy"):
        assert re.search(rf"^{name} +[+-]0\.\d", out, re.MULTILINE)


def test_game_takes_every_parameter(truepool):
    code, out, err = truepool(
        "game", *QUICK, "--payment", "vcg", "--agent-count", 3, "--correlation", 0.4,
        "--pool", "median", "--response", "affine", "--json", "-",
        *keys(
            mean=0.2, offset=0.05, concentration=6.0, beliefs="factor", truth="latent",
            random_outcomes="true", order="simultaneous", sees=1, rounds=2, seed=3,
        ),
    )  # fmt: skip
    assert (code, err) == (0, "")
    (result,) = json.loads(out)
    assert result["payment"] == "vcg"
    assert len(result["shifts"]) == 3
    assert result["rounds"] <= 2
    assert set(result["price_cost"]) == {"ratio", "difference", "defined"}


def test_game_sweeps_and_draws(truepool, tmp_path):
    path = tmp_path / "sweep.png"
    code, out, _ = truepool(
        "game", *QUICK, "--payment", "brier", "--sweep", "rho=0:0.4:0.2",
        "--sweep", "n=2,3", *keys(repetitions=2, jobs=1), "--plot", path,
    )  # fmt: skip
    assert code == 0
    assert "12 games, 2 repetitions of each setting" in out
    assert path.read_bytes().startswith(b"\x89PNG")
    assert "Wrote" in out


def test_game_draws_the_rounds_of_one_game(truepool, tmp_path):
    code, out, _ = truepool(
        "game", *QUICK, "--payment", "vcg", "--plot", tmp_path / "rounds.svg"
    )
    assert code == 0
    assert (tmp_path / "rounds.svg").exists()
    assert "Wrote" in out


def test_game_tells_a_sweep_in_json(truepool):
    code, out, _ = truepool(
        "game", *QUICK, "--payment", "wsu", "--sweep", "tau=0.1,0.2", "--json", "-"
    )
    result = json.loads(out)
    assert code == 0
    assert result["over"] == {"threshold": [0.1, 0.2]}
    assert len(result["points"]) == 2


def test_game_takes_beliefs_from_a_table(truepool, tmp_path):
    panel = random_panel(1, cases=100)
    columns = {f"m{i}": panel.reports[:, i] for i in range(4)}
    write_table(tmp_path / "panel.csv", {**columns, "hit": panel.outcomes})
    code, out, _ = truepool(
        "game", tmp_path / "panel.csv", "--outcome", "hit", "--payment", "brier"
    )
    assert code == 0
    assert "4 agents" in out
    assert "100 cases" in out
    code, _, err = truepool(
        "game", tmp_path / "panel.csv", "--outcome", "hit", "--sweep", "n=2,3"
    )
    assert code == 2
    assert "Leave out the table or --sweep" in err


def test_game_warns_of_clipping_in_one_line(truepool):
    words = ("--payment", "brier", *keys(offset=0.5, threshold=0.3))
    code, out, err = truepool("game", *QUICK, *words)
    assert code == 0
    assert "undefined" in out
    assert err.startswith("warning: the offset +0.5 moves ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--correlation", -0.9], "[-0.2353, 1]; got -0.9"),
        (keys(mean=1.5), "got 1.5"),
        (["--agent-count", 1], "at least 2; got 1"),
        (["--payment", "vgc"], "did you mean 'vcg'?"),
        (keys(sees="most"), "'none', 'all' or a whole number"),
        (["--sweep", "rhoo=0.1"], "no parameter to sweep"),
        (["--sweep", "rho"], "rho=0:0.95:0.05"),
        (["--plot", "plot.gif"], "a figure is written as"),
        (["--sweep", "rho=0:1:1e-12"], "1,000,000,000,001"),
        (["--sweep", "rho=a,b"], "'correlation' must be numbers; got 'a'"),
        (["--sweep", "pool=3"], "'pool' must be names; got 3.0"),
        (["--sweep", "n=2.5"], "at least 2; got 2.5"),
        (["--sweep", "sees=1.5"], "from 0 to 5"),
        (["--sweep", "n=2,3", *keys(jobs=0)], "-1"),
        (["--sweep", "n=2,3", *keys(repetitions=10**6)], "100,000 games"),
        (keys(sees="\u00b2"), "'none', 'all' or a whole number"),
        (keys(sees=-1), "'none', 'all' or a whole number"),
        (keys(cases=0), "at least 2; got 0"),
        (keys(cases=10**12), "100,000,000 beliefs"),
        (keys(rounds=0), "at least 1; got 0"),
        (["--cost-fn", 1e308], "got 1e+308"),
        (["--outcome", "hit"], "outcome"),
        (["--cost-fn", 0], "0"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(truepool, words, named):
    quick = [] if "cases=" in "".join(map(str, words)) else keys(cases=100)
    code, out, err = truepool("game", *quick, *words)
    assert (code, out) == (2, "")
    assert named in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_what_is_varied_is_read():
    name, values = parse_sweep("rho=0:0.95:0.05")
    assert name == "rho"
    np.testing.assert_allclose(values, np.arange(20) * 0.05)
    assert parse_sweep("sees=none,2,all") == ("sees", ["none", 2, "all"])
    assert parse_sweep("agents=2:6:2") == ("agents", [2, 4, 6])
    for bad in ("rho", "rho=", "rho=0:1", "rho=0:1:0", "rho=a:b:c", "rho=0:nan:1"):
        with pytest.raises(SettingError, match="a sweep is written"):
            parse_sweep(bad)


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("correlation", ["--correlation", 0.2]),
        ("cases", keys(cases=10)),
        ("truth", keys(truth="mean")),
    ],
)
def test_settings_of_a_simulation_are_refused_beside_a_table(
    truepool, tmp_path, named, words
):
    panel = random_panel(0)
    columns = dict(zip(panel.agents, panel.reports.T, strict=True))
    write_table(tmp_path / "panel.csv", {**columns, "y": panel.outcomes})
    code, out, err = truepool("game", tmp_path / "panel.csv", *words)
    assert (code, out, named in err) == (2, "", True)


def test_game_draws_beliefs_given_the_outcome(truepool):
    words = ("game", "--payment", "brier")
    given = {"cases": 500, "separation": 0.3}
    code, out, err = truepool(*words, *keys(**given, beliefs="outcome", offset=0.2))
    assert (code, err, "brier" in out) == (0, "", True)
    code, _, err = truepool(*words, *keys(**given, beliefs="copula"))
    assert (code, "separation" in err) == (2, True), err
