"""Training against torch's own optimiser, and what it leaves as it found it."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel

from truepool import compare
from truepool.cli import main
from truepool.core import distributions
from truepool.core.errors import MissingExtraError
from truepool_lab.pools.mlp_2 import MLP2
from truepool_lab.pools.networks import training
from truepool_lab.pools.networks.training import (
    Config,
    Inputs,
    TrainingData,
    predict,
    train,
)

torch = pytest.importorskip("torch", reason="the neural extra is not installed")


class Line(torch.nn.Module):
    """A weighted sum of the log-odds, from given numbers."""

    def __init__(self, slope, shift):
        super().__init__()
        self.slope = torch.nn.Parameter(torch.tensor(slope))
        self.shift = torch.nn.Parameter(torch.tensor(shift))

    def forward(self, scale, spoke):
        return scale[:, :, 0] @ self.slope + self.shift


def _data(rng, held_out=0):
    scale = rng.normal(size=(50, 3, 1))
    outcomes = rng.integers(0, 2, 50)
    rows = np.arange(50)
    inputs = Inputs(scale, np.ones((50, 3)))
    cases = rng.uniform(0.5, 2, 50)
    return TrainingData(inputs, outcomes, cases, rows[held_out:], rows[:held_out])


def _config(**changes):
    usual = {"rate": 0.05, "decay": 0.1, "batch": 50, "epochs": 30, "patience": 30}
    return Config(**{**usual, "device": "cpu", **changes})


def test_a_step_is_a_step_of_adam_with_decoupled_decay():
    rng = np.random.default_rng(0)
    data = _data(rng)
    start = {"slope": rng.normal(size=(3, 1)), "shift": np.zeros(1)}
    found, _ = train(Line(**start), data, _config(), rng)
    slope, shift = (torch.tensor(v, requires_grad=True) for v in start.values())
    adam = torch.optim.AdamW([slope, shift], lr=0.05, weight_decay=0.1)
    x, y = torch.tensor(data.inputs.scale[..., 0]), torch.tensor(data.outcomes)
    w = torch.tensor(data.cases / data.cases.mean())
    for _ in range(30):
        odds = (x @ slope + shift)[:, 0]
        lost = torch.nn.functional.binary_cross_entropy_with_logits(
            odds, y.double(), reduction="none"
        )
        adam.zero_grad()
        (w * lost).mean().backward()
        adam.step()
    assert_allclose(found["slope"], slope.detach().numpy(), rtol=1e-10)
    assert_allclose(found["shift"], shift.detach().numpy(), rtol=1e-10)


def test_training_stops_when_patience_is_at_an_end():
    rng = np.random.default_rng(1)
    data = _data(rng, held_out=25)
    start = {"slope": np.zeros((3, 1)), "shift": np.zeros(1)}
    config = _config(epochs=500, patience=6, rate=0.2)
    found, history = train(Line(**start), data, config, rng)
    best = int(np.argmin(history))
    assert len(history) < 500
    # What is smaller by less than one in a thousand does not count as smaller.
    assert history[best] * (1 + 2e-3) > history[: len(history) - 6].min()
    config = _config(epochs=len(history) - 6, rate=0.2)
    again, _ = train(Line(**start), data, config, rng)
    assert_allclose(found["slope"], again["slope"], rtol=1e-12)


def test_predictions_in_blocks_are_the_predictions(monkeypatch):
    rng = np.random.default_rng(0)
    inputs = _data(rng).inputs
    known = {"slope": rng.normal(size=(3, 1)), "shift": np.ones(1)}
    line = Line(np.zeros((3, 1)), np.zeros(1))
    whole = predict(line, known, inputs, "cpu")
    monkeypatch.setattr(training, "BLOCK", 7)
    parts = predict(line, known, inputs, "cpu")
    assert_allclose(parts, whole, atol=1e-14)
    assert_allclose(whole, inputs.scale[..., 0] @ known["slope"] + 1)


def test_the_number_of_threads_changes_nothing_and_is_restored():
    panel = random_panel(1, cases=400)
    found = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            pool = MLP2(epochs=5).fit(panel.reports, panel.outcomes)
            found.append(pool.predict_proba(panel.reports))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert_array_equal(*found)


def test_the_global_random_state_is_unchanged():
    panel = random_panel(1)
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    np.random.seed(3)  # noqa: NPY002
    state = np.random.get_state()[1]  # noqa: NPY002
    MLP2(epochs=2).fit(panel.reports, panel.outcomes).predict(panel.reports)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize(("there", "device"), [(True, "cuda"), (False, "cpu")])
def test_a_gpu_is_used_if_there_is_one(monkeypatch, there, device):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    assert training._device(torch, "auto") == device
    assert training._device(torch, "cpu") == "cpu"


def _without_torch(monkeypatch):
    monkeypatch.setattr(distributions, "find_spec", lambda name: None)


CURE = r"a neural pool needs torch, .* pip install 'truepool-lab\[neural\]'"


def test_without_torch_one_sentence_says_what_to_install(monkeypatch):
    panel = random_panel(1)
    pool = MLP2(epochs=1).fit(panel.reports, panel.outcomes)
    _without_torch(monkeypatch)
    with pytest.raises(MissingExtraError, match=CURE):
        MLP2().fit(panel.reports, panel.outcomes)
    with pytest.raises(MissingExtraError, match=CURE):
        pool.predict_proba(panel.reports)


def test_without_torch_a_comparison_says_so_and_does_not_leave_it_out(monkeypatch):
    _without_torch(monkeypatch)
    with pytest.raises(MissingExtraError, match=CURE):
        compare(random_panel(1), pools=["mlp-2"], resamples=20)
    compare(random_panel(1), pools=["vcg"], resamples=20)


def test_without_torch_the_command_says_what_to_install(monkeypatch, capsys):
    _without_torch(monkeypatch)
    monkeypatch.setattr(sys, "argv", ["truepool", "compare", "--pool", "mlp-2"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "pip install 'truepool-lab[neural]'" in capsys.readouterr().err


def test_training_imports_no_compiler():
    # torch.optim's classes import torch's compiler, which takes seconds.
    code = (
        "import sys, truepool as tp; "
        "tp.MLP2(epochs=1).fit([[0.9, 0.6], [0.2, 0.4]] * 5, [1, 0] * 5); "
        "assert 'torch' in sys.modules and 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
