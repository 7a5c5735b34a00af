"""What a deployed pool is: the values that follow from its description."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any, Self

from msgspec import UNSET, structs

from truepool.core.errors import SettingError
from truepool.panel.costs import Costs
from truepool.panel.labels import Labels, format_labels
from truepool_serve import messages
from truepool_serve.messages import MOST_CLASSES, OPEN_CASES, Pool, check_name
from truepool_serve.server.rules import OnlineRule, Rule, SavedPoolRule

COST_NAMES = ("fn", "fp", "tp", "tn", "matrix", "currency")


@dataclass(frozen=True, kw_only=True)
class PoolConfig:
    """A pool to deploy; ``message`` describes it in full."""

    message: Pool
    labels: Labels
    costs: Costs
    rule: messages.Rule
    agents: tuple[str, ...]
    open_cases: int
    min_agents: int

    @classmethod
    def parse(cls, given: Pool) -> Self:
        """Check the description of a pool, as a request or the ledger has it."""
        check_name("a pool", given.name)
        for agent in given.agents:
            check_name("an agent", agent)
        labels = _labels(given.labels, given.positive)
        costs = _costs(given.costs)
        costs.check_classes(len(labels.names))
        rule = given.deciding
        if rule == messages.Rule():
            rule = messages.Rule(learner="gradient")
        _check_rule(rule)
        open_cases = OPEN_CASES if given.open_cases is None else given.open_cases
        least = given.min_agents or 1
        whole = structs.replace(
            given,
            **structs.asdict(rule),
            labels=list(labels.names),
            positive=labels.positive,
            costs=_described(costs),
            open_cases=open_cases,
            min_agents=least if least > 1 else None,
        )
        return cls(
            message=whole,
            labels=labels,
            costs=costs,
            rule=rule,
            agents=tuple(given.agents),
            open_cases=open_cases,
            min_agents=least,
        )

    @property
    def name(self) -> str:
        """Name of the pool."""
        return self.message.name

    @property
    def threshold(self) -> float | None:
        """Threshold of the decision, if it does not follow from the costs."""
        return self.message.threshold

    @property
    def deadline(self) -> float | None:
        """Seconds that agents have to answer."""
        return self.message.deadline

    def differences(self, other: Self) -> list[str]:
        """Names of the fields in which two pools differ."""
        one, two = self.message, other.message
        names = one.__struct_fields__
        return [name for name in names if getattr(one, name) != getattr(two, name)]

    def make_rule(
        self, rule: messages.Rule | None = None, agents: tuple[str, ...] | None = None
    ) -> Rule:
        """Return a rule for this pool, in its first state."""
        rule = self.rule if rule is None else rule
        agents = self.agents if agents is None else agents
        _check_rule(rule)
        if rule.learner is not None:
            return OnlineRule(
                rule.learner,
                agents,
                len(self.labels.names),
                self.costs,
                self.open_cases,
                dict(rule.settings or {}),
            )
        try:
            content = base64.b64decode(rule.saved_pool or "", validate=True)
        except (binascii.Error, ValueError):
            raise SettingError(
                "saved_pool must be the bytes of a file of `truepool fit` in base64"
            ) from None
        return SavedPoolRule(content, agents, self.labels)


def _check_rule(rule: messages.Rule) -> None:
    if (rule.learner is None) == (rule.saved_pool is None):
        raise SettingError(
            "a rule is either a learner or a saved pool; give one of 'learner' and "
            "'saved_pool'"
        )


def _labels(given: list[Any] | None, positive: Any) -> Labels:
    if given is None:
        return Labels.of_two(0, 1, positive)
    if len({type(label) for label in given}) > 1 or len(set(given)) != len(given):
        raise SettingError(
            "labels must be two or more different labels, all text or all whole "
            f"numbers; got {format_labels(given)}"
        )
    if not 2 <= len(given) <= MOST_CLASSES:
        raise SettingError(f"a pool has 2 to {MOST_CLASSES} labels; got {len(given)}")
    if len(given) == 2:
        if positive is None and given != [0, 1]:
            raise SettingError(
                "Which label do the reports give the probability of, "
                f"{given[0]!r} or {given[1]!r}? Name it in the field 'positive'."
            )
        return Labels.of_two(given[0], given[1], positive)
    if positive is not None:
        raise SettingError("a positive label requires two labels; leave it out")
    return Labels(tuple(given))


def _costs(given: messages.Costs | None) -> Costs:
    known = structs.asdict(given) if given else {}
    return Costs(**{name: value for name, value in known.items() if value is not UNSET})


def _described(costs: Costs) -> messages.Costs:
    """Costs as a message that has all of them."""
    found = {name: getattr(costs, name) for name in COST_NAMES}
    known = {name: value for name, value in found.items() if value not in (None, "")}
    if costs.matrix is not None:
        known = {name: known[name] for name in ("matrix", "currency") if name in known}
        known["matrix"] = [list(row) for row in costs.matrix]
    return messages.Costs(**known)
