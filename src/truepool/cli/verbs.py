"""Verbs: those of truepool, and those of other distributions."""

from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import EntryPoint
from itertools import pairwise
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from truepool.core import registry
from truepool.core.errors import MissingPluginError, PluginError, SettingError

GROUP = "truepool.verbs"
ELSEWHERE = {"reproduce": ("truepool-paper", "./reproduction")}
"""Verbs that have a distribution of their own, and its folder in the repository."""


class Verbs(TyperGroup):
    """Verbs of truepool and, by entry point, of other distributions.

    A plug-in is imported when its verb is used or all are listed. One that cannot be
    imported keeps its place in the list and says why when it is used.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; ``--json`` may stand alone or carry a file."""
        return super().parse_args(ctx, expand_json(args))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all verbs: truepool's first."""
        return [*super().list_commands(ctx), *sorted({*self._plugins, *ELSEWHERE})]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb by name, None if there is none."""
        if cmd_name in self._plugins:
            return _plugin(cmd_name, self._plugins[cmd_name])
        if cmd_name in ELSEWHERE:
            return _unavailable(
                cmd_name, MissingPluginError(cmd_name, *ELSEWHERE[cmd_name])
            )
        return super().get_command(ctx, cmd_name)

    @cached_property
    def _plugins(self) -> dict[str, EntryPoint]:
        return registry.plugins(GROUP, self.commands)


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
        verb = registry.load(entry)
    except PluginError as error:
        return _unavailable(name, error)
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
