from truepool_lab.games import Game


def test_a_notebook_shows_a_table_and_a_line_is_enough_elsewhere():
    value = Game(agents=3, cases=200).solve("brier", rounds=3, seed=0)
    page = value._repr_html_()
    assert "<table" in page
    assert "<script" not in page
    assert len(repr(value)) < 130
    assert "\n" not in repr(value)
