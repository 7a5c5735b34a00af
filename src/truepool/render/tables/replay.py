"""Replays of learners, and the weights they end with."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from truepool.online import Trace
from truepool.render.numbers import number, percent, signed
from truepool.render.tables.grid import Grid
from truepool.render.tables.weights import SHOWN


def to_dict(trace: Trace) -> dict[str, Any]:
    """Return a replay as plain numbers and strings, ready for JSON."""
    regret = None if trace.regret is None else float(trace.regret[-1])
    best = trace.best_weights
    agents = trace.panel.agents
    return {
        "learner": trace.name,
        "loss": trace.learner.loss.name,
        "cases": len(trace.losses),
        "outcome_labels": trace.panel.labels.to_dict(trace.panel.counts),
        "mean_loss": float(np.nanmean(trace.losses)),
        "regret": regret,
        "regret_to_agent": float(trace.regret_to_agent[-1]),
        "best_agent": trace.best_agent,
        "bound": trace.bound,
        "effective_agents": trace.effective_agents,
        "skipped": trace.skipped,
        "unsettled": trace.unsettled,
        "weights": dict(zip(agents, trace.state.weights.tolist(), strict=True)),
        "best_weights": None
        if best is None
        else dict(zip(agents, best.tolist(), strict=True)),
    }


def grid(traces: Sequence[Trace]) -> Grid:
    """Lay learners out side by side, lowest loss first."""
    rows = [to_dict(trace) for trace in traces]
    rows.sort(key=lambda row: row["mean_loss"])
    first = rows[0]
    lines = tuple(
        (
            row["learner"],
            number(row["mean_loss"]),
            "-" if row["regret"] is None else signed(row["regret"], 10.0),
            signed(row["regret_to_agent"], 10.0),
            "-" if row["bound"] is None else number(row["bound"]),
            f"{row['effective_agents']:.1f}",
        )
        for row in rows
    )
    headers = (
        "learner",
        f"{first['loss']} loss per case",
        "regret to best weights",
        f"to best agent ({first['best_agent']})",
        "bound",
        "effective agents",
    )
    title = (
        f"{first['cases']:,} cases replayed in order, "
        f"{len(traces[0].panel.agents)} agents"
    )
    notes = [
        "Regret: total loss minus that of the best fixed weights, or of the best "
        "single agent, chosen with hindsight; below 0 is better. Bound: the largest "
        "regret that theory allows."
    ]
    if first["skipped"] or first["unsettled"]:
        notes.append(
            f"{first['skipped']:,} cases skipped because no agent reported; "
            f"{first['unsettled']:,} outcomes still unknown at the end."
        )
    return Grid(title, headers, lines, tuple(notes), essential=3)


def weights(trace: Trace) -> Grid:
    """Lay out the final weights of a learner beside the best in hindsight."""
    row = to_dict(trace)
    best = row["best_weights"]
    agents = sorted(row["weights"], key=lambda agent: -row["weights"][agent])
    shown, others = agents[:SHOWN], agents[SHOWN:]
    notes: tuple[str, ...] = ()
    if others:
        rest = percent(sum(row["weights"][a] for a in others))
        notes = (f"{len(others):,} other agents share {rest}; --json lists all.",)
    if best is None:
        plain = tuple((a, percent(row["weights"][a])) for a in shown)
        return Grid("Final weights", ("agent", "weight"), plain, notes)
    lines = tuple((a, percent(row["weights"][a]), percent(best[a])) for a in shown)
    headers = ("agent", "weight", "best in hindsight")
    return Grid("Final weights", headers, lines, notes)
