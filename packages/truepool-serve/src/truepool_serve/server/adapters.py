"""One case in the words of each protocol: the request, and the answer to it."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any, final
from urllib.parse import quote

import msgspec
import numpy as np

import truepool
from truepool.core.errors import AgentFaultError, PluginError, RequestError
from truepool_serve import messages
from truepool_serve.server.inference import protobuf
from truepool_serve.server.inference.tensors import Tensor

JSON_HEADERS = {"content-type": "application/json", "accept-encoding": "identity"}
OUTPUT = "probabilities"
"""The output that is read unless an endpoint names another."""


class Adapter(ABC):
    """A request about one case, made from its features."""

    def __init__(self, endpoint: Any, case: str, features: Mapping[str, Any]) -> None:
        self.endpoint, self.case, self.features = endpoint, case, features
        self.url = self.path()
        self.content = self.body()

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the request."""
        found: dict[str, str] = JSON_HEADERS | self.endpoint.headers
        return found

    @abstractmethod
    def path(self) -> str:
        """Return what is called, at the address of the endpoint."""

    @abstractmethod
    def body(self) -> bytes:
        """Return the request."""

    @abstractmethod
    def read(self, content: bytes) -> Any:
        """Return the probabilities of the answer, (1,) or (1, K), or by label."""

    @final
    def row(self) -> list[Any]:
        """Features in the order of the endpoint."""
        missing = [n for n in self.endpoint.features or () if n not in self.features]
        if missing:
            raise AgentFaultError(f"not asked: the case has no feature {missing[0]!r}")
        return [self.features[name] for name in self.endpoint.features or ()]


class OpenInference(Adapter):
    """The Open Inference Protocol: the case is the id of the request."""

    @final
    def tensors(self) -> list[Tensor]:
        """Features as one tensor (1, F), or as one (1, 1) per feature."""
        if self.endpoint.input:
            row = np.array([[_number(value) for value in self.row()]])
            return [Tensor.from_array(self.endpoint.input, row)]
        names = self.endpoint.features or tuple(self.features)
        if self.endpoint.features:
            self.row()
        return [_tensor(name, self.features[name]) for name in names]

    @final
    def chosen(self, outputs: Mapping[str, Tensor], case: str) -> Any:
        """Return the output that is wanted, if it is about this case."""
        if case not in ("", self.case):
            raise AgentFaultError("an answer about another case")
        name = self.endpoint.output or (OUTPUT if OUTPUT in outputs else None)
        if name is None and len(outputs) == 1:
            name = next(iter(outputs))
        if name not in outputs:
            raise AgentFaultError(
                f"no output {name or OUTPUT!r}; it gives {', '.join(outputs):.100}"
            )
        chosen = outputs[str(name)]
        if chosen.datatype in ("BYTES", "BOOL"):
            kind = "text" if chosen.datatype == "BYTES" else "true and false"
            raise AgentFaultError(f"{kind} in the output {chosen.name!r:.60}")
        return chosen.measures()


@final
class OpenInferenceHttp(OpenInference):
    """The protocol over HTTP, in JSON, which every server takes."""

    def path(self) -> str:
        """Return the address of the model."""
        place = self.endpoint
        parts = [place.url.rstrip("/"), "v2/models", quote(place.model, safe="")]
        if place.version:
            parts += ["versions", quote(place.version, safe="")]
        return "/".join([*parts, "infer"])

    def body(self) -> bytes:
        """Return the request."""
        inputs = [
            {"name": t.name, "datatype": t.datatype, "shape": t.shape,
             "data": t.to_list()}
            for t in self.tensors()
        ]  # fmt: skip
        known: dict[str, Any] = {"id": self.case, "inputs": inputs}
        if self.endpoint.output:
            known["outputs"] = [{"name": self.endpoint.output}]
        return msgspec.json.encode(known)

    def read(self, content: bytes) -> Any:
        """Return the probabilities of the answer."""
        found = _json(content)
        try:
            outputs = {
                part["name"]: Tensor.read(
                    part["name"], part["datatype"], part["shape"], part["data"]
                )
                for part in found["outputs"]
            }
            if not all(isinstance(name, str) for name in outputs):
                raise TypeError
            case = str(found.get("id") or "")
        except (KeyError, TypeError, AttributeError, RequestError):
            raise AgentFaultError(
                "an answer that does not follow the protocol"
            ) from None
        return self.chosen(outputs, case)


@final
class OpenInferenceGrpc(OpenInference):
    """The protocol over gRPC, with raw contents."""

    def path(self) -> str:
        """Return the method."""
        return f"/{protobuf.SERVICE}/ModelInfer"

    def body(self) -> bytes:
        """Return the request."""
        place = self.endpoint
        request, _ = protobuf.methods()["ModelInfer"]
        asked = request(
            model_name=place.model, model_version=place.version or "", id=self.case
        )
        if place.output:
            asked.outputs.add(name=place.output)
        protobuf.add(self.tensors(), asked.inputs, asked.raw_input_contents)
        return bytes(asked.SerializeToString())

    def read(self, content: bytes) -> Any:
        """Return the probabilities of the answer."""
        _, answer = protobuf.methods()["ModelInfer"]
        try:
            found = protobuf.read(answer, content)
            outputs = protobuf.tensors(found.outputs, found.raw_output_contents)
        except RequestError:
            raise AgentFaultError(
                "an answer that does not follow the protocol"
            ) from None
        return self.chosen(outputs, found.id)


@final
class Mlflow(Adapter):
    """The scoring server of MLflow: ``/invocations``."""

    def path(self) -> str:
        """Return the address of the scoring server."""
        return (
            f"{self.endpoint.url.rstrip('/').removesuffix('/invocations')}/invocations"
        )

    def body(self) -> bytes:
        """Return the request: a tensor where the endpoint has features, or a table."""
        if self.endpoint.features:
            known: dict[str, Any] = {"inputs": [self.row()]}
        else:
            table = {
                "columns": list(self.features),
                "data": [list(self.features.values())],
            }
            known = {"dataframe_split": table}
        return msgspec.json.encode(known)

    def read(self, content: bytes) -> Any:
        """Return the probabilities of the answer."""
        found = _json(content)
        if not isinstance(found, dict) or "predictions" not in found:
            raise AgentFaultError("an answer that does not follow the protocol")
        predictions = found["predictions"]
        if isinstance(predictions, list) and predictions:
            if len(predictions) > 1:
                raise AgentFaultError(
                    f"wrong length: {len(predictions)} predictions for one case"
                )
            if isinstance(predictions[0], dict):
                return predictions[0]
        return predictions


@final
class Chat(Adapter):
    """A language model, asked as `truepool agent llm` asks it."""

    def path(self) -> str:
        """Return the address of chat completions."""
        return f"{self.endpoint.url.rstrip('/')}/chat/completions"

    def body(self) -> bytes:
        """Return the prompt on this case, everything of it quoted."""
        place = self.endpoint
        try:
            asked = language_models().case_request(
                place.template, place.question, self.features, place.answer_format
            )
        except PluginError as error:
            raise AgentFaultError(f"not asked: {error}") from None
        return json.dumps({"model": place.model, **asked}).encode()

    def read(self, content: bytes) -> Any:
        """Return the probability that the answer states."""
        content = _json(content)
        return [language_models().case_probability(content, self.endpoint.key)]


ADAPTERS: dict[type, type[Adapter]] = {
    messages.OpenInferenceHttp: OpenInferenceHttp,
    messages.OpenInferenceGrpc: OpenInferenceGrpc,
    messages.Mlflow: Mlflow,
    messages.Chat: Chat,
}


@cache
def language_models() -> Any:
    """Return what truepool-jury knows of language models, looked up once."""
    return truepool.llm


def make(
    endpoint: messages.AnyEndpoint, case: str, features: Mapping[str, Any]
) -> Adapter:
    """Return the request about a case in the protocol of an endpoint."""
    return ADAPTERS[type(endpoint)](endpoint, case, features)


def _number(value: Any) -> float:
    if isinstance(value, str):
        raise AgentFaultError(f"not asked: {value!r:.40} is not a number")
    return float("nan") if value is None else float(value)


def _tensor(name: str, value: Any) -> Tensor:
    if isinstance(value, str):
        return Tensor.from_array(name, np.array([[value]], dtype=np.object_))
    if isinstance(value, bool):
        return Tensor.from_array(name, np.array([[value]]))
    return Tensor.from_array(name, np.array([[_number(value)]]))


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)  # msgspec would refuse the NaN that some send
    except (ValueError, RecursionError):
        raise AgentFaultError("an answer that is no JSON") from None
