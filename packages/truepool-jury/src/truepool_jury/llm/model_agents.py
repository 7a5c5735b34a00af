"""Agents that are templates of one model, and the requests that each makes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from truepool.core.errors import AgentError, SourceError
from truepool_jury.llm import answer_cache
from truepool_jury.llm.answer import Format
from truepool_jury.llm.batch import Request
from truepool_jury.llm.cases import Cases
from truepool_jury.llm.endpoint import Endpoint
from truepool_jury.llm.prompts import Material
from truepool_jury.llm.template import Template


@dataclass(frozen=True)
class ModelAgent:
    """A template and a model; of a pairwise template, one of its two orders."""

    name: str
    endpoint: Endpoint
    template: Template
    swapped: bool = False


def name_agents(
    templates: Sequence[Template],
    endpoints: Sequence[Endpoint],
    cases: Cases,
) -> list[ModelAgent]:
    """Return the agents, after a look at the names of columns on both sides."""
    agents = []
    for template in templates:
        lacking = sorted(template.columns - set(cases.frame.columns))
        if lacking:
            raise SourceError(
                f"the template {template.name!r} needs a column {lacking[0]!r}; the "
                f"table has {', '.join(cases.frame.columns)}. "
                "Rename one, or edit a copy of the template (truepool agent template "
                f"{template.name})."
            )
    for endpoint in endpoints:
        for template in templates:
            name = f"{template.name} ({endpoint.model})"
            agents.append(ModelAgent(name, endpoint, template))
            if template.pairwise:
                name = f"{template.name} swapped ({endpoint.model})"
                agents.append(ModelAgent(name, endpoint, template, swapped=True))
    names = [agent.name for agent in agents]
    for name in names:
        if names.count(name) > 1 or name in (*cases.copied, cases.outcome):
            raise AgentError(
                "no two columns may have the same name, and an agent is named by its "
                f"template and model; got {name!r} twice. Name each model once, or "
                "rename a template file."
            )
    return agents


def make_requests(
    agent: ModelAgent, material: Material, cases: Cases, samples: int, form: Format
) -> Iterator[Request]:
    """Yield the requests of an agent, case by case, sample by sample."""
    place, template = agent.endpoint, agent.template
    where = (place.base_url, place.model, dict(place.request))
    how = (material.probability, form, template.reasoned)
    for row in cases.frame.iter_rows(named=True):
        messages = material.prompt(template, row, swapped=agent.swapped)
        for sample in range(samples):
            name = answer_cache.key(where, how, messages, sample)
            yield Request(name, messages, template.reasoned)
