import json
from importlib.resources import files

import pytest

from truepool_lab.paper.expected import _number, paper_tables

RAW = json.loads((files("truepool_lab.paper.expected") / "tables.json").read_text())


def test_all_51_tables_and_13_figures_are_there():
    kinds = [table.kind for table in paper_tables().values()]
    assert (kinds.count("table"), kinds.count("figure")) == (51, 13)
    assert list(paper_tables()) == [entry["id"] for entry in RAW]


def test_figures_print_no_numbers_but_say_what_they_show():
    for table in paper_tables().values():
        assert (table.kind == "figure") == (not table.numbers)
        assert (table.kind == "figure") == bool(table.shows)


@pytest.mark.parametrize(
    "entry", [e for e in RAW if "rows" in e], ids=lambda e: e["id"]
)
def test_every_printed_number_is_read_with_its_value(entry):
    numbers = paper_tables()[entry["id"]].numbers
    for row in entry["rows"]:
        for column, value in row["values"].items():
            read = numbers[tuple(row["key"]), column]
            plain = value.get("mean") if isinstance(value, dict) else value
            if isinstance(plain, int | float):
                assert read.value == plain
                assert float(read.text.split(" ")[0]) == plain
                assert read.rounding > 0
                assert read.measurable


@pytest.mark.parametrize(
    ("label", "key", "column", "message", "rounding"),
    [
        ("tab:poa", ("VCG",), "PoA", "1.00", 0.005),
        ("tab:regret", ("R_T", 100), "eta=0.5", "0.60", 0.005),
        ("tab:regret", ("R_T/sqrt(T)", 100), "eta=0.5", "0.060", 0.0005),
        ("tab:throughput", (100,), "VCG", "41562", 0.5),
        ("tab:scaling", ("Externality PoA",), "n=3", "1.0", 0.05),
        ("tab:hyperparams", ("Aggregation Mechanism", "FN loss weight"), "value", "10.0", 0.05),
    ],
)  # fmt: skip
def test_a_number_is_as_exact_as_it_was_printed(label, key, column, message, rounding):
    number = paper_tables()[label].numbers[key, column]
    assert (number.text, number.rounding) == (message, rounding)


def test_a_printed_spread_is_of_five_seeds_where_the_paper_says_so():
    table = paper_tables()["tab:scaling"]
    number = table.numbers[("VCG PoA",), "n=5"]
    assert (table.seeds, number.text) == (5, "6.0 ± 4.4")
    assert number.error == pytest.approx(4.4 / 5**0.5)


def test_a_printed_time_is_of_twenty_repetitions_where_the_paper_says_so():
    table = paper_tables()["tab:latency_breakdown"]
    number = table.numbers[("Agent Inference", "Random Forest"), "time (ms)"]
    assert (table.seeds, number.text) == (20, "2.50 ± 0.36")
    assert number.error == pytest.approx(0.36 / 20**0.5)


def test_a_printed_spread_is_of_ten_seeds():
    number = paper_tables()["tab:data_eff_fine"].numbers[(25,), "VCG (5 agents)"]
    assert number.text == "0.358 ± 0.081"
    assert number.error == pytest.approx(0.081 / 10**0.5)


def test_bounds_words_and_blanks_have_no_value():
    table = paper_tables()["tab:observability_basic"].numbers
    bound = next(n for n in table.values() if n.text.startswith("≥"))
    assert (bound.value, bound.least, bound.measurable) == (None, 100, True)
    assert paper_tables()["tab:poa"].numbers[("VCG",), "bias"].value == 0.0
    words = paper_tables()["tab:when_vcg"].numbers
    assert not any(n.measurable for n in words.values())
    blank = paper_tables()["tab:latency_breakdown"].numbers[
        ("Aggregation", "VCG"), "share of total (%)"
    ]
    assert (blank.text, blank.value) == ("", None)


def test_numbers_without_a_spread_and_words_are_told_apart():
    plain = _number({"mean": 0.25}, 2)
    assert (plain.text, plain.value, plain.error) == ("0.25", 0.25, None)
    words = _number({"low": 1, "high": 2}, 0)
    assert (words.text, words.value) == ("low 1, high 2", None)
