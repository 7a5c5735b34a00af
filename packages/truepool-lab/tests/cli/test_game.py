"""``truepool game``, as a user runs it."""

import json
import re

import numpy as np
import pytest
from panels import random_panel

from truepool.core.errors import SettingError
from truepool.tables import write_table
from truepool_lab.cli.game import parse_sweep

QUICK = ["--cases", "500", "--cost-fn", "10"]


def test_game_prints_a_table_of_all_payments(truepool):
    code, out, err = truepool("game", *QUICK, "--threshold", 0.3)
    assert (code, err) == (0, "")
    assert "5 agents, correlation" in out
    for name in ("brier", "vcg", "wsu", "own-accuracy"):
        assert re.search(rf"^{name} +[+-]0\.\d", out, re.MULTILINE)


def test_game_takes_every_parameter(truepool):
    code, out, err = truepool(
        "game", *QUICK, "--payment", "vcg", "--agent-count", 3, "--correlation", 0.4,
        "--mean", 0.2, "--offset", 0.05, "--concentration", 6, "--beliefs", "factor",
        "--truth", "latent", "--random-outcomes", "--pool", "median", "--response", "affine",
        "--order", "simultaneous", "--sees", 1, "--rounds", 2, "--seed", 3, "--json",
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
        "--sweep", "n=2,3", "--repetitions", 2, "--jobs", 1, "--plot", path,
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
        "game", *QUICK, "--payment", "wsu", "--sweep", "tau=0.1,0.2", "--json"
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
    code, out, err = truepool(
        "game", *QUICK, "--payment", "brier", "--offset", 0.5, "--threshold", 0.3
    )
    assert code == 0
    assert "undefined" in out
    assert err.startswith("warning: the offset +0.5 moves ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--correlation", -0.9], "must lie in [-0.2353, 1]; got -0.9"),
        (["--mean", 1.5], "mean of the beliefs must lie between 0 and 1; got 1.5"),
        (["--agent-count", 1], "a whole number of agents, at least 2; got 1"),
        (["--payment", "vgc"], "no payment is called 'vgc' (did you mean 'vcg'?)"),
        (["--sees", "most"], "'none', 'all' or a whole number"),
        (["--sweep", "rho=low"], "no parameter"),
        (["--sweep", "rho"], "a sweep is written rho=0:0.95:0.05"),
        (["--plot", "plot.gif"], "a figure is written as"),
        (["--sweep", "rho=0:1:1e-12"], "at most 100,000 games; got 1,000,000,000,001"),
        (["--sweep", "rho=a,b"], "values of 'correlation' must be numbers; got 'a'"),
        (["--sweep", "pool=3"], "values of 'pool' must be names; got 3.0"),
        (["--sweep", "n=2.5"], "a whole number of agents, at least 2; got 2.5"),
        (["--sweep", "sees=1.5"], "'none', 'all' or a whole number from 0 to 5"),
        (
            ["--sweep", "n=2,3", "--jobs", 0],
            "--jobs must be 1 or more, or -1 for all cores; got 0",
        ),
        (["--sweep", "n=2,3", "--repetitions", 10**6], "at most 100,000 games"),
        (["--sees", "\u00b2"], "'none', 'all' or a whole number"),
        (["--sees", "-1"], "'none', 'all' or a whole number"),
        (["--cases", 0], "a whole number of cases, at least 2; got 0"),
        (["--cases", 10**12], "at most 100,000,000 beliefs"),
        (["--rounds", 0], "a whole number of rounds, at least 1; got 0"),
        (["--cost-fn", 1e308], "between 1e-100 and 1e+100 in size; got 1e+308"),
        (["--outcome", "hit"], "options that describe a table need one"),
        (["--cost-fn", 0], "a cost must be a positive number"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(truepool, words, sentence):
    if sentence == "no parameter":
        words, sentence = ["--sweep", "rhoo=0.1"], "no parameter to sweep is called"
    code, out, err = truepool("game", "--cases", 100, *words)
    assert (code, out) == (2, "")
    assert sentence in err
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


@pytest.mark.parametrize("option", ["--correlation=0.2", "--cases=10", "--truth=mean"])
def test_options_of_a_simulation_are_refused_beside_a_table(truepool, tmp_path, option):
    panel = random_panel(0)
    columns = dict(zip(panel.agents, panel.reports.T, strict=True))
    write_table(tmp_path / "panel.csv", {**columns, "y": panel.outcomes})
    code, out, err = truepool("game", tmp_path / "panel.csv", option)
    assert (code, out) == (2, "")
    flag = option.split("=")[0]
    assert f"{flag} simulates beliefs; a table has its own. Leave it out" in err


def test_game_draws_beliefs_given_the_outcome(truepool):
    words = ["game", "--cases", 500, "--payment", "brier", "--beliefs", "outcome"]
    code, out, err = truepool(*words, "--separation", 0.3, "--offset", 0.2)
    assert (code, err) == (0, "")
    assert "brier" in out
    code, _, err = truepool(*words[:-1], "copula", "--separation", 0.3)
    assert code == 2
    assert "Leave it out, or pass model='outcome'" in err
