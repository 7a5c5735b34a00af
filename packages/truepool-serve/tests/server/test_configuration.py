"""What a pool may be: whatever else is asked for is refused in one sentence."""

import base64

import msgspec
import numpy as np
import pytest
from server.service import FRAUD, Local

import truepool as tp
from truepool.core.errors import (
    AgentError,
    CostError,
    LedgerError,
    RequestError,
    SettingError,
    TruepoolError,
)
from truepool_serve.messages import Pool, convert
from truepool_serve.render import dashboard as render
from truepool_serve.server import records
from truepool_serve.server.access import ANYONE
from truepool_serve.server.configuration import PoolConfig
from truepool_serve.server.dashboard import Dashboard
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.records import START, Entry
from truepool_serve.server.state import PoolState

FORGED = base64.b64encode(b"not a pool").decode()


def saved(path, agents=("ada", "bob", "cyd"), labels=("ok", "fraud")):
    rng = np.random.default_rng(0)
    outcomes = np.array(labels)[np.arange(40) % 2]
    panel = tp.Panel(
        rng.random((40, len(agents))), outcomes, agents, positive=labels[1]
    )
    tp.VCG().fit_panel(panel).save(path)
    return base64.b64encode(path.read_bytes()).decode()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"agents": "ada"}, "expected `array`, got `str` - at `agents`"),
        ({"agents": [1, 2]}, "expected `str`, got `int` - at `agents[0]`"),
        ({"agents": ["ada", "ada"]}, "unique"),
        ({"agents": [f"a{i}" for i in range(10_001)]}, "length <= 10000 - at `agents`"),
        ({"agents": ["ada", ""]}, "1 to 200 characters"),
        ({"name": None}, "got `null` - at `name`"),
        ({"name": " x"}, "without spaces"),
        ({"labels": ["ok"]}, "2 to 100 labels; got 1"),
        ({"labels": ["ok", "ok"]}, "two or more different labels"),
        ({"labels": ["ok", 1]}, "all text or all whole numbers"),
        ({"labels": ["ok", "fraud"], "positive": None}, "Which label do the reports give the probability of"),
        ({"labels": list(range(101)), "positive": None}, "2 to 100 labels; got 101"),
        ({"labels": ["a", "b", "c"], "positive": "a"}, "requires two labels"),
        ({"costs": 5}, "got `int` - at `costs`"),
        ({"costs": {"fm": 5}}, "unknown field `fm` - at `costs`"),
        ({"costs": {"fn": None}}, "got `null` - at `costs.fn`"),
        ({"costs": {"currency": 5}}, "got `int` - at `costs.currency`"),
        ({"costs": {"fn": [1, 2]}}, "expected `float | str`, got `array` - at `costs.fn`"),
        ({"costs": {"matrix": {}}}, "expected `array`, got `object` - at `costs.matrix`"),
        ({"costs": {"matrix": [[0, 1], [1]]}}, "rows of different lengths"),
        ({"costs": {"matrix": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}}, "classes"),
        ({"threshold": 2}, "expected `float` <= 1.0 - at `threshold`"),
        ({"threshold": True}, "got `bool` - at `threshold`"),
        ({"open_cases": 0}, "expected `int` >= 1 - at `open_cases`"),
        ({"learner": "gradeint"}, "did you mean 'gradient'"),
        ({"learner": 3}, "expected `str | null`, got `int` - at `learner`"),
        ({"learner": "hedge", "saved_pool": "x"}, "either a learner or a saved pool"),
        ({"learner": "hedge", "settings": {"raet": 1}}, "raet"),
        ({"learner": "hedge", "settings": {"rate": "fast"}}, "got {'rate': 'fast'}"),
        ({"learner": "hedge", "settings": [1]}, "expected `object | null`, got `array` - at `settings`"),
        ({"learner": "auto", "settings": {"record": "/tmp"}}, "without 'record'"),
        ({"saved_pool": "not base64!"}, "in base64"),
        ({"saved_pool": FORGED}, "the saved pool is not a saved pool, or it is damaged"),
        ({"colour": 1}, "unknown field `colour`"),
    ],
)  # fmt: skip
def test_a_pool_that_cannot_be_is_refused(tmp_path, change, sentence):
    with Local(tmp_path / "l.db", None) as local:
        with pytest.raises(TruepoolError) as caught:
            local.create(FRAUD | change)
        assert sentence in str(caught.value)
        assert local.pools() == []


def test_a_saved_pool_must_be_about_the_same_agents_and_labels(tmp_path):
    with Local(tmp_path / "l.db", None) as local:
        content = saved(tmp_path / "two.pool", ("ada", "bob"))
        with pytest.raises(AgentError, match="it knows ada, bob, and the pool has ada"):
            local.create(FRAUD | {"saved_pool": content})
        for labels, named in [(("no", "yes"), "'no', 'yes'"), ((0, 1), "0, 1")]:
            content = saved(tmp_path / "labels.pool", labels=labels)
            with pytest.raises(SettingError, match=f"it knows {named}, and the pool"):
                local.create(FRAUD | {"saved_pool": content})


def test_a_saved_pool_keeps_its_agents(tmp_path):
    content = saved(tmp_path / "f.pool")
    with Local(tmp_path / "l.db", FRAUD | {"saved_pool": content}) as local:
        with pytest.raises(SettingError, match="'dan' cannot join"):
            local.change("fraud", "join", {"agent": "dan"})
        local.change("fraud", "leave", {"agent": "cyd"})
        local.report("fraud", [("c1", "ada", 0.2)])
        local.decide("fraud", "c1", None)
        local.erase("fraud", "c1")
    with Local(tmp_path / "l.db", None) as local:  # from the snapshot of the erasure
        assert set(local.describe("fraud")["weights"]) == {"ada", "bob", "cyd"}


def test_a_pool_is_described_by_the_rule_that_decides_now(tmp_path):
    content = saved(tmp_path / "f.pool")
    rule = {"name": "fitted", "rule": {"saved_pool": content}}
    with Local(tmp_path / "l.db") as local:
        assert local.change("fraud", "challenge", rule)["learner"] == "gradient"
        local.change("fraud", "promote", {"name": "fitted"})
        found = local.describe("fraud")
        assert (found["rule"], found["saved_pool"]) == ("fitted", content)
        assert "learner" not in found
        # Made again, it is the pool that it was made as: no conflict.
        assert local.create(FRAUD)["learner"] == "gradient"
        page = render.pool_page(Dashboard(local.coordinator).pool(ANYONE, "fraud"))
    assert "fitted (a saved pool)" in page


def test_what_a_pool_is_comes_back_from_the_ledger():
    for change in (
        {"threshold": 0.3, "open_cases": 7},
        {"learner": "hedge", "settings": {"rate": 0.5}},
        {"labels": ["a", "b", "c"], "positive": None, "costs": {"matrix": [[0, 1, 2], [3, 0, 4], [5, 6, 0]]}},
        {"costs": {"fn": "amount", "fp": 5, "tp": -1}},
    ):  # fmt: skip
        config = PoolConfig.parse(convert(FRAUD | change, Pool))
        stored = msgspec.json.decode(msgspec.json.encode(config.message), type=Pool)
        assert PoolConfig.parse(stored) == config


def test_costs_that_cannot_be_are_refused():
    with pytest.raises(CostError):
        PoolConfig.parse(convert(FRAUD | {"costs": {"fn": -1}}, Pool))


def test_at_most_so_many_cases_wait(tmp_path):
    with Local(tmp_path / "l.db", FRAUD | {"open_cases": 2}) as local:
        for i, agent in enumerate(("ada", "ada", "bob")):
            local.report("fraud", [(f"c{i}", agent, 0.5)])
        local.decide("fraud", "c0", None)
        local.decide("fraud", "c1", None)
        with pytest.raises(RequestError, match="at most 2 cases of a pool") as caught:
            local.decide("fraud", "c2", None)
        assert caught.value.code == "too-many"
        local.settle("fraud", [("c0", "ok")])
        local.decide("fraud", "c2", None)


def test_at_most_so_many_reports_wait_for_a_decision(tmp_path):
    """Nobody fills the disk with reports on cases that nobody asks about."""
    pool = FRAUD | {"open_cases": 6}
    with Local(tmp_path / "l.db", pool) as local:
        first = [(f"c{i}", "ada", 0.5) for i in range(5)]
        local.report("fraud", first)
        with pytest.raises(
            RequestError, match="at most 6 reports of an agent"
        ) as caught:
            local.report("fraud", [*first, ("c5", "ada", 0.5), ("c6", "ada", 0.5)])
        assert caught.value.code == "too-many"
        again = local.report("fraud", [*first, ("c5", "ada", 0.5)])
        assert again == {"stored": 1, "repeated": 5}
        assert local.report("fraud", first) == {"stored": 0, "repeated": 5}
        local.decide("fraud", "c0", None)
        local.erase("fraud", "c1")
        assert local.report("fraud", [("c7", "ada", 0.5), ("c8", "ada", 0.5)]) == {
            "stored": 2,
            "repeated": 0,
        }
        with pytest.raises(RequestError, match="at most 6 reports"):
            local.report("fraud", [("c9", "ada", 0.5)])
    with Local(tmp_path / "l.db", None) as local:
        with pytest.raises(RequestError, match="at most 6 reports"):
            local.report("fraud", [("c9", "ada", 0.5)])


def test_at_most_twenty_rules_run(tmp_path):
    with Local(tmp_path / "l.db") as local:
        for i in range(19):
            rule = {"learner": "static"}
            local.change("fraud", "challenge", {"name": f"r{i}", "rule": rule})
        with pytest.raises(SettingError, match="at most 20 rules"):
            local.change(
                "fraud", "challenge", {"name": "x", "rule": {"learner": "wsu"}}
            )
        with pytest.raises(SettingError, match="called 'r1' already"):
            local.change(
                "fraud", "challenge", {"name": "r1", "rule": {"learner": "wsu"}}
            )


def test_evidence_needs_two_cases(tmp_path):
    with Local(tmp_path / "l.db") as local:
        local.change("fraud", "challenge", {"name": "x", "rule": {"learner": "wsu"}})
        (found,) = local.evidence("fraud", 10)
        assert (found["cases"], found["interval"]) == (0, None)
        with pytest.raises(RequestError, match="ask for 1 to 1,000,000 cases"):
            local.evidence("fraud", 0)


def test_three_classes_are_exported_by_name(tmp_path):
    pool = {"name": "triage", "agents": ["a", "b"], "labels": ["low", "mid", "high"]}
    with Local(tmp_path / "l.db", pool) as local:
        for i in range(4):
            local.report("triage", [(f"c{i}", "a", [0.2, 0.3, 0.5])])
            local.report("triage", [(f"c{i}", "b", [0.1, 0.3, 0.6])] * (i % 2))
            local.decide("triage", f"c{i}", None)
            local.settle("triage", [(f"c{i}", ["low", "mid", "high"][i % 3])])
        history = local.settled("triage", 10)
        (tmp_path / "p.parquet").write_bytes(history.to_parquet())
        assert history.panel().reports.shape == (4, 2, 3)
    panel = tp.read_panel(tmp_path / "p.parquet", outcome="outcome")
    assert set(panel.labels.names) == {"low", "mid", "high"}
    assert np.isnan(panel.reports[0, 1]).all()


def test_entries_that_no_coordinator_writes_are_refused():
    changed = Entry(3, "erase", None, 0.0, None, START, START)
    with pytest.raises(LedgerError, match="does not follow record 2"):
        changed.check(START)
    with pytest.raises(LedgerError, match="no record is called 'burn'"):
        records.read("burn", b"{}")
    with pytest.raises(LedgerError, match="must begin with what the pool is"):
        _ = PoolState().pool
    with pytest.raises(LedgerError, match="record 3 was erased"):
        _ = Entry(3, "decide", None, 0.0, None, START, START).record


def test_a_ledger_that_cannot_be_opened_is_one_sentence(tmp_path, monkeypatch):
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger(tmp_path / "none.db", create=False)
    (tmp_path / "l.db").touch()
    with monkeypatch.context() as patch:
        patch.setattr("truepool_serve.server.sqlite.FULL", 3)
        with pytest.raises(LedgerError, match="full synchronisation"):
            Ledger(tmp_path / "l.db")

    def refuse(*words):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("truepool_serve.server.sqlite.os.open", refuse)
        with pytest.raises(LedgerError, match="cannot be opened: Permission denied"):
            Ledger(tmp_path / "l.db")
    with monkeypatch.context() as patch:
        patch.setattr("fcntl.flock", refuse)
        with pytest.raises(LedgerError, match="in use by a coordinator; stop it"):
            Ledger(tmp_path / "l.db")
    with monkeypatch.context() as patch:
        patch.setattr("truepool_serve.server.sqlite.sys.platform", "win32")
        with pytest.raises(LedgerError, match="on Windows use PostgreSQL"):
            Ledger(tmp_path / "l.db")
    with Ledger(tmp_path / "l.db") as ledger:
        with (
            pytest.raises(LedgerError, match="no such table"),
            ledger.reader() as reader,
        ):
            reader.connection.rows("SELECT * FROM unknown_table")


def test_entries_are_read_in_blocks(tmp_path, monkeypatch):
    with Local(tmp_path / "l.db") as local:
        local.fill(5, np.random.default_rng(0))
    monkeypatch.setattr("truepool_serve.server.ledger.BLOCK", 3)
    with Ledger(tmp_path / "l.db") as ledger:
        assert [entry.n for entry in ledger.entries(1)] == list(range(1, 12))
