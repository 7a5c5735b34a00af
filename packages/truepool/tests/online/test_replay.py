import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel

from truepool import Stream, replay
from truepool.core.errors import (
    AgentError,
    OutcomeError,
    PanelError,
    ReportError,
    SettingError,
    UnknownNameError,
)
from truepool.learners import make
from truepool.measures.fixed_weights import FixedWeights
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

NAN = float("nan")


def test_regret_is_the_excess_loss_over_the_best_fixed_weighting():
    panel = random_panel(1)
    trace = replay("gradient", panel)
    best = FixedWeights(panel, Loss("brier")).best()
    lost = (panel.reports @ best - panel.outcomes) ** 2
    assert_allclose(trace.best_weights, best)
    assert_allclose(trace.regret, (trace.losses - lost).cumsum())


def test_regret_to_the_best_agent():
    panel = random_panel(1)
    trace = replay("hedge", panel)
    lost = (panel.reports - panel.outcomes[:, None]) ** 2
    best = lost.mean(axis=0).argmin()
    assert trace.best_agent == f"agent{best}"
    assert_allclose(trace.regret_to_agent, (trace.losses - lost[:, best]).cumsum())


def test_a_loss_that_is_not_convex_has_no_best_weighting():
    trace = replay("hedge", random_panel(1), loss="cost", costs=Costs(fn=10, fp=1))
    assert trace.best_weights is None
    assert trace.regret is None
    assert trace.regret_to_agent.shape == (80,)


def test_a_threshold_decides_what_a_decision_costs():
    panel = random_panel(1)
    costs = Costs(fn=10, fp=1)
    trace = replay("hedge", panel, loss="cost", costs=costs, threshold=0.7)
    missed = (trace.pooled <= 0.7) & (panel.outcomes == 1)
    assert_allclose(trace.losses[missed], 10.0)


def test_pooled_classes_have_one_column_per_class():
    trace = replay("gradient", random_panel(1, classes=3))
    assert trace.pooled.shape == (80, 3)
    assert trace.weights.shape == (81, 4)
    assert "mean brier" in repr(trace)


def test_cases_are_replayed_in_the_order_of_their_times():
    base = random_panel(1)
    order = np.random.default_rng(0).permutation(80)
    shuffled = Panel(base.reports[order], base.outcomes[order], times=order)
    assert_allclose(replay("hedge", shuffled).weights, replay("hedge", base).weights)


def test_a_late_outcome_is_settled_with_the_weights_of_its_own_case():
    # Two cases are decided at equal weights before the first outcome is known.
    panel = Panel([[0.9, 0.2], [0.8, 0.4]], [1, 0])
    late = replay("gradient", panel, delay=[1, 0], rate=1.0)
    p = 0.55
    w = np.exp(-2 * (p - 1) * panel.reports[0])
    p = 0.6
    w = w * np.exp(-2 * (p - 0) * panel.reports[1])
    assert_allclose(late.weights[2], w / w.sum())
    assert_allclose(late.weights[1], 0.5)


@pytest.mark.parametrize("name", ["gradient", "hedge"])
def test_regret_with_delay_grows_as_theory_says(name):
    # Joulani et al. (2013): without drift, delay adds the loss while no outcome is
    # known; against any sequence, at most O(sqrt((T + total delay) ln N)).
    T, gap = 20_000, 0.24  # the mean of both agents loses 0.25, the better one 0.01
    outcomes = np.arange(T) % 2
    right, wrong = np.where(outcomes, 0.9, 0.1), np.where(outcomes, 0.1, 0.9)
    steady = Panel(np.stack([right, wrong], axis=1), outcomes)
    at_once = replay(name, steady, path=False).regret_to_agent[-1]
    for delay in (10, 100, 1000):
        late = replay(name, steady, delay=delay, path=False).regret_to_agent[-1]
        assert gap * delay <= late <= at_once + 2 * gap * delay
        turn = (
            np.arange(T) // (delay + 1)
        ) % 2  # the best agent changes before the outcomes are known
        reports = np.stack(
            [np.where(turn, right, wrong), np.where(turn, wrong, right)], axis=1
        )
        hard = replay(name, Panel(reports, outcomes), delay=delay, path=False)
        assert hard.regret[-1] <= np.sqrt(T * (1 + delay) * np.log(2))


def test_outcomes_that_are_never_known_are_counted():
    trace = replay("hedge", random_panel(1), delay=10)
    assert trace.unsettled == 10
    assert trace.state.settled == 70


@pytest.mark.parametrize("delay", [-1, 0.5, [1, 2], "x"])
def test_a_delay_must_be_a_number_of_cases(delay):
    with pytest.raises(SettingError, match="whole number of cases"):
        replay("hedge", random_panel(1), delay=delay)


def test_a_learner_object_may_be_passed():
    learner = make("hedge", rate=0.3)
    assert replay(learner, random_panel(1)).learner is learner
    with pytest.raises(UnknownNameError, match="did you mean 'hedge'"):
        replay("hege", random_panel(1))


def test_settings_that_a_learner_does_not_have_are_refused():
    with pytest.raises(UnknownNameError, match="no setting of gradient is called"):
        replay("gradient", random_panel(1), size=5)
    with pytest.raises(SettingError, match="has its own settings; leave out rate"):
        replay(make("hedge"), random_panel(1), rate=0.1)
    with pytest.raises(SettingError, match="has its own settings"):
        Stream(make("hedge"), ("a", "b"), loss="log")


def stream_of(**options):
    return Stream("gradient", agents=("rf", "gbm"), **options)


def test_reports_are_by_name_and_may_be_missing():
    stream = stream_of()
    assert stream.predict_proba_one({"gbm": 0.4})[1] == pytest.approx(0.4)
    assert stream.predict_proba_one({"gbm": 0.4, "rf": 1})[1] == pytest.approx(0.7)
    assert stream.predict_proba_one({"gbm": 0.4, "rf": NAN})[1] == pytest.approx(0.4)
    assert stream.predict_proba_one({"rf": (0.8, 0.2), "gbm": 0.4})[1] == pytest.approx(
        0.3
    )


@pytest.mark.parametrize(
    ("act", "kind", "match"),
    [
        (lambda s: s.learn_one({"rf": 0.2}, NAN), OutcomeError, "got nan"),
        (lambda s: s.learn_one({"rf": 0.2}, 2), OutcomeError, "must be 0 or 1; got 2"),
        (lambda s: s.learn_one({"rf": 0.2}, "yes"), OutcomeError, "got 'yes'. A stream keeps its two labels"),
        (lambda s: s.learn_one({"xgb": 0.2}, 1), AgentError, "no agent is called 'xgb'; known: rf, gbm"),
        (lambda s: s.learn_one({"rf": 20}, 1), ReportError, "'rf' has 20"),
        (lambda s: s.learn_one({"rf": (0.2, 0.3, 0.5)}, 1), ReportError, "'rf' has"),
        (lambda s: s.learn_one({"rf": (0.9, 0.9)}, 1), ReportError, "'rf' has"),
        (lambda s: s.learn_one({"rf": "x"}, 1), ReportError, "'rf' has 'x'"),
        (lambda s: s.predict_proba_one({"rf": 0.3}, case="waits"), ReportError, "decided with other reports"),
        (lambda s: s.learn_one({}, 1), SettingError, "at least one agent must report"),
        (lambda s: s.predict_proba_one({"rf": NAN}), SettingError, "at least one agent"),
        (lambda s: s.settle("other", 1), OutcomeError, "no case 'other' is waiting"),
        (lambda s: s.settle("done", 0), OutcomeError, "settled with outcome 1; got 0"),
        (lambda s: s.predict_proba_one({"rf": 0.2}, case="done"), OutcomeError, "'done' is settled"),
        (lambda s: s.leave("xgb"), AgentError, "no agent is called 'xgb'"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_and_changes_nothing(act, kind, match):
    stream = stream_of()
    stream.predict_proba_one({"rf": 0.2, "gbm": 0.9}, case="done")
    stream.settle("done", 1)
    stream.predict_proba_one({"rf": 0.2}, case="waits")
    before = stream.state
    with pytest.raises(kind, match=match):
        act(stream)
    assert stream.state is before


LABELS = {"positive": "fraud", "negative": "genuine"}


def test_outcomes_may_have_names():
    plain = stream_of()
    named = Stream("gradient", agents=("rf", "gbm"), **LABELS)
    for name, outcome in ("genuine", 0), ("fraud", 1), ("genuine", 0):
        plain.learn_one({"rf": 0.2, "gbm": 0.9}, outcome)
        named.learn_one({"rf": 0.2, "gbm": 0.9}, name)
    assert named.weights == plain.weights
    named.predict_proba_one({"rf": 0.3}, case="late")
    named.settle("late", np.str_("fraud"))
    for wrong in ("Fraud", 1, 0, float("nan"), True, None, ["fraud"]):
        with pytest.raises(OutcomeError, match="must be 'genuine' or 'fraud'"):
            named.learn_one({"rf": 0.2}, wrong)


def test_a_misspelt_outcome_never_becomes_a_label():
    stream = Stream("gradient", agents=("rf", "gbm"), **LABELS)
    with pytest.raises(OutcomeError) as refusal:
        stream.learn_one({"rf": 0.2}, "genuime")
    assert str(refusal.value) == (
        "an outcome must be 'genuine' or 'fraud'; got 'genuime' (did you mean "
        "'genuine'?). A stream keeps its two labels; for others make a new one: "
        "Stream(..., positive=LABEL, negative=LABEL)"
    )
    stream.learn_one({"rf": 0.2}, "genuine")
    for one, other in (("positive", "negative"), ("negative", "positive")):
        with pytest.raises(SettingError, match=rf"alone. Add {other}=LABEL."):
            Stream("gradient", agents=("rf", "gbm"), **{one: "fraud"})


@pytest.mark.parametrize(
    "labels",
    [
        {"positive": "a", "negative": "a"},
        {"positive": "yes", "negative": 0},
        {"positive": ["yes"], "negative": ["no"]},
        {"positive": 1, "classes": 3},
    ],
)
def test_labels_that_are_not_two_are_refused(labels):
    with pytest.raises(SettingError, match="two labels of two classes; got"):
        Stream("gradient", agents=("rf", "gbm"), **labels)


def test_the_same_outcome_twice_changes_nothing():
    stream = stream_of()
    stream.predict_proba_one({"rf": 0.2, "gbm": 0.9}, case=1)
    stream.settle(1, 1)
    before = stream.state
    stream.settle(1, 1.0)
    assert stream.state is before


def test_agents_join_and_leave_while_cases_wait():
    stream = Stream("hedge", agents=("a", "b", "c"))
    stream.predict_proba_one({"a": 0.2, "b": 0.4}, case="early")
    stream.predict_proba_one({"a": 0.2}, case="only a")
    stream.join("new", prior=0.4)
    assert stream.weights["new"] == pytest.approx(0.4)
    stream.leave("a")
    assert set(stream.weights) == {"b", "c", "new"}
    with pytest.raises(ReportError, match="agents that have left since"):
        stream.predict_proba_one({"b": 0.9}, case="only a")  # it was decided
    before = stream.state
    stream.settle("only a", 1)  # nothing to learn, but no error
    assert stream.state is before
    with pytest.raises(OutcomeError, match="settled with outcome 1; got 0"):
        stream.settle("only a", 0)
    stream.settle("early", 1)
    assert sum(stream.weights.values()) == pytest.approx(1)


def test_agent_names_must_be_unique():
    with pytest.raises(AgentError, match="must be unique"):
        Stream("hedge", agents=("a", "a"))
    with pytest.raises(SettingError, match="at least 2 classes"):
        Stream("hedge", agents=("a", "b"), classes=1)
    with pytest.raises(SettingError, match="has its own settings"):
        Stream(make("static"), ("a", "b"), horizon=5)


def test_a_repeated_prediction_of_a_case_is_the_same():
    stream = stream_of()
    first = stream.predict_proba_one({"rf": 0.2, "gbm": 0.9}, case=1)
    stream.learn_one({"rf": 0.2, "gbm": 0.9}, np.True_)
    assert stream.predict_proba_one({"rf": 0.2, "gbm": 0.9}, case=1) == first


def test_a_delay_beyond_the_end_needs_no_memory():
    trace = replay("hedge", random_panel(1), delay=2**62, path=False)
    assert trace.unsettled == 80
    assert trace.state.settled == 0


def test_streams_of_k_classes_give_every_probability():
    stream = Stream("boa", agents=("a", "b"), classes=3)
    reports = {"a": [0.2, 0.3, 0.5], "b": [0.4, 0.3, 0.3]}
    assert stream.predict_proba_one(reports) == pytest.approx({0: 0.3, 1: 0.3, 2: 0.4})
    stream.learn_one(reports, 2)
    assert stream.weights["a"] > stream.weights["b"]


def test_fixed_share_adapts_to_drift_and_hedge_does_not():
    # Sudden drift: the best agent becomes the worst half-way through.
    rng = np.random.default_rng(0)
    T = 2000
    outcomes = rng.integers(0, 2, T)
    good, bad = np.where(outcomes, 0.9, 0.1), np.where(outcomes, 0.3, 0.7)
    first = np.arange(T) < T // 2
    panel = Panel(
        np.stack([np.where(first, good, bad), np.where(first, bad, good)], axis=1),
        outcomes,
    )
    share = replay("fixed-share", panel).losses[T // 2 + 100 :].mean()
    hedge = replay("hedge", panel).losses[T // 2 + 100 :].mean()
    assert share < 0.5 * hedge


def test_a_replay_needs_a_case_with_a_report():
    panel = Panel(np.full((3, 2), np.nan), [0, 1, 0], allow_empty_cases=True)
    with pytest.raises(PanelError, match="none of the 3 cases has one"):
        replay("gradient", panel)


def test_a_replay_of_many_agents_by_log_loss_has_no_best_weights():
    rng = np.random.default_rng(0)
    panel = Panel(rng.random((6, 501)), [0, 1, 0, 1, 0, 1])
    trace = replay("static", panel, loss="log")
    assert trace.best_weights is None
    assert trace.regret is None
    assert np.isfinite(trace.regret_to_agent).all()


def test_a_replay_of_anything_but_a_panel_is_refused_in_one_sentence():
    from truepool.core.errors import SettingError

    panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    with pytest.raises(SettingError, match=r"got a str as the panel\. Swap the two: "):
        replay(panel, "gradient")
    with pytest.raises(SettingError, match=r"got a list .* with truepool\.read_panel"):
        replay("gradient", [[0.9, 0.5]])


@pytest.mark.parametrize("use", [replay, lambda own, _: Stream(own, agents="ab")])
def test_an_object_that_is_no_learner_is_refused_with_what_one_is(use):
    class Own:
        def update(self, state, feedback):
            return state

    with pytest.raises(SettingError, match=r"derives from tp\.learners\.Learner; got"):
        use(Own(), random_panel())
