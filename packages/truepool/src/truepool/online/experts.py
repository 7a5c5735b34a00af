"""Experts of the online mixture `auto`: the agents, and pools that are refitted.

The mixture is an ordinary learner over all of them (`MIXER`), so that its regret bound
holds against the best expert. A pool is refitted on the latest cases whenever their
number has grown by half, at the latest after `LONGEST_WAIT` cases: the cost per case is
bounded, and old cases are forgotten.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from truepool.core.arrays import (
    FloatArray,
    IntArray,
    from_classes,
    read_only,
    to_classes,
)
from truepool.core.errors import AgentError, SettingError
from truepool.learners import make
from truepool.learners.interface import Learner
from truepool.measures.losses import Loss
from truepool.panel.panel import Panel
from truepool.pools import load_pool
from truepool.pools.interface import Pool, configure

NAME = "auto"
MIXER = "adahedge"
"""The learner whose weights go over agents and pools."""
WINDOWS = {"shrunk": 250, "auto": 2_000}
"""Pools that are refitted, each on so many of the latest cases."""
FIRST_REFIT, LONGEST_WAIT = 10, 500
"""Cases with a known outcome before the first refit, and most between two refits."""
PREFIX = "pool:"
"""What the names of pools among the experts start with."""


@dataclass(frozen=True, eq=False)
class Experts:
    """Agents and pools whose reports are mixed online. Immutable.

    Parameters
    ----------
    agents : tuple of str
        Names of the agents.
    classes : int
        Number of classes.
    record : Path, optional
        A folder with one saved pool per refit. A refit that is there is loaded and not
        computed again: computed on another machine it may differ in the last bit.

    Examples
    --------
    >>> experts = Experts(("ada", "bob"), 2)
    >>> experts.names
    ('ada', 'bob', 'pool:shrunk', 'pool:auto')
    >>> experts.report(np.array([[0.2], [0.4]])).ravel()
    array([0.2, 0.4, nan, nan])
    """

    agents: tuple[str, ...]
    classes: int
    record: Path | None = None
    settled: int = 0
    due: int = FIRST_REFIT
    reports: FloatArray = field(default_factory=lambda: np.empty(0))
    outcomes: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    pools: tuple[Pool, ...] = ()

    def __post_init__(self) -> None:
        taken = [name for name in self.agents if name.startswith(PREFIX)]
        if taken:
            raise AgentError(
                f"names that start with {PREFIX!r} are those of the pools that auto "
                f"refits; got an agent {taken[0]!r}. Rename it."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the agents, then of the pools."""
        return (*self.agents, *(PREFIX + name for name in WINDOWS))

    def report(self, reports: FloatArray) -> FloatArray:
        """Reports (N + M, C) on a case, of the agents and of the pools once fitted."""
        answers = np.full((len(WINDOWS), reports.shape[1]), np.nan)
        if self.pools and not np.isnan(reports[:, 0]).all():
            values = read_only(reports[None])
            answers[:] = [
                from_classes(pool.probabilities(values))[0] for pool in self.pools
            ]
        return np.vstack([reports, answers])

    def learn(self, reports: FloatArray, outcome: int) -> "Experts":
        """Return the experts after the outcome of a case, with new pools when due."""
        after = self.observe(reports, outcome)
        return after.with_pools(after.fit()) if after.is_due else after

    @property
    def is_due(self) -> bool:
        """Whether there are enough new cases to fit the pools again."""
        return self.settled >= self.due

    def observe(self, reports: FloatArray, outcome: int) -> "Experts":
        """Return the experts after the outcome of a case with these reports (N, C).

        The pools stay as they are.
        """
        longest = max(WINDOWS.values())
        N, C = reports.shape
        before = self.reports.reshape(-1, N, C)
        return replace(
            self,
            settled=self.settled + 1,
            reports=np.concatenate([before, reports[None]])[-longest:],
            outcomes=np.append(self.outcomes, outcome)[-longest:],
        )

    def fit(self) -> tuple[Pool, ...]:
        """Return pools that learned from the latest cases."""
        return tuple(self._fit(name, cases) for name, cases in WINDOWS.items())

    def with_pools(self, pools: tuple[Pool, ...]) -> "Experts":
        """Return the experts with other pools, to be fitted again later."""
        names = tuple(pool.name for pool in pools)
        if names != tuple(WINDOWS) or any(p.agents_ != self.agents for p in pools):
            raise SettingError(
                f"the pools of auto must be {', '.join(WINDOWS)}, fitted to its "
                f"agents; got {', '.join(names)}"
            )
        wait = min(max(self.settled // 2, FIRST_REFIT), LONGEST_WAIT)
        return replace(self, pools=pools, due=self.settled + wait)

    def _fit(self, name: str, cases: int) -> Pool:
        """Return a pool learned from the latest cases; from the record if possible."""
        values = to_classes(self.reports[-cases:])
        panel = Panel(values, self.outcomes[-cases:], self.agents)
        if self.record is None:
            return configure(name).fit_panel(panel)
        path = self.record / f"{self.settled:09d}-{name}.pool"
        if path.exists():
            pool: Pool = load_pool(path)
            fits = pool.agents_ == self.agents and pool.name == name
            if not fits or pool.training_.counts != panel.counts:
                raise SettingError(
                    f"the record must be that of the same cases; {path} was learned "
                    "from others. Name another folder."
                )
            return pool
        make_folder(self.record)
        configure(name).fit_panel(panel).save(path)
        return load_pool(path)  # what a replay from the record will load

    def to_dict(self) -> dict[str, Any]:
        """Values that a saved stream holds."""
        contents = {name: getattr(self, name) for name in SAVED}
        return {**contents, "record": None if self.record is None else str(self.record)}


def make_folder(folder: Path) -> None:
    """Make the folder of a record, or say why it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(
            f"the record must be a folder that can be written; {folder} is not: "
            f"{error.strerror}. Name another one."
        ) from None


def mixer(loss: Loss, horizon: int) -> Learner:
    """Return the learner that mixes the experts.

    By slopes it competes with the best fixed weighting of them; where the loss is not
    convex, by own losses with the best of them.
    """
    signal = "slope" if loss.convex else "own"
    return make(MIXER, loss=loss, horizon=horizon, signal=signal)


SAVED = ("agents", "classes", "settled", "due", "reports", "outcomes", "pools")
