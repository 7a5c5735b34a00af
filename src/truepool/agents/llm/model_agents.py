"""Agents that are templates of one model, and the requests that each makes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from truepool.agents.llm import answer_cache
from truepool.agents.llm.answer import Format
from truepool.agents.llm.batch import Request
from truepool.agents.llm.cases import Cases
from truepool.agents.llm.endpoint import Endpoint
from truepool.agents.llm.prompts import Material
from truepool.agents.llm.template import Template
from truepool.core.errors import AgentError, SourceError


@dataclass(frozen=True)
class ModelAgent:
    """A template and a model; of a pairwise template, one of its two orders."""

    name: str
    template: Template
    swapped: bool = False


def name_agents(
    templates: Sequence[Template], model: str, cases: Cases, outcome: str
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
        agents.append(ModelAgent(f"{template.name} ({model})", template))
        if template.pairwise:
            name = f"{template.name} swapped ({model})"
            agents.append(ModelAgent(name, template, swapped=True))
    names = [agent.name for agent in agents]
    for name in names:
        if names.count(name) > 1 or name in (*cases.copied, outcome):
            raise AgentError(
                "no two columns may have the same name, and an agent is named by its "
                f"template and model; got {name!r} twice. Rename a template file."
            )
    return agents


def requests_of(
    agents: Sequence[ModelAgent],
    material: Material,
    cases: Cases,
    endpoint: Endpoint,
    samples: int,
    form: Format,
) -> Iterator[Request]:
    """Yield the requests of each agent, case by case, sample by sample."""
    rows = cases.frame.rows(named=True)
    where = (endpoint.base_url, endpoint.model, dict(endpoint.request))
    for agent in agents:
        reasoned = agent.template.reasoned
        how = (material.probability, form, reasoned)
        for row in rows:
            messages = material.prompt(agent.template, row, swapped=agent.swapped)
            for sample in range(samples):
                name = answer_cache.key(where, how, messages, sample)
                yield Request(name, messages, reasoned)
