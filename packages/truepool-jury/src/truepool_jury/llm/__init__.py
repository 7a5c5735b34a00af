"""Language models as agents: one prompt template is one agent.

>>> from truepool_jury import llm
>>> llm.template_names()
['cot', 'direct', 'fewshot', 'focused', 'judge', 'pairwise']
"""

from truepool_jury.llm.budget import Budget, Spending
from truepool_jury.llm.endpoint import Endpoint
from truepool_jury.llm.one_case import case_probability, case_request, case_templates
from truepool_jury.llm.reports import ModelReports, ask
from truepool_jury.llm.retry import Retry
from truepool_jury.llm.template import PAPER, Template
from truepool_jury.llm.template import names as template_names

__all__ = [
    "PAPER",
    "Budget",
    "Endpoint",
    "ModelReports",
    "Retry",
    "Spending",
    "Template",
    "ask",
    "case_probability",
    "case_request",
    "case_templates",
    "template_names",
]
