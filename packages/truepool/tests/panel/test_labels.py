"""Labels: which class each of them is, and which of two is positive."""

import numpy as np
import pytest

from truepool.core.errors import OutcomeError
from truepool.panel.labels import (
    USUAL,
    Labels,
    check_labels,
    encode_outcomes,
    format_choice,
)


@pytest.mark.parametrize(
    "outcomes", [[0, 1, 1], [0.0, 1.0], [False, True], np.array([1, 0], dtype=object)]
)
def test_of_the_labels_0_and_1_the_positive_one_is_1(outcomes):
    numbers, labels = encode_outcomes(outcomes, 2)
    assert numbers.tolist() == [int(outcome) for outcome in outcomes]
    assert (labels.negative, labels.positive) == (0, 1)
    assert labels.plain


@pytest.mark.parametrize(
    ("negative", "positive"),
    [
        ("genuine", "fraud"),
        ("no", "yes"),
        ("0", "1"),
        (1, 2),
        (2, 1),
        (-1, 1),
        (1, -1),
        (1, 0),
        (7, 3),
        (True, False),
    ],
)
def test_of_any_other_two_labels_the_user_names_the_positive_one(negative, positive):
    outcomes = np.array([positive, negative, negative])
    for given in (positive, str(positive)):  # the command line knows text only
        numbers, labels = encode_outcomes(outcomes, 2, given)
        assert numbers.tolist() == [1, 0, 0]
        assert labels.names == (negative, positive)


@pytest.mark.parametrize(
    "pair", [("fraud", "genuine"), (1, 2), (-1, 1), ("no", "yes"), ("0", "1"), (0, 2)]
)
def test_nothing_is_guessed_about_other_labels(pair):
    with pytest.raises(OutcomeError) as refusal:
        encode_outcomes(np.array(pair * 3), 2)
    message = str(refusal.value)
    for label in pair:
        assert f"positive={label!r}" in message
        assert repr(label) in message
    assert "\n" not in message


@pytest.mark.parametrize(("negative", "positive"), USUAL)
def test_the_likelier_of_a_usual_pair_is_offered_whatever_its_case(negative, positive):
    offer = f"Pass positive='{positive.title()}' or .*; '{positive.title()}' is more"
    with pytest.raises(OutcomeError, match=offer):
        Labels.from_outcomes([positive.title(), negative.upper()])


def test_for_unusual_pairs_no_label_is_suggested():
    with pytest.raises(OutcomeError) as refusal:
        Labels.from_outcomes(["blue", "two words"])
    assert "likely" not in str(refusal.value)
    assert "positive='two words'" in str(refusal.value)


def test_the_suggested_label_works():
    # A pair that goes is a user who is helped less; one that turns is one misled.
    turned = {(b, a) for a, b in USUAL}
    assert not turned & set(USUAL)
    assert {("no", "yes"), ("genuine", "fraud"), ("benign", "malignant")} <= set(USUAL)
    assert {("normal", "attack"), ("false", "true")} <= set(USUAL)
    assert {("-1", "1"), ("0", "1")} <= set(USUAL)
    assert len(USUAL) == 23


def test_nobody_is_told_that_a_jury_looks_for_what_fails():
    with pytest.raises(OutcomeError) as refusal:
        Labels.from_outcomes(["pass", "fail"])
    assert "likely" not in str(refusal.value)


@pytest.mark.parametrize(
    ("outcomes", "positive", "message"),
    [
        (
            ["no", "yes"],
            "yess",
            "must be 'no' or 'yes'; got 'yess' (did you mean 'yes'?)",
        ),
        (["no", "yes"], "Yes", "must be 'no' or 'yes'; got 'Yes'"),
        ([1, 2], 3, "must be 1 or 2; got 3"),
        ([1, 2], "two", "must be 1 or 2; got 'two'"),
        ([True, False], "maybe", "must be False or True; got 'maybe'"),
    ],
)
def test_a_positive_label_that_does_not_occur_is_refused(outcomes, positive, message):
    with pytest.raises(OutcomeError) as refusal:
        encode_outcomes(outcomes, 2, positive)
    assert message in str(refusal.value)


def test_more_than_two_labels_are_named_where_two_are_needed():
    with pytest.raises(
        OutcomeError, match="need two .*; there are 3: 'a', 'b', 'c'. Leave"
    ):
        encode_outcomes(["a", "b", "c"], 2)
    with pytest.raises(OutcomeError, match="are 40: 0, 1, 2, 3, 4, 5 and 34 others"):
        encode_outcomes(range(40), 2)


@pytest.mark.parametrize(
    ("outcomes", "classes", "positive", "numbers", "names"),
    [
        ([0, 0], 2, None, [0, 0], (0, 1)),
        ([1, 1], 2, "1", [1, 1], (0, 1)),
        ([1, 1], 2, 0, [0, 0], (1, 0)),
        ([True, True], 2, None, [1, 1], (False, True)),
        ([False, False], 2, "true", [0, 0], (False, True)),
        ([1, 1], 3, None, [1, 1], (0, 1, 2)),
        (["genuine"] * 2, 2, "fraud", [0, 0], ("genuine", "fraud")),
        ([2, 2], 2, "1", [0, 0], (2, 1)),
        ([1, 1], 2, 2, [0, 0], (1, 2)),
    ],
)
def test_one_class_alone_is_known_where_the_other_label_is(
    outcomes, classes, positive, numbers, names
):
    found, labels = encode_outcomes(outcomes, classes, positive)
    assert (found.tolist(), labels.names) == (numbers, names)


@pytest.mark.parametrize(
    ("outcomes", "positive", "told"),
    [
        ([2, 2], None, "every outcome is 2, and the other label is unknown"),
        (["a"] * 2, None, "every outcome is 'a', and the other label is unknown"),
        (["fraud"] * 2, "fraud", "every outcome is 'fraud', and the other"),
        (["fraud"] * 2, "Fraud", "got 'Fraud' (did you mean 'fraud'?)"),
        ([2, 2], "fraud", "every outcome is 2, and the other"),
        ([True, True], "fraud", "must be False or True; got 'fraud'"),
    ],
)
def test_one_label_is_refused_where_nothing_tells_the_other(outcomes, positive, told):
    with pytest.raises(OutcomeError) as refusal:
        encode_outcomes(outcomes, 2, positive)
    assert told in str(refusal.value)
    with pytest.raises(OutcomeError, match="every outcome is 'a'"):
        Labels.from_outcomes(["a", "a"], "a")


def test_reports_of_many_classes_number_their_outcomes():
    numbers, labels = encode_outcomes([2.0, 0.0, 1.0], 3)
    assert (numbers.tolist(), labels.names) == ([2, 0, 1], (0, 1, 2))
    assert labels.positive is labels.negative is None
    for outcomes, result in (
        ([0, 3], "got 3 in case 1"),
        (["a", "b"], "got 'a' in case 0"),
    ):
        with pytest.raises(OutcomeError, match=f"whole numbers 0..2.*{result}"):
            encode_outcomes(outcomes, 3)
    with pytest.raises(OutcomeError, match="requires two classes; got 2 with reports"):
        encode_outcomes([0, 1, 2], 3, positive=2)


def test_many_labels_are_put_in_order_and_none_is_positive():
    assert Labels.from_outcomes(["b", "c", "a"]).encode(["c", "a"]).tolist() == [2, 0]
    with pytest.raises(OutcomeError, match="there are 3: 'a', 'b', 'c'. Leave it out"):
        Labels.from_outcomes(["b", "c", "a"], "c")
    with pytest.raises(OutcomeError, match="must be one of 'a', 'b', 'c'; got 'd'"):
        Labels.from_outcomes(["b", "c", "a"], "d")


def test_labels_know_which_positive_label_is_theirs():
    labels = Labels(("genuine", "fraud"))
    labels.check(None)
    labels.check("fraud")
    with pytest.raises(OutcomeError, match="label here is 'fraud'; got 'genuine'"):
        labels.check("genuine")
    with pytest.raises(OutcomeError, match="must be 'genuine' or 'fraud'; got 'spam'"):
        labels.check("spam")
    with pytest.raises(OutcomeError, match="must be one of 0, 1, 2; got 1"):
        Labels.from_count(3).check(1)


def test_a_label_is_found_whatever_the_order_of_the_classes():
    labels = Labels(("genuine", "fraud"))
    assert labels.encode(["fraud", "genuine", "fraud"]).tolist() == [1, 0, 1]
    assert labels.encode([]).tolist() == []


@pytest.mark.parametrize("stranger", ["spam", "zz", "", 1])
def test_an_unknown_label_is_named(stranger):
    with pytest.raises(
        OutcomeError, match=f"must be 'genuine' or 'fraud'; got {stranger!r} in case 0"
    ):
        Labels(("genuine", "fraud")).encode([stranger])


@pytest.mark.parametrize(
    "labels", [[1.0, np.nan], np.array(["a", None], dtype=object), [np.nan, "x"]]
)
def test_a_missing_label_is_named(labels):
    given = np.array(labels, dtype=object) if "x" in labels else labels
    with pytest.raises(
        OutcomeError, match=r"every case needs a label; case [01] has none"
    ):
        check_labels(given)


@pytest.mark.parametrize("kind", ["S", np.dtypes.StringDType()], ids=str)
def test_text_of_any_kind_makes_labels(kind):
    labels = check_labels(np.array(["no", "yes"]).astype(kind))
    assert (labels.dtype.kind, labels.tolist()) == ("U", ["no", "yes"])


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(OutcomeError, match=r"UTF-8 text; got b.*xff'. Save the table"):
        check_labels([b"\xff"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1.0, 0.37], "got 0.37 in case 1"),
        ([1.0, np.inf], "got inf in case 1"),
        ([1.0, 2.0**53], "got 9007199254740992.0 in case 1"),
        (
            np.array(["2026-01-01"], dtype="M8[D]"),
            r"got datetime.date\(2026, 1, 1\) in case 0",
        ),
    ],
)
def test_invalid_labels_are_refused(labels, message):
    with pytest.raises(OutcomeError, match=f"whole number or text; {message}"):
        check_labels(labels)


def test_text_and_numbers_do_not_mix():
    with pytest.raises(OutcomeError, match="got 1 in case 0 and 'no' in case 2"):
        check_labels(np.array([1, 0, "no"], dtype=object))


def test_labels_must_be_one_column():
    with pytest.raises(
        OutcomeError, match=r"one label per case; got an array of shape \(2, 1\)"
    ):
        check_labels([[1], [0]])


def test_objects_and_bytes_are_converted():
    assert check_labels(np.array([1, 0], dtype=object)).dtype == np.int64
    assert check_labels(np.array([b"no", b"yes"])).tolist() == ["no", "yes"]


def test_long_lists_of_labels_are_shortened():
    assert format_choice([1, 2]) == "1 or 2"
    assert (
        format_choice("abcdefgh") == "one of 'a', 'b', 'c', 'd', 'e', 'f' and 2 others"
    )


def test_three_labels_are_not_two():
    with pytest.raises(OutcomeError, match="'a', 'b', 'c'"):
        encode_outcomes(["a", "b", "c"], 2)
