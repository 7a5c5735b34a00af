"""Export of agents to ONNX; a file is written only if it gives the same reports."""

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from truepool.agents.fitted_agent import FittedAgent
from truepool.agents.onnx import OnnxAgent
from truepool.agents.zoo.conversion import from_scikit_learn, only_probabilities
from truepool.core.arrays import FloatArray
from truepool.core.errors import ExportError
from truepool.core.files import check_path, write_bytes

PROBES = 1000
TOLERANCE = 1e-6


@dataclass(frozen=True)
class ExportResult:
    """The file of an export, and how far its probabilities are from the agent's.

    ``gap`` is ``max |dp|`` over ``cases`` cases; ``missing_gap`` is the same with
    missing values, None for an agent that takes none.
    """

    path: Path
    cases: int
    gap: float
    missing_gap: float | None


def export(
    agent: Any, path: str | Path, cases: Any = None, tolerance: float | None = None
) -> ExportResult:
    """Write an agent as an ONNX file, if the two give the same reports.

    They are compared on 1,000 cases drawn from quantiles of the training data, on the
    same cases with a tenth of the values missing, and on the ``cases`` given, if any.
    Nothing is written if a probability differs by more than the ``tolerance`` (1e-6;
    1e-3 for TabNet).

    Parameters
    ----------
    agent : Fitted
        An agent of `truepool.agents.train`, or one that was saved.
    path : path of the file to write
    cases : table of features, optional
        More cases to compare on, with the columns of training.
    tolerance : float, optional
        Largest difference of a probability that is allowed.
    """
    path = check_path(path, ".onnx")
    fitted = _checked(agent)
    probes = _probes(fitted, cases)
    holes = np.where(
        np.random.default_rng(1).random(probes.shape) < 0.1, np.nan, probes
    )
    holes[0] = np.nan
    takes = _takes_missing(fitted, holes)
    content = _convert(fitted, takes)
    allowed = tolerance
    if allowed is None:
        allowed = fitted.model.tolerance if fitted.model else TOLERANCE
    copy = OnnxAgent(content)
    gap = _gap(fitted, copy, probes, allowed, "")
    missing_gap = None
    if takes:
        missing_gap = _gap(fitted, copy, holes, allowed, " with missing values")
    write_bytes(path, content)
    return ExportResult(path, len(probes), gap, missing_gap)


def _checked(agent: Any) -> FittedAgent:
    if not isinstance(agent, FittedAgent):
        raise ExportError(
            "only agents that truepool trained can be exported; "
            f"got {type(agent).__name__}. Train it with agents.train."
        )
    if agent.calibration is not None:
        raise ExportError(
            f"a calibrated agent cannot be exported; {agent.name!r} is calibrated by "
            f"{agent.calibration}, and near 0 and 1 single precision is too coarse for "
            "log-odds. Train and export it uncalibrated, then calibrate the ONNX agent "
            "with agents.calibrate."
        )
    return agent


def _convert(agent: FittedAgent, missing: bool) -> bytes:
    width = len(agent.encoder.names_)
    try:
        with warnings.catch_warnings():
            # Converters warn about their internals; the comparison below decides.
            warnings.simplefilter("ignore")
            model = (
                agent.model.to_onnx(agent.classifier, width)
                if agent.model
                else from_scikit_learn(agent.classifier, width)
            )
    except (RuntimeError, NotImplementedError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ExportError(
            f"agent {agent.name!r} ({type(agent.classifier).__name__}) cannot be "
            f"written as ONNX: {reason}"
        ) from None
    model = only_probabilities(model, len(agent.classes_))
    metadata = {
        "encoder": agent.encoder.to_dict(),
        "classes": agent.classes_.tolist(),
        "positive": agent.positive,
        "missing": missing,
    }
    entry = model.metadata_props.add()
    entry.key, entry.value = "truepool", json.dumps(metadata)
    content: bytes = model.SerializeToString()
    return content


def _probes(agent: FittedAgent, cases: Any) -> FloatArray:
    rng = np.random.default_rng(0)
    width = agent.grid.shape[1]
    picks = rng.integers(0, len(agent.grid), (PROBES, width))
    drawn = agent.grid[picks, np.arange(width)]
    if cases is None:
        return drawn
    return np.concatenate([drawn, agent.encoder.transform(cases)])


def _takes_missing(agent: FittedAgent, holes: FloatArray) -> bool:
    try:
        agent.predict_encoded(holes[:1])
    except ValueError:  # raised by scikit-learn for missing values
        return False
    return True


def _gap(
    agent: FittedAgent, copy: OnnxAgent, probes: FloatArray, allowed: float, kind: str
) -> float:
    gaps = np.abs(agent.predict_encoded(probes) - copy.predict_encoded(probes)).max(
        axis=1
    )
    if not gaps.max() <= allowed:
        raise ExportError(
            f"an export must give the reports of its agent; {agent.name!r} differs by "
            f"up to {gaps.max():.2g} (allowed: {allowed:g}) in "
            f"{(gaps > allowed).sum()} of {len(probes)} cases{kind}. "
            "Nothing was written."
        )
    return float(gaps.max())
