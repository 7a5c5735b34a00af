"""Models that the protocol serves: what they are, and what they answer."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from truepool.core.errors import RequestError
from truepool_serve.server.inference.tensors import Tensor

SERVER, VERSION = "truepool", "1"
EXTENSIONS = ("binary_tensor_data",)
Ends = list[tuple[str, str, tuple[int, ...]]]
"""Name, datatype and shape of tensors; -1 is any length."""


@dataclass(frozen=True)
class ModelCard:
    """What a model takes and gives."""

    name: str
    inputs: Ends
    outputs: Ends

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata of the protocol."""
        ends = {
            side: [
                {"name": name, "datatype": datatype, "shape": list(shape)}
                for name, datatype, shape in tensors
            ]
            for side, tensors in (("inputs", self.inputs), ("outputs", self.outputs))
        }
        return {
            "name": self.name,
            "versions": [VERSION],
            "platform": SERVER,
            **ends,
        }


@dataclass(frozen=True)
class Inference:
    """A request for an inference; without names of outputs all are wanted."""

    model: str
    inputs: Mapping[str, Tensor]
    outputs: Sequence[str] = ()
    id: str = ""
    version: str = ""

    def chosen(self, answers: Sequence[Tensor]) -> list[Tensor]:
        """Return the outputs that are wanted, in their order."""
        known = {tensor.name: tensor for tensor in answers}
        for name in self.outputs:
            if name not in known:
                raise RequestError(
                    "invalid",
                    f"model {self.model!r:.60} has no output {name!r:.60}; known: "
                    f"{', '.join(known)}",
                )
        return [known[name] for name in self.outputs or known]


class Models(ABC):
    """A set of models; what is unknown or refused is a `TruepoolError`."""

    @abstractmethod
    def identify(self, authorization: str | None) -> Any:
        """Return who is asking, by the header of a request."""

    @abstractmethod
    async def check_ready(self) -> None:
        """Refuse unless requests can be answered."""

    @abstractmethod
    async def card(self, caller: Any, model: str) -> ModelCard:
        """Return what a model is."""

    @abstractmethod
    async def infer(self, caller: Any, asked: Inference) -> list[Tensor]:
        """Return all outputs of a model."""

    @final
    async def answer(self, caller: Any, asked: Inference) -> list[Tensor]:
        """Return the outputs that are wanted."""
        check_version(asked.model, asked.version)
        return asked.chosen(await self.infer(caller, asked))


def check_version(model: str, version: str) -> None:
    """Refuse a version that is not there."""
    if version not in ("", VERSION):
        raise RequestError(
            "unknown",
            f"model {model!r:.60} has no version {version!r:.40}; known: {VERSION}",
        )
