"""Language models as agents: one prompt template is one agent.

>>> from truepool.agents import llm
>>> llm.template_names()
['cot', 'direct', 'fewshot', 'focused', 'judge', 'pairwise']
"""

from truepool.agents.llm.budget import Budget, Spending
from truepool.agents.llm.endpoint import Endpoint
from truepool.agents.llm.reports import ModelReports, ask
from truepool.agents.llm.retry import Retry
from truepool.agents.llm.template import PAPER, Template
from truepool.agents.llm.template import names as template_names

__all__ = [
    "PAPER",
    "Budget",
    "Endpoint",
    "ModelReports",
    "Retry",
    "Spending",
    "Template",
    "ask",
    "template_names",
]
