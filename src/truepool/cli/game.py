"""``truepool game``: equilibrium and price of anarchy."""

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options

if TYPE_CHECKING:
    from truepool.games import Game


def game(
    panel: Annotated[
        Path | None,
        typer.Argument(help="Take beliefs from this table instead of drawing them."),
    ] = None,
    mechanism: Annotated[
        list[str] | None,
        typer.Option(help="What agents are paid by; may be repeated. Default: all."),
    ] = None,
    agents: Annotated[int, typer.Option(help="Number of agents.")] = 5,
    correlation: Annotated[
        float, typer.Option(help="Pearson correlation of two agents' beliefs.")
    ] = 0.5,
    mean: Annotated[float, typer.Option(help="Base rate E[y].")] = 0.3,
    offset: Annotated[
        float, typer.Option(help="E[b] - E[y]: how far beliefs lie above the truth.")
    ] = 0.0,
    concentration: Annotated[
        float, typer.Option(help="How close beliefs lie to the base rate.")
    ] = 4.0,
    model: Annotated[
        str, typer.Option(help="copula (Beta beliefs) or factor (calibrated agents).")
    ] = "copula",
    truth: Annotated[
        str, typer.Option(help="Outcomes follow the mean belief or the latent factor.")
    ] = "mean",
    drawn: Annotated[
        bool,
        typer.Option("--drawn", help="Draw outcomes instead of counting by chances."),
    ] = False,
    cases: Annotated[int, typer.Option(help="Number of cases.")] = 10_000,
    threshold: options.Threshold = None,
    cost_fn: options.CostFn = 1.0,
    cost_fp: options.CostFp = 1.0,
    pool: Annotated[str, typer.Option(help="How reports are pooled.")] = "mean",
    response: Annotated[
        str, typer.Option(help="What agents may do: shift, affine, threshold or exact.")
    ] = "shift",
    order: Annotated[
        str, typer.Option(help="sequential or simultaneous.")
    ] = "sequential",
    sees: Annotated[
        str | None,
        typer.Option(help="Whose reports an agent sees: all, none or how many."),
    ] = None,
    rounds: Annotated[int, typer.Option(help="Rounds of best responses.")] = 20,
    sweep: Annotated[
        list[str] | None,
        typer.Option(help="Vary this: rho=0:0.95:0.05 or n=2,5,10; may be repeated."),
    ] = None,
    repetitions: Annotated[
        int, typer.Option(help="Games drawn at each point of a sweep.")
    ] = 1,
    workers: Annotated[
        int | None, typer.Option(help="Processes for a sweep (default: all cores).")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw to this SVG, PNG or PDF file.")
    ] = None,
    outcome: options.Outcome = "y",
    positive: options.Positive = None,
    id: options.Id = None,
    time: options.Time = None,
    ignore: options.Ignore = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Where strategic agents end up under a mechanism, and what that costs."""
    from truepool.core.errors import SettingError
    from truepool.data.costs import Costs
    from truepool.data.tables import read_panel
    from truepool.games import Game, payments
    from truepool.render.figures.files import check_path

    if figure is not None:
        check_path(figure)
    decided: dict[str, Any] = {
        "threshold": threshold, "costs": Costs(fn=cost_fn, fp=cost_fp), "pool": pool,
    }  # fmt: skip
    if panel is not None:
        if sweep:
            raise SettingError("a sweep draws beliefs; leave the table out")
        table = options.tell_pending(
            read_panel(
                panel, outcome, positive=positive, id=id, time=time, ignore=ignore or ()
            )
        )
        chosen = Game.on(table, **decided)
    else:
        named = [id, time, positive, *(ignore or ())]
        options.check_no_columns(outcome, named, "draw beliefs")
        chosen = Game(
            agents=agents, correlation=correlation, mean=mean, offset=offset,
            concentration=concentration, model=model, truth=truth, cases=cases,
            outcomes="drawn" if drawn else "expected", **decided,
        )  # fmt: skip
    names = mechanism or list(payments.every())
    settings = {"rounds": rounds, "response": response, "order": order}
    settings["sees"] = int(sees) if sees is not None and sees.isdecimal() else sees
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if sweep:
            how = {"repetitions": repetitions, "workers": workers, "seed": seed}
            _sweep(chosen, sweep, names, settings, how, figure, as_json)
        else:
            _solve(chosen, names, settings, seed, figure, as_json)
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        typer.echo(f"warning: {text}", err=True)


def _solve(
    game: "Game",
    names: list[str],
    settings: dict[str, Any],
    seed: int,
    figure: Path | None,
    as_json: bool,
) -> None:
    from truepool.cli.screen import out, say, watched
    from truepool.games import payments
    from truepool.render import figures, labels
    from truepool.render.tables import game as tables

    for name in names:
        payments.make(name)
    ends = []
    with watched("Playing") as progress:
        for done, name in enumerate(names):
            progress(name, done, len(names))
            ends.append(game.solve(name, seed=seed, **settings))
    if figure is not None:
        figures.save(figures.shifts(ends), figure)
    if as_json:
        known = {}
        if game.panel is not None:
            known = {"outcome_labels": game.panel.labels.to_dict(game.panel.counts)}
        print(json.dumps([tables.to_dict(end) | known for end in ends], indent=2))
        return
    if game.panel is not None:
        say(labels.sentence(game.panel.labels, game.panel.counts))
    tables.grid(ends, game, game.draw(seed)).print(out())
    _wrote(figure)


def _sweep(
    game: "Game",
    asked: list[str],
    names: list[str],
    settings: dict[str, Any],
    how: dict[str, Any],
    figure: Path | None,
    as_json: bool,
) -> None:
    from truepool.cli.screen import out, watched
    from truepool.games import sweep as run
    from truepool.render import figures
    from truepool.render.tables import game as tables

    over = dict(varied(text) for text in asked)
    with watched("Playing") as progress:
        result = run(game, over, names, progress=progress, **how, **settings)
    if figure is not None:
        figures.save(figures.sweep(result), figure)
    if as_json:
        print(json.dumps(result.to_dict(), indent=2))
        return
    tables.sweep_grid(result).print(out())
    _wrote(figure)


def varied(text: str) -> tuple[str, list[Any]]:
    """Read what is varied: a name, and start:stop:step or values with commas.

    >>> varied("rho=0:0.4:0.2"), varied("n=2,5"), varied("sees=none,1,all")
    (('rho', [0.0, 0.2, 0.4]), ('n', [2, 5]), ('sees', ['none', 1, 'all']))
    """
    from truepool.core.errors import SettingError
    from truepool.games.parameter_sweep import check_size

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
    raise SettingError(
        f"a sweep is written rho=0:0.95:0.05 or n=2,5,10; {text!r} is not"
    )


def _read(name: str, part: str) -> Any:
    try:
        return _whole(name, float(part))
    except ValueError:
        return part


def _whole(name: str, value: float) -> Any:
    counts = ("n", "agents", "cases", "rounds", "sees")
    return int(value) if name in counts and value == int(value) else value


def _wrote(figure: Path | None) -> None:
    from truepool.cli.screen import out

    if figure is not None:
        out().print(f"Wrote {figure}.", highlight=False, soft_wrap=True)
