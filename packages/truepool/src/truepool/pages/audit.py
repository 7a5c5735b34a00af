"""An audit as a page: verdict, plan and picture first, then the evidence."""

import platform
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

from markupsafe import Markup
from rich.console import Console

from truepool.audits import kinds
from truepool.audits.values import (
    SCHEMA,
    AgentSummary,
    Audit,
    Diagnosis,
    Finding,
    Operation,
)
from truepool.core.files import write_text
from truepool.core.formatting import (
    format_p_value,
    measured,
    measured_share,
    number,
    percent,
)
from truepool.core.sentences import few
from truepool.pages import audit_evidence as evidence
from truepool.pages import audit_figures as figures
from truepool.pages.grid import Grid, Item
from truepool.pages.html import fragment
from truepool.pages.html import html as to_html
from truepool.pages.page import Beside, Items, Page, Part, Section, Text
from truepool.pages.wording import Speaker, about_costs, matrix

MOST_ROWS, MOST_LINES = 100, 12
"""Agents of many that a page and a terminal show; JSON has all."""
PACKAGES = ("truepool", "numpy", "scipy", "scikit-learn")
RANKS = {"error": 0, "warning": 1}
"""What puts the most severe first."""
Cell: TypeAlias = Callable[[AgentSummary], str]


def show(say: Speaker, console: Console, *, verbose: bool = False) -> None:
    """Print the verdict, the plan, the agents and the pools; all of it if verbose."""
    page(say, MOST_ROWS if verbose else MOST_LINES).print(console, verbose=verbose)
    if not verbose:
        known = not say.audit.plan.in_doubt
        lines = [about_costs(say.audit)] if known else []
        codes = ["tested-on", "brackets"] if known else []
        codes += ["costs-in"] if known and not say.audit.currency else []
        line = " ".join([*lines, *map(say.text, [*codes, "more"])])
        console.print(f"\n{line}", style="dim", markup=False, highlight=False)


def markdown(audit: Audit, say: Speaker | None = None) -> str:
    """Return the same as Markdown."""
    return page(say or Speaker.of(audit)).to_markdown()


def html(audit: Audit, say: Speaker | None = None) -> str:
    """Return the page as one file."""
    return to_html(page(say or Speaker.of(audit)), "audit.html.j2")


def write(audit: Audit, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, html(audit))


def summary(audit: Audit) -> Markup:
    """Return verdict, plan, agents and pools, for a notebook."""
    shown = page(Speaker.of(audit), MOST_LINES)
    parts = [part for one in shown.sections if one.brief for part in one.parts]
    return fragment("notebook.html.j2", page=shown, parts=parts, chart=False)


def page(say: Speaker, most: int | None = MOST_ROWS) -> Page:
    """Lay an audit out, in the order of a reader's questions.

    While the outcome is in doubt, only what does not depend on it.
    """
    audit = say.audit
    headline = say.verdict()
    severity = audit.worst()
    tone = {"yes": "note", "with care": "warning", "no": "error", "asked": "warning"}
    sections = [_plan(say), *_changes(say), _agents(say, most)]
    if not audit.plan.in_doubt:
        sections += [*_operation(say), *evidence.sections(say)]
    else:
        sections += evidence.redundancy(say)
    sections.append(_method(say))
    return Page(
        say.text("title", headline=headline),
        headline,
        tuple(sections),
        question=say.text("question"),
        tone=tone.get(audit.plan.trust, severity or "unsure"),
        about=(
            f"{_about(say)} {about_costs(audit)}",
            f"{say.text('brackets')} {say.text('costs-in')}",
        ),
        facts=tuple(_facts(say)),
    )


def _about(say: Speaker) -> str:
    audit = say.audit
    given = {"source": audit.source, "date": audit.date}
    table = say.text("about-table", **given) if audit.source else ""
    return say.text("about", table=table)


def _facts(say: Speaker) -> Iterator[tuple[str, str]]:
    audit = say.audit
    yield say.text("fact-cases"), f"{audit.cases:,}"
    yield say.text("fact-agents"), f"{len(audit.agents):,}"
    yield say.text("fact-pool"), audit.pool.who
    if audit.classes > 2:
        yield say.text("fact-classes"), f"{audit.classes}"
    else:
        yield (
            say.text("fact-positive"),
            say.text("fact-share", positives=audit.positives, share=audit.share),
        )
    if audit.threshold is not None:
        yield say.text("fact-threshold"), percent(audit.threshold)
    if audit.missing:
        yield say.text("fact-missing"), percent(audit.missing)


# What to do


def _plan(say: Speaker) -> Section:
    """The plan beside what the pools cost; what agents are worth, and their health."""
    steps = Items(tuple(steps_of(say)), numbered=True)
    plan: Part = steps if steps.items else Text((say.text("no-step"),))
    drawn = [] if say.audit.plan.in_doubt else [*figures.costs(say)]
    first: tuple[Part, ...] = (Beside((plan, *drawn)),) if drawn else (plan,)
    if say.audit.plan.in_doubt:
        first = (Text(tuple(_doubts(say))), *first)
    worth = [] if say.audit.plan.in_doubt else [*figures.worth(say)]
    below = (*worth, *figures.health(say))
    return Section(
        "plan", "", (*first, *([Beside(below)] if below else [])), brief=True
    )


def _doubts(say: Speaker) -> Iterator[str]:
    """Yield why the outcome, or who reports it, is in doubt."""
    for one in say.audit.diagnoses:
        kind = kinds.every().get(one.code)
        if one.finding and kind and (kind.doubts or kind.asked):
            yield say.finding(one.finding)


def steps_of(say: Speaker) -> Iterator[Item]:
    """Yield the steps of the plan, each with what it saves and its command."""
    for step in say.audit.plan.steps:
        facts = list(say.saved(step))
        command = say.command(step)
        if command and (places := say.by_hand(step)):
            steps = say.text("steps", places=places)
            facts.append((say.text("by-hand"), steps))
        yield Item(say.step(step), tuple(facts), command)


def _changes(say: Speaker) -> Iterator[Section]:
    lines = tuple(say.changes())
    if lines:
        first, *rest = lines
        parts = (Text((first,)), Text(tuple(rest), listed=True))
        yield Section("changes", say.text("section-changes"), parts,
                      say.text("link-changes"), brief=True)  # fmt: skip


# The agents


def _agents(say: Speaker, most: int | None) -> Section:
    title, link = say.text("section-agents"), say.text("link-agents")
    grid, lines = agents(say, most), tuple(_agent_lines(say, most))
    parts: tuple[Part, ...] = (grid, Text(lines)) if lines else (grid,)
    return Section("agents", title, parts, link, brief=True)


def agents(say: Speaker, most: int | None = None) -> Grid:
    """One row per agent, the most severe first; then outcome and pool."""
    audit, doubt = say.audit, say.audit.plan.in_doubt
    summaries = {one.agent: one for one in audit.summaries}
    ranked = sorted(audit.agents, key=lambda one: _rank(one, summaries.get(one.who)))
    listed = ranked[:most]
    rows, tones, opens = [], [], []
    columns = _columns(say)
    for one in (*listed, audit.outcome, audit.pool):
        agent = one.subject == "agent"
        found = one.finding is not None or one.evidence
        if not agent and (not found or say.hidden(one)):
            continue
        known = summaries.get(one.who) if agent and not doubt else None
        cells = [cell(known) if known else "" for _, cell in columns]
        rows.append((_name(say, one), say.state(one), say.began(one), *cells))
        tones.append("" if say.hidden(one) else one.severity or "")
        opens.append(tuple(_opened(say, one, known)))
    headers = (say.text("agent"), say.text("state"), say.text("since"),
               *(header for header, _ in columns))  # fmt: skip
    plan = audit.plan
    notes: tuple[str, ...] = ()
    if say.cost("worth") in headers:
        name = say.pool(plan.pool or plan.in_use, plan.without)
        notes = (say.text("agents-note", pool=name),)
    return Grid(
        "", headers, tuple(rows), notes, essential=4, words=3, folded=True,
        tones=tuple(tones), opens=tuple(opens),
    )  # fmt: skip


def _rank(one: Diagnosis, known: AgentSummary | None) -> tuple[int, float]:
    worth = known.worth.value if known and known.worth else 0.0
    return RANKS.get(one.severity or "", 2), -worth


def _name(say: Speaker, one: Diagnosis) -> str:
    if one.subject == "agent":
        return one.who
    return say.text("outcome" if one.subject == "outcome" else "pool-row")


def _columns(say: Speaker) -> list[tuple[str, Cell]]:
    """Columns of the table of agents that are known of one agent at least."""
    audit = say.audit
    cells: dict[str, Cell] = {
        "worth": lambda one: measured(one.worth),
        "net": lambda one: measured(one.net),
        "weight": lambda one: _weight(one.weight),
        "weight-recommended": lambda one: _weight(one.recommended_weight),
    }
    known = [
        code
        for code, cell in cells.items()
        if any(cell(one) not in ("", "-") for one in audit.summaries)
    ]
    if audit.plan.in_doubt:
        known = []
    money = ("worth", "net")
    return [
        (say.cost(code) if code in money else say.text(code), cells[code])
        for code in known
    ]


def _weight(weight: float | None) -> str:
    return "" if weight is None else f"{100 * weight:.0f} %"


def _agent_lines(say: Speaker, most: int | None) -> Iterator[str]:
    """Yield whom to ask at these prices, and how many agents are not shown."""
    audit, best = say.audit, say.audit.best_set
    if most is not None and most < len(audit.agents):
        yield say.text("agents-shown", shown=most, agents=len(audit.agents))
    if idle := say.idle():
        yield say.text("idle", who=few(idle))
    if best is not None and not audit.plan.in_doubt:
        saves = best.dropped and best.saving.low > 0
        yield say.text(
            "best-set" if saves else "best-set-all",
            agents=few(best.agents),
            dropped=few(best.dropped),
            saving=best.saving,
        )


def _opened(say: Speaker, one: Diagnosis, known: AgentSummary | None) -> Iterator[Item]:
    """Yield what is known of an agent: its findings, then its numbers."""
    for finding in (*([one.finding] if one.finding else []), *one.evidence):
        shown = not say.audit.plan.in_doubt or not say.hidden(
            replace(one, code=finding.code)
        )
        if shown:
            yield item(say, finding)
    numbers = [] if known is None else list(_numbers(say, one.who, known))
    if one.finding is None or numbers:
        text = say.text("nothing") if one.code == kinds.SOUND else ""
        yield Item("" if one.finding else text, tuple(numbers))


def item(say: Speaker, finding: Finding) -> Item:
    """Return a finding as a row: its sentence, its numbers and how severe it is."""
    facts = []
    if finding.number is not None:
        facts.append((say.unit(finding), measured(finding.number)))
    if finding.saving is not None and not say.audit.plan.in_doubt:
        facts.append((say.text("saving"), say.money(finding.saving)))
    if finding.p_value is not None:
        facts.append((say.text("adjusted-p"), format_p_value(finding.p_value)))
    facts += [(name, measured(value)) for name, value in finding.details[:MOST_LINES]]
    severity = finding.severity
    return Item(
        say.finding(finding), tuple(facts), tone=severity, badge=say.text(severity)
    )


def _numbers(say: Speaker, who: str, known: AgentSummary) -> Iterator[tuple[str, str]]:
    calibration = next((one for one in say.audit.calibration if one.who == who), None)
    values = {
        "worth": say.money(known.worth),
        "worth-month": say.money(known.worth_per_month),
        "price": say.money(known.price),
        "net": say.money(known.net),
        "own-cost": say.money(known.cost),
        "brier": number(known.brier),
        "reported": percent(known.report_rate),
        "credit": say.money(known.leave_one_out),
        "shapley": say.money(known.shapley),
        "earned": measured_share(known.earned_weight),
        "slope": measured(calibration.slope) if calibration else "-",
        "bias": measured(calibration.bias) if calibration else "-",
    }
    shown = {code: text for code, text in values.items() if text.split()[0] != "-"}
    yield from ((say.text(code), text) for code, text in shown.items())


# In operation


def _operation(say: Speaker) -> Iterator[Section]:
    audit = say.audit
    if not audit.operations:
        return
    parts: list[Part] = [operations(say)]
    parts += figures.slider(say)
    yield Section("operation", say.text("section-operation"), tuple(parts),
                  say.text("link-operation"), brief=True)  # fmt: skip


def operations(say: Speaker) -> Grid:
    """What deciding by each pool means."""
    audit = say.audit
    cells: dict[str, Callable[[Operation], str]] = {
        "cost": lambda one: measured(one.cost),
        "alerts-day": lambda one: measured(one.alerts_per_day),
        "alerts": lambda one: measured_share(one.alerts),
        "precision": lambda one: measured_share(one.precision),
        "recall": lambda one: measured_share(one.recall),
        "recall-money": lambda one: measured_share(one.recall_of_money),
        "false-alarms": lambda one: measured_share(one.false_alarms),
        "cost-month": lambda one: measured(one.cost_per_month),
    }  # fmt: skip
    known = [
        c for c, cell in cells.items() if any(cell(o) != "-" for o in audit.operations)
    ]
    if "alerts-day" in known:
        known.remove("alerts")
    rows = [(role, *(cells[code](one) for code in known)) for role, one in roles(say)]
    money = ("cost", "cost-month")
    titles = (say.cost(c) if c in money else say.text(c) for c in known)
    headers = (say.text("pool"), *titles)
    notes = (say.text("pools-note"),) if audit.classes == 2 else ()
    return Grid("", headers, tuple(rows), notes, essential=3, folded=True)


def roles(say: Speaker) -> list[tuple[str, Operation]]:
    """Pools with the part they play: in use, recommended, the simplest alternative."""
    plan, found = say.audit.plan, []
    left = [name for name in say.audit.judged if name not in plan.without]
    for place, one in enumerate(say.audit.operations):
        code, name = "in-use" if place == 0 else "recommended", say.pool(one.pool)
        if place and one.pool == plan.in_use:
            code = "recommended-kept"
        elif place and one.pool == plan.alternative != plan.pool:
            code = "alternative"
        elif place and plan.without:
            name = say.text("pool-of", pool=name, left=len(left))
        found.append((say.text(code, pool=name), one))
    return found


# The method


def _method(say: Speaker) -> Section:
    """The settings, what was sampled or left out, and the versions."""
    audit = say.audit
    grid = Grid("", ("", ""), tuple(_settings(say)), prose=True)
    parts: list[Part] = [grid]
    withheld: dict[str, list[str]] = {}
    for one in audit.withheld:
        why = str(one.facts.get("why", ""))
        withheld.setdefault(why, []).append(say.note(one))
    if withheld:
        lines = tuple(
            say.text("withheld", what=", ".join(what), why=why)
            for why, what in withheld.items()
        )
        parts += [Text((say.text("withheld-title"),)), Text(lines, listed=True)]
    if audit.notes:
        notes = tuple(map(say.note, audit.notes))
        parts += [Text((say.text("notes-title"),)), Text(notes, listed=True)]
    return Section(
        "method", say.text("section-method"), tuple(parts), say.text("link-method")
    )


def _settings(say: Speaker) -> Iterator[tuple[str, str]]:
    audit = say.audit
    versions = [f"{name} {version(name)}" for name in PACKAGES]
    versions += [f"Python {platform.python_version()}", f"schema {SCHEMA}"]
    threshold = "method-own" if audit.classes == 2 else "method-classes"
    if audit.threshold is not None:
        shown = percent(audit.threshold)
    else:
        shown = say.text(threshold)
    yield say.text("method-pool"), say.text("method-pool-value")
    yield say.text("method-costs"), matrix(audit) or about_costs(audit)
    yield say.text("method-threshold"), shown
    yield say.text("method-intervals"), say.text("method-intervals-value")
    yield say.text("method-tests"), say.text("method-tests-value")
    if audit.plan.forward:
        yield say.text("method-forward"), say.text("method-forward-value")
    if audit.plan.grouped:
        yield say.text("method-grouped"), say.text("method-grouped-value")
    if audit.weighting:
        yield say.text("method-weighting"), ", ".join(audit.weighting)
    yield say.text("method-seed"), str(audit.seed)
    yield say.text("method-versions"), ", ".join(versions)
