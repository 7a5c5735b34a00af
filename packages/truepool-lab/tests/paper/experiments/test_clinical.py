import pytest

from truepool_lab.paper.experiments.clinical import Clinical
from truepool_lab.paper.interface import row


def rows_of(table, pairs):
    return [
        found
        for vcg, brier in pairs
        for found in (
            row(table, ["VCG"], "FN", vcg),
            row(table, ["Brier"], "FN", brier),
        )
    ]


def test_the_paired_test_is_over_the_seeds_of_each_table():
    rows = [
        *rows_of("tab:real_heart", [(0.2, 0.3), (0.2, 0.3), (0.1, 0.21)]),
        *rows_of("tab:real_diabetes", [(0.4, 0.4), (0.3, 0.3)]),
    ]
    heart, pima = Clinical().derive(rows)
    assert heart["value"] < 0.01
    assert pima["value"] == 1.0


def test_one_seed_decides_nothing():
    rows = [
        *rows_of("tab:real_heart", [(0.2, 0.3)]),
        *rows_of("tab:real_diabetes", [(0.4, 0.4)]),
    ]
    assert [found["value"] for found in Clinical().derive(rows)] == [None, None]


@pytest.mark.parametrize("size", ["quick", "full"])
def test_only_the_repeats_are_fewer(size):
    settings = {cell.setting for cell in Clinical().cells(size)}
    assert settings == {(("table", label),) for label in Clinical.readings}
