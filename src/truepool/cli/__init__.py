"""The command: one file per verb. Errors become one sentence and exit code 2 here."""

import os
import sys
from importlib.metadata import version
from itertools import pairwise
from typing import Annotated, Any

import typer

from truepool.cli import (
    agent,
    audit,
    compare,
    data,
    demo,
    export,
    fit,
    game,
    init,
    jury,
    ledger,
    pool,
    replay,
    score,
    serve,
    show,
)
from truepool.cli.outputs import print_note
from truepool.cli.verbs import Verbs
from truepool.core.errors import TruepoolError
from truepool.core.formatting import printable

USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
"""What typer raises for a command line that it does not understand."""

app = typer.Typer(
    name="truepool",
    cls=Verbs,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"truepool {version('truepool')}")
        raise typer.Exit


@app.callback()
def _root(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version and exit.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Pool probability reports from many agents into one decision you can trust."""


app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("pool")(pool.pool)
app.command("fit")(fit.fit)
app.command("score")(score.score)
app.command("show")(show.show)
app.command("export")(export.export)
app.command("compare")(compare.compare)
app.command("audit")(audit.audit)
app.command("jury")(jury.jury)
app.command("replay")(replay.replay)
app.command("serve", context_settings=serve.ENVIRONMENT)(serve.serve)
app.add_typer(ledger.app, name="ledger")
app.add_typer(data.app, name="data")
app.add_typer(agent.app, name="agent")
app.command("game")(game.game)


def main() -> None:
    """Run the command line."""
    try:
        code = app(prog_name="truepool", standalone_mode=False)
        sys.stdout.flush()  # what cannot be written is an error now, not at the exit
        sys.exit(code)
    except TruepoolError as error:
        print_note(f"error: {error}")
    except OSError as error:  # a disk that is full, a name that is too long
        _drop_output()
        where = "" if error.filename is None else f": {str(error.filename)!r:.80}"
        print_note(f"error: {error.strerror or error}{where}")
    except USAGE_ERROR as error:
        _print_usage(error)
    except typer.Abort:
        print("error: stopped", file=sys.stderr)
    sys.exit(2)


def _drop_output() -> None:
    """Leave out what standard output does not take: at the exit it would fail again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_usage(error: Any) -> None:
    """Say in one line what is wrong with the words of a command, and where to look."""
    message = error.format_message().rstrip(".")
    if "\n" in message:  # the help, where a command needs a verb
        print(printable(message), file=sys.stderr)
        return
    for word, file in pairwise(sys.argv):
        if word == "--json" and f"({file})" in message:
            print_note(
                "error: --json takes its file after an equals sign; write "
                f"--json={file}"
            )
            return
    words = "truepool" if error.ctx is None else error.ctx.command_path
    print_note(f"error: {message[:1].lower()}{message[1:]}; see {words} --help")
