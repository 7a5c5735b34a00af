"""Export: an agent as an ONNX file, written only if it says what the agent says."""

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from truepool.agents.fitted_agent import Fitted
from truepool.agents.onnx import OnnxAgent
from truepool.agents.zoo.conversion import from_scikit_learn, only_probabilities
from truepool.core.arrays import FloatArray
from truepool.core.errors import ExportError
from truepool.core.files import check_path, write_bytes

PROBES = 1000
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Exported:
    """A file that was written, and how far its probabilities lie from the agent's.

    ``gap`` is max |dp| over ``rows`` rows; ``missing_gap`` that over as many rows with
    missing values, None for an agent that takes none.
    """

    path: Path
    rows: int
    gap: float
    missing_gap: float | None


def export(
    agent: Any, path: str | Path, rows: Any = None, tolerance: float | None = None
) -> Exported:
    """Write an agent as an ONNX file after comparing the two.

    The comparison is made on 1,000 rows put together from quantiles of what the agent
    was trained on, on the same rows with a tenth of the values missing, and on the
    ``rows`` that are given, if any. Where a probability differs by more than the
    ``tolerance`` (1e-6; 1e-3 for TabNet) nothing is written.

    Parameters
    ----------
    agent : Fitted
        An agent of `truepool.agents.train`, or one that was saved.
    path : path of the file to write
    rows : table of features, optional
        More rows to compare on, in the form of training.
    tolerance : float, optional
        Largest difference of a probability that is let pass.
    """
    path = check_path(path, ".onnx")
    fitted = _checked(agent)
    asked = _probes(fitted, rows)
    holes = np.where(np.random.default_rng(1).random(asked.shape) < 0.1, np.nan, asked)
    holes[0] = np.nan
    takes = _takes(fitted, holes)
    content = _converted(fitted, takes)
    allowed = tolerance
    if allowed is None:
        allowed = fitted.model.tolerance if fitted.model else TOLERANCE
    copy = OnnxAgent(content)
    gap = _gap(fitted, copy, asked, allowed, "")
    missing_gap = None
    if takes:
        missing_gap = _gap(fitted, copy, holes, allowed, " with missing values")
    write_bytes(path, content)
    return Exported(path, len(asked), gap, missing_gap)


def _checked(agent: Any) -> Fitted:
    if not isinstance(agent, Fitted):
        raise ExportError(
            "only agents that truepool trained can be exported; "
            f"{type(agent).__name__} came. Train it with agents.train."
        )
    if agent.calibration is not None:
        raise ExportError(
            f"a calibrated agent cannot be exported; {agent.name!r} is calibrated by "
            f"{agent.calibration}, and near 0 and 1 single precision is too coarse for "
            "log-odds. Train and export it uncalibrated, then calibrate the ONNX agent "
            "with agents.calibrated."
        )
    return agent


def _converted(agent: Fitted, missing: bool) -> bytes:
    width = len(agent.encoder.names_)
    try:
        with warnings.catch_warnings():
            # Converters warn of their own insides; the comparison is what counts.
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
    told = {
        "encoder": agent.encoder.to_dict(),
        "classes": agent.classes_.tolist(),
        "positive": agent.positive,
        "missing": missing,
    }
    entry = model.metadata_props.add()
    entry.key, entry.value = "truepool", json.dumps(told)
    content: bytes = model.SerializeToString()
    return content


def _probes(agent: Fitted, rows: Any) -> FloatArray:
    rng = np.random.default_rng(0)
    width = agent.grid.shape[1]
    picks = rng.integers(0, len(agent.grid), (PROBES, width))
    made = agent.grid[picks, np.arange(width)]
    return (
        made if rows is None else np.concatenate([made, agent.encoder.transform(rows)])
    )


def _takes(agent: Fitted, holes: FloatArray) -> bool:
    try:
        agent.answer(holes[:1])
    except ValueError:  # what scikit-learn says to missing values
        return False
    return True


def _gap(
    agent: Fitted, copy: OnnxAgent, asked: FloatArray, allowed: float, kind: str
) -> float:
    gaps = np.abs(agent.answer(asked) - copy.answer(asked)).max(axis=1)
    if not gaps.max() <= allowed:
        raise ExportError(
            f"an export must say what its agent says; {agent.name!r} differs by up to "
            f"{gaps.max():.2g} (allowed: {allowed:g}) in {(gaps > allowed).sum()} of "
            f"{len(asked)} rows{kind}. Nothing was written."
        )
    return float(gaps.max())
