"""What an audit returns: diagnoses, a plan and the evidence, as values.

Costs and savings are per 1,000 cases in the units of the costs, unless it is said that
they are per case.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from truepool.comparison import Comparison, Estimate
from truepool.core import display
from truepool.core.arrays import BoolArray, FloatArray
from truepool.core.formatting import pluralize
from truepool.panel.labels import Labels

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
Trust: TypeAlias = Literal["no", "with care", "yes", "unknown", "asked"]
Subject: TypeAlias = Literal["outcome", "agent", "pool"]
PER_THOUSAND = 1000.0
"""Cases by which costs, savings and worth are counted."""
DECISIVE = ("costs", "currency", "threshold", "positive label", "capacity", "weights",
            "propensity")  # fmt: skip
"""Settings without which two audits measure different things."""
SCHEMA = 6
"""Version of the JSON form; raised when a name in it changes or disappears."""


class Detail(NamedTuple):
    """One of the numbers that a finding rests on, and what it is of."""

    name: str
    value: Estimate


@dataclass(frozen=True)
class Finding:
    """What a check found: a code, whom it is about and the numbers.

    `kinds` and ``words/`` hold all else that is true of the code.
    ``facts`` are what its sentence needs. ``saving`` is per 1,000 cases in the units of
    the costs, if what is found were undone; ``since`` the number of cases with an
    outcome before it, ``date`` that of the first case after it.
    """

    code: str
    severity: Severity
    who: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    number: Estimate | None = None
    unit: str = ""
    saving: Estimate | None = None
    p_value: float | None = None
    since: int | None = None
    date: str = ""
    segments: tuple[str, ...] = ()
    """Names of the segments that it is about."""
    details: tuple[Detail, ...] = ()
    """What the number is one of, in the same unit."""
    until: int | None = None
    """Number of cases with an outcome before its end, where it is over."""

    @property
    def key(self) -> tuple[str, ...]:
        """Code and agents, by which findings of two audits are matched."""
        return (self.code, *self.who)


@dataclass(frozen=True)
class Diagnosis:
    """What is true of an agent, of the pool in use or of the outcome: one thing each.

    The first of the findings in the order of `kinds`; all others about the same subject
    are ``evidence``. ``code`` is `kinds.SOUND` or `kinds.UNTESTED` without a finding.
    ``severity`` is that of the worst of them, None where nothing worse than a note is.
    """

    subject: Subject
    who: str
    code: str
    severity: Severity | None = None
    finding: Finding | None = None
    evidence: tuple[Finding, ...] = ()

    @property
    def since(self) -> int | None:
        """Cases with an outcome before it began; None if it was always so."""
        return None if self.finding is None else self.finding.since

    @property
    def date(self) -> str:
        """Date of the first case since then, where cases have dates."""
        return "" if self.finding is None else self.finding.date


@dataclass(frozen=True)
class Step:
    """One thing to do: the code of an action, on whom, with what.

    ``saving`` is per 1,000 cases and measured after the steps before it; None where
    it is not known. ``arguments`` are what the action needs beside the agents.
    """

    action: str
    agents: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    saving: Estimate | None = None
    saving_per_month: Estimate | None = None
    p_value: float | None = None

    @property
    def certain(self) -> bool:
        """Whether it surely saves something."""
        return self.saving is not None and self.saving.low > 0


@dataclass(frozen=True)
class Plan:
    """What to do: at most three steps, and the pool that is used after them.

    ``without`` are agents to fit it without; ``alternative`` is the simplest pool
    within one standard error of it. Costs and savings are per 1,000 cases, on
    ``tested`` cases that no pool learned from; ``saving`` is that of all steps
    together.
    """

    trust: Trust
    steps: tuple[Step, ...]
    in_use: str
    pool: str | None = None
    without: tuple[str, ...] = ()
    saving: Estimate | None = None
    saving_per_month: Estimate | None = None
    alternative: str | None = None
    agent: str | None = None
    """Who the best agent is, where it alone is recommended or the alternative."""
    constant: str | None = None
    """The decision that costs least if it is always made; None within a capacity."""
    constant_saving: Estimate | None = None
    """What the pool in use saves against always making that decision."""
    tried: int = 0
    tested: int = 0
    folds: int = 0
    forward: bool = False
    """Whether every fold learned from earlier cases than it was tested on."""
    grouped: bool = False
    """Whether every fold learned from other groups than it was tested on."""
    in_doubt: bool = False
    """Whether outcome or positive label may be wrong, or an agent of the pool may know
    them: nothing that depends on them is shown then."""

    @property
    def change(self) -> bool:
        """Whether another pool is recommended than the one in use."""
        return self.pool not in (None, self.in_use)


@dataclass(frozen=True, eq=False)
class Reliability:
    """Mean report and frequency (B,) in groups of similar reports; none is empty.

    ``low`` and ``high`` bound the frequency of calibrated reports (consistency bands,
    Bröcker & Smith 2007).
    """

    mean_report: FloatArray
    frequency: FloatArray
    cases: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def outside(self) -> BoolArray:
        """Which groups (B,) lie outside their bands."""
        return np.asarray((self.frequency < self.low) | (self.frequency > self.high))


@dataclass(frozen=True, eq=False)
class Calibration:
    """How well the probabilities of an agent or a pool are calibrated.

    ``bias`` is the mean report minus the base rate; ``slope`` is that of the logistic
    regression of outcomes on log-odds (1 where calibrated; below 1 is over-confident,
    above 1 under-confident). ``None``: too few cases; ``no_slope`` says why there is
    no slope.
    """

    who: str
    cases: int
    ece: float
    smooth_ece: float
    bias: Estimate | None
    slope: Estimate | None
    p_value: float | None
    reliability: Reliability | None
    no_slope: str = ""
    intercept: float = float("nan")
    """Of the same regression."""


@dataclass(frozen=True, eq=False)
class AgentSummary:
    """What one agent is worth: its own errors, its weights and its credit."""

    agent: str
    report_rate: float
    """Share of the cases that it reported on."""
    cases: int
    """Tested cases that it reported on: ``brier`` and ``cost`` are of these."""
    brier: float
    cost: float
    """Of deciding by this agent alone."""
    pool_cost: float
    """Of the pool in use, on the same cases."""
    earned_weight: Estimate | None
    """Weight that its leave-one-out credit earns, as in ``vcg``."""
    leave_one_out: Estimate | None
    """Credit in the pool in use, as it is: what it costs if the agent stops reporting
    and nothing is fitted again."""
    shapley: Estimate | None
    weight: float | None = None
    """In the pool in use: of what all agents change in its probabilities, the share."""
    recommended_weight: float | None = None
    worth: Estimate | None = None
    """What the recommended pool loses without it, fitted again."""
    worth_per_month: Estimate | None = None
    price: float | None = None
    """Of one report; ``net`` is the worth less what the reports cost."""
    net: Estimate | None = None


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """What two pools decide at other costs, two classes: (P, B) sums over cases.

    Cases are counted by the logarithm of the ratio of costs at which their decision
    turns, between ``edges`` (B + 1,). The ratio is the cost of a missed case over that
    of a false alarm, and a case is decided positive at any larger one; where a missed
    case costs what a column says (``by_amount``), it is the cost of a false alarm, and
    a case is decided positive at any smaller one. ``stakes`` are what missing the
    positives costs at the costs as they are.
    """

    pools: tuple[str, ...]
    edges: FloatArray
    positives: FloatArray
    negatives: FloatArray
    stakes: FloatArray
    by_amount: bool
    now: float
    """The ratio of the costs as they are."""


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Cost per case (G,) of deciding at each threshold, and over a range of costs."""

    thresholds: FloatArray
    cost: FloatArray
    ratios: FloatArray
    """Cost of a missed case over that of a false alarm."""
    pool: FloatArray
    best: FloatArray
    always: FloatArray
    never: FloatArray
    """Of the pool, the best agent, and of deciding always 1 or 0, at each ratio's own
    threshold, as a share of the more expensive of the two errors."""
    implied: float
    """Threshold that the costs imply; where they differ, that of an average case."""
    lowest: float | None = None
    """Threshold of least cost on these cases, which chance alone may have chosen."""


@dataclass(frozen=True, eq=False)
class Drift:
    """Losses and weights over time, at the points that a figure shows."""

    cases: FloatArray
    losses: dict[str, FloatArray]
    weights: FloatArray
    learner: str
    alarms: tuple[tuple[str, int, float, float], ...]
    """Who, at which position in time, from 0, and the mean loss before and after."""
    dates: tuple[str, ...] = ()
    """Of ``cases``, where the cases have dates."""
    alarm_dates: tuple[str, ...] = ()
    alarm_ids: tuple[str, ...] = ()
    """Of the cases of ``alarms``, where the cases have ids."""


@dataclass(frozen=True)
class PairedComparison:
    """What another pool would save per case out of fold, and how significant that is.

    ``saved`` has a BCa interval; ``diebold_mariano`` is None without times.
    """

    pool: str
    saved: Estimate
    paired_t: float
    holm: float
    bonferroni: float
    signed_rank: float
    diebold_mariano: float | None


@dataclass(frozen=True)
class AgentSkill:
    """How well an agent does on the tested cases of a segment that it reported on.

    ``auc`` is that within the segment (two classes), ``brier_skill`` the share of the
    Brier loss of the segment's base rate that its reports save. None: too few cases.
    """

    agent: str
    cases: int
    auc: Estimate | None = None
    brier_skill: Estimate | None = None


@dataclass(frozen=True)
class Segment:
    """How the pool and the agents do on the tested cases of one segment.

    ``shortage`` says why a segment is too small to be judged. ``bias`` is the mean
    pooled probability minus the share of positives, ``slope`` that of `Calibration`.
    """

    group: str
    cases: int
    positives: int
    shortage: str | None
    cost: Estimate | None = None
    recall: Estimate | None = None
    bias: Estimate | None = None
    slope: Estimate | None = None
    weighted_share: float | None = None
    """Share of positives by the weights of the cases; None where they have none."""
    agents: tuple[AgentSkill, ...] = ()
    """In the order of the audit; none where the segment is not judged."""

    @property
    def share(self) -> float:
        """Share of the cases that are positive."""
        if self.weighted_share is not None:
            return self.weighted_share
        return self.positives / self.cases


@dataclass(frozen=True)
class AtCapacity:
    """What the pool costs and finds when only so many cases can be decided positive.

    Of the ``wanted`` positive decisions, ``decided`` fit; ``competing`` cases have no
    outcome. ``rise`` is what the limit costs.
    """

    capacity: str
    wanted: int
    decided: int
    recall: Estimate | None
    precision: float
    cost: Estimate | None
    rise: Estimate | None
    recall_without_limit: float
    precision_without_limit: float
    competing: int = 0


@dataclass(frozen=True)
class Operation:
    """What deciding by a pool means, on ``cases`` that it did not learn from.

    Shares are of all cases (``alerts``), of alerts (``precision``), of positive cases
    (``recall``), of what these could cost (``recall_of_money``, where that differs by
    case) and of negative cases (``false_alarms``). None: not known, as of more than two
    classes.
    """

    pool: str
    cases: int
    cost: Estimate | None
    cost_per_month: Estimate | None
    alerts_per_day: Estimate | None = None
    alerts: Estimate | None = None
    precision: Estimate | None = None
    recall: Estimate | None = None
    recall_of_money: Estimate | None = None
    false_alarms: Estimate | None = None


@dataclass(frozen=True)
class Change:
    """How a diagnosis, or what an agent is worth, differs from an earlier audit."""

    subject: Subject
    who: str
    what: Literal["new", "worse", "better", "gone", "worth"]
    before: str
    """Codes of the diagnosis then and now."""
    now: str
    worth: Estimate | None = None
    """How much more an agent is worth than then, per 1,000 cases."""


@dataclass(frozen=True)
class Changes:
    """What got better and worse since an earlier audit, by diagnoses and worth.

    ``settings`` are names of settings that differ; where they are `DECISIVE` the two
    audits measure different things and nothing is compared.
    """

    source: str
    date: str
    settings: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    left_out: tuple[str, ...] = ()
    """Agents of the earlier audit that are not in this one."""
    cost: Estimate | None = None
    """Of the pool in use then, per 1,000 cases."""
    pool: str = ""
    """The pool in use then."""
    advised: str | None = None
    """The pool recommended then; None where none was."""

    @property
    def comparable(self) -> bool:
        """Whether the two audits measure the same."""
        return not set(self.settings) & set(DECISIVE)


@dataclass(frozen=True)
class AgentSet:
    """The set of agents that costs least with what their reports cost.

    Costs are per 1,000 cases, prices included. ``saving`` is against asking everybody,
    on cases that the set was not chosen on.
    """

    agents: tuple[str, ...]
    dropped: tuple[str, ...]
    cost: Estimate
    cost_of_all: Estimate
    saving: Estimate


@dataclass(frozen=True)
class Note:
    """What was sampled, assumed or left out: a code and the facts of its sentence."""

    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Audit:
    """One diagnosis of the outcome, each agent and the pool; a plan; the evidence."""

    schema: ClassVar[int] = SCHEMA

    outcome: Diagnosis
    agents: tuple[Diagnosis, ...]
    """In the order of the panel."""
    pool: Diagnosis
    plan: Plan
    findings: tuple[Finding, ...]
    """All of them, those of the diagnoses first."""
    costs: dict[str, Any]
    threshold: float | None
    level: float
    cases: int
    positives: int
    classes: int
    missing: float
    """Share of the reports that are missing."""
    seed: int
    calibration: tuple[Calibration, ...]
    """Of every agent, the pool and the recalibrated pool, in this order."""
    summaries: tuple[AgentSummary, ...]
    correlation: FloatArray
    effective_agents: float
    curve: CostCurve | None
    comparison: Comparison | None
    significance: tuple[PairedComparison, ...]
    """Every pool tried against the one in use, lowest loss first."""
    drift: Drift | None
    operations: tuple[Operation, ...] = ()
    """Of the pool in use, the recommended one and the simpler alternative."""
    tradeoff: Tradeoff | None = None
    best_set: AgentSet | None = None
    """Where agents have a price."""
    withheld: tuple[Note, ...] = ()
    """Checks that could not be made, and why."""
    notes: tuple[Note, ...] = ()
    labels: Labels = field(default_factory=lambda: Labels.from_count(2))
    label_cases: tuple[int, ...] = ()
    """Number of cases with each label."""
    source: str = ""
    """Name of the table, where it is known."""
    date: str = ""
    """Day of the audit, as in 2026-11-16."""
    changes: Changes | None = None
    """What got better and worse since an earlier audit."""
    weighted_share: float | None = None
    """Share of positives by the weights of the cases; None where they have none."""
    by: str | None = None
    """Column that divides the cases into ``segments``, the largest first."""
    segments: tuple[Segment, ...] = ()
    capacity: AtCapacity | None = None
    weighting: tuple[str, ...] = ()
    """What cases count by: their weight, their propensity, both or neither."""
    cases_per_month: float | None = None
    pool_digest: str = ""
    """Hash of the pool in use, if it was fitted before; empty if it was fitted here."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the agents."""
        return tuple(agent.who for agent in self.agents)

    @property
    def judged(self) -> tuple[str, ...]:
        """Agents that figures are of: all but those that may know the outcome."""
        return tuple(one.agent for one in self.summaries)

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """Of the outcome, the agents and the pool."""
        return (self.outcome, *self.agents, self.pool)

    @property
    def currency(self) -> str:
        """Unit of the costs; empty where it has no name."""
        return str(self.costs.get("currency", ""))

    @property
    def share(self) -> float:
        """Share of the cases that are positive."""
        counted = self.positives / self.cases
        return counted if self.weighted_share is None else self.weighted_share

    def count(self, severity: Severity) -> int:
        """Return how many diagnoses are of this severity."""
        return sum(one.severity == severity for one in self.diagnoses)

    def worst(self) -> Severity | None:
        """Return the most severe severity; None where everything is sound."""
        return next((level for level in SEVERITIES if self.count(level)), None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, codes and sentences, ready for JSON."""
        return dict(display.render("truepool.pages.json", "document", self))

    def to_markdown(self) -> str:
        """Return a Markdown page."""
        return str(display.render("truepool.pages.audit", "markdown", self))

    def to_html(self, path: str | Path) -> None:
        """Write the page as one file that works offline."""
        display.render("truepool.pages.audit", "write", self, path)

    def _repr_html_(self) -> str:
        return str(display.render("truepool.pages.audit", "summary", self))

    def __repr__(self) -> str:
        counts = ", ".join(pluralize(self.count(level), level) for level in SEVERITIES)
        return f"Audit({self.pool.who} on {self.cases:,} cases: {counts})"


def plain_value(value: Any) -> Any:
    """Values that JSON can express: lists for arrays, None for NaN and infinity."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
