"""Conversion of fitted classifiers to ONNX models of one form.

One input, ``features`` (T, F), and one output, ``probabilities`` (T, K). Labels are
left out: the argmax of rounded probabilities may break ties differently. Boosted trees
compute in single precision, as onnxruntime does; networks, regressions and forests in
double, because single precision would lose 1e-6 or more.
"""

from typing import Any

from truepool.core.distributions import require

FEATURES, PROBABILITIES = "features", "probabilities"
OPSET = 15


def from_scikit_learn(fitted: Any, width: int, *, double: bool = False) -> Any:
    """Convert a scikit-learn classifier, or a pipeline, in single or double."""
    skl2onnx = require("skl2onnx", "truepool[onnx]", "exporting")
    types = require("skl2onnx.common.data_types", "truepool[onnx]", "exporting")
    table = types.DoubleTensorType if double else types.FloatTensorType
    return skl2onnx.to_onnx(
        fitted,
        initial_types=[(FEATURES, table([None, width]))],
        options={id(fitted): {"zipmap": False}},
        target_opset=OPSET,
    )


def from_imputed(pipeline: Any, width: int) -> Any:
    """Convert a pipeline that begins with an imputer, in double precision.

    onnxruntime imputes in single precision only, so that step is written by hand.
    """
    onnx = require("onnx", "truepool[onnx]", "exporting")
    model = from_scikit_learn(pipeline[1:], width, double=True)
    whole = "without_gaps"
    for node in model.graph.node:
        node.input[:] = [whole if name == FEATURES else name for name in node.input]
    medians = onnx.numpy_helper.from_array(pipeline[0].statistics_, "medians")
    model.graph.initializer.append(medians)
    make = onnx.helper.make_node
    model.graph.node.insert(0, make("IsNaN", [FEATURES], ["gaps"]))
    fill = make("Where", ["gaps", "medians", FEATURES], [whole])
    model.graph.node.insert(1, fill)
    return model


def from_booster(library: str, fitted: Any, width: int, **options: Any) -> Any:
    """Convert a model of LightGBM or XGBoost."""
    onnxmltools = require("onnxmltools", "truepool[onnx]", "exporting")
    types = require(
        "onnxmltools.convert.common.data_types", "truepool[onnx]", "exporting"
    )
    convert = getattr(onnxmltools, f"convert_{library}")
    return convert(
        fitted,
        initial_types=[(FEATURES, types.FloatTensorType([None, width]))],
        target_opset=OPSET,
        **options,
    )


def from_trees(fitted: Any, trees: list[Any], width: int) -> Any:
    """Convert a tree or a forest of scikit-learn's.

    Features are rounded to single precision, as scikit-learn does before it compares,
    and then made double, because onnxruntime adds the trees up in the precision of its
    input: 500 trees in single precision would lose 5e-6.
    """
    onnx = require("onnx", "truepool[onnx]", "exporting")
    model = from_scikit_learn(fitted, width)  # its double form may never return
    double = "rounded"
    forest = next(node for node in model.graph.node if FEATURES in node.input)
    forest.input[:] = [double]
    _set_missing_direction(onnx, forest, trees)
    to = onnx.TensorProto.DOUBLE
    cast = onnx.helper.make_node("Cast", [FEATURES], [double], to=to)
    model.graph.node.insert(0, cast)
    return model


def _set_missing_direction(onnx: Any, node: Any, trees: list[Any]) -> None:
    """Send missing values where scikit-learn's trees send them.

    The converter silently sends all of them right (sklearn-onnx issue 1253). Each node
    of the export has the number of its node in the tree, so the direction is set.
    """
    there = {attribute.name: attribute for attribute in node.attribute}
    where = zip(there["nodes_treeids"].ints, there["nodes_nodeids"].ints, strict=True)
    left = [int(trees[tree].tree_.missing_go_to_left[i]) for tree, i in where]
    way = "nodes_missing_value_tracks_true"
    if way in there:
        node.attribute.remove(there[way])
    node.attribute.append(onnx.helper.make_attribute(way, left))


def only_probabilities(model: Any, classes: int) -> Any:
    """Keep one output, the tensor of probabilities, under its usual name."""
    onnx = require("onnx", "truepool[onnx]", "exporting")
    graph = model.graph
    names = [output.name for output in graph.output]
    precision = graph.input[0].type.tensor_type.elem_type
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
        onnx.helper.make_tensor_value_info(PROBABILITIES, precision, shape)
    )
    return model
