"""One small draw of every scenario: what is found, since when, and what it is worth.

`make scenarios` makes twenty draws of each at full size.
"""

import numpy as np
import pytest
from dataset_requirements import needs

import truepool as tp
from scenarios import answers, bank, excess
from truepool.core.errors import ReportError

SMALL = {"rows": 33_000, "share": 0.012}
"""Half of the payments and twice the share: about as many frauds."""
FULL_SIZE = ("clean", "leak", "copies", "bent_copies", "selective")
SEED = 1


@pytest.mark.parametrize("name", [name for name in answers.RIGHT if name != "large"])
def test_the_answer_is_right(name):
    size = {} if name in FULL_SIZE else SMALL
    assert [
        what for what, ok in answers.draw(name, SEED, **size).items() if not ok
    ] == []


def test_a_unit_that_rose_is_refused_with_the_case_since_which():
    drawn = bank.make("scale_up", SEED, **SMALL)
    with pytest.raises(ReportError) as refusal:
        _ = drawn.panel
    first = int(np.flatnonzero(drawn.reports[drawn.known, 3] > 1)[0])
    assert f"in case {first} " in str(refusal.value)


@pytest.fixture(scope="module")
def large():
    """A draw and the audit of each of two seeds."""
    drawn = bank.make("large", SEED, rows=50_000, share=0.008)
    return drawn, [answers.audit(drawn, seed=seed, resamples=100) for seed in (0, 1)]


def test_every_positive_counts_and_the_plan_does_not_depend_on_the_seed(large):
    drawn, audits = large
    plans = {found.plan.pool for found in audits}
    assert plans == {"auto"}
    assert all(answers.judge(drawn, found)["recall"] for found in audits)
    now, again = (found.operations[0] for found in audits)
    assert (now.cost.value, now.recall) == (again.cost.value, again.recall)
    cases = drawn.known.sum()  # the first sixth in time is only learned from
    assert now.cases == pytest.approx(cases * 5 / 6, rel=0.01)


def test_worth_is_what_dropping_and_fitting_again_costs_in_truth(large):
    """The truth: all payments of another draw, decided with and without each vendor."""
    drawn, (found, _) = large
    other = bank.make("large", SEED + 1, rows=300_000, share=0.008)
    assert all(answers.worth_is_right(drawn, found, other).values())
    monthly = found.cases_per_month / 1000
    for one in found.summaries:
        assert one.worth_per_month.value == pytest.approx(monthly * one.worth.value)


def test_auto_costs_hardly_more_than_the_best_linear_pool():
    """On average over the costs, beside whichever is the best in hindsight."""
    paid = excess.on_bank("large", SEED, rows=40_000, share=0.008)
    found = [excess.Excess.over([one]) for one in paid]
    assert len(found) == len(excess.COSTS)
    assert np.mean([one.value for one in found]) <= excess.LIMIT
    assert all(one.low <= excess.LIMIT for one in found)


@needs("credit-card")
@pytest.mark.data
@pytest.mark.filterwarnings("ignore")
class TestCards:
    """Real payments, a third of them and every fraud, with six real models."""

    @pytest.fixture(scope="class")
    def found(self):
        from scenarios import cards

        panel = cards.make(0.3).panel()
        return tp.audit(panel, costs=bank.COSTS, resamples=100)

    def test_the_answer_is_right(self, found):
        assert [w for w, ok in answers.judge_cards(found).items() if not ok] == []
