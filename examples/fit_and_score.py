"""Learn a pool on old cases, save it, and decide new ones elsewhere."""

import truepool as tp

panel = tp.datasets.example()
old, new = panel.take(range(400)), panel.take(range(400, len(panel)))

pool = tp.VCG(costs=tp.Costs(fn=10, fp=1)).fit_panel(old)
pool.save("tumours.pool")  # no pickle inside: safe to load from others

served = tp.load_pool("tumours.pool")
decisions = served.predict(new.reports)
missed = ((decisions == 0) & (new.outcomes == 1)).sum()
print(f"{len(new)} new cases, {(new.outcomes == 1).sum()} malignant, {missed} missed.")

case = {"logistic": 0.2, "forest": 0.1, "bayes": None}  # two agents did not report
chance, decision = served.predict_proba_one(case)[1], served.decide_one(case)
print(f"One case: {chance:.0%}, decision {decision}.")
