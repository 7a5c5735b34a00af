"""Preprocessing for models that need complete or scaled features."""

from typing import Any


def impute_before(*steps: Any) -> Any:
    """Return a pipeline that imputes the median, then takes the steps."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(fill, *steps)


def scale_before(*steps: Any) -> Any:
    """Return a pipeline that imputes and standardises, then takes the steps."""
    from sklearn.preprocessing import StandardScaler

    return impute_before(StandardScaler(), *steps)
