"""Make the bundled example panel from a data set that ships with scikit-learn.

Run: python scripts/make_example_panel.py. The same numbers come out every time.
"""

from pathlib import Path

import numpy as np

from truepool.cli.demo_panels import collect_reports
from truepool.tables import write_table

OUT = Path(__file__).parents[1] / "packages/truepool/src/truepool/datasets/example.csv"
SHARE_SILENT = 0.075


def main() -> None:
    """Write the held-out reports of five models, one of them sometimes silent."""
    reports, malignant = collect_reports(seed=0)
    silent = np.random.default_rng(0).random(len(malignant)) < SHARE_SILENT
    reports["neighbours"] = np.where(silent, np.nan, reports["neighbours"])
    ids = np.arange(1, len(malignant) + 1)
    write_table(OUT, {"id": ids, "malignant": malignant, **reports})


if __name__ == "__main__":
    main()
