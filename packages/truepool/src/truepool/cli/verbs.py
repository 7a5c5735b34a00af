"""Verbs: those of truepool, and those of other distributions.

Errors become one sentence and exit code 2 here.
"""

import os
import sys
from collections import Counter, UserDict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from importlib.metadata import EntryPoint, version
from inspect import isfunction
from traceback import print_exc
from typing import Annotated, Any, ClassVar, NoReturn, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from truepool.cli import (
    agent,
    audit,
    compare,
    data,
    demo,
    export,
    fit,
    help,
    init,
    keys,
    options,
    pool,
    replay,
    score,
    show,
)
from truepool.cli.outputs import print_note
from truepool.core import distributions, plugins, registry
from truepool.core.errors import (
    PluginError,
    SettingError,
    TruepoolError,
)
from truepool.core.formatting import printable
from truepool.core.sentences import TERMINAL

T = TypeVar("T")
USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
"""What typer raises for a command line that it does not understand."""
SHOWN = (TruepoolError, OSError, USAGE_ERROR, typer.Exit, typer.Abort)
"""What `run` shows in words of its own."""
ELSEWHERE = {
    "jury": "Analyse a jury of judges, with few labels or none.",
    "serve": "Run a coordinator: collect reports, decide cases, learn online.",
    "ledger": "Verify, export and shorten the record of a coordinator.",
    "game": "Find how agents misreport under a payment, and what it costs.",
    "reproduce": "Re-run the paper's tables and compare the numbers.",
    "agent.llm": "Ask a language model about every case of TABLE.",
    "agent.serve": "Serve MODEL over the Open Inference Protocol.",
    "agent.template": "Print a prompt template, to copy and edit.",
}
"""What the verbs of truepool's other distributions do. Help shows these lines, so that
it need not import them."""
OWN = {
    "demo": demo.demo,
    "init": init.init,
    "pool": pool.pool,
    "fit": fit.fit,
    "score": score.score,
    "show": show.show,
    "export": export.export,
    "compare": compare.compare,
    "audit": audit.audit,
    "replay": replay.replay,
    "data": data.app,
    "agent": agent.app,
    "help": help.help,
}
"""Verbs of the library, in the order of the help."""


class Parsers(UserDict[str, Any]):
    """Parser of each verb, built when it is asked for: all take ten times as long."""

    def __getitem__(self, name: str) -> Any:
        """Return the parser of a verb."""
        return _command(name, super().__getitem__(name))


class Command(TyperCommand):
    """A verb that refuses a second value of an option that has one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; the parser would keep the last value of an option."""
        if not ctx.resilient_parsing:  # completion
            _, _, given = self.make_parser(ctx).parse_args(args=[*args])
            for option, times in Counter(given).items():
                if times > 1 and option.nargs == 1 and not option.multiple:
                    name = max(option.opts, key=len)
                    raise SettingError(f"{name} takes one value; got {times}")
        return super().parse_args(ctx, args)


class Verbs(TyperGroup):
    """Verbs of a command and, by entry point, of other distributions.

    A plug-in is imported when its verb is used. One that cannot be used keeps its place
    in the list and says why when it is used, and so does a verb of a distribution of
    truepool that is not installed. A plug-in named like a verb of truepool is not used,
    and the help says so.
    """

    prefix: ClassVar[str] = ""
    """What the entry points of this command's verbs start with."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all verbs: the library's first, then truepool's."""
        own = [*self.commands]
        found, refused = self._plugins
        known = [name for name in self._elsewhere if name not in own]
        return [*own, *known, *sorted({*found, *refused} - {*own, *known})]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb by name, None if there is none."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        found, refused = self._plugins
        if cmd_name in found:
            return Plugin(cmd_name, found[cmd_name], self._elsewhere.get(cmd_name, ""))
        if cmd_name in refused:
            return _unavailable(cmd_name, refused[cmd_name])
        missing = distributions.missing("verb", self.prefix + cmd_name)
        if missing is not None:
            return _unavailable(cmd_name, missing, self._elsewhere[cmd_name])
        return None

    @cached_property
    def _elsewhere(self) -> dict[str, str]:
        return _under(self.prefix, ELSEWHERE)

    @cached_property
    def _plugins(self) -> tuple[dict[str, EntryPoint], dict[str, PluginError]]:
        own = [self.prefix + name for name in self.commands]
        found, refused = plugins.offers(plugins.VERBS, own)
        return _under(self.prefix, found), _under(self.prefix, refused)


class Root(Verbs):
    """All verbs."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Parsers(OWN)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Say at the end of the help which plug-ins are not used, and why."""
        _, refused = self._plugins
        hidden = [
            str(error) for name, error in refused.items() if name in self.commands
        ]
        for sentence in (*hidden, *plugins.unknown_groups(registry.GROUPS)):
            formatter.write_paragraph()
            formatter.write_text(f"Warning: {sentence}")


def _under(prefix: str, verbs: Mapping[str, T]) -> dict[str, T]:
    """Verbs of one command by their own names.

    >>> _under("agent.", {"agent.llm": 1, "jury": 2}), _under("", {"agent.llm": 1})
    ({'llm': 1}, {})
    """
    return {
        name.removeprefix(prefix): value
        for name, value in verbs.items()
        if name.startswith(prefix) and "." not in name.removeprefix(prefix)
    }


class Plugin(TyperCommand):
    """A verb of another distribution, which is imported when it is used."""

    def __init__(self, name: str, entry: EntryPoint, summary: str) -> None:
        summary = summary or f"From {plugins.distribution(entry)}."
        super().__init__(name, callback=None, short_help=summary, rich_markup_mode=None)
        self.entry = entry

    def make_context(
        self, info_name: Any, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Return the context of the command itself."""
        return self.load().make_context(info_name, args, parent=parent, **extra)

    def load(self) -> Any:
        """Return the command itself, imported now."""
        return _load(str(self.name), self.entry)


def _load(name: str, entry: EntryPoint) -> Any:
    try:
        verb = plugins.load(entry)
        known = isinstance(verb, (typer.Typer, options.Verb))
        if not (known or isfunction(verb)):
            raise plugins.refuse(entry, "be a function or a typer.Typer", verb)
        with plugins.blame(entry, "cannot be a command"):
            command = _command(name, verb, entry.name)
    except PluginError as error:
        return _unavailable(name, error)
    invoke = command.invoke

    def guarded(context: Any) -> Any:
        with plugins.blame(entry, "failed", spared=SHOWN):
            return invoke(context)

    command.invoke = guarded
    return command


def _command(name: str, verb: Any, words: str = "") -> Any:
    """Return the parser of a verb, whose keys are known by all its ``words``."""
    words = words or name
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    if isinstance(verb, typer.Typer):
        for command in verb.registered_commands:
            if command.cls is TyperCommand:  # the default of typer
                command.cls = Command
                own = f"{words}.{command.name}"
                command.callback = options.bind(own, _function(command))
        group = type("Verbs", (Verbs,), {"prefix": f"{words}."})
        app.add_typer(verb, name=name, cls=group)
    else:
        app.command(name, cls=Command)(options.bind(words, verb))
    return typer.main.get_group(app).commands[name]


def describe_all() -> None:
    """Register the keys of every verb, of plug-ins too."""
    found, _ = plugins.offers(plugins.VERBS)
    for name, verb in OWN.items():
        _describe(name, verb)
    for name, entry in found.items():
        with suppress(PluginError):  # the verb says so when it is used
            _describe(name, plugins.load(entry))


def _function(command: Any) -> Any:
    """Return the function of a verb that the parser knows."""
    return command.callback


def _describe(name: str, verb: Any) -> None:
    if not isinstance(verb, typer.Typer):
        options.describe(name, verb)
        return
    for command in verb.registered_commands:
        if command.cls is TyperCommand:
            options.describe(f"{name}.{command.name}", _function(command))


def _unavailable(
    name: str, error: PluginError, summary: str = "Not available: run it to see why."
) -> TyperCommand:
    def refuse() -> NoReturn:
        raise error

    return TyperCommand(
        name,
        callback=refuse,
        help=str(error),
        short_help=summary,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        rich_markup_mode=None,
    )


app = typer.Typer(
    name="truepool",
    cls=Root,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def every_command(
    command: Any = None, words: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """Yield every command by its words, ``truepool`` first; plug-ins are imported."""
    command = typer.main.get_command(app) if command is None else command
    if isinstance(command, Plugin):
        command = command.load()
    yield " ".join(words), command
    nowhere: Any = None  # no command line is being parsed
    names = command.list_commands(nowhere) if isinstance(command, TyperGroup) else ()
    for name in names:
        yield from every_command(command.get_command(nowhere, name), (*words, name))


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


def run() -> None:
    """Run the verb that the command line names."""
    try:
        code = app(prog_name="truepool", standalone_mode=False)
        sys.stdout.flush()  # what cannot be written is an error now, not at the exit
        sys.exit(code)
    except TruepoolError as error:
        if os.environ.get(plugins.TRACEBACK):
            print_exc()
        for line in error.lines(TERMINAL):
            print_note(f"error: {line}")
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
    words = "truepool" if error.ctx is None else error.ctx.command_path
    option = str(vars(error).get("option_name") or "")
    name = ".".join(words.split()[1:])
    if option.removeprefix("--") in keys.VERBS.get(name, {}):
        key = option.removeprefix("--")
        print_note(
            f"error: {key} is a key, not an option: --set {key}=...; "
            "truepool help keys says what it takes"
        )
        return
    print_note(f"error: {message[:1].lower()}{message[1:]}; see {words} --help")
