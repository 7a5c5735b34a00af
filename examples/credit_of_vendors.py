"""Which agents earn their place, and how certain that is."""

import truepool as tp

panel = tp.datasets.example()
known = tp.credit.intervals(panel, loss="brier", resamples=200, seed=0)

print("What the pool would lose without each agent, in Brier loss x 1000:")
rows = zip(known.agents, known.credit, known.low, known.high, strict=True)
for agent, credit, low, high in sorted(rows, key=lambda row: -row[1]):
    verdict = "earns its place" if low > 0 else "does harm" if high < 0 else "undecided"
    low, credit, high = (1000 * value for value in (low, credit, high))
    print(f"{agent:10} {credit:+5.1f} [{low:+.1f}, {high:+.1f}]  {verdict}")

found = tp.diversity.diversity(panel)
print(f"Agents disagree on {found.mean_disagreement:.0%} of the cases.")
