"""What is recorded is a fact: any machine goes on from it, and none has to agree."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from server.service import FRAUD, Local
from server.test_verification import change

from truepool import learners
from truepool.core.errors import RequestError
from truepool_serve.server import operations, records, state
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.verification import verify

OLDER = {
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL "
    "AVX512_ICL AVX512_SPR AVX2 FMA3",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NUMBA_CPU_NAME": "x86-64",
    "NUMBA_CPU_FEATURES": "",
}
"""Makes numpy, OpenBLAS and numba compute as a processor of 2008 does."""
WRITE = """
import sys
import numpy as np
from server.service import FRAUD, Local
from truepool_serve.server import operations
operations.SNAPSHOT_EVERY = 10**6
for name in sys.argv[2:]:
    with Local(f"{sys.argv[1]}/{name}.db", FRAUD | {"learner": name}) as local:
        for cases in (12, 10, 8):
            local.fill(cases, np.random.default_rng(cases), first=99 * cases)
            local.coordinator.refit("fraud", "first", lambda job: job.run())
        local.report("fraud", [("open", "ada", 0.4), ("open", "bob", 0.2)])
        local.decide("fraud", "open", None)
"""
TRIED = ("gradient", "adahedge", "boa", "wsu", "auto")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Ledgers that were written on an older processor."""
    folder = tmp_path_factory.mktemp("elsewhere")
    tests = str(Path(__file__).parents[1])
    command = [sys.executable, "-W", "ignore", "-c", WRITE, str(folder), *TRIED]
    environment = os.environ | OLDER | {"PYTHONPATH": tests}
    subprocess.run(command, env=environment, check=True, timeout=300)
    return folder


@pytest.mark.parametrize("name", TRIED)
def test_a_ledger_of_another_processor_is_served_and_verified(elsewhere, name):
    place = elsewhere / f"{name}.db"
    with Ledger(place) as ledger:
        recorded = [e.record for e in ledger.entries(1) if e.kind == "settle"][-1]
    with Local(place, None) as local:
        rule = local.coordinator.operations.pools["fraud"][1].rules["first"]
        (learned,) = state.numbers(recorded.learned).values()
        np.testing.assert_array_equal(rule.learned, learned)
        assert not local.coordinator.operations.unverified
        local.settle("fraud", [("open", "ok")])
        local.fill(3, np.random.default_rng(1), first=50)
    with Ledger(place) as ledger:
        found = verify(ledger, "fraud")
    refits = 2 * (name == "auto")
    assert found.replayed == found.entries == 1 + 2 * 31 + 2 * 3 + refits
    assert found.apart > 0  # else the processors were alike, and this shows nothing


@pytest.mark.parametrize("name", ["static", *learners.every(), "auto"])
def test_a_restart_takes_over_what_was_learned(tmp_path, monkeypatch, name):
    """An update that is computed otherwise, as by another library, changes nothing."""
    with Local(tmp_path / "l.db", FRAUD | {"learner": name}) as local:
        local.fill(9, np.random.default_rng(0))
        weights = local.describe("fraud")["weights"]
    monkeypatch.setattr("truepool.online.stream.settle", None)
    with Local(tmp_path / "l.db", None) as local:
        assert local.describe("fraud")["weights"] == weights


def test_many_agents_are_recorded_by_a_hash_and_learned_again(tmp_path):
    """With 10,000 agents each record of an outcome would take 100 kB."""
    agents = [f"agent {i}" for i in range(state.MOST_LEARNED + 1)]
    with Local(tmp_path / "l.db", FRAUD | {"agents": agents}) as local:
        for case in ("c1", "c2"):
            local.report(
                "fraud", [(case, a, 0.2 + 0.6 * (i % 2)) for i, a in enumerate(agents)]
            )
            local.decide("fraud", case, None)
            local.settle("fraud", [(case, "ok")])
        weights = local.describe("fraud")["weights"]
    with Ledger(tmp_path / "l.db") as ledger:
        entries = list(ledger.entries(1))
        assert verify(ledger, "fraud").apart == 0
    assert len(entries[-1].body) < 1000
    with Local(tmp_path / "l.db", None) as local:
        assert local.describe("fraud")["weights"] == weights


OTHER = FRAUD | {"name": "other"}


def both(place):
    with Local(place) as local:
        local.create(OTHER)
        for pool in ("fraud", "other"):
            local.fill(5, np.random.default_rng(0), pool=pool)


def test_a_changed_record_marks_its_pool_and_stops_nobody(tmp_path):
    place = tmp_path / "l.db"
    both(place)
    change(
        place,
        "UPDATE entries SET body = CAST(replace(body, '0.', '0.1') AS BLOB) "
        "WHERE n = 4 AND pool = 1",
    )
    with Local(place, None) as local:
        (error,) = local.coordinator.operations.unverified.values()
        assert error.record == 4
        for pool in ("fraud", "other"):
            local.fill(2, np.random.default_rng(1), first=50, pool=pool)
        assert set(local.coordinator.operations.unverified) == {"fraud"}


def test_a_pool_that_cannot_be_recovered_stops_no_other(tmp_path):
    place = tmp_path / "l.db"
    both(place)
    change(place, "UPDATE entries SET body = x'00' WHERE n = 4 AND pool = 1")
    with Local(place, None) as local:
        for _ in range(2):
            with pytest.raises(
                RequestError, match=r"record 4 \(\w+\) cannot be read"
            ) as caught:
                local.decide("fraud", "c", None)
            assert caught.value.code == "unavailable"
            local.fill(2, np.random.default_rng(1), first=50, pool="other")


def test_the_tolerance_tells_a_last_bit_from_a_change(tmp_path, monkeypatch):
    """At a tolerance of 0 other bits are refused; at 0.1 a forged weight passes."""
    monkeypatch.setattr(operations, "SNAPSHOT_EVERY", 10**6)
    with Local(tmp_path / "l.db") as local:
        local.fill(3, np.random.default_rng(0))
    with Ledger(tmp_path / "l.db") as ledger:
        entries = list(ledger.entries(1))

    def replay(factor, tolerance):
        """Verify by a learner whose numbers come out otherwise."""
        monkeypatch.setattr(state, "TOLERANCE", tolerance)
        settle = state.PoolState._settle
        made = state.PoolState()

        def moved(self, record, case):
            settle(self, record, case)
            rule = self.rules["first"]
            rule.take_over(rule.learned * factor)
            return self._learned(record)

        with monkeypatch.context() as patch:
            patch.setitem(state.STEPS, records.Settle, moved)
            return [made.verify(entry) for entry in entries]

    tolerance = state.TOLERANCE
    assert not all(replay(1 + 1e-15, tolerance))
    with pytest.raises(state.RecordError):
        replay(1 + 1e-15, 0.0)
    with pytest.raises(state.RecordError):
        replay(1.001, tolerance)
    replay(1.001, 0.1)
