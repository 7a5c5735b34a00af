"""Messages of the service: what a request may say, and what is answered.

Each is described here and nowhere else. Requests are read and checked by these types,
answers are made of them, the OpenAPI document and the reference are made from them,
and the client writes them. The ledger keeps a pool, a rule and an endpoint as they are.
"""

import os
from typing import Annotated, Any, ClassVar, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from truepool.core.errors import RequestError, SettingError, TruepoolError
from truepool.panel.labels import format_labels

LONGEST_NAME = 200
"""Characters in the name of a pool, an agent or a case."""
LONGEST_SHOWN = 40
"""Characters of a name that cannot be one."""
MOST_AGENTS, MOST_CLASSES, MOST_FEATURES = 10_000, 100, 10_000
OPEN_CASES, MOST_OPEN = 100_000, 100_000_000
"""Cases that may wait for an outcome unless a pool says otherwise, and at most."""
LONGEST_DEADLINE = 60.0
"""Seconds that agents may have to answer, at most."""
LONGEST_URL, LONGEST_QUESTION = 2000, 10_000
OF_POOL = ("positive", "negative", "classes", "costs", "memory")
"""Settings of a stream that a pool sets; other labels would turn outcomes round."""
FORBIDDEN = ("record",)
"""Settings that would let a request write files."""

Template = Literal["cot", "direct", "judge"]
"""Templates of truepool-jury that need one case and nothing else. A ledger that names
one can be read where truepool-jury is not installed."""

Kind = TypeVar("Kind")
Report = float | list[float]
Label = str | int
Text = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
Names = Annotated[list[Text], Meta(min_length=1, max_length=MOST_FEATURES)]
Deadline = Annotated[float, Meta(gt=0, le=LONGEST_DEADLINE)]


class Message(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A message. Its fields have their types: neither `true` nor "0.3" is a number.

    A field that is left out has no value (None, or unset where null is refused).
    """


def convert(content: Any, kind: type[Kind]) -> Kind:
    """Return values, as JSON has them, as a message; refuse what is none."""
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        raise refusal(error) from None


def refusal(error: Exception, about: str = "") -> TruepoolError:
    """Return what is wrong with a message, as the error of a request."""
    if isinstance(error.__cause__, TruepoolError):
        return error.__cause__
    reason = str(error).replace("`$.", "`").replace("`$[", "`[")
    return RequestError("invalid", f"{reason[:1].lower()}{reason[1:]}{about}")


def to_builtins(message: Any) -> Any:
    """Return a message as values that JSON has."""
    return msgspec.to_builtins(message)


def check_name(what: str, name: Any) -> str:
    """Return the name of a pool, an agent or a case; refuse what cannot be one."""
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME:
        raise SettingError(
            f"the name of {what} must be text of 1 to {LONGEST_NAME} characters; got "
            f"{_shorten(name)}"
        )
    if not name.isprintable() or name != name.strip():
        raise SettingError(
            f"the name of {what} must be printable, without spaces around it; got "
            f"{_shorten(name)}"
        )
    if name in (".", ".."):
        raise SettingError(
            f"the name of {what} must not be {name!r}, which means another place in a "
            "path; take another name"
        )
    return name


def _shorten(name: Any) -> str:
    """A name as Python has it; of a long one the beginning, and how long it is."""
    if not isinstance(name, str) or len(name) <= LONGEST_SHOWN:
        return f"{name!r:.60}"
    return f"{name[:LONGEST_SHOWN]!r}... ({len(name):,} characters)"


# cases


class ReportBody(Message, frozen=True, kw_only=True):
    """A report on a case."""

    probability: Annotated[
        Report,
        Meta(
            description="Probability of the positive label, or one per label.",
            examples=[0.12],
        ),
    ]


class OutcomeBody(Message, frozen=True, kw_only=True):
    """The outcome of a case."""

    outcome: Annotated[
        Label, Meta(description="One of the labels of the pool.", examples=["fraud"])
    ]


class DecisionBody(Message, frozen=True, kw_only=True):
    """What the costs of a case depend on."""

    columns: Annotated[
        dict[str, float] | None,
        Meta(
            description="Values that the costs depend on, by name.",
            examples=[{"amount": 120.0}],
        ),
    ] = None


class PredictionBody(DecisionBody, frozen=True, kw_only=True):
    """The features of a case, and what its costs depend on."""

    features: Annotated[
        dict[str, int | float | str | bool | None],
        Meta(
            min_length=1,
            max_length=MOST_FEATURES,
            description="Features that are sent to the agents, by name.",
            examples=[{"amount": 120.0, "country": "CH"}],
        ),
    ]
    deadline: Annotated[
        Deadline | None,
        Meta(
            description="Seconds that agents have to answer; by default that of the "
            "pool."
        ),
    ] = None


class ReportLine(ReportBody, frozen=True, kw_only=True):
    """A line of a batch of reports."""

    case: Annotated[str, Meta(description="Name of the case.")]
    agent: Annotated[str, Meta(description="Agent that reports.")]


class DecisionLine(DecisionBody, frozen=True, kw_only=True):
    """A line of a batch of decisions."""

    case: Annotated[str, Meta(description="Name of the case.")]


class OutcomeLine(OutcomeBody, frozen=True, kw_only=True):
    """A line of a batch of outcomes."""

    case: Annotated[str, Meta(description="Name of a decided case.")]


class Receipt(Message, frozen=True, kw_only=True):
    """What became of reports."""

    stored: Annotated[int, Meta(description="New reports.")]
    repeated: Annotated[int, Meta(description="Reports that were stored before.")]


class Decision(Message, frozen=True, kw_only=True):
    """A decision; an agent sees `case`, `decision` and `at` only."""

    case: Annotated[str, Meta(description="Name of the case.")]
    decision: Annotated[Label, Meta(description="Label with the lowest expected cost.")]
    at: Annotated[
        float, Meta(description="When it was decided, in seconds since 1970.")
    ]
    probability: Annotated[
        float | UnsetType | None,
        Meta(
            description="Pooled probability of the positive label; null with more than "
            "two labels."
        ),
    ] = UNSET
    probabilities: Annotated[
        dict[str, float] | UnsetType,
        Meta(description="Pooled probability of each label."),
    ] = UNSET
    threshold: Annotated[
        float | UnsetType | None,
        Meta(description="Threshold that applied; null with more than two labels."),
    ] = UNSET
    reported: Annotated[
        list[str] | UnsetType, Meta(description="Agents whose reports were pooled.")
    ] = UNSET
    missing: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="Why agents that were asked did not report."),
    ] = UNSET
    weights: Annotated[
        dict[str, float] | UnsetType | None,
        Meta(
            description="Weight of each agent that reported, where the rule has "
            "weights."
        ),
    ] = UNSET
    contributions: Annotated[
        dict[str, list[float]] | UnsetType | None,
        Meta(description="By how much each report moved the pooled probability."),
    ] = UNSET
    rule: Annotated[str | UnsetType, Meta(description="Rule that decided.")] = UNSET
    n: Annotated[int | UnsetType, Meta(description="Number of the ledger record.")] = (
        UNSET
    )
    by: Annotated[
        str | UnsetType | None, Meta(description="Id of the token that asked.")
    ] = UNSET


class Decisions(Message, frozen=True, kw_only=True):
    """Decisions of a batch, in its order."""

    decisions: Annotated[list[Decision], Meta(description="One of each line.")]


class Settlement(Message, frozen=True, kw_only=True):
    """What became of outcomes."""

    settled: Annotated[int, Meta(description="Cases whose outcome is new.")]
    repeated: Annotated[int, Meta(description="Cases that had this outcome already.")]


class Case(Message, frozen=True, kw_only=True):
    """What is known about a case."""

    case: Annotated[str, Meta(description="Name of the case.")]
    reports: Annotated[
        dict[str, Report],
        Meta(description="Report of each agent; an agent sees its own only."),
    ]
    decision: Annotated[
        Decision | None, Meta(description="The decision, once there is one.")
    ]
    outcome: Annotated[Label | None, Meta(description="The outcome, once it is known.")]
    settled_by: Annotated[
        str | UnsetType | None,
        Meta(description="Id of the token that sent the outcome."),
    ] = UNSET


class Erasure(Message, frozen=True, kw_only=True):
    """What was erased."""

    cases: Annotated[int, Meta(description="How many cases.")]
    entries: Annotated[
        list[int], Meta(description="Numbers of the erased ledger records.")
    ]


# pools


class Costs(Message, frozen=True, kw_only=True):
    """What decisions cost: a number, or the name of a column of the case."""

    fn: Annotated[
        float | str | UnsetType, Meta(description="Cost of a missed positive; 1.")
    ] = UNSET
    fp: Annotated[
        float | str | UnsetType, Meta(description="Cost of a false alarm; 1.")
    ] = UNSET
    tp: Annotated[
        float | str | UnsetType, Meta(description="Cost of a detected positive; 0.")
    ] = UNSET
    tn: Annotated[
        float | str | UnsetType,
        Meta(description="Cost of a correctly cleared case; 0."),
    ] = UNSET
    matrix: Annotated[
        list[list[float]] | UnsetType,
        Meta(
            description="Costs with one row per outcome and one column per decision, "
            "instead of the other four."
        ),
    ] = UNSET
    currency: Annotated[str | UnsetType, Meta(description="Unit of the costs.")] = UNSET


class Rule(Message, frozen=True, kw_only=True):
    """What pools reports: a learner with settings, or a saved pool."""

    learner: Annotated[
        str | None,
        Meta(description="Learner that sets the weights; `gradient` by default."),
    ] = None
    settings: Annotated[
        dict[str, Any] | None, Meta(description="Settings of the learner, by name.")
    ] = None
    saved_pool: Annotated[
        str | None,
        Meta(description="File of `truepool fit` in base64, instead of a learner."),
    ] = None

    def __post_init__(self) -> None:
        forbidden = [name for name in FORBIDDEN if name in (self.settings or {})]
        if forbidden:
            raise SettingError(
                "settings of a learner must be numbers or text by name, without "
                f"{format_labels(FORBIDDEN)}; got {self.settings!r:.100}"
            )

    def check_new(self) -> None:
        """Refuse settings that the pool decides; older ledgers may have some."""
        of_pool = [name for name in OF_POOL if name in (self.settings or {})]
        if of_pool:
            raise SettingError(
                f"settings of a learner must not have {format_labels(of_pool)}: the "
                "labels, costs and open cases are those of the pool"
            )


class ChallengerBody(Rule, frozen=True, kw_only=True):
    """A rule to run in shadow mode, beside the one that decides."""

    name: Annotated[str, Meta(description="Name of the challenger.")]

    @property
    def rule(self) -> Rule:
        """The rule itself."""
        return Rule(
            learner=self.learner, settings=self.settings, saved_pool=self.saved_pool
        )


class Pool(Rule, frozen=True, kw_only=True):
    """A pool: its agents, labels, costs, and the rule that decides."""

    name: Annotated[str, Meta(description="Name of the pool, used in every path.")]
    agents: Annotated[
        list[str],
        Meta(max_length=MOST_AGENTS, description="Agents that may report."),
    ]
    labels: Annotated[
        list[Label] | None,
        Meta(description="Possible outcomes; 0 and 1 by default."),
    ] = None
    positive: Annotated[
        Label | None,
        Meta(
            description="Label that reports give the probability of; needed with two "
            "labels other than 0 and 1."
        ),
    ] = None
    costs: Annotated[
        Costs | None, Meta(description="What wrong and right decisions cost.")
    ] = None
    threshold: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(
            description="Threshold of the decision; follows from the costs by default."
        ),
    ] = None
    open_cases: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_OPEN)] | None,
        Meta(description="How many cases may wait for an outcome; 100,000 by default."),
    ] = None
    deadline: Annotated[
        Deadline | None,
        Meta(description="Seconds that agents have to answer a prediction."),
    ] = None
    min_agents: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_AGENTS)] | None,
        Meta(description="How many agents must have reported on a case; 1 by default."),
    ] = None

    @property
    def deciding(self) -> Rule:
        """The rule that decides."""
        return Rule(
            learner=self.learner, settings=self.settings, saved_pool=self.saved_pool
        )


class Endpoint(Message, tag_field="protocol", frozen=True, kw_only=True):
    """Where an agent answers: an address that may be called, and nothing else is."""

    schemes: ClassVar[tuple[str, str]] = ("http", "https")
    labels: ClassVar[Any] = UNSET

    url: Annotated[
        str, Meta(description="Address of the agent, without a user or query.")
    ]
    key_variable: Annotated[
        Annotated[str, Meta(pattern=r"^TRUEPOOL_KEY_[A-Z0-9_]{1,60}$")] | UnsetType,
        Meta(
            description="Environment variable `TRUEPOOL_KEY_...` that holds its key. "
            "No other variable is ever sent."
        ),
    ] = UNSET

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            sound = parts.scheme in self.schemes and bool(parts.hostname)
            sound = sound and parts.port != 0 and len(self.url) <= LONGEST_URL
            sound = sound and self.url.isascii() and self.url.isprintable()
            sound = sound and " " not in self.url
        except ValueError:
            sound = False
        first, second = self.schemes
        if not sound:
            raise SettingError(
                f"the url of this endpoint begins with {first}:// or {second}:// and a "
                f"host; got {self.url!r:.100}"
            )
        if parts.username or parts.password or parts.query or parts.fragment:
            raise SettingError(
                "the url of an endpoint has no user, password, query or fragment, "
                f"because it is shown; the one for {parts.hostname} has. Put a key "
                "into key_variable."
            )

    @property
    def key(self) -> str | None:
        """The key of the agent, from the environment, where it needs one."""
        return os.environ.get(self.key_variable or "") or None

    @property
    def headers(self) -> dict[str, str]:
        """What tells the agent who is asking."""
        key = self.key
        return {} if key is None else {"authorization": f"Bearer {key}"}


class Model(Endpoint, frozen=True, kw_only=True):
    """A model that takes features as tensors or a table."""

    features: Annotated[
        Names | UnsetType,
        Meta(description="Names of the features, in the order of the model."),
    ] = UNSET
    labels: Annotated[  # type: ignore[misc]
        Annotated[list[Label], Meta(min_length=1, max_length=MOST_CLASSES)] | UnsetType,
        Meta(description="Labels in the order of the model's outputs."),
    ] = UNSET

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("features", "labels"):
            given = getattr(self, name) or []
            if len(set(given)) < len(given):
                raise SettingError(
                    f"{name} of an endpoint must be different names; got {given!r:.60}"
                )


class Mlflow(Model, tag="mlflow", frozen=True, kw_only=True):
    """The scoring server of MLflow."""


class OpenInference(Model, frozen=True, kw_only=True):
    """A model of a server that speaks the Open Inference Protocol."""

    model: Annotated[Text, Meta(description="Name of the model there.")]
    version: Annotated[Text | UnsetType, Meta(description="Version of the model.")] = (
        UNSET
    )
    input: Annotated[
        Text | UnsetType, Meta(description="One input tensor that takes all features.")
    ] = UNSET
    output: Annotated[
        Text | UnsetType, Meta(description="Output tensor with the probabilities.")
    ] = UNSET

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.input and not self.features:
            raise SettingError(
                "an endpoint with one 'input' for all features must have 'features', "
                "their names in order"
            )


class OpenInferenceHttp(OpenInference, tag="oip-http", frozen=True, kw_only=True):
    """A model over HTTP."""


class OpenInferenceGrpc(OpenInference, tag="oip-grpc", frozen=True, kw_only=True):
    """A model over gRPC."""

    schemes = ("grpc", "grpcs")

    def __post_init__(self) -> None:
        super().__post_init__()
        if urlsplit(self.url).path not in ("", "/"):
            raise SettingError("the url of an endpoint over gRPC has no path")


class Chat(Endpoint, tag="openai-chat", frozen=True, kw_only=True):
    """A language model; needs `truepool-jury[llm]` where the coordinator runs."""

    model: Annotated[Text, Meta(description="Name of the model there.")]
    question: Annotated[
        Annotated[str, Meta(min_length=1, max_length=LONGEST_QUESTION)],
        Meta(description="What the language model is asked."),
    ]
    template: Annotated[
        Template,
        Meta(description="Prompt template; never a file."),
    ] = "direct"
    answer_format: Annotated[
        Literal["line", "schema", "tool"],
        Meta(description="How the language model is to answer."),
    ] = "line"


AnyEndpoint = OpenInferenceHttp | OpenInferenceGrpc | Mlflow | Chat


class AgentBody(Message, frozen=True, kw_only=True):
    """A new agent, and where it answers if it is to be asked."""

    name: Annotated[
        str, Meta(description="Name of the agent; never used in the pool before.")
    ]
    endpoint: Annotated[
        AnyEndpoint | None,
        Meta(description="Where it answers. Without it, the agent sends its reports."),
    ] = None


class PoolStatus(Pool, frozen=True, kw_only=True):
    """A pool as it stands now."""

    rule: Annotated[str, Meta(description="Rule that decides now.")]
    challengers: Annotated[
        list[str], Meta(description="Rules that run in shadow mode.")
    ]
    weights: Annotated[
        dict[str, float] | None,
        Meta(description="Weight of each agent, where the rule has weights."),
    ]
    endpoints: Annotated[
        dict[str, AnyEndpoint], Meta(description="Where agents answer, by agent.")
    ]
    entries: Annotated[int, Meta(description="Records of the pool in the ledger.")]
    warning: Annotated[
        str | UnsetType,
        Meta(
            description="After a promotion: the rule has no case with a known outcome."
        ),
    ] = UNSET


class PoolNames(Message, frozen=True, kw_only=True):
    """The pools."""

    pools: Annotated[list[str], Meta(description="Names of all pools.")]


class Deletion(Message, frozen=True, kw_only=True):
    """A pool that was deleted."""

    name: Annotated[str, Meta(description="Name of the pool.")]
    entries: Annotated[int, Meta(description="Ledger records that it had.")]


class Alarm(Message, frozen=True, kw_only=True):
    """A feed, or the pool itself, that is not as it was."""

    who: Annotated[str, Meta(description="Agent; or the pool, or the outcomes.")]
    kind: Annotated[str, Meta(description="What happened: `stopped`, `constant`, ...")]
    before: Annotated[
        float | None, Meta(description="The number that was watched, before.")
    ]
    after: Annotated[
        float | None, Meta(description="The same number now; null: there is none.")
    ]
    raised: Annotated[
        float, Meta(description="When it was noticed, in seconds since 1970.")
    ]
    since: Annotated[
        float | None, Meta(description="When it began, as far as is known.")
    ]


class AlarmList(Message, frozen=True, kw_only=True):
    """The alarms of a pool that are not over."""

    alarms: Annotated[list[Alarm], Meta(description="In the order of their notice.")]


class Audit(Struct):
    """An audit: the document of `truepool audit --json`."""


class Weights(Message, frozen=True, kw_only=True):
    """Weights over time, at evenly spaced cases."""

    cases: Annotated[int, Meta(description="Cases with a known outcome and weights.")]
    at: Annotated[
        list[float],
        Meta(description="When each was decided, in seconds since 1970."),
    ]
    weights: Annotated[
        dict[str, list[float | None]],
        Meta(description="Series of each agent; null where it did not report."),
    ]


class Credit(Message, frozen=True, kw_only=True):
    """The credit of one agent."""

    credit: Annotated[
        float | None,
        Meta(description="By how much the mean Brier loss would grow without it."),
    ]
    interval: Annotated[
        list[float] | None, Meta(description="Its confidence interval.")
    ]


class Credits(Message, frozen=True, kw_only=True):
    """Credit over time."""

    cases: Annotated[
        int, Meta(description="Cases with a known outcome and contributions.")
    ]
    loss: Annotated[str, Meta(description="Loss that the credit is measured in.")]
    level: Annotated[float, Meta(description="Level of the intervals.")]
    agents: Annotated[
        dict[str, Credit], Meta(description="Credit over all these cases.")
    ]
    until: Annotated[
        list[float],
        Meta(
            description="When the last case of each block was decided, in seconds "
            "since 1970."
        ),
    ]
    credit: Annotated[
        dict[str, list[float]],
        Meta(description="Mean credit of each agent per block of cases."),
    ]


class Evidence(Message, frozen=True, kw_only=True):
    """A challenger, compared on the cases that both rules decided."""

    champion: Annotated[str, Meta(description="Rule that decides.")]
    challenger: Annotated[str, Meta(description="Rule in shadow mode.")]
    cases: Annotated[
        int, Meta(description="Cases with a known outcome that both rules decided.")
    ]
    currency: Annotated[str | None, Meta(description="Unit of the costs.")]
    level: Annotated[float, Meta(description="Level of the interval.")]
    cost: Annotated[
        dict[str, float] | None, Meta(description="Cost per case of each rule.")
    ]
    saved_per_case: Annotated[
        float | None,
        Meta(description="What the challenger would have saved per case."),
    ]
    interval: Annotated[
        list[float] | None,
        Meta(description="Confidence interval of the savings per case."),
    ]


class Challengers(Message, frozen=True, kw_only=True):
    """The challengers."""

    challengers: Annotated[
        list[Evidence], Meta(description="One comparison per challenger.")
    ]


# administration


class TokenBody(Message, frozen=True, kw_only=True):
    """A token to make."""

    role: Annotated[str, Meta(description="`agent`, `operator`, `admin` or `monitor`.")]
    pool: Annotated[str | None, Meta(description="Pool of the agent.")] = None
    agent: Annotated[
        str | None, Meta(description="Agent that the token is for; only with its role.")
    ] = None


class RotationBody(Message, frozen=True, kw_only=True):
    """How a token gives way to another."""

    grace: Annotated[
        float, Meta(description="Seconds that the old token stays valid.")
    ] = 0.0


class Action(Message, frozen=True, kw_only=True):
    """One action in the trail."""

    at: Annotated[float, Meta(description="When, in seconds since 1970.")]
    token: Annotated[
        str | None, Meta(description="Id of the token; null before there were tokens.")
    ]
    role: Annotated[str | None, Meta(description="Role of the token.")]
    agent: Annotated[str | None, Meta(description="Agent of the token.")]
    action: Annotated[str, Meta(description="What was done.")]
    target: Annotated[
        str | None, Meta(description="Pool or token that it was done to.")
    ]
    detail: Annotated[
        str | None, Meta(description="Agent, rule or role that it was about.")
    ]


class Trail(Message, frozen=True, kw_only=True):
    """Who did what."""

    trail: Annotated[
        list[Action], Meta(description="The most recent actions, oldest first.")
    ]


class Token(Message, frozen=True, kw_only=True):
    """A new token."""

    id: Annotated[str, Meta(description="Id of the token, which is no secret.")]
    role: Annotated[str, Meta(description="`agent`, `operator`, `admin` or `monitor`.")]
    pool: Annotated[str | None, Meta(description="Pool of the agent.")]
    agent: Annotated[str | None, Meta(description="Agent that the token is for.")]
    token: Annotated[str, Meta(description="The token itself; it is shown once.")]


class TokenState(Message, frozen=True, kw_only=True):
    """A token, without its secret."""

    id: Annotated[str, Meta(description="Id of the token, which is no secret.")]
    role: Annotated[str, Meta(description="`agent`, `operator`, `admin` or `monitor`.")]
    pool: Annotated[str | None, Meta(description="Pool of the agent.")]
    agent: Annotated[str | None, Meta(description="Agent that the token is for.")]
    created: Annotated[
        float, Meta(description="When it was made, in seconds since 1970.")
    ]
    revoked: Annotated[
        float | None,
        Meta(description="When it became invalid, in seconds since 1970."),
    ]
    replaces: Annotated[
        str | None, Meta(description="Id of the token that it replaces.")
    ]
    until: Annotated[
        float | None, Meta(description="When a token ends that another one replaced.")
    ]


class Tokens(Message, frozen=True, kw_only=True):
    """The tokens."""

    tokens: Annotated[list[TokenState], Meta(description="All tokens, valid or not.")]


class Revocation(Message, frozen=True, kw_only=True):
    """A token that is no longer valid."""

    id: Annotated[str, Meta(description="Id of the token.")]
    revoked: Annotated[bool, Meta(description="Always true.")]


class Status(Message, frozen=True, kw_only=True):
    """The service works."""

    status: Annotated[str, Meta(description="Always `ok`.")]


class Readiness(Message, frozen=True, kw_only=True):
    """The ledger can be written, and how its records were found."""

    status: Annotated[str, Meta(description="Always `ok`.")]
    unverified: Annotated[
        int,
        Meta(
            description="Pools with a record that is not as it should be. They are "
            "served."
        ),
    ]
    records: Annotated[
        dict[str, int] | UnsetType,
        Meta(description="The first such record of each, for callers that may read."),
    ] = UNSET


class Failure(Message, frozen=True, kw_only=True):
    """Why a request was refused."""

    code: Annotated[str, Meta(description="Code of the error, which stays the same.")]
    message: Annotated[
        str, Meta(description="What is wrong and how to fix it, in a sentence.")
    ]


class Refusal(Message, frozen=True, kw_only=True):
    """A request that was refused."""

    error: Annotated[Failure, Meta(description="The error.")]
