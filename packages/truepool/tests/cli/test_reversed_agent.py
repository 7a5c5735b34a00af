"""One agent that reports the opposite, on the command line."""

import json
import re
import shlex

import pandas as pd
import pytest
from faults import sound
from simulated_faults import label_flip


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(panel, name):
        table = pd.DataFrame(panel.reports, columns=panel.agents)
        table.assign(y=panel.outcomes).to_csv(name, index=False)
        table.head(20).to_csv("new.csv", index=False)

    return write


VERBS = {
    "fit": ("fit", "t.csv", "--pool", "vcg", "-o", "a.pool"),
    "compare": ("compare", "t.csv", "--pool", "vcg"),
    "pool": ("pool", "t.csv", "new.csv", "--pool", "vcg", "-o", "out.csv"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("flipped", [["agent1"], ["agent1", "agent3"]])
def test_who_reports_the_opposite_is_named_with_a_cure_that_works(
    verb, flipped, write, truepool
):
    panel = sound(cases=1500)
    for agent in flipped:
        panel = label_flip(panel, agent)
    write(panel, "t.csv")
    code, _, err = truepool(*VERBS[verb])
    (warning,) = (line for line in err.splitlines() if "the opposite" in line)
    assert code == 0
    assert warning.startswith("warning: ")
    assert all(f"{agent} (AUC 0." in warning for agent in flipped)
    (cure,) = re.findall(r"\((--ignore .+?)\)", warning)
    code, _, err = truepool(*VERBS[verb], *shlex.split(cure))
    assert (code, "the opposite" in err) == (0, False)


def test_sound_agents_and_wrong_labels_have_no_such_warning(write, truepool):
    panel = sound(cases=1500)
    write(panel, "t.csv")
    assert "the opposite" not in truepool(*VERBS["fit"])[2]
    for agent in panel.agents:
        panel = label_flip(panel, agent)
    write(panel, "t.csv")
    err = truepool(*VERBS["fit"])[2]
    assert ("wrong way round" in err, "the opposite" in err) == (True, False)


@pytest.mark.parametrize(
    ("in_percent", "percent"),
    [
        ([], None),
        (["agent0", "agent1"], "agent0"),
        (["agent0", "agent1", "agent2"], "agent0,agent2"),
    ],
    ids=["probabilities", "some in percent", "all in percent"],
)
def test_the_audit_names_the_key_that_reverses_an_agent(
    in_percent, percent, write, truepool
):
    panel = label_flip(sound(cases=800), "agent1")
    write(panel.select_agents(["agent0", "agent1", "agent2"]), "t.csv")
    table = pd.read_csv("t.csv")
    table[in_percent] *= 100
    table.to_csv("t.csv", index=False)
    audit = ("audit", "t.csv", "--json", "-")
    declared = [f"percent={','.join(in_percent)}"] if in_percent else []
    code, out, err = truepool(*audit, *(w for d in declared for w in ("--set", d)))
    assert code == 0, err
    step = json.loads(out)["plan"]["steps"][0]
    assert (step["action"], step["agents"]) == ("reverse", ["agent1"])
    spans = ("1-0", "100-0")
    assert all(span in step["text"] + str(step) for span in spans)
    cure = ["--set", f"scores.agent1={spans['agent1' in in_percent]}"]
    rest = [] if percent is None else ["--set", f"percent={percent}"]
    code, out, err = truepool(*audit, *cure, *rest)
    assert code == 0, err
    assert "reversed" not in {each["code"] for each in json.loads(out)["findings"]}
