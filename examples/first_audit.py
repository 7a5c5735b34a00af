"""Can this pool be trusted? Audit a table, and write the page with the evidence."""

import truepool as tp

panel = tp.datasets.example()  # or tp.read_panel("reports.csv", outcome="y")
costs = tp.Costs(fn=10, fp=1)  # a missed case costs ten false alarms

audit = tp.audit(panel, costs=costs, seed=0)
for finding in audit.findings[:3]:
    print(f"{finding.severity}: {finding.sentence}")
plan = audit.recommendation
print(f"In use: {plan.in_use}. Better: {plan.pool}.")
audit.to_html("report.html")
print("Wrote report.html.")
