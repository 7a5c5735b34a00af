"""The command that init prints for tables of judges leads to a jury."""

import numpy as np
import pandas as pd
import pytest

T = 90
RNG = np.random.default_rng(3)
Y = (np.arange(T) % 3 == 0).astype(int)
LABEL = np.where(Y, "yes", "no")
P = {n: np.clip(0.25 + 0.5 * Y + RNG.normal(0, 0.15, T), 0.01, 0.99).round(3)
     for n in ("Alpha", "Beta 2", "Gamma")}  # fmt: skip


def judges(values):
    return {name: values(p) for name, p in P.items()}


def test_words_that_columns_share_lead_to_a_jury(follow):
    verdicts = judges(lambda p: np.where(p > 0.5, "pass", "fail"))
    human = np.where(Y, "pass", "fail").astype(object)
    human[::2] = None
    out, shown, _ = follow(verdicts | {"human": human}, "pass")
    assert "Next: truepool jury t.csv" in out
    assert "--percent" not in out
    assert [judge["name"] for judge in shown["judges"]] == [*P]


def test_a_word_for_no_verdict_hides_no_jury_and_is_asked_about(follow):
    verdicts = judges(lambda p: np.where(p > 0.5, "pass", "fail").astype(object))
    for column in [*verdicts.values()][:2]:
        column[[3, 8]] = "unclear"
    human = np.where(Y, "pass", "fail").astype(object)
    human[::2] = None
    human[1] = "unclear"
    out, shown, _ = follow(verdicts | {"human": human}, "pass")
    assert (
        "does 'unclear' mean no verdict (4 cells) and no outcome (1 row of 'human')? "
        "Then pass --missing unclear;"
    ) in out
    assert [judge["name"] for judge in shown["judges"]] == [*P]


@pytest.mark.parametrize(
    ("top", "scale"), [(10, "1-10"), (5, "1-5")], ids=["to ten", "to five"]
)
def test_scores_lead_to_a_jury_and_never_to_percentages(follow, top, scale):
    scores = judges(lambda p: (1 + (top - 1) * p).round(0).astype(int))
    out, shown, _ = follow(scores | {"human": LABEL})
    low, high = scale.split("-")
    assert f"To fill in: are these scores of judges, from {low} to {high}?\n" in out
    assert f"truepool jury t.csv --config pool.toml --scores {scale} " in out
    assert "--percent" not in out
    assert "%" not in out
    assert [judge["name"] for judge in shown["judges"]] == [*P]


def test_a_long_table_of_scores_leads_to_a_jury(follow):
    cases = [f"Q-{t:02}" for t in range(T)]
    table = pd.concat(
        [pd.DataFrame({"question": cases, "sort": [f"s{t % 4}" for t in range(T)], "judge": name,
                       "forecast": (10 * p).round().clip(1, 10), "result": LABEL})
         for name, p in P.items()]
    )  # fmt: skip
    out, shown, _ = follow(table)
    assert "--scores 1-10" in out
    assert len(shown["judges"]) == 3


ITEMS, JUDGES = 40, ("gpt", "claude", "llama")
VERDICTS = [
    (f"q{i}", judge, "pass" if (i % 2 == 0) != (i % (5 + j) == 0) else "fail",
     "pass" if i % 2 == 0 else "fail")
    for i in range(ITEMS) for j, judge in enumerate(JUDGES)
]  # fmt: skip


def long_jury(**more):
    items, judges, verdicts, _ = zip(*VERDICTS, strict=True)
    return {"item": items, "judge": judges, "verdict": verdicts} | more


@pytest.mark.parametrize("labels", ["words", "numbers", "none"])
def test_a_long_table_of_verdicts_in_words_is_a_jury(follow, labels):
    truth = [row[3] for row in VERDICTS]
    if labels == "numbers":
        truth = [int(word == "pass") for word in truth]
    more = {} if labels == "none" else {"gold": truth}
    out, shown, _ = follow(long_jury(**more), positive="pass")
    assert "long: item, judge, verdict (one row per verdict: 40 items, 3 judges)" in out
    asked = "label are the reports probabilities of" if labels == "words" else "verdict"
    assert f"To fill in: which {asked}" in out
    assert "Next: truepool jury t.csv" in out
    assert shown["items"] == ITEMS
    assert shown["labelled"] == (0 if labels == "none" else ITEMS)


def test_a_long_table_of_stars_needs_no_labels(follow):
    stars = [5 if row[2] == "pass" else 1 + i % 3 for i, row in enumerate(VERDICTS)]
    columns = long_jury() | {"verdict": stars}
    columns["stars"] = columns.pop("verdict")
    out, shown, _ = follow(columns)
    assert "long: item, judge, stars" in out
    assert out.endswith("--scores 1-5\n")
    assert (shown["items"], shown["labelled"]) == (ITEMS, 0)


def test_a_word_for_no_verdict_in_a_long_table_is_asked_about(follow):
    columns = long_jury()
    columns["verdict"] = ["unclear", *columns["verdict"][1:]]
    out, _, _ = follow(columns, positive="pass")
    assert "does 'unclear' mean no verdict (1 cell)? Then pass --missing unclear" in out


def test_verdicts_and_labels_in_different_words_are_a_problem(truepool, tmp_path):
    gold = ["good" if row[3] == "pass" else "bad" for row in VERDICTS]
    table = tmp_path / "t.csv"
    pd.DataFrame(long_jury(gold=gold)).to_csv(table, index=False)
    code, _, err = truepool("init", table, "-o", "-")
    assert code == 0
    assert (
        "verdicts in words must be the labels of the outcome; column 'verdict' has "
        "'fail' and 'pass', column 'gold' has 'good' and 'bad'. Write the same two "
        "words in both, and run truepool init again."
    ) in err


def test_rows_that_are_told_apart_by_two_columns_are_not_always_verdicts(
    truepool, tmp_path
):
    columns = long_jury()
    columns["month"] = columns.pop("judge")
    pd.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    assert "\nlong = " not in truepool("init", tmp_path / "t.csv", "-o", "-")[1]


def test_verdicts_in_words_beside_reports_lead_to_the_jury(
    tmp_path, monkeypatch, truepool
):
    monkeypatch.chdir(tmp_path)
    votes = judges(lambda p: np.where(p > 0.5, "yes", "no"))
    words = {f"c{i}": v for i, v in enumerate(votes.values())}
    table = {**words, "bert": P["Alpha"], "llm": P["Gamma"], "outcome": LABEL}
    pd.DataFrame(table).to_csv("t.csv", index=False)
    code, out, err = truepool("init", "t.csv", "-o", "pool.toml")
    assert code == 0, err
    assert "'c0', 'c1' and 'c2' share the words 'yes' and 'no'." in out
    assert "truepool jury beside the reports, with --agents c0,c1,c2,bert,llm." in out
    given = ("--config", "pool.toml", "--agents", "c0,c1,c2,bert,llm")
    code, _, err = truepool("jury", "t.csv", *given, "--positive", "yes")
    assert code == 0, err
    assert "holds only 0 and 1" not in err
