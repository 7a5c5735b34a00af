from types import SimpleNamespace

from faults import COSTS, sound

from truepool.audits import audit
from truepool.panel.costs import Costs
from truepool_lab.checks.robustness import check


def test_the_worst_that_the_best_agent_could_do_is_noted():
    finding = audit(sound(cases=400), costs=COSTS, resamples=50)
    (found,) = (f for f in finding.findings if f.code == "fragile")
    worst = max(found.details, key=lambda failure: failure.value.value)
    assert found.number == worst.value
    assert found.sentence.startswith(f"If {found.who[0]} {worst.name}, ")


def test_where_nothing_was_tried_nothing_is_noted():
    assert list(check(SimpleNamespace(compute=lambda study: ()))) == []


def test_a_pool_whose_cost_no_agent_can_raise_is_noted():
    # With misses this costly the mean decides 1 whatever the reports.
    finding = audit(sound(cases=400), costs=Costs(fn=1000), resamples=50)
    (found,) = (f for f in finding.findings if f.code == "fragile")
    assert max(failure.value.value for failure in found.details) == 0
    assert found.sentence == (
        f"Whatever {found.who[0]} reports, decisions cost no more than now."
    )
