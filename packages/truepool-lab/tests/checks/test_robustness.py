from types import SimpleNamespace

from faults import COSTS, sound

from truepool.audits import audit
from truepool.audits.topics.robustness import check
from truepool.data.costs import Costs


def test_the_worst_that_the_best_agent_could_do_is_noted():
    finding = audit(sound(cases=400), costs=COSTS, resamples=50)
    (found,) = (f for f in finding.findings if f.code == "fragile")
    worst = max(finding.robustness, key=lambda study: study.rise.value)
    assert found.number == worst.rise
    assert found.sentence.startswith(f"If {worst.who} {worst.what}, ")


def test_where_nothing_was_tried_nothing_is_noted():
    assert list(check(SimpleNamespace(compute=lambda study: ()))) == []


def test_a_pool_whose_cost_no_agent_can_raise_is_noted():
    # With misses this costly the mean decides 1 whatever the reports.
    finding = audit(sound(cases=400), costs=Costs(fn=1000), resamples=50)
    (found,) = (f for f in finding.findings if f.code == "fragile")
    assert max(study.rise.value for study in finding.robustness) == 0
    assert found.sentence == (
        f"Whatever {found.who[0]} reports, decisions cost no more than now."
    )
