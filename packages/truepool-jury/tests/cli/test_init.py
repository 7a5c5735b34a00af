"""A file of keys that init wrote, with its questions answered, leads to a jury."""

import json

import numpy as np
import pandas as pd
import pytest

T = 90
RNG = np.random.default_rng(3)
Y = np.arange(T) % 3 == 0
P = pd.DataFrame({n: np.clip(0.25 + 0.5 * Y + RNG.normal(0, 0.15, T), 0.01, 0.99).round(3)
                  for n in ("Alpha", "Beta 2", "Gamma")})  # fmt: skip
LABEL = np.where(Y, "yes", "no").astype(object)
LABEL[::2] = None
SCORES = (1 + 9 * P).round()
LONG = SCORES.assign(question=[f"Q-{t:02}" for t in range(T)], human=LABEL).melt(
    ["question", "human"], None, "judge", "stars"
)  # fmt: skip


@pytest.mark.parametrize(
    ("table", "answers"),
    [
        (P.assign(human=LABEL), 1),
        (SCORES.assign(human=LABEL), 2),
        (LONG, 2),
    ],
    ids=["probabilities", "scores", "long"],
)
def test_answers_in_the_file_are_all_that_a_jury_needs(
    table, answers, truepool, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    table.to_csv("t.csv", index=False)
    assert truepool("init", "t.csv")[0] == 0
    file = tmp_path / "pool.toml"
    text = file.read_text()
    for line in ('positive = "yes"', 'scores = "1-10"'):
        text = text.replace(f"# {line}", line)
    assert text.count("\n# ") >= answers
    file.write_text(text)
    code, out, err = truepool("jury", "t.csv", "--json", "-")
    assert code == 0, err
    found = json.loads(out)
    assert [judge["name"] for judge in found["judges"]] == [*P]
    assert (found["items"], found["labelled"]) == (T, T // 2)
    assert found["rate"] is not None
