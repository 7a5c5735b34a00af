"""Replays of learners, and the weights they end with."""

from collections.abc import Sequence
from typing import Any

from truepool.online.trace import ReplaySummary
from truepool.pages.grid import Grid
from truepool.pages.numbers import number, percent, signed
from truepool.pages.weights import SHOWN


def to_dict(replay: ReplaySummary) -> dict[str, Any]:
    """Return a replay as plain numbers and strings, ready for JSON."""
    best, agents = replay.best_weights, replay.agents
    return {
        "learner": replay.name,
        "loss": replay.learner.loss.name,
        "cases": replay.cases,
        "outcome_labels": replay.labels.to_dict(replay.counts),
        "mean_loss": replay.mean_loss,
        "regret": replay.regret,
        "regret_to_agent": replay.regret_to_agent,
        "best_agent": replay.best_agent,
        "bound": replay.bound,
        "effective_agents": replay.effective_agents,
        "skipped": replay.skipped,
        "unsettled": replay.unsettled,
        "weights": dict(zip(agents, replay.state.weights.tolist(), strict=True)),
        "best_weights": None
        if best is None
        else dict(zip(agents, best.tolist(), strict=True)),
    }


def grid(replays: Sequence[ReplaySummary]) -> Grid:
    """Lay learners out side by side, lowest loss first."""
    rows = [to_dict(replay) for replay in replays]
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
        "regret against best weights",
        f"against best agent ({first['best_agent']})",
        "bound",
        "effective agents",
    )
    title = (
        f"{first['cases']:,} cases replayed in order, {len(replays[0].agents)} agents"
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


def weights(replay: ReplaySummary) -> Grid:
    """Lay out the final weights of a learner beside the best in hindsight."""
    row = to_dict(replay)
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
