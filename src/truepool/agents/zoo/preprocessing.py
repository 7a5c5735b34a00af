"""What models that take neither gaps nor scales as they come get before their rows."""

from typing import Any


def filled(*steps: Any) -> Any:
    """Steps after the median of training has been put where a value is missing."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(fill, *steps)


def scaled(*steps: Any) -> Any:
    """Steps after gaps were filled and every feature has mean 0 and deviation 1."""
    from sklearn.preprocessing import StandardScaler

    return filled(StandardScaler(), *steps)
