"""The labels of an outcome column, read from what its cells say."""

from types import SimpleNamespace

from truepool.tables.profile_outcome import outcome_labels


class Counted(str):
    """A cell that counts how often it is compared with another."""

    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_a_column_of_ids_is_read_in_linear_time():
    cells = [Counted(f"T{i:05d}") for i in range(3000)]
    column = SimpleNamespace(distinct=cells, counts=dict.fromkeys(cells, 1))
    assert len(outcome_labels(column)) == 3000
    assert Counted.compared < 20 * len(cells)


def test_labels_that_differ_by_case_are_one():
    column = SimpleNamespace(
        distinct=["Fraud", "fraud", "ok"], counts={"Fraud": 1, "fraud": 9, "ok": 5}
    )
    assert outcome_labels(column) == ["fraud", "ok"]
