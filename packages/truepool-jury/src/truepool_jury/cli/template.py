"""``truepool agent template``: the built-in prompt templates."""

from typing import Annotated

import typer


def template(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of a built-in template.")
    ],
) -> None:
    """Print a prompt template, to copy and edit."""
    from truepool_jury.llm import Template

    print(Template.load(name).text, end="")
