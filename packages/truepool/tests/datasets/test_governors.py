"""Three real forecasters."""

import numpy as np
import pytest
from dataset_requirements import needs

from truepool import pools
from truepool.core.errors import SettingError, SourceError
from truepool.datasets.governors import Governors, governors

HEADER = (
    "year,state,forecast_date,forecast_type,party,candidate,probwin,probwin_outcome"
)
KINDS = ("deluxe", "lite", "classic")


def forecasts(year, day, name, won, *chances, kinds=KINDS):
    return [
        f"{year},KS,{year}-11-{day:02},{kind},D,{name},{chance},{won}"
        for kind, chance in zip(kinds, chances, strict=False)
    ]


LINES = [
    *forecasts(2022, 5, "Ann", 1, 0.9, 0.7, 0.8),
    *forecasts(2018, 6, "Bob", 0, 0.3, 0.1, 0.2),
    *forecasts(2018, 5, "Cid", 1, 0.6, 0.4, 0.5),
    "2010,KS,2010-11-01,,D,,0.5,1",
]


def test_agents_cases_and_days_find_their_places(given):
    given(Governors, HEADER, *LINES)
    panel = governors()
    assert panel.agents == ("lite", "classic", "deluxe")
    assert panel.ids.tolist() == [
        "2018-11-05 KS Cid (D)", "2018-11-06 KS Bob (D)", "2022-11-05 KS Ann (D)",
    ]  # fmt: skip
    np.testing.assert_array_equal(
        panel.reports, [[0.4, 0.5, 0.6], [0.1, 0.2, 0.3], [0.7, 0.8, 0.9]]
    )
    assert panel.outcomes.tolist() == [1, 0, 1]
    assert (np.diff(panel.times) >= np.timedelta64(0)).all()


def test_one_year_can_be_taken(given):
    given(Governors, HEADER, *LINES)
    assert governors(2018).outcomes.tolist() == [1, 0]


def test_a_year_without_three_models_is_refused():
    with pytest.raises(SettingError, match="2018 and 2022; got the year 2010"):
        governors(2010)


@pytest.mark.parametrize("extra", [forecasts(2018, 7, "Eve", 1, 0.5), LINES[:1]])
def test_each_model_must_report_once_per_candidate_and_day(given, extra):
    given(Governors, HEADER, *LINES, *extra)
    with pytest.raises(
        SourceError, match="one forecast by each of lite, classic, deluxe"
    ):
        governors()


@pytest.mark.data
@needs("governors")
def test_the_real_forecasters_know_something_and_can_be_pooled():
    panel = governors()
    assert len(panel) == 6_583
    assert panel.outcomes.sum() == 2_772
    past, future = governors(2018), governors(2022)
    assert len(past) + len(future) == len(panel)
    pool = pools.make("mean").fit(past.reports, past.outcomes)
    pooled = pool.predict_proba(future.reports)[:, 1]
    rate = future.outcomes.mean()
    assert np.mean((pooled - future.outcomes) ** 2) < rate * (1 - rate) / 2
