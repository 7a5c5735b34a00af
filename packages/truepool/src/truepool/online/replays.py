"""Replay a panel with a learner, as it would have run in production."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truepool.core import registry
from truepool.core.arrays import FloatArray, IntArray, to_classes
from truepool.core.errors import PanelError, SettingError
from truepool.learners import every, make
from truepool.learners.interface import Learner, State
from truepool.measures.losses import Loss, as_loss
from truepool.online.delays import (
    arrivals,
    check_delays,
    count_unsettled,
    plan_delays,
    settling_order,
)
from truepool.online.experts import NAME, Experts, mixer
from truepool.online.loop import (
    AT_ONCE,
    NO_PATH,
    NONE,
    Delay,
    is_compiled,
    run,
    run_cases,
)
from truepool.online.recalibration import Recalibration, recalibrate_series
from truepool.online.trace import Trace
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.panel.sparse import DENSE_CELLS, SparseReports

ONE_LEARNER = "Name another learner, such as gradient, or leave out agents or cases."


def replay(
    learner: str | Learner,
    panel: Panel,
    *,
    loss: str | Loss | None = None,
    costs: Costs | None = None,
    threshold: float | None = None,
    delay: int | ArrayLike = 0,
    path: bool = True,
    recalibrate: bool = False,
    **settings: Any,
) -> Trace:
    """Run a learner over a panel, in time order if it has times, else as listed.

    Parameters
    ----------
    learner : str or Learner
        A name of `truepool.learners.every`, with ``settings`` for its parameters; or
        "auto", which mixes the agents with pools that are refitted as outcomes come.
        Its ``record`` is a folder with one saved pool per refit.
    panel : Panel
        Cases without any report are skipped and counted.
    loss, costs, threshold
        What the learner minimises: Brier by default.
    delay : int or array-like (T,)
        How many further cases are decided before each outcome is known.
    path : bool
        Keep the weights of every case, (T + 1, N), unless they are more than
        50,000,000 numbers.
    recalibrate : bool
        Recalibrate the pooled log-odds online; the weights do not change.

    Examples
    --------
    >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]] * 50, [1, 0] * 50)
    >>> trace = replay("gradient", panel)
    >>> trace
    Trace(gradient, 100 cases, mean brier 0.01351, 1.0 effective agents)
    >>> bool(trace.regret[-1] <= trace.bound)
    True
    """
    _check_panel(learner, panel)
    panel = panel.sort_by_time()
    T, _, C = panel.shape
    experts = as_experts(learner, panel.agents, panel.classes, settings)
    chosen = as_learner(learner, loss, costs, threshold, settings, horizon=T)
    agents = panel.agents if experts is None else experts.names
    state, N = chosen.start(agents, panel.classes), len(agents)
    late = check_delays(delay, T)
    path = path and (T + 1) * N <= DENSE_CELLS
    weight_path = np.empty((T + 1, N)) if path else np.empty((0, N))
    if experts is None and panel.sparse is not None:
        state, pooled, losses, skipped = _run_sparse(
            chosen, state, panel.sparse, panel.outcomes, late, weight_path
        )
    elif experts is None:
        values, complete = panel.values, panel.silent == 0
        plan = plan_delays(late, T, N, weight_path)
        state, pooled, losses, skipped = run(
            chosen, state, values, panel.outcomes, plan, weight_path, complete
        )
    else:
        if panel.sparse is not None:
            panel.sparse.check_cells(f"the learner {NAME!r}", ONE_LEARNER)
        plan = plan_delays(late, T, N, weight_path)
        panel, state, pooled, losses, skipped = _run_experts(
            chosen, experts, state, panel, plan, weight_path
        )
    if skipped == T:
        raise PanelError(
            f"a replay needs a case with a report; none of the {T:,} cases has one"
        )
    if recalibrate:
        start = Recalibration.start(panel.classes)
        known = arrivals(late, T)
        pooled, _ = recalibrate_series(pooled, panel.outcomes, known, start)
        reported = ~np.isnan(losses)
        losses[reported] = chosen.loss.evaluate(
            pooled[reported], panel.outcomes[reported]
        )
    has_bound = chosen.loss.convex and late is None and not recalibrate
    return Trace(
        chosen,
        panel,
        pooled[:, 0] if C == 1 else pooled,
        weight_path / weight_path.sum(axis=1, keepdims=True) if path else None,
        losses,
        state,
        skipped,
        0 if late is None else count_unsettled(late, losses),
        chosen.bound(state) if has_bound else None,
        chosen.name if experts is None else NAME,
    )


def _run_sparse(
    learner: Learner,
    state: State,
    reports: SparseReports,
    outcomes: IntArray,
    late: IntArray | None,
    path: FloatArray,
) -> tuple[State, FloatArray, FloatArray, int]:
    """Decide and settle every case, some of them written out at a time."""
    if late is not None or not is_compiled(learner):
        due, first = settling_order(
            np.zeros(len(reports), int) if late is None else late
        )
        plan = Delay(due, first, NONE, NO_PATH)

        def report(case: int) -> FloatArray:
            return np.asarray(reports.dense(slice(case, case + 1))[0])

        return run_cases(learner, state, report, outcomes, plan, path)
    parts = []
    for part, values in reports.blocks():
        rows = path[part.start : part.stop + 1] if path.size else path
        state, *ran = run(learner, state, values, outcomes[part], AT_ONCE, rows)
        parts.append(ran)
    pooled, losses, skipped = zip(*parts, strict=True)
    return state, np.concatenate(pooled), np.concatenate(losses), sum(skipped)


def _run_experts(
    learner: Learner,
    experts: Experts,
    state: State,
    panel: Panel,
    plan: Delay,
    path: FloatArray,
) -> tuple[Panel, State, FloatArray, FloatArray, int]:
    """Decide and settle every case as a stream would; the panel gets the pools too."""
    T, _, C = panel.shape
    reports = np.empty((T, len(experts.names), C))

    def report(case: int) -> FloatArray:
        reported = reports[case] = experts.report(panel.values[case])
        return reported

    def learn(case: int) -> None:
        nonlocal experts
        experts = experts.learn(panel.values[case], int(panel.outcomes[case]))

    ran = run_cases(learner, state, report, panel.outcomes, plan, path, learn=learn)
    mixed = Panel(
        to_classes(reports),
        panel.outcomes,
        experts.names,
        times=panel.times,
        allow_empty_cases=True,
    )
    return mixed, *ran


def _check_panel(learner: object, panel: object) -> None:
    """Refuse anything but a panel as the second argument."""
    if isinstance(panel, Panel):
        return
    cure = "Make one with truepool.read_panel"
    if isinstance(learner, Panel):
        cure = "Swap the two"
    raise SettingError(
        f"replay takes a learner and then a Panel; got a {type(panel).__name__} as the "
        f"panel. {cure}: replay(learner, panel)."
    )


def as_experts(
    learner: str | Learner,
    agents: tuple[str, ...],
    classes: int,
    settings: dict[str, Any],
) -> Experts | None:
    """Return the experts of `auto`, whose settings are taken; None for a learner."""
    if learner != NAME:
        return None
    record = settings.pop("record", None)
    registry.check_settings(NAME, settings, ("record", "horizon"))
    return Experts(agents, classes, None if record is None else Path(record))


def as_learner(
    learner: str | Learner,
    loss: str | Loss | None,
    costs: Costs | None,
    threshold: float | None,
    settings: Mapping[str, Any],
    horizon: int,
) -> Learner:
    """Return the given learner, or make the one of that name with these settings."""
    if isinstance(learner, Learner):
        if settings or (loss, costs, threshold) != (None, None, None):
            raise SettingError(
                f"a learner object has its own settings; leave out "
                f"{', '.join([*settings, 'loss, costs and threshold'])}, or pass its "
                "name instead"
            )
        return learner
    if not isinstance(learner, str):
        raise SettingError(
            "a learner must be a name, or an object of a class that derives from "
            f"tp.learners.Learner; got an object of {type(learner).__name__!r}"
        )
    priced = as_loss(loss or "brier", costs, threshold)
    priced.costs.check_constant("online learners need")
    if learner == NAME:
        return mixer(priced, horizon)
    if learner not in every():
        raise registry.unknown("learner", learner, (*every(), NAME))
    return make(learner, **{"loss": priced, "horizon": horizon, **settings})
