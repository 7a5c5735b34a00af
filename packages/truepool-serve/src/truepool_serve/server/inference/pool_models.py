"""Deployed pools as models: reports in, probability and decision out."""

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from truepool.core.errors import RequestError
from truepool_serve.messages import Costs
from truepool_serve.server.answers import after
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.inference.models import Ends, Inference, ModelCard, Models
from truepool_serve.server.inference.tensors import Tensor

REPORTS, CASE = "reports", "case"
"""Inputs: the reports of all agents, and names of cases that are to be recorded."""
MOST_CASES = 10_000
"""Cases in one request."""


@final
class PoolModels(Models):
    """The pools of a coordinator.

    Without names of cases nothing is recorded, and nothing can be learned.
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self.coordinator = coordinator

    def identify(self, authorization: str | None) -> Any:
        """Return the caller by its token."""
        return self.coordinator.access.identify(authorization)

    async def check_ready(self) -> None:
        """Wait until the ledger can be written."""
        await self.coordinator.check_ready()

    async def card(self, caller: Any, model: str) -> ModelCard:
        """Return the reports that a pool takes, in the order of its agents."""
        known = await after(self.coordinator.describe(caller, model))
        labels, agents = known.labels or [], known.agents
        text = any(isinstance(label, str) for label in labels)
        decision = ("decision", "BYTES" if text else "INT64", (-1,))
        if len(labels) == 2:
            inputs: Ends = [(REPORTS, "FP64", (-1, len(agents)))]
            return ModelCard(model, inputs, [("probability", "FP64", (-1,)), decision])
        inputs = [(REPORTS, "FP64", (-1, len(agents), len(labels)))]
        pooled = ("probabilities", "FP64", (-1, len(labels)))
        return ModelCard(model, inputs, [pooled, decision])

    async def infer(self, caller: Any, asked: Inference) -> list[Tensor]:
        """Pool each case, and decide it."""
        to, pool = self.coordinator, asked.model
        known = await after(to.describe(caller, pool))
        agents, labels = known.agents, known.labels or []
        rest = dict(asked.inputs)
        named = rest.pop(CASE, None)
        reports = _reports(rest, agents, len(labels))
        names = None if named is None else _names(named, len(reports))
        columns = _columns(rest, known.costs, len(reports))
        given = list(zip(reports, columns, strict=True))
        if names is None:
            answers: Any = await after(to.score(caller, pool, given))
        else:
            cases = [(name, *case) for name, case in zip(names, given, strict=True)]
            answers = await after(to.record(caller, pool, cases))
        decisions = np.array(
            [answer.decision for answer in answers],
            dtype=object if any(isinstance(n, str) for n in labels) else np.int64,
        )
        pooled = np.array(
            [list(answer.probabilities.values()) for answer in answers]
        ).reshape(len(answers), len(labels))
        first = ("probabilities", pooled)
        if len(labels) == 2:
            first = ("probability", pooled[:, 1])
        return [Tensor.from_array(*first), Tensor.from_array("decision", decisions)]


def _reports(
    rest: dict[str, Tensor], agents: list[str], classes: int
) -> list[dict[str, Any]]:
    """Reports of each case by agent, from one tensor or one per agent."""
    whole = rest.pop(REPORTS, None)
    if whole is not None:
        values = whole.measures()
        wanted = [len(agents)] if classes == 2 else [len(agents), classes]
        if values.ndim != len(wanted) + 1 or list(values.shape[1:]) != wanted:
            shape = ", ".join(map(str, ["T", *wanted]))
            raise RequestError(
                "invalid",
                f"tensor {REPORTS!r} must have shape ({shape}), in the order of the "
                f"agents {', '.join(agents):.200}; got {list(values.shape)}",
            )
        _check_count(len(values))
        by_agent = {agent: values[:, i] for i, agent in enumerate(agents)}
    else:
        by_agent = {agent: _of_agent(rest.pop(agent), classes)
                    for agent in agents if agent in rest}  # fmt: skip
        lengths = {len(values) for values in by_agent.values()}
        if len(lengths) != 1:
            raise RequestError(
                "invalid",
                f"give reports as one tensor {REPORTS!r} or as one tensor per agent, "
                f"of equal length; known: {', '.join(agents):.200}",
            )
        _check_count(*lengths)
    count = len(next(iter(by_agent.values())))
    return [
        {
            agent: values[t].tolist()
            for agent, values in by_agent.items()
            if not np.isnan(values[t]).any()
        }
        for t in range(count)
    ]


def _of_agent(tensor: Tensor, classes: int) -> Any:
    values = tensor.measures()
    if classes > 2 and values.ndim == 2 and values.shape[1] == classes:
        return values
    return tensor.column().astype(np.float64)


def _check_count(count: int) -> None:
    if count > MOST_CASES:
        raise RequestError("too-large", f"a request has at most {MOST_CASES:,} cases")


def _names(tensor: Tensor, count: int) -> list[str]:
    found = [str(name) for name in tensor.column()]
    if len(found) != count or len(set(found)) != count:
        raise RequestError(
            "invalid",
            f"tensor {CASE!r} must name each of {count} cases once; got {len(found)} "
            f"names, {len(set(found))} of them different",
        )
    return found


def _columns(
    rest: Mapping[str, Tensor], costs: Costs | None, count: int
) -> list[dict[str, float]]:
    """What the costs of each case depend on; refuse any other tensor."""
    known = [getattr(costs, name) for name in ("fn", "fp", "tp", "tn")]
    found: list[dict[str, float]] = [{} for _ in range(count)]
    for name, tensor in rest.items():
        if name not in known:
            raise RequestError(
                "invalid",
                f"no agent and no column of the costs is called {name!r:.60}",
            )
        tensor.measures()
        values = tensor.column()
        if len(values) != count:
            raise RequestError(
                "invalid",
                f"tensor {name!r:.60} must have one element per case; got "
                f"{len(values)} for {count} cases",
            )
        for case, value in zip(found, values.tolist(), strict=True):
            case[name] = float(value)
    return found
