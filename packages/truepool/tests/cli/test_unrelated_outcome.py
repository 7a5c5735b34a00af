"""The wrong outcome column on the command line."""

import numpy as np
import pandas as pd
from faults import sound


def test_compare_and_fit_ask_for_the_right_outcome_first(
    tmp_path, monkeypatch, truepool
):
    monkeypatch.chdir(tmp_path)
    panel = sound(cases=1500)
    labels = np.where(np.random.default_rng(5).random(1500) < 0.5, "M", "F")
    table = pd.DataFrame(panel.reports, columns=panel.agents).assign(sex=labels)
    table.to_csv("t.csv", index=False)
    which = ("t.csv", "--positive", "M", "--pool", "vcg")
    code, out, err = truepool("compare", *which)
    assert (code, out.splitlines()[0][:24]) == (0, "No agent tells M from F:")
    assert "No agent tells" not in err
    code, _, err = truepool("fit", *which, "-o", "a.pool")
    assert (code, err.splitlines()[0][:33]) == (0, "warning: No agent tells M from F:")
