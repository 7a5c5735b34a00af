import numpy as np
import pytest

from truepool_lab.paper.experiments.sample_size import LEAST, SampleSize, labelled_rows
from truepool_lab.paper.interface import row
from truepool_lab.paper.real_task import Task


@pytest.fixture
def here():
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.05).astype(int)
    order = rng.permutation(len(y))
    X = np.zeros((len(y), 2))
    return Task(X, y, order[:11_000], order[11_000:14_000], order[14_000:], 0)


@pytest.mark.parametrize("n", [50, 100, 500, 2000])
def test_a_fifth_of_each_class_is_for_the_pool(here, n):
    learn, validation = labelled_rows(here, n, 0.0098)
    both = np.concatenate([learn, validation])
    assert len(np.unique(both)) == n
    assert not np.isin(both, here.test_rows).any()
    assert here.y[both].sum() == max(LEAST, round(0.0098 * n))
    assert here.y[validation].sum() == round(0.2 * here.y[both].sum())


def test_smaller_samples_are_part_of_larger_ones(here):
    few, many = (np.concatenate(labelled_rows(here, n, 0.05)) for n in (100, 500))
    assert np.isin(few, many).all()


def test_misses_are_drawn_against_the_number_of_labels():
    sizes = (50, 100, 200, 500, 2000)
    rows = [
        row("tab:vcg_decomp", [n], f"{data}/{method} FN", 1 / n)
        for n in sizes
        for data in ("NSL-KDD", "Credit Card")
        for method in ("VCG", "Equal")
    ]
    page = SampleSize().figure("fig:vcg_decomp", rows)
    assert [axes.get_title(loc="left") for axes in page.axes] == [
        "NSL-KDD",
        "Credit Card",
    ]
    line = page.axes[0].lines[0]
    assert line.get_xydata().tolist() == [[n, 1 / n] for n in sizes]
