"""What is measured in one draw of one panel: every competitor, on the same cases."""

import math
from collections.abc import Mapping
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from race.libraries import Answer, Peer
from race.panels import PANELS, Draw
from truepool.core.arrays import FloatArray, from_classes, to_classes
from truepool.core.engine import Cell, Row
from truepool.measures.inference import independent_units
from truepool.measures.losses import Loss
from truepool.measures.scores import smooth_ece
from truepool.panel.costs import Costs
from truepool.pools.interface import Pool, configure

OURS = "auto"
OLD = "simplest"
"""The rule that `auto` was before: one simple pool, chosen under the costs."""
RATIOS = (1, 5, 10)
"""What a missed case costs, in false alarms."""
CLIP = 1e-6
"""Probabilities are clipped this far from 0 and 1 before their logarithm."""
ONE_CASE = 20
"""How often one case is pooled; the fastest time counts."""
RUNS = 3
"""How often everything is fitted where its time is measured; the fastest run counts."""
DIGITS = 5
"""Significant digits of a number in the file of rows."""


Peers: TypeAlias = Mapping[str, Peer | str]
"""By the name of the library; or why there is none."""


def measure(cell: Cell, peers: Peers) -> list[Row]:
    """Rows of one panel and draw: the losses of all competitors, or their seconds."""
    draw = PANELS[cell["panel"]].draw(cell.repeat)
    if cell.experiment == "speed":
        return _time(draw, peers)
    answer = pool_answer(configure(OURS), draw)
    reference = case_losses(answer.pooled, draw)
    rows = [row(OURS, answer, draw, reference), _old_row(draw, reference)]
    answers = _ask(draw, peers)
    return rows + [row(name, answers[name], draw, reference) for name in answers]


def _time(draw: Draw, peers: Peers) -> list[Row]:
    """Seconds to fit, to pool all new cases and to pool one: the best of some runs."""
    best: dict[str, FloatArray] = {}
    for _ in range(RUNS):
        answers = {name: pool_answer(configure(name), draw) for name in (OURS, OLD)}
        for name, answer in (answers | _ask(draw, peers, anew=True)).items():
            seconds = np.array([answer.fit, answer.predict, answer.one])
            best[name] = np.fmin(best.get(name, seconds), seconds)
    return [
        {"name": name, "seconds": _short(seconds)}
        for name, seconds in best.items()
        if np.isfinite(seconds).all()
    ]


def _ask(draw: Draw, peers: Peers, *, anew: bool = False) -> dict[str, Answer]:
    """Answers of all methods of all libraries; a library that is missing has one too."""
    answers: dict[str, Answer] = {}
    for name, peer in peers.items():
        if isinstance(peer, str):
            answers[name] = Answer(None, error=peer)
        else:
            answers |= peer.ask(draw.learning, draw.reports, anew=anew)
    return answers


def pool_answer(pool: Pool, draw: Draw) -> Answer:
    """Fit a pool of truepool and let it answer, as a peer does."""
    new = draw.reports[:, :, None] if draw.reports.ndim == 2 else draw.reports
    start = perf_counter()
    pool.fit_panel(draw.learning)
    fitted = perf_counter()
    pooled = to_classes(pool.combine(new))
    done = perf_counter()
    single = []
    for _ in range(ONE_CASE):
        begun = perf_counter()
        pool.predict_proba(draw.reports[:1])
        single.append(perf_counter() - begun)
    return Answer(pooled, fitted - start, done - fitted, min(single))


def row(name: str, answer: Answer, draw: Draw, reference: FloatArray) -> Row:
    """One competitor: means, and standard errors of the paired difference to `auto`."""
    if answer.pooled is None:
        return {"name": name, "error": answer.error}
    losses = case_losses(answer.pooled, draw)
    return _row(name, answer, draw, losses, reference)


def _old_row(draw: Draw, reference: FloatArray) -> Row:
    """The old rule is told the costs, so that it is fitted once for each of them."""
    answers = [
        pool_answer(configure(OLD, costs=Costs(fn=ratio)), draw) for ratio in RATIOS
    ]
    losses = case_losses(answers[0].pooled, draw)
    for i, answer in enumerate(answers):
        losses[:, i] = case_losses(answer.pooled, draw)[:, i]
    return _row(OLD, answers[0], draw, losses, reference)


def _row(
    name: str, answer: Answer, draw: Draw, losses: FloatArray, reference: FloatArray
) -> Row:
    units = independent_units(losses - reference, groups=draw.groups)
    errors = units.std(axis=0, ddof=1) / math.sqrt(len(units))
    p = from_classes(answer.pooled)
    return {
        "name": name,
        "means": _short(losses.mean(axis=0)),
        "errors": _short(errors),
        "ece": _short(smooth_ece(p[:, 0] if p.shape[1] == 1 else p, draw.outcomes)),
        "cases": len(units),
    }


def case_losses(pooled: FloatArray | None, draw: Draw) -> FloatArray:
    """Losses (T, 5) of each case: the cost at each ratio, log loss, Brier loss."""
    p = from_classes(np.asarray(pooled))
    clipped = from_classes(_clip(np.asarray(pooled)))
    costs = [Loss("cost", Costs(fn=r)).evaluate(p, draw.outcomes) for r in RATIOS]
    log = Loss("log").evaluate(clipped, draw.outcomes)
    return np.stack([*costs, log, Loss("brier").evaluate(p, draw.outcomes)], axis=1)


def _clip(pooled: FloatArray) -> FloatArray:
    clipped = np.clip(pooled, CLIP, 1 - CLIP)
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))


def _short(values: Any) -> Any:
    if np.ndim(values):
        return [_short(value) for value in values]
    return float(f"{float(values):.{DIGITS}g}")
