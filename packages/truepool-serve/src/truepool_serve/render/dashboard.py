"""The dashboard of a coordinator: its pools, and one page for each.

A page is whole without a script; the script asks for it again every few seconds.
"""

from collections.abc import Iterator, Sequence

from truepool.pages import costs as cost_words
from truepool.pages.html import hash_source
from truepool.pages.html import html as to_html
from truepool.pages.numbers import format_estimate
from truepool.pages.page import Page
from truepool_serve.render.dashboard_sections import in_unit, sections
from truepool_serve.render.dashboard_values import MINUTE, RECENT, PoolView

HERE = "truepool_serve.render"
"""The package of the dashboard's templates."""


def policy(html: str) -> str:
    """Return the policy of a page, for its header: nothing from elsewhere, no frame."""
    style, script = (
        html.split(f"<{tag}>")[1].split(f"</{tag}>")[0] for tag in ("style", "script")
    )
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; connect-src 'self'; "
        f"img-src data:; frame-ancestors 'none'; style-src '{hash_source(style)}'; "
        f"script-src '{hash_source(script)}'"
    )


def index_page(views: Sequence[PoolView]) -> str:
    """Return the page of all pools."""
    page = Page("Pools", "truepool", ())
    return to_html(page, "dashboard/index.html.j2", package=HERE, views=views)


def pool_page(view: PoolView) -> str:
    """Return the page of one pool."""
    page = Page(
        f"{view.name}: {view.headline}",
        view.headline,
        tuple(sections(view)),
        question=view.name,
        tone=view.severity if view.severity != "note" or not view.cautions else "",
        about=(_about(view), *([view.promotion] if view.promotion else [])),
        facts=tuple(_facts(view)),
    )
    return to_html(page, "dashboard/pool.html.j2", package=HERE, view=view)


def message_page(title: str, message: str) -> str:
    """Return a page that says why there is no other."""
    page = Page(title, title, (), about=(message,))
    return to_html(page, "dashboard/message.html.j2", package=HERE)


def _facts(view: PoolView) -> Iterator[tuple[str, str]]:
    yield "decided", f"{view.decided:,}"
    yield "settled", f"{view.settled:,}"
    yield "waiting for an outcome", f"{view.pending:,}"
    yield f"decisions per minute, last {RECENT / MINUTE:g} min", view.per_minute
    yield "deciding rule", f"{view.rule} ({view.learner})"
    if view.comparison:
        yield in_unit(view, "cost per case"), format_estimate(view.comparison[0].cost)


def _about(view: PoolView) -> str:
    """What the pool decides, and at what costs."""
    if len(view.labels) == 2:
        words = cost_words.describe(view.costs)
        about = f"Decides between {view.labels[0]} and {view.labels[1]}; {words}."
    else:
        about = f"Decides between {', '.join(view.labels)}."
    return f"{about} Times are UTC."
