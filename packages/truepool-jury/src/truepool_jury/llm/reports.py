"""Reports of a language model on the cases of a table: one agent per template."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from truepool.core.arrays import Array, FloatArray
from truepool.core.errors import SettingError
from truepool.core.formatting import printable
from truepool.core.seeds import check_seed
from truepool.panel.labels import Labels
from truepool.tables import TableFaults
from truepool.tables.source import column_fault
from truepool_jury.llm import answer, answer_cache
from truepool_jury.llm.batch import Batch, count_stored
from truepool_jury.llm.budget import Budget, Spending
from truepool_jury.llm.cases import Cases, common_labels
from truepool_jury.llm.completion import Completion, Fault
from truepool_jury.llm.endpoint import Endpoint
from truepool_jury.llm.model_agents import make_requests, name_agents
from truepool_jury.llm.retry import Retry
from truepool_jury.llm.template import Template
from truepool_jury.llm.training_rows import collect_material

MAX_SAMPLES = 100
MAX_SHOWN = 80
"""Characters of an answer that are shown."""


@dataclass(frozen=True, eq=False)
class ModelReports:
    """Reports of the agents, and how they came about.

    Attributes
    ----------
    columns : dict of str to array (T,)
        Ids and times, a column per agent (NaN where the report is missing) and the
        outcomes as the table has them, so `truepool.read_panel` needs the same
        ``positive``.
    agents : tuple of str
        ``template (model)``, in order.
    labels : Labels or None
        Of the outcomes, if there are any.
    missing : dict of str to dict of str to int
        By agent, how many reports are missing for which reason.
    spending : Spending
        Calls, tokens and money of this run.
    answers, done, stored : int
        Answers that are needed, those that are there, and those that were stored
        before this run.
    answered_by : tuple of str
        Models that answered, as the endpoint names them.
    unreadable : str or None
        The beginning of an answer that cannot be read, if there is one.
    stopped : str or None
        Why the run ended before all answers were there.
    outcome : str or None
        Column of the outcomes, if there is one.
    """

    columns: dict[str, Array]
    agents: tuple[str, ...]
    labels: Labels | None
    missing: dict[str, dict[Fault, int]]
    spending: Spending
    answers: int
    done: int
    stored: int
    answered_by: tuple[str, ...]
    unreadable: str | None
    stopped: str | None
    outcome: str | None = None

    @property
    def reports(self) -> FloatArray:
        """Reports (T, N), NaN where one is missing."""
        return np.column_stack([self.columns[name] for name in self.agents])

    def counts(self) -> dict[str, dict[str, Any]]:
        """By agent, the number of reports, and of missing ones by reason."""
        return {
            name: {
                "reports": int(np.isfinite(self.columns[name]).sum()),
                "missing": dict(self.missing[name]),
            }
            for name in self.agents
        }


def ask(
    table: Any,
    question: str,
    endpoint: Endpoint | Sequence[Endpoint],
    *,
    templates: Sequence[str | Path] = ("direct",),
    train: Any = None,
    outcome: str | None = None,
    positive: Any = None,
    id: str | None = None,
    time: str | None = None,
    ignore: Sequence[str] = (),
    samples: int = 1,
    probability: answer.Probability = "stated",
    form: answer.Format = "auto",
    budget: Budget | None = None,
    retry: Retry | None = None,
    concurrency: int = 8,
    cache: Path | None = None,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> ModelReports:
    """Ask a language model a yes-or-no question about every case of a table.

    Answers are stored as they arrive: a run that was stopped or killed goes on where it
    was, and the same run again sends nothing.

    Parameters
    ----------
    table : path or frame
        One row per case; every column without another meaning is a feature.
    question : str
        Asked so that yes is the positive label; for judges, the criteria.
    endpoint : Endpoint, or several
        Which model, where, and the key; several are asked one after the other.
    templates : sequence of str or path
        Names of templates, or text files; each is an agent of every model, and a
        pairwise one is two.
    train : path or frame, optional
        Other cases, with known outcomes, for examples and for the choice of features.
    outcome, positive, id, time, ignore
        As in `truepool.read_panel`. Outcomes are copied and never shown to the model.
        Where nobody names it, a column with a usual name, such as y or label, is one.
    samples : int
        Answers per case and agent; the report is the mean of those that can be read.
    probability : "stated", "votes" or "logprobs"
        The number in the answer; 1 for yes and 0 for no; or the probability of the
        token yes against no.
    form : "auto", "schema", "tool" or "line"
        JSON schema, tool call or the last line of the answer; by default a schema if
        the endpoint has them, else the last line.
    budget, retry, concurrency
        What the run may spend, how it retries, and how many calls are under way at
        once.
    cache : Path, optional
        Folder of the stored answers; by default in the user's cache folder.
    seed : int
        Draws the examples.
    progress : callable, optional
        Called with what was spent, the answers that are there, and all of them.
    """
    _check(question, samples, probability, form)
    check_seed(seed)
    if _same_file(table, train):
        raise SettingError(
            "examples must be other cases than those asked about; the training rows "
            f"are {str(table)!r} itself. Name another table."
        )
    chosen = [Template.load(source) for source in templates]
    cases = Cases.read(table, outcome=outcome, id=id, time=time, ignore=ignore)
    known = None if train is None else Cases.read(train, outcome=outcome)
    if outcome is not None and outcome not in (cases.outcome, known and known.outcome):
        raise TableFaults([column_fault("outcome", outcome, cases.frame.columns)])
    labels = common_labels([cases] if known is None else [cases, known], positive)
    endpoints = [endpoint] if isinstance(endpoint, Endpoint) else list(endpoint)
    agents = name_agents(chosen, endpoints, cases)
    material = collect_material(
        chosen, question, probability, cases, known, labels, seed
    )
    requests = {
        agent.name: list(make_requests(agent, material, cases, samples, form))
        for agent in agents
    }
    needed = dict.fromkeys(r.name for own in requests.values() for r in own)
    store = answer_cache.open_cache(cache or answer_cache.folder())
    completions = {
        name: stored for name in needed if (stored := store.load(name)) is not None
    }
    before, spending, stopped = len(completions), Spending(budget or Budget()), None
    # All batches are made, and their settings checked, before the first is sent.
    for batch in [
        Batch(
            place,
            store,
            completions,
            len(needed),
            spending,
            retry or Retry(),
            concurrency,
            probability,
            form,
            progress,
        )
        for place in endpoints
    ]:
        if stopped is None:
            own = (a for a in agents if a.endpoint is batch.endpoint)
            batch.run(request for agent in own for request in requests[agent.name])
            stopped = batch.stopped
    columns, missing = dict(cases.copied), {}
    for agent in agents:
        found = [completions.get(request.name) for request in requests[agent.name]]
        reports, missing[agent.name] = _combine(found, samples, probability)
        columns[agent.name] = 1 - reports if agent.swapped else reports
    if cases.outcome is not None and cases.known.any():
        columns[cases.outcome] = cases.outcomes
    return ModelReports(
        columns,
        tuple(requests),
        labels,
        missing,
        spending,
        len(needed),
        count_stored(completions),
        before,
        tuple(sorted({c.model for c in completions.values() if c.model})),
        _unreadable(completions.values(), probability),
        stopped,
        cases.outcome,
    )


def _check(question: str, samples: int, probability: str, form: str) -> None:
    if not question.strip():
        raise SettingError(
            "the question must be a sentence, as in 'Is this an attack?'; got none"
        )
    if not 1 <= samples <= MAX_SAMPLES:
        raise SettingError(f"samples must be from 1 to {MAX_SAMPLES}; got {samples}")
    for name, value, known in (
        ("probability", probability, get_args(answer.Probability)),
        ("answer-format", form, get_args(answer.Format)),
    ):
        if value not in known:
            raise SettingError(f"{name} must be one of {', '.join(known)}; got {value}")


def _same_file(table: Any, train: Any) -> bool:
    paths = [Path(each) for each in (table, train) if isinstance(each, str | Path)]
    return len(paths) == 2 and len({os.path.realpath(path) for path in paths}) == 1


def _unreadable(
    completions: Iterable[Completion], probability: answer.Probability
) -> str | None:
    for found in completions:
        if answer.read(found, probability).fault == "unreadable":
            return printable(" ".join(found.text.split()))[:MAX_SHOWN]
    return None


def _combine(
    completions: Sequence[Completion | None],
    samples: int,
    probability: answer.Probability,
) -> tuple[FloatArray, dict[Fault, int]]:
    """Mean of the samples of each case that can be read, and why others cannot."""
    answers = [
        None if found is None else answer.read(found, probability)
        for found in completions
    ]
    reports = np.full(len(answers) // samples, np.nan)
    faults: Counter[Fault] = Counter()
    for t in range(len(reports)):
        own = [a for a in answers[t * samples : (t + 1) * samples] if a is not None]
        values = [a.probability for a in own if a.fault is None]
        if values:
            reports[t] = np.mean(values)
        elif own and own[0].fault is not None:
            faults[own[0].fault] += 1
    return reports, dict(faults)
