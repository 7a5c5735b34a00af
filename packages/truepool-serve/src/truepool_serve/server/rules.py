"""Rules: what pools the reports of a case; a learner, or a pool that was fitted before.

A deployed pool has one rule that decides, and others that run in its shadow.
"""

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from truepool.core.arrays import FloatArray, IntArray, from_classes, read_only
from truepool.core.errors import (
    AgentError,
    LedgerError,
    PluginError,
    RequestError,
    SettingError,
    TruepoolError,
)
from truepool.core.kernels import without
from truepool.online import persistence
from truepool.online.experts import WINDOWS, Experts
from truepool.online.stream import Stream
from truepool.panel.costs import Costs
from truepool.panel.labels import Labels, format_labels
from truepool.pools import Pool
from truepool.pools import persistence as saved_pools
from truepool.pools.interface.agent_reports import match_one

Reasons: TypeAlias = tuple[dict[str, float] | None, dict[str, list[float]] | None]
"""Weight, and contribution (C,), of each agent who reported on a case."""


class Rule(ABC):
    """Pools the reports of one case after another, by agent, as coordinates (C,)."""

    @abstractmethod
    def decide(self, case: str, reports: Mapping[str, Any]) -> FloatArray:
        """Pool the reports of a case, which then waits for its outcome."""

    @abstractmethod
    def await_outcome(self, case: str, reports: Mapping[str, Any]) -> None:
        """Let a case wait that was decided before; what it was is recorded."""

    @abstractmethod
    def score(self, reports: Mapping[str, Any]) -> FloatArray:
        """Pool reports on a case that does not wait for an outcome."""

    @abstractmethod
    def settle(self, case: str, outcome: int, learned: FloatArray | None) -> None:
        """Learn from the outcome of a case that was decided.

        What is recorded to be ``learned`` from it is taken over, not computed again.
        """

    @property
    @abstractmethod
    def learned(self) -> FloatArray:
        """All numbers that outcomes change (M,)."""

    @abstractmethod
    def take_over(self, learned: FloatArray) -> None:
        """Go on from other numbers."""

    @property
    def refit_job(self) -> "RefitJob | None":
        """What to fit again, if that is due."""
        return None

    def fit(self) -> dict[str, bytes]:
        """Fit here and now what is due: files of pools by name."""
        job = self.refit_job
        return {} if job is None else job.run()

    def refit(self, files: Mapping[str, bytes]) -> None:
        """Go on with pools that were fitted to settled cases."""
        raise SettingError("only a rule that learns pools can be refitted")

    @abstractmethod
    def drop(self, case: str) -> None:
        """Forget a case that waits for its outcome."""

    @abstractmethod
    def join(self, agent: str) -> None:
        """Add an agent."""

    @abstractmethod
    def leave(self, agent: str) -> None:
        """Remove an agent."""

    @abstractmethod
    def explain(self, case: str, reports: Mapping[str, Any]) -> Reasons:
        """Weights and contributions of those who reported on a case just decided."""

    @property
    @abstractmethod
    def waiting(self) -> int:
        """Number of cases that wait for an outcome."""

    @property
    @abstractmethod
    def weights(self) -> dict[str, float] | None:
        """Weight of each agent, where the rule has weights."""

    @abstractmethod
    def freeze(self) -> Callable[[], bytes]:
        """Return what makes bytes of the state of now, which `unpack` understands.

        It may be called in another thread, while the rule goes on.
        """

    @abstractmethod
    def unpack(self, state: bytes) -> None:
        """Go on from a state."""


@dataclass(frozen=True, eq=False)
class RefitJob:
    """Settled cases that the pools of `auto` are fitted to."""

    agents: tuple[str, ...]
    classes: int
    settled: int
    reports: FloatArray
    outcomes: IntArray

    def run(self) -> dict[str, bytes]:
        """Fit the pools; return the file of each by name."""
        pools = Experts(**vars(self)).fit()
        return {pool.name: save(pool) for pool in pools}

    def pack(self) -> bytes:
        """Return it as bytes for another process."""
        stream = BytesIO()
        np.savez(stream, **vars(self))
        return stream.getvalue()

    @classmethod
    def unpack(cls, content: bytes) -> "RefitJob":
        """Return it from its bytes."""
        with np.load(BytesIO(content), allow_pickle=False) as found:
            return cls(
                tuple(map(str, found["agents"])),
                int(found["classes"]),
                int(found["settled"]),
                found["reports"],
                found["outcomes"],
            )


class OnlineRule(Rule):
    """A learner: weights that change with each outcome."""

    def __init__(
        self,
        learner: str,
        agents: tuple[str, ...],
        classes: int,
        costs: Costs,
        open_cases: int,
        settings: Mapping[str, Any],
    ) -> None:
        try:
            self.stream = Stream(
                learner,
                agents,
                classes=classes,
                costs=costs if costs.constant else None,
                memory=open_cases,
                **settings,
            )
        except TypeError:
            raise SettingError(
                f"the settings of {learner!r} must have the right types; got "
                f"{dict(settings)!r:.100}. See docs/learners.md."
            ) from None
        self.stream.refits = False  # it takes seconds, and nobody waits for it

    def decide(self, case: str, reports: Mapping[str, Any]) -> FloatArray:
        """Pool with the weights of now, which are those that learn later."""
        return _coordinates(self.stream.predict_proba_one(reports, case))

    def await_outcome(self, case: str, reports: Mapping[str, Any]) -> None:
        """Keep its reports and the weights of now."""
        self.decide(case, reports)

    def score(self, reports: Mapping[str, Any]) -> FloatArray:
        """Pool with the weights of now."""
        return _coordinates(self.stream.predict_proba_one(reports))

    def settle(self, case: str, outcome: int, learned: FloatArray | None) -> None:
        """Learn; the ledger knows outcomes, so the stream need not."""
        self.stream.settle(case, outcome, learned)
        del self.stream.outcomes[case]

    @property
    def learned(self) -> FloatArray:
        """Weights, and what else the learner keeps."""
        return self.stream.learned

    def take_over(self, learned: FloatArray) -> None:
        """Go on from other weights."""
        self.stream.learned = learned

    @property
    def refit_job(self) -> RefitJob | None:
        """The latest settled cases, where the pools of `auto` are due."""
        experts = self.stream.experts
        if experts is None or not experts.is_due:
            return None
        return RefitJob(
            experts.agents,
            experts.classes,
            experts.settled,
            experts.reports,
            experts.outcomes,
        )

    def refit(self, files: Mapping[str, bytes]) -> None:
        """Mix other pools from now on."""
        experts = self.stream.experts
        if experts is None:
            super().refit(files)
            return
        pools = tuple(load_saved(files[name]) for name in WINDOWS if name in files)
        self.stream.experts = experts.with_pools(pools)

    def drop(self, case: str) -> None:
        """Forget a case."""
        self.stream.drop(case)

    def join(self, agent: str) -> None:
        """Add an agent with the learner's usual first weight."""
        self.stream.join(agent)

    def leave(self, agent: str) -> None:
        """Remove an agent."""
        self.stream.leave(agent)

    def explain(self, case: str, reports: Mapping[str, Any]) -> Reasons:
        """Weights that decided, and the pooled coordinates without each agent."""
        decision, stream = self.stream.waiting[case], self.stream
        if decision is None or stream.experts or stream.recalibration:
            return None, None  # pools of pools: no weight belongs to one agent
        m, used = decision.reports, decision.unnormalised
        K = stream.state.classes
        prior = np.full(m.shape[1], 1.0 / K)
        changes = decision.pooled - without(read_only(m[None]), used, prior)[0]
        places = [stream.state.agents.index(agent) for agent in reports]
        mass = used[places].sum()
        shares = (
            used[places] / mass if mass > 0 else np.full(len(places), 1 / len(places))
        )
        return (
            dict(zip(reports, shares.tolist(), strict=True)),
            dict(zip(reports, changes[places].tolist(), strict=True)),
        )

    @property
    def waiting(self) -> int:
        """Cases that the stream remembers."""
        return len(self.stream.waiting)

    @property
    def weights(self) -> dict[str, float] | None:
        """Weights of now."""
        return self.stream.weights

    def freeze(self) -> Callable[[], bytes]:
        """Return what packs the stream, with the cases that wait."""
        return partial(persistence.pack, self.stream.__getstate__())

    def unpack(self, state: bytes) -> None:
        """Go on from a saved stream."""
        self.stream.__setstate__(persistence.unpack(state, Path("the snapshot")))
        self.stream.refits = False


class SavedPoolRule(Rule):
    """A saved pool: it decides as it was fitted, and does not learn."""

    def __init__(self, content: bytes, agents: tuple[str, ...], labels: Labels) -> None:
        self.pool = load_saved(content)
        if not set(agents) <= set(self.pool.agents_):
            raise AgentError(
                "a saved pool must know the agents of the pool; it knows "
                f"{', '.join(self.pool.agents_)}, and the pool has {', '.join(agents)}"
            )
        if self.pool.labels_.names != labels.names:
            raise SettingError(
                "a saved pool must be about the labels of the pool; it knows "
                f"{format_labels(self.pool.labels_.names)}, and the pool has "
                f"{format_labels(labels.names)}"
            )

    def decide(self, case: str, reports: Mapping[str, Any]) -> FloatArray:
        """Pool as the saved pool does."""
        return self.score(reports)

    def await_outcome(self, case: str, reports: Mapping[str, Any]) -> None:
        """Nothing is learned, and nothing waits."""

    def score(self, reports: Mapping[str, Any]) -> FloatArray:
        """Pool as the saved pool does."""
        return _coordinates(self.pool.predict_proba_one(reports))

    def settle(self, case: str, outcome: int, learned: FloatArray | None) -> None:
        """Nothing is learned."""

    @property
    def learned(self) -> FloatArray:
        """No number changes."""
        return np.empty(0)

    def take_over(self, learned: FloatArray) -> None:
        """No number changes."""

    def drop(self, case: str) -> None:
        """Nothing is remembered."""

    def join(self, agent: str) -> None:
        """Refuse: the pool was fitted without the agent."""
        raise SettingError(
            f"a saved pool knows its agents; {agent!r} cannot join. Fit a pool with "
            "it and add that as a challenger."
        )

    def leave(self, agent: str) -> None:
        """An agent that has left has no reports."""

    def explain(self, case: str, reports: Mapping[str, Any]) -> Reasons:
        """Weights where the pool is linear, and contributions as `Pool` has them."""
        values = match_one(
            reports, self.pool.agents_, tuple(map(str, self.pool.labels_.names))
        )
        changes = self.pool.contributions_of(values)[0]
        known = zip(self.pool.agents_, changes.tolist(), strict=True)
        weights = self.weights
        return (
            weights and {agent: weights[agent] for agent in reports},
            {agent: change for agent, change in known if agent in reports},
        )

    @property
    def waiting(self) -> int:
        """Nothing waits, for nothing is learned."""
        return 0

    @property
    def weights(self) -> dict[str, float] | None:
        """Weights, where the pool is linear."""
        weights = self.pool.explain().weights
        return None if weights is None else dict(weights)

    def freeze(self) -> Callable[[], bytes]:
        """Nothing changes."""
        return bytes

    def unpack(self, state: bytes) -> None:
        """Nothing changes."""


def load_saved(content: bytes) -> Pool:
    """Return the pool in the bytes of a file of `truepool fit`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "saved.pool")
        path.write_bytes(content)
        try:
            pool: Pool = saved_pools.load(path)
        except TruepoolError as error:
            sentence = str(error).replace(str(path), "the saved pool")
            raise SettingError(sentence) from None
    return pool


def save(pool: Pool) -> bytes:
    """Return the bytes of the file of a pool."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "saved.pool")
        pool.save(path)
        return path.read_bytes()


@contextmanager
def name_pool(name: str) -> Iterator[None]:
    """Say which pool of a ledger has a rule that cannot be made here."""
    try:
        yield
    except (LedgerError, RequestError):
        raise
    except TruepoolError as error:
        raise PluginError(
            f"a rule of the pool {name!r} in the ledger cannot be used: {error}"
        ) from error


def _coordinates(pooled: Mapping[Any, float]) -> FloatArray:
    """Coordinates (C,) of the probabilities of every class."""
    return from_classes(np.array(list(pooled.values())))
