"""One run of a verb: what was given and by whom, and what is said on standard error."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from truepool.cli import keys
from truepool.core.sentences import (
    TERMINAL,
    Voice,
    leaving_out,
    say,
    setting,
    settings,
)

if TYPE_CHECKING:
    from truepool.core.arrays import Array
    from truepool.panel.case_columns import CaseColumns
    from truepool.panel.costs import Costs
    from truepool.panel.labels import Labels
    from truepool.panel.panel import Panel
    from truepool.tables import Declared, Note, Question, Schema, Table, TableFaults
    from truepool.tables.read import CaseCheck
    from truepool.tables.stream import PanelStream

Giver: TypeAlias = Literal["option", "set", "environment", "file", "export"]
LEFT_OUT = "left out"
"""What most verbs do with cases that have no outcome yet."""
UNWEIGHTED = ("weight", "group", "propensity")
"""Keys that verbs refuse for which every case counts once."""
PLACES = {
    "d": "dd", "m": "mm", "Y": "yyyy", "y": "yy", "b": "mon", "B": "month", "H": "hh",
    "I": "hh", "M": "mm", "S": "ss", "f": "ffffff", "p": "am", "z": "+hhmm",
}  # fmt: skip
"""What stands for the parts of a time."""
FEW = 8
"""So many agents are named with their unit; of more, the first ones."""


@final
@dataclass(eq=False)
class Run:
    """One run of a verb.

    ``given`` has the values that somebody gave, by parameter, and ``givers`` who that
    was. ``columns`` are those that keys other than a table's name, by that key.
    """

    verb: str
    table: Path | None = None
    quiet: bool = False
    voice: Voice = TERMINAL
    file: Path | None = None
    given: dict[str, Any] = field(default_factory=dict)
    givers: dict[str, Giver] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def give(self, parameter: str, value: Any, giver: Giver) -> None:
        """Take a value, unless there is one; words and ignored columns add up."""
        if parameter == "ignore" and self.givers.get("agents", giver) != giver:
            value = [name for name in value if name not in self.given["agents"]]
        if parameter in keys.ADDED and parameter in self.given:
            value = list(dict.fromkeys((*value, *self.given[parameter])))
            self.given[parameter] = value
        elif parameter not in self.given:
            self.given[parameter], self.givers[parameter] = value, giver

    def value(self, parameter: str, default: Any) -> Any:
        """Return what was given, else the default."""
        return self.given.get(parameter, default)

    def spelled(self) -> str:
        """Return what was said of the table and its costs, as a command repeats it."""
        typed = [
            (name, value)
            for name, value in self.given.items()
            if self.givers[name] in ("option", "set")
            and name in (*keys.OF_TABLES, *keys.OF_COSTS)
        ]
        parts = (setting(n.replace("_", "-"), v, self.voice) for n, v in typed)
        return " ".join(parts)

    def note(self, sentence: str, *, first: bool = False) -> None:
        """Say a sentence when the verb is done, so that an error stands alone."""
        self.notes.insert(0 if first else len(self.notes), sentence)

    def warn(self, sentence: str, *, first: bool = False) -> None:
        """Say what may be wrong."""
        self.note(f"warning: {sentence}", first=first)

    def tell(self, notes: "Iterable[Note]", *, unused: bool = False) -> None:
        """Say what was done with a table; the line on it has what was ``unused``."""
        for each in notes:
            if unused or each.code != "not-used":
                say_it = self.warn if each.warning else self.note
                say_it(each.sentence(self.voice))

    def print_notes(self) -> None:
        """Print what was noted, unless the run is quiet."""
        from truepool.cli.outputs import print_note

        for line in () if self.quiet else self.notes:
            print_note(line)
        self.notes.clear()

    def answer(self, questions: "Sequence[Question]") -> dict[str, Any]:
        """Ask what a table cannot say, where somebody sits at a terminal."""
        if self.quiet or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return {}
        answers: dict[str, Any] = {}
        for question in questions:
            for key, value in _ask(question, self.voice).items():
                known = answers.get(key)
                answers[key] = [*known, *value] if isinstance(known, list) else value
        if self.verb != "init":  # which writes them anyway
            self._keep(answers)
        return answers

    def _keep(self, answers: Mapping[str, Any]) -> None:
        """Offer to write answers to the file of keys, above its sections."""
        import tomllib

        from truepool.cli.outputs import print_note
        from truepool.core.files import write_text
        from truepool.core.toml import to_toml

        folder = Path() if self.table is None else self.table.parent
        file = self.file or folder / keys.FILE
        if _read_line(f"Keep this in {file}? [y/N] ").lower() not in ("y", "yes"):
            return
        lines = to_toml(answers)
        before = file.read_text(encoding="utf-8-sig") if file.is_file() else ""
        try:
            tomllib.loads(lines + before)
        except tomllib.TOMLDecodeError:
            more = ", ".join(lines.splitlines())
            print_note(f"{file} has one of these keys already; add by hand: {more}")
        else:
            write_text(file, lines + before)

    def read_panel(
        self,
        table: Path,
        declared: "Declared",
        *,
        allow_empty_cases: bool = False,
        pending: str | None = LEFT_OUT,
        seed: int = 0,
        costs: "Costs | None" = None,
    ) -> "tuple[Panel, Table]":
        """Read a panel, and note what was found in the table.

        ``pending`` says what is done with cases that have no outcome yet; None where
        the verb says so itself. Of a data set larger than memory a sample is read, by
        ``seed``. The ``costs`` of each case are checked while its row has a name.
        """
        from truepool.tables import load_panel
        from truepool.tables.faults import TableFaults
        from truepool.tables.stream import long_fault

        rows = self._rows(table, declared, seed)
        try:
            panel, read = load_panel(
                rows,
                declared,
                allow_empty_cases=allow_empty_cases,
                check=cost_check(costs, decided=pending != LEFT_OUT),
                answer=self.answer,
            )
        except TableFaults as faults:
            raise self.named(faults) from None
        if rows is not table and read.schema.long is not None:  # a sample of reports
            raise TableFaults([long_fault(read.schema)], table=read.name)
        self.note(self.reading(read, panel.size), first=True)
        self.tell(read.notes)
        self._tell_uses(panel, read.schema)
        if panel.pending is not None and pending is not None:
            self.note_pending(len(panel.unsplit().pending or ()), pending)
        return panel, read

    def panel_or_example(
        self, table: Path | None, declared: "Declared", **how: Any
    ) -> "Panel":
        """Read the table that is named, or take the bundled example."""
        from truepool.datasets import example

        if table is not None:
            return self.read_panel(table, declared, **how)[0]
        self.check_no_columns("see the bundled example")
        self.note(
            f"No table was given: these are the {self.voice.case}s of the bundled "
            "example."
        )
        return example()

    def named(self, faults: "TableFaults") -> "TableFaults":
        """Name the key that named a column of the cases."""
        from truepool.tables.faults import Cure, TableFaults

        found = []
        for fault in faults.faults:
            own = [key for key, name in self.columns.items() if name == fault.column]
            keys = fault.fields.get("keys", ())
            if own and fault.fields.get("key") == "columns":
                cures = tuple(Cure(c.action, own[0], c.value) for c in fault.cures)
                fields = {**fault.fields, "key": own[0]}
                fault = replace(fault, cures=cures, fields=fields)
            elif own and "columns" in keys:
                named = [own[0] if key == "columns" else key for key in keys]
                fault = replace(fault, fields={**fault.fields, "keys": named})
            found.append(fault)
        return TableFaults(found, faults.questions, faults.table)

    def _rows(self, table: Path, declared: "Declared", seed: int) -> Any:
        """Return a table; of too many rows, a sample of them."""
        from truepool.cli.screen import row_progress
        from truepool.tables.dataset import open_dataset
        from truepool.tables.sample import MOST_ROWS, read_sample
        from truepool.tables.source import Frame, ParquetFiles, is_parquet

        if not is_parquet(table) or isinstance(declared.long, tuple):
            return table
        dataset = open_dataset(table)
        if dataset.rows <= MOST_ROWS:
            return table
        self.note(
            f"Read a uniform sample of {MOST_ROWS:,} of the {dataset.rows:,} rows "
            f"(seed {seed})."
        )
        what = f"a sample of {MOST_ROWS:,}"
        with row_progress("Reading", dataset.rows, what) as progress:
            rows = read_sample(dataset, MOST_ROWS, seed, progress)
        return Frame(rows, str(table), ParquetFiles(dataset).keys)

    def reading(self, read: "Table", count: int, unit: str = "cases") -> str:
        """Say how a table was read; ``count`` is that of its cases, or of its rows."""
        schema = read.schema
        parts: list[tuple[str, dict[str, Any]]] = [(unit, {"count": count})]
        parts.append(("agents", {"names": _agents(schema)}))
        if schema.outcome is not None:
            parts.append(_outcome(schema))
        if schema.time is not None:
            form = schema.formats.get(schema.time, "")
            code = "time-written" if form else "time"
            parts.append((code, {"column": schema.time, "form": _as_read(form)}))
        if schema.id is not None:
            parts.append(("id", {"column": schema.id}))
        if schema.long is not None:
            parts.append(("long", {"names": ", ".join(schema.long)}))
        said = ", ".join(
            say("read", code, fields, self.voice) for code, fields in parts
        )
        if schema.unused:
            said += f"; {say('read', 'unused', {'names': _few(schema.unused)})}"
        if self.file is not None:
            said += f"; {say('read', 'keys', {'file': self.file})}"
        return (
            say("note", "read", {"table": read.name, "parts": said}, self.voice) + "."
        )

    def _tell_uses(self, panel: "Panel", schema: "Schema") -> None:
        """Say how scores are counted, and which columns weigh and group the cases."""
        self._tell_units(schema)
        unit = schema.row
        if panel.groups is not None:
            count = len(set(panel.groups.tolist()))
            group = schema.group or (schema.long or (self.voice.case,))[0]
            self.note(
                f"{unit.capitalize()}s of the same {group} ({count:,} in all) stay in "
                "one fold, and are resampled together for every margin of error."
            )
        if panel.weights is not None:
            weight = schema.weight or "share of the time that the case was open"
            self.note(f"Each {unit} counts by its {weight}.")
        if panel.propensity is not None:
            self.note(
                f"Each case counts by 1 / {schema.propensity}, the chance that it was "
                "reviewed."
            )

    def _tell_units(self, schema: "Schema") -> None:
        """Say of scores that they are no probabilities."""
        scores = [
            a
            for a, unit in schema.units.items()
            if unit.kind == "score" and (unit.zero, unit.one) != (1.0, 0.0)
        ]
        if scores:
            self.note(
                f"Scores of {_few(scores)} count as shares of their range. That is no "
                "probability; auto corrects for it, and mean, median or vcg do not."
            )

    def note_stream(self, panels: "PanelStream") -> None:
        """Note what was found in a data set that was read batch by batch."""
        from truepool.tables.read import Table
        from truepool.tables.sample import BLOCKS, spaced_rows
        from truepool.tables.source import ParquetFiles

        totals, schema, rows = panels.totals, panels.columns, panels.dataset.rows
        source = ParquetFiles(panels.dataset)
        self.note(self.reading(Table(source, schema), panels.cases), first=True)
        self.tell(panels.notes)
        if totals.empty:
            self.note(say("note", "empty-cases", {"count": totals.empty}, self.voice))
        checked, part = len(spaced_rows(rows)), ""
        if checked < rows:
            some = f"{checked:,} of them, in {BLOCKS} blocks"
            part = f" Labels and feeds were checked on {some}."
        self.note(f"All {rows:,} rows were read, batch by batch.{part}")
        if panels.checkpoint is not None and panels.checkpoint.resumed:
            done = panels.checkpoint.resumed
            are = "part was" if done == 1 else "parts were"
            self.note(f"{done:,} {are} summed up before an interruption: skipped.")
        self._tell_units(schema)
        for name, how in ((schema.weight, "its {}"), (schema.propensity, "1 / {}")):
            if name is not None:
                self.note(f"Each case counts by {how.format(name)}.")
        if totals.pending:
            self.note_pending(totals.pending, LEFT_OUT)

    def note_pending(self, count: int, what: str) -> None:
        """Note how many cases have no outcome yet, and what is done with them."""
        from truepool.core.formatting import pluralize

        has = "has" if count == 1 else "have"
        self.note(f"{pluralize(count, self.voice.case)} {has} no outcome yet: {what}.")

    def note_faults(self, panel: "Panel", *, outcome: bool = True) -> None:
        """Warn, as the audit does, of a wrong outcome, label, and of broken agents."""
        from truepool.audits.checks.feeds import dead_feeds
        from truepool.audits.checks.reversal import doubt_labels, reversed_agents
        from truepool.pages.wording import sentence

        if outcome:
            unrelated = unrelated_outcome(panel)
            if unrelated is not None:
                self.warn(unrelated, first=True)
        doubt = doubt_labels(panel)
        if doubt is not None:
            found = sentence(say("finding", "reversed-labels", doubt.facts, self.voice))
            cure = {"set": setting("positive", doubt.other, self.voice)}
            fields = {**doubt.facts, **cure, "found": found}
            self.warn(say("warning", "labels", fields, self.voice))
        turned = reversed_agents(panel) if doubt is None else []
        if turned:
            named = [
                say("warning", "reversed-agent", vars(one), self.voice)
                for one in turned
            ]
            who = [one.agent for one in turned]
            said = say("warning", "reversed", {"agents": named}, self.voice)
            self.warn(f"{said} {self._repair(who, panel)}")
        feeds = dead_feeds(panel)
        if feeds:
            said = " ".join(
                sentence(
                    say("dead", feed.code, {**feed.facts, "agent": feed.agent}),
                    [feed.agent],
                )
                for feed in feeds
            )
            self.warn(f"{said} {self._repair([feed.agent for feed in feeds], panel)}")

    def _repair(self, broken: "list[str]", panel: "Panel") -> str:
        options, who = leaving_out(broken, panel.agents), {"who": broken}
        out = say("warning", "out", {**who, "set": options}) if options else ""
        return say("warning", "fix", {**who, "out": out}, self.voice)

    def note_one_class(self, counts: tuple[int, ...], labels: "Labels") -> None:
        """Warn first that every case has the same outcome: little is learned."""
        there = [k for k, count in enumerate(counts) if count]
        if len(there) == 1:
            self.warn(
                f"every outcome is {labels.names[there[0]]!r}, so nothing can be "
                "learned about the others, and an audit would refuse this table. Add "
                "cases with another outcome.",
                first=True,
            )

    def check_unweighted(self, declared: "Declared", who: str) -> None:
        """Refuse weights, groups and propensities where every case counts once."""
        from truepool.core.errors import SettingError

        given = {name: vars(declared)[name] for name in UNWEIGHTED}
        if declared.updates != "last":
            given["updates"] = declared.updates
        for name, value in given.items():
            if value is not None and not (name == "updates" and value == "last-row"):
                raise SettingError(
                    f"{who} every {self.voice.case} once, as independent; got "
                    f"{setting(name, value, TERMINAL)}. Leave it out."
                )

    def check_not_given(self, names: Iterable[str], why: str) -> None:
        """Refuse what would change nothing in this run."""
        from truepool.core.errors import SettingError

        for name in names:
            if name in self.given:
                raise SettingError(
                    f"{name.replace('_', '-')} {why}. Leave it out, or leave out the "
                    "table."
                )

    def check_no_columns(self, purpose: str) -> None:
        """Refuse keys that describe a table where no table is given."""
        from truepool.core.errors import SourceError

        said = [
            name for name in keys.OF_TABLES if self.givers.get(name, "file") != "file"
        ]
        if said:
            raise SourceError(
                f"{said[0].replace('_', '-')} describes a table; name the table as "
                f"well, or leave it out to {purpose}"
            )


def cost_check(costs: "Costs | None", *, decided: bool) -> "CaseCheck":
    """Return a check of the costs per case; of pending ones, where they are decided."""

    def check(columns: "CaseColumns", ids: "Array | None", *, pending: bool) -> None:
        if costs is not None and (decided or not pending):
            costs.resolve(columns, ids)

    return check


def sample_stream(panels: "PanelStream", run: Run) -> "Panel | None":
    """Return cases from all over a data set that was read batch by batch.

    None where they do not have all labels: too few of a class to say anything. What is
    odd about them is told.
    """
    from truepool.core.errors import OutcomeError
    from truepool.tables.faults import TableFaults
    from truepool.tables.read import Table, panel_of
    from truepool.tables.sample import read_rows, spaced_rows
    from truepool.tables.source import Frame

    dataset = panels.dataset
    rows = read_rows(dataset, spaced_rows(dataset.rows))
    try:
        table = Table(Frame(rows, dataset.source), panels.schema, (), rows)
        panel, read = panel_of(table)
    except (OutcomeError, TableFaults):
        return None
    run.tell(note for note in read.notes if note.warning)
    return panel


def _agents(schema: "Schema") -> str:
    """Names of the agents, with the unit of those that report no probabilities."""
    named = []
    for agent in schema.agents:
        unit = schema.unit(agent)
        how = {"percent": " (percent)", "score": f" ({unit.span})"}.get(unit.kind, "")
        named.append(f"{agent}{how}")
    return _few(named)


def _as_read(form: str) -> str:
    """Return how a time is written, as people write it.

    >>> _as_read("%d.%m.%Y %H:%M")
    'dd.mm.yyyy hh:mm'
    """
    for code, word in PLACES.items():
        form = form.replace(f"%{code}", word)
    return form


def _few(names: Sequence[str]) -> str:
    rest = len(names) - FEW
    first = ", ".join(names[:FEW])
    return f"{first} and {rest:,} more" if rest > 0 else first


def _outcome(schema: "Schema") -> tuple[str, dict[str, Any]]:
    labels = schema.labels
    if len(labels) == 2 and labels not in ((0, 1), (False, True)):
        return "positive", {"column": schema.outcome, "label": labels[1]}
    return "outcome", {"column": schema.outcome}


def _ask(question: "Question", voice: Voice) -> Mapping[str, Any]:
    """Ask until a choice is named by its number, or itself; numbers have no number."""
    from truepool.cli.outputs import print_note

    print_note(question.text(voice))
    answers = question.answers(voice)
    values = [[*map(str, given.values())] for given, _ in answers]
    numbered = not any(each.isdecimal() for own in values for each in own)
    for number, (given, about) in enumerate(answers, start=1):
        value = given.get(question.key) if len(given) == 1 else None
        shown = str(value) if isinstance(value, str | int) else settings(given, voice)
        which = f"{number}: " if numbered else ""
        print_note(f"  {which}{shown}" + (f" ({about})" if about else ""))
    while True:
        said = _read_line("> ")
        chosen = [a for (a, _), own in zip(answers, values, strict=True) if said in own]
        if numbered and said.isdecimal() and 1 <= int(said) <= len(answers):
            chosen = [answers[int(said) - 1][0]]
        if chosen == [{question.key: question.free}]:
            said, chosen = _read_line(f"{question.free}: "), []
        if question.free and said and not chosen:
            chosen = _checked(question.key, said)
        if len(chosen) == 1:
            return chosen[0]


def _checked(key: str, said: str) -> list[Mapping[str, Any]]:
    """Return the value of a key that somebody typed, unless it can have no such."""
    from truepool.cli.outputs import print_note
    from truepool.tables import Declared, TableFaults

    try:
        Declared().with_keys({key: said})
    except TableFaults as faults:
        print_note(faults.lines(TERMINAL)[0])
        return []
    return [{key: said}]


def _read_line(prompt: str) -> str:
    """Read a line; what is asked goes to standard error, as results do not."""
    import typer

    print(prompt, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise typer.Abort
    return line.strip()


def unrelated_outcome(panel: "Panel", costs: "Costs | None" = None) -> str | None:
    """Say that the outcome may be the wrong one, and what deciding blindly costs."""
    from dataclasses import asdict

    from truepool.audits.checks.reversal import best_constant, is_unrelated
    from truepool.audits.values import PER_THOUSAND
    from truepool.measures.losses import Loss
    from truepool.pages.costs import unit
    from truepool.pages.wording import sentence
    from truepool.panel.costs import Costs

    if not is_unrelated(panel):
        return None
    used = costs or Costs()
    decision, cost = best_constant(panel, Loss("cost", used).on(panel))
    facts = {
        "positive": str(panel.labels.positive),
        "negative": str(panel.labels.negative),
        "decision": str(decision),
        "cost": PER_THOUSAND * cost,
    }
    voice = replace(TERMINAL, currency=unit(asdict(used)))
    return sentence(say("finding", "unrelated-outcome", facts, voice))
