"""Clients of the Open Inference Protocol that keep their connection: HTTP and gRPC.

They use nothing of truepool: any client of the protocol would do.
"""

import json
from http.client import HTTPConnection
from time import monotonic, sleep
from typing import Any, Protocol
from urllib.parse import quote

import numpy as np

from truepool_lab.paper.edge import CallError

SERVICE = "inference.GRPCInferenceService"
OUTPUT = "probability"
"""The probability of the positive label."""
PATIENCE = 60.0
"""Seconds until a call is given up."""
PAUSE = 0.05
"""Seconds between two looks at a server that is starting."""


def wait_until_ready(host: str, port: int) -> None:
    """Wait until a server that has been started answers."""
    deadline = monotonic() + PATIENCE
    while True:
        connection = HTTPConnection(host, port, timeout=PATIENCE)
        try:
            connection.request("GET", "/v2/health/ready")
            if connection.getresponse().status == 200:
                return
        except OSError:
            if monotonic() > deadline:
                raise
        finally:
            connection.close()
        sleep(PAUSE)


class Client(Protocol):
    """A connection to one agent."""

    def ask(self, cases: Any) -> Any:
        """Return the reports (T,) on cases (T, F)."""

    def close(self) -> None:
        """Close the connection."""


class HttpClient:
    """JSON over one HTTP connection."""

    def __init__(self, host: str, port: int, model: str) -> None:
        self._path = f"/v2/models/{quote(model)}/infer"
        self._connection = HTTPConnection(host, port, timeout=PATIENCE)

    def ask(self, cases: Any) -> Any:
        """Return the reports (T,) on cases (T, F)."""
        tensor = {
            "name": "features",
            "datatype": "FP64",
            "shape": list(cases.shape),
            "data": cases.ravel().tolist(),
        }
        body = json.dumps({"inputs": [tensor], "outputs": [{"name": OUTPUT}]})
        headers = {"content-type": "application/json"}
        try:
            status, content = self._post(body.encode(), headers)
        except ConnectionError:  # a server closes a connection that was idle
            self._connection.close()
            status, content = self._post(body.encode(), headers)
        if status != 200:
            raise CallError(f"status {status}: {content[:200]!r}")
        return np.array(json.loads(content)["outputs"][0]["data"], dtype=np.float64)

    def _post(self, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        self._connection.request("POST", self._path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class GrpcClient:
    """Raw tensors over one gRPC channel; the messages are those the server describes.

    The server is asked once for the protocol's messages, by reflection.
    """

    def __init__(self, host: str, port: int, model: str) -> None:
        import grpc
        from google.protobuf.descriptor_pool import DescriptorPool
        from google.protobuf.message_factory import GetMessageClass
        from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
            ProtoReflectionDescriptorDatabase,
        )

        self._model = model
        self._channel = grpc.insecure_channel(
            f"{host}:{port}", [("grpc.enable_http_proxy", 0)]
        )
        known = DescriptorPool(ProtoReflectionDescriptorDatabase(self._channel))
        method = known.FindServiceByName(SERVICE).FindMethodByName("ModelInfer")
        self._request = GetMessageClass(method.input_type)
        self._call = self._channel.unary_unary(
            f"/{SERVICE}/ModelInfer",
            self._request.SerializeToString,
            GetMessageClass(method.output_type).FromString,
        )

    def ask(self, cases: Any) -> Any:
        """Return the reports (T,) on cases (T, F)."""
        request = self._request(model_name=self._model)
        request.inputs.add(name="features", datatype="FP64", shape=cases.shape)
        request.outputs.add(name=OUTPUT)
        request.raw_input_contents.append(cases.astype("<f8").tobytes())
        answer = self._call(request, timeout=PATIENCE)
        return np.frombuffer(answer.raw_output_contents[0], dtype="<f8")

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()


PROTOCOLS: dict[str, type[HttpClient] | type[GrpcClient]] = {
    "HTTP": HttpClient,
    "gRPC": GrpcClient,
}
