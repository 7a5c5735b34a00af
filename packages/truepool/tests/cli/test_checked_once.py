"""One table on its way through ``truepool pool``: checked once, pooled once."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import truepool

SOURCE = str(Path(truepool.__file__).parent)


@pytest.fixture
def tables(tmp_path):
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 300)
    reports = np.clip(
        0.2 + 0.6 * outcomes[:, None] + rng.normal(0, 0.2, (300, 3)), 0, 1
    )
    rows = [f"{t},{a:.3f},{b:.3f},{c:.3f}" for t, (a, b, c) in enumerate(reports)]
    train, new = tmp_path / "train.csv", tmp_path / "new.csv"
    settled = [f"{row},{y}" for row, y in zip(rows, outcomes, strict=True)]
    train.write_text("\n".join(["id,ada,bob,cyd,y", *settled]))
    new.write_text("\n".join(["id,ada,bob,cyd", *rows[:50]]))
    return train, new, tmp_path / "out.csv"


@pytest.fixture
def passed(truepool, tables):
    """Run ``truepool pool`` and note every function of truepool that is called."""

    def run(*words):
        train, new, out = tables
        command = ("pool", train, new, "-o", out, *words)
        truepool(*command)  # imports and compiles
        calls = []

        def note(frame, event, _):
            place = frame.f_code.co_filename
            if event == "call" and place.startswith(SOURCE):
                calls.append((place[len(SOURCE) + 1 :], frame.f_code.co_name))

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            code, _, _ = truepool(*command)
        finally:
            sys.setprofile(before)
        assert code == 0
        return calls

    return run


@pytest.mark.parametrize("words", [(), ("--json", "-")], ids=["table", "json"])
@pytest.mark.parametrize(("pool", "checks"), [("vcg", 1), ("median", 2)])
def test_each_table_is_read_and_checked_once_and_the_new_one_is_pooled_once(
    passed, pool, checks, words
):
    """A kernel checks reports while it pools them linearly."""
    calls = Counter(passed("--pool", pool, *words))
    assert calls["tables/decode.py", "block"] == 2  # TRAIN and NEW
    assert calls["panel/reports.py", "check_reports"] == checks
    assert calls["pools/interface/pool.py", "fit_panel"] == 1
    assert calls["scoring/scorer.py", "pool_batch"] == 1
    assert calls["pools/interface/pool.py", "combine"] <= 1
