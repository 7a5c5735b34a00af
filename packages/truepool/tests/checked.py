"""Checks of the audit by themselves, and what a whole audit says in codes."""

from faults import COSTS

from truepool.audits import checks
from truepool.audits.evidence import Evidence
from truepool.audits.findings import select_findings
from truepool.measures.capacity import Capacity
from truepool.pools import configure


def evidence_of(
    panel, *, pool="mean", costs=COSTS, threshold=None, by=None, capacity=None, seed=0
):
    """The evidence of an audit, with few resamples."""
    panel, costs = costs.attach(panel)
    limit = None if capacity is None else Capacity.parse(capacity)
    rule = configure(pool, costs=costs, threshold=threshold, seed=seed)
    return Evidence(panel, rule, costs, threshold, 0.95, 50, seed, by, limit)


def candidates(check, panel, **settings):
    """The tests of a check, by its name, whether they find anything or not."""
    one, evidence = checks.every()[check], evidence_of(panel, **settings)
    return list(one.run(evidence.unsplit if one.unsplit else evidence))


def found_by(check, panel, **settings):
    """The findings of a check, adjusted for its own tests alone."""
    return [f for _, f in select_findings(candidates(check, panel, **settings))]


def of(code, findings):
    """The findings of a code."""
    return [finding for finding in findings if finding.code == code]


def ill(result):
    """Agents whose diagnosis is worse than a note, with its code and severity."""
    return {
        one.who: (one.code, one.severity)
        for one in result.agents
        if one.severity is not None
    }


def treated(result):
    """What the plan does about agents: actions, and on whom."""
    return {(step.action, step.agents) for step in result.plan.steps if step.agents}
