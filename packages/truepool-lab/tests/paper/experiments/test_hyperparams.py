from truepool.core.engine import Cell
from truepool_lab.learners.window import Window
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.experiments.hyperparams import Hyperparams


def found():
    rows = Hyperparams.measure(Cell("hyperparams", (), 0))
    return {tuple(row["key"]): row["value"] for row in rows}


def test_settings_stand_where_the_table_has_them_and_no_number_is_left_out():
    table = paper_tables()["tab:hyperparams"]
    assert set(found()) <= set(table.keys)
    numbers = {key for (key, _), printed in table.numbers.items() if printed.measurable}
    assert numbers <= set(found())


def test_every_printed_setting_that_is_a_number_is_ours():
    here, table = found(), paper_tables()["tab:hyperparams"]
    other = {
        (key, here[key])
        for (key, _), printed in table.numbers.items()
        if printed.measurable and here[key] != printed.value
    }
    assert other == set()


def test_a_changed_default_is_a_changed_row(monkeypatch):
    key = ("Online Weight Learning", "Sliding window size (adaptive)")
    assert found()[key] == 50
    monkeypatch.setattr(
        Window.__init__,
        "__kwdefaults__",
        {**Window.__init__.__kwdefaults__, "length": 60},
    )
    assert found()[key] == 60
