"""Agents trained alike and asked together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.frozen import FrozenEstimator

from truepool.agents import report_cache
from truepool.agents.fitted_agent import Fitted, fit
from truepool.agents.interface import as_reports, said
from truepool.agents.onnx import OnnxAgent
from truepool.agents.zoo.interface import Model
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import UnknownNameError
from truepool.data.features.encoding import Encoder
from truepool.data.labels import Labels
from truepool.data.panel import Panel


@dataclass(frozen=True, eq=False)
class Plan:
    """One agent to train: what it is, what it sees, what its reports are kept under."""

    name: str
    agent: Any
    columns: IntArray
    rows: IntArray
    calibration: str | None
    key: str | None


def is_ready(agent: Any) -> bool:
    """Say whether an agent is taken as it is: fitted already, or not made to be."""
    if isinstance(agent, FrozenEstimator | Fitted | OnnxAgent):
        return True
    return not (isinstance(agent, Model) or callable(getattr(agent, "fit", None)))


@final
class Trained:
    """What `train` returns: agents that report on any rows.

    ``agents`` are their names, ``labels`` those of the classes (``classes_`` as an
    array; of two, the positive one is the second), ``silos`` the columns each sees;
    ``trained["mlp"]`` is one of them, to save or export.
    """

    def __init__(
        self,
        plans: Sequence[Plan],
        encoder: Encoder,
        values: FloatArray,
        outcomes: IntArray,
        labels: Labels,
        seed: int,
        n_jobs: int | None,
        place: Path,
        progress: Callable[[str, int, int], None] | None,
    ) -> None:
        self.agents = tuple(plan.name for plan in plans)
        self.labels = labels
        self.classes_ = np.asarray(labels.names)
        self.silos = [plan.columns for plan in plans]
        self._plans = {plan.name: plan for plan in plans}
        self._encoder = encoder
        self._rows = values, outcomes
        self._seed = seed
        self._n_jobs = n_jobs
        self._cache = report_cache.reports_in(place)
        self._progress = progress
        self._fitted: dict[str, Any] = {
            plan.name: plan.agent for plan in plans if is_ready(plan.agent)
        }
        # What can be found again waits until it is asked for; the rest cannot.
        self._need([plan.name for plan in plans if plan.key is None])

    def reports(self, X: Any) -> FloatArray:
        """What every agent says of these rows: (T, N), or (T, N, K) for K > 2."""
        values = self._encoder.transform(X)
        heard: dict[str, FloatArray] = {}
        keys = {}
        rows = report_cache.digest(values)
        for name, plan in self._plans.items():
            if plan.key is not None:
                keys[name] = report_cache.digest(plan.key, rows)
                found = self._cache.load(keys[name])
                if found is not None:
                    heard[name] = found
        self._need([name for name in self.agents if name not in heard])
        for name in self.agents:
            if name not in heard:
                heard[name] = self._ask(name, X, values)
                if name in keys:
                    self._cache.store(keys[name], heard[name])
        return as_reports(np.stack([heard[name] for name in self.agents], axis=1))

    def panel(
        self, X: Any, y: ArrayLike, *, positive: Any = None, **options: Any
    ) -> Panel:
        """Return reports and outcomes of these rows; ids and times go to `Panel`.

        The labels are those of training; another ``positive`` one is refused.
        """
        self.labels.check(positive)
        outcomes = self.labels.encode(y)
        panel = Panel(self.reports(X), outcomes, self.agents, **options)
        return panel.with_labels(self.labels)

    def __getitem__(self, name: str) -> Any:
        """Return one agent; it is trained now if that was not needed so far."""
        if name not in self._plans:
            raise UnknownNameError("agent", name, self._plans)
        self._need([name])
        return self._fitted[name]

    def __repr__(self) -> str:
        return f"Trained({', '.join(self.agents)})"

    def _need(self, names: Sequence[str]) -> None:
        """Train those of the agents that are not yet; the longest first."""
        plans = [self._plans[name] for name in names if name not in self._fitted]
        plans.sort(key=lambda plan: -_effort(plan.agent))
        values, outcomes = self._rows
        jobs = Parallel(self._n_jobs, return_as="generator_unordered")(
            delayed(fit)(
                plan.name,
                plan.agent,
                self._encoder.only(plan.columns),
                values[np.ix_(plan.rows, plan.columns)],
                outcomes[plan.rows],
                self.labels,
                seed=self._seed,
                calibration=plan.calibration,
            )
            for plan in plans
        )
        for done, agent in enumerate(jobs, start=1):
            self._fitted[agent.name] = agent
            if self._progress is not None:
                self._progress(agent.name, done, len(plans))

    def _ask(self, name: str, X: Any, values: FloatArray) -> FloatArray:
        agent = self._fitted[name]
        own = isinstance(agent, Fitted | OnnxAgent)  # they know their columns
        rows = X if own else values[:, self._plans[name].columns]
        return said(agent, rows, self.labels, name)


def _effort(agent: Any) -> int:
    return agent.effort if isinstance(agent, Model) else 1
