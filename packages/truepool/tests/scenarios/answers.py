"""What an audit must answer in each scenario, and whether it did."""

import numpy as np

import truepool as tp
from scenarios.bank import COSTS, VENDORS, flagged, make

DAY = np.timedelta64(1, "D")


def audit(bank, **settings):
    """Audit a draw as its users would."""
    if bank.name == "segment":
        settings = {"by": "merchant"} | settings
    return tp.audit(bank.panel, costs=COSTS, **settings)


GRAVE = ("error", "warning")


def blamed(found):
    """Agents whose diagnosis is an error or a warning."""
    return {one.who for one in found.agents if one.severity in GRAVE}


def first(found, *codes):
    """The first diagnosis of an agent or the outcome that has one of these codes."""
    every = (found.outcome, *found.agents)
    grave = [one for one in every if one.severity in GRAVE]
    return next((one.finding for one in grave if one.code in codes), None)


def near(finding, since, days):
    """Whether a finding is dated within so many days of the truth."""
    return (
        bool(finding.date)
        and abs(np.datetime64(finding.date.replace(" ", "T")) - since) <= days * DAY
    )


def judge(bank, found):
    """What is right about an audit of a draw, by what was asked of it."""
    return RIGHT[bank.name](bank, found)


def _clean(bank, found):
    return {
        "diagnosis": not blamed(found) and found.outcome.severity is None,
        "plan": [step.action for step in found.plan.steps] == ["keep"],
    }


def _large(bank, found):
    return {
        "diagnosis": not blamed(found),
        "plan": found.plan.pool == "auto",
    } | _covers(bank, found)


def _covers(bank, found):
    """Whether the limits of the pool in use hold what is true of all payments."""
    flag, fraud = flagged(bank.reports, bank.amount), bank.fraud == 1
    now, costs = found.operations[0], COSTS.resolve({"amount": bank.amount})
    paid = costs.cost_per_case(bank.fraud, flag.astype(int), 2).mean()
    return {
        "cost": now.cost.low <= 1000 * paid <= now.cost.high,
        "recall": now.recall.low <= flag[fraud].mean() <= now.recall.high,
        "alarms": now.false_alarms.low <= flag[~fraud].mean() <= now.false_alarms.high,
    }


def _leak(bank, found):
    return {
        "diagnosis": first(found, "leaked-outcome") is not None
        and blamed(found) == set(bank.who),
        "plan": "charlie" not in found.judged and found.plan.agent != "charlie",
    }


def _better(bank, found):
    changed = [f for f in found.findings if f.who[:1] == ("alpha",)]
    return {
        "diagnosis": not blamed(found),
        "date": any(near(f, np.datetime64("2026-04-06"), 3) for f in changed if f.date),
    }


def _overconfident(bank, found):
    one = first(found, "rescaled-feed", "shifted-feed", "over-confident", "biased")
    return {
        "diagnosis": one is not None and blamed(found) == set(bank.who),
        "date": one is not None and near(one, bank.since, 3),
    }


def _drift(bank, found):
    worse = [
        one for one in found.agents
        if one.code in ("drifted", "weaker-link") and one.severity in GRAVE
    ]  # fmt: skip
    return {
        "diagnosis": set() < blamed(found) <= set(bank.who),
        "date": bool(worse) and all(near(one, bank.since, 14) for one in worse),
        "all three": blamed(found) == set(bank.who),
    }


def _copies(bank, found):
    one = first(found, "copy")
    return {"diagnosis": one is not None and one.who == bank.who}


def _segment(bank, found):
    one = first(found, "fails-in-segment")
    return {
        "diagnosis": blamed(found) == {"alpha"}
        and one is not None
        and one.segments == ("gaming",),
    }


def _scale_down(bank, found):
    one = first(found, "rescaled-feed")
    return {
        "diagnosis": one is not None and one.who == bank.who,
        "date": one is not None and near(one, bank.since, 1),
        "factor": one is not None
        and one.unit == "factor"
        and np.isclose(one.number.value, bank.extra["factor"]),
        "plan": any(
            step.action == "rescale"
            and np.isclose(step.arguments["factor"], 1 / bank.extra["factor"])
            for step in found.plan.steps
        ),
    }


def _late(bank, found):
    return {
        "diagnosis": first(found, "late-outcomes") is not None and not blamed(found),
        "no refit": not any(f.code == "outcome-rate" for f in found.findings)
        and found.cases < len(bank.label),
    }


def _selective(bank, found):
    return {"diagnosis": first(found, "selective-labels") is not None}


def _reviewed(bank, found):
    return {"diagnosis": not blamed(found)} | _covers(bank, found)


RIGHT = {
    "clean": _clean,
    "large": _large,
    "leak": _leak,
    "better": _better,
    "overconfident": _overconfident,
    "drift": _drift,
    "copies": _copies,
    "bent_copies": _copies,
    "segment": _segment,
    "scale_down": _scale_down,
    "late": _late,
    "selective": _selective,
    "reviewed": _reviewed,
}
"""Each scenario that an audit can read; that of `scale_up` is refused while reading."""


def worth_in_truth(bank, pool, other):
    """Rise in cost per 1,000 payments without each vendor, the pool fitted again.

    It learns from the cases of one draw that have an outcome, and decides all payments
    of another.
    """
    amount = {"amount": other.amount}
    costs = COSTS.resolve(amount)

    def cost(vendors):
        places = [VENDORS.index(name) for name in vendors]
        panel = bank.panel.select_agents(vendors)
        fitted = tp.pools.make(pool, costs=COSTS).fit_panel(panel)
        decided = fitted.pool(other.reports[:, places, None], amount).decisions
        return costs.cost_per_case(other.fraud, decided, 2).mean()

    whole = cost(VENDORS)
    without = [[v for v in VENDORS if v != name] for name in VENDORS]
    return np.array([1000 * (cost(vendors) - whole) for vendors in without])


def worth_is_right(bank, found, other):
    """Whether each vendor's interval in an audit holds its worth in truth.

    The truth is of another draw and has an error of its own, a third of the width.
    """
    truth = worth_in_truth(bank, found.plan.pool, other)
    return {
        one.agent: one.worth.low - reach <= true <= one.worth.high + reach
        for one, true in zip(found.summaries, truth, strict=True)
        for reach in [(one.worth.high - one.worth.low) / 3]
    }


def judge_cards(found):
    """What is right about the audit of the real card payments."""
    own = {f.code for f in found.findings if f.who[:1] == ("iso",)}
    runs = {"constant-feed", "constant-run"}
    worth = {one.agent: one.worth for one in found.summaries}
    credit = {one.agent: one.leave_one_out for one in found.summaries}
    return {
        "iso is no probability": "not-a-probability" in own and "drifted" not in own,
        "no feed is stuck": not [f for f in found.findings if f.code in runs],
        "plan": found.plan.pool == "auto",
        "naive Bayes is worth little": worth["nb"].value < credit["nb"].value / 5,
    }


def draw(name, seed, **size):
    """One draw of a scenario: what was right about its audit."""
    bank = make(name, seed, **size)
    return judge(bank, audit(bank))
