"""One spelling per option, and the glue between verbs, options and keys.

A verb is a function whose parameters are annotated: with `option`, it is an option of
the command line and a key; with `key`, a key only, which a file or ``--set`` gives.
"""

import inspect
import os
import shlex
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, final, get_args

import typer
from typer.models import OptionInfo

from truepool.cli import keys
from truepool.cli.keys import LOSSES, NUMBER, Parameter, Setting, key, option
from truepool.cli.run import Run

if TYPE_CHECKING:
    from truepool.panel.costs import Costs
    from truepool.pools import Pool
    from truepool.tables import Declared

Table: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        metavar="PANEL",
        help="CSV, TSV, Excel, Parquet or JSON lines table with one row per case and "
        "one column per agent, or a data set of Parquet files (default: the bundled "
        "example).",
    ),
]
Outcome: TypeAlias = Annotated[str | None, option("outcome")]
Positive: TypeAlias = Annotated[str | None, option("positive")]
Agents: TypeAlias = Annotated[list[str] | None, option("agents")]
Ignore: TypeAlias = Annotated[list[str] | None, option("ignore")]
Id: TypeAlias = Annotated[str | None, option("id")]
Time: TypeAlias = Annotated[str | None, option("time")]
CostFn: TypeAlias = Annotated[str, option("cost-fn")]
CostFp: TypeAlias = Annotated[str, option("cost-fp")]
ConstantFn: TypeAlias = Annotated[
    str, option("cost-fn", "Cost of a missed case: a number.", metavar=NUMBER)
]
ConstantFp: TypeAlias = Annotated[str, option("cost-fp", metavar=NUMBER)]
PoolName: TypeAlias = Annotated[str, option("pool")]
By: TypeAlias = Annotated[str | None, option("by")]
Threshold: TypeAlias = Annotated[float | None, key("threshold")]
Capacity: TypeAlias = Annotated[str | None, key("capacity")]
Level: TypeAlias = Annotated[float, key("level")]
Seed: TypeAlias = Annotated[int, key("seed")]
Jobs: TypeAlias = Annotated[int, key("jobs")]
JobsOrAuto: TypeAlias = Annotated[
    int | None,
    key(
        "jobs",
        "Number of parallel processes; -1 uses all cores (default: all cores once "
        "the work takes longer than starting them).",
    ),
]
EngineName: TypeAlias = Annotated[str, key("engine")]
Address: TypeAlias = Annotated[str | None, key("address")]
SpreadsheetSafe: TypeAlias = Annotated[bool, key("spreadsheet-safe")]
Json: TypeAlias = Annotated[Path | None, option("json")]
Html: TypeAlias = Annotated[Path | None, option("html")]
Markdown: TypeAlias = Annotated[Path | None, option("markdown")]
Plot: TypeAlias = Annotated[Path | None, option("plot")]
Quiet: TypeAlias = Annotated[bool, option("quiet")]
Force: TypeAlias = Annotated[bool, option("force")]
Trust: TypeAlias = Annotated[bool, option("trust")]
Host: TypeAlias = Annotated[str, option("host")]
Port: TypeAlias = Annotated[int, option("port", min=0, max=65535)]
GrpcPort: TypeAlias = Annotated[int | None, option("grpc-port", min=0, max=65535)]
TlsCert: TypeAlias = Annotated[Path | None, option("tls-cert")]
TlsKey: TypeAlias = Annotated[Path | None, option("tls-key")]
Insecure: TypeAlias = Annotated[bool, option("insecure")]


def _declare(
    outcome: Outcome = None,
    positive: Positive = None,
    agents: Agents = None,
    ignore: Ignore = None,
    id: Id = None,
    time: Time = None,
    *,
    time_format: Annotated[str | None, key("time-format")] = None,
    sep: Annotated[str | None, key("sep")] = None,
    decimal: Annotated[str | None, key("decimal")] = None,
    missing: Annotated[list[str] | None, key("missing")] = None,
    percent: Annotated[Any, key("percent")] = None,
    scores: Annotated[Any, key("scores")] = None,
    long: Annotated[Any, key("long")] = None,
    decision_time: Annotated[str | None, key("decision-time")] = None,
    updates: Annotated[str, key("updates")] = "last",
    weight: Annotated[str | None, key("weight")] = None,
    group: Annotated[str | None, key("group")] = None,
    propensity: Annotated[str | None, key("propensity")] = None,
) -> "Declared":
    """What is said of a table with outcomes."""
    said = dict(locals())
    from truepool.tables import Declared

    return Declared(**said)


def _declare_new(
    id: Id = None,
    time: Time = None,
    *,
    time_format: Annotated[str | None, key("time-format")] = None,
    sep: Annotated[str | None, key("sep")] = None,
    decimal: Annotated[str | None, key("decimal")] = None,
    missing: Annotated[list[str] | None, key("missing")] = None,
    percent: Annotated[Any, key("percent")] = None,
    scores: Annotated[Any, key("scores")] = None,
    long: Annotated[Any, key("long")] = None,
    decision_time: Annotated[str | None, key("decision-time")] = None,
    updates: Annotated[str, key("updates")] = "last",
) -> "Declared":
    """What is said of the table of new cases; the pool knows the rest."""
    said = dict(locals())
    from truepool.tables import Declared

    return Declared(**said)


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
    *,
    cost_tp: Annotated[str, key("cost-tp")] = "0",
    cost_tn: Annotated[str, key("cost-tn")] = "0",
    cost_matrix: Annotated[str | None, key("cost-matrix")] = None,
    currency: Annotated[str | None, key("currency")] = None,
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
    if (fn, fp, tp, tn) != (1.0, 1.0, 0.0, 0.0):
        raise CostError(
            "costs are given one by one or as a matrix, not both; with more than two "
            "classes only a matrix works. Leave out the cost-matrix, or the others."
        )
    return Costs(matrix=rows, currency=unit)


def _parse_constant_costs(
    cost_fn: ConstantFn = "1",
    cost_fp: ConstantFp = "1",
    *,
    cost_tp: Annotated[str, key("cost-tp")] = "0",
    cost_tn: Annotated[str, key("cost-tn")] = "0",
    cost_matrix: Annotated[str | None, key("cost-matrix")] = None,
    currency: Annotated[str | None, key("currency")] = None,
) -> "Costs":
    """Costs that are the same in every case; a verb refuses others with its reason."""
    return _parse_costs(**locals())


def _configure_pool(
    pool: PoolName = "auto",
    cost_fn: CostFn = "1",
    cost_fp: CostFp = "1",
    *,
    threshold: Threshold = None,
    loss: Annotated[
        str | None, key("loss", f"Loss to fit the pool by, if it has one: {LOSSES}.")
    ] = None,
    seed: Seed = 0,
    cost_tp: Annotated[str, key("cost-tp")] = "0",
    cost_tn: Annotated[str, key("cost-tn")] = "0",
    cost_matrix: Annotated[str | None, key("cost-matrix")] = None,
    currency: Annotated[str | None, key("currency")] = None,
) -> "Pool":
    from truepool.pools import configure

    own = {} if loss is None else {"loss": loss}
    costs = _parse_costs(
        cost_fn,
        cost_fp,
        cost_tp=cost_tp,
        cost_tn=cost_tn,
        cost_matrix=cost_matrix,
        currency=currency,
    )
    return configure(pool, costs=costs, threshold=threshold, seed=seed, **own)


GROUPS: dict[str, Callable[..., Any]] = {
    "declared": _declare,
    "new_table": _declare_new,
    "costs": _parse_costs,
    "constant_costs": _parse_constant_costs,
    "rule": _configure_pool,
}
"""Keys that several verbs have together, by the name of the value that they make."""
TABLES = ("panel", "table", "train")
"""Parameters of verbs that name a table with outcomes."""
COSTS = ("cost_fn", "cost_fp", "cost_tp", "cost_tn", "cost_matrix", "threshold")
"""Keys that are taken from an export together, or not at all."""


@final
@dataclass(frozen=True)
class Verb:
    """A verb, and what its function alone does not say.

    Parameters
    ----------
    keys : parameters that are options elsewhere, and only keys of this verb
    refused : keys of tables that the verb refuses; columns that a file names for other
        verbs are then no agents
    environment : what the names of variables begin with that may give its keys
    """

    function: Callable[..., None]
    keys: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    environment: str = ""


def verb(**settings: Any) -> Callable[[Callable[..., None]], Verb]:
    """Say of a function what `Verb` says."""
    return lambda function: Verb(function, **settings)


def describe(name: str, verb: Verb | Callable[..., None]) -> dict[str, Parameter]:
    """Register the keys of a verb, and return them; none where it has no setting."""
    verb = verb if isinstance(verb, Verb) else Verb(verb)
    parameters = _expand(verb)
    if not any(isinstance(_info(each), Setting) for each in parameters):
        return {}
    if "declared" in inspect.signature(verb.function).parameters:
        keys.READERS.add(name)
    return keys.register(name, parameters)


def bind(name: str, verb: Verb | Callable[..., None]) -> Callable[..., None]:
    """Return the function that the parser calls, with the options of a verb.

    Values come from the command line, ``--set``, the environment, a file of keys and
    the table, in this order. A verb without keys is returned as it is.
    """
    verb = verb if isinstance(verb, Verb) else Verb(verb)
    known = describe(name, verb)
    own = inspect.signature(verb.function).parameters
    if not known and "run" not in own:
        return verb.function
    groups = {n: inspect.signature(GROUPS[n]).parameters for n in own if n in GROUPS}
    every = _expand(verb)

    @wraps(verb.function)
    def command(**typed: Any) -> None:
        from truepool.cli.screen import no_progress

        run = _begin(name, verb, known, typed)
        with no_progress(run.quiet):
            try:
                values = {p.name: _value(run, p) for p in every if p.name != "run"}
                made = {
                    n: GROUPS[n](**{p: values[p] for p in parts})
                    for n, parts in groups.items()
                }
                passed = {n: values[n] for n in own if n in values} | made
                passed |= _with_columns(made, values.get("by"), run)
                verb.function(**passed, **({"run": run} if "run" in own else {}))
            except SystemExit:
                run.print_notes()
                raise
            run.print_notes()

    parsed = [_for_parser(p) for p in every if _is_parsed(p)]
    parsed += [CONFIG, SET] if known else []
    parsed.sort(key=lambda p: p.default is not inspect.Parameter.empty)
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parsed]
    )
    command.__annotations__ = {p.name: p.annotation for p in parsed}
    return command


def _value(run: Run, parameter: inspect.Parameter) -> Any:
    """Return the value of a parameter; refuse one that must be there and is not."""
    from truepool.core.errors import SettingError

    value = run.value(parameter.name, parameter.default)
    if value is inspect.Parameter.empty:
        name = parameter.name.replace("_", "-")
        words = f"truepool {run.verb.replace('.', ' ')} --help"
        raise SettingError(f"missing option '--{name}'; see {words}")
    return value


CONFIG = inspect.Parameter(
    "config",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[Path | None, option("config")],
)
SET = inspect.Parameter(
    "settings",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[list[str] | None, option("set")],
)


def _expand(verb: Verb) -> list[inspect.Parameter]:
    """Parameters of a verb, with those of its groups in their place, each once."""
    found: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(verb.function).parameters.items():
        if name in GROUPS:
            for each in inspect.signature(GROUPS[name]).parameters.values():
                found.setdefault(each.name, each)
        else:
            found[name] = parameter
    return [
        p if p.name not in verb.keys else p.replace(annotation=_as_key(p.annotation))
        for p in found.values()
    ]


def _info(parameter: inspect.Parameter) -> Any:
    return (*get_args(parameter.annotation), None, None)[1]


def _as_key(annotation: Any) -> Any:
    """Return the annotation of an option as that of a key."""
    type_, info = get_args(annotation)[:2]
    decls = [info.default, *(info.param_decls or ())]
    name = next(str(d)[2:] for d in decls if str(d).startswith("--"))
    return Annotated[type_, key(name, info.help, info.metavar)]


def _is_parsed(parameter: inspect.Parameter) -> bool:
    return parameter.name != "run" and not isinstance(_info(parameter), Setting)


def _for_parser(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return an option that is None where the command line does not give it.

    The help shows its default all the same, and whether there must be a value.
    """
    type_, info = get_args(parameter.annotation)[:2]
    default = parameter.default
    if not isinstance(info, OptionInfo):
        return parameter
    shown = copy(info)
    shown.show_default = False
    if default is inspect.Parameter.empty:
        shown.help = f"{info.help}  [required]"
        default = None
    text = str(info.help)
    if default not in (None, False, ()) and "(default" not in text:
        shown.help = f"{text.removesuffix('.')} (default: {default})."
    return parameter.replace(default=None, annotation=Annotated[type_ | None, shown])


def _begin(
    name: str, verb: Verb, known: Mapping[str, Parameter], typed: Mapping[str, Any]
) -> Run:
    """Collect what is given, and by whom; the first in the order of `bind` counts."""
    from truepool.core.errors import SettingError

    typed = dict(typed)
    named, settings = typed.pop("config", None), typed.pop("settings", None) or ()
    table = next((typed[n] for n in TABLES if isinstance(typed.get(n), Path)), None)
    beside = table or typed.get("new")
    run = Run(
        name,
        beside if isinstance(beside, Path) else None,
        quiet=bool(typed.get("quiet")),
    )
    for parameter, value in typed.items():
        if value is not None and value != []:
            run.give(parameter, _split(known, parameter, value), "option")
    if not known:
        return run
    set_here = keys.read_settings(settings, name)
    for one, value in set_here.items():
        if known[one].name in run.given:
            raise SettingError(f"a key is given once; got --{one} and --set {one}")
        run.give(known[one].name, value, "set")
    if verb.environment:
        for one, each in known.items():
            text = os.environ.get(f"{verb.environment}_{one.replace('-', '_').upper()}")
            if text is not None:
                run.give(each.name, keys.from_text(each, text), "environment")
    run.file = named or keys.find_file(run.table)
    if run.file is not None:
        general, own = keys.read_file(run.file, name)
        if named is None:
            keys.check_found(run.file, general | own)
        _set_apart(run, verb, general)
        for one, value in (general | own).items():
            run.give(known[one].name, value, "file")
    _apply_export(run, table, known)
    return run


def _split(known: Mapping[str, Parameter], parameter: str, value: Any) -> Any:
    """Names that one text separates by commas, as in a file."""
    one = parameter.replace("_", "-")
    if one in known and known[one].name == parameter and isinstance(value, list):
        return keys.convert("the command line", known[one], value)
    return value


def _set_apart(run: Run, verb: Verb, general: dict[str, Any]) -> None:
    """Ignore the columns that a file names for what other verbs take."""
    apart = [general.pop(name) for name in verb.refused if name in general]
    if apart:
        general["ignore"] = [*general.get("ignore", ()), *apart]


def _apply_export(run: Run, table: Path | None, known: Mapping[str, Parameter]) -> None:
    """Take labels and costs from the export of a ledger, where nobody gives them."""
    if table is None:
        return
    from truepool.tables.dataset import is_dataset
    from truepool.tables.export import read_options
    from truepool.tables.source import is_parquet

    if not is_parquet(table) or is_dataset(table):
        return
    found = read_options(table)
    if run.given.get("outcome", found.get("outcome")) != found.get("outcome"):
        found.pop("positive", None)
    if any(name in run.given for name in COSTS):
        found = {n: v for n, v in found.items() if n not in (*COSTS, "currency")}
    parameters = {each.name for each in known.values()}
    used = {n: v for n, v in found.items() if n in parameters and n not in run.given}
    for parameter, value in used.items():
        run.give(parameter, value, "export")
    if used:
        words = (
            f"{n.replace('_', '-')} = {shlex.quote(str(v))}" for n, v in used.items()
        )
        run.note(f"From the export: {', '.join(words)}.")
        if run.verb == "audit" and "pool" not in run.given:
            run.note(
                "This audits the mean on these reports, not the coordinator's rule; "
                "--pool names another."
            )


def _with_columns(made: Mapping[str, Any], by: str | None, run: Run) -> dict[str, Any]:
    """Let the table keep the columns that the costs name, and that of the groups."""
    rule = made.get("rule")
    costs = made.get("costs", made.get("constant_costs"))
    costs = rule.costs if rule is not None else costs
    run.columns = (
        {} if costs is None else {f"cost-{k}": v for k, v in costs.named.items()}
    )
    if by is not None:
        run.columns["by"] = by
    declared = made.get("declared")
    if not run.columns or declared is None:
        return {}
    columns = tuple(dict.fromkeys((*declared.columns, *run.columns.values())))
    return {"declared": replace(declared, columns=columns)}
