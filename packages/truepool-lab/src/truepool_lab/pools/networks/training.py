"""Training networks in torch, which is imported when it is first needed.

One thread, whatever the machine has: sums in another order would give another network.
Double precision throughout, so that a case is pooled alike alone and among others.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.distributions import require
from truepool.core.errors import SettingError

BLOCK = 1 << 15
"""Cases pooled at a time: what a network holds between layers stays small."""

MIN_IMPROVEMENT = 1e-3
"""The smallest relative improvement of the held-out loss that counts."""

BETAS = (0.9, 0.999)
"""Adam's decay rates of the gradient and its square, as in Kingma & Ba (2015)."""

Parameters: TypeAlias = dict[str, FloatArray]
"""Parameters of a network, by name."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a network sees: log-odds (T, N, J) without gaps, and who reported (T, N)."""

    scale: FloatArray
    reported: FloatArray


@dataclass(frozen=True)
class Config:
    """How to train."""

    rate: float
    decay: float
    batch: int
    epochs: int
    patience: int
    device: str


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Cases: what the network sees, what happened (T,), how much it counts."""

    inputs: Inputs
    outcomes: IntArray
    cases: FloatArray
    learn: IntArray
    held_out: IntArray


def train(
    network: Any, data: TrainingData, config: Config, rng: np.random.Generator
) -> tuple[Parameters, FloatArray]:
    """Train by Adam on the log loss; the parameters and the held-out loss by epoch.

    Where cases are held out, the parameters are those of the epoch in which these lost
    least, and training ends once that was ``patience`` epochs ago; else those of the
    last epoch. A held-out loss that is not smaller by `MIN_IMPROVEMENT` is not smaller.
    """
    torch = import_torch()
    with _one_thread(torch):
        trainer = _Trainer(torch, network, data, config)
        best, least, since = trainer.parameters(), np.inf, 0
        history: list[float] = []
        while len(history) < config.epochs and since < config.patience:
            for batch in _batches(data.learn, config.batch, rng):
                trainer.step(batch)
            history.append(trainer.held_out_loss())
            since += 1
            if not history[-1] >= least * (1 - MIN_IMPROVEMENT):
                best, least, since = trainer.parameters(), history[-1], 0
    return best, np.array(history)


def predict(
    network: Any, parameters: Parameters, inputs: Inputs, device: str
) -> FloatArray:
    """Log-odds (T, J) that a trained network answers."""
    torch = import_torch()
    with _one_thread(torch), torch.inference_mode():
        place = _device(torch, device)
        known = {name: torch.tensor(values) for name, values in parameters.items()}
        network.load_state_dict(known)
        network.to(place)
        parts = [
            network(
                torch.tensor(inputs.scale[start : start + BLOCK], device=place),
                torch.tensor(inputs.reported[start : start + BLOCK], device=place),
            )
            for start in range(0, len(inputs.scale), BLOCK)
        ]
        return np.asarray(torch.cat(parts).cpu().numpy())


def build(make: Callable[[Any], Any]) -> Any:
    """Make a network of the modules there are, without a draw from torch's own seed."""
    torch = import_torch()
    with torch.random.fork_rng(devices=[]):
        return make(import_module("truepool_lab.pools.networks.modules"))


class _Trainer:
    """A network and its cases on a device, with the state of the optimiser."""

    def __init__(
        self, torch: Any, network: Any, data: TrainingData, config: Config
    ) -> None:
        self.torch, self.data, self.config = torch, data, config
        self.device = _device(torch, config.device)
        self.network = network.to(self.device)
        self.adamw = import_module("torch.optim.adamw").adamw
        self.weights = list(self.network.parameters())
        self.means = [torch.zeros_like(w) for w in self.weights]
        self.squares = [torch.zeros_like(w) for w in self.weights]
        self.steps = [torch.tensor(0.0) for _ in self.weights]
        self.scale = torch.tensor(data.inputs.scale, device=self.device)
        self.reported = torch.tensor(data.inputs.reported, device=self.device)
        self.outcomes = torch.tensor(data.outcomes, device=self.device)
        self.cases = torch.tensor(data.cases / data.cases.mean(), device=self.device)

    def loss(self, rows: IntArray) -> Any:
        """Mean log loss of these cases, each counted by its weight."""
        torch = self.torch
        at = torch.tensor(rows, device=self.device)
        odds = self.network(self.scale[at], self.reported[at])
        full = torch.nn.functional.pad(odds, (1, 0))  # class 0 lies at 0
        lost = torch.nn.functional.cross_entropy(
            full, self.outcomes[at], reduction="none"
        )
        return (self.cases[at] * lost).mean()

    def step(self, rows: IntArray) -> None:
        """Take one step of Adam with decoupled decay.

        torch.optim's own function; its class would import a compiler first, which
        takes longer than most of our networks take to train.
        """
        slopes = list(self.torch.autograd.grad(self.loss(rows), self.weights))
        with self.torch.no_grad():
            self.adamw(
                self.weights,
                slopes,
                self.means,
                self.squares,
                [],
                self.steps,
                foreach=False,
                amsgrad=False,
                beta1=BETAS[0],
                beta2=BETAS[1],
                lr=self.config.rate,
                weight_decay=self.config.decay,
                eps=1e-8,
                maximize=False,
            )

    def held_out_loss(self) -> float:
        """Mean log loss of the cases held out; NaN where none are."""
        if not self.data.held_out.size:
            return float("nan")
        with self.torch.inference_mode():
            return float(self.loss(self.data.held_out))

    def parameters(self) -> Parameters:
        """Return a copy of the parameters as they are now."""
        known = self.network.state_dict().items()
        return {name: values.cpu().numpy().copy() for name, values in known}


def _batches(rows: IntArray, size: int, rng: np.random.Generator) -> Iterator[IntArray]:
    order = rng.permutation(rows)
    for start in range(0, len(order), size):
        yield order[start : start + size]


def import_torch() -> Any:
    """Return torch, or say what to install."""
    return require("torch", "truepool-lab[neural]", "a neural pool")


def _device(torch: Any, wanted: str) -> str:
    """Return where to compute; ``auto`` is the GPU if there is one."""
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=wanted)
    except (RuntimeError, AssertionError):
        raise SettingError(
            f"device must be 'auto' or one that torch can use here; {wanted!r} is not. "
            "Use 'cpu'."
        ) from None
    return wanted


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
