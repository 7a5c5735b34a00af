"""Planted faults: each takes a draft of a table and returns the spoiled one.

A fault is named by the diagnosis that it deserves. Its place is a share of all cases in
time; what is true of it (`Planted`) counts cases with an outcome, as an audit does.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit
from simulated_faults import copycat, label_flip, sleeper, temperature

from truepool.core.arrays import logit
from truepool.panel.panel import Panel

HARMLESS = "sound"
"""What changed and is no fault."""


@dataclass(frozen=True, eq=False)
class Draft:
    """Reports (T, N) or (T, N, K) and outcomes (T,), in the order of time.

    ``truth`` are the outcomes as they happened, ``known`` those that have arrived,
    ``segment`` the region of each case; ``base_rate`` is of two classes.
    """

    reports: np.ndarray
    truth: np.ndarray
    outcomes: np.ndarray
    known: np.ndarray
    segment: np.ndarray
    base_rate: float

    def of(self, agent):
        return self.reports[:, agent]

    def put(self, agent, reports, rows=slice(None)):
        """The draft with other reports of an agent in some rows."""
        changed = self.reports.copy()
        changed[rows, agent] = reports
        return replace(self, reports=changed)

    def through(self, fault, *arguments, **settings):
        """The draft after a fault that is written for panels."""
        panel = Panel(self.reports, self.truth)
        return replace(self, reports=fault(panel, *arguments, **settings).reports)

    def since(self, at):
        """Rows from a share of the cases on."""
        return slice(self.place(at), None)

    def place(self, at):
        return round(at * len(self.truth))


@dataclass(frozen=True)
class Fault:
    """One fault of one agent, or of the outcomes (``agent`` is None)."""

    kind: str
    agent: int | None = None
    at: float | None = None
    settings: dict = field(default_factory=dict)

    def plant(self, draft, rng):
        given = {k: v for k, v in self.settings.items() if k not in ("code", "near")}
        if self.at is not None:
            given["at"] = self.at
        make = KINDS[self.kind][1]
        return make(draft, rng, *([] if self.agent is None else [self.agent]), **given)

    @property
    def code(self):
        return self.settings.get("code", KINDS[self.kind][0])


def fault(kind, agent=None, at=None, **settings):
    return Fault(kind, agent, at, settings)


def constant(draft, rng, agent, at, until=1.0, value=None):
    """One and the same report, its median or base rate, from ``at`` to ``until``."""
    own = draft.of(agent)
    if value is None:
        value = np.median(own, axis=0)
        value = value / value.sum() if value.ndim else value
    return draft.put(agent, value, slice(draft.place(at), draft.place(until)))


def stopped(draft, rng, agent, at, until=1.0):
    """No report from ``at`` to ``until``."""
    return draft.put(agent, np.nan, slice(draft.place(at), draft.place(until)))


def repeated(draft, rng, agent, at, lag):
    """What it reported so many cases before."""
    rows = draft.since(at)
    return draft.put(agent, np.roll(draft.of(agent), lag, axis=0)[rows], rows)


def noise(draft, rng, agent, at=0.0):
    """Its own reports, of other cases."""
    rows = draft.since(at)
    return draft.put(agent, rng.permutation(draft.of(agent))[rows], rows)


def spread(draft, rng, agent, at, deviation=1.5):
    """Random log-odds around 0 that have nothing to do with the case."""
    rows = draft.since(at)
    count = len(draft.of(agent)[rows])
    return draft.put(agent, expit(rng.normal(0.0, deviation, count)), rows)


def rescaled(draft, rng, agent, at, factor):
    """Reports times a factor."""
    rows = draft.since(at)
    return draft.put(agent, np.clip(factor * draft.of(agent)[rows], 0, 1), rows)


def bent(draft, rng, agent, at=0.0, slope=1.0, shift=0.0):
    """Log-odds with another slope and level."""
    rows = draft.since(at)
    z = logit(draft.of(agent)[rows])
    return draft.put(agent, expit(slope * z + shift), rows)


def retrained(draft, rng, agent, at, skill):
    """Calibrated reports of another model, with this skill."""
    rows = draft.since(at)
    score = skill * (draft.truth - 0.5) + rng.normal(size=len(draft.truth))
    calibrated = expit(skill * score + logit(np.array(draft.base_rate)))
    return draft.put(agent, calibrated[rows], rows)


def hidden(draft, rng, agent, at, share):
    """A share of the positive cases look like negative ones to the agent."""
    rows = np.flatnonzero(draft.truth * (rng.random(len(draft.truth)) < share))
    rows = rows[rows >= draft.place(at)]
    donors = rng.choice(np.flatnonzero(draft.truth == 0), len(rows))
    return draft.put(agent, draft.of(agent)[donors], rows)


def no_reports(draft, rng, agent):
    return draft.put(agent, np.nan)


def always_the_same(draft, rng, agent):
    return draft.put(agent, draft.base_rate)


def decaying(draft, rng, agent, at):
    """Log-odds that turn to noise little by little, until the last case."""
    z = logit(draft.of(agent))
    share = np.clip((np.linspace(0, 1, len(z)) - at) / (1 - at), 0, 1)
    middle, other = z.mean(), rng.permutation(z)
    mixed = np.sqrt(1 - share**2) * (z - middle) + share * (other - middle)
    return draft.put(agent, expit(middle + mixed))


def reversed_since(draft, rng, agent, at):
    return draft.through(sleeper, f"agent{agent}", at)


def reversed_always(draft, rng, agent):
    """One minus the reports; of more classes, their columns the other way round."""
    if draft.reports.ndim == 2:
        return draft.through(label_flip, f"agent{agent}")
    return draft.put(agent, draft.of(agent)[:, ::-1])


def swapped(draft, rng, agent, classes):
    own = draft.of(agent).copy()
    own[:, list(classes)] = own[:, list(classes)[::-1]]
    return draft.put(agent, own)


def copied(draft, rng, agent, source, decimals=None, power=None, jitter=0.0):
    """Another agent's reports: as they are, rounded, bent or with a little noise."""
    draft = draft.through(copycat, f"agent{agent}", f"agent{source}", noise=jitter)
    own = draft.of(agent)
    if power is not None:
        own = 0.6 * own**power
    if decimals is not None:
        own = np.round(own, decimals)
    return draft.put(agent, own / own.sum(axis=1)[:, None] if own.ndim == 2 else own)


def score(draft, rng, agent, power=0.2):
    """Scores between 0 and 1 that rank cases and are at no level of a probability."""
    return draft.put(agent, draft.of(agent) ** power)


def confident(draft, rng, agent, T):
    return draft.through(temperature, f"agent{agent}", T)


def blind(draft, rng, agent, segment):
    """Nothing but noise within a segment."""
    rows = np.flatnonzero(draft.segment == segment)
    return draft.put(agent, rng.permutation(draft.of(agent)[rows]), rows)


def leak(draft, rng, agent):
    """Reports made after the outcome was known."""
    apart = np.where(draft.truth == 1, 5.0, -8.0)
    return draft.put(agent, expit(apart + rng.normal(size=len(apart))))


def late(draft, rng, at):
    """Positive outcomes of the last cases count as negative until they arrive."""
    place = np.linspace(0, 1, len(draft.truth))
    hidden = rng.random(len(place)) < np.clip((place - at) / (1 - at), 0, 1) ** 0.5
    return replace(draft, outcomes=np.where(hidden, 0, draft.outcomes))


def selective(draft, rng, above, reviewed=0.0):
    """Outcomes are known of cases whose mean report is above this, and a few others."""
    seen = np.nanmean(draft.reports, axis=1) > above
    return replace(draft, known=seen | (rng.random(len(seen)) < reviewed))


def other_label(draft, rng):
    return replace(draft, outcomes=1 - draft.outcomes)


def unrelated(draft, rng):
    return replace(draft, outcomes=rng.permutation(draft.outcomes))


def rate(draft, rng, at, keep):
    """Fewer positive cases: some become negative ones, with reports of such a case.

    The agents do not know that, so they report too much from then on.
    """
    late_rows = np.arange(len(draft.truth)) >= draft.place(at)
    gone = late_rows & (draft.truth == 1) & (rng.random(len(late_rows)) >= keep)
    donors = rng.choice(np.flatnonzero(draft.truth == 0), int(gone.sum()))
    reports, truth = draft.reports.copy(), np.where(gone, 0, draft.truth)
    reports[gone] = draft.reports[donors]
    return replace(draft, reports=reports, truth=truth, outcomes=truth.copy())


KINDS = {
    "no reports": ("no-reports", no_reports),
    "constant": ("constant-feed", constant),
    "constant, over": ("constant-run", constant),
    "stopped": ("stopped-feed", stopped),
    "gap, over": ("reporting-gap", stopped),
    "repeated": ("repeated-feed", repeated),
    "noise": ("changed-feed", noise),
    "random": ("changed-feed", spread),
    "rescaled": ("rescaled-feed", rescaled),
    "bent since": ("rescaled-feed", bent),
    "retrained, harmless": (HARMLESS, retrained),
    "retrained, worse": ("drifted", retrained),
    "hidden": ("drifted", hidden),
    "decaying": ("drifted", decaying),
    "reversed": ("reversed", reversed_always),
    "reversed since": ("reversed", reversed_since),
    "swapped": ("swapped-classes", swapped),
    "copied": ("copy", copied),
    "score": ("not-a-probability", score),
    "uninformative": ("uninformative", noise),
    "always the same": ("uninformative", always_the_same),
    "over-confident": ("over-confident", confident),
    "under-confident": ("under-confident", confident),
    "biased": ("biased", bent),
    "blind": ("fails-in-segment", blind),
    "leak": ("leaked-outcome", leak),
    "late": ("late-outcomes", late),
    "selective": ("selective-labels", selective),
    "other label": ("reversed-labels", other_label),
    "unrelated": ("unrelated-outcome", unrelated),
    "rate": ("outcome-rate", rate),
}
"""The code that each fault deserves, and how it is planted."""
