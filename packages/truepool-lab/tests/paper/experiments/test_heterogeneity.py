from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.experiments.heterogeneity import COMPOSITIONS, Heterogeneity
from truepool_lab.paper.interface import row


def test_ensembles_are_those_of_the_table():
    keys = {key for (key,) in paper_tables()["tab:heterogeneity"].keys}
    assert set(COMPOSITIONS) == keys
    assert {len(kinds) for kinds in COMPOSITIONS.values()} == {5}


def test_a_point_an_ensemble():
    rows = [
        row("tab:heterogeneity", [name], f"{data}/{column}", i + shift)
        for i, name in enumerate(COMPOSITIONS)
        for data in ("NSL-KDD", "Credit Card")
        for column, shift in (("disagreement", 0.0), ("FN", 0.5))
    ]
    page = Heterogeneity().figure("fig:heterogeneity_scatter", rows)
    for axes in page.axes:
        points = [line.get_xydata()[0].tolist() for line in axes.lines]
        assert points == [[i, i + 0.5] for i in range(5)]
