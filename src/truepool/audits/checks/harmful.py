"""Who makes the pool worse by being in it."""

from collections.abc import Iterator
from functools import partial

from truepool.audits.attribution import share_of_cost
from truepool.audits.evidence import Evidence
from truepool.audits.standings import own_brier, prior_brier
from truepool.audits.suspicion import Suspicion
from truepool.core.formatting import number
from truepool.measures.inference import paired_p_values

NOTICED = 0.02
"""Harm below this share of the pool's cost is small."""

name = "harm"


def check(evidence: Evidence) -> Iterator[Suspicion]:
    """One test an agent: does the pool cost less without it."""
    panel = evidence.panel
    skilled = own_brier(evidence) < prior_brier(evidence)
    for i, agent in enumerate(panel.agents):
        rise = evidence.rises[:, i]
        harm = float(-rise.mean())
        p = float(paired_p_values(rise[:, None])[0]) if harm > 0 else 1.0
        dear = harm >= NOTICED * float(evidence.looked_cost.mean())
        weak = "" if skilled[i] else " and it knows less than the base rate does"
        yield Suspicion(
            "harmful",
            (agent,),
            f"{agent} makes the pool worse{weak}: without it decisions would cost "
            f"{number(harm)} less per case.",
            f"Leave {agent} out, or use a pool that weighs agents by what they add "
            "(`vcg`, `convex`).",
            p_value=p,
            matters=dear and not skilled[i],
            price=partial(evidence.estimate, -rise),
            figure="credit",
            # A skilled agent that harms a mean shows that the mean is too timid.
            explained_by=(
                ("under-confident-pool", "threshold") if skilled[i] else ("threshold",)
            ),
            share=partial(share_of_cost, harm),
        )
