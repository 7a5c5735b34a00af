"""--percent for a jury: all judges, some of them, or none."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

T = 120
RNG = np.random.default_rng(11)
Y = (RNG.uniform(size=T) < 0.4).astype(int)
AGENTS = ["rf", "gbm", "mlp", "vendor_a"]
SHARES = {name: np.clip(0.2 + 0.5 * Y + RNG.normal(0, 0.2, T), 0.02, 0.99).round(3)
          for name in AGENTS}  # fmt: skip


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(truepool, *words):
    code, out, err = truepool(*words)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    return err


def test_some_judges_may_report_percentages(truepool):
    table = pd.DataFrame(
        {"id": np.arange(T), "ann": SHARES["rf"], "bob": SHARES["gbm"]}
    )
    words = ["--outcome", "passed", "--json"]
    table.assign(cyd=SHARES["mlp"], passed=Y).to_csv("one.csv", index=False)
    table.assign(cyd=100 * SHARES["mlp"], passed=Y).to_csv("two.csv", index=False)
    code, one, err = truepool("jury", "one.csv", *words)
    assert code == 0, err
    err = refused(truepool, "jury", "two.csv", *words)
    assert "Only 'cyd' is in percent: divide it by 100 (--percent=cyd)." in err
    code, two, err = truepool("jury", "two.csv", *words, "--percent=cyd")
    assert code == 0, err
    first, second = (
        {judge["name"]: judge["brier"] for judge in json.loads(out)["judges"]}
        for out in (one, two)
    )
    assert first == pytest.approx(second)


def test_verdicts_without_labels_are_not_taken_for_percentages(truepool):
    table = pd.DataFrame({"id": np.arange(T)} | {n: SHARES[n] for n in AGENTS[:3]})
    table.to_csv("wide.csv", index=False)
    long = table.melt("id", var_name="judge", value_name="verdict")
    long.to_csv("long.csv", index=False)
    layout = ["--long", "id", "judge", "verdict"]
    for words in (["wide.csv"], ["long.csv", *layout]):
        assert truepool("jury", *words)[0] == 0
        err = refused(truepool, "jury", *words, "--percent")
        assert "with --percent some verdict must be above 1" in err


def test_every_run_of_a_judge_in_percent_is_in_percent(truepool):
    rows = [
        {"item": t, "judge": judge, "verdict": scale * SHARES[column][t], "passed": Y[t]}
        for t in range(T)
        for judge, column, scale in (
            ("agent", "rf", 100), ("agent", "gbm", 100), ("bob", "mlp", 1),
            ("cyd", "vendor_a", 1),
        )
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv("long.csv", index=False)
    words = ["long.csv", "--long", "item", "judge", "verdict", "--outcome", "passed"]
    cure = "--percent='agent,agent (run 2)'"
    assert refused(truepool, "jury", *words).endswith(f"divide them by 100 ({cure}).\n")
    found = []
    for option in ("--percent=agent", *shlex.split(cure)):
        code, out, err = truepool("jury", *words, option, "--json")
        assert code == 0, err
        found.append(json.loads(out)["judges"])
    assert found[0] == found[1]


def test_a_jury_does_not_take_scores_for_percentages(truepool):
    scores = {name: RNG.integers(1, 6, 40) for name in ("gpt", "claude")}
    pd.DataFrame(scores).assign(y=Y[:40]).to_csv("t.csv", index=False)
    code, _, err = truepool("jury", "t.csv", "--percent")
    assert code == 2
    assert "with --percent verdicts are percentages; all numbers of 'gpt'" in err
    assert "pass --scores 1-5 instead" in err
    assert truepool("jury", "t.csv", "--scores", "1-5")[0] == 0
