"""Training of several agents, each in its silo and none of them twice."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from truepool.agents import report_cache
from truepool.agents.assignment import assign_cases, assign_features
from truepool.agents.calibration import check_method
from truepool.agents.ensemble import Ensemble, Plan, is_fitted
from truepool.agents.features.encoding import Encoder, Unseen
from truepool.agents.interface import check_agent
from truepool.agents.zoo import Model, make, paper
from truepool.core.arrays import Array
from truepool.core.errors import AgentError, OutcomeError, SettingError, suggestion
from truepool.panel.labels import Labels, check_labels

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with an agent's name, how many are done, and how many there are."""
FEW_CASES = 20
"""In so few cases, most classes may well occur once."""


def train(
    X: Any,
    y: ArrayLike,
    agents: Mapping[str, Any] | Sequence[str] | None = None,
    *,
    positive: Any = None,
    features: float | Sequence[Any] | None = None,
    cases: str | Sequence[ArrayLike] | None = None,
    calibration: str | Mapping[str, str] | None = None,
    seed: int = 0,
    partition_seed: int = 42,
    unseen: Unseen = "refuse",
    n_jobs: int | None = None,
    cache: bool | str | Path = True,
    progress: Progress | None = None,
) -> Ensemble:
    """Train agents on features X and labels y.

    Every agent runs on one thread; ``n_jobs`` of them are trained at once. With a
    cache, an agent is trained only when a report is needed that is not in the cache
    for the same cases and settings.

    Parameters
    ----------
    X : table of features
        Numbers, or a pandas, polars or pyarrow frame; text columns become numbers.
    y : (T,) labels
        At least two different ones; numbers or text.
    positive : label, optional
        Which of two labels the agents report the probability of. It is required unless
        the labels are 0/1 or False/True, where it is 1. It is saved with the agents.
    agents : mapping of str to agent, or names of the zoo, optional
        Models of `truepool.agents.zoo` or scikit-learn classifiers; fitted ones
        (``FrozenEstimator``, an ONNX agent) are used as they are. By default the five
        agents of the paper.
    features : float or list, optional
        None: every agent sees all features. A fraction: each sees a random silo of that
        share, drawn as in the paper. A list: the columns of each, by number or name.
    cases : "disjoint" or list, optional
        None: every agent learns from all cases. "disjoint": each learns from a separate
        part. A list: the cases of each.
    calibration : str or mapping of str to str, optional
        ``platt``, ``isotonic`` or ``temperature``, for all or by name; fitted on a
        fifth of an agent's cases, which are held out.
    seed : int
        Seed of all random draws in training.
    partition_seed : int
        Seed of the silos; 42 as in the paper, whatever the ``seed``.
    unseen : "refuse" or "missing"
        What to do later with categories that are not in X.
    n_jobs : int, optional
        How many agents are trained at once; -1 for one per core.
    cache : bool or path
        Whether to keep reports in the user's cache folder, or another folder for them.
    progress : callable, optional
        Called with the name of each trained agent, how many are done, and how many
        there are.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> trained = train(X[:400], y[:400], ["logistic", "tree"], features=0.6)
    >>> trained.panel(X[400:], y[400:])
    Panel(169 cases, 2 agents (logistic, tree), 2 classes, 0.0 % missing)
    """
    team = _team(agents)
    encoder = Encoder(unseen=unseen).fit(X)
    values = encoder.transform(X)
    given = _labels(y, len(values))
    labels = Labels.from_outcomes(given, positive)
    outcomes = labels.encode(given)
    silos = assign_features(features, encoder, len(team), partition_seed)
    parts = assign_cases(cases, outcomes, len(team), partition_seed)
    methods = _methods(calibration, team)
    whole = None if cache is False else report_cache.digest(values, outcomes)
    plans = []
    for (name, agent), silo, part in zip(team.items(), silos, parts, strict=True):
        if not is_fitted(agent):
            _check_classes(name, given[part])
        depends = (whole, silo, part, methods[name], seed)
        known = (
            None
            if whole is None or is_fitted(agent)
            else report_cache.key(agent, *depends)
        )
        plans.append(Plan(name, agent, silo, part, methods[name], known))
    folder = report_cache.folder() if isinstance(cache, bool) else Path(cache)
    return Ensemble(
        plans, encoder, values, outcomes, labels, seed, n_jobs, folder, progress
    )


def _team(agents: Mapping[str, Any] | Sequence[str] | None) -> dict[str, Any]:
    if agents is None:
        return dict(paper())
    if isinstance(agents, str):
        raise AgentError(f"agents must be a list or a mapping; got {agents!r}")
    if not isinstance(agents, Mapping):
        return {name: make(name) for name in agents}
    team = {str(name): agent for name, agent in agents.items()}
    for name, agent in team.items():
        if isinstance(agent, str):
            team[name] = make(agent)
        elif not isinstance(agent, Model):
            check_agent(name, agent)
    return team


def _labels(y: ArrayLike, cases: int) -> Array:
    labels = check_labels(y)
    if labels.shape != (cases,):
        raise OutcomeError(
            f"there must be one label per case; got labels of shape {labels.shape} for "
            f"{cases} cases"
        )
    return labels


def _methods(
    calibration: str | Mapping[str, str] | None, team: Mapping[str, Any]
) -> dict[str, str | None]:
    if calibration is None or isinstance(calibration, str):
        calibration = dict.fromkeys(team, calibration) if calibration else {}
    for name, method in calibration.items():
        if name not in team:
            raise SettingError(
                f"there is no agent {name!r} to calibrate{suggestion(name, team)}; "
                f"agents: {', '.join(team)}"
            )
        check_method(method)
        if is_fitted(team[name]):
            raise SettingError(
                f"agent {name!r} is fitted already; calibrate it with "
                "agents.calibrate, on cases that are new to it"
            )
    return {name: calibration.get(name) for name in team}


def _check_classes(name: str, labels: Array) -> None:
    """Refuse a silo of one class, which every library would refuse in its own words."""
    kinds = np.unique(labels)
    if len(kinds) < 2:
        got = f"{len(labels)} cases of class {kinds[0]}" if len(kinds) else "no cases"
        raise OutcomeError(
            f"an agent must learn from at least two classes; {name!r} would learn from "
            f"{got}. Give it other cases, or pass cases='disjoint'."
        )
    if len(labels) > FEW_CASES and len(kinds) > len(labels) / 2:
        raise OutcomeError(
            f"an agent must learn from classes that repeat; {name!r} would learn from "
            f"{len(kinds):,} classes in {len(labels):,} cases. Name another outcome."
        )
