"""Bodies of requests over HTTP, with the meaning of every field.

The OpenAPI document and the reference are made from them.
"""

from typing import Annotated, Any

import msgspec
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from truepool_serve.server.configuration import OPEN_CASES

LINES = "application/x-ndjson"
NotGiven = SkipJsonSchema[None]
"""A field that may be left out, but not be null."""


class Strict(BaseModel):
    """A request whose fields have their types: neither `true` nor "0.3" is a number.

    Unknown fields are refused, not ignored.
    """

    model_config = ConfigDict(extra="forbid", strict=True)


class ReportBody(Strict):
    """A report on a case."""

    probability: float | list[float] = Field(
        description="Probability of the positive label, or one per label.",
        examples=[0.12],
    )


class OutcomeBody(Strict):
    """The outcome of a case."""

    outcome: str | int = Field(
        description="One of the labels of the pool.", examples=["fraud"]
    )


class DecisionBody(Strict):
    """What the costs of a case depend on."""

    columns: dict[str, float] | None = Field(
        default=None,
        description="Values that the costs depend on, by name.",
        examples=[{"amount": 120.0}],
    )


class ReportLine(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a batch of reports."""

    case: Annotated[str, msgspec.Meta(description="Name of the case.")]
    agent: Annotated[str, msgspec.Meta(description="Agent that reports.")]
    probability: Annotated[
        float | list[float],
        msgspec.Meta(
            description="Probability of the positive label, or one per label."
        ),
    ]


class DecisionLine(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a batch of decisions."""

    case: Annotated[str, msgspec.Meta(description="Name of the case.")]
    columns: Annotated[
        dict[str, float] | None,
        msgspec.Meta(description="Values that the costs depend on, by name."),
    ] = None


class OutcomeLine(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a batch of outcomes."""

    case: Annotated[str, msgspec.Meta(description="Name of a decided case.")]
    outcome: Annotated[
        str | int, msgspec.Meta(description="One of the labels of the pool.")
    ]


class Costs(Strict):
    """What decisions cost: a number, or the name of a column of the case."""

    fn: float | str = Field(default=1.0, description="Cost of a missed positive.")
    fp: float | str = Field(default=1.0, description="Cost of a false alarm.")
    tp: float | str = Field(default=0.0, description="Cost of a detected positive.")
    tn: float | str = Field(
        default=0.0, description="Cost of a correctly cleared case."
    )
    matrix: list[list[float]] | NotGiven = Field(
        default=None,
        description="Costs with one row per outcome and one column per decision, "
        "instead of the other four.",
    )
    currency: str | NotGiven = Field(default=None, description="Unit of the costs.")


class Pool(Strict):
    """A pool: its agents, labels, costs, and the rule that decides."""

    name: str = Field(description="Name of the pool, used in every path.")
    agents: list[str] = Field(description="Agents that may report.")
    labels: list[str | int] | None = Field(
        default=None, description="Possible outcomes; 0 and 1 by default."
    )
    positive: str | int | None = Field(
        default=None,
        description="Label that reports give the probability of; needed with two "
        "labels other than 0 and 1.",
    )
    costs: Costs | None = Field(
        default=None, description="What wrong and right decisions cost."
    )
    threshold: float | None = Field(
        default=None,
        description="Threshold of the decision; follows from the costs by default.",
    )
    open_cases: int = Field(
        default=OPEN_CASES, description="How many cases may wait for an outcome."
    )
    deadline: float | None = Field(
        default=None, description="Seconds that agents have to answer a prediction."
    )
    min_agents: int = Field(
        default=1, description="How many agents must have reported on a case."
    )
    learner: str | None = Field(
        default=None,
        description="Learner that sets the weights; `gradient` by default.",
    )
    settings: dict[str, Any] | None = Field(
        default=None, description="Settings of the learner, by name."
    )
    saved_pool: str | None = Field(
        default=None,
        description="File of `truepool fit` in base64, instead of a learner.",
    )


class Endpoint(Strict):
    """Where an agent answers; docs/protocols.md says which fields a protocol has."""

    protocol: str = Field(
        description="`oip-http`, `oip-grpc`, `mlflow` or `openai-chat`."
    )
    url: str = Field(description="Address of the agent, without a user or query.")
    key_variable: str | NotGiven = Field(
        default=None,
        description="Environment variable `TRUEPOOL_KEY_...` that holds its key.",
    )
    model: str | NotGiven = Field(default=None, description="Name of the model there.")
    version: str | NotGiven = Field(default=None, description="Version of the model.")
    input: str | NotGiven = Field(
        default=None, description="One input tensor that takes all features."
    )
    output: str | NotGiven = Field(
        default=None, description="Output tensor with the probabilities."
    )
    features: list[str] | NotGiven = Field(
        default=None, description="Names of the features, in the order of the model."
    )
    labels: list[str | int] | NotGiven = Field(
        default=None, description="Labels in the order of the model's outputs."
    )
    question: str | NotGiven = Field(
        default=None, description="What a language model is asked."
    )
    template: str | NotGiven = Field(
        default=None, description="Prompt template; `direct` by default."
    )
    answer_format: str | NotGiven = Field(
        default=None, description="`line` (default), `schema` or `tool`."
    )


EndpointBody = Annotated[dict[str, Any], WithJsonSchema(Endpoint.model_json_schema())]
"""Described here; checked by `endpoints.Endpoint`, which names the cure."""


class AgentBody(Strict):
    """A new agent, and where it answers if it is to be asked."""

    name: str = Field(description="Name of the agent; never used in the pool before.")
    endpoint: dict[str, Any] | None = Field(
        default=None,
        description="Where it answers: the body of `PUT .../endpoint`. Without it, "
        "the agent sends its reports.",
    )


class PredictionBody(Strict):
    """The features of a case, and what its costs depend on."""

    features: dict[str, float | str | bool | None] = Field(
        description="Features that are sent to the agents, by name.",
        examples=[{"amount": 120.0, "country": "CH"}],
    )
    columns: dict[str, float] | None = Field(
        default=None, description="Values that the costs depend on, by name."
    )
    deadline: float | None = Field(
        default=None,
        description="Seconds that agents have to answer; by default that of the pool.",
    )


class ChallengerBody(Strict):
    """A rule to run in shadow mode, beside the one that decides."""

    name: str = Field(description="Name of the challenger.")
    learner: str | None = Field(
        default=None, description="Learner that sets its weights."
    )
    settings: dict[str, Any] | None = Field(
        default=None, description="Settings of the learner, by name."
    )
    saved_pool: str | None = Field(
        default=None,
        description="File of `truepool fit` in base64, instead of a learner.",
    )


class TokenBody(Strict):
    """A token to make."""

    role: str = Field(description="`agent`, `operator` or `admin`.")
    pool: str | None = Field(default=None, description="Pool of the agent.")
    agent: str | None = Field(
        default=None, description="Agent that the token is for; only with its role."
    )


class RotationBody(Strict):
    """How a token gives way to another."""

    grace: float = Field(
        default=0.0, description="Seconds that the old token stays valid."
    )


def batch(line: type[msgspec.Struct]) -> dict[str, Any]:
    """Describe a request of one JSON object per line."""
    (described,) = msgspec.json.schema_components([line])[1].values()
    schema = {
        "type": "string",
        "contentMediaType": LINES,
        "contentSchema": described,
    }
    return {"requestBody": {"required": True, "content": {LINES: {"schema": schema}}}}


POOL = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Pool"}}
        },
    }
}
"""Described by the answer to it; checked by `PoolConfig`, which names the cure."""
