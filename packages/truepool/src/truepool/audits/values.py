"""What an audit returns: findings in the user's costs, and the evidence for them."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from truepool.comparison import Comparison, Estimate
from truepool.core import display
from truepool.core.arrays import BoolArray, FloatArray
from truepool.core.formatting import pluralize
from truepool.panel.labels import Labels

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
Trust: TypeAlias = Literal["no", "with care", "yes", "unknown"]
DECISIVE = ("costs", "currency", "threshold", "positive label", "capacity", "weights",
            "propensity")  # fmt: skip
"""Settings without which two audits measure different things."""
SCHEMA = 5
"""Version of the JSON form; raised when a name in it changes or disappears."""


class Detail(NamedTuple):
    """One of the numbers that a finding rests on, and what it is of."""

    name: str
    value: Estimate


@dataclass(frozen=True)
class Finding:
    """One thing the user should know: a sentence, its number and what to do.

    ``cost`` is what fixing it saves per case, in the user's units, where known;
    ``figure`` names the part of the evidence that shows it.
    """

    code: str
    severity: Severity
    who: tuple[str, ...]
    sentence: str
    advice: str
    number: Estimate | None = None
    unit: str = ""
    cost: Estimate | None = None
    p_value: float | None = None
    figure: str | None = None
    since: int | None = None  # number of cases with an outcome before the change
    date: str = ""  # of the first case after it, where the cases have dates
    cause: tuple[str, ...] = ()
    """Code and agents of the finding that explains this one."""
    segments: tuple[str, ...] = ()
    """Names of the segments that it is about."""
    details: tuple[Detail, ...] = ()
    """What the number is one of, in the same unit."""

    @property
    def key(self) -> tuple[str, ...]:
        """Code and agents, by which findings of two audits are matched."""
        return (self.code, *self.who)


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
    """What one agent is worth: its own errors, its weight and its credit."""

    agent: str
    report_rate: float
    """Share of the cases that it reported on."""
    brier: float
    cost: float
    weight: Estimate | None
    """Weight that its leave-one-out credit earns, as in ``vcg``."""
    leave_one_out: Estimate | None
    """Credit in the pool in use, as it is: what it costs if the agent stops reporting
    and nothing is fitted again."""
    shapley: Estimate | None
    cases: int
    """Tested cases that it reported on: ``brier`` and ``cost`` are of these."""
    pool_cost: float
    """What the pool costs per case on the same cases."""
    worth: Estimate | None = None
    """What the recommended pool loses per 1,000 cases without it, fitted again."""
    worth_per_month: Estimate | None = None


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
    outcome. Costs are per tested case; ``rise`` is what the limit costs.
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
    case) and of negative cases (``false_alarms``). None: not known.
    """

    pool: str
    cases: int
    cost: Estimate | None
    cost_per_month: Estimate | None
    alerts_per_day: Estimate | None
    alerts: Estimate | None
    precision: Estimate | None
    recall: Estimate | None
    recall_of_money: Estimate | None
    false_alarms: Estimate | None


@dataclass(frozen=True)
class Changes:
    """What got better and worse since an earlier audit.

    Findings are matched by code and agents; notes do not count. Costs are per case, of
    the pool in use, on the cases of each audit.
    """

    source: str
    date: str
    trust: Trust
    cost: float | None
    worse: tuple[Finding, ...]
    """Errors and warnings that are new, or whose effect is significantly larger."""
    better: tuple[tuple[str, ...], ...]
    """Code and agents of those that are gone, or whose effect is smaller."""
    left_out: tuple[str, ...] = ()
    """Agents of the earlier audit that are not in this one."""
    settings: tuple[str, ...] = ()
    """Names of settings that differ between the two."""
    currency: str = ""
    """Unit of the earlier cost; empty where it has no name."""
    certain: tuple[Finding, ...] = ()
    """Errors and warnings that are more certain than before, but not larger."""
    new: tuple[tuple[str, ...], ...] = ()
    """Code and agents of those of ``worse`` that the earlier audit did not have."""
    pool: str = ""
    """The pool in use then; its costs and faults are not those of another one."""
    advised: str | None = None
    """The pool recommended then; None where none was."""

    @property
    def comparable(self) -> bool:
        """Whether costs and findings of the two audits mean the same."""
        return not set(self.settings) & set(DECISIVE)


@dataclass(frozen=True)
class Fix:
    """One thing to fix: the finding's code and agents, and what fixing it saves."""

    code: str
    who: tuple[str, ...]
    severity: Severity
    saving: Estimate | None = None
    since: int | None = None
    date: str = ""
    factor: float | None = None
    """What an agent's reports since then are multiplied by to undo a change of unit."""
    refit: str = ""
    """The kind of pool to fit again, where the pool in use was saved."""


@dataclass(frozen=True)
class Recommendation:
    """What to do: verdict and advice are written from this and nothing else.

    ``fixes`` are the errors and then the warnings, in the order of the findings; no
    pool cures an error, so errors come before ``pool``, which is None where cases are
    too few to compare pools, or the labels are in doubt. Costs and savings are per
    case, on ``tested`` cases that no pool learned from; ``saving`` is against the pool
    in use, with the ``p_value`` adjusted for the ``tried`` pools.
    """

    trust: Trust
    fixes: tuple[Fix, ...]
    in_use: str
    pool: str | None
    agent: str | None = None
    """Who, where the best agent alone is recommended or the alternative."""
    cost: float | None = None
    cost_in_use: float | None = None
    saving: Estimate | None = None
    p_value: float | None = None
    why: str = ""
    alternative: str | None = None
    """The simplest pool within one standard error of the recommended one."""
    alternative_cost: float | None = None
    auto_saving: Estimate | None = None
    """What `auto` would save; below 0 it costs more. None where it is in use."""
    auto_p_value: float | None = None
    """Of that saving, adjusted for the ``tried`` pools."""
    tried: int = 0
    tested: int = 0
    folds: int = 0
    forward: bool = False
    """Whether every fold learned from earlier cases than it was tested on."""
    grouped: bool = False
    """Whether every fold learned from other groups than it was tested on."""
    regime: str = ""
    usual: str = ""
    """The pool that the paper's table of regimes names here, and its cost per case."""
    usual_cost: float | None = None
    without: tuple[str, ...] = ()
    """Agents that ``pool`` is to be fitted without until they are fixed; what it costs
    then, and saves against the pool in use with all agents, where that is known."""
    without_cost: float | None = None
    without_saving: Estimate | None = None
    constant: str | None = None
    """The decision that costs least if it is always made; None within a capacity."""
    constant_cost: float | None = None
    constant_saving: Estimate | None = None
    """What the pool in use saves against always making that decision."""
    threshold_moves: bool = False
    """Whether the first step is to decide at the threshold that the costs imply; all
    costs are at that threshold then."""
    outcome_in_doubt: bool = False
    """Whether outcome or positive label may be wrong, or an agent of the pool may know
    them: no pool is recommended then, and nothing that depends on them is shown."""

    @property
    def errors(self) -> tuple[Fix, ...]:
        """What must be fixed before the pool can be trusted."""
        return tuple(fix for fix in self.fixes if fix.severity == "error")

    @property
    def change(self) -> bool:
        """Whether another pool is recommended than the one in use."""
        return self.pool not in (None, self.in_use)


@dataclass(frozen=True, eq=False)
class Audit:
    """Findings, first those to fix first, then by severity, and their evidence.

    ``withheld`` are pairs of what was left out and why; ``sampled`` says which parts
    were estimated from a random part of the cases.
    """

    schema: ClassVar[int] = SCHEMA

    findings: tuple[Finding, ...]
    pool: str
    costs: dict[str, Any]
    threshold: float | None
    level: float
    cases: int
    positives: int
    classes: int
    agents: tuple[str, ...]
    missing: float
    """Share of the reports that are missing."""
    seed: int
    calibration: tuple[Calibration, ...]
    """Of every agent, the pool and the recalibrated pool, in this order."""
    agent_summaries: tuple[AgentSummary, ...]
    correlation: FloatArray
    effective_agents: float
    curve: CostCurve | None
    comparison: Comparison | None
    significance: tuple[PairedComparison, ...]
    """Every pool tried against the one in use, lowest loss first."""
    drift: Drift | None
    recommendation: Recommendation
    withheld: tuple[tuple[str, str], ...] = ()
    sampled: tuple[str, ...] = ()
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
    operations: tuple[Operation, ...] = ()
    """Of the pool in use, the recommended one and the simpler alternative."""
    cases_per_month: float | None = None
    pool_digest: str = ""
    """Hash of the pool in use, if it was fitted before; empty if it was fitted here."""

    @property
    def currency(self) -> str:
        """Unit of the costs; empty where it has no name."""
        return str(self.costs.get("currency", ""))

    @property
    def share(self) -> float:
        """Share of the cases that are positive."""
        counted = self.positives / self.cases
        return counted if self.weighted_share is None else self.weighted_share

    @property
    def groups(self) -> tuple[tuple[Finding, tuple[Finding, ...]], ...]:
        """Findings without a cause, each with those it explains, in their order."""
        by_key = {finding.key: finding for finding in self.findings}
        under: dict[tuple[str, ...], list[Finding]] = {}
        for finding in self.findings:
            root, seen = finding, {finding.key}
            while root.cause in by_key and root.cause not in seen:
                root = by_key[root.cause]
                seen.add(root.key)
            if root.cause in by_key:  # they explain each other: each stands alone
                root = finding
            under.setdefault(root.key, [])
            if root is not finding:
                under[root.key].append(finding)
        return tuple((f, tuple(under[f.key])) for f in self.findings if f.key in under)

    def count(self, severity: Severity) -> int:
        """Return how many findings are of this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    def worst(self) -> Severity | None:
        """Return the most severe severity, None where there are no findings."""
        return next((level for level in SEVERITIES if self.count(level)), None)

    @property
    def verdict(self) -> str:
        """Whether the pool can be trusted, in one or two sentences."""
        return str(display.render("truepool.render.verdict", "sentence", self))

    @property
    def advice(self) -> str:
        """What to fix first and which pool to use, in one paragraph."""
        return " ".join(self.steps)

    @property
    def steps(self) -> tuple[str, ...]:
        """What to do, step by step: `advice` in parts."""
        return tuple(display.render("truepool.render.advice", "steps", self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, ready for JSON; see docs/audit.md."""
        plain = asdict(self) | {"schema": SCHEMA}
        del plain["labels"], plain["label_cases"]
        plain["outcome_labels"] = self.labels.to_dict(self.label_cases)
        words = {"verdict": self.verdict, "advice": self.advice, "steps": self.steps}
        plain["recommendation"] = words | plain["recommendation"]
        plain["comparison"] = self.comparison and self.comparison.to_dict()
        return cast(dict[str, Any], plain_value(plain))

    def to_markdown(self) -> str:
        """Return a Markdown page."""
        return str(display.render("truepool.render.tables.audit", "markdown", self))

    def to_html(self, path: str | Path) -> None:
        """Write the page as one file that works offline."""
        display.render("truepool.render.html.audit", "write", self, path)

    def _repr_html_(self) -> str:
        return str(display.render("truepool.render.html.audit", "summary", self))

    def __repr__(self) -> str:
        counts = ", ".join(pluralize(self.count(level), level) for level in SEVERITIES)
        return f"Audit({self.pool} on {self.cases:,} cases: {counts})"


def plain_value(value: Any) -> Any:
    """Values that JSON can express: lists for arrays, None for NaN and infinity."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
