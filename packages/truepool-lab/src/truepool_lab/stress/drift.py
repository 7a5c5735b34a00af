r"""Drift: its schedule, agents whose skill changes, and features that shift.

A `schedule` gives the extent of drift, :math:`s_t \in [0, 1]`, case by case. Two things
can drift along it, as in sec:drift and apd:drift_detailed of the paper: the quality of
the agents (`quality_panel` makes agents, `degradation` changes those of a panel) and
the features that the agents see (`shift_features`). Everything is drawn by seed and by
axis: another agent, another kind of drift or another magnitude leaves all other draws
alone, so two panels differ only in what was changed.
"""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray, from_log_scale, logit
from truepool.core.errors import AgentError, SettingError, UnknownNameError
from truepool.panel.panel import Panel
from truepool_lab.stress.draws import (
    DIRECTIONS,
    OUTCOMES,
    OWN,
    SHARED,
    generator,
    normals,
)

KINDS = ("none", "sudden", "gradual", "recurring")


def schedule(
    kind: str, cases: int, *, at: float = 0.5, period: float = 0.25
) -> FloatArray:
    r"""Extent of drift in each case, (T,) in [0, 1].

    =============  ===================================================================
    ``none``       :math:`s_t = 0`
    ``sudden``     :math:`s_t = 1` from case :math:`at \cdot T` on, 0 before
    ``gradual``    :math:`s_t = t / (T - 1)`
    ``recurring``  :math:`s_t = (1 - \cos(2 \pi t / (period \cdot T))) / 2`
    =============  ===================================================================

    The defaults are those of tab:drift_regret: half of the run, a quarter of it.

    >>> schedule("sudden", 4)
    array([0., 0., 1., 1.])
    >>> schedule("gradual", 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    >>> schedule("recurring", 8, period=0.5).round(3)
    array([0. , 0.5, 1. , 0.5, 0. , 0.5, 1. , 0.5])
    """
    if kind not in KINDS:
        raise UnknownNameError("drift", kind, KINDS)
    if not isinstance(cases, int | np.integer) or cases < 1:
        raise SettingError(f"cases must be a whole number of at least 1; got {cases!r}")
    if not 0 <= at <= 1:
        raise SettingError(
            "at must be the share of the cases before a sudden drift, in [0, 1]; "
            f"got {at!r}"
        )
    if not (np.isfinite(period) and period > 0):
        raise SettingError(
            f"a period must be a positive share of the cases; got {period!r}"
        )
    t = np.arange(cases)
    match kind:
        case "sudden":
            # 0.7 * 10 is a little more than 7, and case 7 is meant
            return (t >= at * cases - 1e-9).astype(np.float64)
        case "gradual":
            return np.linspace(0.0, 1.0, cases)
        case "recurring":
            return np.asarray((1.0 - np.cos(2.0 * np.pi * t / (period * cases))) / 2.0)
        case _:
            return np.zeros(cases)


def quality_panel(
    kind: str,
    *,
    before: ArrayLike,
    after: ArrayLike,
    cases: int,
    base_rate: float = 0.5,
    correlation: float = 0.0,
    honest: bool = False,
    seed: int = 0,
    at: float = 0.5,
    period: float = 0.25,
) -> Panel:
    r"""Make agents whose skill changes from ``before`` to ``after``, (N,) each.

    Skill is the signal strength of a binormal model. In case t agent i sees a score

    .. math:: x_{ti} = d_{ti} (y_t - \tfrac12) + e_{ti}, \qquad
              d_{ti} = (1 - s_t)\, before_i + s_t\, after_i,

    with standard normal noise of the given ``correlation`` between any two agents (so
    its AUC is :math:`\Phi(d / \sqrt2)`), and reports

    .. math:: \operatorname{logit} p_{ti} =
              \delta_{ti} x_{ti} + \operatorname{logit}(base\_rate).

    An ``honest`` agent knows its skill, :math:`\delta_{ti} = d_{ti}`, and is calibrated
    throughout. By default it does not notice the drift, :math:`\delta_{ti} = before_i`,
    like a model that was fitted before the drift; losing skill makes it overconfident.
    A negative skill points the wrong way.

    >>> quality_panel("sudden", before=[2, 1], after=[0, 1], cases=100)
    Panel(100 cases, 2 agents (agent0, agent1), 2 classes, 0.0 % missing)
    """
    then, now = _skills("before", before), _skills("after", after)
    if then.size != now.size:
        raise AgentError(
            "before and after must hold one skill per agent; got "
            f"{then.size} and {now.size} skills"
        )
    if not 0 < base_rate < 1:
        raise SettingError(f"a base rate must lie in (0, 1); got {base_rate!r}")
    if not 0 <= correlation <= 1:
        raise SettingError(f"a correlation must lie in [0, 1]; got {correlation!r}")
    moved = schedule(kind, cases, at=at, period=period)[:, None]
    skills = (1.0 - moved) * then + moved * now  # (T, N)
    outcomes = generator(seed, OUTCOMES).random(cases) < base_rate
    shared = generator(seed, SHARED).normal(size=cases)
    own = normals(seed, OWN, range(then.size), (cases,))
    noise = np.sqrt(correlation) * shared[:, None] + np.sqrt(1.0 - correlation) * own
    scores = skills * (outcomes[:, None] - 0.5) + noise
    known_skills = skills if honest else then
    reports = from_log_scale(
        (known_skills * scores + logit(np.array(base_rate)))[..., None]
    )
    panel = Panel(reports[..., 0], outcomes)
    panel.check_classes_occur("a panel under drift")
    return panel


def shift_features(
    X: ArrayLike,
    kind: str,
    *,
    magnitude: float = 1.0,
    share: float = 1.0,
    seed: int = 0,
    at: float = 0.5,
    period: float = 0.25,
) -> FloatArray:
    r"""Return features (T, F), cases in the order of time, with drift added.

    .. math:: x'_{tj} = x_{tj} + s_t \cdot magnitude \cdot sd_j \cdot u_j, \qquad
              u_j \in \{-1, 1\},

    so ``magnitude`` (:math:`\sigma_{drift}` of apd:drift_detailed) is in standard
    deviations of each feature, and every feature has a fixed direction, drawn by seed.
    ``share`` of the features move, rounded up; a larger share adds to a smaller one.
    Missing values (NaN) stay missing, and a constant feature stays constant.

    >>> shift_features([[1.0, 0.0], [3.0, 0.0], [1.0, 0.0], [3.0, 0.0]], "sudden")
    array([[1., 0.],
           [3., 0.],
           [0., 0.],
           [2., 0.]])
    """
    features = _numbers("features", X)
    if features.ndim != 2:
        raise SettingError(
            "features must be an array (T, F), one row per case; got shape "
            f"{features.shape}"
        )
    if not np.isfinite(magnitude):
        raise SettingError(f"a magnitude must be a finite number; got {magnitude!r}")
    if not 0 <= share <= 1:
        raise SettingError(
            f"the share of features that move must lie in [0, 1]; got {share!r}"
        )
    T, F = features.shape
    rng = generator(seed, DIRECTIONS)
    directions = rng.choice([-1.0, 1.0], F)
    directions[rng.permutation(F)[ceil(share * F - 1e-9) :]] = 0.0
    spread = np.ma.masked_invalid(features).std(axis=0).filled(0.0)
    moved = schedule(kind, T, at=at, period=period)
    return np.asarray(features + np.outer(moved, magnitude * spread * directions))


def _skills(what: str, given: ArrayLike) -> FloatArray:
    skills = _numbers(what, given)
    if skills.ndim != 1:
        raise AgentError(
            f"{what} must hold one skill per agent; got an array of shape "
            f"{skills.shape}"
        )
    if not np.isfinite(skills).all():
        i = int(np.argmin(np.isfinite(skills)))
        raise SettingError(
            f"a skill must be a finite number; got {skills[i]} for agent {i} in {what}"
        )
    return skills


def _numbers(what: str, given: ArrayLike) -> FloatArray:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise SettingError(f"{what} must be numbers; got {given!r:.60}") from None
