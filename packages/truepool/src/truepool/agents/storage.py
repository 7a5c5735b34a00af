"""Saved agents: ``.joblib`` files of truepool, and ONNX files."""

import io
from pathlib import Path
from typing import Any

import joblib

from truepool.agents.fitted_agent import FittedAgent
from truepool.agents.onnx import OnnxAgent
from truepool.core.errors import AgentError, SourceError
from truepool.core.files import check_path, missing_file, write_bytes

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


def load(path: str | Path, *, trust: bool = False) -> Any:
    """Read an agent from an ``.onnx`` or ``.joblib`` file.

    A ``.joblib`` file is a pickle, which can run any code when it is loaded. It is
    therefore refused without ``trust=True``, which is meant for files that you, or
    somebody you trust, saved. An ONNX file runs no code.
    """
    path = Path(path)
    if not path.is_file():
        raise SourceError(missing_file(path))
    if path.suffix == ".onnx":
        return OnnxAgent(path)
    if path.suffix != ".joblib":
        raise SourceError(f"an agent is read from .joblib or .onnx; got {str(path)!r}")
    if not trust:
        raise SourceError(
            f"{str(path)!r} was not loaded, because a .joblib file can run any code. "
            "If you trust its source, pass trust. An ONNX file "
            "(truepool agent export) is a safe way to share an agent."
        )
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
