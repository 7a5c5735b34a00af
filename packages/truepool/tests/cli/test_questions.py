"""What a table cannot say is asked: all at once, on a terminal, and kept in pool.toml."""

import json
import os
import pty
import re
import shlex
import sys
import threading
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

T = 80
RNG = np.random.default_rng(1)
Y = RNG.random(T) < 0.4
P = {n: np.clip(0.3 + 0.4 * Y + RNG.normal(0, 0.15, T), 0.01, 0.99).round(3)
     for n in ("rf", "gbm", "mlp")}  # fmt: skip
DAYS = [f"{1 + t % 12:02}/{1 + t // 12:02}/2026" for t in range(T)]
PERCENT = (100 * np.clip(P["mlp"] + 0.01, 0.02, 0.99)).round(1)
STARS = np.round(1 + 9 * P["gbm"])
UNITS = {"rf": P["rf"], "gbm": P["gbm"], "vendor": PERCENT, "stars": STARS}
LABEL = np.where(Y, "yes", "no")
FIT = ("fit", "t.csv", "--pool", "mean", "-o", "a.pool")


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda columns: pd.DataFrame(columns).to_csv("t.csv", index=False)


@pytest.fixture
def terminal(monkeypatch, truepool):
    """Run the command on a terminal, with lines that are typed; what is shown there."""

    def run(words, *lines):
        master, slave = pty.openpty()
        shown = []

        def watch():
            while part := os.read(master, 4096):
                shown.append(part)
                if b"\0" in part:
                    return

        os.write(master, "".join(f"{line}\n" for line in lines).encode())
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        with (
            open(slave, closefd=False) as keyboard,
            open(slave, "w", closefd=False) as screen,
            monkeypatch.context() as patch,
        ):
            patch.setattr(sys, "stdin", keyboard)
            patch.setattr(sys, "stderr", screen)
            try:
                code, out, _ = truepool(*words)
            finally:
                screen.write("\0")
        watcher.join(60)
        os.close(slave)
        os.close(master)
        return code, out, b"".join(shown).decode().replace("\r", "")

    return run


def card(truepool):
    return json.loads(truepool("show", "a.pool", "--json", "-")[1])["table"]


# Without a terminal


def test_all_questions_come_together_with_the_keys_that_answer(write, truepool):
    write({**UNITS, "day": DAYS, "label": LABEL})
    code, out, err = truepool(*FIT)
    assert (code, out) == (2, "")
    assert [line[:7] for line in err.splitlines()] == ["error: "] * 4
    assert not Path("a.pool").exists()
    keys = {"--positive yes", "--positive no", "--set scores.vendor=0-100",
            "--set scores.stars=0-100", "--set scores.stars=1-10",
            "--set time-format=%d/%m/%Y", "--set time-format=%m/%d/%Y"}  # fmt: skip
    assert all(key in err for key in keys)
    chosen = ("--positive yes --set scores.vendor=0-100 --set scores.stars=1-10 "
              "--set time-format=%d/%m/%Y")  # fmt: skip
    code, _, err = truepool(*FIT, *chosen.split())
    assert code == 0, err
    found = card(truepool)
    assert found["labels"] == ["no", "yes"]
    assert found["units"] == {"vendor": [0, 100], "stars": [1, 10]}
    assert found["formats"] == {"day": "%d/%m/%Y"}


TABLES = {
    "one agent in percent": {**P, "rf": PERCENT, "y": Y},
    "all agents in whole percents": {"a": PERCENT.round(), "b": PERCENT[::-1].round(), "y": Y},
    "stars": {**P, "stars": STARS, "y": Y},
    "stars of all": {"a": STARS, "b": STARS[::-1], "c": STARS, "y": Y},
    "half stars beside signs": {"a": [f"{v}%" for v in PERCENT], "b": STARS / 2, "y": Y},
    "a quality that falls": {**P, "comet": (99 - 60 * P["mlp"]).round(1), "y": Y},
    "numbers a little above 1": {**P, "odd": 5 * P["rf"], "y": Y},
    "an unnamed outcome": {**P, "seen": Y.astype(int), "kept": Y[::-1].astype(int)},
    "labels": {**P, "label": LABEL},
    "labels that are numbers": {**P, "label": 1 + Y.astype(int)},
    "late reports": [
        {"case": f"q{t}", "who": name, "p": p[t], "made": f"2026-01-{5 + late:02}", "ends": "2026-01-09", "y": int(Y[t])}
        for t in range(T) for name, p in P.items() for late in (0, 9)
    ],
    "no outcome": {"a": P["rf"], "b": P["gbm"]},
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("verb", ["audit", "compare", "fit", "replay"])
def test_nothing_is_guessed_that_would_change_every_number(write, truepool, kind, verb):
    write(TABLES[kind])
    code, out, err = truepool(verb, "t.csv", *(["-o", "a.pool"] * (verb == "fit")))
    assert (code, out) == (2, "")
    assert re.search("--set |--positive|--outcome", err)


@pytest.mark.parametrize("kind", [kind for kind in TABLES if kind != "no outcome"])
def test_every_answer_that_is_offered_is_one(write, truepool, kind):
    """Any of them leads to a pool: nobody is asked twice."""
    write(TABLES[kind])
    (line,) = truepool(*FIT)[2].splitlines()
    asked = line.rsplit("? ", 1)[-1].rsplit(". --", 1)
    offered = asked[0] if len(asked) == 1 else f"--{asked[1]}"
    offered = offered.replace("LOW-HIGH", "0-200")  # which says: your own range
    answers = re.split(r", | or ", re.sub(r" \([^)]*\)", "", offered.rstrip(".")))
    assert len(answers) > 1
    for answer in answers:
        code, _, err = truepool(*FIT, *shlex.split(answer))
        assert code == 0, (answer, err)


def test_a_question_and_a_fault_come_together(write, truepool):
    write({**P, "rf": [1.2, *P["rf"][1:]], "label": LABEL})
    code, _, err = truepool(*FIT)
    assert (code, len(err.splitlines())) == (2, 2)
    assert "1.2 in line 2" in err
    assert "--positive yes" in err


# On a terminal


def test_answers_are_taken_by_number_or_by_name_and_kept_above_the_sections(
    write, terminal, truepool
):
    write({**UNITS, "label": LABEL})
    Path("pool.toml").write_text("cost-fn = 5\n\n[audit]\nby = 'label'\n")
    code, _, shown = terminal(FIT, "1", "1 or so", "1-10", "?", "2", "y")
    assert code == 0, shown
    assert shown.count("> ") == 5  # 1 or so is no range, and ? no label
    found = tomllib.loads(Path("pool.toml").read_text())
    assert found == {
        "scores": {"vendor": "0-100", "stars": "1-10"}, "positive": "yes",
        "cost-fn": 5, "audit": {"by": "label"},
    }  # fmt: skip
    before = card(truepool)
    assert before["units"] == {"vendor": [0, 100], "stars": [1, 10]}
    assert truepool(*FIT)[0] == 0  # nobody is asked again
    assert card(truepool) == before


@pytest.mark.parametrize("line", ["", "n"])
def test_answers_are_kept_only_if_wanted(write, terminal, line):
    write(TABLES["labels"])
    assert terminal(FIT, "1", line)[0] == 0
    assert not Path("pool.toml").exists()


def test_only_the_label_of_the_chosen_outcome_is_asked_for(write, terminal, truepool):
    write({**P, "first": np.where(Y, "bad", "good"), "second": LABEL})
    assert all(f"--positive {k}" in truepool(*FIT)[2] for k in ("bad", "yes"))
    code, _, shown = terminal(FIT, "second", "yes", "n")
    assert code == 0, shown
    assert card(truepool)["labels"] == ["no", "yes"]


def test_an_answer_may_lead_to_another_question(write, terminal, truepool):
    rows = [{"case": f"q{t}", "who": n, "also": n.upper(), "p": p[t], "label": LABEL[t]}
            for t in range(T) for n, p in P.items()]  # fmt: skip
    write(rows)
    code, _, shown = terminal(FIT, "1", "n", "yes", "n")
    assert code == 0, shown
    assert card(truepool)["labels"] == ["no", "yes"]


def test_a_number_that_is_a_label_names_itself_and_not_a_choice(
    write, terminal, truepool
):
    """The labels are listed in the order of the rows, 2 first."""
    write({**P, "grade": np.where(np.arange(T) % 3 == 0, 2, 1)})
    assert terminal(FIT, "1", "n")[0] == 0
    assert card(truepool)["labels"] == [2, 1]
    _, _, shown = terminal(FIT, "2", "n")
    assert card(truepool)["labels"] == [1, 2]
    assert "1: " not in shown


def test_two_units_are_two_answers_to_one_key(write, terminal, truepool):
    write({**UNITS, "y": Y})
    assert terminal(FIT, "3", "5", "y")[0] == 0
    assert card(truepool)["agents"] == ["rf", "gbm"]
    assert tomllib.loads(Path("pool.toml").read_text())["ignore"] == ["vendor", "stars"]


def test_what_a_file_has_already_is_not_written_twice(write, terminal, truepool):
    write({**UNITS, "note": 1, "y": Y})
    text = "ignore = ['stars']\n"
    Path("pool.toml").write_text(text)
    code, _, shown = terminal(FIT, "3", "y")
    assert code == 0, shown
    assert 'ignore = ["vendor"]' in shown
    assert Path("pool.toml").read_text() == text


def test_init_writes_the_answers_itself(write, terminal):
    write({**UNITS, "label": LABEL})
    code, out, shown = terminal(("init", "t.csv"), "1", "4", "1-10", "yes")
    assert code == 0, shown
    assert "Keep" not in shown
    assert "To fill in" not in out
    found = tomllib.loads(Path("pool.toml").read_text())
    assert found["positive"] == "yes"
    assert (found["percent"], found["scores"]) == (["vendor"], {"stars": "1-10"})


def test_who_stops_or_is_quiet_is_asked_nothing_more(write, terminal):
    write(TABLES["labels"])
    code, _, shown = terminal(FIT, "\x04")
    assert (code, "error: stopped" in shown) == (2, True)
    code, _, shown = terminal((*FIT, "--quiet"))
    assert (code, "> " in shown, "--positive yes" in shown) == (2, False, True)
