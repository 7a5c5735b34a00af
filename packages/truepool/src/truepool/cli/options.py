"""One spelling per option: what means the same is written the same in every verb."""

import inspect
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args

import typer

from truepool.cli import config as config_file
from truepool.cli import export_options

if TYPE_CHECKING:
    from truepool.core.arrays import Array
    from truepool.panel.case_columns import CaseColumns
    from truepool.panel.costs import Costs
    from truepool.panel.labels import Labels
    from truepool.panel.panel import Panel
    from truepool.pools import Pool
    from truepool.tables import TableFormat, TableSummary
    from truepool.tables.panel_stream import PanelStream
    from truepool.tables.reader import CaseCheck


@dataclass(frozen=True)
class Spelling:
    """How an option is written, what its value is, and what it means."""

    value: str
    help: str
    short: str | None = None
    type: type = str


@dataclass(frozen=True)
class FromEnvironment:
    """A verb whose options, where not given, are looked for in the environment.

    Their names there are the prefix and the option, as in ``TRUEPOOL_SERVE_PORT``.
    """

    function: Callable[..., Any]
    prefix: str


LOSSES = "brier, log, spherical, cost or cost-brier"
NUMBER, COST = "NUMBER", "NUMBER|COLUMN"
PER_CASE = ", or the column that has it for each case"
CASE_COSTS = ("cost_fn", "cost_fp", "cost_tp", "cost_tn")
SPELLINGS = {
    "--outcome": Spelling(
        "COLUMN", "Column with the outcome: one of two labels, or of 0 to K-1."
    ),
    "--positive": Spelling(
        "LABEL",
        "The outcome label that reports are probabilities of. Required unless the "
        "labels are 0 and 1, or false and true.",
    ),
    "--id": Spelling(
        "COLUMN", "Column with the id of each case (default: 'id' if present)."
    ),
    "--time": Spelling(
        "COLUMN",
        "Column with the time of each case (default: 'time' if present). With times, "
        "pools are tested on cases later than those they were fitted on.",
    ),
    "--ignore": Spelling("COLUMN", "Column or agent to leave out. Repeatable."),
    "--weight": Spelling(
        "COLUMN", "Column with the weight of each case, a positive number."
    ),
    "--group": Spelling(
        "COLUMN",
        "Column with what cases have in common, such as a customer: cases of one group "
        "stay in one fold, and intervals resample whole groups.",
    ),
    "--propensity": Spelling(
        "COLUMN",
        "Column with the chance, above 0 and at most 1, that the outcome of the case "
        "became known. Cases are weighted by weight / propensity.",
    ),
    "--agents": Spelling(
        "NAMES",
        "Columns that are agents: names or patterns, separated by commas, as in "
        "'a,b,model_*'; ? stands for any character, such as a comma in a name "
        "(default: every column without another meaning).",
    ),
    "--time-format": Spelling(
        "FORMAT",
        "How times are written, as in '%d.%m.%Y %H:%M' (default: ISO 8601). If columns "
        "differ, give several formats, separated by |; each column must fit one.",
    ),
    "--sep": Spelling(
        "CHARACTER",
        "Separator of a text file, as in ';' or tab (default: detected from the first "
        "line).",
    ),
    "--decimal": Spelling("MARK", "Decimal mark: . or a comma."),
    "--missing": Spelling(
        "WORD",
        "A word that means no report, such as n/d. Repeatable. An empty cell, NA, n/a, "
        "NaN and null mean that already.",
    ),
    "--percent": Spelling(
        "[=NAMES]",
        "All reports are percentages, 0 to 100 or 6.1%. --percent=NAMES: only those of "
        "these agents, as in a,b or 'vendor_*'; the equals sign is required. "
        "--no-percent: none.",
    ),
    "--scores": Spelling(
        "[NAMES=]LOW-HIGH",
        "Reports are scores, as in 1-5: s counts as (s - 1) / 4. NAMES=LOW-HIGH, as in "
        "vendor=0-999: only those of these agents. Where a high score means a low "
        "probability, HIGH-LOW. Repeatable.",
    ),
    "--long": Spelling(
        "CASE AGENT REPORT",
        "The table has one row per report; these three columns hold the case, the "
        "agent and the report. --time is then the time of the report, and the latest "
        "report of an agent on a case counts.",
        type=tuple[str, str, str],
    ),
    "--decision-time": Spelling(
        "COLUMN", "For a long table: only reports made before this time count."
    ),
    "--updates": Spelling(
        "RULE",
        "For a long table: what counts when an agent reports on a case more than once: "
        "last, the latest report (default); last-row, likewise, and of two at the same "
        "time the one further down the table; or time-weighted, each report for as "
        "long as it stood before the decision time.",
    ),
    "--cost-fn": Spelling(
        COST, f"Cost of a missed case, with two classes: a number{PER_CASE}."
    ),
    "--cost-fp": Spelling(COST, "Cost of a false alarm, likewise."),
    "--cost-tp": Spelling(COST, "Cost of a hit, likewise; a benefit is negative."),
    "--cost-tn": Spelling(
        COST, "Cost of leaving a negative case alone, likewise; a benefit is negative."
    ),
    "--currency": Spelling(
        "NAME", "Unit of the costs, as in EUR (default: false alarms)."
    ),
    "--cost-matrix": Spelling(
        "ROWS",
        "Costs for K classes, one row per true class and one column per decision, in "
        "the order of the class columns: '0,1,1; 10,0,1; 10,1,0'.",
    ),
    "--capacity": Spelling(
        "LIMIT",
        "Flag at most this many cases, the most valuable ones: a number, a "
        "share or a rate, as in 200, 5% or 200/day (hour, day, week, month). A case "
        "counts when it is decided: at its --decision-time if there is one, else at "
        "its --time.",
    ),
    "--by": Spelling(
        "COLUMN", "Column that divides the cases into segments: who fails where."
    ),
    "--threshold": Spelling(
        "NUMBER",
        "Decide positive above this probability (default: the threshold that "
        "minimises the expected cost).",
        type=float,
    ),
    "--model": Spelling("NAME", "Which model."),
    "--agent": Spelling("NAME", "Which agent."),
    "--pool": Spelling("NAME", "Which pool."),
    "--learner": Spelling("NAME", "Which online learner."),
    "--payment": Spelling("NAME", "How agents are paid. Repeatable."),
    "--loss": Spelling("NAME", f"Loss: {LOSSES}."),
    "--level": Spelling("NUMBER", "Confidence level of the intervals.", type=float),
    "--seed": Spelling("NUMBER", "The same seed gives the same numbers.", type=int),
    "--jobs": Spelling(
        "NUMBER", "Number of parallel processes; -1 uses all cores.", type=int
    ),
    "--engine": Spelling(
        "NAME",
        "Where the work is done: local (this machine), or ray (all nodes of a Ray "
        "cluster). The results are the same.",
    ),
    "--address": Spelling(
        "HOST:PORT",
        "With --engine ray: head node of the cluster (default: RAY_ADDRESS if set, "
        "else a Ray of its own on this machine).",
    ),
    "--output": Spelling("FILE", "File to write; - is standard output.", "-o", Path),
    "--json": Spelling(
        "[=FILE]",
        "Print JSON instead of tables. --json=FILE writes JSON to that file and still "
        "prints the tables; the equals sign is required.",
        type=Path,
    ),
    "--html": Spelling("FILE", "Write an HTML page to this file.", type=Path),
    "--markdown": Spelling("FILE", "Write Markdown to this file.", type=Path),
    "--plot": Spelling("FILE", "Draw to this SVG, PNG or PDF file.", type=Path),
    "--config": Spelling(
        "FILE",
        "TOML file with options by their long names, such as truepool init writes; the "
        "command line wins.",
        type=Path,
    ),
    "--last": Spelling("NUMBER", "How many of the most recent ones.", type=int),
    "--quiet": Spelling("", "Print nothing but errors.", type=bool),
    "--force": Spelling("", "Replace files that truepool did not write.", type=bool),
    "--spreadsheet-safe": Spelling(
        "",
        "In CSV, put an apostrophe before text that starts with =, +, - or @, which a "
        "spreadsheet would run as a formula.",
        type=bool,
    ),
    "--host": Spelling("ADDRESS", "Address to listen on."),
    "--port": Spelling("NUMBER", "Port to listen on; 0 takes a free one.", type=int),
    "--grpc-port": Spelling(
        "NUMBER", "Also serve gRPC on this port; 0 takes a free one.", type=int
    ),
    "--tls-cert": Spelling("FILE", "Certificate, in PEM format.", type=Path),
    "--tls-key": Spelling("FILE", "Key of the certificate, in PEM format.", type=Path),
    "--insecure": Spelling(
        "", "Listen beyond this machine even without TLS or tokens.", type=bool
    ),
    "--check": Spelling("", "Check the options, then exit.", type=bool),
    "--trust": Spelling(
        "",
        "Load .joblib files. They can run any code: load only what you trust.",
        type=bool,
    ),
}
"""Every option that more than one verb has, or may have. A verb's other options are
its own: no second verb may use their names."""


def option(name: str, help: str | None = None, **settings: Any) -> Any:
    """Return a shared option; ``help`` replaces the shared help of this verb."""
    known = SPELLINGS[name]
    flags = [name] if known.short is None else [name, known.short]
    if known.value:
        settings.setdefault("metavar", known.value)
    return typer.Option(*flags, help=help or known.help, **settings)


MAX_JOBS = 1_000
"""Largest number of processes that a command starts."""


def _check_jobs(jobs: int | None) -> int | None:
    from truepool.core.errors import SettingError

    if jobs is not None and (jobs == 0 or jobs < -1):
        raise SettingError(f"--jobs must be 1 or more, or -1 for all cores; got {jobs}")
    if jobs is not None and jobs > MAX_JOBS:
        raise SettingError(
            f"--jobs may be at most {MAX_JOBS:,}; got {jobs:,}. -1 uses all cores."
        )
    return jobs


def _apply_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take from a config file what the command line does not give."""
    if path is not None and not context.resilient_parsing:
        context.default_map = config_file.read(path, str(context.info_name))
    return path


def _ignored(context: typer.Context, ignore: list[str] | None) -> list[str] | None:
    """Add to what a config file ignores, but for agents that the command line names."""
    own = (context.default_map or {}).get("ignore")
    if own is None:
        return ignore
    agents: set[str] = set()
    source = context.get_parameter_source("agents")
    if source is not None and source.name == "COMMANDLINE":
        agents = {name.strip() for name in context.params["agents"].split(",")}
    given = [] if ignore is None or ignore == own else ignore
    return [*(name for name in own if name not in agents), *given]


def _missing_words(
    context: typer.Context, missing: list[str] | None
) -> list[str] | None:
    """Add to the words of a config file."""
    own = (context.default_map or {}).get("missing")
    return missing if own is None else list(dict.fromkeys([*own, *(missing or ())]))


Table: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        metavar="PANEL",
        help="CSV, TSV, Excel, Parquet or JSON lines table with one row per case and "
        "one column per agent, or a data set of Parquet files (default: the bundled "
        "example).",
    ),
]
Outcome: TypeAlias = Annotated[str, option("--outcome")]
Positive: TypeAlias = Annotated[str | None, option("--positive")]
Id: TypeAlias = Annotated[str | None, option("--id")]
Time: TypeAlias = Annotated[str | None, option("--time")]
Ignore: TypeAlias = Annotated[list[str] | None, option("--ignore", callback=_ignored)]
Missing: TypeAlias = Annotated[
    list[str] | None, option("--missing", callback=_missing_words)
]
ConstantFn: TypeAlias = Annotated[
    str,
    option("--cost-fn", "Cost of a missed case: a number.", metavar=NUMBER),
]
ConstantFp: TypeAlias = Annotated[str, option("--cost-fp", metavar=NUMBER)]
CostFn: TypeAlias = Annotated[str, option("--cost-fn")]
CostFp: TypeAlias = Annotated[str, option("--cost-fp")]
Threshold: TypeAlias = Annotated[float | None, option("--threshold")]
Capacity: TypeAlias = Annotated[str | None, option("--capacity")]
By: TypeAlias = Annotated[str | None, option("--by")]
Level: TypeAlias = Annotated[float, option("--level")]
Seed: TypeAlias = Annotated[int, option("--seed", min=0)]
Jobs: TypeAlias = Annotated[int, option("--jobs", callback=_check_jobs)]
JobsOrAuto: TypeAlias = Annotated[
    int | None,
    option(
        "--jobs",
        "Number of parallel processes; -1 uses all cores (default: all cores once "
        "the work takes longer than starting them).",
        callback=_check_jobs,
    ),
]
EngineName: TypeAlias = Annotated[str, option("--engine")]
Address: TypeAlias = Annotated[str | None, option("--address")]
Json: TypeAlias = Annotated[Path | None, option("--json")]
Html: TypeAlias = Annotated[Path | None, option("--html")]
Markdown: TypeAlias = Annotated[Path | None, option("--markdown")]
Plot: TypeAlias = Annotated[Path | None, option("--plot")]
Quiet: TypeAlias = Annotated[bool, option("--quiet")]
Force: TypeAlias = Annotated[bool, option("--force")]
Config: TypeAlias = Annotated[
    Path | None, option("--config", is_eager=True, callback=_apply_config)
]
SpreadsheetSafe: TypeAlias = Annotated[bool, option("--spreadsheet-safe")]
Trust: TypeAlias = Annotated[bool, option("--trust")]
Host: TypeAlias = Annotated[str, option("--host")]
Port: TypeAlias = Annotated[int, option("--port", min=0, max=65535)]
GrpcPort: TypeAlias = Annotated[int | None, option("--grpc-port", min=0, max=65535)]
TlsCert: TypeAlias = Annotated[Path | None, option("--tls-cert")]
TlsKey: TypeAlias = Annotated[Path | None, option("--tls-key")]
Insecure: TypeAlias = Annotated[bool, option("--insecure")]


def _parse_table(
    outcome: Outcome = "y",
    positive: Positive = None,
    agents: Annotated[str | None, option("--agents")] = None,
    id: Id = None,
    time: Time = None,
    time_format: Annotated[str | None, option("--time-format")] = None,
    ignore: Ignore = None,
    sep: Annotated[str | None, option("--sep")] = None,
    decimal: Annotated[str, option("--decimal")] = ".",
    missing: Missing = None,
    percent: Annotated[str, option("--percent", show_default=False)] = "",
    scores: Annotated[list[str] | None, option("--scores")] = None,
    long: Annotated[tuple[str, str, str] | None, option("--long")] = None,
    decision_time: Annotated[str | None, option("--decision-time")] = None,
    updates: Annotated[str, option("--updates")] = "last",
    weight: Annotated[str | None, option("--weight")] = None,
    group: Annotated[str | None, option("--group")] = None,
    propensity: Annotated[str | None, option("--propensity")] = None,
) -> "TableFormat":
    from truepool.tables import TableFormat

    return TableFormat(
        outcome,
        positive=positive,
        agents=agents,
        id=id,
        time=time,
        time_format=time_format,
        ignore=ignore,
        sep=sep,
        decimal=decimal,
        missing=missing,
        percent=percent,
        scores=scores,
        long=long,
        decision_time=decision_time,
        updates=updates,
        weight=weight,
        group=group,
        propensity=propensity,
    )


def parse_cost(text: str) -> float | str:
    """Return the number that a cost is, or the column that has it for each case.

    >>> parse_cost("10"), parse_cost("amount")
    (10.0, 'amount')
    """
    try:
        return float(text)
    except ValueError:
        return text


def parse_share(name: str, text: str) -> float:
    """Return the share that the text of an option states.

    >>> parse_share("--explore", "1%"), parse_share("--explore", "0.01")
    (0.01, 0.01)
    """
    from truepool.core.errors import SettingError

    number, unit = text.strip().removesuffix("%"), 100 if "%" in text else 1
    try:
        share = float(number) / unit
    except ValueError:
        share = float("nan")
    if not 0 < share <= 1 or (share == 1 and unit == 1):
        cure = ". Write 1% or 100%." if share == 1 else ""
        raise SettingError(
            f"{name} must be a share above 0 and at most 100%, as in 1% or 0.01; got "
            f"{text!r}{cure}"
        )
    return share


def _parse_costs(
    cost_fn: CostFn = "1",
    cost_fp: CostFp = "1",
    cost_tp: Annotated[str, option("--cost-tp")] = "0",
    cost_tn: Annotated[str, option("--cost-tn")] = "0",
    cost_matrix: Annotated[str | None, option("--cost-matrix")] = None,
    currency: Annotated[str | None, option("--currency")] = None,
) -> "Costs":
    from truepool.core.errors import CostError
    from truepool.panel.costs import Costs

    fn, fp, tp, tn = map(parse_cost, (cost_fn, cost_fp, cost_tp, cost_tn))
    unit = currency or ""
    if cost_matrix is None:
        return Costs(fn, fp, tp=tp, tn=tn, currency=unit)
    try:
        rows = [
            [float(cell) for cell in row.split(",")] for row in cost_matrix.split(";")
        ]
    except ValueError:
        raise CostError(
            "a cost matrix is written as rows of numbers, '0,1; 10,0'; got "
            f"{cost_matrix!r}"
        ) from None
    if len({len(row) for row in rows}) > 1:
        raise CostError(
            f"the rows of a cost matrix must be equally long; got {cost_matrix!r}"
        )
    return Costs(fn, fp, tp=tp, tn=tn, matrix=rows, currency=unit)


def _check_one_form(given: Mapping[str, Any], context: typer.Context) -> None:
    """Refuse single costs beside a cost matrix, and say where each was given."""
    from truepool.core.errors import CostError
    from truepool.core.formatting import join_names

    usual = {"cost_fn": 1.0, "cost_fp": 1.0, "cost_tp": 0.0, "cost_tn": 0.0}
    both = [n for n in usual if n in given and parse_cost(given[n]) != usual[n]]
    if given.get("cost_matrix") is None or not both:
        return
    where, cures = {}, {}
    for name in (*both, "cost_matrix"):
        key = name.replace("_", "-")
        where[name] = f"--{key} {shlex.quote(given[name])}"
        cures[name] = f"leave out --{key}"
        source = context.get_parameter_source(name)
        if source is not None and source.name == "DEFAULT_MAP":
            where[name] = f"{key} of the config file"
            cures[name] = f"remove {key} from the config file"
    matrix = cures.pop("cost_matrix")
    raise CostError(
        "costs are given one by one or as a matrix, not both; got "
        f"{join_names([*where.values()])}. With more than two classes only a matrix "
        f"works: {join_names([*cures.values()])}. With two, do that or {matrix}."
    )


def _configure_pool(
    pool: Annotated[str, option("--pool")] = "auto",
    threshold: Threshold = None,
    loss: Annotated[
        str | None,
        option("--loss", f"Loss to fit the pool by, if it has one: {LOSSES}."),
    ] = None,
    seed: Seed = 0,
    **costs: Any,
) -> "Pool":
    from truepool.pools import configure

    own = {} if loss is None else {"loss": loss}
    paid = _parse_costs(**costs)
    return configure(pool, costs=paid, threshold=threshold, seed=seed, **own)


_own = [*inspect.signature(_configure_pool).parameters.values()]
_costs = inspect.signature(_parse_costs).parameters.values()
_configure_pool.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [_own[0], *_costs, *_own[1:-1]]
)


def _collect_new_table(
    id: Id = None,
    time: Time = None,
    time_format: Annotated[str | None, option("--time-format")] = None,
    sep: Annotated[str | None, option("--sep")] = None,
    decimal: Annotated[str | None, option("--decimal")] = None,
    missing: Missing = None,
    percent: Annotated[str | None, option("--percent")] = None,
    scores: Annotated[list[str] | None, option("--scores")] = None,
    long: Annotated[tuple[str, str, str] | None, option("--long")] = None,
    decision_time: Annotated[str | None, option("--decision-time")] = None,
    updates: Annotated[str | None, option("--updates")] = None,
) -> dict[str, Any]:
    """What is said about the table of new cases; the pool knows the rest."""
    return {name: value for name, value in locals().items() if value is not None}


GROUPS: dict[str, Callable[..., Any]] = {
    "table_format": _parse_table,
    "new_format": _collect_new_table,
    "costs": _parse_costs,
    "rule": _configure_pool,
}
"""Options that several verbs have together, by the name of the value they make."""

CONFIG = inspect.Parameter(
    "config", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Config
)

CONTEXT = inspect.Parameter(
    "context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context
)

LEFT_OUT = "left out"
"""What most verbs do with cases that have no outcome yet."""

NOTES: list[str] = []
"""Notes on the tables of this run. They are printed to standard error when the verb is
done, so that an error is the only sentence there."""


def _print_notes(*, quiet: bool) -> None:
    from truepool.cli.outputs import print_note

    for line in () if quiet else NOTES:
        print_note(line)


EXAMPLES = {"--cost-fn": 10, "--cost-fp": 1, "--cost-tp": 0, "--cost-tn": 0}
"""Costs in a cure."""

UNWEIGHTED = ("weight", "group", "propensity")
"""Options that verbs refuse for which every case counts once."""


def with_table(
    verb: Callable[..., None],
    *,
    refused: Collection[str] = (),
    constant_costs: bool = False,
) -> Callable[..., None]:
    """Give a verb the options of each group that it takes as one value.

    Those that it refuses are not in its help; a config file may have them for other
    verbs, and their columns are no agents then. Where costs must be constant, the help
    names no column for them.
    """
    own = inspect.signature(verb)
    groups = {
        name: (parse, inspect.signature(parse).parameters)
        for name, parse in GROUPS.items()
        if name in own.parameters
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in own.parameters.items():
        parameters += groups[name][1].values() if name in groups else [parameter]
    parameters = [_hide(p) if p.name in refused else p for p in parameters]
    if constant_costs:
        parameters = [_as_number(p) if p.name in CASE_COSTS else p for p in parameters]
    needs_context = CONTEXT.name in own.parameters
    parameters += [CONFIG] if needs_context else [CONFIG, CONTEXT]
    config_file.register(verb.__name__, parameters)

    @wraps(verb)
    def command(**given: Any) -> None:
        from truepool.cli.screen import no_progress

        del given[CONFIG.name]
        _set_apart(given, refused)
        notes = export_options.apply(given, given[CONTEXT.name])
        _check_one_form(given, given[CONTEXT.name])
        if not needs_context:
            del given[CONTEXT.name]
        values = {
            name: parse(**{option: given.pop(option) for option in options})
            for name, (parse, options) in groups.items()
        }
        named = _add_columns(values, given.get("by"))
        NOTES[:] = notes
        try:
            with no_progress(given["quiet"]), _given_options(named):
                verb(**given, **values)
        except SystemExit:
            _print_notes(quiet=given["quiet"])
            raise
        _print_notes(quiet=given["quiet"])

    signature = own.replace(parameters=parameters)
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _hide(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return an option that is understood, so that its refusal can say why."""
    kind, info = get_args(parameter.annotation)
    hidden = copy(info)
    hidden.hidden = True
    return parameter.replace(annotation=Annotated[kind, hidden])


def _as_number(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return the option of a cost without the column that it may be elsewhere."""
    kind, info = get_args(parameter.annotation)
    number = copy(info)
    number.metavar, number.help = NUMBER, info.help.replace(PER_CASE, "")
    return parameter.replace(annotation=Annotated[kind, number])


def _set_apart(given: dict[str, Any], refused: Iterable[str]) -> None:
    """Ignore the columns that only a config file names for what is refused."""
    for name in refused:
        source = given[CONTEXT.name].get_parameter_source(name)
        if source is not None and source.name == "DEFAULT_MAP":
            given["ignore"] = [*(given["ignore"] or ()), given.pop(name)]
            given[name] = None


def _add_columns(values: dict[str, Any], by: str | None) -> dict[str, str]:
    """Let the table keep the columns that the costs name, and that of the groups.

    Return the option that names each.
    """
    costs = values["rule"].costs if "rule" in values else values.get("costs")
    named = {} if costs is None else {f"--cost-{k}": v for k, v in costs.named.items()}
    if by is not None:
        named["--by"] = by
    if named:
        written = values["table_format"]
        columns = dict.fromkeys((*written.columns, *named.values()))
        values["table_format"] = replace(written, columns=tuple(columns))
    return named


@contextmanager
def _given_options(named: Mapping[str, str]) -> Iterator[None]:
    """Name the option that named a column of the cases in an error about it.

    The reader of a table does not know which of them named a column.
    """
    from truepool.core.errors import PanelError

    try:
        yield
    except PanelError as error:
        from truepool.tables.reader import CASE_OPTIONS

        text = str(error)
        own = [o for o, column in named.items() if f"column {column!r}" in text]
        if not own or CASE_OPTIONS not in text:
            raise
        raise type(error)(text.replace(CASE_OPTIONS, " or ".join(own))) from None


def panel_or_example(
    table: Path | None,
    table_format: "TableFormat",
    *,
    allow_empty_cases: bool = False,
    pending: str | None = LEFT_OUT,
    seed: int = 0,
    costs: "Costs | None" = None,
) -> "Panel":
    """Read the table that is named, or take the bundled example."""
    from truepool.datasets import example

    if table is None:
        check_no_columns(table_format, "see the bundled example")
        NOTES.append("No table was given: these are the cases of the bundled example.")
        return example()
    return read_panel(
        table,
        table_format,
        allow_empty_cases=allow_empty_cases,
        pending=pending,
        seed=seed,
        costs=costs,
    )


def read_panel(
    table: Path,
    table_format: "TableFormat",
    *,
    allow_empty_cases: bool = False,
    pending: str | None = LEFT_OUT,
    seed: int = 0,
    costs: "Costs | None" = None,
) -> "Panel":
    """Read a panel, and note what was found in the table.

    ``pending`` says what is done with cases that have no outcome yet; None where the
    verb says so itself. Of a data set larger than memory a sample is read, by ``seed``.
    The ``costs`` of each case are checked while its row has a name.
    """
    from truepool.tables import load_panel

    rows, written = _rows(table, table_format, seed)
    panel, summary = load_panel(
        rows,
        written,
        allow_empty_cases=allow_empty_cases,
        check=cost_check(costs, decided=pending != LEFT_OUT),
    )
    note(summary)
    NOTES.extend(_uses(panel, table_format))
    if panel.pending is not None and pending is not None:
        note_pending(len(panel.unsplit().pending or ()), pending)
    return panel


def cost_check(costs: "Costs | None", *, decided: bool) -> "CaseCheck":
    """Return a check of the costs per case; of pending ones, where they are decided."""

    def check(columns: "CaseColumns", ids: "Array | None", *, pending: bool) -> None:
        if costs is not None and (decided or not pending):
            costs.resolve(columns, ids)

    return check


def check_class_costs(costs: "Costs | None", labels: "Labels") -> None:
    """Refuse costs of misses and false alarms with more than two classes.

    Which class would be the negative one is not to be guessed. Where all errors cost
    the same, and all right decisions, nothing is.
    """
    from truepool.core.errors import CostError
    from truepool.core.formatting import amount
    from truepool.render.config import cost_matrix
    from truepool.render.labels import class_names

    names, usual = class_names(labels.names), (1.0, 1.0, 0.0, 0.0)
    if costs is None:
        return
    rows = (
        "one row of costs per true class and one column per decision, in the order "
        f"{', '.join(names)}"
    )
    if costs.matrix is not None and len(costs.matrix) != len(names):
        size = len(costs.matrix)
        raise CostError(
            f"a cost matrix must have {rows}; got {size} x {size} for {len(names)} "
            f"classes. For example: --cost-matrix '{cost_matrix(len(names))}'."
        )
    if len(names) < 3 or costs.matrix is not None:
        return
    amounts = (costs.fn, costs.fp, costs.tp, costs.tn)
    if costs.constant and costs.fn == costs.fp and costs.tp == costs.tn:
        return
    kinds = ("fn", "fp", "tp", "tn")
    given = [k for k, a, u in zip(kinds, amounts, usual, strict=True) if a != u]
    missed = costs.fn if isinstance(costs.fn, float) and costs.fn != 1 else 10.0
    first, others = cost_matrix(len(names)).split("; ", 1)
    example = f"{first.replace('1', amount(missed))}; {others}"
    raise CostError(
        f"--cost-{given[0]} is for two classes, of which one is positive; there are "
        f"{len(names)}. Give {rows}: --cost-matrix '{example}' if missing {names[0]} "
        f"costs {amount(missed)} and any other error 1."
    )


def check_constant_costs(costs: "Costs", why: str) -> None:
    """Refuse costs per case where all cases share one rule."""
    from truepool.core.errors import CostError
    from truepool.core.formatting import join_names

    flags = {f"--cost-{kind}": column for kind, column in costs.named.items()}
    if flags:
        named = [f"{flag} names the column {name!r}" for flag, name in flags.items()]
        numbers = " ".join(f"{flag} {EXAMPLES[flag]}" for flag in flags)
        raise CostError(
            f"{why}, so a cost must be one number; {join_names(named)}. Pass "
            f"{numbers}, with your own numbers; in a config file, costs per case "
            "belong in the sections of commands that take them, such as [audit] and "
            "[fit] (docs/config.md)."
        )


def note_faults(panel: "Panel", *, outcome: bool = True) -> None:
    """Warn, as the audit does, of the wrong outcome or label, and of broken agents."""
    from truepool.audits.topics.feeds import dead_feeds
    from truepool.audits.topics.reversal import (
        doubt_labels,
        doubt_outcome,
        reversed_agents,
    )
    from truepool.core.formatting import join_names, pluralize
    from truepool.tables.agent_columns import removal_options

    unrelated = doubt_outcome(panel) if outcome else None
    if unrelated is not None:
        NOTES.insert(0, f"warning: {unrelated}")
    doubt = doubt_labels(panel)
    if doubt is not None:
        NOTES.append(f"warning: {doubt.sentence} {doubt.cure}")
    turned = reversed_agents(panel) if doubt is None else []
    if turned:
        who = [one.agent for one in turned]
        agents = [
            f"{one.agent} (AUC {one.area:.2f} on {pluralize(one.cases, 'case')})"
            for one in turned
        ]
        verb, its, it = "reports", "its feed", "it"
        if len(who) > 1:
            verb, its, it = "report", "their feeds", "them"
        options = removal_options(who, panel.agents)
        out = f", or leave {it} out ({options})" if options else ""
        NOTES.append(
            f"warning: {join_names(agents)} {verb} the opposite of what happens: the "
            f"higher the report, the less likely the event. Have {its} fixed{out}; "
            "truepool audit says what that costs or saves."
        )
    feeds = dead_feeds(panel)
    if feeds:
        gone = [feed.agent for feed in feeds]
        options = removal_options(gone, panel.agents)
        out = f", or leave {join_names(gone)} out ({options})" if options else ""
        its = "its feed" if len(gone) == 1 else "their feeds"
        said = " ".join(feed.sentence for feed in feeds)
        NOTES.append(
            f"warning: {said} Have {its} fixed{out}; truepool audit says what that "
            "costs or saves."
        )


def note_one_class(counts: tuple[int, ...], labels: "Labels") -> None:
    """Warn first that every case has the same outcome, from which little is learned."""
    there = [k for k, count in enumerate(counts) if count]
    if len(there) == 1:
        NOTES.insert(
            0,
            f"warning: every outcome is {labels.names[there[0]]!r}, so nothing can be "
            "learned about the others, and an audit would refuse this table. Add cases "
            "with another outcome.",
        )


def note_pending(count: int, what: str) -> None:
    """Note how many cases have no outcome yet, and what is done with them."""
    from truepool.core.formatting import pluralize

    has = "has" if count == 1 else "have"
    NOTES.append(f"{pluralize(count, 'case')} {has} no outcome yet: {what}.")


def _rows(
    table: Path, table_format: "TableFormat", seed: int
) -> "tuple[Any, TableFormat]":
    """Return a table and how it is written; of too many rows, a sample of them."""
    from truepool.cli.screen import row_progress
    from truepool.core.errors import SourceError
    from truepool.tables.dataset import open_dataset
    from truepool.tables.files import is_dataset, is_parquet
    from truepool.tables.row_sample import MOST_ROWS, read_sample

    if not is_parquet(table):
        return table, table_format
    if table_format.long is not None:
        if is_dataset(table):
            raise SourceError(
                "a long table is read whole, from one file; got the data set "
                f"{str(table)!r}. Name a file, or write the cases in rows."
            )
        return table, table_format
    dataset = open_dataset(table)
    written = dataset.describe(table_format)
    if dataset.rows <= MOST_ROWS:
        return read_sample(dataset) if is_dataset(table) else table, written
    NOTES.append(
        f"Read a uniform sample of {MOST_ROWS:,} of the {dataset.rows:,} rows (seed "
        f"{seed})."
    )
    what = f"a sample of {MOST_ROWS:,}"
    with row_progress("Reading", dataset.rows, what) as progress:
        return read_sample(dataset, MOST_ROWS, seed, progress), written


def sample_stream(panels: "PanelStream") -> "tuple[Panel, TableSummary] | None":
    """Return cases from all over a data set that was read batch by batch.

    None where they do not have all labels: too few of a class to say anything.
    """
    from truepool.core.errors import OutcomeError
    from truepool.tables import load_panel
    from truepool.tables.row_sample import read_rows, spaced_rows

    dataset, labels = panels.dataset, panels.labels
    positive = panels.written.positive if labels.plain else labels.positive
    rows = read_rows(dataset, spaced_rows(dataset.rows))
    try:
        return load_panel(rows, replace(panels.written, positive=positive))
    except OutcomeError:
        return None


def note_stream(
    panels: "PanelStream", doubtful: "Mapping[str, str] | None" = None
) -> None:
    """Note what was found in a data set that was read batch by batch."""
    from truepool.tables.row_sample import BLOCKS, spaced_rows

    totals, written = panels.totals, panels.written
    summary = replace(panels.summary, empty_cases=totals.empty)
    note(replace(summary, doubtful=doubtful or {}))
    rows = panels.dataset.rows
    checked, part = len(spaced_rows(rows)), ""
    if checked < rows:
        some = f"{checked:,} of them, in {BLOCKS} blocks"
        part = f" Labels and feeds were checked on {some}."
    NOTES.append(f"All {rows:,} rows were read, batch by batch.{part}")
    if panels.checkpoint is not None and panels.checkpoint.resumed:
        done = panels.checkpoint.resumed
        are = "part was" if done == 1 else "parts were"
        NOTES.append(f"{done:,} {are} summed up before an interruption: skipped.")
    NOTES.extend(_scales(panels.summary.agents, written))
    if written.weight is not None:
        NOTES.append(f"Each case counts by its {written.weight}.")
    if written.propensity is not None:
        NOTES.append(
            f"Each case counts by 1 / {written.propensity}, the chance that it was "
            "reviewed."
        )
    if totals.pending:
        note_pending(totals.pending, LEFT_OUT)


def _scales(agents: Iterable[str], table_format: "TableFormat") -> Iterator[str]:
    """Say how scores are counted, and that they are no probabilities."""
    if not table_format.scores:
        return
    from truepool.panel.labels import format_names
    from truepool.tables.score_range import REVERSED, by_formula

    ends = table_format.other_ends(agents)
    scored = {name: own for name, own in ends.items() if table_format.score_range(name)}
    for formula, names in by_formula(scored).items():
        counts = f"of {format_names(names)} counts as {formula}."
        if formula == REVERSED.formula:
            yield f"A report s {counts}"
        else:
            yield (
                f"A score s {counts} That is no probability; auto corrects for it, and "
                "mean, median or vcg do not."
            )


def _uses(panel: "Panel", table_format: "TableFormat") -> Iterator[str]:
    """Say how the columns that weight and group the cases are used."""
    unit = table_format.unit
    yield from _scales(panel.agents, table_format)
    if panel.groups is not None:
        count = len(set(panel.groups.tolist()))
        group = table_format.group or (table_format.long or ("case",))[0]
        yield (
            f"{unit.capitalize()}s of the same {group} ({count:,} in all) stay in one "
            "fold, and are resampled together for every margin of error."
        )
    if panel.weights is not None:
        weight = table_format.weight or "share of the time that the case was open"
        yield f"Each {unit} counts by its {weight}."
    if panel.propensity is not None:
        yield (
            f"Each case counts by 1 / {table_format.propensity}, the chance that it "
            "was reviewed."
        )


def note(
    summary: "TableSummary",
    who: str = "Agents",
    reword: Callable[[str], str] = str,
) -> None:
    """Note which agents are used, and what else was found."""
    from truepool.panel.labels import format_names

    NOTES.append(f"{who}: {format_names(summary.agents)}.")
    NOTES.extend(map(reword, summary.notes()))
    NOTES.extend(f"warning: {reword(text)}" for text in summary.warnings())


def check_unweighted(table_format: "TableFormat", who: str) -> None:
    """Refuse weights, groups and propensities where every case counts once."""
    from truepool.core.errors import SettingError
    from truepool.tables import TableFormat

    counted_once = table_format.unit == "case"
    for name in (*UNWEIGHTED, *(() if counted_once else ["updates"])):
        value = getattr(table_format, name)
        if value != getattr(TableFormat(), name):
            raise SettingError(
                f"{who} every case once, as independent; got --{name} {value}. Leave "
                "it out."
            )


def check_not_given(context: typer.Context, names: Iterable[str], why: str) -> None:
    """Refuse options of the running command that would change nothing."""
    from truepool.core.errors import SettingError

    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name in ("COMMANDLINE", "DEFAULT_MAP"):
            flag = f"--{name.replace('_', '-')}"
            raise SettingError(f"{flag} {why}. Leave it out, or leave out the table.")


def check_no_columns(table_format: "TableFormat", purpose: str) -> None:
    """Refuse options that describe a table where no table is given."""
    from truepool.core.errors import SourceError
    from truepool.tables import TableFormat

    if table_format != TableFormat():
        raise SourceError(
            "options that describe a table need one; name the table as well, or leave "
            f"these options out to {purpose}"
        )
