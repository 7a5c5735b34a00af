"""An ensemble: agents trained on the same table and asked together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.frozen import FrozenEstimator

from truepool.agents import report_cache
from truepool.agents.features.encoding import Encoder
from truepool.agents.fitted_agent import FittedAgent, fit
from truepool.agents.interface import as_reports, class_probabilities
from truepool.agents.onnx import OnnxAgent
from truepool.agents.zoo.interface import Model
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import UnknownNameError
from truepool.panel.labels import Labels
from truepool.panel.panel import Panel


@dataclass(frozen=True, eq=False)
class Plan:
    """How one agent is trained, and the key of its reports in the cache."""

    name: str
    agent: Any
    columns: IntArray
    cases: IntArray
    calibration: str | None
    key: str | None


def is_fitted(agent: Any) -> bool:
    """Return whether an agent is used as it is: fitted already, or without ``fit``."""
    if isinstance(agent, FrozenEstimator | FittedAgent | OnnxAgent):
        return True
    return not (isinstance(agent, Model) or callable(getattr(agent, "fit", None)))


@final
class Ensemble:
    """Trained agents that report on any cases; `train` returns one.

    ``agents`` are their names, ``labels`` the labels of the classes (``classes_`` as
    an array; of two, the positive one is the second), ``silos`` the columns of each
    agent. ``ensemble["mlp"]`` is one agent, to save or export.
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
        folder: Path,
        progress: Callable[[str, int, int], None] | None,
    ) -> None:
        self.agents = tuple(plan.name for plan in plans)
        self.labels = labels
        self.classes_ = np.asarray(labels.names)
        self.silos = [plan.columns for plan in plans]
        self._plans = {plan.name: plan for plan in plans}
        self._encoder = encoder
        self._training_data = values, outcomes
        self._seed = seed
        self._n_jobs = n_jobs
        self._cache = report_cache.open_cache(folder)
        self._progress = progress
        self._fitted: dict[str, Any] = {
            plan.name: plan.agent for plan in plans if is_fitted(plan.agent)
        }
        # An agent whose reports may be in the cache is trained only when they are not.
        self._train([plan.name for plan in plans if plan.key is None])

    def reports(self, X: Any) -> FloatArray:
        """Return the reports of all agents: (T, N), or (T, N, K) for K > 2 classes."""
        values = self._encoder.transform(X)
        reports: dict[str, FloatArray] = {}
        keys = {}
        table = report_cache.digest(values)
        for name, plan in self._plans.items():
            if plan.key is not None:
                keys[name] = report_cache.digest(plan.key, table)
                found = self._cache.load(keys[name])
                if found is not None:
                    reports[name] = found
        self._train([name for name in self.agents if name not in reports])
        for name in self.agents:
            if name not in reports:
                reports[name] = self._report(name, X, values)
                if name in keys:
                    self._cache.store(keys[name], reports[name])
        return as_reports(np.stack([reports[name] for name in self.agents], axis=1))

    def panel(
        self, X: Any, y: ArrayLike, *, positive: Any = None, **options: Any
    ) -> Panel:
        """Return reports and outcomes of these cases; ids and times go to `Panel`.

        The labels are those of training; another ``positive`` one is refused.
        """
        self.labels.check(positive)
        outcomes = self.labels.encode(y)
        panel = Panel(self.reports(X), outcomes, self.agents, **options)
        return panel.with_labels(self.labels)

    def __getitem__(self, name: str) -> Any:
        """Return one agent, trained now if it has not been trained so far."""
        if name not in self._plans:
            raise UnknownNameError("agent", name, self._plans)
        self._train([name])
        return self._fitted[name]

    def __repr__(self) -> str:
        return f"Ensemble({', '.join(self.agents)})"

    def _train(self, names: Sequence[str]) -> None:
        """Train the agents that are not trained yet, those that take longest first."""
        plans = [self._plans[name] for name in names if name not in self._fitted]
        plans.sort(key=lambda plan: -_effort(plan.agent))
        values, outcomes = self._training_data
        jobs = Parallel(self._n_jobs, return_as="generator_unordered")(
            delayed(fit)(
                plan.name,
                plan.agent,
                self._encoder.only(plan.columns),
                values[np.ix_(plan.cases, plan.columns)],
                outcomes[plan.cases],
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

    def _report(self, name: str, X: Any, values: FloatArray) -> FloatArray:
        agent = self._fitted[name]
        own = isinstance(agent, FittedAgent | OnnxAgent)  # they know their columns
        seen = X if own else values[:, self._plans[name].columns]
        return class_probabilities(agent, seen, self.labels, name)


def _effort(agent: Any) -> int:
    return agent.effort if isinstance(agent, Model) else 1
