"""Whether another pool, or the best agent alone, is clearly better."""

from collections.abc import Iterator
from functools import partial

from truepool.audits.advising import advised
from truepool.audits.attribution import share_of_cost
from truepool.audits.comparing import compared
from truepool.audits.evidence import Evidence
from truepool.audits.robustness import best_agent
from truepool.audits.severity import BROKEN
from truepool.audits.suspicion import Suspicion
from truepool.core.formatting import number
from truepool.measures.inference import paired_p_values

name = "comparison"


def check(evidence: Evidence) -> Iterator[Suspicion]:
    """A note on the better pool; a warning where the best agent alone beats the pool.

    The comparison adjusts its own tests for the number of pools it tries.
    """
    advice = evidence.once(advised)
    if advice is None:
        return
    # That the best agent alone is better has a test and a sentence of its own.
    if advice.pool not in (evidence.pool.name, "best-agent"):
        yield Suspicion(
            "better-pool",
            (),
            f"{advice.named} would cost {number(advice.saved.value)} less per case "
            f"than {evidence.pool.name} on cases it had not seen.",
            f"Use {advice.named}: {advice.why}.",
            least="note",
            price=lambda: advice.saved,
            figure="comparison",
        )
    yield from _best(evidence)


def _best(evidence: Evidence) -> Iterator[Suspicion]:
    """Say where the pool loses to its best member."""
    table = evidence.once(compared)
    if table is None or evidence.pool.name == "best-agent":
        return
    agent = best_agent(evidence)
    beyond = table.by_case[evidence.pool.name] - table.by_case["best-agent"]
    gap = float(beyond.mean())
    yield Suspicion(
        "worse-than-best",
        (agent,),
        f"The best agent alone ({agent}) costs {number(gap)} less per case than the "
        "pool.",
        f"Use {agent} alone, or a pool that learns to lean on it.",
        p_value=float(paired_p_values(beyond[:, None])[0]) if gap > 0 else 1.0,
        most="warning",
        price=lambda: table[evidence.pool.name].to_best,
        figure="comparison",
        explained_by=("under-confident-pool", "threshold", *BROKEN, "drifted"),
        share=partial(share_of_cost, gap),
    )
