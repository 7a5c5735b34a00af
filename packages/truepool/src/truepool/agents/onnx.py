"""An agent read from an ONNX file, run by onnxruntime."""

import json
from pathlib import Path
from typing import Any, final

import numpy as np

from truepool.agents.features.encoding import Encoder
from truepool.core.arrays import Array, FloatArray
from truepool.core.distributions import require
from truepool.core.errors import FeatureError, ReportError, SourceError
from truepool.core.files import missing_file
from truepool.panel.reports import SUM_TOLERANCE

NEEDED = (
    "an ONNX agent takes one table of numbers (cases x features, float or double) and "
    "gives a tensor of probabilities (cases x classes)"
)
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64}


@final
class OnnxAgent:
    """Reports of a model in the ONNX format, on one thread.

    A file that truepool exported holds its feature names, categories, labels and the
    ``positive`` one of two. A file from elsewhere gets the labels 0, 1, ... unless
    ``classes`` are given.

    Parameters
    ----------
    source : path, or bytes of the model
    classes : sequence of labels, optional
    """

    def __init__(self, source: str | Path | bytes, classes: Any = None) -> None:
        self._content = source if isinstance(source, bytes) else _read(Path(source))
        self.name = "model" if isinstance(source, bytes) else Path(source).stem
        self._open(classes)

    def _open(self, classes: Any) -> None:
        self._session = open_session(self._content, self.name)
        self._input, self._output = _ends(self._session, self.name)
        text = self._session.get_modelmeta().custom_metadata_map.get("truepool")
        try:
            known = json.loads(text) if text else {}
            self._encoder = Encoder.from_dict(known["encoder"]) if known else None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise SourceError(
                f"the entry 'truepool' in the metadata of {self.name!r} must be what "
                f"truepool agent export writes; got {text!r:.60}"
            ) from None
        self._missing = bool(known.get("missing", True))
        wide = self._output.shape[1]
        labels = known.get("classes") if classes is None else list(classes)
        if labels is None and isinstance(wide, int):
            labels = list(range(wide))
        self.classes_: Array = np.asarray(labels if labels is not None else [0, 1])
        if known and "positive" not in known:
            raise SourceError(
                f"{self.name!r} was exported before agents knew their positive label; "
                "train and export it again"
            )
        plain = self.classes_.tolist() == [0, 1]
        self.positive: Any = known.get("positive", 1 if plain else None)
        if isinstance(wide, int) and wide != len(self.classes_):
            raise SourceError(
                f"{self.name!r} gives probabilities of {wide} classes; "
                f"got {len(self.classes_)} labels"
            )

    @property
    def encoder(self) -> Encoder | None:
        """How a table becomes numbers; None for a file from elsewhere."""
        return self._encoder

    @property
    def width(self) -> int | None:
        """How many numbers per case the graph takes; None if it does not say."""
        width = self._input.shape[1]
        return width if isinstance(width, int) else None

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of every class, (T, K)."""
        return self.predict_encoded(
            X if self._encoder is None else self._encoder.transform(X)
        )

    def predict_encoded(self, values: Any) -> FloatArray:
        """Probability of every class, (T, K), from encoded features (T, F)."""
        values = np.asarray(values)
        wide = self._input.shape[1]
        if values.ndim != 2 or (isinstance(wide, int) and values.shape[1] != wide):
            raise FeatureError(
                f"{self.name!r} takes {wide} features per case; got an array of shape "
                f"{values.shape}"
            )
        if not self._missing and np.isnan(values).any():
            raise FeatureError(
                f"{self.name!r} takes no missing values; case "
                f"{int(np.argmax(np.isnan(values).any(axis=1)))} has some"
            )
        fed = values.astype(TYPES[self._input.type])
        (answer,) = self._session.run([self._output.name], {self._input.name: fed})
        return self._checked(np.asarray(answer, dtype=np.float64))

    def _checked(self, answer: FloatArray) -> FloatArray:
        """Return probabilities, or refuse the scores that a graph may end in."""
        if answer.ndim != 2 or answer.shape[1] != len(self.classes_):
            raise ReportError(
                f"{NEEDED}; {self.name!r} returned {answer.shape} for "
                f"{len(self.classes_)} classes"
            )
        total = answer.sum(axis=1)
        wrong = ~(
            (np.abs(total - 1) <= SUM_TOLERANCE)
            & (answer.min(axis=1) >= -SUM_TOLERANCE)
        )
        if wrong.any():
            raise ReportError(
                f"{NEEDED}; {self.name!r} returned {answer[int(np.argmax(wrong))]} in "
                f"case {int(np.argmax(wrong))}. End the graph in a softmax or sigmoid."
            )
        return np.clip(answer, 0.0, 1.0)

    def __getstate__(self) -> dict[str, Any]:
        return {"content": self._content, "name": self.name, "classes": self.classes_}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._content, self.name = state["content"], state["name"]
        self._open(state["classes"])

    def __repr__(self) -> str:
        return f"OnnxAgent({self.name!r}, {len(self.classes_)} classes)"


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise SourceError(missing_file(path))
    return path.read_bytes()


def open_session(content: bytes, name: str) -> Any:
    """Return an onnxruntime session of one thread on the CPU."""
    ort = require("onnxruntime", "truepool[onnx]", "an ONNX agent")
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return ort.InferenceSession(
            content, options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's errors share no other base
        reason = str(error).splitlines()[0]
        raise SourceError(f"{name!r} cannot be read as ONNX: {reason}") from None


def _ends(session: Any, name: str) -> tuple[Any, Any]:
    """Return the input (a table of numbers) and the output (probabilities)."""
    inputs, outputs = session.get_inputs(), session.get_outputs()
    tables = [output for output in outputs if _is_table(output)]
    named = [output for output in tables if output.name == "probabilities"]
    chosen = (named or tables)[-1:]
    if len(inputs) == 1 and _is_table(inputs[0]) and chosen:
        return inputs[0], chosen[0]
    cure = ""
    if any(output.type.startswith("seq(map") for output in outputs):
        cure = ". Export it with zipmap=False"
    raise SourceError(
        f"{NEEDED}; {name!r} takes {_describe(inputs)} and gives "
        f"{_describe(outputs)}{cure}"
    )


def _is_table(end: Any) -> bool:
    if end.type not in TYPES or len(end.shape) != 2:
        return False
    return not isinstance(end.shape[1], int) or end.shape[1] > 1


def _describe(ends: list[Any]) -> str:
    return ", ".join(f"{end.name} {end.type} {end.shape}" for end in ends) or "nothing"
