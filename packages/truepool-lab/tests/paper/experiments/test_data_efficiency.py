import pytest

from truepool_lab.paper.experiments.data_efficiency import TRAIN_SIZES, DataEfficiency


def test_more_rows_miss_less():
    few, many = DataEfficiency().cells("quick")[0], DataEfficiency().cells("quick")[-1]
    assert (few["rows"], many["rows"]) == (TRAIN_SIZES[0], TRAIN_SIZES[-1])
    for scarce, ample in zip(
        DataEfficiency.measure(few), DataEfficiency.measure(many), strict=True
    ):
        assert scarce["column"] == ample["column"]
        assert scarce["value"] > ample["value"] >= 0


@pytest.mark.parametrize(("size", "repeats"), [("quick", 2), ("full", 10)])
def test_every_size_is_repeated(size, repeats):
    assert len(DataEfficiency().cells(size)) == repeats * len(TRAIN_SIZES)
