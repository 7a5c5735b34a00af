"""Pools that are small neural networks."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from truepool.core.arrays import (
    FloatArray,
    IntArray,
    fill_missing,
    from_log_scale,
)
from truepool.core.errors import SettingError
from truepool.measures.calibration import clipped_log_scale
from truepool.measures.folds import panel_splits
from truepool.panel.panel import Panel
from truepool.pools import Pool, learned
from truepool.pools.interface.stacked import MODEL
from truepool_lab.pools.networks.training import (
    Config,
    Inputs,
    Parameters,
    TrainingData,
    build,
    predict,
    train,
)

MIN_HELD_OUT = 2
"""With fewer held-out cases than this, there is no early stopping."""

MIN_SPREAD = 1e-3
"""Reports are never scaled by less than this: identical reports stay identical."""

CLASSES = "the network starts from random numbers that belong to classes"


class NeuralPool(Pool):
    """A network on the log-odds of the reports, trained on the log loss.

    It needs torch (``pip install 'truepool-lab[neural]'``) and uses a GPU if there is
    one. A fifth of the cases is held out, the last ones where cases have times, and the
    network with the lowest loss on them is kept; where they are too few for that, all
    are used, for ``patience`` epochs. The parameters are kept as numpy arrays.

    Parameters
    ----------
    hidden : int
        Width of the hidden layers; 64 as in tab:hyperparams.
    epochs, patience : int
        Passes over the cases at most, and how many to wait for a smaller held-out loss.
    batch : int
        Cases per step.
    rate, decay : float
        Adam's rate, and how fast it pulls parameters to zero.
    held_out : float
        Share of the cases for early stopping; 0 for none: then all epochs are run.
    device : str
        ``auto``, or a device of torch.

    Attributes
    ----------
    parameters_ : dict of str to array
        The parameters.
    held_out_losses_ : (E,)
        Log loss of the held-out cases after each epoch; NaN where none were.
    """

    complexity: ClassVar[int] = 3
    by_default: ClassVar[bool] = False
    most_agents: ClassVar[int | None] = None
    """Most agents that it takes, where there is a limit."""
    exemptions: ClassVar[Mapping[str, str]] = {
        "unanimity": MODEL,
        "label swap": CLASSES,
    }

    hidden: int = 64
    epochs: int = 200
    patience: int = 10
    batch: int = 256
    rate: float = 1e-3
    decay: float = 1e-2
    held_out: float = 0.2
    device: str = "auto"
    seed: int = 0

    centre_: FloatArray = learned()
    spread_: FloatArray = learned()
    parameters_: Parameters = learned()
    held_out_losses_: FloatArray = learned()

    @abstractmethod
    def _module(self, modules: Any, agents: int, odds: int) -> Any:
        """Return the torch module for N agents and J = K - 1 log-odds."""

    def _column_order(self, values: FloatArray) -> IntArray:
        """Order of the agents in which the network learns from reports (T, N, C)."""
        return np.arange(values.shape[1])

    def _in_columns(self, parameters: Parameters, order: IntArray) -> Parameters:
        """Parameters for agents in the order of their columns."""
        return parameters

    def _network(self) -> Any:
        agents, odds = len(self.agents_), len(self.classes_) - 1
        return build(lambda modules: self._module(modules, agents, odds))

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        self._check()
        self._check_size(panel)
        cases = np.ones(len(panel)) if case_weights is None else case_weights
        order = self._column_order(panel.values[cases > 0])
        scale = clipped_log_scale(panel.values[:, order])
        self.centre_, self.spread_ = _standard(scale, cases)
        learn, held_out_cases = self._split(panel, cases)
        rng = np.random.default_rng(self.seed)
        network = self._network()
        network.start(rng, clipped_log_scale(panel.base_rate(case_weights)))
        parameters, self.held_out_losses_ = train(
            network,
            TrainingData(
                self._inputs(scale), panel.outcomes, cases, learn, held_out_cases
            ),
            self._config(stops=bool(held_out_cases.size)),
            rng,
        )
        self.parameters_ = self._in_columns(parameters, order)

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        inputs = self._inputs(clipped_log_scale(values))
        odds = predict(self._network(), self.parameters_, inputs, self.device)
        return from_log_scale(odds)

    def to_onnx(self, values: Any) -> Any:
        """Record pooled coordinates (T, C) of a tensor of reports (T, N, C)."""
        scale = (clipped_log_scale(values) - self.centre_) / self.spread_
        reported = ~np.isnan(values[:, :, 0])
        return from_log_scale(self._record_odds(fill_missing(scale), reported))

    @abstractmethod
    def _record_odds(self, scale: Any, reported: Any) -> Any:
        """Record what the network makes of (T, N, J) and (T, N): log-odds (T, J)."""

    def _layers(self, name: str) -> list[tuple[FloatArray, FloatArray]]:
        """Slopes and shifts of the dense layers that torch calls by this name."""
        weights = [key for key in self.parameters_ if key.startswith(f"{name}.")]
        layers = dict.fromkeys(key.rpartition(".")[0] for key in weights)
        return [
            (self.parameters_[f"{layer}.weight"], self.parameters_[f"{layer}.bias"])
            for layer in layers
        ]

    def _inputs(self, scale: FloatArray) -> Inputs:
        """Centre and scale all agents alike; missing reports agree with the others."""
        scale = (scale - self.centre_) / self.spread_
        reported = (~np.isnan(scale[:, :, 0])).astype(np.float64)
        return Inputs(fill_missing(scale), reported)

    def _split(self, panel: Panel, cases: FloatArray) -> tuple[IntArray, IntArray]:
        """Cases to learn from, and cases held out."""
        everything, nothing = np.arange(len(panel)), np.arange(0)
        if self.held_out * len(panel) < MIN_HELD_OUT:
            return everything, nothing
        folds = max(2, round(1 / self.held_out))
        try:
            pairs = panel_splits(panel, folds, self.seed)
        except SettingError:  # a class too rare to be in both parts
            return everything, nothing
        learn, held_out_cases = pairs[-1]
        counted = cases[learn].sum() > 0 and cases[held_out_cases].sum() > 0
        return (learn, held_out_cases) if counted else (everything, nothing)

    def _config(self, *, stops: bool) -> Config:
        # Nobody says when to stop: a few epochs if that was not asked for.
        blind = self.held_out > 0 and not stops
        epochs = min(self.epochs, self.patience) if blind else self.epochs
        patience = self.patience if stops else epochs
        return Config(self.rate, self.decay, self.batch, epochs, patience, self.device)

    def _check_size(self, panel: Panel) -> None:
        agents, most = len(panel.agents), self.most_agents
        if most is not None and agents > most:
            raise SettingError(
                f"{self.name} compares every agent with every other, so it takes at "
                f"most {most:,} agents; got {agents:,}. Use deep-sets."
            )

    def _check(self) -> None:
        for name in ("hidden", "epochs", "patience", "batch"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 1:
                raise SettingError(
                    f"{name} must be a whole number of at least 1; got {value!r}"
                )
        if not (np.isfinite(self.rate) and self.rate > 0):
            raise SettingError(f"a rate must be positive; got {self.rate!r}")
        if not (np.isfinite(self.decay) and self.decay >= 0):
            raise SettingError(f"decay must be 0 or more; got {self.decay!r}")
        if not 0 <= self.held_out <= 0.5:
            raise SettingError(
                f"the share held out must lie in [0, 0.5]; got {self.held_out!r}"
            )


def _standard(scale: FloatArray, cases: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation (J,) of all reports, the same for all agents.

    Scaling each agent by itself would hide which agents are more extreme.
    """
    share = np.where(np.isnan(scale), 0.0, cases[:, None, None])
    mass = share.sum(axis=(0, 1))
    centre = (np.nan_to_num(scale) * share).sum(axis=(0, 1)) / mass
    apart = np.nan_to_num(scale - centre) ** 2
    spread = np.sqrt((apart * share).sum(axis=(0, 1)) / mass)
    return centre, np.maximum(spread, MIN_SPREAD)
