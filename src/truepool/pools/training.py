"""Training networks in torch, which is imported when it is first needed.

One thread, whatever the machine has: sums in another order would give another network.
Double precision throughout, so that a case is pooled alike alone and among others.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np

from truepool.arrays import FloatArray, IntArray
from truepool.errors import MissingExtraError, SettingError
from truepool.pools.layers import Parameters, Tensor

BLOCK = 1 << 15
"""Cases pooled at a time: what a network holds between layers stays small."""

SLIGHT = 1e-3
"""Share of the held-out loss that is too little to go on for."""

FADE = (0.9, 0.999)
"""Adam's memory of slopes and of their squares, as in Kingma & Ba (2015)."""

Network: TypeAlias = Callable[[Mapping[str, Tensor], Tensor, Tensor], Tensor]
"""Parameters, log-odds (T, N, J), who spoke (T, N) in; log-odds (T, J) out."""


@dataclass(frozen=True, eq=False)
class Heard:
    """What a network sees: log-odds (T, N, J) without gaps, and who spoke (T, N)."""

    scale: FloatArray
    spoke: FloatArray


@dataclass(frozen=True)
class Course:
    """How to train."""

    rate: float
    decay: float
    batch: int
    epochs: int
    patience: int
    device: str


@dataclass(frozen=True, eq=False)
class Lesson:
    """Cases to learn from: what is heard, what happened (T,), how much it counts."""

    heard: Heard
    outcomes: IntArray
    cases: FloatArray
    learn: IntArray
    held: IntArray


def train(
    network: Network,
    start: Parameters,
    lesson: Lesson,
    course: Course,
    rng: np.random.Generator,
) -> tuple[Parameters, FloatArray]:
    """Train by Adam on the log loss; the parameters and the held-out loss by epoch.

    Where cases are held out, the parameters are those of the epoch in which these lost
    least, and training ends once that was ``patience`` epochs ago; else those of the
    last epoch. A held-out loss that is not smaller by `SLIGHT` is not smaller.
    """
    torch = _torch()
    with _one_thread(torch):
        device = _device(torch, course.device)
        classroom = _Classroom(torch, network, start, lesson, device)
        best, least, since = classroom.kept(), np.inf, 0
        history: list[float] = []
        while len(history) < course.epochs and since < course.patience:
            for batch in _batches(lesson.learn, course.batch, rng):
                classroom.step(batch, course)
            history.append(classroom.held_loss())
            since += 1
            if not history[-1] >= least * (1 - SLIGHT):
                best, least, since = classroom.kept(), history[-1], 0
    return best, np.array(history)


def answers(
    network: Network, parameters: Parameters, heard: Heard, device: str
) -> FloatArray:
    """Log-odds (T, J) that a trained network answers."""
    torch = _torch()
    with _one_thread(torch), torch.inference_mode():
        place = _device(torch, device)
        known = {name: torch.tensor(v, device=place) for name, v in parameters.items()}
        parts = [
            network(
                known,
                torch.tensor(heard.scale[start : start + BLOCK], device=place),
                torch.tensor(heard.spoke[start : start + BLOCK], device=place),
            )
            for start in range(0, len(heard.scale), BLOCK)
        ]
        return np.asarray(torch.cat(parts).cpu().numpy())


class _Classroom:
    """A network and its lesson on a device, with the state of the optimiser."""

    def __init__(
        self,
        torch: Any,
        network: Network,
        start: Parameters,
        lesson: Lesson,
        device: str,
    ) -> None:
        self.torch, self.network, self.lesson = torch, network, lesson
        self.shapes = {name: values.shape for name, values in start.items()}
        flat = np.concatenate([values.ravel() for values in start.values()])
        # One vector for all parameters: a step is a handful of operations, not a
        # handful for each layer, and torch.optim (4 s to import) is not needed.
        self.theta = torch.tensor(flat, device=device, requires_grad=True)
        self.slope = torch.zeros_like(self.theta)
        self.square = torch.zeros_like(self.theta)
        self.steps = 0
        self.scale = torch.tensor(lesson.heard.scale, device=device)
        self.spoke = torch.tensor(lesson.heard.spoke, device=device)
        self.outcomes = torch.tensor(lesson.outcomes, device=device)
        self.cases = torch.tensor(lesson.cases / lesson.cases.mean(), device=device)
        self.device = device

    def loss(self, rows: IntArray) -> Tensor:
        """Mean log loss of these cases, each counted by its weight."""
        torch = self.torch
        at = torch.tensor(rows, device=self.device)
        known = self._named(self.theta)
        scores = self.network(known, self.scale[at], self.spoke[at])
        full = torch.cat([torch.zeros_like(scores[:, :1]), scores], dim=1)
        came = full.gather(1, self.outcomes[at, None])[:, 0]
        return (self.cases[at] * (full.logsumexp(1) - came)).mean()

    def step(self, rows: IntArray, course: Course) -> None:
        """Take one step of Adam with decoupled decay."""
        (slope,) = self.torch.autograd.grad(self.loss(rows), self.theta)
        self.steps += 1
        with self.torch.no_grad():
            self.slope.lerp_(slope, 1 - FADE[0])
            self.square.mul_(FADE[1]).addcmul_(slope, slope, value=1 - FADE[1])
            size = (self.square / (1 - FADE[1] ** self.steps)).sqrt_().add_(1e-8)
            self.theta.mul_(1 - course.rate * course.decay)
            pace = course.rate / (1 - FADE[0] ** self.steps)
            self.theta.addcdiv_(self.slope, size, value=-pace)

    def held_loss(self) -> float:
        """Mean log loss of the cases held out; NaN where none are."""
        if not self.lesson.held.size:
            return float("nan")
        with self.torch.inference_mode():
            return float(self.loss(self.lesson.held))

    def kept(self) -> Parameters:
        """Return a copy of the parameters as they are now."""
        named = self._named(self.theta.detach().cpu().numpy().copy())
        return {name: np.ascontiguousarray(values) for name, values in named.items()}

    def _named(self, flat: Any) -> dict[str, Any]:
        parts, begin = {}, 0
        for name, shape in self.shapes.items():
            end = begin + int(np.prod(shape))
            parts[name] = flat[begin:end].reshape(shape)
            begin = end
        return parts


def _batches(rows: IntArray, size: int, rng: np.random.Generator) -> Iterator[IntArray]:
    order = rng.permutation(rows)
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _torch() -> Any:
    if find_spec("torch") is None:
        raise MissingExtraError("a neural pool", "torch", "neural")
    return import_module("torch")


def _device(torch: Any, wanted: str) -> str:
    """Return where to compute: the GPU if there is one, unless told otherwise."""
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
