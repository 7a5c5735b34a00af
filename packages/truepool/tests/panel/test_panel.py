import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal
from panels import panels, random_panel

from truepool.core.errors import AgentError, OutcomeError, PanelError, ReportError
from truepool.panel.panel import Panel
from truepool.pools.vcg import VCG

NAN = float("nan")
GOOD = [[0.9, 0.6], [0.2, 0.4]]


@given(panels())
def test_a_panel_cannot_be_written_to(panel):
    with pytest.raises(ValueError, match="read-only"):
        panel.reports[0, 0] = 0.5


def test_later_changes_to_an_array_do_not_change_the_panel():
    reports = np.array(GOOD)
    panel = Panel(reports, [1, 0])
    reports[0, 0] = 0.1
    assert panel.reports[0, 0] == 0.9
    shared = Panel(reports, [1, 0], copy=False)
    assert np.shares_memory(shared.reports, reports)


def test_outcomes_ids_and_times_of_a_panel_are_its_own():
    outcomes, ids, times = np.array([1, 0]), np.array(["a", "b"]), np.array([5.0, 3.0])
    panel = Panel(GOOD, outcomes, ids=ids, times=times)
    outcomes[:], ids[:], times[:] = 0, "x", 9.0
    assert panel.outcomes.tolist() == [1, 0]
    assert panel.ids.tolist() == ["a", "b"]
    assert panel.times.tolist() == [5.0, 3.0]
    for column in (panel.outcomes, panel.ids, panel.times):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = column[1]


def test_pending_cases_of_a_panel_are_its_own():
    reports, ids = np.array([[0.5, 0.4]]), np.array(["new"])
    times, position = np.array([7.0]), np.array([1])
    panel = Panel(GOOD, [1, 0], times=[5, 3])
    pending = panel.with_pending(
        reports, ids=ids, times=times, position=position
    ).pending
    reports[:], ids[:], times[:], position[:] = 0.0, "x", 9.0, 0
    assert pending.reports.tolist() == [[0.5, 0.4]]
    assert pending.ids.tolist() == ["new"]
    assert (pending.times.tolist(), pending.position.tolist()) == ([7.0], [1])
    for column in (pending.reports, pending.ids, pending.times, pending.position):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = column[0]


@pytest.mark.parametrize(
    "times",
    [
        ["2026-01-02", "2026-01-01"],
        ["2026-01-01T12:00:00+00:00", "2026-01-01T12:30:00+02:00"],
        [2.5, 1],
        np.array(["2026-01-02", "2026-01-01"], dtype="datetime64[D]"),
    ],
)
def test_times_may_be_numbers_dates_or_iso_text(times):
    assert Panel(GOOD, [1, 0], times=times).sort_by_time().outcomes.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("times", "match"),
    [
        (["2026-01-01", "9/1/2024"], "case 1 has '9/1/2024'"),
        ([1.0, NAN], "case 1 has none"),
        (np.array(["2026-01-02", "NaT"], dtype="datetime64[D]"), "case 1 has none"),
        (["2026-01-01", None], "case 1 has none"),
    ],
)
def test_times_that_give_no_order_are_refused(times, match):
    with pytest.raises(PanelError, match=match):
        Panel(GOOD, [1, 0], times=times)


def test_a_missing_report_on_two_classes_is_counted_once():
    spelled = np.array([[[0.1, 0.9], [NAN, NAN]], [[0.8, 0.2], [0.6, 0.4]]])
    assert Panel(spelled, [1, 0]).silent == 1


def test_two_probabilities_per_report_are_stored_as_binary():
    spelled = np.stack([1 - np.array(GOOD), np.array(GOOD)], axis=2)
    assert_array_equal(Panel(spelled, [1, 0]).reports, GOOD)


def test_a_frame_names_the_agents():
    frame = pd.DataFrame(GOOD, columns=["ada", "bob"])
    assert Panel(frame, [1, 0]).agents == ("ada", "bob")


def test_none_in_an_object_array_is_a_missing_report():
    panel = Panel(np.array([[0.9, None], [0.2, 0.4]], dtype=object), [1, 0])
    assert np.isnan(panel.reports[0, 1])
    assert panel.silent == 1


def test_rounded_probabilities_are_scaled_to_sum_to_one():
    reports = np.array([[[0.333, 0.333, 0.333], [0.5, 0.25, 0.25]]] * 2)
    panel = Panel(reports, [0, 2])
    np.testing.assert_allclose(panel.reports.sum(axis=2), 1.0, rtol=1e-15)


def test_part_of_a_panel_keeps_what_belongs_to_its_cases():
    panel = Panel(GOOD * 2, [1, 0, 0, 1], ids=list("abcd"), times=[4, 3, 2, 1])
    part = panel.take(np.array([2, 0]))
    assert part.ids.tolist() == ["c", "a"]
    assert part.times.tolist() == [2, 4]
    assert part.outcomes.tolist() == [0, 1]
    assert panel.sort_by_time().ids.tolist() == ["d", "c", "b", "a"]
    assert part.take(np.array([0])).sort_by_time().ids.tolist() == ["c"]


def test_a_panel_without_times_is_in_order():
    panel = Panel(GOOD, [1, 0])
    assert panel.sort_by_time() is panel


def test_a_panel_survives_pickling():
    panel = random_panel(silent=0.2)
    again = pickle.loads(pickle.dumps(panel))
    assert_array_equal(again.reports, panel.reports)
    assert again.agents == panel.agents


def test_long_lists_of_agents_are_cut_short():
    assert "agent4, ...)" in repr(random_panel(agents=9))


def test_the_base_rate_counts_cases_by_weight():
    panel = random_panel(classes=3, cases=3)
    np.testing.assert_allclose(
        panel.base_rate(np.array([2.0, 1.0, 1.0])), [0.5, 0.25, 0.25]
    )


@pytest.mark.parametrize(
    ("reports", "outcomes", "kind", "match"),
    [
        ([[87, 60], [20, 40]], [1, 0], ReportError, r"'agent0' has 87 in case 0 .4 such"),
        ([[4, 0.5], [1, 0.5]], [1, 0], ReportError, "'agent0' has 4 in case 0"),
        ([[0.5, 0.6], [-1.2, 0.4]], [1, 0], ReportError, "'agent0' has -1.2 in case 1"),
        ([[np.inf, 0.6], [0.2, 0.4]], [1, 0], ReportError, "'agent0' has inf in case 0"),
        ([["high", 0.6], [0.2, 0.4]], [1, 0], ReportError, "'agent0' has 'high' in case 0"),
        (np.array([[{}, 0.6], [0.2, 0.4]], dtype=object), [1, 0], ReportError, "must be a number"),
        ("text", [1, 0], ReportError, "table of numbers"),
        ([0.9, 0.2], [1, 0], ReportError, r"shape \(2,\)"),
        (np.full((2, 2, 1), 0.5), [1, 0], ReportError, "K of at least 2"),
        ([[NAN, NAN], [0.2, 0.4], [0.3, 0.1]], [1, 0, 1], ReportError, "there is none in case 0"),
        ([[0.9], [0.2]], [1, 0], AgentError, "at least 2 agents; got 1, 'agent0'"),
        (np.empty((2, 0)), [1, 0], AgentError, "at least 2 agents; got 0"),
        ([[0.9, 0.6]], [1], PanelError, "at least 2 cases; got 1"),
        (np.empty((0, 2)), [], PanelError, "at least one case"),
        (GOOD, [1, 2], OutcomeError, "of, 1 or 2.*positive=2"),
        (GOOD, [1, -1], OutcomeError, "of, -1 or 1.*positive=-1.*1 is more likely"),
        (GOOD, [1, 0.5], OutcomeError, "got 0.5 in case 1"),
        (GOOD, [1, NAN], OutcomeError, "case 1 has none.*not known yet"),
        (GOOD, ["yes", "no"], OutcomeError, "of, 'no' or 'yes'.*positive='no'"),
        (GOOD, np.array([1, "no"], dtype=object), OutcomeError, "all text or all numbers; got 1 in case 0 and 'no' in case 1"),
        (GOOD, [[1], [0]], OutcomeError, "one label per case"),
        (GOOD, [1, 0, 1], OutcomeError, "got 3 outcomes for 2 cases"),
        (GOOD, ["a", "a"], OutcomeError, "every outcome is 'a'"),
        ([[[0.5, 0.4, 0.3]] * 2] * 2, [0, 1], ReportError, "must sum to 1; agent 'agent0' sums to 1.2"),
        ([[[0.5, NAN, 0.5]] * 2] * 2, [0, 1], ReportError, "'agent0' left some out in case 0"),
    ],
)  # fmt: skip
def test_invalid_panels_are_refused_in_one_sentence(reports, outcomes, kind, match):
    with pytest.raises(kind, match=match) as refusal:
        Panel(reports, outcomes)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("names", "match"),
    [
        (("ada", "ada"), "got 'ada' 2 times"),
        (("ada",), "got 1 names for 2 columns"),
    ],
)
def test_agents_need_names_of_their_own(names, match):
    with pytest.raises(AgentError, match=match):
        Panel(GOOD, [1, 0], agents=names)


def test_ids_must_be_one_a_case():
    with pytest.raises(PanelError, match="ids must hold one value per case, 2"):
        Panel(GOOD, [1, 0], ids=[1, 2, 3])


def test_an_object_array_of_numbers_is_read_as_outcomes():
    assert Panel(GOOD, np.array([1, 0], dtype=object)).outcomes.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("outcomes", "positive"), [(["no", "yes"], "yes"), ([1, 2], 2), ([0, 1], 0)]
)
def test_two_columns_per_agent_have_no_order_but_that_of_0_and_1(outcomes, positive):
    # scikit-learn sorts its labels; a cube of such reports would be read backwards.
    cube = np.stack([1 - np.array(GOOD), GOOD], axis=2)
    assert Panel(cube, [0, 1], positive=1).outcomes.tolist() == [0, 1]
    with pytest.raises(ReportError, match=f"have no order.*that of {positive!r}"):
        Panel(cube, outcomes, positive=positive)


def test_a_panel_keeps_its_labels_in_every_part():
    panel = Panel(GOOD, ["bad", "good"], positive="bad", times=[2, 1])
    assert panel.counts == (1, 1)
    for part in (
        panel.take(np.array([0])),
        panel.sort_by_time(),
        panel.with_reports(np.eye(2)),
    ):
        assert part.labels.names == ("good", "bad")
    assert "2 classes (positive: 'bad'), 0.0 % missing" in repr(panel)


def test_a_panel_without_missing_reports_is_already_filled():
    panel = random_panel()
    assert panel.fill_missing() is panel


def test_pending_cases_belong_to_the_panel_and_not_to_its_parts():
    panel = Panel([[0.9, 0.6], [0.2, 0.1], [0.4, 0.3]], [1, 0, 0], times=[3, 1, 2])
    panel = panel.with_pending([[0.5, np.nan]], ids=["new"], times=[4])
    assert len(panel.pending) == 1
    assert panel.sort_by_time().pending.given is panel.pending.given
    assert panel.with_reports(panel.reports).pending is panel.pending
    assert panel.take(np.array([0, 1])).pending is None
    assert len(panel) == 3


def test_pending_cases_are_checked():
    panel = Panel([[0.9, 0.6], [0.2, 0.1]], [1, 0])
    with pytest.raises(ReportError, match="87"):
        panel.with_pending([[0.5, 87.0]])
    with pytest.raises(PanelError, match="same agents and classes"):
        panel.with_pending([[[0.5, 0.3, 0.2]] * 2])
    with pytest.raises(PanelError, match="either all cases have times or none"):
        panel.with_pending([[0.5, 0.2]], times=[3])


def test_an_agent_may_have_no_report_and_a_class_no_case():
    panel = Panel([[NAN, 0.6], [NAN, 0.4]], [0, 0])
    assert (panel.silent, panel.counts) == (2, (2, 0))
    with pytest.raises(OutcomeError, match="a game needs cases of at least two"):
        panel.check_classes_occur("a game")


def test_the_refusal_of_a_column_of_text_says_to_leave_it_out():
    table = pd.DataFrame({"a": [0.1, 0.9], "b": [0.2, 0.8], "ward": ["x", "y"]})
    with pytest.raises(
        ReportError,
        match=r"agent 'ward' has 'x' in case 0\. Leave out a column that is not an "
        r"agent\.$",
    ):
        Panel(table, [0, 1])
    assert Panel(table[["a", "b"]], [0, 1]).agents == ("a", "b")


def test_reports_that_are_taken_out_of_a_full_panel_are_missing():
    """They were not counted, and a pool was fitted as if nobody were silent."""
    panel = random_panel(0, 60)
    reports = panel.values.copy()
    reports[:20, 1] = np.nan
    some = panel.with_reports(reports)
    assert some.silent == 20
    assert np.isfinite(VCG().fit_panel(some).weights_).all()
    assert some.with_reports(panel.values).silent == 0


def test_the_share_of_missing_reports_counts_every_cell():
    panel = Panel([[0.9, np.nan], [0.2, 0.1]], [1, 0])
    assert (panel.silent, panel.missing) == (1, 0.25)
