"""Text of the page that no number changes."""

OPENING = """# The race

You have reports of several models, forecasters or judges and some known outcomes. What should combine them? This page
compares `auto`, the default of truepool, with what practitioners use instead: {peers} methods of five libraries, on
{panels} panels that played no part in the development of `auto`, {draws} draws each. What was compared, and how, was
[written down](../benchmarks/race/PROTOCOL.md) before anything was judged.

`make race` measures everything again and writes this page from
[its rows](../benchmarks/race/results.jsonl); a test checks that page and rows agree. A *cell* is a panel at one cost ratio, such
as 5:1, where a miss costs as much as five false alarms; there are {cells}."""

CRITERIA = """The best peer of the first line is one method for all cells, chosen on other draws than those it is judged on.
Against the best peer *of each cell*, chosen in the same way, the summed cost changes by {cell} (positive: `auto` is
cheaper). Intervals (95 %) resample the panels. Significance is unadjusted here, which is the stricter count for `auto`; six
draws find only large differences, and adjusted for 75 cells hardly any."""

METHOD = """- Every competitor learns from the same cases and answers about the same new ones. All settings are defaults, except that
  peers get what a practitioner would give them: gaps filled with the mean of the case, log-odds clipped, known outcomes as golden
  labels for crowd-kit. Each library runs in its own environment, in a process of its own.
- The old rule is told the costs and fitted for each ratio. `auto` is fitted once: costs change its decisions, not its weights.
- On judging panels no case is asked about twice. Differences are paired by case; their standard error is the larger of that between draws and
  that between cases. Holm's method adjusts for the number of cells.
- Times were taken on two cores that other work kept busy: compare rows, do not quote one.
- *LR* is logistic regression, *LRCV* the same with the penalty chosen by cross-validation.
- The panels are classifiers trained on public tables (and three real election forecasters), not a sample of all panels in the
  world: 25 panels of nine data sets say what happened on these."""

VARIANTS = """**How many variants were tried.** The design of `auto` comes from a study that compared six ways of combining candidates
on 13 other panels, and its pool `shrunk` from one that compared about 38 label-free rules and 8 priors on 17; best-of
figures of those studies are optimistic and are not used here. In this repository, one version of `auto` was measured on the development
panels before the protocol was written. No setting was chosen on the judging panels; every version that was judged on them is
listed here."""
