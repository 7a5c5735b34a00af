"""One agent that reports the opposite, on the command line."""

import json
import shlex

import pandas as pd
import pytest
from faults import sound
from simulated_faults import label_flip

WARNING = (
    "warning: agent1 (AUC 0.{} on 1,500 cases) reports the opposite of what happens: the "
    "higher the report, the less likely the event. Have its feed fixed, or leave it out "
    "(--ignore agent1); truepool audit says what that costs or saves."
)


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(panel, name):
        table = pd.DataFrame(panel.reports, columns=panel.agents)
        table.assign(y=panel.outcomes).to_csv(name, index=False)
        table.head(20).to_csv("new.csv", index=False)

    return write


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "t.csv", "--pool", "vcg", "-o", "a.pool"),
        ("compare", "t.csv", "--pool", "vcg"),
        ("pool", "t.csv", "new.csv", "--pool", "vcg", "-o", "out.csv"),
    ],
    ids=lambda words: words[0],
)
def test_who_reports_the_opposite_is_named_with_the_cases_and_the_cure(
    words, write, truepool
):
    write(label_flip(sound(cases=1500), "agent1"), "t.csv")
    code, out, err = truepool(*words, "--outcome", "y")
    said = " ".join((out + err).split())
    before, _, after = WARNING.partition("{}")
    assert code == 0
    assert before in said
    assert after in said
    code, out, err = truepool(*words, "--outcome", "y", "--ignore", "agent1")
    assert code == 0
    assert "the opposite" not in out + err


def test_sound_agents_and_wrong_labels_have_no_such_warning(write, truepool):
    panel = sound(cases=1500)
    write(panel, "t.csv")
    fit = ("fit", "t.csv", "--pool", "vcg", "-o", "a.pool", "--outcome", "y")
    _, out, err = truepool(*fit)
    assert "the opposite" not in out + err
    for agent in panel.agents:
        panel = label_flip(panel, agent)
    write(panel, "t.csv")
    _, out, err = truepool(*fit)
    assert "wrong way round" in out + err
    assert "the opposite" not in out + err


def test_several_are_named_in_one_sentence(write, truepool):
    panel = label_flip(label_flip(sound(cases=1500), "agent1"), "agent3")
    write(panel, "t.csv")
    fit = ("fit", "t.csv", "--pool", "vcg", "-o", "a.pool", "--outcome", "y")
    _, out, err = truepool(*fit)
    said = " ".join((out + err).split())
    assert "on 1,500 cases) report the opposite of what happens" in said
    assert "Have their feeds fixed, or leave them out (--ignore agent1 --ignore" in said


@pytest.mark.parametrize(
    ("in_percent", "before", "after"),
    [
        ([], [], []),
        (["agent0", "agent1"], ["--percent=agent0,agent1"], ["--percent=agent0"]),
        (["agent0", "agent1", "agent2"], ["--percent"], ["--percent=agent0,agent2"]),
    ],
    ids=["probabilities", "some in percent", "all in percent"],
)
def test_the_audit_names_the_option_that_reverses_an_agent(
    in_percent, before, after, write, truepool
):
    panel = label_flip(sound(cases=800), "agent1")
    write(panel.select_agents(["agent0", "agent1", "agent2"]), "t.csv")
    table = pd.read_csv("t.csv")
    table[in_percent] *= 100
    table.to_csv("t.csv", index=False)
    audit = ("audit", "t.csv", "--outcome", "y", "--json")
    code, out, _ = truepool(*audit, *before)
    assert code == 0
    (finding,) = (
        one for one in json.loads(out)["findings"] if one["code"] == "reversed"
    )
    named = [shlex.split(text) for text in finding["advice"].split("`")[1::2]]
    assert named == [["--scores", "agent1=1-0"], ["--scores", "agent1=100-0"]]
    assert "name the others that do (--percent=NAMES)" in finding["advice"]
    code, out, err = truepool(*audit, *named["agent1" in in_percent], *after)
    assert code == 0
    assert all(one["code"] != "reversed" for one in json.loads(out)["findings"])
    if not in_percent:
        assert "A report s of agent1 counts as 1 - s.\n" in err
