"""A statement says what an agent contributed, and anybody with the entries can check it."""

import json
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from server.service import FRAUD, Local
from server.test_contributions import brute_force

import truepool as tp
from truepool.core.errors import AgentError, LedgerError
from truepool.core.formatting import percent
from truepool_serve.server import misreports, operations
from truepool_serve.server.access import ANYONE
from truepool_serve.server.entry_file import format_entries, read_entries
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.misreports import SHIFTS, shift_gains
from truepool_serve.server.records import START, digest
from truepool_serve.server.statement import (
    check_statement,
    make_statement,
    read_statement,
)

COSTS = tp.Costs(fn=10, fp=1)


def entries(place):
    with Ledger(place) as ledger:
        return list(ledger.entries(1))


def write(path, found):
    path.write_text(json.dumps(found))
    return read_statement(str(path))


@pytest.fixture
def filled(tmp_path, monkeypatch):
    """Cases that are reported on by some, settled at 0 s, 1 s and so on."""
    clock = iter(np.arange(0.0, 1e4, 0.25).tolist())
    monkeypatch.setattr(operations.time, "time", lambda: next(clock))
    rng = np.random.default_rng(8)
    place = tmp_path / "ledger.db"
    with Local(place) as local:
        for i in range(50):
            who = rng.permutation(FRAUD["agents"])[: rng.integers(1, 4)]
            local.report("fraud", [(f"c{i}", a, float(rng.beta(1, 3))) for a in who])
            local.decide("fraud", f"c{i}", None)
            if i % 7:
                outcome = str(rng.choice(["ok", "fraud"]))
                local.settle("fraud", [(f"c{i}", outcome)])
        history, expected = brute_force(local, FRAUD, COSTS)
    return place, history, expected


@pytest.mark.parametrize("agent", FRAUD["agents"])
def test_a_statement_against_brute_force(filled, agent):
    place, history, expected = filled
    found = make_statement(entries(place), agent, None, None)
    own = expected[:, history.agents.index(agent)]
    reported = [agent in case.record.reports for case in history.cases]
    lines = {line.case: line.contribution for line in found.lines}
    cases = [c.case for c, there in zip(history.cases, reported, strict=True) if there]
    assert list(lines) == cases
    np.testing.assert_allclose(list(lines.values()), own[reported], atol=1e-9)
    assert found.total[0] == pytest.approx(own.sum())
    assert found.total[1] <= found.total[0] <= found.total[2]
    assert found.per_case[0] == pytest.approx(own[reported].mean())
    assert (found.settled, found.reported) == (len(history.cases), sum(reported))
    assert found.currency == "EUR"


def test_a_period_is_of_outcomes_and_its_end_is_not_in_it(filled):
    place, _, _ = filled
    whole = make_statement(entries(place), "ada", None, None)
    middle = whole.lines[len(whole.lines) // 2].at
    before = make_statement(entries(place), "ada", None, middle)
    after = make_statement(entries(place), "ada", middle, None)
    assert [*before.lines, *after.lines] == whole.lines
    assert after.lines[0].at == middle
    assert before.total[0] + after.total[0] == pytest.approx(whole.total[0])
    none = make_statement(entries(place), "ada", 1e9, None)
    assert (none.reported, none.total, none.warnings) == (0, [0.0, None, None], [])


def test_a_statement_is_checked_from_an_export_alone(filled, tmp_path):
    place, _, _ = filled
    made = entries(place)
    export = tmp_path / "fraud.jsonl"
    export.write_text("".join(format_entries(made)))
    assert list(read_entries(export)) == made
    found = make_statement(read_entries(export), "bob", 2.0, 20.0).to_dict()
    given = write(tmp_path / "s.json", found)
    assert given == json.loads(json.dumps(found))
    assert check_statement(given, read_entries(export)) == len(made)
    with Local(place, None) as local:  # more may have happened since
        local.fill(3, np.random.default_rng(0), first=100)
    assert check_statement(given, entries(place)) == len(made)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("total", [99.0, 1.0, 200.0]), ("agent", "ada"), ("reported", 3), ("warnings", ["invented"]),
        ("chain", "00" * 32), ("seal", "00" * 32), ("currency", "USD"), ("end", 30.0), ("lines", []),
    ],
)  # fmt: skip
def test_a_changed_statement_is_found(filled, tmp_path, name, value):
    place, _, _ = filled
    found = make_statement(entries(place), "bob", 2.0, None).to_dict()
    assert found[name] != value
    given = write(tmp_path / "s.json", found | {name: value})
    with pytest.raises(LedgerError, match="the statement has another"):
        check_statement(given, entries(place))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda lines: lines[2].update(report=0.123), "'report' of case '{}' than its records give: 0.123 instead of {}"),
        (lambda lines: lines.pop(), "number of cases than its records give: {} instead of {}"),
        (lambda lines: lines[2].pop("report"), "line for case '{}' than its records give: {{"),
    ],
)  # fmt: skip
def test_a_changed_line_is_named_with_its_case_and_both_values(
    filled, tmp_path, change, sentence
):
    place, _, _ = filled
    found = make_statement(entries(place), "bob", 2.0, None).to_dict()
    line, count = dict(found["lines"][2]), len(found["lines"])
    change(found["lines"])
    given = write(tmp_path / "s.json", found)
    with pytest.raises(LedgerError) as error:
        check_statement(given, entries(place))
    numbers = sentence.startswith("number")
    named = (count - 1, count) if numbers else (line["case"], line["report"])
    told = f"the statement has another {sentence.format(*named)}"
    assert str(error.value).startswith(told)


def test_changed_entries_are_found_even_with_new_hashes(filled, tmp_path):
    """Whoever makes another outcome fit its hashes cannot make the weights fit."""
    place, _, _ = filled
    made = entries(place)
    chain, forged = START, []
    for entry in made:
        body = entry.body
        if entry.kind == "settle" and not any(e.kind == "settle" for e in forged):
            old = entry.record.outcome
            body = body.replace(b'"outcome":%d' % old, b'"outcome":%d' % (1 - old))
            assert body != entry.body
        mark = digest(entry.kind, entry.case, entry.at, body)
        chain = sha256(chain + mark).digest()
        forged.append(replace(entry, body=body, digest=mark, chain=chain))
    given = make_statement(forged, "bob", None, None).to_dict()
    with pytest.raises(LedgerError, match="another learned than its replay"):
        check_statement(write(tmp_path / "s.json", given), forged)
    broken = [*made[:4], forged[4], *made[5:]]
    with pytest.raises(LedgerError, match="record 5"):
        make_statement(broken, "bob", None, None)
    with pytest.raises(LedgerError, match="record 3 is missing"):
        make_statement([*made[:2], *made[3:]], "bob", None, None)
    with pytest.raises(LedgerError, match="must begin with"):
        make_statement([], "bob", None, None)


def test_fewer_entries_than_a_statement_is_about_are_found(filled, tmp_path):
    place, _, _ = filled
    made = entries(place)
    given = write(
        tmp_path / "s.json", make_statement(made, "bob", None, None).to_dict()
    )
    with pytest.raises(LedgerError, match="records; there are 5"):
        check_statement(given, made[:5])


def test_erased_cases_are_left_out_and_the_rest_can_be_checked(filled, tmp_path):
    place, _, _ = filled
    before = make_statement(entries(place), "bob", None, None)
    gone = before.lines[2].case
    with Local(place, None) as local:
        local.erase("fraud", gone)
    after = make_statement(entries(place), "bob", None, None)
    assert [line.case for line in after.lines] == [
        line.case for line in before.lines if line.case != gone
    ]
    given = write(tmp_path / "s.json", after.to_dict())
    assert 0 < check_statement(given, entries(place)) < after.entries


def test_an_agent_that_joined_has_a_statement_and_a_stranger_none(filled):
    place, _, _ = filled
    with Local(place, None) as local:
        local.change("fraud", "join", {"agent": "dan"})
    assert make_statement(entries(place), "dan", None, None).reported == 0
    with pytest.raises(AgentError, match="no agent is called 'zoe'; known: ada, bob"):
        make_statement(entries(place), "zoe", None, None)


def test_what_a_rule_without_weights_decided_is_unknown(tmp_path):
    place = tmp_path / "l.db"
    with Local(place, FRAUD | {"learner": "auto"}) as local:
        local.fill(4, np.random.default_rng(0))
    found = make_statement(entries(place), "ada", None, None)
    assert (found.reported, found.unknown, found.lines) == (4, 4, [])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "must be what"), ("[]", "must be what"), ('{"statement": 1}', "must be what"),
        ("\udcff", "must be what"), ("[" * 100_000, "must be what"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_statement_is_refused(tmp_path, text, sentence):
    path = tmp_path / "s.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(LedgerError, match=sentence):
        read_statement(str(path))
    with pytest.raises(LedgerError, match="cannot be opened"):
        read_statement(str(tmp_path / "nothing"))


def test_a_statement_of_another_version_is_refused(filled, tmp_path):
    found = make_statement(entries(filled[0]), "bob", None, None).to_dict()
    with pytest.raises(LedgerError, match="version 2.*Upgrade"):
        write(tmp_path / "s.json", found | {"statement": 2})


@pytest.mark.parametrize(
    "text",
    ["{}\n", "[1]\n", "x\n", '{"n": 1, "kind": "a", "case": null, "at": 1, "body": 3, "digest": "", "chain": ""}\n'],
)  # fmt: skip
def test_a_file_that_is_no_export_is_refused(tmp_path, text):
    path = tmp_path / "e.jsonl"
    path.write_text(text)
    with pytest.raises(LedgerError, match="line 1 of"):
        list(read_entries(path))
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(LedgerError, match="must hold JSON lines"):
        list(read_entries(path))
    with pytest.raises(LedgerError, match="cannot be opened"):
        list(read_entries(tmp_path / "nothing.jsonl"))


# where misreporting pays


def simulate(tmp_path, cases, threshold=None, sharp=1.0, pool=None):
    """Agents whose mean is calibrated if `sharp` is 1, with weights that do not move."""
    rng = np.random.default_rng(3)
    extra = {} if threshold is None else {"threshold": threshold}
    config = FRAUD | {"learner": "static", "agents": ["ada", "bob"]} | extra
    with Local(tmp_path / "m.db", config | (pool or {})) as local:
        reports, outcomes = [], []
        for i in range(cases):
            p = rng.beta(1, 4)
            told = 0.5 + (p - 0.5) * sharp
            spread = rng.uniform(-1, 1) * min(told, 1 - told) / 2
            reports += [
                (f"c{i}", "ada", told + spread),
                (f"c{i}", "bob", told - spread),
            ]
            outcomes.append((f"c{i}", "fraud" if rng.random() < p else "ok"))
        local.report("fraud", reports)
        for case, _ in outcomes:
            local.coordinator.decide(ANYONE, "fraud", case, None)
        local.settle("fraud", outcomes)
        history = local.settled("fraud", 10_000)
    return tmp_path / "m.db", history


def test_a_calibrated_pool_at_the_threshold_of_its_costs_has_no_warning(tmp_path):
    place, _ = simulate(tmp_path, 400)
    assert make_statement(entries(place), "ada", None, None).warnings == []


def test_another_threshold_than_that_of_the_costs_is_warned_of(tmp_path):
    place, _ = simulate(tmp_path, 400, threshold=0.5)
    first, *rest = make_statement(entries(place), "ada", None, None).warnings
    assert first.startswith("the pool decides above 0.500, and its costs imply 0.0909")
    assert any("ada would have been paid" in warning for warning in rest)
    assert any("reports moved by +" in warning for warning in rest)


def test_an_uncalibrated_pool_is_warned_of(tmp_path):
    place, history = simulate(tmp_path, 400, sharp=0.3)
    found = make_statement(entries(place), "ada", None, None).warnings
    (told,) = (text for text in found if "the pool is not calibrated" in text)
    said = percent(float(history.pooled[:, 0].mean()))
    happened = percent(float(history.outcomes.mean()))
    assert f"it says {said} on average, {happened} were positive, and its" in told


def test_few_cases_or_one_outcome_are_not_tested(tmp_path):
    place, history = simulate(tmp_path, 20, sharp=0.3)
    assert make_statement(entries(place), "ada", None, None).warnings == []
    one = replace(history, cases=[replace(c, outcome=0) for c in history.cases])
    assert list(misreports._calibration(one)) == []


def test_the_gain_of_a_shift_against_brute_force(tmp_path):
    _, history = simulate(tmp_path, 60, threshold=0.3)
    gains = shift_gains(history, "ada")
    for t, case in enumerate(history.cases):
        ada, bob = case.record.reports["ada"], case.record.reports["bob"]
        for s, shift in enumerate(SHIFTS):
            told = min(max(ada + shift, 0), 1)
            pair = tp.decide([(ada + bob) / 2, (told + bob) / 2], COSTS, 0.3)
            paid = COSTS.cost_per_case(np.array([case.outcome] * 2), pair, 2)
            assert gains[t, s] == pytest.approx(paid[0] - paid[1])
    assert gains.any()


def test_without_weights_no_misreport_is_tried(tmp_path):
    with Local(tmp_path / "l.db", FRAUD | {"learner": "auto"}) as local:
        local.fill(3, np.random.default_rng(0))
        assert shift_gains(local.settled("fraud", 10), "ada") is None


# the command


def test_the_command_states_exports_and_checks(filled, tmp_path, truepool):
    place, _, _ = filled
    out, export = tmp_path / "s.json", tmp_path / "fraud.jsonl"
    words = ("ledger", "statement", place, "--pool", "fraud", "--agent", "bob")
    code, text, err = truepool(*words, "--to", "1970-01-02", "--json", out)
    assert (code, err) == (0, "")
    assert "bob reported on" in text
    assert "settled cases of fraud before 1970-01-02 00:00 UTC" in text
    assert truepool("ledger", "export", place, "--pool", "fraud", "-o", export)[0] == 0
    code, text, err = truepool("ledger", "check", out, export)
    assert (code, err) == (0, "")
    assert text.startswith("The statement is right")
    assert truepool("ledger", "check", out, place)[0] == 0
    code, text, _ = truepool(
        "ledger", "statement", export, "--agent", "bob", "--json", "-"
    )
    assert json.loads(text)["lines"] == json.loads(out.read_text())["lines"]
    code, _, err = truepool("ledger", "statement", place, "--agent", "bob")
    assert (code, "name one with --pool" in err) == (2, True)
    code, _, err = truepool(*words, "--from", "soon")
    assert (code, "--from must be a date" in err) == (2, True)
    code, _, err = truepool("ledger", "check", export, export)
    assert (code, "is not" in err) == (2, True)
