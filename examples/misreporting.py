"""What agents report if they are paid by a score, and what that costs."""

import truepool as tp

costs = tp.Costs(fn=10, fp=1)
game = tp.games.Game(
    agents=5, correlation=0.5, mean=0.3, threshold=0.3, costs=costs, cases=5_000
)
for payment in ("brier", "vcg", "wsu"):
    found = game.solve(payment, rounds=20, seed=0)
    print(
        f"{payment:6} agents shift reports by {found.shifts.mean():+.2f}; "
        f"missed {found.fn:.1%} (truthful {found.truthful_fn:.1%}), "
        f"false alarms {found.fp:.1%}"
    )
print(f"The costs ask for a threshold of {costs.threshold:.3f}, not 0.3.")
