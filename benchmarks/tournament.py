"""A simulated forecasting tournament: many forecasters, each on few questions."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet


def simulate(forecasters, questions, fill, seed=0):
    """Question, forecaster and probability of each answer, and the outcomes.

    Forecasters differ in skill and in how often they answer, by a factor of some
    hundred; every question has at least one answer.
    """
    rng = np.random.default_rng(seed)
    truth = rng.normal(0.0, 1.5, questions)
    happened = (rng.random(questions) < 1 / (1 + np.exp(-truth))).astype(np.int64)
    noise = rng.uniform(0.3, 2.0, forecasters)
    activity = rng.lognormal(0.0, 1.0, forecasters)
    activity /= activity.sum()
    answers = int(fill * forecasters * questions)
    question = np.append(np.arange(questions), rng.integers(questions, size=answers))
    forecaster = rng.choice(forecasters, len(question), p=activity)
    cell = np.unique(question * forecasters + forecaster)
    question, forecaster = np.divmod(cell, forecasters)
    odds = truth[question] + rng.normal(0.0, 1.0, len(cell)) * noise[forecaster]
    return question, forecaster, (1 / (1 + np.exp(-odds))).round(4), happened


def write(folder, forecasters, questions, fill, seed=0):
    """Write a long table to learn from and one of new questions; return their paths."""
    question, forecaster, report, happened = simulate(
        forecasters, questions, fill, seed
    )
    names = np.array([f"f{i:05}" for i in range(forecasters)])[forecaster]
    table = pa.table(
        {
            "question": np.char.add("q", question.astype(str)),
            "forecaster": names,
            "probability": report,
            "happened": happened[question],
        }
    )
    train, new = Path(folder) / "train.parquet", Path(folder) / "new.parquet"
    parquet.write_table(table, train)
    parquet.write_table(table.drop_columns("happened"), new)
    return train, new
