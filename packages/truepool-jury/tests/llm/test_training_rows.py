import numpy as np
import pyarrow as pa
import pytest

from truepool.core.errors import OutcomeError
from truepool_jury.llm.training_rows import (
    EXAMPLES,
    FOCUS,
    draw_examples,
    informative_features,
)


def test_examples_are_drawn_by_seed_and_show_both_answers():
    rare = (np.arange(100) == 50).astype(int)
    draws = [draw_examples(rare, seed) for seed in range(20)]
    assert all(len(set(rows)) == EXAMPLES == 3 for rows in draws)
    assert all(50 in rows for rows in draws)
    assert len({tuple(rows) for rows in draws}) > 10
    assert draw_examples(rare, 7).tolist() == draws[7].tolist()


@pytest.mark.parametrize("outcomes", [[0, 1], [0, 0, 0, 0]])
def test_too_few_rows_for_examples_are_refused(outcomes):
    with pytest.raises(OutcomeError, match="of both labels; got"):
        draw_examples(np.array(outcomes), 0)


def test_the_features_that_say_most_come_first_whatever_their_kind():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    columns = {f"noise {i}": rng.normal(size=400) for i in range(9)}
    columns["size"] = y + rng.normal(size=400)
    columns["flag"] = np.where(y, "S0", "SF")
    columns["gappy"] = np.where(rng.random(400) < 0.3, None, rng.normal(size=400))
    found = informative_features(pa.table(columns), y, seed=0)
    assert found[:2] == ["flag", "size"]
    assert len(found) == FOCUS == 8
    assert found == informative_features(pa.table(columns), y, seed=0)
