"""What an audit says: findings in the user's costs, and the evidence for them."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, cast

from truepool import showing
from truepool.arrays import FloatArray
from truepool.comparison import Comparison, Estimate
from truepool.numerals import counted

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
SCHEMA = 1
"""Version of the JSON form; raised when a name in it changes or goes."""


@dataclass(frozen=True)
class Finding:
    """One thing the user should know, in one sentence, with its number and its cure.

    ``cost`` is what it costs a case, in the user's units, where that can be told;
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
    since: int | None = None  # position in time of the first case after the change


@dataclass(frozen=True, eq=False)
class Reliability:
    """How often it happened (B,) where about so much was said; empty groups left out.

    ``low`` and ``high`` is where the frequency of calibrated reports would lie
    (consistency bands, Bröcker & Smith 2007).
    """

    said: FloatArray
    happened: FloatArray
    cases: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class Calibration:
    """Whether somebody's probabilities mean what they say.

    ``bias`` is the mean report less the base rate; ``slope`` and ``intercept`` are of
    the logistic regression of outcomes on log-odds (1 and 0 where calibrated; a slope
    below 1 is over-confident, above 1 under-confident). ``None``: not to be told.
    """

    who: str
    cases: int
    ece: float
    smooth_ece: float
    bias: Estimate | None
    slope: Estimate | None
    p_value: float | None
    reliability: Reliability | None


@dataclass(frozen=True, eq=False)
class Standing:
    """What one agent is worth: its own errors, its part, and what the pool owes it."""

    agent: str
    spoke: float
    brier: float
    cost: float
    weight: Estimate | None
    """What its leave-one-out credit earns it, as ``vcg`` sets weights."""
    leave_one_out: Estimate | None
    shapley: Estimate | None
    gain: float | None
    """The most it could gain by misreporting, in the units of its reward."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Cost a case (G,) of deciding at each threshold, and over a range of costs."""

    thresholds: FloatArray
    cost: FloatArray
    ratios: FloatArray
    """Cost of a missed case over that of a false alarm."""
    pool: FloatArray
    best: FloatArray
    always: FloatArray
    never: FloatArray
    """Of the pool, the best agent, and of deciding always 1 or 0, at each ratio's own
    threshold, as a share of the dearer of the two errors."""


@dataclass(frozen=True, eq=False)
class Drift:
    """Losses and weights over time, thinned to what a figure shows."""

    cases: FloatArray
    losses: dict[str, FloatArray]
    weights: FloatArray
    learner: str
    alarms: tuple[tuple[str, int, float, float], ...]
    """Who, at which case, and the mean loss before and after."""


@dataclass(frozen=True)
class Lead:
    """What another pool would save a case out of fold, and whether that is luck.

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
class CaseStudy:
    """What the pool would cost if something happened to its agents."""

    what: str
    who: str
    cost: Estimate
    rise: Estimate


@dataclass(frozen=True, eq=False)
class Audit:
    """Findings in the order of what they cost, and all the evidence behind them.

    ``withheld`` are pairs of what is not said and why; ``sampled`` tells which parts
    were estimated from fewer cases than there are.
    """

    schema: ClassVar[int] = SCHEMA

    findings: tuple[Finding, ...]
    mechanism: str
    costs: dict[str, Any]
    threshold: float | None
    level: float
    cases: int
    positives: int
    classes: int
    agents: tuple[str, ...]
    silent: float
    seed: int
    calibration: tuple[Calibration, ...]
    """Of every agent, of the pool, and of the pool recalibrated, in this order."""
    standings: tuple[Standing, ...]
    correlation: FloatArray
    effective_agents: float
    curve: Curve | None
    comparison: Comparison | None
    significance: tuple[Lead, ...]
    """Of every pool tried against the one in use, least loss first."""
    drift: Drift | None
    robustness: tuple[CaseStudy, ...]
    advice: str
    withheld: tuple[tuple[str, str], ...] = ()
    sampled: tuple[str, ...] = ()

    def count(self, severity: Severity) -> int:
        """Return how many findings are of this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    def worst(self) -> Severity | None:
        """Return the gravest severity there is, None where there are no findings."""
        found = {finding.severity for finding in self.findings}
        return next((level for level in SEVERITIES if level in found), None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, ready for JSON; see docs/audit.md."""
        plain = asdict(self) | {"schema": SCHEMA}
        plain["comparison"] = self.comparison and self.comparison.to_dict()
        return cast(dict[str, Any], _plain(plain))

    def to_markdown(self) -> str:
        """Return a Markdown page."""
        return str(showing.by("audited", "markdown", self))

    def to_html(self, path: str | Path) -> None:
        """Write a page that needs nothing else to be read."""
        showing.by("page", "write", self, path)

    def _repr_html_(self) -> str:
        return str(showing.by("page", "fragment", self))

    def __repr__(self) -> str:
        counts = ", ".join(counted(self.count(level), level) for level in SEVERITIES)
        return f"Audit({self.mechanism} on {self.cases:,} cases: {counts})"


def _plain(value: Any) -> Any:
    """Values as JSON knows them: lists for arrays, None for NaN."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and value != value else value
