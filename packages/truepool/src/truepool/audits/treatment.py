"""What the steps of a plan do to the reports of agents."""

from collections.abc import Sequence

import numpy as np

from truepool.audits.checks.feeds import restore
from truepool.audits.checks.reversal import turn_round
from truepool.audits.checks.swapped_classes import swap
from truepool.audits.comparison import try_pools
from truepool.audits.cross_validation import recalibrate
from truepool.audits.evidence import Evidence
from truepool.audits.feed_runs import coded_feeds, with_fewer_reports
from truepool.audits.values import Finding
from truepool.core.arrays import FloatArray
from truepool.measures.groups import divide
from truepool.panel.panel import Panel


def can_treat(evidence: Evidence) -> bool:
    """Whether other reports can be tried: of cases in one row each, without a limit.

    Only where pools can be compared, on the cases of which all steps are measured.
    """
    return (
        evidence.compute(try_pools) is not None
        and evidence.capacity is None
        and evidence.panel.questions is None
        and evidence.panel.sparse is None
    )


def treat(evidence: Evidence, action: str, findings: Sequence[Finding]) -> Panel:
    """Return the panel in which an action was taken on the agents of these findings."""
    values = evidence.panel.values.copy()
    for finding in findings:
        i = evidence.panel.agents.index(finding.who[0])
        values[:, i] = REPORTS[action](evidence, i, finding)
    return with_fewer_reports(evidence.panel, values)


def _without(evidence: Evidence, agent: int, finding: Finding) -> FloatArray:
    """Reports without those since the fault began, or without all."""
    reports = evidence.panel.values[:, agent].copy()
    reports[evidence.panel.order[finding.since or 0 :]] = np.nan
    return reports


def _without_there(evidence: Evidence, agent: int, finding: Finding) -> FloatArray:
    """Reports without those in the segments in which the agent fails."""
    reports = evidence.panel.values[:, agent].copy()
    for name, cases in divide(evidence.panel.columns[str(finding.facts["by"])]):
        if name in finding.facts["failing"]:
            reports[cases] = np.nan
    return reports


def _reversed(evidence: Evidence, agent: int, finding: Finding) -> FloatArray:
    return turn_round(evidence.panel.values[:, agent])


def _swapped(evidence: Evidence, agent: int, finding: Finding) -> FloatArray:
    names = [str(name) for name in evidence.panel.labels.names]
    pairs = [(names.index(a), names.index(b)) for a, b in finding.facts["classes"]]
    return swap(evidence.panel.values[:, agent], pairs)


def _rescaled(evidence: Evidence, agent: int, finding: Finding) -> FloatArray:
    line, place = evidence.compute(coded_feeds)[0], finding.facts["from"].place
    return restore(evidence.panel, line, place, agent)


def _recalibrated(evidence: Evidence, agent: int, finding: Finding) -> FloatArray:
    panel = evidence.panel
    pairs = None if panel.times is None else evidence.validation.all_pairs
    return recalibrate(panel.values[:, agent], panel, evidence.seed, pairs)


REPORTS = {
    "leave-out": _without,
    "leave-out-there": _without_there,
    "reverse": _reversed,
    "swap": _swapped,
    "rescale": _rescaled,
    "recalibrate": _recalibrated,
}
"""Reports (T, C) of an agent after an action, by its code."""
