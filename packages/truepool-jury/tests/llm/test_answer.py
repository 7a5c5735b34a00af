"""A report is a number in [0, 1] or missing, nothing else."""

import json
from math import exp, isnan, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepool_jury.llm.answer import TOOL, instruction, options, read
from truepool_jury.llm.completion import FAULTS, Completion

READABLE = {
    '{"probability": 0.25}': 0.25,
    '{"probability": 0}': 0.0,
    '{"probability": 1}': 1.0,
    '{"probability": 1e-3}': 0.001,
    '{"reasoning": "x", "probability": 0.5}': 0.5,
    '{\n  "probability": 0.75\n}\n': 0.75,
    'Two things speak for it.\n\n{"probability": 0.8}\n': 0.8,
}
UNREADABLE = [
    "",
    "0.8",
    "80%",
    '{"probability": "80%"}',
    '{"probability": 80}',
    '{"probability": "0.8"}',
    '{"probability": -0.1}',
    '{"probability": true}',
    '{"probability": null}',
    '{"probability": NaN}',
    '{"probability": Infinity}',
    '{"probability": [0.8]}',
    '{"probability": 0.8',
    '{"probab',
    '{"probability": 0.8, "probability": 0.1}',
    '{"chance": 0.8}',
    '[{"probability": 0.8}]',
    '{"probability": 0.8} or so',
    '{"probability": 0.8}\nBut I may be wrong.',
    "Probability: very likely",
    "Die Wahrscheinlichkeit beträgt 0,8.",
    '{"Wahrscheinlichkeit": 0.8}',
    "可能性は高いです。",
    "[" * 100_000,
]


@pytest.mark.parametrize(("text", "value"), READABLE.items())
def test_a_number_in_json_is_read(text, value):
    assert read(Completion(text), "stated").probability == value
    assert read(Completion(text), "stated").fault is None


@pytest.mark.parametrize("text", UNREADABLE, ids=lambda t: t[:30] or "empty")
@pytest.mark.parametrize("probability", ["stated", "votes", "logprobs"])
def test_percentages_words_and_other_languages_are_missing(text, probability):
    found = read(Completion(text), probability)
    assert isnan(found.probability)
    assert found.fault == "unreadable"


@given(st.text() | st.floats().map(lambda x: json.dumps({"probability": x})))
def test_whatever_is_said_the_report_is_a_probability_or_missing(text):
    found = read(Completion(text), "stated")
    assert isnan(found.probability) if found.fault else 0 <= found.probability <= 1


@pytest.mark.parametrize("fault", FAULTS)
def test_what_was_refused_or_cut_is_missing_whatever_it_says(fault):
    found = read(Completion('{"probability": 0.5}', fault), "stated")
    assert (isnan(found.probability), found.fault) == (True, fault)


def test_a_vote_is_yes_or_no():
    votes = [
        read(Completion(f'{{"verdict": "{v}"}}'), "votes") for v in ("yes", "no", "ja")
    ]
    assert [v.probability for v in votes[:2]] == [1.0, 0.0]
    assert votes[2].fault == "unreadable"


def weigh(**logprobs):
    return read(Completion('{"verdict": "yes"}', verdict_logprobs=logprobs), "logprobs")


def test_the_probability_of_a_verdict_is_that_of_its_tokens():
    assert weigh(yes=log(0.6), no=log(0.2)).probability == pytest.approx(0.75)
    both = {"yes": log(0.3), " Yes": log(0.3), "no": log(0.2)}
    assert weigh(**both).probability == pytest.approx(0.75)


def test_a_verdict_that_is_not_listed_is_as_probable_as_it_can_be():
    listed = weigh(yes=log(0.9), maybe=log(0.04)).probability
    assert listed == pytest.approx(0.9 / 0.94)
    assert weigh(yes=log(0.99)).probability == pytest.approx(0.99)
    assert weigh(no=0.0).probability == 0.0
    assert weigh(yes=-9999.0, no=log(0.5)).probability == pytest.approx(0, abs=exp(-99))


def test_without_verdicts_among_the_tokens_the_report_is_missing():
    assert weigh(maybe=log(0.9)).fault == "unreadable"
    assert weigh().fault == "unreadable"
    assert weigh(yes=-9999.0).fault == "unreadable"


@pytest.mark.parametrize("reasoned", [False, True])
@pytest.mark.parametrize("probability", ["stated", "votes"])
def test_schema_and_tool_ask_for_the_same_object(probability, reasoned):
    schema = options("schema", probability, reasoned=reasoned)
    tool = options("tool", probability, reasoned=reasoned)
    asked = schema["response_format"]["json_schema"]["schema"]
    assert asked == tool["tools"][0]["function"]["parameters"]
    assert asked["required"][-1] in instruction(probability)
    assert ("reasoning" in asked["properties"]) == reasoned
    assert tool["tool_choice"]["function"]["name"] == TOOL
    assert options("auto", probability, reasoned=reasoned) == schema
