"""Payments of a bank with known truth: five vendors, and one thing wrong at a time.

A vendor sees a score of its own, x | y ~ N(d y, 1), correlated with the others', and the
chance of fraud that merchant, hour and amount imply. It reports its posterior, so it is
calibrated, and the best pool is known. A missed fraud costs its amount, a false alarm 5.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

import truepool as tp

VENDORS = ("inhouse", "alpha", "bravo", "charlie", "delta")
COSTS = tp.Costs(fn="amount", fp=5, currency="EUR")
START = np.datetime64("2026-01-01")
DAYS, OPEN_DAYS, CHANGE, NEW_UNIT = 181, 30, 95, 104
"""Days of the table, last days without an outcome, and the days of changes."""
FACTOR = 1000.0
INVISIBLE = 0.6
"""Share of frauds that three vendors no longer see after the change."""
REVIEWED = 0.02
"""Share of the payments not flagged that are reviewed at random."""
MERCHANTS = {
    "grocery": (0.30, -0.6), "travel": (0.08, 0.5), "electronics": (0.12, 0.4),
    "gaming": (0.10, 0.3), "fuel": (0.15, -0.7), "fashion": (0.12, 0.0),
    "pharmacy": (0.10, -0.5), "crypto": (0.03, 1.6),
}  # fmt: skip
"""Share of each kind of merchant, and the log-odds of fraud there."""


@dataclass(frozen=True)
class Kind:
    """Size and skill of a scenario."""

    rows: int = 66_000
    share: float = 0.006
    skill: tuple[float, ...] = (2.6, 2.2, 2.0, 1.8, 1.6)
    correlation: float = 0.5


ALIKE = (2.4, 2.3, 2.3, 2.2, 2.2)
KINDS = {
    "large": Kind(560_000, 0.003, correlation=0.3),
    "clean": Kind(33_000, 0.01, ALIKE, 0.75),
    "leak": Kind(33_000),
    "better": Kind(),
    "overconfident": Kind(),
    "drift": Kind(),
    "copies": Kind(33_000, 0.003),
    "bent_copies": Kind(33_000, 0.003),
    "segment": Kind(),
    "scale_down": Kind(),
    "scale_up": Kind(),
    "late": Kind(),
    "selective": Kind(),
    "reviewed": Kind(),
}


@dataclass(frozen=True, eq=False)
class Bank:
    """A table and what is true of it; ``known`` (T,) are the cases with an outcome."""

    name: str
    reports: np.ndarray
    fraud: np.ndarray
    label: np.ndarray
    known: np.ndarray
    times: np.ndarray
    amount: np.ndarray
    merchant: np.ndarray
    best: np.ndarray
    who: tuple[str, ...] = ()
    since: np.datetime64 | None = None
    propensity: np.ndarray | None = None
    extra: dict = field(default_factory=dict)

    @cached_property
    def ids(self):
        return np.array([f"T{i:07d}" for i in range(len(self.label))])

    @property
    def panel(self):
        """The panel that an audit gets: newest cases, and others, without an outcome."""
        on, off = self.known, ~self.known
        more = {} if self.propensity is None else {"propensity": self.propensity[on]}
        panel = tp.Panel(
            self.reports[on], self.label[on], VENDORS, ids=self.ids[on],
            times=self.times[on], columns=self._columns(on), **more,
        )  # fmt: skip
        if not off.any():
            return panel
        position = np.searchsorted(np.flatnonzero(on), np.flatnonzero(off))
        return panel.with_pending(
            self.reports[off], ids=self.ids[off], times=self.times[off],
            position=position, columns=self._columns(off),
        )  # fmt: skip

    def _columns(self, cases):
        return {"amount": self.amount[cases], "merchant": self.merchant[cases]}

    def write_csv(self, path):
        """Write the table as a bank would export it: labels in words."""
        words = np.where(self.label == 1, "fraud", "legit").astype(object)
        words[~self.known] = ""
        header = ("tx_id", "time", "merchant", "amount", *VENDORS, "label")
        rows = zip(
            self.ids, np.datetime_as_string(self.times), self.merchant, self.amount,
            *self.reports.T, words, strict=True,
        )  # fmt: skip
        lines = [",".join(map(str, row)) for row in (header, *rows)]
        path.write_text("\n".join(lines) + "\n")


def make(name, seed, rows=None, share=None):
    """Return a draw of a scenario, as large as it is meant to be unless told."""
    kind = KINDS[name]
    rng = np.random.default_rng(seed)
    day, seconds = _moments(rng, rows or kind.rows)
    times = START + (day * 86_400 + seconds).astype("timedelta64[s]")
    n, names = len(day), np.array(list(MERCHANTS))
    shares, effects = np.array(list(MERCHANTS.values())).T
    place = rng.choice(len(names), n, p=shares)
    merchant, effect = names[place], effects[place]
    prior = logit(share or kind.share) - 0.35 + effect + 0.4 * (seconds < 6 * 3600)
    fraud = (rng.random(n) < expit(prior)).astype(int)
    centre = 3.6 + 0.5 * (merchant == "electronics") + 0.8 * (merchant == "travel")
    log_amount = rng.normal(centre + 0.9 * fraud, 1.0)
    prior = prior + 0.9 * (log_amount - centre) - 0.405
    d = np.array(kind.skill)
    spread = np.full((5, 5), kind.correlation)
    np.fill_diagonal(spread, 1.0)
    x = rng.multivariate_normal(np.zeros(5), spread, size=n) + np.outer(fraud, d)
    odds = prior[:, None] + x * d - d**2 / 2
    weights = np.linalg.solve(spread, d)
    best = expit(prior + x @ weights - 0.5 * d @ weights)
    amount = np.exp(log_amount).round(2)
    who, since, extra = _spoil(name, rng, odds, prior, fraud, day, merchant)
    reports = expit(odds).round(6)
    if name == "copies":
        extra["decimals"] = int(3 + seed % 3)
        reports[:, 2] = reports[:, 1].round(extra["decimals"])
    elif name == "bent_copies":
        reports[:, 2] = (0.6 * reports[:, 1] ** 0.8).round(6)
    elif name in ("scale_down", "scale_up"):
        late, factor = day >= NEW_UNIT, FACTOR if name == "scale_up" else 1 / FACTOR
        reports[late, 3] *= factor
        extra["factor"] = factor
    label, known, propensity = _outcomes(name, rng, reports, fraud, day, amount)
    return Bank(
        name, reports, fraud, label, known, times, amount, merchant, best,
        who, since, propensity, extra,
    )  # fmt: skip


def _moments(rng, rows):
    """Day and second of each payment, fewer at weekends, in the order of time."""
    day = rng.integers(0, DAYS, rows)
    day = day[rng.random(rows) < np.where((day + 3) % 7 >= 5, 0.7, 1.0)]
    seconds = (np.clip(rng.normal(14, 5, len(day)), 0, 23.99) * 3600).astype(int)
    order = np.lexsort((seconds, day))
    return day[order], seconds[order]


def _spoil(name, rng, odds, prior, fraud, day, merchant):
    """Change the log-odds of the vendors; return who is at fault, and since when."""
    late, changed = day >= CHANGE, START + CHANGE
    if name == "leak":  # charlie was made after the outcome was known
        apart = np.where(fraud == 1, 5.0, -8.0)
        odds[:, 3] = apart + rng.normal(size=len(fraud))
        return ("charlie",), None, {}
    if name == "better":  # alpha gets a better model, which is no fault
        x = rng.normal(size=len(fraud)) + 2.8 * fraud
        odds[:, 1] = np.where(late, prior + 2.8 * x - 2.8**2 / 2, odds[:, 1])
        return (), None, {}
    if name == "overconfident":
        odds[:, 1] = np.where(late, 1.6 * odds[:, 1] + 3.4, odds[:, 1])
        return ("alpha",), changed, {}
    if name == "drift":  # most frauds become invisible to three vendors
        hidden = (fraud == 1) & late & (rng.random(len(fraud)) < INVISIBLE)
        for i, d in ((0, 2.6), (1, 2.2), (2, 2.0)):
            blind = prior[hidden] + d * rng.normal(size=hidden.sum()) - d * d / 2
            odds[hidden, i] = blind
        return VENDORS[:3], changed, {}
    if name in ("copies", "bent_copies"):
        return ("bravo", "alpha"), None, {}
    if name == "segment":  # alpha knows nothing about gaming
        inside = merchant == "gaming"
        odds[inside, 1] = rng.permutation(odds[inside, 1])
        return ("alpha",), None, {"segment": "gaming"}
    if name in ("scale_down", "scale_up"):
        return ("charlie",), START + NEW_UNIT, {}
    return (), None, {}


def _outcomes(name, rng, reports, fraud, day, amount):
    """Labels, which cases have one, and the chance of that where it is known."""
    label, known = fraud.copy(), day < DAYS - OPEN_DAYS
    if name == "late":  # chargebacks take weeks, and count as legitimate until then
        unknown = (day + rng.gamma(2, 9, len(day)) > day.max()) & (fraud == 1)
        return np.where(unknown, 0, label), np.ones(len(day), bool), None
    if name not in ("selective", "reviewed"):
        return label, known, None
    flag = flagged(reports, amount)
    chance = np.where(flag, 1.0, REVIEWED if name == "reviewed" else 0.0)
    known = rng.random(len(day)) < chance
    return label, known, chance if name == "reviewed" else None


def flagged(reports, amount):
    """Which payments the mean of the vendors would flag, (T,)."""
    return reports.mean(axis=1) > 5 / (5 + amount)
