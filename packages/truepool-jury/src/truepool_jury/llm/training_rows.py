"""What prompts take from training rows: examples, and which features say most."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from truepool.core.arrays import IntArray
from truepool.core.errors import OutcomeError, SourceError
from truepool.core.seeds import short_seed
from truepool.panel.labels import Labels
from truepool_jury.llm.answer import Probability
from truepool_jury.llm.cases import Cases
from truepool_jury.llm.prompts import Material
from truepool_jury.llm.template import FROM_TRAINING, Template

EXAMPLES = 3
"""Examples in a prompt, as in the paper."""
FOCUS = 8
"""Features that a focused prompt shows first; the paper gives no number."""
MOST_ROWS = 5_000
"""Training rows that mutual information is estimated from."""


def draw_examples(outcomes: IntArray, seed: int) -> IntArray:
    """Rows of the examples: drawn by seed, at least one of each class.

    >>> draw_examples(np.array([0, 0, 0, 0, 1]), seed=0)
    array([3, 2, 4])
    """
    if len(outcomes) < EXAMPLES or len(np.unique(outcomes)) < 2:
        raise OutcomeError(
            f"examples need at least {EXAMPLES} training rows, of both labels; got "
            f"{len(outcomes)} rows of {len(np.unique(outcomes))}. Name another table "
            "of training rows."
        )
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(outcomes))
    firsts = [order[np.argmax(outcomes[order] == k)] for k in (0, 1)]
    others = [row for row in order if row not in firsts]
    return rng.permutation([*firsts, *others][:EXAMPLES])


def informative_features(table: Any, outcomes: IntArray, seed: int) -> list[str]:
    """Names of the features that say most about the outcome, in nats, the most first.

    >>> import pyarrow as pa
    >>> table = pa.table({"noise": [0, 1] * 20, "flag": ["SF"] * 20 + ["S0"] * 20})
    >>> informative_features(table, np.repeat([0, 1], 20), seed=0)[0]
    'flag'
    """
    from sklearn.feature_selection import mutual_info_classif

    from truepool.agents.features.encoding import Encoder

    drawn = np.random.default_rng(seed).permutation(len(outcomes))[:MOST_ROWS]
    encoder = Encoder(fill=True).fit(table)
    discrete = [name in encoder.categories_ for name in encoder.names_]
    scores = mutual_info_classif(
        encoder.transform(table)[drawn],
        outcomes[drawn],
        discrete_features=np.array(discrete),
        random_state=short_seed(seed),
    )
    order = np.argsort(-scores, kind="stable")
    return [encoder.names_[j] for j in order[:FOCUS]]


def collect_material(
    templates: Sequence[Template],
    question: str,
    probability: Probability,
    cases: Cases,
    known: Cases | None,
    labels: Labels | None,
    seed: int,
) -> Material:
    """Return what all prompts share, with examples and features of training rows."""
    needed = {name for t in templates for name in t.variables & FROM_TRAINING}
    if not needed:
        return Material(question, cases.features, probability)
    if known is None or labels is None or not known.known.any():
        which = next(t.name for t in templates if t.variables & FROM_TRAINING)
        raise OutcomeError(
            f"the template {which!r} needs training rows: other cases than these, with "
            "the same columns and known outcomes. Name a table of them (train)."
        )
    lacking = [name for name in cases.features if name not in known.frame.columns]
    if lacking:
        raise SourceError(
            "the training rows must have the features of the cases; they have no "
            f"{lacking[0]!r}. Leave that out of both (ignore)."
        )
    training = known.frame.select(list(cases.features)).filter(known.known.tolist())
    outcomes = labels.encode(known.given)
    rows = training.rows(named=True)
    examples = [
        (rows[t], "yes" if outcomes[t] else "no")
        for t in (draw_examples(outcomes, seed) if "examples" in needed else ())
    ]
    focus: list[str] = []
    if needed != {"examples"}:
        focus = informative_features(training.to_native(), outcomes, seed)
    return Material(question, cases.features, probability, examples, focus)
