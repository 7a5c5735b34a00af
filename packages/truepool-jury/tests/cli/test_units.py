"""Verdicts that are scores or percentages."""

import json

import numpy as np
import pandas as pd
import pytest

T = 60
RNG = np.random.default_rng(0)
SCORES = pd.DataFrame(RNG.integers(1, 6, (T, 3)), columns=["ann", "bob", "cy"])
PASSED = (SCORES.sum(axis=1) > 8).astype(int).where(np.arange(T) % 2 == 0)


@pytest.fixture
def jury(truepool, tmp_path, monkeypatch):
    """Analyse a frame; what was found, as JSON, or what was refused."""
    monkeypatch.chdir(tmp_path)

    def run(frame, *keys):
        frame.to_csv("t.csv", index=False)
        words = [word for key in keys for word in ("--set", key)]
        code, out, err = truepool("jury", "t.csv", *words, "--json", "-")
        return json.loads(out) if code == 0 else err

    return run


def test_scores_count_in_equal_steps_until_labels_say_what_they_are_worth(jury):
    bare = jury(SCORES, "scores=1-5")
    assert bare == jury((SCORES - 1) / 4)
    assert bare["score_scale"] == []
    rated = jury(SCORES.assign(y=PASSED), "scores=1-5")
    assert [step["score"] for step in rated["score_scale"]] == [1, 2, 3, 4, 5]
    assert "--set scores=1-5" in jury(SCORES)


def test_scores_of_a_shared_range_may_fall(jury):
    up = jury(SCORES.assign(y=PASSED), "scores=1-5")
    down = jury((6 - SCORES).assign(y=PASSED), "scores=5-1")
    assert [step["score"] for step in down["score_scale"]] == [5, 4, 3, 2, 1]
    assert [step["probability"] for step in down["score_scale"]] == pytest.approx(
        [step["probability"] for step in up["score_scale"]]
    )
    assert down["judges"] == up["judges"]


@pytest.mark.parametrize("chosen", [(), ("ignore=bob",), ("agents=ann,cy",)])
def test_judges_may_have_ranges_of_their_own(jury, chosen):
    shares = ((SCORES - 1) / 4).assign(y=PASSED)
    mixed = shares.assign(bob=100 - 100 * shares.bob, cy=SCORES.cy)
    found = jury(mixed, "scores.bob=100-0", "scores.cy=1-5", *chosen)
    assert found == jury(shares, *chosen)
    assert found["score_scale"] == []


@pytest.mark.parametrize(
    ("key", "code"),
    [("scores=2-5", "ann"), ("scores.ann=2-5", "ann"), ("scores=1-5 stars", "range")],
)
def test_scores_outside_their_range_are_refused(jury, key, code):
    assert code in jury(SCORES, key)


def test_some_judges_may_report_percentages(jury):
    shares = pd.DataFrame(RNG.random((T, 3)).round(3), columns=["ann", "bob", "cy"])
    shares["y"] = PASSED
    mixed = shares.assign(cy=100 * shares.cy)
    error = jury(mixed)
    assert "--set scores.cy=0-100" in error
    found = jury(mixed, "percent=cy")
    briers = [
        [judge["brier"] for judge in one["judges"]] for one in (found, jury(shares))
    ]
    assert briers[0] == pytest.approx(briers[1])


def test_every_run_of_a_judge_in_percent_is_in_percent(jury):
    p = RNG.random((T, 3)).round(2)
    rows = [(t, judge, value) for t in range(T) for judge, value in
            (("gpt", 100 * p[t, 0]), ("gpt", 100 * p[t, 1]), ("bob", p[t, 2]))]  # fmt: skip
    table = pd.DataFrame(rows, columns=["item", "judge", "verdict"])
    assert jury(table, "percent=gpt") == jury(table, "percent=gpt,gpt (run 2)")


def test_probabilities_and_scores_are_not_taken_for_percentages(jury):
    shares = (SCORES - 1) / 4
    assert "--set scores" in jury(SCORES, "percent=true")
    assert jury(shares, "percent=true").startswith("error: ")
    long = (
        shares.rename_axis("item").reset_index().melt("item", None, "judge", "verdict")
    )
    assert jury(long, "percent=true").startswith("error: ")
