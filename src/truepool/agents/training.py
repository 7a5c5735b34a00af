"""Training: many agents at once, each in its silo, none of them twice."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from truepool.agents import report_cache
from truepool.agents.assignment import columns_of, rows_of
from truepool.agents.calibration import check_method
from truepool.agents.ensemble import Plan, Trained, is_ready
from truepool.agents.interface import check_speaks
from truepool.agents.zoo import Model, make, paper
from truepool.core.arrays import Array
from truepool.core.errors import AgentError, OutcomeError, SettingError, nearest
from truepool.data.features.encoding import Encoder, Unseen
from truepool.data.labels import Labels, check_labels

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with an agent's name, how many are done, and of how many."""


def train(
    X: Any,
    y: ArrayLike,
    agents: Mapping[str, Any] | Sequence[str] | None = None,
    *,
    positive: Any = None,
    features: float | Sequence[Any] | None = None,
    rows: str | Sequence[ArrayLike] | None = None,
    calibration: str | Mapping[str, str] | None = None,
    seed: int = 0,
    partition_seed: int = 42,
    unseen: Unseen = "refuse",
    n_jobs: int | None = None,
    cache: bool | str | Path = True,
    progress: Progress | None = None,
) -> Trained:
    """Train agents on rows X and labels y, to be asked for reports together.

    Every agent runs on one thread; ``n_jobs`` of them are trained at once. With a
    cache an agent is only trained when a report is asked for that it, on these rows and
    with these settings, has not made before.

    Parameters
    ----------
    X : table of features
        Numbers, or a pandas, polars or pyarrow frame; text columns become numbers.
    y : (T,) labels
        Two kinds or more; numbers or text.
    positive : label, optional
        Which of two labels the agents are to report the probability of. Labels 0/1 and
        False/True need no word (it is 1); any other two do. The agents remember it.
    agents : mapping of str to agent, or names of the zoo, optional
        Models of `truepool.agents.zoo` or scikit-learn classifiers; what is fitted
        already (``FrozenEstimator``, an ONNX agent) is taken as it is. By default the
        five of the paper.
    features : float or list, optional
        None: every agent sees all features. A fraction: each sees a silo of that share,
        drawn as in the paper. A list: the columns of each, by place or name.
    rows : "disjoint" or list, optional
        None: every agent learns from all rows. "disjoint": each learns from a part of
        its own. A list: the rows of each.
    calibration : str or mapping of str to str, optional
        ``platt``, ``isotonic`` or ``temperature``, for all or by name; learned from a
        fifth of an agent's rows, held out.
    seed : int
        For everything that is drawn in training.
    partition_seed : int
        For silos; 42 as in the paper, whatever the ``seed``.
    unseen : "refuse" or "missing"
        What to do later with categories that are not in X.
    n_jobs : int, optional
        How many agents are trained at once; -1 for one a core.
    cache : bool or path
        Keep reports in the user's cache folder (or this one), and look there first.
    progress : callable, optional
        Told the name of each agent as it is done, how many are done, and of how many.

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
    labels = Labels.of(given, positive)
    outcomes = labels.encode(given)
    silos = columns_of(features, encoder, len(team), partition_seed)
    shares = rows_of(rows, outcomes, len(team), partition_seed)
    methods = _methods(calibration, team)
    whole = None if cache is False else report_cache.digest(values, outcomes)
    plans = []
    for (name, agent), silo, share in zip(team.items(), silos, shares, strict=True):
        if not is_ready(agent):
            _check_classes(name, given[share])
        parts = (whole, silo, share, methods[name], seed)
        known = (
            None
            if whole is None or is_ready(agent)
            else report_cache.key(agent, *parts)
        )
        plans.append(Plan(name, agent, silo, share, methods[name], known))
    place = report_cache.folder() if isinstance(cache, bool) else Path(cache)
    return Trained(
        plans, encoder, values, outcomes, labels, seed, n_jobs, place, progress
    )


def _team(agents: Mapping[str, Any] | Sequence[str] | None) -> dict[str, Any]:
    if agents is None:
        return dict(paper())
    if isinstance(agents, str):
        raise AgentError(f"agents must be a list of names, or named; got {agents!r}")
    if not isinstance(agents, Mapping):
        return {name: make(name) for name in agents}
    team = {str(name): agent for name, agent in agents.items()}
    for name, agent in team.items():
        if isinstance(agent, str):
            team[name] = make(agent)
        elif not isinstance(agent, Model):
            check_speaks(name, agent)
    return team


def _labels(y: ArrayLike, rows: int) -> Array:
    labels = check_labels(y)
    if labels.shape != (rows,):
        raise OutcomeError(
            f"there must be one label per row; got labels of shape {labels.shape} for "
            f"{rows} rows"
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
                f"there is no agent {name!r} to calibrate{nearest(name, team)}; "
                f"agents: {', '.join(team)}"
            )
        check_method(method)
        if is_ready(team[name]):
            raise SettingError(
                f"agent {name!r} is fitted already; calibrate it with "
                "agents.calibrated, on rows that are new to it"
            )
    return {name: calibration.get(name) for name in team}


def _check_classes(name: str, labels: Array) -> None:
    """A silo of one class teaches nothing, and no two libraries say so alike."""
    kinds = np.unique(labels)
    if len(kinds) < 2:
        told = f"{len(labels)} rows of class {kinds[0]}" if len(kinds) else "no rows"
        raise OutcomeError(
            f"an agent must learn from at least two classes; {name!r} would learn from "
            f"{told}. Give it other rows, or deal them out with rows='disjoint'."
        )
