"""The tables of the corpus: what each is like, what was planted in it, how it is audited.

Agents are calibrated by construction before anything is planted: agent i sees a score
that is normal around its skill times the outcome, and reports its posterior. Every
number is drawn from the seed of its table; a table never changes once it is recorded.
"""

import zlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from simulated_faults import quality_panel

import truepool as tp
from audit_corpus.faults import HARMLESS, Draft, fault

START = np.datetime64("2026-01-01T00:00")
HOUR = np.timedelta64(1, "h")
REGIONS = ("north", "south", "east", "west")
LEVELS = (1.6, 1.5, 1.4, 1.5, 1.3, 1.45, 1.35, 1.55)
"""Skills of agents, as many as a table has."""
NEAR = 0.02
"""A change may be dated so far from where it was planted, as a share of the cases."""


@dataclass(frozen=True)
class Planted:
    """What is true of a table: the diagnosis that is due, of whom, since when.

    ``since`` is the number of cases with an outcome before the change.
    """

    code: str
    who: str | None
    since: int | None
    near: float = NEAR


@dataclass(frozen=True)
class Table:
    """A table of the corpus; ``kind`` groups what has the same fault.

    ``costs`` is (fn, fp), or "amount" where a missed case costs its amount. ``pending``
    is the share of the cases, the last ones, without an outcome; ``missing`` that of the
    reports. ``times`` is "dates", "order" (numbers), "shuffled" (dates, rows in random
    order) or None. ``fast`` tables are audited by every run of the tests.
    """

    name: str
    kind: str
    seed: int
    faults: tuple = ()
    cases: int = 2000
    agents: int = 4
    skills: tuple = ()
    base_rate: float = 0.3
    correlation: float = 0.3
    classes: int = 2
    costs: tuple | str = (10, 1)
    times: str | None = "dates"
    pending: float = 0.0
    missing: float = 0.0
    decimals: int | None = None
    weights: bool = False
    groups: bool = False
    by: str | None = None
    pool: str = "mean"
    threshold: float | None = None
    fast: bool = False
    settings: dict = field(default_factory=dict)

    @property
    def names(self):
        return tuple(f"agent{i}" for i in range(len(self._skills)))

    @property
    def _skills(self):
        return self.skills or LEVELS[: self.agents]

    @cached_property
    def draft(self):
        """The cases in the order of time, with all faults."""
        rng = np.random.default_rng([self.seed, 38])
        if self.classes == 2:
            made = quality_panel(
                "none", before=self._skills, after=self._skills, cases=self.cases,
                base_rate=self.base_rate, correlation=self.correlation, honest=True,
                seed=self.seed,
            )  # fmt: skip
            reports, outcomes = made.reports, made.outcomes
        else:
            reports, outcomes = self._of_classes(rng)
        known = np.arange(self.cases) < round((1 - self.pending) * self.cases)
        segment = rng.choice(REGIONS, self.cases, p=(0.4, 0.3, 0.2, 0.1))
        draft = Draft(
            reports, outcomes, np.array(outcomes), known, segment, self.base_rate
        )
        for one in self.faults:
            draft = one.plant(draft, rng)
        return self._written(draft, rng)

    def _of_classes(self, rng):
        """Posteriors of agents who see a score per class."""
        T, N, K = self.cases, len(self._skills), self.classes
        prior = np.arange(K + 1, 1, -1) / np.arange(2, K + 2).sum()
        outcomes = rng.choice(K, T, p=prior)
        shared, own = rng.normal(size=(T, 1, K)), rng.normal(size=(T, N, K))
        rho, d = self.correlation, np.array(self._skills)[:, None]
        x = np.sqrt(rho) * shared + np.sqrt(1 - rho) * own
        x = x + d * np.eye(K)[outcomes][:, None, :]
        odds = np.exp(d * x + np.log(prior))
        return odds / odds.sum(axis=2, keepdims=True), outcomes

    def _written(self, draft, rng):
        """Reports as they arrive: rounded, some of them missing."""
        reports = draft.reports.copy()
        if self.decimals is not None:
            reports = reports.round(self.decimals)
            if self.classes > 2:
                reports /= reports.sum(axis=2, keepdims=True)
        if self.missing:
            mute = rng.random(reports.shape[:2]) < self.missing
            mute[:, 0] = False
            reports[mute] = np.nan
        return Draft(
            reports, draft.truth, draft.outcomes, draft.known, draft.segment,
            draft.base_rate,
        )  # fmt: skip

    @property
    def planted(self):
        """What is due of each agent and of the outcomes; nothing for what is harmless."""
        due = []
        for one in self.faults:
            if one.code == HARMLESS:
                continue
            who = None if one.agent is None else f"agent{one.agent}"
            near = one.settings.get("near", NEAR)
            due.append(Planted(one.code, who, self._resolved(one.at), near))
        return tuple(due)

    def _resolved(self, at):
        if at is None:
            return None
        return int(self.draft.known[: self.draft.place(at)].sum())

    @cached_property
    def panel(self):
        draft, rng = self.draft, np.random.default_rng([self.seed, 39])
        T = self.cases
        rows = rng.permutation(T) if self.times == "shuffled" else np.arange(T)
        columns = {
            "region": draft.segment,
            "amount": np.exp(rng.normal(3.0, 1.0, T)).round(2),
        }
        per_case = {
            "times": {None: None, "order": np.arange(T)}.get(
                self.times, START + np.arange(T) * HOUR
            ),
            "weights": rng.uniform(0.5, 2.0, T).round(2) if self.weights else None,
            "groups": rng.integers(0, T // 4, T) if self.groups else None,
        }

        def take(values, part):
            return None if values is None else values[part]

        on, off = rows[draft.known[rows]], rows[~draft.known[rows]]
        panel = tp.Panel(
            draft.reports[on], draft.outcomes[on], self.names,
            columns={name: column[on] for name, column in columns.items()},
            **{name: take(values, on) for name, values in per_case.items()},
        )  # fmt: skip
        if not len(off):
            return panel
        position = np.searchsorted(
            np.flatnonzero(draft.known[rows]), np.flatnonzero(~draft.known[rows])
        )
        return panel.with_pending(
            draft.reports[off], times=take(per_case["times"], off), position=position,
            columns={name: column[off] for name, column in columns.items()},
        )  # fmt: skip

    def audit(self, seed=0):
        """Audit it as a user would, with fewer resamples."""
        return tp.audit(
            self.panel, costs=self._costs, pool=self.pool, threshold=self.threshold,
            by=self.by, resamples=RESAMPLES, seed=seed, **self.settings,
        )  # fmt: skip

    @property
    def _costs(self):
        if self.costs == "amount":
            return tp.Costs(fn="amount", fp=5, currency="EUR")
        return tp.Costs(fn=self.costs[0], fp=self.costs[1])


RESAMPLES = 200


def _tables():
    """Every table; its seed comes from its name unless it says otherwise."""
    count = {}

    def add(kind, *faults, seed=None, **settings):
        number = count[kind] = count.get(kind, 0) + 1
        name = f"{kind}-{number}"
        made = zlib.crc32(name.encode()) if seed is None else seed
        tables.append(Table(name, kind, made, faults, **settings))

    tables = []
    _feeds(add)
    _units(add)
    _agents(add)
    _outcomes(add)
    _pools(add)
    _several(add)
    _sound(add)
    return {one.name: one for one in tables}


def _feeds(add):
    """Feeds that broke, or were broken for a while."""
    add("constant", fault("constant", 2, 0.6), fast=True)
    add("constant", fault("constant", 0, 0.8), cases=600, agents=3, costs=(1, 1))
    add("constant", fault("constant", 1, 0.85, value=0.0), cases=1500, base_rate=0.05)
    add("constant", fault("constant", 3, 0.5), times=None, decimals=2, cases=3000)
    add("constant", fault("constant", 2, 0.9), pending=0.2, cases=2500, agents=5)
    add("constant", fault("constant", 1, 0.6), classes=3, cases=1500, costs=(1, 1))
    add("constant-over", fault("constant, over", 2, 0.3, until=0.5), fast=True)
    add("constant-over", fault("constant, over", 1, 0.6, until=0.75), pending=0.1,
        cases=3000, agents=5)  # fmt: skip
    add("constant-over", fault("constant, over", 0, 0.1, until=0.35), times=None,
        cases=1200, costs=(1, 1))  # fmt: skip
    add("stopped", fault("stopped", 1, 0.7), fast=True)
    add("stopped", fault("stopped", 3, 0.5), missing=0.1, cases=3000, agents=6)
    add("stopped", fault("stopped", 2, 0.95), pending=0.15, cases=2000)
    add("stopped", fault("stopped", 0, 0.6), times=None, cases=500, agents=3,
        costs=(1, 1))  # fmt: skip
    add("gap", fault("gap, over", 1, 0.4, until=0.6), fast=True, cases=1000)
    add("gap", fault("gap, over", 2, 0.2, until=0.3), missing=0.05, cases=3000)
    add("repeated", fault("repeated", 2, 0.6, lag=100), fast=True)
    add("repeated", fault("repeated", 0, 0.75, lag=24), cases=3000, decimals=3)
    add("repeated", fault("repeated", 1, 0.5, lag=300), times="shuffled", cases=4000)
    add("repeated", fault("repeated", 3, 0.8, lag=50), pending=0.1, base_rate=0.1)
    add("noise", fault("noise", 2, 0.6), agents=5, fast=True)
    add("noise", fault("noise", 0, 0.7), agents=5, cases=4000, base_rate=0.1)
    add("noise", fault("noise", 3, 0.5), agents=6, times=None, costs=(1, 1))
    add("noise", fault("noise", 1, 0.75), agents=4, cases=5000, pending=0.1,
        costs="amount")  # fmt: skip
    add("noise", fault("random", 1, 0.6), agents=4, cases=2500)
    add("noise", fault("noise", 2, 0.6), agents=4, classes=3, cases=2500, costs=(1, 1))
    add("noise", fault("noise", 1, 0.5), agents=8, cases=3000, times="shuffled")


def _units(add):
    """Reports in another unit or of another scale, and models that got better."""
    add("rescaled", fault("rescaled", 2, 0.6, factor=0.01), agents=5, fast=True)
    add("rescaled", fault("rescaled", 0, 0.7, factor=0.1), cases=3000, base_rate=0.1)
    add("rescaled", fault("rescaled", 1, 0.5, factor=0.001), cases=3000, pending=0.1,
        costs="amount")  # fmt: skip
    add("rescaled", fault("rescaled", 3, 0.8, factor=0.01), times="shuffled",
        cases=4000, agents=6, missing=0.1)  # fmt: skip
    add("rescaled", fault("bent since", 1, 0.6, slope=2.5), cases=3000, agents=5)
    add("rescaled", fault("bent since", 2, 0.55, slope=1.6, shift=2.0), cases=3000)
    add("rescaled", fault("bent since", 0, 0.5, shift=-2.0), cases=2000, times=None)
    add("retrained", fault("retrained, harmless", 1, 0.6, skill=2.2), cases=3000,
        agents=5)  # fmt: skip
    add("retrained", fault("retrained, harmless", 2, 0.5, skill=2.0), cases=2000)
    add("retrained", fault("retrained, harmless", 0, 0.7, skill=1.6), cases=4000,
        costs=(1, 1))  # fmt: skip
    add("retrained", fault("retrained, harmless", 1, 0.5, skill=2.4), cases=2500,
        times=None, base_rate=0.1)  # fmt: skip


def _agents(add):
    """Agents that are wrong always or since some date, copies, failing segments, leaks."""
    add("reversed", fault("reversed", 1), fast=True, cases=800)
    add("reversed", fault("reversed", 3), agents=5, base_rate=0.05, cases=4000)
    add("reversed", fault("reversed", 0), times=None, cases=500, agents=3, costs=(1, 1))
    add("reversed", fault("reversed", 2), costs="amount", pending=0.2, cases=3000)
    add("reversed", fault("reversed", 1), weights=True, groups=True, cases=1500)
    add("reversed-since", fault("reversed since", 2, 0.6), agents=5, fast=True)
    add("reversed-since", fault("reversed since", 0, 0.7), agents=4, cases=3000)
    add("reversed-since", fault("reversed since", 1, 0.5), agents=4, cases=4000,
        times="shuffled", base_rate=0.1)  # fmt: skip
    add("reversed-since", fault("reversed since", 1, 0.5), agents=2, cases=1500,
        costs=(1, 1))  # fmt: skip
    add("swapped", fault("swapped", 1, classes=(0, 1)), classes=3, cases=1500,
        costs=(1, 1), fast=True)  # fmt: skip
    add("swapped", fault("swapped", 2, classes=(1, 2)), classes=3, cases=2500,
        costs=(1, 1), times=None)  # fmt: skip
    add("swapped", fault("swapped", 0, classes=(1, 3)), classes=4, cases=3000,
        costs=(1, 1))  # fmt: skip
    add("copy", fault("copied", 2, source=0), fast=True, cases=1000)
    add("copy", fault("copied", 3, source=1, decimals=2), cases=2500, agents=5)
    add("copy", fault("copied", 1, source=0, power=0.8), cases=2000, base_rate=0.1)
    add("copy", fault("copied", 4, source=2, jitter=0.05), cases=3000, agents=6)
    add("copy", fault("copied", 2, source=1), classes=3, cases=1200, costs=(1, 1),
        seed=1)  # fmt: skip
    add("copy", fault("copied", 2, source=0, decimals=3), missing=0.1, times=None)
    add("score", fault("score", 1, power=0.1), base_rate=0.03, cases=4000)
    add("score", fault("score", 3, power=0.15), base_rate=0.02, cases=6000, agents=5)
    add("score", fault("score", 0), base_rate=0.03, cases=4000, costs="amount")
    add("uninformative", fault("uninformative", 2), fast=True, cases=1500)
    add("uninformative", fault("uninformative", 0), agents=5, cases=3000, base_rate=0.1)
    add("uninformative", fault("uninformative", 1), times=None, cases=1000,
        costs=(1, 1), seed=1)  # fmt: skip
    add("uninformative", fault("uninformative", 3), pending=0.1, groups=True)
    add("drift-to-noise", fault("decaying", 2, 0.3, near=0.3), cases=4000, agents=5)
    add("drift-to-noise", fault("decaying", 0, 0.4, near=0.3), cases=3000, fast=True)
    add("drift-to-noise", fault("decaying", 1, 0.5, near=0.3), cases=6000,
        base_rate=0.1)  # fmt: skip
    add("drift", fault("retrained, worse", 2, 0.6, skill=0.4), agents=5, cases=3000,
        fast=True)  # fmt: skip
    add("drift", fault("retrained, worse", 1, 0.5, skill=0.5), agents=4, cases=4000,
        costs=(1, 1))  # fmt: skip
    add("drift", fault("retrained, worse", 0, 0.7, skill=0.3), agents=6, cases=6000,
        base_rate=0.1, seed=1)  # fmt: skip
    add("drift", fault("retrained, worse", 3, 0.6, skill=0.6), agents=4, cases=5000,
        times="shuffled", costs="amount")  # fmt: skip
    add("drift", fault("hidden", 1, 0.5, share=0.8), agents=5, cases=4000,
        base_rate=0.1)  # fmt: skip
    add("drift", fault("hidden", 2, 0.6, share=0.7), agents=4, cases=5000)
    add("drift", fault("hidden", 0, 0.5, share=0.9), agents=6, cases=6000,
        base_rate=0.05, costs="amount")  # fmt: skip
    add("no-reports", fault("no reports", 1), agents=4, cases=1000)
    add("no-reports", fault("no reports", 3), agents=6, cases=2500, times=None)
    add("uninformative", fault("always the same", 2), agents=5, cases=2000)
    add("uninformative", fault("always the same", 0), cases=1000, costs=(1, 1))
    strong = {"skills": (2.2, 0.5, 0.5)}
    add("over-confident", fault("over-confident", 0, T=0.3), **strong, cases=1500,
        fast=True)  # fmt: skip
    add("over-confident", fault("over-confident", 0, T=0.4), **strong, cases=3000,
        base_rate=0.1)  # fmt: skip
    add("over-confident", fault("over-confident", 2, T=0.4), cases=2000, agents=5)
    add("over-confident", fault("over-confident", 0, T=0.4), **strong, cases=2000,
        times=None, pool="best-agent")  # fmt: skip
    add("under-confident", fault("under-confident", 0, T=3.0), **strong, cases=2000,
        fast=True)  # fmt: skip
    add("under-confident", fault("under-confident", 0, T=2.5), **strong, cases=3000,
        pool="best-agent")  # fmt: skip
    add("under-confident", fault("under-confident", 1, T=3.0), cases=2000, agents=4,
        base_rate=0.5, costs=(1, 1))  # fmt: skip
    add("biased", fault("biased", 0, shift=1.2), **strong, cases=2000, fast=True)
    add("biased", fault("biased", 0, shift=-1.5), **strong, cases=3000, base_rate=0.1)
    add("biased", fault("biased", 1, shift=1.5), cases=2000, agents=4, costs=(1, 1))
    add("biased", fault("biased", 0, shift=-1.5), **strong, cases=2000,
        pool="best-agent", times=None)  # fmt: skip
    add("biased", fault("biased", 0, shift=2.5), skills=(2.0, 1.9, 1.8), cases=2000)
    add("biased", fault("biased", 1, shift=2.5), cases=3000, base_rate=0.1)
    add("segment", fault("blind", 1, segment="south"), by="region", cases=3000,
        seed=1, fast=True)  # fmt: skip
    add("segment", fault("blind", 0, segment="east"), by="region", cases=5000, agents=5)
    add("segment", fault("blind", 2, segment="north"), by="region", cases=4000,
        base_rate=0.1, costs="amount")  # fmt: skip
    add("segment", fault("blind", 1, segment="west"), by="region", cases=6000,
        times=None)  # fmt: skip
    add("leak", fault("leak", 1), cases=1500, fast=True)
    add("leak", fault("leak", 2), cases=4000, base_rate=0.03, agents=5)
    add("leak", fault("leak", 0), cases=3000, pending=0.1, costs="amount")


def _outcomes(add):
    """Outcomes that are late, selected, reversed, of something else, or that changed."""
    add("late", fault("late", at=0.85, near=0.15), cases=5000, agents=4, base_rate=0.1)
    add("late", fault("late", at=0.8, near=0.2), cases=3000, base_rate=0.3)
    add("late", fault("late", at=0.7, near=0.25), cases=6000, base_rate=0.05)
    add("selective", fault("selective", above=0.15, reviewed=0.05), cases=4000)
    add("selective", fault("selective", above=0.2, reviewed=0.1), cases=3000,
        costs=(1, 1), fast=True)  # fmt: skip
    add("selective", fault("selective", above=0.1, reviewed=0.1), cases=6000,
        base_rate=0.1, times=None)  # fmt: skip
    add("reversed-labels", fault("other label"), cases=1000, fast=True)
    add("reversed-labels", fault("other label"), cases=3000, base_rate=0.1, times=None)
    add("reversed-labels", fault("other label"), cases=2000, agents=6, missing=0.1)
    add("unrelated", fault("unrelated"), cases=2000, fast=True)
    add("unrelated", fault("unrelated"), cases=4000, base_rate=0.2, agents=5)
    add("unrelated", fault("unrelated"), cases=3000, times=None, costs=(1, 1))
    add("rate", fault("rate", at=0.5, keep=0.4), cases=4000, agents=4)
    add("rate", fault("rate", at=0.4, keep=0.5), cases=3000, agents=3)
    add("rate", fault("rate", at=0.5, keep=0.5), cases=3000, classes=2,
        times="shuffled", costs=(1, 1))  # fmt: skip


def _pools(add):
    """Sound agents under a pool, or a threshold, that does them no justice."""
    add("threshold", threshold=0.5, cases=2000, fast=True)
    add("threshold", threshold=0.5, cases=4000, base_rate=0.1)
    add("threshold", threshold=0.02, cases=3000, costs=(1, 1))
    add("better-pool", skills=(1.2,) * 8, correlation=0.0, cases=3000)
    add("better-pool", skills=(1.4,) * 6, correlation=0.0, cases=4000, base_rate=0.1)
    add("better-pool", skills=(1.2,) * 6, correlation=0.1, cases=3000, pool="median")
    add("best-alone", skills=(2.6, 0.4, 0.3, 0.4), cases=2500, fast=True)
    add("best-alone", skills=(2.4, 0.3, 0.3, 0.3, 0.3), cases=4000, base_rate=0.1)
    add("best-alone", skills=(2.6, 0.4, 0.4), cases=1500, costs=(1, 1), times=None)
    add("best-alone", skills=(2.6, 0.5, 0.5, 0.5), cases=2500, pool="platt")
    add("best-alone", skills=(2.4, 0.3, 0.3), cases=3000, pool="platt", times=None,
        base_rate=0.5, costs=(1, 1))  # fmt: skip


def _several(add):
    """Two faults at once: of different agents, and of the same one."""
    two = {"agents": 6, "cases": 3000}
    add("two-agents", fault("constant", 1, 0.6), fault("reversed", 3), **two, fast=True)
    add("two-agents", fault("noise", 0, 0.5), fault("copied", 4, source=2), **two)
    add("two-agents", fault("rescaled", 2, 0.6, factor=0.01),
        fault("uninformative", 4), **two)  # fmt: skip
    add("two-agents", fault("stopped", 1, 0.7), fault("reversed since", 3, 0.5), **two)
    add("two-agents", fault("constant", 0, 0.5), fault("constant", 2, 0.7), **two)
    add("two-agents", fault("repeated", 1, 0.6, lag=80), fault("retrained, worse", 3,
        0.4, skill=0.3), **two)  # fmt: skip
    add("two-agents", fault("noise", 1, 0.4), fault("noise", 4, 0.75), agents=7,
        cases=4000)  # fmt: skip
    add("two-agents", fault("leak", 1), fault("reversed", 3), **two, fast=True)
    add("one-agent-twice", fault("over-confident", 1, T=0.4),
        fault("constant", 1, 0.7), **two)  # fmt: skip
    add("one-agent-twice", fault("biased", 2, shift=1.0),
        fault("noise", 2, 0.6), **two)  # fmt: skip
    add("one-agent-twice", fault("gap, over", 1, 0.2, until=0.35),
        fault("noise", 1, 0.7), **two)  # fmt: skip
    add("one-agent-twice", fault("constant, over", 3, 0.1, until=0.25),
        fault("rescaled", 3, 0.6, factor=0.01), **two)  # fmt: skip
    add("one-agent-twice", fault("copied", 4, source=1), fault("stopped", 4, 0.7),
        **two)  # fmt: skip
    add("one-agent-twice", fault("reversed", 2), fault("constant", 2, 0.6), **two)
    add("one-agent-twice", fault("retrained, worse", 0, 0.3, skill=0.4),
        fault("constant", 0, 0.7), **two)  # fmt: skip
    add("one-agent-twice", fault("reversed", 2), fault("noise", 2, 0.6), **two)
    add("one-agent-twice", fault("uninformative", 2), fault("rescaled", 2, 0.6,
        factor=0.01), **two)  # fmt: skip
    add("agent-and-outcome", fault("constant", 1, 0.5), fault("late", at=0.8, near=0.2),
        agents=5, cases=4000)  # fmt: skip
    add("agent-and-outcome", fault("noise", 2, 0.5), fault("other label"), agents=5)
    add("agent-and-outcome", fault("stopped", 0, 0.6), fault("unrelated"), agents=4)
    add("agent-and-outcome", fault("rate", at=0.5, keep=0.5),
        fault("retrained, worse", 2, 0.5, skill=0.2), agents=5, cases=5000)  # fmt: skip
    add("agent-and-outcome", fault("rescaled", 1, 0.6, factor=0.01),
        fault("other label"), agents=5)  # fmt: skip
    add("agent-and-outcome", fault("constant", 3, 0.7), fault("selective", above=0.2,
        reviewed=0.2), agents=5, cases=4000)  # fmt: skip


def _sound(add):
    """Nothing planted: sizes, rates, costs, columns and habits of all kinds."""
    sizes = ((300, 3), (500, 2), (800, 4), (1500, 5), (2500, 3), (4000, 4), (6000, 6))
    for n, (cases, agents) in enumerate(sizes):
        fast = cases in (300, 800)
        add("sound", cases=cases, agents=agents, fast=fast)
        add("sound", cases=cases, agents=agents, costs=(1, 1), times=None,
            base_rate=(0.5, 0.2)[n % 2])  # fmt: skip
        add("sound", cases=cases, agents=agents, base_rate=0.1, missing=0.1,
            correlation=0.6)  # fmt: skip
    for correlation in (0.0, 0.4, 0.8):
        add("sound", correlation=correlation, agents=5, cases=2000, pending=0.15)
    for decimals in (1, 2, 3):
        add("sound", decimals=decimals, cases=2000, times="order")
    add("sound", weights=True, cases=800, fast=True)
    add("sound", weights=True, groups=True, cases=2500)
    add("sound", groups=True, cases=1500, costs=(1, 1))
    add("sound", by="region", cases=3000, fast=True)
    add("sound", by="region", cases=5000, base_rate=0.1, agents=5)
    add("sound", costs="amount", cases=2000)
    add("sound", costs="amount", cases=4000, base_rate=0.05, pending=0.2)
    add("sound", base_rate=0.02, cases=6000, agents=5)
    add("sound", base_rate=0.02, cases=3000, agents=3, times="shuffled")
    add("sound", classes=3, cases=1500, costs=(1, 1), fast=True)
    add("sound", classes=3, cases=3000, costs=(1, 1), times=None, missing=0.1)
    add("sound", classes=4, cases=2500, costs=(1, 1), agents=3)
    add("sound", skills=(2.0, 1.0, 0.6), cases=1500)
    add("sound", skills=(0.6, 0.6, 0.6, 0.6), cases=2000)
    add("sound", skills=(2.4, 2.2, 2.0), cases=2000, base_rate=0.5, costs=(1, 1))
    add("sound", pool="vcg", cases=2000, seed=1)
    add("sound", pool="auto", cases=1500)
    add("sound", pool="log-odds", cases=2000, agents=5)
    add("sound", pool="stacked-lr", cases=2500, agents=5)
    add("sound", skills=(1.0,) * 8, correlation=0.5, cases=3000)
    add("sound", missing=0.5, agents=6, cases=2500)
    add("votes", decimals=0, agents=5, cases=1500, costs=(1, 1), fast=True)
    add("votes", decimals=0, agents=3, cases=3000, base_rate=0.5, times=None)


TABLES = _tables()
"""Every table by name."""
