"""One case at a time: the body of a request to a model, and what its answer states.

For a coordinator, which sends requests itself and keeps nothing between them.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from truepool.core.errors import AgentFaultError, TruepoolError
from truepool_jury.llm import answer
from truepool_jury.llm.answer import Format
from truepool_jury.llm.completion import Completion
from truepool_jury.llm.prompts import Material
from truepool_jury.llm.template import FROM_TRAINING, Template, names


def case_templates() -> list[str]:
    """Return the templates that need nothing but one case.

    >>> case_templates()
    ['cot', 'direct', 'judge']
    """
    every = {name: Template.load(name) for name in names()}
    return [
        name
        for name, template in every.items()
        if not template.pairwise and not template.variables & FROM_TRAINING
    ]


def case_request(
    name: str, question: str, features: Mapping[str, Any], form: Format
) -> dict[str, Any]:
    """Return the messages about a case, everything of it quoted, and how to answer."""
    if find_spec("openai") is None:
        raise AgentFaultError("not asked: openai is not installed (truepool-jury[llm])")
    template = Template.load(name)
    try:
        messages = Material(question, tuple(features)).prompt(template, features)
    except TruepoolError as error:
        raise AgentFaultError(f"not asked: {error}") from None
    asked = answer.options(form, "stated", reasoned=template.reasoned)
    return {"messages": messages, **asked}


def case_probability(content: Any, key: str | None = None) -> float:
    """Return the probability that the JSON of a chat completion states."""
    from openai.types.chat import ChatCompletion

    try:
        found = ChatCompletion.model_validate(content)
        completion = Completion.from_response(found, key or "\0")
    except (ValueError, AttributeError, TypeError):
        raise AgentFaultError("an answer that does not follow the protocol") from None
    stated = answer.read(completion, "stated")
    if stated.fault is not None:
        raise AgentFaultError(f"the answer is {stated.fault}")
    return stated.probability
