"""Probabilities, percentages and scores: what is declared, seen, asked and refused."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from corpus import (
    MIXED,
    PERCENT,
    SOUND,
    TABLES,
    A,
    B,
    P,
    Y,
    changed,
    long,
    outcome_of,
    read_table,
    refusal,
    signed,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scored_table import FRACTIONS, SCORED, T
from scored_table import Y as SCORED_Y

from truepool import read_panel, read_reports
from truepool.panel import sparse
from truepool.tables import Declared, TableFaults, Unit, load_panel

AGENTS = ("rf", "gbm", "vendor_a", "vendor_b")
SHARES = dict(zip(AGENTS, (P, A, B, (P + A) / 2), strict=True))
REPORTS = np.stack([*SHARES.values()], axis=1)
SCORES = {"vendor": "0-999", "bureau": "850-300"}


def in_percent(*names):
    return {n: 100 * v if n in names else v for n, v in SHARES.items()}


def frame(columns, **more):
    return pd.DataFrame({**columns, **more, "y": Y})


TWO = frame(in_percent("vendor_a", "vendor_b"))


# Declared


@pytest.mark.parametrize(
    "percent",
    [("vendor_a", "vendor_b"), ["vendor_*"], "vendor_?", np.array(["vendor_b", "vendor_a"])],
)  # fmt: skip
def test_named_agents_are_in_percent_and_the_others_are_probabilities(percent):
    assert_allclose(read_panel(TWO, percent=percent).reports, REPORTS)
    assert_allclose(
        read_reports(TWO, AGENTS[::-1], percent=percent).values, REPORTS[:, ::-1]
    )


@given(st.sets(st.sampled_from(AGENTS)))
def test_whoever_is_in_percent_the_reports_are_the_same(names):
    found = read_panel(frame(in_percent(*names)), percent=sorted(names)).reports
    assert_allclose(found, REPORTS, atol=1e-12)


def test_every_agent_is_in_percent_or_none():
    for percent in (True, "*", ["rf", "*"]):
        assert Declared(percent=percent).percent is True
        assert_allclose(
            read_panel(frame(in_percent(*AGENTS)), percent=percent).reports, REPORTS
        )
    for percent in (False, (), []):
        assert Declared(percent=percent).percent is False
        assert_allclose(read_panel(frame(SHARES), percent=percent).reports, REPORTS)


@pytest.mark.parametrize("percent", [3, 0.5, ["a", 3], b"a", " ", [""], [None]])
def test_what_is_no_name_of_an_agent_is_refused(percent):
    with pytest.raises(TableFaults) as refused:
        Declared(percent=percent)
    (fault,) = refused.value.faults
    assert (fault.code, fault.fields["key"]) == ("bad-setting", "percent")


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("percent", {"percent": ["vendr_a", "vendor_*"]}),
        ("scores", {"percent": "vendor_*", "scores": {"vendr_a": "0-9"}}),
    ],
)
def test_an_agent_that_is_not_there_has_no_unit(key, keys):
    (fault,) = refusal(TWO, **keys).faults
    assert (fault.code, fault.column) == ("no-column", "vendr_a")
    assert fault.fields["key"] == key
    assert fault.cures[0].value == ["vendor_a"]


def test_an_agent_that_is_left_out_may_have_a_unit():
    for less in ({"ignore": "vendor_b"}, {"agents": AGENTS[:3]}):
        panel = read_panel(TWO, percent="vendor_*", **less)
        assert_allclose(panel.reports, REPORTS[:, :3])


def test_scores_count_from_the_one_end_of_their_range_to_the_other():
    panel = read_panel(SCORED.assign(y=SCORED_Y), scores=SCORES)
    assert_allclose(panel.reports, FRACTIONS, atol=1e-12)
    rows = SCORED.assign(y=SCORED_Y, case=range(T)).melt(["case", "y"], var_name="agent", value_name="report")  # fmt: skip
    panel = read_panel(rows, long=("case", "agent", "report"), scores=SCORES)
    assert_allclose(panel.reports, FRACTIONS[[*panel.agents]], atol=1e-12)


def test_scores_stand_beside_percentages_and_probabilities():
    mixed = SCORED.assign(gbm=100 * FRACTIONS.rf, y=SCORED_Y)
    panel = read_panel(mixed, scores=SCORES, percent="gbm")
    assert_allclose(panel.reports, FRACTIONS.assign(gbm=FRACTIONS.rf), atol=1e-12)


@given(st.integers(-1000, 1000), st.integers(-1000, 1000), st.floats(0, 1))
def test_any_range_takes_its_ends_to_0_and_1(zero, one, share):
    text = f"{zero}-{one}"
    if zero == one:
        with pytest.raises(TableFaults):
            Unit.of_scores(text)
        return
    numbers = zero + np.array([0, share, 1]) * (one - zero)
    assert_allclose(Unit.of_scores(text).shares(numbers), [0, share, 1], atol=1e-9)
    assert Unit.of_scores(Unit.of_scores(text).span) == Unit.of_scores(text)


@pytest.mark.parametrize("span", ["vendor", "7-7", "", "0-", "a-b", 3])
def test_what_is_no_range_is_refused(span):
    assert refusal(SCORED.assign(y=SCORED_Y), scores={"vendor": span}).codes == (
        "bad-setting",
    )


def test_an_agent_has_one_unit():
    table = SCORED.assign(y=SCORED_Y)
    for keys in (
        {"scores": SCORES, "percent": "vend*"},
        {"scores": "0-999", "percent": True},
        {"scores": {"vend*": "0-999", "v*": "0-9"}},
    ):
        assert refusal(table, **keys).codes == ("bad-setting",)


# Seen


def test_percent_signs_say_it_themselves():
    table = frame({**SHARES, "rf": signed(P), "gbm": signed(A, "{:.2f} %")})
    panel, found = read_table(table)
    assert_allclose(panel.reports, REPORTS)
    assert found.schema.signed == ("rf", "gbm")
    assert_allclose(read_panel(table, percent="gbm").reports, REPORTS)


def test_signed_and_bare_percentages_of_different_agents_are_one_unit():
    every = {n: 100 * v for n, v in SHARES.items()} | {"rf": signed(P)}
    assert_allclose(read_panel(frame(every), percent=True).reports, REPORTS)


def test_percent_signs_may_stand_beside_probabilities_and_gaps():
    table = pa.table({
        "rf": [0.5, None, 0.2], "a": ["61%", None, "n/d"], "b": ["", "3 %", "60%"],
        "y": [1, 0, 1],
    })  # fmt: skip
    found = read_panel(table, missing=["n/d"]).reports
    expected = [[0.5, 0.61, np.nan], [np.nan, np.nan, 0.03], [0.2, np.nan, 0.6]]
    assert_array_equal(found, expected)


@pytest.mark.parametrize("unit", [1, 100])
def test_what_is_declared_to_be_no_percentage_has_no_sign(unit):
    """Signs of small numbers were left out: 0.61% was read as 0.61."""
    table = frame({**SHARES, "rf": signed(P * unit / 100)})
    for keys in ({"percent": False}, {"scores": {"rf": "0-999"}}):
        (fault,) = refusal(table, **keys).faults
        assert (fault.code, fault.agent, fault.count) == ("percent-sign", "rf", 60)
        assert (fault.cures[0].key, fault.cures[0].value) == ("percent", ["rf"])


# Asked


def question(source, **keys):
    refused = refusal(source, **keys)
    (asked,) = refused.questions
    assert not refused.faults
    return asked


def test_an_agent_mostly_above_1_and_never_above_100_has_a_unit_that_is_asked_for():
    asked = question(frame(in_percent("vendor_a")))
    assert (asked.code, asked.fields["names"]) == ("unit", ["vendor_a"])
    assert asked.key == "scores.vendor_a"
    assert asked.choices == ("0-100", "LOW-HIGH", {"ignore": ["vendor_a"]})
    found = read_panel(frame(in_percent("vendor_a")), scores={"vendor_a": "0-100"})
    assert_allclose(found.reports, REPORTS)


def test_each_agent_in_an_unknown_unit_has_a_question_of_its_own():
    """One range was offered for all of them, from the least to the largest number."""
    columns = in_percent("vendor_a", "vendor_b") | {"rf": np.round(1 + 3 * P)}
    asked = refusal(frame(columns)).questions
    assert [(q.key, q.free, q.choices[0]) for q in asked] == [
        ("scores.rf", "LOW-HIGH", "1-5"),
        ("scores.vendor_a", "LOW-HIGH", "0-100"),
        ("scores.vendor_b", "LOW-HIGH", "0-100"),
    ]
    seen = {f"{q.fields['low']:g}-{q.fields['high']:g}" for q in asked}
    assert seen.isdisjoint(choice for q in asked for choice in q.choices[:-1])
    more = {k: v for q in asked for k, v in q.answers()[0][0].items()}
    panel, _ = load_panel(frame(columns), Declared().with_keys(more))
    assert_allclose(panel.reports[:, 2:], REPORTS[:, 2:])


def test_a_column_that_ranks_the_cases_as_an_agent_does_is_asked_about():
    """It was named as not used, and nobody noticed."""
    rng = np.random.default_rng(0)
    bureau, amount = 850 - 550 * A, rng.lognormal(8, 1, 60)
    asked = question(frame({**SOUND, "bureau": bureau, "amount": amount}))
    assert (asked.code, asked.column, asked.key) == (
        "maybe-scores", "bureau", "scores.bureau",
    )  # fmt: skip
    assert (asked.free, asked.fields["link"] < -0.9) == ("HIGH-LOW", True)
    table = frame({**SOUND, "bureau": bureau})
    assert_allclose(read_panel(table, scores={"bureau": "850-300"}).reports[:, 3], A)
    for keys in ({"ignore": "bureau"}, {"columns": "bureau"}, {"agents": [*SOUND]}):
        assert read_panel(table, **keys).agents == tuple(SOUND)
    for few in (10, 60):  # chance alone makes ten cases look alike
        noise = frame({**SOUND, "x": rng.permutation(bureau)})
        assert read_panel(noise[:few]).agents == tuple(SOUND)


@pytest.mark.parametrize("columns", [SHARES, {n: A for n in AGENTS}])
def test_reports_within_0_and_1_raise_no_question(columns):
    assert len(read_panel(frame(columns))) == 60
    assert len(read_panel(frame({n: v / 100 for n, v in columns.items()}))) == 60


@pytest.mark.parametrize(
    "name", [n for n, case in TABLES.items() if "unit" in case.codes]
)
def test_percent_is_an_answer_that_is_accepted(name):
    case = TABLES[name]
    asked = next(
        q for q in refusal(pa.table(case.columns)).questions if q.code == "unit"
    )
    again = Declared().with_keys({asked.key: "0-100"})
    found = outcome_of(lambda: load_panel(pa.table(case.columns), again)[0].reports)
    # Outcomes may contradict it, and the label may be open still.
    assert len(found) == 60 or {*found} <= {
        "unit",
        "units-mixed",
        "which-format",
        "which-positive",
    }


def test_scores_are_an_answer_for_all_agents_that_have_them():
    asked = question(frame(dict.fromkeys("ab", 1 + 4 * P)))
    assert (asked.key, asked.fields["names"]) == ("scores", ["a", "b"])
    assert asked.choices == ("0-100", "1-5", "0-5", "LOW-HIGH")


def test_small_percentages_of_one_agent_of_a_long_table_are_no_probabilities():
    """One number up to 1 is no reason to think that all of its agent are."""
    rows = long({n: 100 * v for n, v in SHARES.items()})
    rare = {"question": "q0", "who": "rare", "p": 0.5, "y": Y[0]}
    table = {name: [*values, rare[name]] for name, values in rows.items()}
    panel = read_panel(pa.table(table), percent=True)
    assert panel.reports[0, panel.agents.index("rare")] == 0.005


@pytest.mark.parametrize("sparsely", [False, True])
def test_agents_of_a_long_table_may_report_percentages(monkeypatch, sparsely):
    if sparsely:
        monkeypatch.setattr(sparse, "SPARSE_CELLS", 0)
        monkeypatch.setattr(sparse, "SPARSE_FILL", 2.0)
    rows = pa.table(long(in_percent("vendor_a", "vendor_b")))
    panel = read_panel(rows, percent="vendor_*")
    assert (panel.sparse is not None) is sparsely
    order = [AGENTS.index(name) for name in panel.agents]
    assert_allclose(panel.reports, REPORTS[:, order])
    asked = refusal(rows).questions
    assert [q.fields["names"] for q in asked] == [["vendor_a"], ["vendor_b"]]
    (fault,) = refusal(rows, percent="vendor_a").faults
    assert (fault.code, fault.agent, fault.count) == ("report-outside", "vendor_b", 60)


# Refused


def outside(rf, **keys):
    (fault,) = refusal(frame({**SOUND, "rf": rf}), **keys).faults
    return fault


def test_a_report_of_1_2_is_named_with_agent_count_row_and_value():
    fault = outside(changed(P, {7: 1.2}))
    assert (fault.code, fault.agent, fault.count, fault.total) == (
        "report-outside",
        "rf",
        1,
        60,
    )
    assert (fault.row, fault.found) == (7, 1.2)
    cures = {(cure.key, str(cure.value)) for cure in fault.cures}
    assert {("missing", "['1.2']"), ("ignore", "['rf']")} <= cures
    assert not {"percent", "scores.rf"} & {key for key, _ in cures}  # one slip of 60


def test_two_typing_errors_below_0_are_no_logits():
    fault = outside(changed(P, {7: -0.1, 9: -0.1}))
    assert (fault.agent, fault.count, fault.row, fault.found) == ("rf", 2, 7, -0.1)
    assert {cure.key for cure in fault.cures} == {"", "missing", "ignore"}


def test_of_several_numbers_no_one_means_that_there_is_no_report():
    fault = outside(changed(P, {7: -0.1, 9: -0.2}))
    assert (fault.count, [cure.key for cure in fault.cures]) == (2, ["", "ignore"])


@pytest.mark.parametrize("cell", [np.inf, -np.inf])
def test_infinity_suggests_no_unit(cell):
    keys = {cure.key for cure in outside(changed(P, {7: cell})).cures}
    assert keys == {"", "ignore"}


def test_a_typing_error_that_is_called_a_unit_is_still_refused():
    """The advice of old: percent for one 1.2, and then the next refusal."""
    assert outside(changed(P, {7: 1.2}), percent="rf").code == "units-mixed"


@pytest.mark.parametrize("kind", ["reversed", "noise", "over-confident"])
def test_a_bad_vendor_that_reports_percentages_is_read(kind):
    rng = np.random.default_rng(1)
    p = rng.beta(0.5, 1.5, 2_000)
    y = (rng.random(2_000) < p).astype(int)
    sure = p**3 / (p**3 + (1 - p) ** 3)
    values = {"reversed": 1 - p, "noise": rng.random(2_000), "over-confident": sure}
    columns = {"rf": p, "v": (100 * values[kind]).round(1), "y": y}
    panel = read_panel(pa.table(columns), percent="v")
    assert_allclose(panel.reports[:, 1], values[kind], atol=6e-4)


@pytest.mark.parametrize(
    ("values", "keys", "low", "high", "kind"),
    [
        (changed(100 * P, {4: 101.5}), {"percent": "rf"}, 0, 100, "percent"),
        (changed(999 * P, {4: 1000}), {"scores": {"rf": "0-999"}}, 0, 999, "score"),
        (
            changed(850 - 550 * P, {4: 299}),
            {"scores": {"rf": "850-300"}},
            300,
            850,
            "score",
        ),
    ],
)
def test_a_number_outside_its_range_is_quoted_as_the_table_has_it(
    values, keys, low, high, kind
):
    fault = outside(values, **keys)
    assert (fault.code, fault.row, fault.found) == ("number-outside", 4, values[4])
    assert (fault.fields["low"], fault.fields["high"], fault.fields["kind"]) == (
        low,
        high,
        kind,
    )


def test_an_agent_that_mixes_units_is_refused_in_every_unit():
    fault = outside(MIXED)
    assert (fault.code, fault.agent, fault.count) == ("report-outside", "rf", 30)
    fault = outside(MIXED, percent="rf")
    assert (fault.code, fault.agent, fault.count) == ("units-mixed", "rf", 30)
    assert fault.found == pytest.approx(MIXED[0])


def by_row(seed, cases, rate):
    """Reports of three informed agents in percent, and the outcomes."""
    rng = np.random.default_rng(seed)
    y = (rng.random(cases) < rate).astype(int)
    log_odds = np.log(rate / (1 - rate)) + 4.0 * y + rng.normal(0, 1, (3, cases)) - 2
    return dict(zip("abc", 100 / (1 + np.exp(-log_odds)), strict=True)) | {"y": y}


def test_the_outcomes_tell_probabilities_among_percentages():
    columns = by_row(0, 200, 0.4)
    columns["b"][:40] /= 100
    (fault,) = refusal(pa.table(columns), percent=True).faults
    assert (fault.code, fault.agent) == ("units-mixed", "b")
    assert 30 <= fault.count <= 80


@pytest.mark.parametrize("rate", [0.05, 0.4])
def test_small_percentages_of_rare_events_are_percentages(rate):
    columns = by_row(1, 3000, rate)
    found = read_panel(pa.table(columns), percent=True).reports
    assert_allclose(found, np.stack([columns[k] for k in "abc"], axis=1) / 100)


def test_percentages_that_are_all_below_1_are_declared_by_their_range():
    columns = by_row(1, 3000, 0.002)
    (fault,) = refusal(pa.table(columns), percent=True).faults
    assert (fault.code, fault.agent) == ("percent-up-to-one", "b")
    (cure,) = (cure for cure in fault.cures if cure.key)
    keys = {"scores": {"b": cure.value}, "percent": ["a", "c"]}
    found = read_panel(pa.table(columns), **keys).reports
    assert_allclose(found, np.stack([columns[k] for k in "abc"], axis=1) / 100)


def test_agents_that_are_wrong_on_purpose_keep_their_percentages():
    columns = by_row(2, 1000, 0.3)
    noise = np.random.default_rng(3).uniform(0, 100, 1000)
    table = pa.table({**columns, "b": 100 - columns["b"], "c": noise})
    assert len(read_panel(table, percent=True)) == 1000


def test_percent_signs_of_small_numbers_leave_no_doubt():
    for table in (frame({"a": [f"{p}%" for p in P], "b": [f"{p}%" for p in A]}),
                  pa.table(long({"a": [f"{p}%" for p in P], "b": [f"{p}%" for p in A]}))):  # fmt: skip
        assert_allclose(read_panel(table).reports, np.column_stack([P, A]) / 100)


@pytest.mark.parametrize(
    ("numbers", "like"),
    [
        ([1, 5, 3, 2, 4], True), ([0, 10, 3, 2, 4], True), ([1, 2.5, 3, 2, 4], True),
        ([1, 11, 3, 2, 4], False), ([1, 2.3, 3, 2, 4], False), ([1, 5, 3, 2], False),
    ],
)  # fmt: skip
def test_whole_numbers_and_halves_up_to_ten_are_scores_unless_their_agent_is_named(
    numbers, like
):
    T = len(numbers)
    table = pa.table(
        {
            "s": numbers,
            "v": [12.5, 70.0, 30.0, 20.0, 55.0][:T],
            "y": [0, 1, 0, 1, 0][:T],
        }
    )
    if like:
        (fault,) = refusal(table, percent=True).faults
        assert (fault.code, fault.agent) == ("percent-or-scores", "s")
        for cure in fault.cures:
            keys = {"scores": {"s": cure.value}, "percent": "v"}
            assert len(read_panel(table, **keys)) == T
    else:
        assert read_panel(table, percent=True).reports[0, 0] == numbers[0] / 100
    assert read_panel(table, percent=["s", "v"]).reports[0, 0] == numbers[0] / 100


def test_in_a_table_of_percentages_an_id_is_no_agent():
    table = frame(
        {"a": PERCENT, "b": PERCENT[::-1]}, row=range(60), amount=100 * (PERCENT % 10)
    )
    panel, found = read_table(table, percent=True)
    assert panel.agents == ("a", "b")
    assert (found.schema.id, found.schema.unused) == ("row", ("amount",))


@pytest.mark.parametrize("column", [999 * (7 * P % 1), np.linspace(-3, 3, 60)])
def test_numbers_beyond_every_unit_are_not_used_and_named(column):
    panel, found = read_table(frame({**SOUND, "extra": column}))
    assert panel.agents == ("rf", "gbm", "mlp")
    assert found.schema.unused == ("extra",)
    assert refusal(frame({"a": P, "extra": column})).codes == ("few-agents",)


def test_a_share_of_a_hundred_new_cases_cannot_be_told_from_a_probability():
    table = pa.table({"a": [0.2, 0.7], "b": [20.0, 70.0]})
    fault = refusal(
        table, read=lambda t, **k: read_reports(t, ("a", "b"), percent=True)
    ).faults[0]
    assert (fault.code, fault.agent, fault.found) == ("percent-up-to-one", "a", 0.7)
    assert len(read_reports(table, ("a", "b"), percent="b")) == 2


@pytest.mark.parametrize("odd", [-1.0, -np.inf, np.inf])
def test_numbers_that_no_scale_has_are_refused_as_they_are(odd):
    """An infinity stopped the look with a warning of numpy."""
    columns = {"s": [odd, 5, 3, 2, 4], "v": [12.5, 70.0, 30.0, 20.0, 55.0], "y": [0, 1, 0, 1, 0]}  # fmt: skip
    assert refusal(pa.table(columns), percent=True).codes == ("number-outside",)
