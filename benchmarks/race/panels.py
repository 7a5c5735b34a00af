"""The panels of the race, draw by draw: what a pool learns from, and what it is asked.

Development panels are files; each judging panel is trained here from a source. In a judging
panel no case is asked twice: the cases are divided into as many parts as there are draws,
and a draw asks about its own part only. Agents and learning cases come from the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from race import sources
from race.difficulties import DIFFICULTIES
from truepool import datasets
from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.core.errors import SourceError
from truepool.datasets.location import folders
from truepool.measures.folds import stratify
from truepool.panel.panel import Panel

DRAWS = 6
MAX_NEW = 2_000
"""Most cases that a draw asks about."""
MAX_TRAINING = 2_500
"""Most cases that the agents of a judging panel learn from."""
DAYS = 4
"""Days of the campaign that are kept for each candidate for governor."""


@dataclass(frozen=True, eq=False)
class Draw:
    """What every competitor learns from and is asked about.

    ``learning`` has the outcomes; ``reports`` (T, N) or (T, N, K) are new cases, whose
    ``outcomes`` judge the answers. ``groups`` names new cases that are not independent.
    """

    learning: Panel
    reports: FloatArray
    outcomes: IntArray
    groups: Array | None = None


class Task(Protocol):
    """A panel of the race."""

    @property
    def name(self) -> str:
        """What the rows and the page call it."""

    @property
    def hard(self) -> str:
        """What makes it hard."""

    def draw(self, number: int) -> Draw:
        """Return one draw."""


@dataclass(frozen=True)
class JudgingPanel:
    """A judging panel: a source, how many agents and learning cases, what is hard."""

    name: str
    source: str
    agents: int
    cases: int
    hard: str = "nothing"

    def draw(self, number: int) -> Draw:
        """Train the agents of one draw and let them report."""
        rng = np.random.default_rng(_seed(self.name, number))
        X, y = sources.load(self.source)
        parts = stratify(y, DRAWS, _seed(self.source))
        new = _sample(np.flatnonzero(parts == number), y, MAX_NEW, rng)
        rest = np.flatnonzero(parts != number)
        learning = _sample(rest, y, self.cases, rng)
        rest = np.setdiff1d(rest, learning)
        training = _sample(rest, y, MAX_TRAINING, rng)
        asked = np.concatenate([learning, new])
        reports = _reports(X, y, training, asked, self.agents, rng)
        whole = Panel(reports, y[asked], times=np.arange(len(asked)))
        whole = DIFFICULTIES[self.hard](whole, rng)
        first, last = np.arange(len(learning)), np.arange(len(learning), len(asked))
        known = whole.take(first)
        times = known.times if self.hard == "drift" else None
        learned = Panel(known.reports, known.outcomes, times=times)
        return Draw(learned, whole.reports[last], whole.outcomes[last])


@dataclass(frozen=True)
class Governors:
    """Three real forecasters of elections; a draw asks about states it has not learned."""

    name: str = "governors"
    agents: int = 3
    hard: str = "nothing"

    def draw(self, number: int) -> Draw:
        """Divide the states; keep some days of each candidate's campaign."""
        panel = datasets.governors()
        rng = np.random.default_rng(_seed(self.name, number))
        candidate = np.array([name[11:] for name in panel.ids])
        state = np.array([name[:2] for name in candidate])
        names = np.unique(state)
        part = np.random.default_rng(_seed(self.name)).permutation(len(names)) % DRAWS
        asked = np.isin(state, names[part == number])
        kept = np.concatenate(
            [
                rng.choice(days, min(DAYS, len(days)), replace=False)
                for days in (
                    np.flatnonzero(candidate == c) for c in np.unique(candidate)
                )
            ]
        )
        first, last = np.sort(kept[~asked[kept]]), np.sort(kept[asked[kept]])
        learning = Panel(
            panel.reports[first], panel.outcomes[first], groups=state[first]
        )
        return Draw(learning, panel.reports[last], panel.outcomes[last], state[last])


@dataclass(frozen=True)
class DevelopmentPanel:
    """A panel that pools were developed with, as a file with six draws."""

    name: str
    hard: str = "nothing"

    def draw(self, number: int) -> Draw:
        """Read one draw; cases without any report are left out."""
        with np.load(_find(f"race/{self.name}.npz")) as file:
            found = [file[f"{key}_{number}"] for key in ("Rc", "yc", "Rt", "yt")]
            ordered = bool(file[f"times_{number}"])
        learning, new = _complete(*found[:2]), _complete(*found[2:])
        times = np.arange(len(learning[1])) if ordered else None
        return Draw(Panel(*learning, times=times), *new)


@dataclass(frozen=True)
class Crowd:
    """Sparse votes of a public crowd on product matches."""

    name: str = "product-crowd"
    hard: str = "sparse"

    def draw(self, number: int) -> Draw:
        """Learn from 400 cases and ask about others."""
        with np.load(_find("jury/product.npz")) as file:
            votes, y = file["votes"].astype(np.float64), file["y"].astype(np.int64)
        rng = np.random.default_rng(_seed(self.name, number))
        order = rng.permutation(len(y))
        first, last = order[:400], order[400 : 400 + MAX_NEW]
        return Draw(Panel(votes[first], y[first]), votes[last], y[last])


@dataclass(frozen=True)
class StudyPanel:
    """A small real panel that the study of few labels used."""

    name: str
    cases: int
    hard: str = "nothing"

    def draw(self, number: int) -> Draw:
        """Learn from some cases and ask about the others."""
        panel = datasets.load(self.name)
        rng = np.random.default_rng(_seed(self.name, number))
        order = rng.permutation(len(panel))
        first, last = order[: self.cases], order[self.cases :]
        learning = Panel(panel.reports[first], panel.outcomes[first])
        return Draw(learning, panel.reports[last], panel.outcomes[last])


JUDGING: tuple[Task, ...] = (
    JudgingPanel("heart", "heart", 6, 120),
    JudgingPanel("heart-40", "heart", 6, 40),
    JudgingPanel("heart-sparse", "heart", 30, 150, "sparse"),
    JudgingPanel("diabetes", "diabetes", 6, 150),
    JudgingPanel("diabetes-40", "diabetes", 8, 40),
    JudgingPanel("diabetes-drift", "diabetes", 6, 200, "drift"),
    JudgingPanel("banana", "banana", 6, 600),
    JudgingPanel("banana-mis", "banana", 8, 600, "miscalibrated"),
    JudgingPanel("web", "web-attacks", 7, 400),
    JudgingPanel("web-sparse", "web-attacks", 40, 600, "sparse"),
    JudgingPanel("kdd-probe-60", "kdd-probe", 6, 60),
    JudgingPanel("kdd-probe-adv", "kdd-probe", 9, 800, "adversarial"),
    JudgingPanel("kdd-remote-rare", "kdd-remote", 7, 1_500),
    JudgingPanel("unsw-fuzzers", "unsw-fuzzers", 8, 800),
    JudgingPanel("unsw-fuzzers-adv", "unsw-fuzzers", 8, 500, "adversarial"),
    JudgingPanel("unsw-fuzzers-drift", "unsw-fuzzers", 8, 1_000, "drift"),
    JudgingPanel("unsw-exploits", "unsw-exploits", 10, 1_000),
    JudgingPanel("unsw-exploits-sparse", "unsw-exploits", 40, 1_000, "sparse"),
    JudgingPanel("unsw-exploits-mis", "unsw-exploits", 8, 300, "miscalibrated"),
    JudgingPanel("unsw-rare", "unsw-rare", 7, 1_500),
    Governors(),
    JudgingPanel("wine-K3", "wine", 5, 60),
    JudgingPanel("segment-K7", "segment", 6, 350),
    JudgingPanel("kdd-families-K4-adv", "kdd-families", 6, 500, "adversarial"),
    JudgingPanel("unsw-kinds-K5", "unsw-kinds", 6, 500),
)
"""Panels that played no part in choosing anything."""

DEVELOPMENT: tuple[Task, ...] = (
    DevelopmentPanel("german"),
    DevelopmentPanel("german-150"),
    DevelopmentPanel("phoneme"),
    DevelopmentPanel("phoneme-60"),
    DevelopmentPanel("spam-adv", "adversarial"),
    DevelopmentPanel("telco-mis", "miscalibrated"),
    DevelopmentPanel("telco-N30"),
    DevelopmentPanel("mammo-rare"),
    DevelopmentPanel("elec-drift", "drift"),
    DevelopmentPanel("white-miss", "sparse"),
    DevelopmentPanel("digits-K10"),
    Crowd(),
    StudyPanel("duck-crowd", 54),
    StudyPanel("judgebench", 150),
)
"""Panels that choices were made on, here or in the studies that `auto` follows: the last
three belong to the study of few labels."""

PANELS = {panel.name: panel for panel in (*JUDGING, *DEVELOPMENT)}


@cache
def _families() -> Sequence[object]:
    return (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        DecisionTreeClassifier(max_depth=5, min_samples_leaf=3),
        GaussianNB(var_smoothing=1e-6),
        RandomForestClassifier(25, min_samples_leaf=2),
        make_pipeline(StandardScaler(), KNeighborsClassifier(11)),
        HistGradientBoostingClassifier(max_iter=25, max_leaf_nodes=8),
        make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
        ExtraTreesClassifier(25, min_samples_leaf=3),
    )


def _reports(
    X: FloatArray,
    y: IntArray,
    training: IntArray,
    asked: IntArray,
    agents: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Reports (T, N) or (T, N, K) of agents, each with part of the features and cases."""
    from sklearn.base import clone

    classes = int(y.max()) + 1
    families = _families()
    width = max(1, round(0.4 * X.shape[1]))
    reports = np.zeros((len(asked), agents, classes))
    for i in range(agents):
        model = clone(families[i % len(families)])
        columns = rng.choice(X.shape[1], width, replace=False)
        cases = _sample(training, y, max(40, len(training) // 2), rng)
        seed = int(rng.integers(2**31))
        names = [name for name in model.get_params() if name.endswith("random_state")]
        model.set_params(**dict.fromkeys(names, seed))
        model.fit(X[np.ix_(cases, columns)], y[cases])
        reports[:, i, model.classes_] = model.predict_proba(X[np.ix_(asked, columns)])
    return reports if classes > 2 else reports[..., 1]


def _sample(
    cases: IntArray, y: IntArray, count: int, rng: np.random.Generator
) -> IntArray:
    """Draw cases, each class in proportion and at least twice, in random order."""
    if len(cases) <= count:
        return rng.permutation(cases)
    drawn = []
    for k in np.unique(y[cases]):
        own = cases[y[cases] == k]
        share = max(2, round(count * len(own) / len(cases)))
        drawn.append(rng.choice(own, min(share, len(own)), replace=False))
    return rng.permutation(np.concatenate(drawn))


def _complete(reports: Array, outcomes: Array) -> tuple[FloatArray, IntArray]:
    reports = reports.astype(np.float64)
    if reports.ndim == 3:
        reports /= reports.sum(axis=-1, keepdims=True)
    present = ~np.isnan(reports.reshape(len(reports), -1)).all(axis=1)
    return reports[present], outcomes[present].astype(np.int64)


def _find(name: str) -> Path:
    found = [folder / name for folder in folders().values()]
    path = next((path for path in found if path.is_file()), None)
    if path is None:
        raise SourceError(
            f"{name!r} must be in the folder of the data; set TRUEPOOL_DATA to it"
        )
    return path


def _seed(name: str, number: int = -1) -> int:
    return int.from_bytes(sha256(f"{name}:{number}".encode()).digest()[:4], "big")
