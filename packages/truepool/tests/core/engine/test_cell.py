import pickle

from hypothesis import given
from hypothesis import strategies as st

from truepool.core.engine import Cell, cells

SETTINGS = st.dictionaries(st.text(), st.integers() | st.text() | st.floats(0, 1))


@given(SETTINGS, SETTINGS, st.integers(0, 99), st.text())
def test_random_draws_depend_only_on_the_axis_and_the_repeat(one, other, repeat, axis):
    here = Cell("x", tuple(one.items()), repeat)
    there = Cell("x", tuple(other.items()), repeat)
    assert here.seed(axis) == there.seed(axis)
    assert here.rng(axis).random() == there.rng(axis).random()
    assert here.seed(axis) != Cell("x", here.setting, repeat + 1).seed(axis)
    assert here.seed(axis) != here.seed(axis + "'")


@given(SETTINGS, st.integers(0, 99))
def test_a_cell_is_a_value(setting, repeat):
    cell = Cell("x", tuple(setting.items()), repeat)
    assert pickle.loads(pickle.dumps(cell)) == cell
    assert all(cell[name] == value for name, value in setting.items())


def test_every_setting_is_repeated_and_has_a_key_of_its_own():
    made = cells("x", 3, {"n": [2, 5], "rho": [0.1, 0.2, 0.3]})
    assert len({cell.key for cell in made}) == len(made) == 18
    assert len(cells("x", 3)) == 3
