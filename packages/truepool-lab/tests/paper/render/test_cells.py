import pytest

from truepool_lab.paper.render.cells import cell_texts


@pytest.mark.parametrize(
    ("printed", "measured", "error", "shown"),
    [
        ("0.40 ± 0.1", 0.3912, 0.1, ("0.40 ± 0.1", "0.39 ± 0.10")),
        ("41562", 1234.6, 0.0, ("41562", "1235")),
        ("0.03", 0.00012, 0.0, ("0.03", "0.0001")),
        ("0.00", 0.0, 0.0, ("0.00", "0.00")),
        ("≥ 100", 56.78, 0.0, ("≥ 100", "56.8")),
        ("-0.40", -0.3912, 0.0, ("-0.40", "-0.39")),
        ("VCG (see)", "mean", 0.0, ("VCG (see)", "mean")),
        (None, None, None, ("", "")),
    ],
)
def test_ours_has_the_decimals_of_what_is_printed_unless_it_would_vanish(
    printed, measured, error, shown
):
    assert (
        cell_texts({"printed": printed, "measured": measured, "error": error}) == shown
    )


@pytest.mark.parametrize(
    ("measured", "error", "shown"),
    [
        (0.99346, 0.000302, "0.99346 ± 0.00030"),
        (-0.157, 0.00395, "-0.1570 ± 0.0040"),
        (591.2, 18.3, "591 ± 18"),
        (1234.5, 321.0, "1234 ± 321"),
        (3e-9, 2e-9, "3e-09 ± 2e-09"),
        (0.25, 1e-18, "0.250"),
    ],
)
def test_where_nothing_is_printed_the_error_says_how_many_digits_tell(
    measured, error, shown
):
    cell = {"printed": None, "measured": measured, "error": error}
    assert cell_texts(cell) == ("", shown)
