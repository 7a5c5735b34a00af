"""The tables behind an audit, the same wherever they are shown."""

from truepool.audits.values import Audit, Drift
from truepool.render.numbers import chance, estimated, number, percent
from truepool.render.tables.grid import Grid


def grids(audit: Audit) -> tuple[Grid, ...]:
    """Lay out calibration, standings, and what else was told, as tables."""
    tables = [calibration(audit), standings(audit)]
    if audit.significance:
        tables.append(significance(audit))
    if audit.robustness:
        tables.append(robustness(audit))
    return tuple(tables)


def calibration(audit: Audit) -> Grid:
    """Whether agents and pool mean what they say."""
    rows = tuple(
        (
            one.who,
            estimated(one.slope),
            estimated(one.bias, sign=True),
            number(one.ece, 0.1),
            number(one.smooth_ece, 0.1),
            chance(one.p_value),
            f"{one.cases:,}",
        )
        for one in audit.calibration
    )
    headers = ("who", "slope", "bias", "ECE", "smooth ECE", "p", "cases")
    notes = (
        "Calibrated: slope 1, bias 0. A slope below 1 is over-confident, above 1 "
        "under-confident; bias: mean report less how often it happened; ECE: mean "
        "distance between said and happened, less what luck alone gives. p before "
        "adjusting.",
    )
    return Grid(
        "Calibration of every agent and of the pool", headers, rows, notes, essential=2
    )


def standings(audit: Audit) -> Grid:
    """What each agent is worth; who spoke how often, where somebody was silent."""
    heard = audit.silent > 0
    rows = tuple(
        (
            one.agent,
            number(one.cost),
            estimated(one.weight),
            estimated(one.leave_one_out, sign=True),
            estimated(one.shapley, sign=True),
            "-" if one.gain is None else number(one.gain),
            number(one.brier),
            *([percent(one.spoke)] if heard else []),
        )
        for one in audit.standings
    )
    headers = [
        "agent", "own cost", "weight earned", "without it", "Shapley", "gain by lying",
        "Brier",
    ]  # fmt: skip
    headers += ["spoke"] if heard else []
    notes = (
        "Own cost: what its own decisions would cost a case. Weight earned: by "
        "leave-one-out credit (vcg). Without it: rise of the pool's cost a case if it "
        "falls silent; below 0 the pool is better off. Shapley: its share of what the "
        "pool saves. Gain by lying: the most it could win by not telling what it "
        "believes.",
    )
    return Grid("What each agent is worth", tuple(headers), rows, notes, essential=2)


def significance(audit: Audit) -> Grid:
    """Whether other pools are cheaper by more than luck."""
    streamed = any(lead.diebold_mariano is not None for lead in audit.significance)
    rows = tuple(
        (
            lead.pool,
            estimated(lead.saved, sign=True),
            chance(lead.holm),
            chance(lead.bonferroni),
            chance(lead.paired_t),
            chance(lead.signed_rank),
            *([chance(lead.diebold_mariano)] if streamed else []),
        )
        for lead in audit.significance
    )
    headers = ["pool", "saves a case", "Holm", "Bonferroni", "paired t", "Wilcoxon"]
    headers += ["Diebold-Mariano"] if streamed else []
    notes = (
        f"Against {audit.pool}, out of fold, with BCa intervals. p-values: paired "
        "t adjusted for the number of pools (Holm, Bonferroni) and as it is; others "
        "as they are. Wilcoxon asks of the typical case, not of the mean.",
    )
    title = "Is another pool cheaper by more than luck?"
    return Grid(title, tuple(headers), rows, notes, essential=2)


def robustness(audit: Audit) -> Grid:
    """What a failure would cost."""
    rows = tuple(
        (f"{study.who} {study.what}", estimated(study.rise), estimated(study.cost))
        for study in audit.robustness
    )
    headers = ("if", "rise", "cost a case")
    return Grid("What a failure would cost", headers, rows, essential=2)


def alarms(drift: Drift) -> Grid:
    """Who got worse, and when."""
    rows = tuple(
        (who, f"{case:,}", number(before), number(after, before))
        for who, case, before, after in drift.alarms
    )
    return Grid("Alarms", ("who", "case", "loss before", "loss after"), rows)
