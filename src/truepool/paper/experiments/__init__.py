"""One file a question; the folder is the registry, and labels find their question."""

from typing import cast

from truepool import registry
from truepool.errors import UnknownNameError
from truepool.paper.expected import printed
from truepool.paper.interface import Experiment

PENDING = {
    "tab:jetson_rtt": "needs the networked service, which is to come",
    "tab:jetson_inference": "needs the networked service, which is to come",
    "tab:edge_summary": "needs the networked service, which is to come",
    "fig:llm_ensemble": "needs agents that are language models, which are to come",
}
"""What cannot be run yet, and why; never filled in from the paper."""


def every() -> dict[str, type[Experiment]]:
    """All experiments by name."""
    return cast(dict[str, type[Experiment]], registry.every(__name__))


def of(label: str) -> type[Experiment]:
    """Return the experiment that answers a table or figure."""
    for experiment in every().values():
        if label in experiment.readings:
            return experiment
    raise UnknownNameError("table or figure", label, printed())
