"""A table with scores of a vendor and a bureau, and the fractions they count as."""

import numpy as np
import pandas as pd

T = 400
RNG = np.random.default_rng(11)
P = RNG.beta(1, 4, T)
Y = (RNG.uniform(size=T) < P).astype(int)
FRACTIONS = pd.DataFrame({
    "rf": np.clip(P + RNG.normal(0, 0.05, T), 0.001, 0.999).round(4),
    "vendor": (999 * np.sqrt(P)).round() / 999,
    "bureau": (550 * P**0.3).round() / 550,
})  # fmt: skip
SCORED = FRACTIONS.assign(
    vendor=(999 * FRACTIONS.vendor).round().astype(int),
    bureau=(850 - 550 * FRACTIONS.bureau).round().astype(int),
)
SCORES = ("vendor=0-999", "bureau=850-300")
