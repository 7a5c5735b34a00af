import numpy as np
import pytest

from truepool import Features, agents, datasets
from truepool.core.engine import Cell
from truepool.core.errors import SourceError
from truepool_lab.paper.real_task import (
    ROWS,
    SOURCES,
    THRESHOLDS,
    Task,
    prepare,
    task,
    ten_agents,
)

CHEAP = {name: agents.zoo.make("tree") for name in ("ada", "bob", "cyd")}
FIRST, SECOND = Cell("a", (), 0), Cell("a", (), 1)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    X[::7, 2] = np.nan
    return Features(X, (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int))


def test_seeds_split_the_same_rows_anew(rows):
    one, other = prepare(rows, FIRST), prepare(rows, SECOND)
    assert not np.array_equal(one.test_rows, other.test_rows)
    for here in (one, other):
        parts = [here.train_rows, here.validation_rows, here.test_rows]
        assert [len(part) for part in parts] == [224, 56, 120]
        assert len(np.unique(np.concatenate(parts))) == 400


def test_seeds_leave_the_silos_as_they_are(rows):
    one, other = (
        prepare(rows, cell).train_agents(CHEAP).agents.silos for cell in (FIRST, SECOND)
    )
    for mine, yours in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_what_is_missing_is_filled_by_rows_that_agents_learn_from(rows):
    here = prepare(rows, FIRST)
    median = np.nanmedian(rows.values[here.train_rows, 2])
    assert here.X[0, 2] == median != np.nanmedian(rows.values[:, 2])


def test_without_rows_held_agents_and_pools_learn_from_the_same(rows):
    here = prepare(rows, FIRST, validate=False)
    assert np.array_equal(here.train_rows, here.validation_rows)
    assert len(here.train_rows) == 280


def test_two_tables_train_an_agent_once(rows, monkeypatch):
    here = prepare(rows, FIRST)
    before = np.concatenate([panel.reports for panel in here.panels(CHEAP)])

    def never(*parts, **options):
        raise AssertionError("trained again")

    monkeypatch.setattr("truepool.agents.ensemble.fit", never)
    again = prepare(rows, Cell("b", (("size", "quick"),), 0)).panels(CHEAP)
    assert np.array_equal(before, np.concatenate([panel.reports for panel in again]))


def test_agents_are_asked_what_they_were_not_trained_on(rows):
    here = prepare(rows, FIRST)
    trained = here.train_agents(CHEAP, learn=here.train_rows[:50])
    panel = trained.panel(here.test_rows)
    assert panel.agents == ("ada", "bob", "cyd")
    assert np.array_equal(panel.outcomes, here.y[here.test_rows])
    assert not np.array_equal(
        panel.reports, here.train_agents(CHEAP).panel(here.test_rows).reports
    )


def test_the_first_five_of_ten_see_what_the_five_do(rows):
    names = list(ten_agents())
    assert names[:5] == list(agents.zoo.PAPER)
    ten, five = (agents.feature_silos(41, count, 0.6) for count in (10, 5))
    assert np.array_equal(ten[:5], five)


def test_every_data_set_has_its_rows_and_threshold():
    for of_size in (*ROWS.values(), THRESHOLDS):
        assert list(of_size) == list(SOURCES)
    assert set(SOURCES.values()) <= set(datasets.every())


def test_a_network_that_is_not_done_is_taken_as_it_is(rows):
    here = prepare(rows, FIRST)
    hasty = {name: agents.zoo.make("mlp", max_iter=1) for name in ("ada", "bob")}
    validation, _ = here.panels(hasty)  # a warning would be an error here
    assert len(validation) == 56


@pytest.mark.parametrize("name", [*SOURCES.values(), "cicids2017-mix", "heart", "pima"])
def test_without_the_data_one_sentence_names_the_folder(name, tmp_path, monkeypatch):
    def unreachable(*parts, **options):
        raise OSError("no network")

    monkeypatch.setenv("TRUEPOOL_DATA", str(tmp_path / "empty"))
    monkeypatch.setenv("TRUEPOOL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("truepool.datasets.location.urlopen", unreachable)
    with pytest.raises(SourceError, match="TRUEPOOL_DATA"):
        task(name, None, FIRST)


def test_cross_fitted_agents_report_on_rows_that_they_have_not_seen(rows, monkeypatch):
    here = prepare(rows, FIRST)
    learned = []
    train = Task.train_agents

    def spy(self, team=None, learn=None):
        learned.append(np.asarray(learn))
        return train(self, team, learn)

    monkeypatch.setattr(Task, "train_agents", spy)
    known, test = here.cross_fitted(CHEAP)
    *folds, final = learned
    labelled = np.setdiff1d(np.arange(400), here.test_rows)
    held_out = [np.setdiff1d(labelled, fold) for fold in folds]
    np.testing.assert_array_equal(np.sort(np.concatenate(held_out)), labelled)
    np.testing.assert_array_equal(np.sort(final), labelled)
    assert (len(known), len(test)) == (280, 120)
    # A tree says 0 or 1 of a row that it was trained on; of these it is often wrong.
    assert (known.reports.round() != known.outcomes[:, None]).mean() > 0.02
