"""What an audit says: its values as the fields of templates in ``words/``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from shlex import quote
from typing import Any

import numpy as np

from truepool.audits import kinds
from truepool.audits.values import Audit, Change, Diagnosis, Finding, Note, Step
from truepool.comparison import Estimate
from truepool.core.formatting import amount, in_unit, measured
from truepool.core.sentences import COUNTED, PYTHON, Voice, catalogue, few, say, setting
from truepool.pages import costs

WRONG = ("error", "warning")
"""Severities of what is wrong; a note is only a fact."""

FITS = ("leave-out", "use", "refit", "decide-at")
"""Actions that are done by fitting a pool."""

BY_HAND = ("rescale", "swap", "leave-out-there", "repair", "recalibrate")
"""Actions that change reports, and that no command does."""

DAYS = 0.5
"""Of a table that spans more months a date is told to the day."""

REASONS = 2
"""States that a verdict names; the table has all."""


@dataclass(frozen=True)
class Speaker:
    """Says what an audit has found, in a voice.

    ``table`` is its name in commands and ``given`` the options of the run, which they
    repeat.
    """

    audit: Audit
    voice: Voice
    table: str = "TABLE"
    given: str = ""

    @classmethod
    def of(
        cls, audit: Audit, voice: Voice = PYTHON, table: str = "", given: str = ""
    ) -> "Speaker":
        """Return one that speaks in the units of the audit's costs."""
        unit = costs.unit(audit.costs, audit.classes)
        name = table or audit.source or "TABLE"
        return cls(audit, replace(voice, currency=unit), name, given)

    def text(self, code: str, /, **fields: Any) -> str:
        """Return a title, a header, a caption and the like."""
        return say("audit", code, {**self.common, **fields}, self.voice)

    def cost(self, code: str) -> str:
        """Return the name of a column of costs, with the currency if there is one."""
        return in_unit(self.text(code), self.audit.currency)

    def money(self, value: Estimate | float | None) -> str:
        """Return a cost with its interval and currency."""
        return f"{measured(value)} {self.voice.currency}".rstrip()

    def saved(self, step: Step) -> Iterator[tuple[str, str]]:
        """Yield what a step saves, and per month where that is certain."""
        if step.saving is None:
            return
        counted, month = self.voice.currency in COUNTED, step.saving_per_month
        saved = self.text(
            "saved-counted" if counted else "saved", saving=self.money(step.saving)
        )
        yield self.text("saves" if step.certain else "saves-nothing"), saved
        if step.certain and month is not None:
            text = measured(month) if counted else self.money(month)
            yield self.text("saves-month"), text

    @property
    def common(self) -> dict[str, Any]:
        """What any sentence may name."""
        audit, unit = self.audit, self.voice.currency
        return {
            "cases": audit.cases,
            "agents": len(audit.agents),
            "level": f"{100 * audit.level:g} %",
            "unit": f", in {unit}" if unit else "",
            "by": audit.by,
            "tested": audit.plan.tested or audit.cases,
            "pool": audit.pool.who,
        }

    # Diagnoses

    def hidden(self, diagnosis: Diagnosis) -> bool:
        """Whether it means nothing while the outcome is in doubt."""
        if not self.audit.plan.in_doubt:
            return False
        kind = kinds.every().get(diagnosis.code)
        return kind is None or (kind.needs_outcomes and not (kind.doubts or kind.asked))

    def state(self, diagnosis: Diagnosis) -> str:
        """Return what is true of an agent, the pool or the outcome, as a label."""
        if self.hidden(diagnosis):
            return say("state", "unjudged", {}, self.voice)
        state, found = _state(diagnosis.code), diagnosis.finding
        if found is not None and _known("state-of", state):
            fields = {"segments": few(found.segments), "other": found.who[-1]}
            return say("state-of", state, fields, self.voice)
        label = self.label(diagnosis.code)
        if diagnosis.subject == "outcome" and self.audit.plan.in_doubt:
            return say("state", "asked", {"state": label}, self.voice)
        doubted = self.audit.plan.trust in ("no", "with care")
        if diagnosis.subject == "pool" and label == self.label(kinds.SOUND) and doubted:
            return say("state", "otherwise", {}, self.voice)
        return label

    def label(self, code: str) -> str:
        """Return the label of a code; that of a plug-in may have none."""
        state = _state(code)
        return say("state", state, {}, self.voice) if _known("state", state) else state

    def began(self, diagnosis: Diagnosis) -> str:
        """Return since when that is so of an agent at fault, to the day."""
        fault = diagnosis.subject == "agent" and diagnosis.severity in WRONG
        if fault and diagnosis.finding is not None and diagnosis.since is None:
            return self.text("start")
        months = self.audit.cases / (self.audit.cases_per_month or np.inf)
        when = self.since(diagnosis)
        return when.partition(" ")[0] if months > DAYS else when

    def since(self, finding: Diagnosis | Finding) -> str:
        """Return the date since when, or the case; empty if it was always so."""
        if finding.date or finding.since is None:
            return finding.date
        return self.text("case", case=finding.since + 1)

    def finding(self, finding: Finding) -> str:
        """Return the sentence of a finding."""
        fields = {
            **self.common,
            "number": finding.number,
            "of": finding.unit,
            "saving": finding.saving,
            "p": finding.p_value,
            "date": self.since(finding),
            "segments": finding.segments,
            **finding.facts,
            "who": few(finding.who),
            "agent": finding.who[0] if finding.who else "",
            "other": finding.who[1] if len(finding.who) > 1 else "",
        }
        if _known("finding", finding.code):
            text = say("finding", finding.code, fields, self.voice)
            return sentence(text, names=finding.who)
        return self.text("finding", code=finding.code, who=few(finding.who))

    def unit(self, finding: Finding) -> str:
        """Return what the number of a finding is of."""
        if _known("unit", finding.unit):
            return say("unit", finding.unit, self.common, self.voice)
        return finding.unit or self.text("number")

    def note(self, note: Note) -> str:
        """Return what was sampled or assumed."""
        if _known("note", note.code):
            fields = {**self.common, **note.facts}
            return sentence(say("note", note.code, fields, self.voice))
        return note.code

    # The verdict

    def verdict(self) -> str:
        """Say in one line whether the pool can be trusted."""
        audit, plan = self.audit, self.audit.plan
        code = "asked" if plan.in_doubt else plan.trust.replace(" ", "-")
        if plan.trust == "yes" and plan.change:
            code = "yes-and-change"
        fields = {
            **self.common,
            "positives": audit.positives,
            "better": self.pool(plan.pool or "", plan.without),
            "reasons": "; ".join(self._reasons()),
            "question": " ".join(self._questions()),
        }
        return say("verdict", code, fields, self.voice)

    def _reasons(self) -> Iterator[str]:
        """Yield why, the worst first: all agents of a state together."""
        audit = self.audit
        worst = [one for one in audit.diagnoses if one.severity == audit.worst()]
        groups: dict[tuple[str, str], list[str]] = {}
        for one in worst:
            groups.setdefault((one.subject, _state(one.code)), []).append(one.who)
        for (subject, state), who in [*groups.items()][:REASONS]:
            if _known(f"clause-{subject}", state):
                yield say(f"clause-{subject}", state, {"who": few(who)}, self.voice)
            else:
                yield f"{', '.join(few(who))}: {state}"

    def _questions(self) -> Iterator[str]:
        """Yield what has to be answered first."""
        asked = [one for one in self.audit.diagnoses if _known("ask", _state(one.code))]
        open_ = [one for one in asked if one.severity is not None]
        for state in dict.fromkeys(_state(one.code) for one in open_):
            who = [one.who for one in open_ if _state(one.code) == state]
            yield say("ask", state, {**self.common, "who": few(who)}, self.voice)

    # The plan

    def pool(self, name: str, without: Sequence[str] = ()) -> str:
        """Name a pool, and who is left out of it."""
        agent = self.audit.plan.agent
        if name == "best-agent" and agent is not None:
            return self.text("agent-alone", agent=agent)
        if without:
            return self.text("without", pool=name, without=few(without))
        return name

    def step(self, step: Step) -> str:
        """Say what to do."""
        code, given = step.action, step.arguments
        if code == "use" and given.get("agent"):
            code = "use-agent"
        if code == "decide-at" and given.get("threshold") is None:
            code = "decide-each"
        fields = self._arguments(step)
        if "pool" in given:
            name = given["pool"]
            known = _known("gloss", name) and code == "use"
            told = say("gloss", name, {}, self.voice) if known else name
            fields["pool"] = self.pool(told, given.get("without", ()))
        return say("do", code, fields, self.voice)

    def command(self, step: Step, voice: Voice | None = None) -> str:
        """Return the command or the line of Python that does it; empty without one.

        A pool is fitted once, after the last step that changes it or its reports.
        """
        voice, steps = voice or self.voice, self.audit.plan.steps
        place = steps.index(step) if step in steps else len(steps)
        fits, done = step.action in FITS, (*steps[:place], step)
        if any(later.action in FITS for later in steps[place + 1 :]) and (
            fits or step.action == "reverse"
        ):
            return ""
        name = step.arguments.get("pool", self.audit.plan.in_use)
        # A pool that was saved has no name to fit it by.
        saved = bool(self.audit.pool_digest) and name == self.audit.plan.in_use
        each = step.action == "decide-at" and step.arguments.get("threshold") is None
        code = "fit" if fits else step.action
        if each or (saved and fits) or not _known("action", code):
            return ""
        fields = {**self._arguments(step), **self._settings(done, name, voice)}
        command = say("action", code, fields, voice)
        return f"{command} {self.given}".strip() if self._repeats(voice) else command

    def by_hand(self, step: Step) -> list[int]:
        """Numbers of the steps before this one that change reports by no command."""
        steps = self.audit.plan.steps
        done = steps[: steps.index(step)] if step.action in FITS else ()
        return [k + 1 for k, one in enumerate(done) if one.action in BY_HAND]

    def idle(self) -> list[str]:
        """Agents with a fault that no step is about."""
        plan = self.audit.plan
        named = {who for step in plan.steps for who in step.agents}
        wrong = [one.who for one in self.audit.agents if one.severity in WRONG]
        return [] if plan.in_doubt else [who for who in wrong if who not in named]

    def _repeats(self, voice: Voice) -> bool:
        return voice.dialect == "terminal" and bool(self.given)

    def _arguments(self, step: Step) -> dict[str, Any]:
        """Return what a template of a step may name."""
        return {
            **self.common,
            "in_use": self.audit.plan.in_use,
            "who": few(step.agents),
            "when": self._when(step.arguments),
            **step.arguments,
        }

    def _settings(
        self, done: Sequence[Step], pool: str, voice: Voice
    ) -> dict[str, Any]:
        """Return how commands name the table, the pool and what these steps change."""
        terminal, last = voice.dialect == "terminal", done[-1]
        read = self._read_settings(done, voice)
        make = []
        if last.arguments.get("threshold") is not None:
            threshold = float(f"{last.arguments['threshold']:.4g}")
            make = [setting("threshold", threshold, voice)]
        file = f"{PurePath(self.table).stem.lower()}.pool"
        anew = {"table": self.table, "read_set": ", ".join(read)}
        first = "" if terminal or not read else say("action", "read", anew, voice)
        return {
            "table": quote(self.table) if terminal else self.table,
            "pool": quote(pool) if terminal else pool,
            "fit_set": " ".join([*read, *make, "-o", quote(file)]),
            "read_set": (" " if terminal else ", ").join(read),
            "make_set": ", ".join(["costs=costs", *make]),
            "read": first,
            "trusted_set": setting("trusted", [*last.agents], voice),
            "positive_set": setting("positive", last.arguments.get("label", ""), voice),
        }

    def _read_settings(self, done: Sequence[Step], voice: Voice) -> list[str]:
        """Return the keys that leave out and reverse agents as these steps do."""

        def who(action: str) -> list[str]:
            return [a for one in done if one.action == action for a in one.agents]

        settings = [setting("ignore", out, voice)] if (out := who("leave-out")) else []
        if turned := who("reverse"):
            scores = dict.fromkeys(turned, "1-0")
            settings.append(setting("scores", scores, voice))
        return settings

    def _when(self, given: Mapping[str, Any]) -> str:
        """Return the day of what a step is about, or its case where there is none."""
        if given.get("date"):
            return str(given["date"])
        start = given.get("from")
        return "" if start is None else self.text("case", case=start.place + 1)

    # Since an earlier audit

    def changes(self) -> Iterator[str]:
        """Yield what got better or worse."""
        found = self.audit.changes
        if found is None:
            return
        fields = {**vars(found), "of": f" of {found.source}" if found.source else ""}
        if not found.comparable:
            yield say("change", "incomparable", fields, self.voice)
            return
        yield say("change", "since", fields, self.voice)
        followed = found.advised is not None and found.advised == self.audit.plan.in_use
        if followed and self.audit.operations:
            now = {"pool": found.advised, "cost": self.audit.operations[0].cost}
            yield say("change", "followed", now, self.voice)
        elif found.cost is not None:
            yield say("change", "cost", fields, self.voice)
        for change in found.changes:
            yield self._change(change)
        if not found.changes:
            yield say("change", "none", {}, self.voice)
        if found.left_out:
            yield say("change", "left-out", {"who": few(found.left_out)}, self.voice)

    def _change(self, change: Change) -> str:
        who = change.who or self.text("outcome")
        before, now = (self.label(c) if c else "" for c in (change.before, change.now))
        fields = {"who": who, "before": before, "now": now, "worth": change.worth}
        return say("change", change.what, fields, self.voice)


def about_costs(audit: Audit) -> str:
    """Say what errors cost."""
    if audit.classes == 2:
        text = costs.describe(audit.costs)
    else:
        names = [str(name) for name in audit.labels.names]
        text = costs.describe_classes(audit.costs, names)
    return f"{text[:1].upper()}{text[1:]}."


def matrix(audit: Audit) -> str:
    """Return the matrix of costs, rows of outcomes by columns of decisions."""
    rows: Sequence[Sequence[float]] = audit.costs.get("matrix") or ()
    return "; ".join(", ".join(map(amount, row)) for row in rows)


def sentence(text: str, names: Sequence[str] = ()) -> str:
    """End a sentence, and begin it with a capital unless that is a name.

    >>> sentence("the feed is dead"), sentence("bayes is biased", ["bayes"])
    ('The feed is dead.', 'bayes is biased.')
    """
    if not text.startswith(tuple(names)):
        text = f"{text[:1].upper()}{text[1:]}"
    return text if text.endswith((".", "?")) else f"{text}."


def _state(code: str) -> str:
    """Return the state that a code makes; without a finding, that is the code."""
    kind: Mapping[str, kinds.Kind] = kinds.every()
    return kind[code].state if code in kind else code


def _known(kind: str, code: str) -> bool:
    return code in catalogue().get(kind, {})
