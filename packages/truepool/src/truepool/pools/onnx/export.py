"""Export of fitted pools to ONNX; a file is written only if it pools alike."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from truepool.agents.onnx import open_session
from truepool.core.arrays import FloatArray, to_classes
from truepool.core.distributions import require
from truepool.core.errors import ExportError
from truepool.core.files import check_path, write_bytes
from truepool.panel.reports import SUM_TOLERANCE
from truepool.pools.interface.card import card_of
from truepool.pools.interface.pool import Pool
from truepool.pools.onnx.graph import Graph, Tensor, tensor_of_reports

REPORTS, PROBABILITIES = "reports", "probabilities"
"""What the input and the output are called."""
METADATA = "truepool-pool"
"""Key of the metadata, whose value is JSON."""
OPSET, IR_VERSION = 18, 8
"""Of December 2022: most runtimes know them."""
PROBES = 1000
"""Random cases, and as many whose reports are rounded or lie where a tree splits."""
TOLERANCE = 1e-9
"""Largest difference of a probability that is allowed: far above rounding in double
precision, far below what could change a decision."""


@dataclass(frozen=True)
class PoolExport:
    """The file of an export, and how far its probabilities are from the pool's.

    ``gap`` is ``max |dp|`` over ``cases`` cases: random ones, and such as tables have,
    with rounded reports. Most have missing reports.
    """

    path: Path
    cases: int
    gap: float


def export(pool: Pool, path: str | Path) -> PoolExport:
    """Write a fitted pool as an ONNX file, if the two give the same probabilities.

    The graph takes ``reports``, float64 (T, N) or (T, N, K) with NaN where there is no
    report, and gives ``probabilities`` (T, K); a case without any report gets NaN.
    They are compared on 1,000 random cases and on 1,000 with rounded reports and
    reports at which the pool jumps; nothing is written if a probability differs by
    more than 1e-9.

    Parameters
    ----------
    pool : Pool
        A fitted pool, or one that was loaded.
    path : path of the file to write
    """
    path = check_path(path, ".onnx")
    pool.explain()  # refuses a pool that has not learned
    content = _convert(pool)
    N, K = len(pool.agents_), len(pool.classes_)
    rounded = rounded_reports(N, K, pool.jumps())
    reports = np.concatenate([random_reports(N, K), rounded])
    (pooled,) = open_session(content, path.name).run(None, {REPORTS: reports})
    gaps = np.abs(pooled - pool.predict_proba(reports)).max(axis=1)
    if not gaps.max() <= TOLERANCE:
        raise ExportError(
            f"an export must give the probabilities of its pool; {pool.name!r} differs "
            f"by up to {gaps.max():.2g} (allowed: {TOLERANCE:g}) in "
            f"{int((~(gaps <= TOLERANCE)).sum())} of {len(gaps):,} cases. Nothing was "
            "written. Fit the pool again if an earlier version saved it; else please "
            "report it."
        )
    write_bytes(path, content)
    return PoolExport(path, len(gaps), float(gaps.max()))


def random_reports(agents: int, classes: int) -> FloatArray:
    """Reports (T, N) or (T, N, K) of all kinds: certain, tied, extreme and missing.

    >>> bool(np.isnan(random_reports(3, 2)).any())
    True
    """
    rng = np.random.default_rng(0)
    spread = rng.choice([0.5, 2.0, 12.0], (PROBES, 1, 1))
    odds = np.exp(spread * rng.normal(size=(PROBES, agents, classes)))
    reports = odds / odds.sum(axis=2, keepdims=True)
    tied = rng.random(PROBES) < 0.2
    certain = np.eye(classes)[rng.integers(0, classes, (PROBES, agents))]
    reports[tied] = certain[tied] + rng.integers(0, 2, (tied.sum(), 1, 1))
    reports /= reports.sum(axis=2, keepdims=True)
    return _with_gaps(reports, rng)


def rounded_reports(agents: int, classes: int, jumps: FloatArray) -> FloatArray:
    """Reports (T, N) or (T, N, K) as tables have them: two or three decimals, and ties.

    Those of more than two classes sum to 1 only up to their decimals. Half of the cases
    hold probabilities at which the pool ``jumps`` instead, if it does.

    >>> rounded_reports(2, 2, np.array([0.475]))[[8, 900]].tolist()
    [[0.475, 0.525], [0.685, nan]]
    """
    rng = np.random.default_rng(1)
    odds = np.exp(rng.normal(size=(PROBES, agents, classes)))
    reports = odds / odds.sum(axis=2, keepdims=True)
    places = np.where(np.arange(PROBES) % 2, 100, 1000)[:, None, None]
    rounded = np.rint(reports * places) / places
    fine = np.abs(rounded.sum(axis=2, keepdims=True) - 1) < SUM_TOLERANCE
    reports = np.where(fine, rounded, reports)
    if jumps.size:
        some = odds[: PROBES // 2]
        at = rng.choice(jumps, some.shape[:2])
        place = (*np.indices(at.shape), rng.integers(0, classes, at.shape))
        some[place] = 0.0
        some *= ((1.0 - at) / some.sum(axis=2))[:, :, None]
        some[place] = at
        reports[: PROBES // 2] = some
    tied = rng.random(PROBES) < 0.3
    reports[tied] = reports[tied][:, :1]
    return _with_gaps(reports, rng)


def _with_gaps(reports: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Leave out some reports (T, N, K), not all of a case; (T, N) of two classes."""
    T, N, K = reports.shape
    missing = rng.random((T, N)) < rng.choice([0, 0.3, 0.8], (T, 1))
    missing[np.arange(T), rng.integers(0, N, T)] = False
    reports[missing] = np.nan
    return np.asarray(reports[:, :, 1] if K == 2 else reports)


def _convert(pool: Pool) -> bytes:
    N, K = len(pool.agents_), len(pool.classes_)
    given = tensor_of_reports(Graph(), REPORTS, (N,) if K == 2 else (N, K))
    try:
        answer = _answer(pool, given, K)
    except Exception as error:  # of the formula, which may be anybody's
        raise ExportError(
            "an exported pool answers by functions of numpy that a graph has too; "
            f"{pool.name!r} does not: {error}"
        ) from error
    return serialize(given, answer, {METADATA: json.dumps(metadata(pool))})


def serialize(given: Tensor, answer: Tensor, properties: Mapping[str, str]) -> bytes:
    """Return the ONNX file of what was recorded, from an input to an output."""
    onnx = require("onnx", "truepool[onnx]", "exporting a pool")
    make, graph = onnx.helper, given.graph
    nodes = [
        make.make_node(operator, inputs, _outputs(operator, output), **attributes)
        for operator, inputs, output, attributes in graph.nodes
    ]
    nodes.append(make.make_node("Identity", [answer.label], [PROBABILITIES]))
    known = graph.constants.items()
    ends = [
        make.make_tensor_value_info(name, tensor.type, ["cases", *tensor.shape[1:]])
        for name, tensor in ((given.label, given), (PROBABILITIES, answer))
    ]
    model = make.make_model(
        make.make_graph(
            nodes,
            METADATA,
            ends[:1],
            ends[1:],
            [onnx.numpy_helper.from_array(array, label) for label, array in known],
        ),
        opset_imports=[make.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="truepool",
    )
    make.set_model_props(model, dict(properties))
    content: bytes = model.SerializeToString()
    return content


def _outputs(operator: str, output: str) -> list[str]:
    # TopK also gives the places of its values, which nobody uses.
    return [output, f"{output}_places"] if operator == "TopK" else [output]


def _answer(pool: Pool, given: Any, classes: int) -> Any:
    """Probabilities (T, K) of the reports given to a graph."""
    values = given[:, :, None] if classes == 2 else given
    if classes > 2:  # rounded reports sum to nearly 1
        values = values / values.sum(axis=2, keepdims=True)
    pooled = np.clip(pool.to_onnx(values), 0.0, 1.0)
    pooled = to_classes(pooled)
    if classes > 2:
        pooled = pooled / pooled.sum(axis=1, keepdims=True)
    silent = np.isnan(values[:, :, 0]).all(axis=1)
    return np.where(silent[:, None], np.nan, pooled)


def _ends(pool: Pool) -> dict[str, tuple[float, float]]:
    """Numbers that count as 0 and as 1, of agents that report no probabilities."""
    units = {} if pool.table is None else pool.table.units
    return {agent: (unit.zero, unit.one) for agent, unit in units.items()}


def metadata(pool: Pool) -> dict[str, Any]:
    """Return what a user of the file must know, ready for JSON."""
    card = card_of(pool)
    return {
        "pool": card.explanation.name,
        "agents": list(card.agents),
        "classes": list(card.labels.names),
        "positive": card.labels.positive,
        "threshold": card.threshold,
        "ends": _ends(pool),
        "truepool": card.library,
    }
