"""Runs the methods of one peer library, in that library's own environment.

``python driver.py MODULE`` answers, for each line on stdin with two paths, by reading reports
and outcomes from the first (.npz), writing predictions and seconds to the second, and
printing a line. The module has ``METHODS``: name -> function of reports (T, N, K), outcomes
(T,), which returns a function from new reports to probabilities (T, K).
"""

import importlib
import os
import sys
import warnings
from time import perf_counter

import numpy as np

FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a library may raise on data that it cannot handle."""
LONGEST = 120
"""Most characters of a reason."""
ONE_CASE = 5
"""How often one case is pooled; the fastest time counts."""


def measure(fit, reports, outcomes, new):
    """Predictions (T, K), and the seconds to fit, to predict all and to predict one."""
    start = perf_counter()
    predict = fit(reports, outcomes)
    fitted = perf_counter()
    pooled = np.asarray(predict(new), dtype=np.float64)
    done = perf_counter()
    if pooled.shape != (len(new), new.shape[2]) or not np.isfinite(pooled).all():
        raise ValueError(f"no probability for every case and class: {pooled.shape}")
    single = []
    for _ in range(ONE_CASE):
        begun = perf_counter()
        predict(new[:1])
        single.append(perf_counter() - begun)
    return pooled, np.array([fitted - start, done - fitted, min(single)])


def answer(methods, source, target):
    """Write what every method predicts, or why it could not."""
    with np.load(source) as given:
        reports, outcomes, new = given["reports"], given["outcomes"], given["new"]
    found = {}
    for name, fit in methods.items():
        try:
            found[f"pooled {name}"], found[f"seconds {name}"] = measure(
                fit, reports, outcomes, new
            )
        except FAILURES as error:
            reason = " ".join(str(error).split())[:LONGEST]
            found[f"error {name}"] = np.array(f"{type(error).__name__}: {reason}")
    np.savez(target, **found)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no reply
    module = importlib.import_module(sys.argv[1])
    for line in sys.stdin:
        answer(module.METHODS, *line.rstrip("\n").split("\t"))
        print("done", file=replies, flush=True)
