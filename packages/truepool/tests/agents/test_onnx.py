"""ONNX files as agents, ours and others', and those that cannot be."""

import json
import pickle

import numpy as np
import onnx
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from onnx import TensorProto, helper
from training_data import features

from truepool import agents
from truepool.agents.onnx_export import _convert
from truepool.core.errors import FeatureError, ReportError, SourceError


def made(inputs, outputs, nodes):
    """Bytes of a model with these ends."""
    ends = [
        [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in part]
        for part in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "test", *ends)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
    model.ir_version = 8
    return model.SerializeToString()


F, D, S = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.STRING
SOFTMAX = helper.make_node("Softmax", ["x"], ["p"], axis=1)


@pytest.mark.parametrize(("kind", "precision"), [(F, 1e-6), (D, 1e-15)])
def test_a_file_from_elsewhere_is_an_agent(tmp_path, kind, precision):
    content = made([("x", kind, ["n", 3])], [("p", kind, ["n", 3])], [SOFTMAX])
    (tmp_path / "soft.onnx").write_bytes(content)
    agent = agents.OnnxAgent(tmp_path / "soft.onnx")
    X = np.random.default_rng(0).normal(size=(7, 3))
    expected = np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)
    assert_allclose(agent.predict_proba(X), expected, atol=precision)
    assert_array_equal(agent.classes_, [0, 1, 2])
    assert repr(agent) == "OnnxAgent('soft', 3 classes)"
    named = agents.OnnxAgent(content, classes=["a", "b", "c"])
    assert_array_equal(pickle.loads(pickle.dumps(named)).classes_, ["a", "b", "c"])


def test_an_unspecified_width_means_two_classes_by_default():
    content = made([("x", F, ["n", "f"])], [("p", F, ["n", "k"])], [SOFTMAX])
    assert len(agents.OnnxAgent(content).classes_) == 2
    assert len(agents.OnnxAgent(content, classes=range(4)).classes_) == 4
    with pytest.raises(ReportError, match=r"'model' returned \(1, 3\) for 2 classes"):
        agents.OnnxAgent(content).predict_proba(np.zeros((1, 3)))


WORD = [helper.make_node("Identity", ["x"], ["p"])]
OTHERS = {
    "two inputs": made([("x", F, ["n", 2]), ("z", F, ["n", 2])], [("p", F, ["n", 2])], [helper.make_node("Add", ["x", "z"], ["p"])]),
    "text": made([("x", S, ["n", 2])], [("p", S, ["n", 2])], WORD),
    "a vector": made([("x", F, ["n"])], [("p", F, ["n"])], WORD),
    "one column": made([("x", F, ["n", 1])], [("p", F, ["n", 1])], WORD),
}  # fmt: skip


@pytest.mark.parametrize("case", OTHERS)
def test_the_error_about_other_inputs_and_outputs_states_the_requirements(case):
    with pytest.raises(SourceError) as stop:
        agents.OnnxAgent(OTHERS[case])
    message = str(stop.value)
    assert message.startswith(
        "an ONNX agent takes one table of numbers (cases x features,"
    )
    assert "'model' takes x tensor(" in message
    assert "gives p tensor(" in message


def test_a_zipmap_is_refused_with_the_cure():
    from skl2onnx import to_onnx
    from sklearn.naive_bayes import GaussianNB

    X, y = features()
    content = to_onnx(
        GaussianNB().fit(X, y), X[:1].astype(np.float32)
    ).SerializeToString()
    with pytest.raises(SourceError, match="Export it with zipmap=False"):
        agents.OnnxAgent(content)


def test_what_is_not_onnx_is_refused(tmp_path):
    with pytest.raises(SourceError, match="'model' cannot be read as ONNX"):
        agents.OnnxAgent(b"nonsense")
    with pytest.raises(SourceError, match="there is no file"):
        agents.OnnxAgent(tmp_path / "none.onnx")


def test_scores_are_no_probabilities():
    content = made([("x", F, ["n", 2])], [("p", F, ["n", 2])], WORD)
    agent = agents.OnnxAgent(content)
    assert agent.predict_proba([[0.25, 0.75]]).tolist() == [[0.25, 0.75]]
    with pytest.raises(ReportError, match="End the graph in a softmax or sigmoid"):
        agent.predict_proba([[0.25, 0.75], [2.0, -1.0]])


def test_other_rows_and_labels_are_refused():
    content = made([("x", F, ["n", 3])], [("p", F, ["n", 3])], [SOFTMAX])
    with pytest.raises(
        FeatureError, match=r"3 features per case; got an array of shape \(2, 4\)"
    ):
        agents.OnnxAgent(content).predict_proba(np.zeros((2, 4)))
    with pytest.raises(SourceError, match="of 3 classes; got 2 labels"):
        agents.OnnxAgent(content, classes=[0, 1])


def test_our_files_know_names_categories_and_labels(tmp_path):
    X, y = features()
    flags = np.array(["SF", "REJ", "S0", "RSTO"])[X[:, 4].astype(int)]
    table = pa.table({"size": X[:, 0], "rate": X[:, 1], "flag": flags})
    words = np.where(y == 1, "attack", "normal")
    trained = agents.train(table, words, ["random-forest"], positive="attack", features=[["flag", "size"]], cache=False)  # fmt: skip
    agents.export(trained["random-forest"], tmp_path / "rf.onnx", table)
    agent = pickle.loads(pickle.dumps(agents.load(tmp_path / "rf.onnx")))
    assert agent.classes_.tolist() == ["normal", "attack"]
    assert agent.positive == "attack"
    turned = table.select(["flag", "rate", "size"])
    assert_allclose(agent.predict_proba(turned), trained["random-forest"].predict_proba(table), atol=1e-6)  # fmt: skip
    with pytest.raises(
        FeatureError, match="column 'flag' says 'XX' in zero-based row 0"
    ):
        agent.predict_proba(pa.table({"size": [1.0], "flag": ["XX"]}))


def test_an_export_is_plain_onnx(tmp_path):
    X, y = features()
    trained = agents.train(X, y, ["random-forest"], cache=False)
    agents.export(trained["random-forest"], tmp_path / "rf.onnx")
    model = onnx.load(tmp_path / "rf.onnx")
    onnx.checker.check_model(model)
    assert [end.name for end in model.graph.input] == ["features"]
    assert [end.name for end in model.graph.output] == ["probabilities"]


def test_a_file_without_a_positive_label_is_refused():
    X, y = features()
    trained = agents.train(X, y, ["random-forest"], cache=False)["random-forest"]
    model = onnx.load_from_string(_convert(trained, True))
    message = json.loads(model.metadata_props[-1].value)
    del message["positive"]
    model.metadata_props[-1].value = json.dumps(message)
    with pytest.raises(
        SourceError, match="before agents knew .*; train and export it again"
    ):
        agents.OnnxAgent(model.SerializeToString())


def test_labels_given_to_a_file_from_elsewhere_leave_open_which_is_positive():
    content = made([("x", F, ["n", 2])], [("p", F, ["n", 2])], WORD)
    assert agents.OnnxAgent(content).positive == 1
    assert agents.OnnxAgent(content, classes=["attack", "normal"]).positive is None
