import numpy as np
from faults import sound, timed
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel

from truepool.audits.cross_validation import CrossValidation, recalibrate
from truepool.audits.sampling import Sampling
from truepool.measures.folds import out_of_fold, splits
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean
from truepool.pools.vcg import VCG

PANEL = sound(cases=300)


def test_a_pool_that_learns_is_judged_out_of_fold():
    judged = CrossValidation(PANEL, VCG(), Sampling(0))
    pairs = splits(PANEL.outcomes, 5, 0)
    assert_allclose(judged.pooled, out_of_fold(VCG(), PANEL, pairs))


def test_a_pool_that_learns_nothing_is_judged_on_the_cases_of_every_other():
    for panel in (PANEL, timed(PANEL)):
        judged = CrossValidation(panel, Mean(), Sampling(0))
        other = CrossValidation(panel, VCG(), Sampling(0))
        assert_array_equal(judged.cases, other.cases)
        assert_allclose(judged.pooled[:, 0], PANEL.reports.mean(axis=1)[judged.cases])


def test_without_folds_a_pool_that_learns_nothing_is_judged_on_every_case():
    few = PANEL.take(np.flatnonzero(PANEL.outcomes == 0)[:20])
    judged = CrossValidation(few, Mean(), sampling := Sampling(0))
    assert len(judged.cases) == 20
    assert sampling.withheld == []


def test_in_time_the_first_cases_only_teach():
    judged = CrossValidation(timed(PANEL), VCG(), Sampling(0))
    assert judged.cases[0] == 50
    assert (judged.fold[:50] == -1).all()


def test_where_nobody_speaks_the_base_rate_does():
    judged = CrossValidation(PANEL, Mean(), Sampling(0))
    values = PANEL.values[:2].copy()
    values[0] = np.nan
    pooled = judged.predict(values, np.arange(2))
    assert_allclose(pooled[:, 0], [PANEL.outcomes.mean(), values[1].mean()])


def test_cases_too_few_to_hold_back_are_owned_up_to():
    sampling = Sampling(0)
    few = Panel([[0.9, 0.8], [0.2, 0.1], [0.3, 0.2]], [1, 0, 0])
    judged = CrossValidation(few, VCG(), sampling)
    assert judged.pooled.shape == (3, 1)
    assert [note.code for note in sampling.withheld] == [
        "how the pool does on new cases"
    ]


def test_corrections_are_learned_on_other_cases_and_skip_silence():
    panel = random_panel(1, cases=400, silent=0.2, skill=3.0)
    reports = panel.values[:, 1]
    moved = recalibrate(reports, panel, 0)
    assert (np.isnan(moved) == np.isnan(reports)).all()
    spoke = ~np.isnan(reports[:, 0])
    gap = [abs(np.mean(p[spoke, 0] - panel.outcomes[spoke])) for p in (reports, moved)]
    assert gap[1] < 0.02


def test_a_correction_is_fitted_in_its_folds():
    from truepool.core.arrays import from_log_scale, log_scale
    from truepool.measures.calibration import fit_scaling

    reports = PANEL.values[:, 0]
    learn, test = splits(PANEL.outcomes, 5, 0)[0]
    factor, shift = fit_scaling(
        log_scale(reports[learn]),
        PANEL.outcomes[learn],
        np.ones(len(learn)),
        shift=True,
    )
    moved = recalibrate(reports, PANEL, 0)
    assert_allclose(
        moved[test], from_log_scale(factor * log_scale(reports[test]) + shift)
    )


def test_one_class_teaches_no_correction():
    reports = np.full((6, 1), 0.3)
    panel = Panel(np.full((6, 2), 0.3), [0, 0, 0, 0, 0, 1])
    assert_allclose(recalibrate(reports, panel, 0), reports)
