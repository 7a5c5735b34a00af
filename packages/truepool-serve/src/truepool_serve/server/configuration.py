"""What a deployed pool is: agents, labels, costs and the rule that decides."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from truepool.core.errors import SettingError, suggestion
from truepool.panel.costs import Costs
from truepool.panel.labels import Labels, format_labels
from truepool_serve.server.rules import OnlineRule, Rule, SavedPoolRule

LONGEST_NAME = 200
"""Characters in the name of a pool, an agent or a case."""
LONGEST_SHOWN = 40
"""Characters of a name that cannot be one."""
MOST_AGENTS, MOST_CLASSES = 10_000, 100
OPEN_CASES, MOST_OPEN = 100_000, 100_000_000
"""Cases that may wait for an outcome unless a pool says otherwise, and at most."""
LONGEST_DEADLINE = 60.0
"""Seconds that agents may have to answer, at most."""
COST_NAMES = ("fn", "fp", "tp", "tn", "matrix", "currency")
OF_POOL = ("positive", "negative", "classes", "costs", "memory")
"""Settings of a stream that a pool sets; other labels would turn outcomes round."""
FORBIDDEN = ("record",)
"""Settings that would let a request write files."""


@dataclass(frozen=True, kw_only=True)
class RuleConfig:
    """A learner with settings, or a saved pool (the bytes of its file in base64)."""

    learner: str | None = None
    settings: Mapping[str, Any] | None = None
    saved_pool: str | None = None

    @classmethod
    def parse(cls, given: Any) -> Self:
        """Check the JSON of a rule."""
        known = _known(cls, given, "a rule")
        if (known.get("learner") is None) == (known.get("saved_pool") is None):
            raise SettingError(
                "a rule is either a learner or a saved pool; give one of 'learner' and "
                f"'saved_pool', got {format_labels(known) or 'neither'}"
            )
        settings = known.get("settings") or {}
        if not isinstance(settings, dict) or any(
            name in FORBIDDEN for name in settings
        ):
            raise SettingError(
                "settings of a learner must be numbers or text by name, without "
                f"{format_labels(FORBIDDEN)}; got {settings!r:.100}"
            )
        for name in ("learner", "saved_pool"):
            if not isinstance(known.get(name), str | None):
                raise SettingError(f"{name} must be text; got {known[name]!r:.60}")
        return cls(**known)

    def check_new(self) -> None:
        """Refuse settings that the pool decides; older ledgers may have some."""
        of_pool = [name for name in OF_POOL if name in (self.settings or {})]
        if of_pool:
            raise SettingError(
                f"settings of a learner must not have {format_labels(of_pool)}: the "
                "labels, costs and open cases are those of the pool"
            )

    def make(
        self, agents: tuple[str, ...], labels: Labels, costs: Costs, open_cases: int
    ) -> Rule:
        """Return the rule in its first state."""
        if self.learner is not None:
            settings = dict(self.settings or {})
            classes = len(labels.names)
            return OnlineRule(
                self.learner, agents, classes, costs, open_cases, settings
            )
        try:
            content = base64.b64decode(self.saved_pool or "", validate=True)
        except (binascii.Error, ValueError):
            raise SettingError(
                "saved_pool must be the bytes of a file of `truepool fit` in base64"
            ) from None
        return SavedPoolRule(content, agents, labels)

    def to_dict(self) -> dict[str, Any]:
        """Return what was given, ready for JSON."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class PoolConfig:
    """A pool to deploy."""

    name: str
    agents: tuple[str, ...]
    rule: RuleConfig
    labels: Labels
    costs: Costs
    threshold: float | None
    open_cases: int
    deadline: float | None = None
    min_agents: int = 1

    @classmethod
    def parse(cls, given: Any) -> Self:
        """Check the JSON of a pool, as a request or the ledger has it."""
        names = ("name", "agents", "labels", "positive", "costs", "threshold")
        allowed = (
            *names,
            "open_cases",
            "deadline",
            "min_agents",
            *(field.name for field in fields(RuleConfig)),
        )
        known = _checked_names(given, allowed, "a pool")
        agents = known.get("agents")
        if not isinstance(agents, list) or not all(isinstance(a, str) for a in agents):
            raise SettingError(f"agents must be a list of names; got {agents!r:.100}")
        if len(agents) > MOST_AGENTS:
            raise SettingError(f"a pool has at most {MOST_AGENTS:,} agents")
        for agent in agents:
            check_name("an agent", agent)
        check_name("a pool", known.get("name"))
        rule = {name: known[name] for name in vars(RuleConfig()) if name in known}
        if not rule:
            rule = {"learner": "gradient"}
        labels = _labels(known.get("labels"), known.get("positive"))
        costs = _costs(known.get("costs"))
        costs.check_classes(len(labels.names))
        return cls(
            name=known["name"],
            agents=tuple(agents),
            rule=RuleConfig.parse(rule),
            labels=labels,
            costs=costs,
            threshold=_threshold(known.get("threshold")),
            open_cases=_open_cases(known.get("open_cases", OPEN_CASES)),
            deadline=_deadline(known.get("deadline")),
            min_agents=_min_agents(known.get("min_agents", 1)),
        )

    def make_rule(self) -> Rule:
        """Return the first rule in its first state."""
        return self.rule.make(self.agents, self.labels, self.costs, self.open_cases)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON that `parse` understands."""
        costs = {
            name: value
            for name in COST_NAMES
            if (value := getattr(self.costs, name)) not in (None, "")
        }
        if self.costs.matrix is not None:
            costs["matrix"] = [list(row) for row in self.costs.matrix]
            costs = {
                name: costs[name] for name in ("matrix", "currency") if name in costs
            }
        found: dict[str, Any] = {
            "name": self.name,
            "agents": list(self.agents),
            "labels": list(self.labels.names),
            "costs": costs,
            "open_cases": self.open_cases,
            **self.rule.to_dict(),
        }
        if self.labels.positive is not None:
            found["positive"] = self.labels.positive
        if self.threshold is not None:
            found["threshold"] = self.threshold
        if self.deadline is not None:
            found["deadline"] = self.deadline
        if self.min_agents > 1:
            found["min_agents"] = self.min_agents
        return found

    def differences(self, other: Self) -> list[str]:
        """Names of the fields in which two pools differ."""
        one, two = self.to_dict(), other.to_dict()
        names = dict.fromkeys((*one, *two))
        return [name for name in names if one.get(name) != two.get(name)]


def check_name(what: str, name: Any) -> str:
    """Return the name of a pool, an agent or a case; refuse what cannot be one."""
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME:
        raise SettingError(
            f"the name of {what} must be text of 1 to {LONGEST_NAME} characters; got "
            f"{_shorten(name)}"
        )
    if not name.isprintable() or name != name.strip():
        raise SettingError(
            f"the name of {what} must be printable, without spaces around it; got "
            f"{_shorten(name)}"
        )
    if name in (".", ".."):
        raise SettingError(
            f"the name of {what} must not be {name!r}, which means another place in a "
            "path; take another name"
        )
    return name


def _shorten(name: Any) -> str:
    """A name as Python has it; of a long one the beginning, and how long it is."""
    if not isinstance(name, str) or len(name) <= LONGEST_SHOWN:
        return f"{name!r:.60}"
    return f"{name[:LONGEST_SHOWN]!r}... ({len(name):,} characters)"


def _checked_names(given: Any, allowed: tuple[str, ...], what: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise SettingError(f"{what} must be a JSON object; got {given!r:.60}")
    for name in given:
        if name not in allowed:
            raise SettingError(
                f"{what} has no {name!r:.60}{suggestion(str(name), allowed)}; known: "
                f"{', '.join(allowed)}"
            )
    return given


def _known(cls: Any, given: Any, what: str) -> dict[str, Any]:
    return _checked_names(given, tuple(field.name for field in fields(cls)), what)


def _labels(given: Any, positive: Any) -> Labels:
    if isinstance(positive, bool):  # which equals 0 or 1
        raise SettingError(f"positive must be one of the labels; got {positive!r}")
    if given is None:
        return Labels.of_two(0, 1, positive)
    plain = isinstance(given, list) and (
        all(isinstance(label, str) for label in given)
        or all(type(label) is int for label in given)
    )
    if not plain or len(set(given)) != len(given) or len(given) < 2:
        raise SettingError(
            "labels must be a list of two or more different labels, all text or all "
            f"whole numbers; got {given!r:.100}"
        )
    if len(given) > MOST_CLASSES:
        raise SettingError(f"a pool has at most {MOST_CLASSES} labels")
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


def _costs(given: Any) -> Costs:
    if given is None:
        return Costs()
    known = _checked_names(given, COST_NAMES, "costs")
    for name, value in known.items():
        if isinstance(value, list) != (name == "matrix") or (
            name == "currency" and not isinstance(value, str)
        ):
            raise SettingError(
                "a cost is a number or the name of a column, a matrix is a list of "
                f"rows, and a currency is text; got {value!r:.60} for {name}"
            )
    return Costs(**known)


def _threshold(given: Any) -> float | None:
    if given is None:
        return None
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if number and 0 <= given <= 1:
        return float(given)
    raise SettingError(
        f"the threshold must lie in [0, 1]; got {given!r:.60}. Leave it out to decide "
        "by the costs."
    )


def _deadline(given: Any) -> float | None:
    if given is None:
        return None
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if number and 0 < given <= LONGEST_DEADLINE:
        return float(given)
    raise SettingError(
        f"the deadline must be above 0 and at most {LONGEST_DEADLINE:g} seconds; got "
        f"{given!r:.60}"
    )


def _min_agents(given: Any) -> int:
    if type(given) is not int or not 1 <= given <= MOST_AGENTS:
        raise SettingError(
            f"min_agents must be a whole number from 1 to {MOST_AGENTS:,}; got "
            f"{given!r:.60}"
        )
    return given


def _open_cases(given: Any) -> int:
    if type(given) is not int or not 1 <= given <= MOST_OPEN:
        raise SettingError(
            f"open_cases must be a whole number from 1 to {MOST_OPEN:,}; got "
            f"{given!r:.60}"
        )
    return given
