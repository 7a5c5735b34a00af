"""Labels as people type them: spaces around them, two spellings, words for no label."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from truepool.core.errors import OutcomeError
from truepool.tables import TableFormat, load_panel, read_panel
from truepool.tables.dataset import open_dataset
from truepool.tables.panel_stream import open_panels

A, B = [0.9, 0.2, 0.8, 0.1, 0.7, 0.3], [0.8, 0.1, 0.6, 0.3, 0.9, 0.2]
SPACED = ["Fraud", "OK ", " Fraud", "OK", "Fraud", "OK\t"]
UNKNOWN = ["yes", "no", "yes", "no", "unknown", " unknown"]


def wide(labels):
    return pa.table({"a": A, "b": B, "y": labels})


def long(labels):
    return pa.table({"case": [*range(6)] * 2, "agent": ["a"] * 6 + ["b"] * 6,
                     "report": A + B, "y": [*labels, *reversed(labels[::-1])]})  # fmt: skip


def classes(labels):
    a, b = np.array(A), np.array(B)
    return pa.table({"a:OK": 1 - a, "a:Fraud": a, "b:OK": 1 - b, "b:Fraud": b,
                     "y": labels})  # fmt: skip


def streamed(table, tmp_path, **written):
    parquet.write_table(table, tmp_path / "one.parquet")
    parquet.write_table(table.slice(1), tmp_path / "two.parquet")
    panels = open_panels(open_dataset(tmp_path), TableFormat(**written))
    counts = panels.sum(lambda panel: np.array(panel.counts, dtype=np.float64))
    return panels, counts


@pytest.mark.parametrize(
    ("table", "layout"), [(wide, None), (long, "long"), (classes, None)]
)
def test_spaces_around_a_label_are_no_part_of_it(table, layout):
    panel = read_panel(table(SPACED), positive=" Fraud ", layout=layout)
    assert panel.labels.names == ("OK", "Fraud")
    assert panel.outcomes.tolist() == [1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_of_any_kind_lose_the_spaces_around_labels(frame):
    panel = read_panel(frame(wide(SPACED).to_pydict()), positive="Fraud")
    assert panel.labels.names == ("OK", "Fraud")


def test_labels_of_a_category_are_trimmed_too():
    frame = wide(SPACED).to_pandas().astype({"y": "category"})
    assert read_panel(frame, positive="Fraud").labels.names == ("OK", "Fraud")


def test_a_data_set_that_is_read_in_batches_trims_labels(tmp_path):
    panels, counts = streamed(wide(SPACED), tmp_path, positive="Fraud")
    assert panels.labels.names == ("OK", "Fraud")
    assert counts.tolist() == [6, 5]


def test_labels_of_a_file_lose_the_spaces_around_them(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a | b | y\n0.9 | 0.8 | Fraud \n0.1 | 0.3 | OK\n0.2 | 0.2 |OK\n")
    assert read_panel(path, positive="Fraud").counts == (2, 1)


ALIKE = ["Fraud", "OK", "fraud", "OK", "Fraud", "OK"]


@pytest.mark.parametrize(("table", "layout"), [(wide, None), (long, "long")])
def test_labels_in_two_spellings_are_never_merged(table, layout):
    with pytest.raises(OutcomeError) as refusal:
        read_panel(table(ALIKE), layout=layout, positive="Fraud")
    assert str(refusal.value) == (
        "outcome labels must differ in more than upper and lower case; column 'y' has "
        "'Fraud' in zero-based row 0 and 'fraud' in zero-based row 2. Write them "
        "in one way in the table; if they are different labels, rename one."
    )


def test_two_spellings_of_one_label_are_not_two_labels(tmp_path):
    labels = ["Fraud", "fraud"] * 3
    with pytest.raises(OutcomeError, match="'Fraud' in .* and 'fraud' in "):
        read_panel(wide(labels), positive="fraud")
    with pytest.raises(OutcomeError, match="'Fraud' and 'fraud'"):
        streamed(wide(labels), tmp_path, positive="fraud")


@pytest.mark.parametrize(("table", "layout"), [(wide, None), (long, "long")])
def test_a_word_for_missing_means_no_outcome_yet(table, layout):
    written = TableFormat(positive="yes", missing=["unknown"], layout=layout)
    panel, summary = load_panel(table(UNKNOWN), written)
    assert (panel.outcomes.tolist(), len(panel.pending)) == ([1, 0, 1, 0], 2)
    rows = 2 if layout is None else 4
    assert (
        f"{rows} rows have the outcome 'unknown', which counts as not known."
        in summary.notes()
    )


def test_a_word_for_missing_means_no_outcome_yet_in_batches_too(tmp_path):
    panels, counts = streamed(
        wide(UNKNOWN), tmp_path, positive="yes", missing=["unknown"]
    )
    assert (counts.tolist(), panels.totals.pending) == ([4, 3], 4)


def test_the_usual_words_for_nothing_mean_no_outcome_yet():
    panel = read_panel(wide(["yes", "no", "NA", "no", "null", "yes"]), positive="yes")
    assert len(panel.pending) == 2


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["1", "0", "1", "0", "open", "open"], (0, 1)),
        (["1 ", "0", "1", "0", "", " "], (0, 1)),
        (["True", "false", "TRUE", "False", "open", ""], (False, True)),
    ],
)
def test_a_word_or_a_space_makes_no_text_of_numbers(labels, names, tmp_path):
    panel = read_panel(wide(labels), missing=["open"])
    assert panel.labels.names == names
    assert panel.outcomes.tolist() == [1, 0, 1, 0]
    panels, counts = streamed(wide(labels), tmp_path, missing=["open"])
    assert (panels.labels.names, counts.tolist()) == (names, [4, 3])


def test_other_whole_numbers_in_text_stay_labels_in_text():
    panel = read_panel(wide(["1", "2", "2", "1", "2", "1"]), positive="2")
    assert panel.labels.names == ("1", "2")


def test_three_labels_of_which_one_means_nothing_are_cured_by_missing():
    with pytest.raises(OutcomeError) as refusal:
        read_panel(wide(UNKNOWN))
    assert str(refusal.value) == (
        "reports of one probability per agent need two outcome labels; there are 3: "
        "'no', 'unknown', 'yes'. If 'unknown' means that the outcome is not known yet, "
        "pass --missing unknown; else merge the labels into two, give one probability "
        "per class (columns agent:class, one row per case), or name another column "
        "(--outcome)."
    )


def test_a_column_that_needs_nothing_is_not_copied():
    from truepool.tables.outcome_column import trim_outcomes

    frame = nw.from_native(wide(["a", "b"] * 3), eager_only=True)
    assert trim_outcomes(frame, TableFormat())[0] is frame
