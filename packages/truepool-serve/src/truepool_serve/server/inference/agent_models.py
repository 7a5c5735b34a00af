"""A fitted agent as a model: features in, probabilities out."""

import asyncio
import hmac
from typing import Any, final

import numpy as np
import pyarrow as pa

from truepool.core.errors import RequestError, TruepoolError
from truepool_serve.server.inference.models import Ends, Inference, ModelCard, Models
from truepool_serve.server.inference.tensors import Tensor

INPUT = "features"
"""Name of the input that has all features as numbers; any other name will do."""


@final
class AgentModel(Models):
    """One agent, an ONNX file or one that truepool trained; with a token if given."""

    def __init__(self, agent: Any, name: str, token: str | None = None) -> None:
        self.agent, self.name, self.token = agent, name, token
        self.encoder = agent.encoder
        self.labels = np.asarray(agent.classes_).tolist()

    def identify(self, authorization: str | None) -> Any:
        """Refuse a caller without the token."""
        given = (authorization or "").encode("utf-8", "replace")
        if self.token is not None and not hmac.compare_digest(
            given, f"Bearer {self.token}".encode()
        ):
            raise RequestError(
                "unauthenticated",
                "a token is needed; send the header 'Authorization: Bearer TOKEN'",
            )

    async def check_ready(self) -> None:
        """A loaded agent is ready."""

    async def card(self, caller: Any, model: str) -> ModelCard:
        """Return the features that the agent takes."""
        self._check(model)
        if self.encoder is None or not self.encoder.named_:
            inputs: Ends = [(INPUT, "FP64", (-1, self._width or -1))]
        else:
            text = self.encoder.categories_
            inputs = [
                (name, "BYTES" if name in text else "FP64", (-1,))
                for name in self.encoder.names_
            ]
        outputs: Ends = [("probabilities", "FP64", (-1, len(self.labels)))]
        if self._binary:
            outputs.append(("probability", "FP64", (-1,)))
        return ModelCard(self.name, inputs, outputs)

    async def infer(self, caller: Any, asked: Inference) -> list[Tensor]:
        """Return the probability of every label, and of the positive one of two."""
        self._check(asked.model)
        table = self._table(asked)
        try:
            found = await asyncio.to_thread(self.agent.predict_proba, table)
        except TruepoolError:
            raise
        except Exception as error:  # whatever a model may raise at strange features
            raise RequestError(
                "invalid",
                f"model {self.name!r} cannot report on these features: "
                f"{type(error).__name__}",
            ) from None
        found = np.asarray(found, dtype=np.float64)
        answers = [Tensor.from_array("probabilities", found)]
        if self._binary:
            positive = self.labels.index(self.agent.positive)
            answers.append(Tensor.from_array("probability", found[:, positive]))
        return answers

    @property
    def _binary(self) -> bool:
        return len(self.labels) == 2 and self.agent.positive in self.labels

    @property
    def _width(self) -> int | None:
        if self.encoder is not None:
            return int(self.encoder.width_)
        width: int | None = self.agent.width
        return width

    def _check(self, model: str) -> None:
        if model != self.name:
            raise RequestError(
                "unknown", f"there is no model {model!r:.60}; known: {self.name}"
            )

    def _table(self, asked: Inference) -> Any:
        """Features as the agent takes them: an array, or a table by name."""
        tensors = list(asked.inputs.values())
        named = self.encoder is not None and self.encoder.named_
        names = self.encoder.names_ if named else ()
        if len(tensors) == 1 and tensors[0].values.ndim == 2:
            values = tensors[0].values
            if not named:
                return tensors[0].numbers()
            if values.shape[1] == len(names) and tensors[0].name not in names:
                columns = (values[:, j].tolist() for j in range(len(names)))
                return pa.table(dict(zip(names, columns, strict=True)))
        table = {name: tensor.column() for name, tensor in asked.inputs.items()}
        missing = [name for name in names if name not in table]
        lengths = {len(column) for column in table.values()}
        if not names or missing or len(lengths) != 1:
            needed = f"one tensor per feature ({', '.join(names):.200})"
            wide = self._width
            raise RequestError(
                "invalid",
                f"model {self.name!r} takes one tensor (T, {wide or 'F'})"
                f"{' or ' + needed if names else ''}; got "
                f"{', '.join(asked.inputs) or 'none':.200}",
            )
        return pa.table({name: table[name].tolist() for name in names})
