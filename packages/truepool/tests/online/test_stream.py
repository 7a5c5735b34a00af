"""Named cases, threads and memory of a stream."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from truepool import Costs, Stream
from truepool.core.errors import OutcomeError, SettingError

X = {"rf": 0.2, "gbm": 0.9}


def stream_of(**options):
    return Stream("gradient", agents=("rf", "gbm"), **options)


def settle(stream, *cases):
    for case in cases:
        stream.predict_proba_one(X, case=case)
        stream.settle(case, 1)


def test_without_a_limit_a_contradiction_is_refused_however_late():
    stream = stream_of()
    settle(stream, *range(2000))
    with pytest.raises(OutcomeError, match="case 0 was settled with outcome 1; got 0"):
        stream.settle(0, 0)
    with pytest.raises(OutcomeError, match="case 0 is settled"):
        stream.predict_proba_one(X, case=0)


def test_a_limit_drops_the_case_that_was_settled_longest_ago():
    stream = stream_of(memory=3)
    settle(stream, *range(5))
    assert list(stream.outcomes) == [2, 3, 4]
    stream.predict_proba_one(X, case="a")
    stream.predict_proba_one(X, case="b")
    assert (list(stream.outcomes), list(stream.waiting)) == ([4], ["a", "b"])


def test_a_limit_never_drops_a_waiting_case():
    stream = stream_of(memory=2)
    first = stream.predict_proba_one(X, case="a")
    stream.predict_proba_one(X, case="b")
    with pytest.raises(SettingError, match=r"at most 2 cases .* case 'c' .* drop\(\)"):
        stream.predict_proba_one(X, case="c")
    assert stream.predict_proba_one(X, case="a") == first
    stream.drop("b")
    stream.predict_proba_one(X, case="c")
    with pytest.raises(OutcomeError, match="no case 'b' is waiting"):
        stream.drop("b")
    with pytest.raises(SettingError, match="memory must be at least 1 case; got 0"):
        stream_of(memory=0)


@pytest.mark.parametrize("learner", ["gradient", "boa"])
def test_no_update_of_several_threads_is_lost(learner):
    stream = Stream(learner, agents=("rf", "gbm"))

    def work(thread):
        for i in range(150):
            stream.learn_one(X, i % 2)
            stream.predict_proba_one(X, case=(thread, i))
            stream.settle((thread, i), 1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert stream.state.settled == 8 * 300
    assert len(stream.outcomes) == 8 * 150
    assert not stream.waiting


def test_a_stream_is_pickled_with_its_waiting_cases():
    stream = stream_of()
    stream.predict_proba_one(X, case="a")
    copy = pickle.loads(pickle.dumps(stream))
    copy.settle("a", 1)
    assert (len(copy.waiting), len(stream.waiting)) == (0, 1)
    assert repr(copy) == "Stream(gradient, 2 agents, 1 case settled, 0 waiting)"


def test_decisions_depend_on_the_costs():
    costly, even = stream_of(costs=Costs(fn=10, fp=1)), stream_of()
    x = {"rf": 0.2, "gbm": 0.2}
    assert (costly.decide_one(x), even.decide_one(x)) == (1, 0)
    low = Stream("hedge", agents=("rf", "gbm"), loss="cost", threshold=0.1)
    assert low.decide_one(x) == 1
    labels = {"positive": "fraud", "negative": "genuine"}
    assert stream_of(**labels, costs=Costs(fn=1, fp=1)).decide_one(x) == "genuine"
    assert stream_of(**labels, costs=Costs(fn=10, fp=1)).decide_one(x) == "fraud"
    classes = Stream("hedge", agents=("a", "b"), classes=3)
    assert classes.decide_one({"a": (0.2, 0.5, 0.3)}) == 1


def test_a_second_outcome_is_refused_by_its_label():
    stream = stream_of(positive="fraud", negative="fine")
    stream.predict_proba_one(X, case=7)
    stream.settle(7, "fraud")
    with pytest.raises(OutcomeError, match="with outcome 'fraud'; got 'fine'"):
        stream.settle(7, "fine")
