"""What if agents misreport: games with known answers, and incentives.

>>> from truepool.panel.costs import Costs
>>> game = Game(agents=5, correlation=0.5, threshold=0.3, costs=Costs(fn=10, fp=1))
>>> game.solve("vcg")
Equilibrium(vcg: shift +0.210, FN 0.330 -> 0.014, PoA 0.0432 (-0.316), converged
after 2 rounds)
"""

from truepool_lab.games import payments, theory
from truepool_lab.games.beliefs import (
    Beliefs,
    ClippedBeliefsWarning,
    draw_beliefs,
    from_panel,
)
from truepool_lab.games.equilibrium import Equilibrium, PriceOfAnarchy
from truepool_lab.games.game import Game
from truepool_lab.games.misreports import Incentives, incentives
from truepool_lab.games.parameter_sweep import Sweep, sweep
from truepool_lab.games.responses import Affine, Exact, Shift
from truepool_lab.games.verification import Verification, verify

__all__ = [
    "Affine",
    "Beliefs",
    "ClippedBeliefsWarning",
    "Equilibrium",
    "Exact",
    "Game",
    "Incentives",
    "PriceOfAnarchy",
    "Shift",
    "Sweep",
    "Verification",
    "draw_beliefs",
    "from_panel",
    "incentives",
    "payments",
    "sweep",
    "theory",
    "verify",
]
