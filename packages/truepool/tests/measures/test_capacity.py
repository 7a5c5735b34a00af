"""Limited capacity: the most valuable cases are decided positive, no more than fit."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepool.core.errors import SettingError
from truepool.measures.capacity import UNITS, Capacity
from truepool.measures.decisions import decide
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

probabilities = st.floats(0, 1)
days = st.sampled_from(["2026-01-04", "2026-01-05T23:59", "2026-01-05", "2026-01-12"])
cases = st.lists(
    st.tuples(probabilities, st.floats(0.1, 9), st.floats(0.1, 9), days),
    min_size=1,
    max_size=8,
)
capacities = st.builds(
    "{}{}".format,
    st.sampled_from(["1", "2", "3", "20%", "50%", "100%"]),
    st.sampled_from(["", "/hour", "/day", "/week", "/month"]),
)


def limits(capacity, times):
    """How many cases each period may have, and the period of each case, by hand."""
    number, _, period = capacity.partition("/")
    written = {
        "": "",
        "hour": "%Y %j %H",
        "day": "%Y %j",
        "week": "%G %V",
        "month": "%Y %m",
    }[period]
    moments = [time.astype("datetime64[s]").item() for time in times]
    names = [moment.strftime(written) for moment in moments]
    if number.endswith("%"):
        share = int(number[:-1])
        return {n: share * names.count(n) // 100 for n in names}, names
    return dict.fromkeys(names, int(number)), names


@given(cases, capacities)
def test_no_other_choice_within_the_capacity_saves_more(table, capacity):
    p, fn, fp = (np.array(column) for column in list(zip(*table, strict=True))[:3])
    times = np.array([row[3] for row in table], dtype="datetime64[m]")
    found = decide(p, Costs(fn=fn, fp=fp), capacity=capacity, times=times)
    allowed, names = limits(capacity, times)
    saved = p * fn - (1 - p) * fp

    def fits(choice):
        taken = [name for name, k in zip(names, choice, strict=True) if k]
        return all(taken.count(name) <= allowed[name] for name in taken)

    best = max(
        sum(s for s, k in zip(saved, choice, strict=True) if k)
        for choice in product((0, 1), repeat=len(table))
        if fits(choice)
    )
    assert fits(found)
    assert saved @ found == pytest.approx(best, abs=1e-9)


@given(cases, st.integers(1, 8))
def test_a_capacity_that_does_not_bind_changes_nothing(table, more):
    p = np.array([row[0] for row in table])
    costs = Costs(fn=3, fp=1)
    capacity = len(table) + more - 1
    assert decide(p, costs, capacity=capacity).tolist() == decide(p, costs).tolist()


def test_of_equally_valuable_cases_the_first_are_decided_positive():
    assert decide([0.9, 0.9, 0.9, 0.2], capacity=2).tolist() == [1, 1, 0, 0]


def test_a_rare_expensive_case_comes_before_a_likely_cheap_one():
    costs = Costs(fn=[1000, 10], fp=1)
    assert decide([0.1, 0.9], costs, capacity=1).tolist() == [1, 0]


def test_a_threshold_says_which_cases_compete():
    p = [0.9, 0.6, 0.4, 0.3]
    assert decide(p, threshold=0.35, capacity=3).tolist() == [1, 1, 1, 0]
    assert decide(p, threshold=0.7, capacity=3).tolist() == [1, 0, 0, 0]


def test_weeks_begin_on_monday_and_days_at_midnight():
    times = np.array(["2026-05-31T23:59", "2026-06-01T00:00"], dtype="datetime64[m]")
    for period in UNITS:  # a Sunday, and the Monday that begins June
        assert decide([0.9, 0.8], capacity=f"1/{period}", times=times).sum() == 2
    times = np.array(["2026-11-16", "2026-11-22"], dtype="datetime64[D]")
    assert decide([0.9, 0.8], capacity="1/week", times=times).tolist() == [1, 0]
    assert decide([0.9, 0.8], capacity="1/day", times=times).tolist() == [1, 1]


def test_a_share_is_rounded_down():
    assert decide([0.9] * 9, capacity="33%").sum() == 2
    assert decide([0.9] * 100, capacity="7%").sum() == 7
    assert decide([0.9] * 3, capacity="30%").sum() == 0


def test_only_a_plain_number_depends_on_the_number_of_cases():
    assert Capacity.parse(200).scale(0.8) == Capacity.parse("160")
    for text in ("5%", "200/day"):
        assert Capacity.parse(text).scale(0.8) == Capacity.parse(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("200", "200 cases"),
        (1, "1 case"),
        ("2.5%", "2.5% of cases"),
        ("2000/day", "2,000 cases per day"),
        ("10 % / hour", "10% of cases per hour"),
    ],
)
def test_a_capacity_is_shown_in_words(text, shown):
    capacity = Capacity.parse(text)
    assert str(capacity) == shown
    assert Capacity.parse(capacity) == capacity


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("-5", "at least 1, or a share above 0 and up to 100%, .*; got '-5'"),
        ("0", "at least 1, or a share above 0 and up to 100%, .*; got '0'"),
        ("0%", "got '0%'"),
        ("120%", "up to 100%"),
        ("2.5", "a whole number of at least 1"),
        ("many", "a number of cases, a share of them, or .* 5% or 200/day; got 'many'"),
        ("200/", "got '200/'"),
        ("", "got ''"),
        (
            "200/dai",
            r"per hour, day, week or month, as in 200/day; got '200/dai' \(did you mean '200/day'\?\)",
        ),
        ("200/year", "got '200/year'"),
        ("5 per week", r"got '5 per week' \(did you mean '5/week'\?\)"),
        ("5%/weeks", r"got '5%/weeks' \(did you mean '5%/week'\?\)"),
        ("5 a day", r"got '5 a day' \(did you mean '5/day'\?\)"),
        ("5 / Monat", "got '5 / Monat'$"),
        ("200/day", r"needs the time of each case; there is none. .* \(time\)"),
    ],
)
def test_a_bad_capacity_is_one_sentence(text, sentence):
    with pytest.raises(SettingError, match=sentence):
        decide([0.9, 0.2], capacity=text)


def test_a_rate_needs_dates():
    with pytest.raises(SettingError, match="needs dates; the times are numbers, 3 the"):
        decide([0.9, 0.2], capacity="1/day", times=[3, 4])


def test_a_capacity_belongs_to_two_classes():
    with pytest.raises(SettingError, match="two classes; there are 3"):
        decide([[0.2, 0.3, 0.5]], capacity=1)


def test_cases_that_are_split_by_updates_are_not_counted_by_the_row():
    reports = np.array([[0.2, 0.4], [0.6, 0.5], [0.3, 0.1]])
    questions = ["a", "a", "b"]
    panel = Panel(reports, [1, 1, 0], weights=[0.5, 0.5, 1], questions=questions)
    with pytest.raises(SettingError, match="each decided once; these are split"):
        Capacity.parse("1").check(panel)
    whole = Panel(reports[1:], [1, 0])
    Capacity.parse("1").check(whole)
