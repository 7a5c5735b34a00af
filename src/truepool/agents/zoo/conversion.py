"""ONNX models out of fitted classifiers, all in one form.

One input, ``features`` (T, F) of floats, and one output, ``probabilities`` (T, K):
labels are left out, because argmax of rounded probabilities breaks ties otherwise.
"""

from typing import Any

from truepool.agents.extras import brought

FEATURES, PROBABILITIES = "features", "probabilities"
OPSET = 15


def from_scikit_learn(fitted: Any, width: int) -> Any:
    """Convert a scikit-learn classifier or pipeline."""
    skl2onnx = brought("skl2onnx", "onnx", "exporting")
    types = brought("skl2onnx.common.data_types", "onnx", "exporting")
    return skl2onnx.to_onnx(
        fitted,
        initial_types=[(FEATURES, types.FloatTensorType([None, width]))],
        options={id(fitted): {"zipmap": False}},
        target_opset=OPSET,
    )


def from_booster(library: str, fitted: Any, width: int, **options: Any) -> Any:
    """Convert a model of LightGBM or XGBoost."""
    onnxmltools = brought("onnxmltools", "onnx", "exporting")
    types = brought("onnxmltools.convert.common.data_types", "onnx", "exporting")
    convert = getattr(onnxmltools, f"convert_{library}")
    return convert(
        fitted,
        initial_types=[(FEATURES, types.FloatTensorType([None, width]))],
        target_opset=OPSET,
        **options,
    )


def with_missing(model: Any, trees: list[Any]) -> Any:
    """Let missing values go the way they go in scikit-learn's trees.

    The converter sends all of them right, silently (sklearn-onnx issue 1253). Each node
    of the export is a node of a tree with the same number, so the way is written in.
    """
    onnx = brought("onnx", "onnx", "exporting")
    for node in model.graph.node:
        there = {attribute.name: attribute for attribute in node.attribute}
        if "nodes_treeids" not in there:
            continue
        where = zip(
            there["nodes_treeids"].ints, there["nodes_nodeids"].ints, strict=True
        )
        left = [int(trees[tree].tree_.missing_go_to_left[i]) for tree, i in where]
        way = "nodes_missing_value_tracks_true"
        if way in there:
            node.attribute.remove(there[way])
        node.attribute.append(onnx.helper.make_attribute(way, left))
    return model


def only_probabilities(model: Any, classes: int) -> Any:
    """Leave one output, the tensor of probabilities, under its usual name."""
    onnx = brought("onnx", "onnx", "exporting")
    graph = model.graph
    names = [output.name for output in graph.output]
    for node in [node for node in graph.node if node.op_type == "ZipMap"]:
        names[names.index(node.output[0])] = node.input[0]
        graph.node.remove(node)
    found = names[-1]
    if found != PROBABILITIES:
        made = onnx.helper.make_node("Identity", [found], [PROBABILITIES])
        graph.node.append(made)
    del graph.output[:]
    shape = ["rows", classes]
    graph.output.append(
        onnx.helper.make_tensor_value_info(PROBABILITIES, onnx.TensorProto.FLOAT, shape)
    )
    return model
