import pytest

from truepool.core.engine import Cell
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.experiments.speed import SAMPLES, Speed


@pytest.fixture(scope="module")
def rows():
    return Speed.measure(Cell("speed", (("times", 2),), 0))


def test_every_printed_time_is_measured_as_often_as_asked(rows):
    for label in Speed.readings:
        mine = [r for r in rows if r["table"] == label]
        places = {(tuple(r["key"]), r["column"]) for r in mine}
        assert places == {p for p, n in paper_tables()[label].numbers.items() if n.text}
        assert all(r["value"] > 0 for r in mine)
    assert len([r for r in rows if r["table"] == "tab:overhead"]) == 2 * 5 * 4


def test_shares_of_the_agents_add_up(rows):
    shares = [r["value"] for r in rows if r["column"] == "share of total (%)"]
    assert len(shares) == 5
    assert sum(shares) == pytest.approx(100)


def test_repetitions_are_the_papers_at_full_size():
    assert [cell["times"] for cell in Speed().cells("full")] == [20]
    assert SAMPLES == 2000
    assert Speed().effort(Speed().cells("quick")[0]) > 0
