"""Scores of vendors and bureaus, which are counted from 0 to 1 by their range."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scored_table import FRACTIONS, SCORED, SCORES, P, T, Y

from truepool.core.errors import AgentError, ReportError, SettingError
from truepool.tables import TableFormat, read_panel
from truepool.tables.score_range import ScoreRange


def test_scores_count_by_their_range_from_low_to_high_and_the_reverse():
    panel = read_panel(SCORED.assign(y=Y), scores=SCORES)
    np.testing.assert_allclose(panel.reports, FRACTIONS, atol=1e-12)


def test_a_long_table_has_the_scores_of_each_agent():
    long = SCORED.assign(y=Y, case=range(T)).melt(["case", "y"], var_name="agent", value_name="report")  # fmt: skip
    panel = read_panel(long, layout="long", scores=SCORES)
    columns = [panel.agents.index(name) for name in FRACTIONS]
    np.testing.assert_allclose(panel.reports[:, columns], FRACTIONS, atol=1e-12)


def test_scores_stand_beside_percentages_and_fractions():
    mixed = SCORED.assign(gbm=(100 * FRACTIONS.rf).round(2), y=Y)
    panel = read_panel(mixed, scores=SCORES, percent="gbm")
    expected = FRACTIONS.assign(gbm=FRACTIONS.rf)
    np.testing.assert_allclose(panel.reports, expected, atol=1e-12)


@given(
    zero=st.integers(-1000, 1000),
    one=st.integers(-1000, 1000),
    share=st.floats(0, 1),
)
def test_any_range_takes_its_ends_to_0_and_1_and_keeps_the_order(zero, one, share):
    text = f"a={zero}-{one}"
    if zero == one:
        with pytest.raises(SettingError, match="the lowest and the highest"):
            TableFormat(scores=text)
        return
    shares = np.array([0, share, 0.25, 1])
    table = pd.DataFrame(
        {"a": zero + shares * (one - zero), "b": 0.5, "y": [0, 0, 0, 1]}
    )
    reports = read_panel(table, scores=text).reports[:, 0]
    np.testing.assert_allclose(reports, shares, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ({"scores": SCORES[:1]}, ReportError, r"--scores bureau=LOW-HIGH\); if 'bureau' is not an agent, leave that"),
        ({"scores": ["vendor=1-100", SCORES[1]]}, ReportError, "a score must lie between 1 and 100; column 'vendor' has.*of a saved pool, in its fit"),
        ({"scores": "vendr=0-999"}, AgentError, r"no agent matches 'vendr' \(did you mean 'vendor'"),
        ({"scores": "vendor"}, SettingError, "the lowest and the highest, as in 1-5, or as in vendor=0-999.*got 'vendor'"),
        ({"scores": "=0-9"}, SettingError, "got '=0-9'"),
        ({"scores": "vendor=7-7"}, SettingError, "got 'vendor=7-7'"),
        ({"scores": "0-999", "percent": True}, SettingError, "either percentages or scores; all of them"),
        ({"scores": SCORES, "percent": "vend*"}, SettingError, "either percentages or scores; those of 'vendor'"),
        ({"scores": [*SCORES, "ven*=0-9"]}, SettingError, "must have one range; those of 'vendor' have 2"),
    ],
)  # fmt: skip
def test_what_is_no_range_is_refused_with_its_cure(options, kind, sentence):
    with pytest.raises(kind, match=sentence):
        read_panel(SCORED.assign(y=Y), **options)


def test_a_word_among_scores_is_refused_by_their_range():
    words = SCORED.assign(y=Y, vendor=["n/d", *SCORED.vendor[1:].astype(str)])
    with pytest.raises(ReportError, match="a score must be a number from 0 to 999; "):
        read_panel(words, scores=SCORES)
    known = read_panel(words, scores=SCORES, missing="n/d").reports[0, 1]
    assert np.isnan(known)


def test_scores_are_no_fractions_that_percentages_are_compared_with():
    # Rare events: scores in the middle of their range would make fractions of them.
    table = pd.DataFrame({
        "rf": (100 * np.clip(P / 8, 0.0001, 1)).round(3), "vendor": SCORED.vendor, "y": Y,
    })  # fmt: skip
    assert read_panel(table, percent="rf", scores="vendor=0-999").agents[0] == "rf"


def test_formulas_are_those_that_are_used():
    for text, score in (("0-999", 250), ("850-300", 410), ("-5-5", 2)):
        span = ScoreRange.parse(text)
        share = eval(span.formula, {"s": score})
        assert share == pytest.approx((score - span.zero) / (span.one - span.zero))
