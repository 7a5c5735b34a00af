"""Whether each agent means what it says."""

from collections.abc import Iterator, Sequence
from functools import partial

from truepool.audits.calibration import calibration, matters, slanted
from truepool.audits.evidence import Evidence
from truepool.audits.judging import corrected
from truepool.audits.suspicion import Suspicion
from truepool.audits.values import Calibration, Finding
from truepool.comparison import Estimate

name = "calibration of agents"


def check(evidence: Evidence) -> Iterator[Suspicion]:
    """One test an agent: intercept 0 and slope 1 together."""
    for i, judged in enumerate(evidence.calibrations[: len(evidence.panel.agents)]):
        if judged.p_value is None:
            continue
        code, words = described(judged)
        yield Suspicion(
            code,
            (judged.who,),
            f"{judged.who} {words}.",
            f"Recalibrate {judged.who} on cases with a known outcome before pooling "
            "it, or use a pool that learns to correct it.",
            p_value=judged.p_value,
            matters=matters(judged),
            number=judged.slope if code.endswith("confident") else judged.bias,
            unit="calibration slope" if code.endswith("confident") else "bias",
            price=partial(_price, evidence, i),
            figure="reliability",
            share=partial(_sound_before, evidence, i),
        )


def described(judged: Calibration) -> tuple[str, str]:
    """What is wrong, in a code and in words."""
    gap = shown_gap(judged)
    if judged.slope is not None and (slanted(judged) or _leans(judged)):
        if judged.slope.value < 1:
            return "over-confident", f"is over-confident: {gap}"
        return "under-confident", f"is under-confident: {gap}"
    high = judged.bias is not None and judged.bias.value > 0
    return "biased", f"says too {'much' if high else 'little'}: {gap}"


def _leans(judged: Calibration) -> bool:
    """Whether the slope is what is more clearly off, rather than the mean."""
    slope, bias = judged.slope, judged.bias
    if slope is None or bias is None:  # only what has cases enough is described
        raise AssertionError(judged.who)
    leaning = abs(slope.value - 1) * (bias.high - bias.low)
    return leaning > abs(bias.value) * (slope.high - slope.low)


def shown_gap(judged: Calibration) -> str:
    """Where the gap between said and happened weighs most, in a clause."""
    shown = judged.reliability
    if shown is None:  # only what has cases enough is tested
        raise AssertionError(judged.who)
    out = (shown.happened < shown.low) | (shown.happened > shown.high)
    gaps = abs(shown.said - shown.happened) * (1 + 9 * out)
    worst = int(gaps.argmax())
    said, happened = shown.said[worst], shown.happened[worst]
    return f"where it says {_share(said)}, it happens in {_share(happened)} of cases"


def _share(p: float) -> str:
    places = 0 if 0.1 <= p <= 0.9 else 1
    return f"{100 * p:.{places}f}".removesuffix(".0") + " %"


def _sound_before(evidence: Evidence, agent: int, causes: Sequence[Finding]) -> float:
    """How much less the agent was off before these causes set in, as a share.

    All of it where a cause has no date, or too little came before it to tell.
    """
    panel = evidence.panel
    early = panel.order[: min(cause.since or 0 for cause in causes)]
    said, outcomes = panel.values[early, agent], panel.outcomes[early]
    before = calibration(panel.agents[agent], said, outcomes, evidence.level)
    whole = evidence.calibrations[agent]
    steep = described(whole)[0].endswith("confident")
    then, now = ((c.slope if steep else c.bias) for c in (before, whole))
    if then is None or now is None:
        return 1.0
    sound = 1.0 if steep else 0.0
    return 1 - abs(then.value - sound) / abs(now.value - sound)


def _price(evidence: Evidence, agent: int) -> Estimate | None:
    """What the pool costs more than with this agent recalibrated."""
    said = evidence.panel.values[:, agent]
    fixed = corrected(said, evidence.panel.outcomes, evidence.sampling)
    saved = evidence.cost - evidence.cost_of(evidence.changed(agent, fixed))
    return evidence.estimate(saved)
