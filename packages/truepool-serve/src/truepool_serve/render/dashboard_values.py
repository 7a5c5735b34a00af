"""What a dashboard shows of a pool: numbers, and sentences about them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from truepool.audits.reliability import too_many_outside
from truepool.audits.values import Reliability
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray
from truepool.core.formatting import number, percent, pluralize
from truepool.online.alarms.alarm import OUTCOMES, POOL
from truepool.online.alarms.monitor import FIRST_DRIFT, FIRST_SETTLED
from truepool.pages import costs as cost_words
from truepool.pages.chart import Line
from truepool.pages.numbers import format_estimate

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
"""Seconds."""
RECENT = 10 * MINUTE
"""Over which decisions per minute are counted."""
NAMED = 3
"""Agents that a headline names."""
ALARMS = {
    "constant": "{who} reports {after} again and again.",
    "stopped": "{who} has stopped reporting.",
    "repeated": "{who} sends earlier reports again.",
    "link": "The reports of {who} no longer move with those of the others.",
    "level": "The reports of {who} have shifted against those of the others.",
    "scale": "The reports of {who} are spread differently than before.",
    "cost": "Deciding by {who} costs {after} per case; it was {before}.",
    "discrimination": "{who} ranks positive cases lower than before.",
    "outcome rate": "The share of positive outcomes went from {before} to {after}.",
}
"""What an alarm says, by its kind."""
OVER = {
    "constant": "{who} reported {after} again and again",
    "stopped": "{who} stopped reporting",
}
"""What it says when the feed has recovered, but for when that was."""
WHO = {POOL: "the pool", OUTCOMES: "the outcomes"}
"""What an alarm is on, where it is not on an agent."""
UNWATCHED = "alarms need two labels and at least two agents."


@dataclass(frozen=True)
class AgentRow:
    """An agent: what its feed does, and what it is worth per case."""

    name: str
    state: str
    severity: str
    last: float | None
    share: float | None
    weight: float | None
    credit: Estimate | None
    cost: Estimate | None


@dataclass(frozen=True)
class AlarmRow:
    """An alarm, when it was raised, since when, and until when if that is over."""

    who: str
    kind: str
    severity: str
    before: float
    after: float
    at: float
    since: float | None
    until: float | None = None

    def sentence(self, now: float) -> str:
        """What happened, with its times where it is over."""
        form = percent if self.kind == "outcome rate" else number
        words = ALARMS[self.kind]
        if self.until is not None:
            start = moment(self.since or self.at, now)
            end = moment(self.until, now)
            words = f"{OVER[self.kind]} from {start} to {end}, and has recovered."
        who = WHO.get(self.who, self.who)
        before, after = form(self.before), form(self.after)
        return words.format(who=who, before=before, after=after)


@dataclass(frozen=True)
class CostRow:
    """Cost per case of what somebody decides, and what the pool saves against it."""

    name: str
    cases: int
    cost: Estimate | None
    saved: Estimate | None


@dataclass(frozen=True)
class DecisionRow:
    """A decision: who reported, the probability of what was decided, the outcome."""

    case: str
    at: float
    reported: int
    probability: float
    decision: str
    outcome: str | None


@dataclass(frozen=True, eq=False)
class PoolView:
    """All that a page shows of a pool."""

    name: str
    costs: Mapping[str, Any]
    labels: tuple[str, ...]
    rule: str
    learner: str
    level: float
    decided: int
    settled: int
    pending: int
    oldest: tuple[tuple[str, float], ...]
    recent: tuple[DecisionRow, ...]
    window: int
    window_settled: int
    rule_settled: int
    """Those that the rule in use decided, or would have decided in shadow mode."""
    deciders: tuple[str, ...]
    """The rule that made each decision."""
    times: tuple[float, ...]
    settled_times: tuple[float, ...]
    throughput: FloatArray
    agents: tuple[AgentRow, ...]
    all_agents: int
    drift_watched: int | None
    """Cases whose reports were tested for drift; None: no feed is watched."""
    outcomes_watched: bool
    """Whether costs and the outcome rate are tested by now."""
    alarms: tuple[AlarmRow, ...]
    weights: Sequence[Line]
    credit: Sequence[Line]
    credit_known: bool
    """Whether the record says what each report changed, of any decision shown."""
    cost_lines: Sequence[Line]
    comparison: tuple[CostRow, ...]
    reliability: Reliability | None
    challengers: tuple[Mapping[str, Any], ...]
    fewest: int
    """Settled cases from which costs are compared and calibration is shown."""
    unverified: str
    """What is wrong with its records, or nothing."""
    now: float

    @property
    def unit(self) -> str:
        """Unit of the costs."""
        return cost_words.unit(self.costs)

    @property
    def ends(self) -> tuple[str, str]:
        """The times of the first and of the last decision shown."""
        return _ends(self.times, self.now)

    @property
    def settled_ends(self) -> tuple[str, str]:
        """The same for the decisions whose outcome is known."""
        return _ends(self.settled_times, self.now)

    @property
    def per_minute(self) -> str:
        """Decisions per minute of the last minutes, however many there were."""
        recent = [at for at in self.times if self.now - at < RECENT]
        if not recent:
            return "0"
        seconds = RECENT
        if len(recent) == len(self.times) < self.decided:  # more than are shown
            seconds = max(self.now - recent[0], 1.0)
        return number(MINUTE * len(recent) / seconds)

    @property
    def made(self) -> int:
        """How many of the decisions the rule in use has made."""
        return self.deciders.count(self.rule)

    @property
    def promotion(self) -> str:
        """Since when the rule in use decides, if another one decided before."""
        counts = Counter(self.deciders)
        if set(counts) <= {self.rule}:
            return ""
        run = sum(1 for _ in takewhile(self.rule.__eq__, reversed(self.deciders)))
        since = f"{self.rule} was promoted after the last decision."
        if run:
            at = moment(self.times[-run], self.now)
            since = f"{self.rule} has decided every case since {at}."
        by = f"{self.deciders[0]} made {self.last_decisions}"
        if len(counts) > 1:
            made = (f"{name} made {count:,}" for name, count in counts.items())
            by = f"Of {self.last_decisions}, {', '.join(made)}"
        sentence = f"{since} {by}."
        if not self.rule_settled:
            return sentence
        return (
            f"{sentence} Costs and calibration are those of {self.rule}, from the "
            f"{pluralize(self.rule_settled, 'settled case')} that it decided, or would "
            "have decided in shadow mode."
        )

    @property
    def severity(self) -> str:
        """Of the worst that is true now."""
        states = {agent.severity for agent in self.agents}
        if "error" in states:
            return "error"
        changed = "warning" in states or self.alarms or self.unverified
        return "warning" if changed else "note"

    @property
    def headline(self) -> str:
        """How the pool is, in a sentence."""
        broken = [agent for agent in self.agents if agent.severity == "error"]
        if broken:
            names = _names([f"{agent.name} ({agent.state})" for agent in broken])
            named = {agent.name for agent in broken}
            return f"Check the feed of {names}.{self._other_alarms(named)}"
        if self.alarms:
            last = next((one for one in self.alarms if one.until is None), None)
            if last is None:
                return self.alarms[0].sentence(self.now)
            return f"{last.sentence(self.now)}{self._other_alarms({last.who})}"
        if not self.window:
            return "Nothing was decided yet."
        if not self.window_settled:
            return "No outcome is known yet."
        if self.drift_watched is None:
            return f"No feed is watched: {UNWATCHED}"
        feeds = f"No alarms on feeds in {self.last_decisions}"
        if self.drift_watched >= self.window:
            feeds = f"No alarms on feeds or drift in {self.last_decisions}"
        elif self.drift_watched:
            feeds += f", nor on drift in the last {self.drift_watched:,}"
        return f"{feeds}.{self._unwatched}"

    @property
    def _unwatched(self) -> str:
        """What is not watched yet, and from when on it will be, or nothing."""
        later = []
        if not self.outcomes_watched:
            later.append(
                f"costs and the outcome rate (from settled case {FIRST_SETTLED} on)"
            )
        if not self.drift_watched:
            later.append(f"drift of the reports (from case {FIRST_DRIFT} on)")
        return f" Not watched yet: {' and '.join(later)}." if later else ""

    def _other_alarms(self, named: set[str]) -> str:
        """Who else has alarms that are not over, as a sentence, or nothing."""
        others = dict.fromkeys(
            WHO.get(one.who, one.who)
            for one in self.alarms
            if one.until is None and one.who not in named
        )
        return f" Alarms also on {_names(list(others))}." if others else ""

    @property
    def cheaper(self) -> str:
        """What would have cost significantly less than the rule in use, or nothing."""
        found = [
            (row.name, -row.saved.value, -row.saved.high, -row.saved.low)
            for row in self.comparison
            if row.saved is not None and row.saved.high < 0
        ]
        found += [
            (f"the challenger {one['challenger']}", one["saved_per_case"], low, high)
            for one in self.challengers
            for low, high in [one["interval"] or (0.0, 0.0)]
            if low > 0
        ]
        if not found:
            return ""
        less = ", ".join(
            f"{name} by {format_estimate(Estimate(*numbers))}"
            for name, *numbers in found
        )
        unit = f", {self.unit}" if self.unit else ""
        return (
            f"Significantly cheaper per case than the rule in use: {less} "
            f"({percent(self.level)} interval{unit})."
        ).replace(".0 %", " %")

    @property
    def miscalibrated(self) -> str:
        """Where pooled probabilities and outcomes differ most, or nothing."""
        found = self.reliability
        if found is None or not too_many_outside(found, self.level):
            return ""
        gaps = abs(found.frequency - found.mean_report) * found.outside
        worst = int(gaps.argmax())
        return (
            f"Miscalibrated: {int(found.outside.sum())} of {len(gaps)} groups of "
            "similar probabilities lie outside the band of a calibrated pool. When it "
            f"says {percent(found.mean_report[worst])}, "
            f"{percent(found.frequency[worst])} of the outcomes are {self.labels[1]}."
        )

    @property
    def cautions(self) -> list[str]:
        """What is wrong although no alarm was raised."""
        records = f"Unverified: {self.unverified}." if self.unverified else ""
        found = (records, self.cheaper, self.miscalibrated)
        return [sentence for sentence in found if sentence]

    @property
    def last_decisions(self) -> str:
        """Which decisions a sentence or table is about."""
        only = self.window == 1
        return "the last decision" if only else f"the last {self.window:,} decisions"


def _names(names: Sequence[str]) -> str:
    """Join the first names, and say how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _ends(times: Sequence[float], now: float) -> tuple[str, str]:
    return (moment(min(times), now), moment(max(times), now)) if times else ("", "")


def moment(at: float, now: float) -> str:
    """Return a time of the last day by the clock, another one with its date (UTC).

    >>> moment(0.0, 60.0), moment(0.0, 1e9)
    ('00:00:00', '1970-01-01 00:00')
    """
    near = 0 <= now - at < DAY
    form = "%H:%M:%S" if near else "%Y-%m-%d %H:%M"
    return datetime.fromtimestamp(at, UTC).strftime(form)


def ago(at: float, now: float) -> str:
    """Return how long ago a time is, in one unit.

    >>> ago(0, 0.4), ago(0, 59), ago(0, 7000), ago(0, 1e5), ago(0, 1e6)
    ('now', '59 s ago', '117 min ago', '28 h ago', '12 days ago')
    """
    passed = now - at
    if passed < 1:
        return "now"
    for unit, seconds in (("s", 1.0), ("min", MINUTE), ("h", HOUR)):
        following = {"s": MINUTE, "min": HOUR, "h": DAY}[unit]
        if passed < 2 * following:
            return f"{passed / seconds:.0f} {unit} ago"
    return f"{passed / DAY:.0f} days ago"
