"""Weights that learn from each outcome, also when outcomes come late."""

import truepool as tp

panel = tp.datasets.example()
stream = tp.Stream("gradient", agents=panel.agents, costs=tp.Costs(fn=10, fp=1))

waiting = []
for t in range(len(panel)):
    reports = {
        agent: float(report)
        for agent, report in zip(panel.agents, panel.reports[t], strict=True)
        if report == report  # NaN is no report
    }
    stream.decide_one(reports, case=f"case {t}")
    waiting.append(t)
    if len(waiting) > 50:  # outcomes are known fifty cases later
        late = waiting.pop(0)
        stream.settle(f"case {late}", int(panel.outcomes[late]))

best = max(stream.weights, key=stream.weights.get)
print(f"{len(waiting)} cases wait for their outcome.")
print(f"{best} has the most weight: {stream.weights[best]:.0%}.")
