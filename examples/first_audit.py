"""Can this pool be trusted? Audit a table, and write the page with the evidence."""

import truepool as tp

panel = tp.datasets.example()  # or tp.read_panel("reports.csv", outcome="y")
costs = tp.Costs(fn=10, fp=1)  # a missed case costs ten false alarms

audit = tp.audit(panel, costs=costs, seed=0)
for agent in audit.agents:
    print(f"{agent.who}: {agent.code}")
for step in audit.plan.steps:
    print(f"Do: {step.action} {dict(step.arguments)}")
audit.to_html("report.html")
print("Wrote report.html.")
