"""``truepool game``: equilibrium and price of anarchy."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options
from truepool.cli.costs import check_constant_costs
from truepool.cli.keys import key, option
from truepool.cli.run import UNWEIGHTED, Run

if TYPE_CHECKING:
    from truepool.tables import Declared
    from truepool_lab.games import Game


SIMULATION = (
    *("agent_count", "correlation", "mean", "offset", "concentration", "beliefs"),
    *("truth", "separation", "random_outcomes", "cases"),
)
"""Options that describe simulated beliefs, which a table takes the place of."""


def _game_option(value: str, help: str) -> Any:
    return typer.Option(metavar=value, help=help)


@options.verb(keys=("agents", "ignore", "id", "time"), refused=UNWEIGHTED)
def game(
    panel: Annotated[
        Path | None,
        typer.Argument(
            metavar="PANEL",
            help="Table to take beliefs from (default: beliefs are simulated).",
        ),
    ] = None,
    payment: Annotated[
        list[str] | None,
        option("payment", "How agents are paid (default: try all). Repeatable."),
    ] = None,
    agent_count: Annotated[int, _game_option("NUMBER", "Number of agents.")] = 5,
    correlation: Annotated[
        float, _game_option("NUMBER", "Pearson correlation of two agents' beliefs.")
    ] = 0.5,
    mean: Annotated[
        float, key("mean", "Share of positive cases, E[y].", "NUMBER")
    ] = 0.3,
    offset: Annotated[
        float,
        key(
            "offset",
            "How far beliefs lie above the truth on average, E[b] - E[y].",
            "NUMBER",
        ),
    ] = 0.0,
    concentration: Annotated[
        float,
        key(
            "concentration",
            "How close beliefs lie to their mean; larger is closer.",
            "NUMBER",
        ),
    ] = 4.0,
    beliefs: Annotated[
        str,
        key(
            "beliefs",
            "copula (Beta beliefs), factor (calibrated agents) or outcome (beliefs "
            "given the outcome, as classifiers have).",
            "NAME",
        ),
    ] = "copula",
    truth: Annotated[
        str,
        key(
            "truth",
            "What outcomes depend on: mean (the mean belief) or latent (the shared "
            "factor).",
            "NAME",
        ),
    ] = "mean",
    separation: Annotated[
        float | None,
        key(
            "separation",
            "With beliefs=outcome: mean belief given a positive outcome minus that "
            "given a negative one (default: every agent is calibrated).",
            "NUMBER",
        ),
    ] = None,
    random_outcomes: Annotated[
        bool,
        key(
            "random-outcomes",
            "Draw outcomes at random instead of using expectations.",
            "true",
        ),
    ] = False,
    cases: Annotated[int, key("cases", "Number of cases.", "NUMBER")] = 10_000,
    threshold: options.Threshold = None,
    cost_fn: options.ConstantFn = "1",
    cost_fp: options.ConstantFp = "1",
    pool: Annotated[str, option("pool", "How reports are pooled.")] = "mean",
    response: Annotated[
        str,
        _game_option("NAME", "What agents may do: shift, affine, threshold or exact."),
    ] = "shift",
    order: Annotated[
        str, key("order", "Who moves when: sequential or simultaneous.", "NAME")
    ] = "sequential",
    sees: Annotated[
        str | None,
        key(
            "sees",
            "How many other reports an agent sees: all, none or a number.",
            "NUMBER",
        ),
    ] = None,
    rounds: Annotated[int, key("rounds", "Rounds of best responses.", "NUMBER")] = 20,
    sweep: Annotated[
        list[str] | None,
        _game_option(
            "RANGE", "Vary a parameter: rho=0:0.95:0.05 or n=2,5,10. Repeatable."
        ),
    ] = None,
    repetitions: Annotated[
        int, key("repetitions", "Games simulated at each point of a sweep.", "NUMBER")
    ] = 1,
    jobs: options.JobsOrAuto = None,
    engine: options.EngineName = "local",
    address: options.Address = None,
    plot: options.Plot = None,
    *,
    declared: "Declared",
    seed: options.Seed = 0,
    json_file: options.Json = None,
    quiet: options.Quiet = False,
    run: Run,
) -> None:
    """Find how agents misreport under a payment, and what it costs."""
    from truepool.cli.engines import choose
    from truepool.cli.outputs import STDOUT, check_files, print_files, print_note
    from truepool.core.errors import SettingError
    from truepool.pages.figures.files import check_path
    from truepool.panel.costs import Costs
    from truepool_lab.games import Game, payments

    check_files([panel], [json_file, plot])
    if plot is not None:
        check_path(plot)
    where = choose(engine, address, jobs)
    if where is not None and not sweep:
        raise SettingError(
            f"engine={engine} solves the games of a sweep; got none. Pass --sweep, "
            "or leave it out."
        )
    costs = Costs(*map(options.parse_cost, (cost_fn, cost_fp)))
    check_constant_costs(costs, "the cases of a game share their costs")
    run.check_unweighted(declared, "a game counts")
    decision: dict[str, Any] = {"threshold": threshold, "costs": costs, "pool": pool}
    if panel is not None:
        if sweep:
            raise SettingError(
                "a sweep simulates beliefs; got a table as well. Leave out the table "
                "or --sweep."
            )
        run.check_not_given(SIMULATION, "simulates beliefs; a table has its own")
        played, _ = run.read_panel(panel, declared, costs=costs)
        chosen = Game.on(played, **decision)
    else:
        run.check_no_columns("simulate beliefs")
        chosen = Game(
            agents=agent_count, correlation=correlation, mean=mean, offset=offset,
            concentration=concentration, model=beliefs, truth=truth, cases=cases,
            separation=separation,
            outcomes="drawn" if random_outcomes else "expected", **decision,
        )  # fmt: skip
    names = payment or list(payments.every())
    settings = {"rounds": rounds, "response": response, "order": order}
    settings["sees"] = int(sees) if sees is not None and sees.isdecimal() else sees
    silent = quiet or json_file == STDOUT
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if sweep:
            how = {"repetitions": repetitions, "jobs": jobs, "engine": where}
            how["seed"] = seed
            _sweep(chosen, sweep, names, how | settings, (plot, json_file), silent)
        else:
            _solve(chosen, names, settings, seed, (plot, json_file), silent)
    if not silent:
        print_files(plot, json_file)
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        print_note(f"warning: {text}")


def _solve(
    game: "Game",
    names: list[str],
    settings: dict[str, Any],
    seed: int,
    files: tuple[Path | None, Path | None],
    silent: bool,
) -> None:
    from truepool.cli.outputs import write_json
    from truepool.cli.screen import console, print_line, progress_bar
    from truepool.core.files import together
    from truepool.pages import figures, labels
    from truepool_lab.games import payments
    from truepool_lab.render import game_paths, tables

    for name in names:
        payments.make(name)
    equilibria = []
    with progress_bar("Solving games") as progress:
        for done, name in enumerate(names):
            progress(name, done, len(names))
            equilibria.append(game.solve(name, seed=seed, **settings))
    plot, json_file = files
    known = {}
    if game.panel is not None:
        known = {"outcome_labels": game.panel.labels.to_dict(game.panel.counts)}
    with together():
        if plot is not None:
            figures.save(game_paths.shifts(equilibria), plot)
        write_json(json_file, [tables.to_dict(end) | known for end in equilibria])
    if silent:
        return
    if game.panel is not None:
        print_line(labels.sentence(game.panel.labels, game.panel.counts))
    tables.grid(equilibria, game, game.draw(seed)).print(console())


def _sweep(
    game: "Game",
    ranges: list[str],
    names: list[str],
    settings: dict[str, Any],
    files: tuple[Path | None, Path | None],
    silent: bool,
) -> None:
    from truepool.cli.engines import opened
    from truepool.cli.outputs import write_json
    from truepool.cli.screen import console, progress_bar
    from truepool.core.files import together
    from truepool.pages import figures
    from truepool_lab.games import sweep as run
    from truepool_lab.render import game_paths, tables

    over = dict(parse_sweep(text) for text in ranges)
    with (
        opened(settings["engine"]),
        progress_bar("Solving games") as progress,
    ):
        result = run(game, over, names, progress=progress, **settings)
    plot, json_file = files
    with together():
        if plot is not None:
            figures.save(game_paths.sweep(result), plot)
        write_json(json_file, result.to_dict())
    if not silent:
        tables.sweep_grid(result).print(console())


def parse_sweep(text: str) -> tuple[str, list[Any]]:
    """Return the parameter and its values: start:stop:step, or values with commas.

    >>> parse_sweep("rho=0:0.4:0.2"), parse_sweep("sees=none,1,all")
    (('rho', [0.0, 0.2, 0.4]), ('sees', ['none', 1, 'all']))
    """
    from truepool.core.errors import SettingError
    from truepool_lab.games.parameter_sweep import check_size

    name, _, values = text.partition("=")
    parts = values.split(":")
    try:
        if len(parts) == 3:
            start, stop, step = (float(part) for part in parts)
            count = int((stop - start) / step + 1e-9) + 1
            check_size(count)
            found = [round(start + k * step, 10) for k in range(count)]
            return name, [_whole(name, value) for value in found]
        if len(parts) == 1 and values:
            return name, [_read(name, part) for part in values.split(",")]
    except SettingError:
        raise
    except (ValueError, ZeroDivisionError, OverflowError):
        pass
    raise SettingError(f"a sweep is written rho=0:0.95:0.05 or n=2,5,10; got {text!r}")


def _read(name: str, part: str) -> Any:
    try:
        return _whole(name, float(part))
    except ValueError:
        return part


def _whole(name: str, value: float) -> Any:
    counts = ("n", "agents", "cases", "rounds", "sees")
    return int(value) if name in counts and value == int(value) else value
