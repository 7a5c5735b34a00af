"""Saved agents: ``.joblib`` files of truepool, and ONNX files."""

import io
from pathlib import Path
from typing import Any

import joblib

from truepool.agents.fitted_agent import FittedAgent
from truepool.agents.onnx import OnnxAgent
from truepool.core.errors import AgentError, SourceError
from truepool.core.files import check_path, write_bytes

MARK = "truepool agent 2"

FIRST = "truepool agent 1"
"""Mark of agents that did not say which of their labels is positive."""


def save(agent: Any, path: str | Path) -> Path:
    """Write a trained agent to a ``.joblib`` file, whole or not at all."""
    path = check_path(path, ".joblib")
    if not isinstance(agent, FittedAgent):
        raise AgentError(
            "only agents that truepool trained can be saved; "
            f"got {type(agent).__name__}"
        )
    content = io.BytesIO()
    joblib.dump((MARK, agent), content, compress=3)
    write_bytes(path, content.getvalue())
    return path


def load(path: str | Path) -> Any:
    """Read an agent from a ``.joblib`` or ``.onnx`` file.

    A ``.joblib`` file runs code when it is read, as every pickle: load only what you,
    or somebody you trust, has saved. An ONNX file runs none.
    """
    path = Path(path)
    if not path.is_file():
        raise SourceError(f"there is no file {str(path)!r}")
    if path.suffix == ".onnx":
        return OnnxAgent(path)
    if path.suffix != ".joblib":
        raise SourceError(f"an agent is read from .joblib or .onnx; got {str(path)!r}")
    try:
        content = joblib.load(path)
    except Exception as error:  # a pickle can fail in any way there is
        raise SourceError(
            f"{str(path)!r} cannot be read as an agent: {type(error).__name__}. It may "
            "be damaged, or come from other versions; train it again."
        ) from None
    if isinstance(content, tuple) and content[:1] == (FIRST,):
        raise SourceError(
            f"{str(path)!r} was saved before agents knew their positive label; train "
            "it again"
        )
    if not (isinstance(content, tuple) and content[:1] == (MARK,)):
        raise SourceError(
            f"{str(path)!r} must hold an agent that truepool saved; it holds "
            f"{type(content).__name__}. `truepool agent train` writes one."
        )
    return content[1]
