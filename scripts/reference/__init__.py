"""The pages in docs/reference, written from the code: ``make reference``.

The command line and the keys come from its parsers, HTTP from OpenAPI, errors from
their classes, the diagram of the layers from the import contract. A test fails when a
page is not what this writes.
"""

from reference import command_line, layers, python, service


def pages() -> dict[str, str]:
    """Return every page by its path in docs/reference."""
    found = {
        "cli.md": command_line.cli(),
        "keys.md": command_line.keys(),
        "http.md": service.http(),
        "errors.md": service.errors(),
        "layers.md": layers.layers(),
    }
    for name in layers.NAMES:
        found[f"{name}.svg"] = layers.diagram(layers.contract(name))
    for name, (title, modules) in python.TOPICS.items():
        top = python.TOP.get(name, ())
        found[f"python/{name}.md"] = python.python(title, top, modules)
    return found
