"""Reports, decisions and outcomes: what is stored, what is refused, what is learned."""

import re

import numpy as np
import pytest
from server.service import FRAUD, Local

import truepool as tp
from truepool.core.errors import (
    AgentError,
    OutcomeError,
    ReportError,
    RequestError,
    SettingError,
)


@pytest.fixture(params=["sqlite", "postgres"])
def fraud(request, tmp_path):
    if request.param == "sqlite":
        place = tmp_path / "ledger.db"
    else:
        place = request.getfixturevalue("postgres").database()
    with Local(place) as local:
        yield local


def refused(code, act, *words):
    with pytest.raises(RequestError) as caught:
        act(*words)
    assert caught.value.code == code
    return str(caught.value)


def test_a_case_goes_from_reports_to_a_decision_to_an_outcome(fraud):
    assert fraud.report("fraud", [("c1", "ada", 0.2), ("c1", "bob", 0.4)]) == {
        "stored": 2,
        "repeated": 0,
    }
    answer = fraud.decide("fraud", "c1", None)
    assert answer["probability"] == pytest.approx(0.3)
    assert answer["decision"] == "fraud"  # 0.3 > 1/11
    assert answer["threshold"] == pytest.approx(1 / 11)
    assert answer["reported"] == ["ada", "bob"]
    assert answer["weights"] == {"ada": 0.5, "bob": 0.5}
    assert answer["contributions"]["ada"] == pytest.approx([0.3 - 0.4])
    assert fraud.settle("fraud", [("c1", "fraud")]) == {"settled": 1, "repeated": 0}
    known = fraud.case("fraud", "c1")
    assert known["reports"] == {"ada": 0.2, "bob": 0.4}
    assert known["outcome"] == "fraud"


def test_the_weights_are_those_of_a_stream_with_the_same_cases(fraud):
    fraud.fill(40, np.random.default_rng(0))
    stream = tp.Stream("gradient", ("ada", "bob", "cyd"), costs=tp.Costs(fn=10, fp=1))
    for i in range(40):
        known = fraud.case("fraud", f"case {i}")
        stream.learn_one(known["reports"], int(known["outcome"] == "fraud"))
    assert fraud.describe("fraud")["weights"] == stream.weights


def test_what_is_sent_again_changes_nothing(fraud):
    reports = [("c1", "ada", 0.2), ("c1", "bob", 0.4)]
    fraud.report("fraud", reports)
    assert fraud.report("fraud", reports) == {"stored": 0, "repeated": 2}
    first = fraud.decide("fraud", "c1", None)
    assert fraud.decide("fraud", "c1", None) == first
    fraud.settle("fraud", [("c1", "ok")])
    weights = fraud.describe("fraud")["weights"]
    assert fraud.settle("fraud", [("c1", "ok")]) == {"settled": 0, "repeated": 1}
    assert fraud.describe("fraud")["weights"] == weights
    assert fraud.create(FRAUD)["name"] == "fraud"


def test_the_same_key_with_another_value_is_a_conflict(fraud):
    fraud.report("fraud", [("c1", "ada", 0.2)])
    sentence = refused("conflict", fraud.report, "fraud", [("c1", "ada", 0.3)])
    assert (
        "'ada' has reported 0.2 on case 'c1'; got 0.3. A report cannot be changed. To "
        "correct it, erase the case (DELETE, as admin) and send all of it again."
    ) in sentence
    fraud.decide("fraud", "c1", None)
    assert "came too late" in refused(
        "conflict", fraud.report, "fraud", [("c1", "bob", 0.3)]
    )
    fraud.settle("fraud", [("c1", "ok")])
    assert "settled as 'ok'" in refused(
        "conflict", fraud.settle, "fraud", [("c1", "fraud")]
    )
    refused("conflict", fraud.create, FRAUD | {"agents": ["ada", "bob"]})


def test_a_batch_is_stored_whole_or_not_at_all(fraud):
    fraud.report("fraud", [("c1", "ada", 0.2)])
    batch = [("c2", "ada", 0.1), ("c1", "ada", 0.9)]
    refused("conflict", fraud.report, "fraud", batch)
    refused("unknown", fraud.case, "fraud", "c2")
    twice = [("c3", "ada", 0.1), ("c3", "ada", 0.2)]
    refused("conflict", fraud.report, "fraud", twice)
    refused("unknown", fraud.case, "fraud", "c3")
    same = [("c4", "ada", 0.1), ("c4", "ada", 0.1)]
    assert fraud.report("fraud", same) == {"stored": 1, "repeated": 1}


def test_outcomes_of_a_batch_are_learned_all_or_none(fraud):
    for case in ("c1", "c2"):
        fraud.report("fraud", [(case, "ada", 0.2), (case, "bob", 0.7)])
        fraud.decide("fraud", case, None)
    before = fraud.describe("fraud")["weights"]
    refused("unknown", fraud.settle, "fraud", [("c1", "ok"), ("c9", "ok")])
    refused("conflict", fraud.settle, "fraud", [("c1", "ok"), ("c1", "fraud")])
    assert fraud.describe("fraud")["weights"] == before
    assert fraud.settle("fraud", [("c1", "ok"), ("c2", "ok"), ("c1", "ok")]) == {
        "settled": 2,
        "repeated": 1,
    }


def test_an_outcome_is_corrected_by_erasing_its_case(fraud):
    """The cure of the message works; nothing is unlearned."""
    reports = [("c1", "ada", 0.9), ("c1", "bob", 0.2)]
    fraud.report("fraud", reports)
    fraud.decide("fraud", "c1", None)
    fraud.settle("fraud", [("c1", "ok")])
    sentence = refused("conflict", fraud.settle, "fraud", [("c1", "fraud")])
    assert "To correct it, erase the case (DELETE, as admin)" in sentence
    learned = fraud.describe("fraud")["weights"]
    fraud.erase("fraud", "c1")
    assert fraud.describe("fraud")["weights"] == learned
    fraud.report("fraud", reports)
    assert fraud.decide("fraud", "c1", None)["weights"] == {
        agent: pytest.approx(learned[agent] / (learned["ada"] + learned["bob"]))
        for agent in ("ada", "bob")
    }
    fraud.settle("fraud", [("c1", "fraud")])
    assert fraud.case("fraud", "c1")["outcome"] == "fraud"
    assert fraud.describe("fraud")["weights"]["ada"] > learned["ada"]


@pytest.mark.parametrize(
    ("report", "error", "sentence"),
    [
        (("c1", "eve", 0.5), AgentError, "no agent is called 'eve'"),
        (("c1", "ada", 1.5), ReportError, r"must lie in \[0, 1\]"),
        (
            ("c1", "ada", float("nan")),
            SettingError,
            "nan on case 'c1'. Leave out a report",
        ),
        (("c1", "ada", "0.5"), SettingError, "must be a probability"),
        (("c1", "ada", True), SettingError, "must be a probability"),
        (("c1", "ada", []), SettingError, "must be a probability"),
        (("c1", "ada", [0.2, 0.2]), ReportError, "sum to 1"),
        (("", "ada", 0.5), SettingError, "1 to 200 characters"),
        (("a\nb", "ada", 0.5), SettingError, "printable"),
    ],
)
def test_a_report_that_is_none_is_refused(fraud, report, error, sentence):
    with pytest.raises(error, match=sentence):
        fraud.report("fraud", [report])


def test_a_percentage_is_named_with_its_case_and_the_cure(fraud):
    sentence = "'ada' has 40 on case '4711'. If it is a percentage, write 0.4."
    with pytest.raises(ReportError, match=re.escape(sentence)):
        fraud.report("fraud", [("4711", "ada", 40)])
    with pytest.raises(ReportError, match="'ada' has -3 on case '4711'$"):
        fraud.report("fraud", [("4711", "ada", -3)])


def test_what_is_not_there_is_unknown(fraud):
    refused("unknown", fraud.decide, "fraud", "c1", None)
    refused("unknown", fraud.settle, "fraud", [("c1", "ok")])
    refused("unknown", fraud.case, "fraud", "c1")
    refused("unknown", fraud.erase, "fraud", "c1")
    assert "known: fraud" in refused("unknown", fraud.describe, "frad")
    with pytest.raises(OutcomeError, match="'ok' or 'fraud'; case 'c1' has 'maybe'"):
        fraud.settle("fraud", [("c1", "maybe")])


def test_costs_by_case_need_their_column(tmp_path):
    pool = FRAUD | {"costs": {"fn": "amount", "fp": 5}}
    with Local(tmp_path / "l.db", pool) as local:
        local.report("fraud", [("c1", "ada", 0.1), ("c2", "ada", 0.1)])
        with pytest.raises(SettingError, match="depend on 'amount'"):
            local.decide("fraud", "c1", None)
        with pytest.raises(SettingError, match="must be numbers"):
            local.decide("fraud", "c1", {"amount": "much"})
        assert local.decide("fraud", "c1", {"amount": 100.0})["decision"] == "fraud"
        low = local.decide("fraud", "c2", {"amount": 10.0})
        assert (low["decision"], low["threshold"]) == ("ok", pytest.approx(1 / 3))


def test_a_threshold_of_its_own_decides(tmp_path):
    with Local(tmp_path / "l.db", FRAUD | {"threshold": 0.5}) as local:
        local.report("fraud", [("c1", "ada", 0.4)])
        answer = local.decide("fraud", "c1", None)
        assert (answer["decision"], answer["threshold"]) == ("ok", 0.5)


def test_nothing_to_store_is_nothing_stored(fraud):
    assert fraud.report("fraud", []) == {"stored": 0, "repeated": 0}
    assert fraud.settle("fraud", []) == {"settled": 0, "repeated": 0}


def test_three_classes_have_names(tmp_path):
    pool = {"name": "triage", "agents": ["a", "b"], "labels": ["low", "mid", "high"]}
    with Local(tmp_path / "l.db", pool) as local:
        local.report(
            "triage", [("c", "a", [0.2, 0.3, 0.5]), ("c", "b", [0.1, 0.2, 0.7])]
        )
        answer = local.decide("triage", "c", None)
        assert answer["probabilities"] == pytest.approx(
            {"low": 0.15, "mid": 0.25, "high": 0.6}
        )
        assert (answer["decision"], answer["probability"]) == ("high", None)
        local.settle("triage", [("c", "mid")])
        weights = local.describe("triage")["weights"]
        assert weights["a"] > weights["b"]


def test_agents_join_and_leave(fraud):
    fraud.report("fraud", [("c1", "ada", 0.2), ("c1", "cyd", 0.9)])
    joined = fraud.change("fraud", "join", {"agent": "dan"})
    assert joined["weights"]["dan"] == pytest.approx(0.25)
    fraud.report("fraud", [("c1", "dan", 0.4)])
    fraud.change("fraud", "leave", {"agent": "cyd"})
    assert fraud.decide("fraud", "c1", None)["reported"] == ["ada", "dan"]
    with pytest.raises(AgentError):
        fraud.report("fraud", [("c2", "cyd", 0.4)])
    with pytest.raises(SettingError, match="take a new name"):
        fraud.change("fraud", "join", {"agent": "cyd"})
    with pytest.raises(AgentError):
        fraud.change("fraud", "leave", {"agent": "eve"})


def test_a_challenger_runs_in_the_shadow_until_it_is_promoted(fraud):
    rng = np.random.default_rng(1)
    fraud.report("fraud", [("old", "ada", 0.2), ("old", "bob", 0.4)])
    fraud.decide("fraud", "old", None)
    fraud.change("fraud", "challenge", {"name": "fast", "rule": {"learner": "hedge"}})
    fraud.fill(30, rng)
    (found,) = fraud.evidence("fraud", 1000)
    assert (found["champion"], found["challenger"], found["cases"]) == (
        "first",
        "fast",
        30,
    )
    low, high = found["interval"]
    assert low <= found["saved_per_case"] <= high
    fraud.settle("fraud", [("old", "ok")])  # decided before the challenger was there
    found = fraud.change("fraud", "promote", {"name": "fast"})
    assert (found["rule"], found["learner"]) == ("fast", "hedge")
    again = fraud.change("fraud", "promote", {"name": "fast"})
    assert again["entries"] == found["entries"]  # it decides already
    found = fraud.change("fraud", "promote", {"name": "first"})
    assert (found["rule"], found["learner"]) == ("first", "gradient")
    assert found["entries"] == again["entries"] + 1
    with pytest.raises(SettingError, match="decides; promote another"):
        fraud.change("fraud", "withdraw", {"name": "first"})
    assert fraud.change("fraud", "withdraw", {"name": "fast"})["challengers"] == []
    with pytest.raises(SettingError, match="no rule is called 'fast'"):
        fraud.change("fraud", "promote", {"name": "fast"})


def test_the_promotion_of_a_rule_without_outcomes_is_warned_of(fraud):
    rng = np.random.default_rng(1)
    hedge = {"learner": "hedge"}
    fraud.report("fraud", [("old", "ada", 0.2), ("old", "bob", 0.4)])
    fraud.decide("fraud", "old", None)
    fraud.change("fraud", "challenge", {"name": "fast", "rule": hedge})
    fraud.settle("fraud", [("old", "ok")])  # decided before the challenger was there
    found = fraud.change("fraud", "promote", {"name": "fast"})
    assert found["warning"] == (
        "rule 'fast' has decided no case with a known outcome; to go back, promote "
        "'first'"
    )
    assert "warning" not in fraud.change("fraud", "promote", {"name": "first"})
    fraud.fill(2, rng)
    assert "warning" not in fraud.change("fraud", "promote", {"name": "fast"})


def test_the_name_of_a_withdrawn_rule_is_not_used_again(tmp_path):
    """A new rule would be asked to learn from cases that the old one decided."""
    fast = {"name": "fast", "rule": {"learner": "hedge"}}
    with Local(tmp_path / "ledger.db") as fraud:
        fraud.change("fraud", "challenge", fast)
        fraud.report("fraud", [("x", "ada", 0.2), ("x", "bob", 0.4)])
        fraud.decide("fraud", "x", None)
        fraud.change("fraud", "withdraw", {"name": "fast"})
        fraud.report("fraud", [("y", "ada", 0.2)])
        fraud.erase("fraud", "y")  # a snapshot remembers it too
    with Local(tmp_path / "ledger.db", None) as fraud:
        with pytest.raises(SettingError, match="'fast' was withdrawn.*take a new name"):
            fraud.change("fraud", "challenge", fast)
        fraud.change("fraud", "challenge", fast | {"name": "faster"})
        assert fraud.settle("fraud", [("x", "ok")]) == {"settled": 1, "repeated": 0}


def test_evidence_counts_the_costs_of_both(tmp_path):
    """ada is right and bob is wrong: the learner of equal weights pays for bob."""
    pool = FRAUD | {"agents": ["ada", "bob"], "costs": {"fn": 1, "fp": 1}}
    with Local(tmp_path / "l.db", pool | {"learner": "static"}) as local:
        rule = {"learner": "hedge", "settings": {"rate": 5.0}}
        local.change("fraud", "challenge", {"name": "fast", "rule": rule})
        for i in range(10):
            local.report("fraud", [(f"c{i}", "ada", 0.1), (f"c{i}", "bob", 0.95)])
            local.decide("fraud", f"c{i}", None)
            local.settle("fraud", [(f"c{i}", "ok")])
        (found,) = local.evidence("fraud", 100)
        assert found["cost"]["first"] == 1.0
        assert found["saved_per_case"] == pytest.approx(1 - found["cost"]["fast"])
        assert found["saved_per_case"] > 0.5


def test_the_export_is_a_table_that_the_audit_reads(fraud, tmp_path):
    fraud.fill(30, np.random.default_rng(2))
    history = fraud.settled("fraud", 20)
    path = tmp_path / "panel.parquet"
    path.write_bytes(history.to_parquet())
    panel = tp.read_panel(path, outcome="outcome", positive="fraud")
    assert panel.agents == ("ada", "bob", "cyd")
    assert len(panel.outcomes) == 20
    np.testing.assert_array_equal(panel.reports, history.panel().reports)
    known = fraud.case("fraud", "case 29")["reports"]
    assert panel.reports[-1].tolist() == list(known.values())
