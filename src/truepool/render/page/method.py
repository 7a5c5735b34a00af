"""How an audit was computed: enough to do it again."""

import platform
from importlib.metadata import version

from truepool.audit.values import SCHEMA, Audit
from truepool.render.markup import joined, tag
from truepool.render.numbers import amount, number
from truepool.render.page.frame import Section

PACKAGES = ("truepool", "numpy", "scipy", "scikit-learn")


def section(audit: Audit) -> Section:
    """Return the settings, what was sampled, and the versions."""
    facts = {
        "Pool": f"{audit.mechanism}; no case was pooled by weights that saw it",
        "Costs": _costs(audit),
        "Threshold": _threshold(audit),
        "Intervals": f"{100 * audit.level:g} %, by resampling the cases",
        "Tests": "adjusted for how many there are (Holm)",
        "Seed": str(audit.seed),
        "Versions": ", ".join(
            [f"{name} {version(name)}" for name in PACKAGES]
            + [f"Python {platform.python_version()}", f"schema {SCHEMA}"]
        ),
    }
    pairs = [joined(tag("dt", what), tag("dd", told)) for what, told in facts.items()]
    if audit.sampled:
        parts = [tag("dd", told) for told in audit.sampled]
        pairs.append(joined(tag("dt", "Parts"), *parts))
    inside = tag("dl", *pairs, class_="method")
    return Section("method", "Method", "How this was computed", inside)


def _costs(audit: Audit) -> str:
    costs = audit.costs
    if costs.get("matrix") is not None:
        rows = "; ".join(
            ", ".join(f"{amount(cell)}" for cell in row) for row in costs["matrix"]
        )
        return f"rows are what happened, columns what was decided: {rows}"
    return f"a missed case {amount(costs['fn'])}, a false alarm {amount(costs['fp'])}"


def _threshold(audit: Audit) -> str:
    if audit.threshold is None:
        return "the class of least expected cost is decided"
    return f"1 is decided above {number(audit.threshold)}"
