"""What a practitioner does before any of these libraries: fill gaps, take log-odds."""

import numpy as np

CLIP = 1e-4
"""Reports are clipped this far from 0 and 1 before their logarithm."""


def fill(values):
    """Replace a missing value by the mean of the case over the agents that reported."""
    mean = np.nanmean(values, axis=1, keepdims=True)
    return np.where(np.isnan(values), mean, values)


def logits(reports):
    """Log-odds (T, N, 1) of two classes, else logarithms (T, N, K); no gaps."""
    clipped = np.clip(reports, CLIP, 1 - CLIP)
    if reports.shape[2] == 2:
        return fill(np.log(clipped[..., 1:]) - np.log1p(-clipped[..., 1:]))
    return fill(np.log(clipped))


def columns(reports):
    """Reports (T, N) of two classes, else (T, N K); gaps stay."""
    own = reports[..., 1:] if reports.shape[2] == 2 else reports
    return own.reshape(len(own), -1)


def normalise(pooled):
    """Probabilities that sum to 1 in each case."""
    pooled = np.clip(pooled, 0.0, 1.0) + 1e-12
    return pooled / pooled.sum(axis=1, keepdims=True)
