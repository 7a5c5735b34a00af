"""The public names of Python, as directives for autodoc."""

import inspect
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from reference.page import NOTE, join

TOPICS = {
    "panels": ("Panels, costs and decisions", ("truepool.panel.weights",)),
    "pools": ("Pools", ("truepool.pools", "truepool.scoring")),
    "learners": (
        "Learners and streams",
        ("truepool.learners", "truepool.online", "truepool.online.alarms"),
    ),
    "measures": (
        "Losses, scores, credit, diversity",
        (
            "truepool.measures.losses",
            "truepool.measures.scores",
            "truepool.measures.credit",
            "truepool.measures.diversity",
        ),
    ),
    "audits": ("Audits and comparisons", ("truepool.audits", "truepool.comparison")),
    "juries": ("Juries", ("truepool_jury.juries",)),
    "games": (
        "Games",
        (
            "truepool_lab.games",
            "truepool_lab.games.payments",
            "truepool_lab.games.theory",
        ),
    ),
    "stress": ("Stress", ("truepool_lab.stress", "truepool_lab.stress.drift")),
    "agents": (
        "Agents",
        ("truepool.agents", "truepool_jury.llm", "truepool.agents.zoo"),
    ),
    "datasets": ("Data sets in Python", ("truepool.datasets",)),
    "client": ("Client", ()),
    "figures": (
        "Figures",
        ("truepool.pages.figures", "truepool_lab.render.game_paths"),
    ),
}
"""Page of the Python reference, its title, and the modules it shows whole."""
TOP = {
    "panels": (
        "Panel",
        "read_panel",
        "ReportTable",
        "TableFaults",
        "read_reports",
        "Features",
        "Costs",
        "decide",
        "TruepoolError",
    ),
    "pools": ("PooledClassifier",),
    "client": ("Client", "AsyncClient"),
}
"""Names of ``truepool`` that no module shows."""


def python(title: str, names: tuple[str, ...], modules: tuple[str, ...]) -> str:
    """Return a page with names of truepool and of modules, for autodoc."""
    import truepool

    parts = [f"# {title}", NOTE]
    if names:
        top = [directive(f"truepool.{n}", getattr(truepool, n)) for n in names]
        parts += ["## truepool", block(top)]
    for name in modules:
        things = public(import_module(name))
        body = [directive(shown(name, thing), thing) for thing in things]
        parts += [f"## {name}", block(body)]
    return join(parts)


def block(directives: list[str]) -> str:
    """Return directives of Sphinx as a part of a page in Markdown."""
    return "```{eval-rst}\n" + "\n".join(directives).strip() + "\n```"


def shown(module: str, thing: Any) -> str:
    """Return the shortest public name of something that a module offers."""
    import truepool

    name: str = thing.__name__
    if getattr(truepool, name, None) is thing:
        return f"truepool.{name}"
    offered = getattr(import_module(module), name, None) is thing
    return f"{module}.{name}" if offered else f"{thing.__module__}.{name}"


def public(module: ModuleType) -> list[Any]:
    """Return the public classes and functions of a module, and those in its folder."""
    import truepool

    names = getattr(module, "__all__", None)
    own = [
        thing
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and getattr(thing, "__module__", "") == module.__name__
    ]
    found = own if names is None else [getattr(module, name) for name in names]
    every: Callable[[], dict[str, Any]] = getattr(module, "every", dict)
    listed = [thing for thing in every().values() if inspect.isclass(thing)]
    things = [*found, *(thing for thing in listed if thing not in found)]
    elsewhere = {getattr(truepool, name) for names in TOP.values() for name in names}
    return [
        thing
        for thing in things
        if (inspect.isclass(thing) or inspect.isfunction(thing))
        and thing not in elsewhere
    ]


def directive(path: str, thing: Any) -> str:
    """Return what makes autodoc write a class or a function."""
    if inspect.isclass(thing):
        return f".. autoclass:: {path}\n   :members:\n"
    return f".. autofunction:: {path}\n"
