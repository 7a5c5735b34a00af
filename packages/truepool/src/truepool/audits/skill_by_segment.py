"""How well each agent does within each segment, and who does worse in some of them."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from truepool.audits.evidence import Evidence
from truepool.audits.kinds import LIKELY
from truepool.audits.values import AgentSkill
from truepool.comparison import Estimate
from truepool.core.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    from_log_scale,
    log_scale,
)
from truepool.measures.calibration import fit_scaling
from truepool.measures.groups import describe_shortage
from truepool.measures.inference import holm
from truepool.measures.inference.bootstrap import standard_errors
from truepool.measures.losses import Loss
from truepool.measures.skill import (
    Contrast,
    SegmentedCases,
    Skill,
    auc_skill,
    brier_skill,
    placements,
)

WORSE, BETTER = -1, 1
"""Sign of a difference that is tested."""

LITTLE = 0.5
"""An agent is of use in some segments only where its AUC elsewhere is surely less than
this share as far above 1/2 as there."""


@dataclass(frozen=True, eq=False)
class WeakSegments:
    """Segments ``failing`` (G,) in which an agent does worse than in the others.

    ``only`` says that it shows no relation to the outcome there, and that the others
    are a minority. The skill is that in all failing segments together.
    """

    p_value: float
    failing: BoolArray
    only: bool
    measure: str
    there: float
    elsewhere: float
    change: Estimate


@dataclass(frozen=True, eq=False)
class SkillBySegment:
    """Skill of the agents on the tested cases, whose segments are numbered (T',).

    Agents are tested in the segments that are ``judged`` (G,).
    """

    evidence: Evidence
    segment: IntArray
    judged: BoolArray

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """Measures of skill that are tested; the AUC needs two classes."""
        two = self.evidence.panel.classes == 2
        return ("AUC", "Brier skill") if two else ("Brier skill",)

    def summarize(self, agent: int, g: int) -> AgentSkill:
        """Skill of an agent in one segment, its reports taken as they are."""
        cases = self._reported(agent)
        who, own = self.evidence.panel.agents[agent], cases[self.segment[cases] == g]
        count = len(self.evidence.panel.one_row_each(self.evidence.cases[own]))
        if self._shortage(own):
            return AgentSkill(who, count)
        area = None
        if "AUC" in self.measures:
            found = self._estimate(self._skill("AUC", agent, own).mean(self._is(g)))
            area = replace(found, low=max(found.low, 0.0), high=min(found.high, 1.0))
        saved = self._estimate(self._as_it_is(agent, own).mean(self._is(g)))
        return AgentSkill(who, count, area, saved)

    def find_weak(self, agent: int) -> WeakSegments:
        """Test whether an agent does worse in some segments than elsewhere.

        Worse or better is tested in each segment and by each measure (Holm). Better
        counts only where the agent shows no relation to the outcome elsewhere.
        """
        judged = np.flatnonzero(self.judged)
        tests = [self._tests(m, agent, WORSE)[judged] for m in self.measures]
        good = np.zeros(len(self.judged), dtype=np.bool_)
        if "AUC" in self.measures:
            better = self._tests("AUC", agent, BETTER)
            sure = better * (len(tests) + 1) * len(judged) < LIKELY
            good = self._only_there(agent, sure)
            tests.append(better[judged] if good.any() else np.ones(len(judged)))
        adjusted = holm(np.concatenate(tests)).reshape(len(tests), -1)
        worse = adjusted[: len(self.measures)]
        row = int(worse.min(axis=1).argmin())
        measure, found = self.measures[row], judged[worse[row] < LIKELY]
        if good.any() and adjusted[-1].min() <= worse.min():
            only = self._is_minority(good)
            failing, measure = ~good & (self.judged | only), "AUC"
        else:
            only = False
            chosen = found if len(found) else judged[[worse[row].argmin()]]
            failing = np.isin(np.arange(len(good)), chosen)
        cases = self._reported(agent)
        skill = self._skill(measure, agent, cases)
        return WeakSegments(
            float(adjusted.min()),
            failing,
            only,
            measure,
            skill.mean(failing).value,
            skill.mean(~failing).value,
            self._estimate(skill.contrast(failing)),
        )

    def _is_minority(self, good: BoolArray) -> bool:
        """Whether some segments are fewer than the others, or have fewer cases."""
        sizes = np.bincount(self.segment, minlength=len(good))
        parts = [
            (int(p.sum()), int(sizes[p].sum())) for p in (good, ~good & self.judged)
        ]
        return (0, 0) < parts[0] < parts[1]

    # Tests

    def _tests(self, measure: str, agent: int, sign: int) -> FloatArray:
        """P-values (G,) of an agent that does worse, or better, in a segment.

        The larger of two: of its own skill there against elsewhere, and of this change
        beside that of the other agents, which more than half of them must confirm.
        """
        tests = np.ones(len(self.judged))
        cases = self._reported(agent)
        skills = [self._skill(measure, agent, cases)]
        if measure != "AUC":
            # Learned where the agent fails, a recalibration spoils it elsewhere.
            skills.append(self._as_it_is(agent, cases))
        for g in np.flatnonzero(self.judged).tolist():
            if self._comparable(cases, g):
                own = [skill.contrast(self._is(g)).p_value(sign) for skill in skills]
                tests[g] = max(own)
                if self._by_rank(measure):
                    tests[g] = self._shifted(self._placed[:, agent], g, sign)
        near = np.flatnonzero(tests < LIKELY)  # the others can only raise a p-value
        others = [j for j in range(self._known.shape[1]) if j != agent]
        if len(near) and others:
            beside = [self._beside(measure, agent, j, near, sign) for j in others]
            ordered = np.sort(np.stack(beside), axis=0)  # NaN last
            half = (~np.isnan(ordered)).sum(axis=0) // 2
            most = ordered[np.minimum(half, len(others) - 1), np.arange(len(near))]
            tests[near] = np.fmax(tests[near], np.nan_to_num(most, nan=1.0))
        return tests if others else np.ones(len(tests))

    def _beside(
        self, measure: str, agent: int, other: int, segments: IntArray, sign: int
    ) -> FloatArray:
        """P-values of a change of the agent's skill beside that of another agent.

        On the cases that both reported on; NaN where these are too few. Who does worse
        must also be behind the other there: where cases are hard to tell apart, or the
        agent knows nearly everything elsewhere, only its lead shrinks.
        """
        cases = np.flatnonzero(self._known[:, agent] & self._known[:, other])
        first, second = (self._skill(measure, i, cases) for i in (agent, other))
        tests = np.full(len(segments), np.nan)
        for k, g in enumerate(segments.tolist()):
            if self._comparable(cases, g):
                inside = self._is(g)
                if self._by_rank(measure):
                    ahead = self._placed[:, agent] - self._placed[:, other]
                    leads = sign == WORSE and not self._is_behind(ahead, g)
                    tests[k] = 1.0 if leads else self._shifted(ahead, g, sign)
                    continue
                gap = first.contrast(inside).minus(second.contrast(inside))
                tests[k] = gap.p_value(sign)
                if sign == WORSE:
                    level = first.mean(inside).minus(second.mean(inside))
                    tests[k] = max(tests[k], level.p_value(sign))
        return tests

    def _by_rank(self, measure: str) -> bool:
        """Whether placements are compared by rank: of AUC, if all cases count alike.

        A handful of positives in a segment is far from normal, and a t-test of them
        finds nothing after adjustment, however clear they are.
        """
        return measure == "AUC" and not self._weighted

    def _shifted(self, placed: FloatArray, g: int, sign: int) -> float:
        """Rank-sum test of placements, or of their differences, in a segment."""
        from scipy.stats import mannwhitneyu

        inside = self.segment == g
        there, elsewhere = (self._by_unit(placed, part) for part in (inside, ~inside))
        if not len(there) or not len(elsewhere):
            return 1.0
        way = "less" if sign == WORSE else "greater"
        found = mannwhitneyu(there, elsewhere, alternative=way, method="asymptotic")
        return float(found.pvalue)

    def _is_behind(self, ahead: FloatArray, g: int) -> bool:
        """Whether an agent is significantly behind another in a segment."""
        from scipy.stats import wilcoxon

        gaps = self._by_unit(ahead, self.segment == g)
        if not gaps.any():
            return False
        found = wilcoxon(gaps, alternative="less", method="approx")
        return bool(found.pvalue < LIKELY)

    def _by_unit(self, placed: FloatArray, part: BoolArray) -> FloatArray:
        """Mean of the placements of each independent unit in a part of the cases."""
        known = np.flatnonzero(part & ~np.isnan(placed))
        unit = np.unique(self._cases.unit[known], return_inverse=True)[1]
        return np.asarray(np.bincount(unit, placed[known]) / np.bincount(unit))

    @cached_property
    def _weighted(self) -> bool:
        return self.evidence.panel.case_weights() is not None

    @cached_property
    def _placed(self) -> FloatArray:
        """Placements of the positive cases by each agent, (T', N)."""
        placed = np.full(self._known.shape, np.nan)
        for i in range(len(self.evidence.panel.agents)):
            own = self._reported(i)
            placed[own, i] = placements(self._values[own, i, 0], self._cases.take(own))
        return placed

    def _only_there(self, agent: int, good: BoolArray) -> BoolArray:
        """Segments (G,) outside of which an agent shows no relation to the outcome.

        The interval of its AUC elsewhere includes 1/2 and ends below what `LITTLE`
        says, as does the AUC of each segment. ``good`` are some of the segments; all
        False where it knows something elsewhere.
        """
        cases = self._reported(agent)
        skill, good = self._skill("AUC", agent, cases), good.copy()
        while good.any() and (~good & self.judged).any():
            there, rest = skill.mean(good), self._estimate(skill.mean(~good))
            left = np.where(~good & self.judged, np.nan_to_num(skill.values), -1.0)
            most = 0.5 + LITTLE * (there.value - 0.5)
            if rest.low <= 0.5 and max(rest.high, left.max()) < most:
                return good
            good[int(left.argmax())] = True
        return np.zeros(len(good), dtype=np.bool_)

    # Skill

    def _skill(self, measure: str, agent: int, cases: IntArray) -> Skill:
        """Skill of an agent within each segment, on some of the tested cases."""
        part = self._cases.take(cases)
        if measure == "AUC":
            return auc_skill(self._values[cases, agent, 0], part)
        return brier_skill(self._recalibrated_losses(agent)[cases], part)

    def _as_it_is(self, agent: int, cases: IntArray) -> Skill:
        """Brier skill of the reports of an agent, not recalibrated."""
        part = self._cases.take(cases)
        reports = self._values[cases, agent]
        return brier_skill(Loss("brier").evaluate(reports, part.outcomes), part)

    def _recalibrated_losses(self, agent: int) -> FloatArray:
        """Brier loss of an agent that is recalibrated on the other segments, (T',).

        What is wrong with it everywhere is another finding.
        """
        if agent not in self._losses:
            outcomes, fixed = self.evidence.outcomes, self._values[:, agent].copy()
            scale = log_scale(fixed)
            for g in range(len(self.judged)):
                inside = self._known[:, agent] & (self.segment == g)
                learn = np.flatnonzero(self._known[:, agent] & (self.segment != g))
                if self._shortage(learn) is None:
                    factor, shift = fit_scaling(
                        scale[learn],
                        outcomes[learn],
                        self._cases.weights[learn],
                        shift=True,
                    )
                    fixed[inside] = from_log_scale(factor * scale[inside] + shift)
            self._losses[agent] = Loss("brier").evaluate(fixed, outcomes)
        return self._losses[agent]

    @cached_property
    def _losses(self) -> dict[int, FloatArray]:
        return {}

    def _estimate(self, found: Contrast) -> Estimate:
        reach = standard_errors(self.evidence.level) * found.error
        return Estimate(found.value, found.value - reach, found.value + reach)

    # Cases

    @cached_property
    def _values(self) -> FloatArray:
        """Reports on the tested cases, (T', N, C)."""
        return self.evidence.panel.values[self.evidence.cases]

    @cached_property
    def _known(self) -> BoolArray:
        """Whether an agent reported on a tested case, (T', N)."""
        return ~np.isnan(self._values[:, :, 0])

    def _reported(self, agent: int) -> IntArray:
        return np.flatnonzero(self._known[:, agent])

    @cached_property
    def _cases(self) -> SegmentedCases:
        """The tested cases; those of one group are one unit."""
        cases, panel = self.evidence.cases, self.evidence.panel
        weights, unit = panel.case_weights(), np.arange(len(cases))
        if panel.groups is not None:
            names = panel.groups[cases].astype(str)
            unit = np.unique(names, return_inverse=True)[1]
        return SegmentedCases(
            self.evidence.outcomes,
            np.ones(len(cases)) if weights is None else weights[cases],
            unit,
            self.segment,
            len(self.judged),
            panel.classes,
        )

    def _is(self, g: int) -> BoolArray:
        return np.asarray(np.arange(len(self.judged)) == g)

    def _comparable(self, cases: IntArray, g: int) -> bool:
        """Whether there are enough of these cases in a segment, and elsewhere."""
        inside = self.segment[cases] == g
        return all(self._shortage(cases[part]) is None for part in (inside, ~inside))

    def _shortage(self, cases: IntArray) -> str | None:
        each = self.evidence.panel.one_row_each(self.evidence.cases[cases])
        groups = None if self.evidence.panel.groups is None else self._cases.unit[cases]
        return describe_shortage(self.evidence.panel.outcomes[each], groups=groups)
