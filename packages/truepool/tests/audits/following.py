"""Do what a plan says, and audit again."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truepool.audits import audit
from truepool.audits.cross_validation import recalibrate
from truepool.panel.panel import Panel


@dataclass
class Case:
    """A panel, how its agents report once they are repaired, and how it is audited."""

    panel: Panel
    sound: Panel
    settings: dict[str, Any] = field(default_factory=dict)

    def audit(self, **more):
        return audit(self.panel, **self.settings | more)

    def follow(self, plan):
        """The case once every step of the plan is taken."""
        for step in plan.steps:
            self = STEPS[step.action](self, step)
        return self

    def put(self, agents, reports):
        """The case with other reports (T, n, C) of some agents."""
        values = self.panel.values.copy()
        values[:, self.places(agents)] = reports
        return Case(self.panel.with_reports(values), self.sound, self.settings)

    def places(self, agents):
        return [self.panel.agents.index(agent) for agent in agents]

    def reports(self, agents):
        return self.panel.values[:, self.places(agents)]

    def without(self, agents):
        kept = [name for name in self.panel.agents if name not in agents]
        both = (one.select_agents(kept) for one in (self.panel, self.sound))
        return Case(*both, self.settings)

    def using(self, **more):
        return Case(self.panel, self.sound, self.settings | more)


def repaired(case, step):
    """Whoever runs the agents puts them right."""
    places = [case.sound.agents.index(agent) for agent in step.agents]
    return case.put(step.agents, case.sound.values[:, places])


def reversed_(case, step):
    return case.put(step.agents, 1 - case.reports(step.agents))


def rescaled(case, step):
    reports = case.reports(step.agents)
    since = case.panel.order[step.arguments["from"].place :]
    reports[since] = np.clip(reports[since] * step.arguments["factor"], 0, 1)
    return case.put(step.agents, reports)


def swapped(case, step):
    reports = case.reports(step.agents)
    names = [str(name) for name in case.panel.labels.names]
    for pair in step.arguments["classes"]:
        a, b = map(names.index, pair)
        reports[..., [a, b]] = reports[..., [b, a]]
    return case.put(step.agents, reports)


def emptied_there(case, step):
    reports = case.reports(step.agents)
    column = case.panel.columns[step.arguments["by"]]
    reports[np.isin(column, step.arguments["failing"])] = np.nan
    return case.put(step.agents, reports)


def recalibrated(case, step):
    own = [
        recalibrate(case.panel.values[:, i], case.panel, 0)
        for i in case.places(step.agents)
    ]
    return case.put(step.agents, np.stack(own, axis=1))


def used(case, step):
    given = step.arguments
    case = case.without(given.get("without", ()))
    pool = {"pool": given["pool"]} if "pool" in given else {}
    line = {"threshold": given["threshold"]} if "threshold" in given else {}
    return case.using(**pool, **line)


def relabelled(case, step):
    def turned(panel):
        return Panel(panel.reports, 1 - panel.outcomes, panel.agents, times=panel.times)

    return Case(turned(case.panel), turned(case.sound), case.settings)


STEPS = {
    "leave-out": lambda case, step: case.without(step.agents),
    "ask-leak": lambda case, step: case.without(step.agents),
    "leave-out-there": emptied_there,
    "repair": repaired,
    "restore": repaired,
    "ask-unit": repaired,
    "reverse": reversed_,
    "rescale": rescaled,
    "swap": swapped,
    "recalibrate": recalibrated,
    "name-positive": relabelled,
    "use": used,
    "refit": used,
    "decide-at": used,
    "keep": lambda case, step: case,
}
