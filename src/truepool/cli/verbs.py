"""Verbs: those of truepool, and those of other distributions."""

from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import EntryPoint
from inspect import isfunction
from itertools import pairwise
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from truepool.core import plugins, registry
from truepool.core.errors import MissingPluginError, PluginError, SettingError

ELSEWHERE = {"reproduce": ("truepool-paper", "./reproduction")}
"""Verbs that have a distribution of their own, and its folder in the repository."""


class Verbs(TyperGroup):
    """Verbs of truepool and, by entry point, of other distributions.

    A plug-in is imported when its verb is used or all are listed. One that cannot be
    used keeps its place in the list and says why when it is used. One named like a verb
    of truepool is not used, and the help says so.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; ``--json`` may stand alone or carry a file."""
        return super().parse_args(ctx, expand_json(args))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all verbs: truepool's first."""
        found, refused = self._plugins
        own = super().list_commands(ctx)
        return [*own, *sorted({*found, *refused, *ELSEWHERE} - {*own})]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb by name, None if there is none."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        found, refused = self._plugins
        if cmd_name in found:
            return _plugin(cmd_name, found[cmd_name])
        if cmd_name in refused:
            return _unavailable(cmd_name, refused[cmd_name])
        if cmd_name in ELSEWHERE:
            return _unavailable(
                cmd_name, MissingPluginError(cmd_name, *ELSEWHERE[cmd_name])
            )
        return None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Say at the end of the help which plug-ins are not used, and why."""
        _, refused = self._plugins
        hidden = [
            str(error) for name, error in refused.items() if name in self.commands
        ]
        groups = [*registry.FOLDERS.values(), plugins.CHECKS, plugins.VERBS]
        for sentence in (*hidden, *plugins.unknown_groups(groups)):
            formatter.write_paragraph()
            formatter.write_text(f"Warning: {sentence}")

    @cached_property
    def _plugins(self) -> tuple[dict[str, EntryPoint], dict[str, PluginError]]:
        return plugins.offers(plugins.VERBS, self.commands)


def expand_json(args: Sequence[str]) -> list[str]:
    """Return the arguments with a bare ``--json`` as ``--json=-``: standard output.

    >>> expand_json(["audit", "--json", "--seed", "1"])
    ['audit', '--json=-', '--seed', '1']
    """
    end = args.index("--") if "--" in args else len(args)
    for word, following in pairwise(args[:end]):
        if word == "--json" and following.endswith(".json"):
            raise SettingError(
                f"--json takes its file after an equals sign; write --json={following}"
            )
    bare = ["--json=-" if word == "--json" else word for word in args[:end]]
    return [*bare, *args[end:]]


def _plugin(name: str, entry: EntryPoint) -> Any:
    try:
        verb = plugins.load(entry)
        if not (isinstance(verb, typer.Typer) or isfunction(verb)):
            raise plugins.refuse(entry, "be a function or a typer.Typer", verb)
        with plugins.blame(entry, "cannot be a verb"):
            return _command(name, verb)
    except PluginError as error:
        return _unavailable(name, error)


def _command(name: str, verb: Any) -> Any:
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    if isinstance(verb, typer.Typer):
        app.add_typer(verb, name=name)
    else:
        app.command(name)(verb)
    return typer.main.get_group(app).commands[name]


def _unavailable(name: str, error: PluginError) -> TyperCommand:
    def refuse() -> NoReturn:
        raise error

    return TyperCommand(
        name,
        callback=refuse,
        help=str(error),
        short_help="Not available: run it to see why.",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        rich_markup_mode=None,
    )
