from faults import COSTS, sound

from truepool.audits import audit


def test_the_better_pool_costs_what_the_comparison_says():
    finding = audit(sound(), costs=COSTS, resamples=50)
    found = next(f for f in finding.findings if f.code == "better-pool")
    name = found.sentence.split(" would cost")[0]
    rows = finding.comparison
    saved = rows["mean"].loss.value - rows[name].loss.value
    assert abs(found.cost.value - saved) < 1e-12
    assert found.severity == "note"
