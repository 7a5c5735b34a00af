"""Text of the page that no number changes."""

OPENING = """# The race

You have reports of several models, forecasters or judges and some known outcomes. What should combine them? This page
compares `auto`, the default of truepool, with what practitioners use instead: {peers} methods of five libraries, on
{panels} panels that played no part in the development of `auto`, {draws} draws each. What was compared, and how, was
[written down](../benchmarks/race/PROTOCOL.md) before anything was judged.

`make race` measures what is missing in [its rows](../benchmarks/race/results.jsonl) and writes this page from them; delete
rows to measure them again. Tests check that page and rows agree, and measure one draw of two small panels again. A *cell* is a panel at one cost ratio, such
as 5:1, where a miss costs as much as five false alarms; there are {cells}."""

CRITERIA = """The best peer of the first line is one method for all cells, chosen on other draws than those it is judged on.
Against the best peer *of each cell*, chosen in the same way, the summed cost changes by {cell} (positive: `auto`
costs less). The first interval (95 %) resamples the panels as if they were independent, the second, after the slash, the nine
data sets with all panels of each: panels of one data set have much in common. Significance is unadjusted here, which is the stricter count for `auto`; six
draws find only large differences, and adjusted for 75 cells hardly any."""

METHOD = """- Every competitor learns from the same cases and answers about the same new ones. All settings are defaults, except that
  peers get what a practitioner would give them: gaps filled with the mean of the case, log-odds clipped, known outcomes as golden
  labels for crowd-kit. Each library runs in its own environment, in a process of its own.
- The old rule is told the costs and fitted for each ratio. `auto` is fitted once: costs change its decisions, not its weights.
- On judging panels no case is asked about twice. Differences are paired by case; their standard error is the larger of that between draws and
  that between cases. Holm's method adjusts for the number of cells.
- Times were taken on two cores that other work kept busy: compare rows, do not quote one.
- The *sparse* panels are no tournaments: trained classifiers, 80 % of whose reports were removed at random.
- The losses in the tables of judging panels were published on 16 November 2026. Since then gradient boosting has become independent of the order of the agents, which
  changes ties between equally good cuts, missing reports are [filled in](decisions/0042-missing-reports.md) by what the others
  suggest, and `brier`, `vcg` and `best-agent`, three of the candidates, shrink agents that report rarely. On 18 November `auto` alone was measured again, on all
  draws of all judging panels (`python -m race.again`, a few minutes on one core; peers do not depend on truepool, and the mean has the losses on file): its cost is .7427 of the mean's, where
  the tables have .7425, its log loss .7375 (.7380) and its Brier loss .7536 (.7540). On the three sparse panels the cost is .961 (.960): the
  change is not larger there. `simplest`, the times and the
  significance have not been measured again: that needs the environments of all five libraries, and all 182 cells.
- *LR* is logistic regression, *LRCV* the same with the penalty chosen by cross-validation.
- The panels are classifiers trained on public tables (and three real election forecasters), not a sample of all panels in the
  world: 25 panels of nine data sets say what happened on these."""

VARIANTS = """**How many variants were tried.** Elsewhere: the design of `auto` comes from a study that compared six ways of combining candidates
on 13 other panels, and its pool `shrunk` from one that compared about 38 label-free rules and 8 priors on 17; best-of
figures of those studies are optimistic and are not used here.

In this repository, on development panels ([decision 5](decisions/0005-auto.md)):

- seven settings of gradient boosting; 30 trees at a rate of .1 were kept;
- two grids of ridge penalties: a prototype of 13, and the 7 in use;
- boosting below 100 cases, which was left out;
- a Platt step for each agent before `shrunk`, always or chosen by evidence, which was left out;
- for `auto` as an online learner, six mixers on four panels ([learners](learners.md)); AdaHedge was kept.

One version of `auto` was measured on the development panels before the protocol was written. The product crowd, the duck
crowd and JudgeBench, among the development panels, belong to the study that `shrunk` comes from. No setting was chosen on the
judging panels; every version that was judged on them is listed here."""
