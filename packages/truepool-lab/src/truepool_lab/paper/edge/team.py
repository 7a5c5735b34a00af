"""Five agents of the paper's edge tables, as files that a server or a process reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truepool import VCG, agents
from truepool.core.arrays import FloatArray
from truepool_lab.paper.settings import COSTS, SILO_SHARE, THRESHOLD
from truepool_lab.paper.synthetic_task import FEATURES, task

MODELS = {
    "Random Forest": "random-forest",
    "Gradient Boosting": "gradient-boosting",
    "MLP": "mlp",
    "Logistic Regression": "logistic",
    "Decision Tree": "tree",
}
"""The five of tab:jetson_inference, and their names in the zoo."""
COLUMNS = tuple(f"x{j}" for j in range(FEATURES))
TRAIN_ROWS, KNOWN, CASES = 1000, 500, 500
"""Rows to train agents on, to learn weights from, and to ask about."""


@dataclass(frozen=True, eq=False)
class Team:
    """Trained agents, the same agents in ONNX, a VCG pool of them, and new cases.

    ``native`` and ``onnx`` are files by agent; ``cases`` are features (T, F).
    """

    native: Mapping[str, Path]
    onnx: Mapping[str, Path]
    pool: VCG
    cases: FloatArray
    gaps: Mapping[str, float]

    def files(self, onnx: bool) -> Mapping[str, Path]:
        """Return the files of one of the two forms."""
        return self.onnx if onnx else self.native

    def load(self, onnx: bool) -> dict[str, Any]:
        """Return the agents themselves."""
        return {
            name: agents.load(path, trust=not onnx)
            for name, path in self.files(onnx).items()
        }


def train(folder: Path, seed: int) -> Team:
    """Train, save and export the five agents, each on 60 % of the features."""
    X, y = task(TRAIN_ROWS + KNOWN + CASES, seed)
    known = slice(TRAIN_ROWS, TRAIN_ROWS + KNOWN)
    trained = agents.train(
        X[:TRAIN_ROWS],
        y[:TRAIN_ROWS],
        list(MODELS.values()),
        features=SILO_SHARE,
        seed=seed >> 1,  # scikit-learn takes 31 bits
        cache=False,
    )
    native, onnx, gaps = {}, {}, {}
    for name, kind in MODELS.items():
        native[name], onnx[name] = folder / f"{kind}.joblib", folder / f"{kind}.onnx"
        agents.save(trained[kind], native[name])
        gaps[name] = agents.export(trained[kind], onnx[name], X[known]).gap
    pool = VCG(loss="cost", costs=COSTS, threshold=THRESHOLD)
    pool.fit_panel(trained.panel(X[known], y[known]))
    return Team(native, onnx, pool, X[TRAIN_ROWS + KNOWN :], gaps)
