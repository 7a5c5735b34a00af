"""Answers over HTTP, with the meaning of every field.

They describe the answers and do not check them: that would take longer than most
operations do. Tests hold real answers against them.
"""

from typing import Any

from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field

from truepool_serve.server.http_requests import Endpoint, Pool, Strict

PARQUET = "application/vnd.apache.parquet"


class Status(Strict):
    """The service works."""

    status: str = Field(description="Always `ok`.")


class Readiness(Strict):
    """The ledger can be written, and how its records were found."""

    status: str = Field(description="Always `ok`.")
    unverified: int = Field(
        description="Pools with a record that is not as it should be. They are served."
    )
    records: dict[str, int] | None = Field(
        default=None,
        description="The first such record of each, for callers that may read.",
    )


class PoolNames(Strict):
    """The pools."""

    pools: list[str] = Field(description="Names of all pools.")


class PoolState(Pool):
    """A pool as it stands now."""

    rule: str = Field(description="Rule that decides now.")
    challengers: list[str] = Field(description="Rules that run in shadow mode.")
    weights: dict[str, float] | None = Field(
        description="Weight of each agent, where the rule has weights."
    )
    endpoints: dict[str, Endpoint] = Field(description="Where agents answer, by agent.")
    entries: int = Field(description="Records of the pool in the ledger.")
    warning: str | None = Field(
        default=None,
        description="After a promotion: the rule has no case with a known outcome.",
    )


class Receipt(Strict):
    """What became of reports."""

    stored: int = Field(description="New reports.")
    repeated: int = Field(description="Reports that were stored before.")


class Decision(Strict):
    """A decision; an agent sees `case`, `decision` and `at` only."""

    case: str = Field(description="Name of the case.")
    decision: str | int = Field(description="Label with the lowest expected cost.")
    at: float = Field(description="When it was decided, in seconds since 1970.")
    probability: float | None = Field(
        default=None,
        description="Pooled probability of the positive label; null with more than "
        "two labels.",
    )
    probabilities: dict[str, float] | None = Field(
        default=None, description="Pooled probability of each label."
    )
    threshold: float | None = Field(
        default=None,
        description="Threshold that applied; null with more than two labels.",
    )
    reported: list[str] | None = Field(
        default=None, description="Agents whose reports were pooled."
    )
    missing: dict[str, str] | None = Field(
        default=None, description="Why agents that were asked did not report."
    )
    weights: dict[str, float] | None = Field(
        default=None,
        description="Weight of each agent that reported, where the rule has weights.",
    )
    contributions: dict[str, list[float]] | None = Field(
        default=None,
        description="By how much each report moved the pooled probability.",
    )
    rule: str | None = Field(default=None, description="Rule that decided.")
    n: int | None = Field(default=None, description="Number of the ledger record.")
    by: str | None = Field(default=None, description="Id of the token that asked.")


class Decisions(Strict):
    """Decisions of a batch, in its order."""

    decisions: list[Decision] = Field(description="One of each line.")


class Deletion(Strict):
    """A pool that was deleted."""

    name: str = Field(description="Name of the pool.")
    entries: int = Field(description="Ledger records that it had.")


class Alarm(Strict):
    """A feed, or the pool itself, that is not as it was."""

    who: str = Field(description="Agent; or the pool, or the outcomes.")
    kind: str = Field(description="What happened: `stopped`, `constant`, ...")
    before: float | None = Field(description="The number that was watched, before.")
    after: float | None = Field(description="The same number now; null: there is none.")
    raised: float = Field(description="When it was noticed, in seconds since 1970.")
    since: float | None = Field(description="When it began, as far as is known.")


class AlarmList(Strict):
    """The alarms of a pool that are not over."""

    alarms: list[Alarm] = Field(description="In the order of their notice.")


class Settlement(Strict):
    """What became of outcomes."""

    settled: int = Field(description="Cases whose outcome is new.")
    repeated: int = Field(description="Cases that had this outcome already.")


class Case(Strict):
    """What is known about a case."""

    case: str = Field(description="Name of the case.")
    reports: dict[str, float | list[float]] = Field(
        description="Report of each agent; an agent sees its own only."
    )
    decision: Decision | None = Field(description="The decision, once there is one.")
    outcome: str | int | None = Field(description="The outcome, once it is known.")
    settled_by: str | None = Field(
        default=None, description="Id of the token that sent the outcome."
    )


class Erasure(Strict):
    """What was erased."""

    cases: int = Field(description="How many cases.")
    entries: list[int] = Field(description="Numbers of the erased ledger records.")


class Audit(BaseModel):
    """An audit: the document of `truepool audit --json`."""

    model_config = ConfigDict(extra="allow")


class Weights(Strict):
    """Weights over time, at evenly spaced cases."""

    cases: int = Field(description="Cases with a known outcome and weights.")
    at: list[float] = Field(description="When each was decided, in seconds since 1970.")
    weights: dict[str, list[float | None]] = Field(
        description="Series of each agent; null where it did not report."
    )


class Credit(Strict):
    """The credit of one agent."""

    credit: float | None = Field(
        description="By how much the mean Brier loss would grow without it."
    )
    interval: list[float] | None = Field(description="Its confidence interval.")


class Credits(Strict):
    """Credit over time."""

    cases: int = Field(description="Cases with a known outcome and contributions.")
    loss: str = Field(description="Loss that the credit is measured in.")
    level: float = Field(description="Level of the intervals.")
    agents: dict[str, Credit] = Field(description="Credit over all these cases.")
    until: list[float] = Field(
        description="When the last case of each block was decided, in seconds since "
        "1970."
    )
    credit: dict[str, list[float]] = Field(
        description="Mean credit of each agent per block of cases."
    )


class Evidence(Strict):
    """A challenger, compared on the cases that both rules decided."""

    champion: str = Field(description="Rule that decides.")
    challenger: str = Field(description="Rule in shadow mode.")
    cases: int = Field(
        description="Cases with a known outcome that both rules decided."
    )
    currency: str | None = Field(description="Unit of the costs.")
    level: float = Field(description="Level of the interval.")
    cost: dict[str, float] | None = Field(description="Cost per case of each rule.")
    saved_per_case: float | None = Field(
        description="What the challenger would have saved per case."
    )
    interval: list[float] | None = Field(
        description="Confidence interval of the savings per case."
    )


class Challengers(Strict):
    """The challengers."""

    challengers: list[Evidence] = Field(description="One comparison per challenger.")


class Action(Strict):
    """One action in the trail."""

    at: float = Field(description="When, in seconds since 1970.")
    token: str | None = Field(
        description="Id of the token; null before there were tokens."
    )
    role: str | None = Field(description="Role of the token.")
    agent: str | None = Field(description="Agent of the token.")
    action: str = Field(description="What was done.")
    target: str | None = Field(description="Pool or token that it was done to.")
    detail: str | None = Field(description="Agent, rule or role that it was about.")


class Trail(Strict):
    """Who did what."""

    trail: list[Action] = Field(description="The most recent actions, oldest first.")


class TokenState(Strict):
    """A token, without its secret."""

    id: str = Field(description="Id of the token, which is no secret.")
    role: str = Field(description="`agent`, `operator` or `admin`.")
    pool: str | None = Field(description="Pool of the agent.")
    agent: str | None = Field(description="Agent that the token is for.")
    created: float = Field(description="When it was made, in seconds since 1970.")
    revoked: float | None = Field(
        description="When it becomes or became invalid, in seconds since 1970."
    )
    until: float | None = Field(
        description="When a token ends that another one replaced."
    )
    replaces: str | None = Field(description="Id of the token that it replaces.")


class Tokens(Strict):
    """The tokens."""

    tokens: list[TokenState] = Field(description="All tokens, valid or not.")


class Token(Strict):
    """A new token."""

    id: str = Field(description="Id of the token, which is no secret.")
    role: str = Field(description="`agent`, `operator` or `admin`.")
    pool: str | None = Field(description="Pool of the agent.")
    agent: str | None = Field(description="Agent that the token is for.")
    token: str = Field(description="The token itself; it is shown once.")


class Revocation(Strict):
    """A token that is no longer valid."""

    id: str = Field(description="Id of the token.")
    revoked: bool = Field(description="Always true.")


class Failure(Strict):
    """Why a request was refused."""

    code: str = Field(description="Code of the error, which stays the same.")
    message: str = Field(description="What is wrong and how to fix it, in a sentence.")


class Refusal(Strict):
    """A request that was refused."""

    error: Failure = Field(description="The error.")


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refusal, "description": Refusal.__doc__}
    for status in ("4XX", "5XX")
}


def answers(kind: type[BaseModel], status: int = 200) -> dict[str, Any]:
    """Describe the answer of an operation, as an argument of its route."""
    described = {"model": kind, "description": kind.__doc__ or ""}
    return {"status_code": status, "responses": {status: described}}


def file(media_type: str) -> dict[str, Any]:
    """Describe an answer that is not JSON, as an argument of its route."""
    described = {"content": {media_type: {"schema": {"type": "string"}}}}
    return {"response_class": Response, "responses": {200: described}}
