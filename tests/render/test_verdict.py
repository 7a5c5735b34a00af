from dataclasses import replace

from audits import audit, findings

from truepool.render.verdict import sentence

NONE = {"withheld": ()}


def test_errors_come_first_with_what_the_dearest_costs():
    assert sentence(audit()) == (
        "Do not trust this pool as it is: 2 errors and 3 warnings on 569 settled cases "
        "of 5 agents; the dearest costs 0.0310 a case."
    )


def test_warnings_ask_for_care():
    one = replace(findings()[3])
    assert sentence(audit(findings=(one,))) == (
        "Use this pool with care: 1 warning on 569 settled cases of 5 agents."
    )


def test_what_saves_money_is_not_called_dear():
    cheap = replace(findings()[4], cost=replace(findings()[4].cost, value=-0.1))
    assert "dearest" not in sentence(audit(findings=(cheap,)))


def test_notes_speak_against_nothing():
    quiet = audit(findings=findings()[5:], **NONE)
    assert sentence(quiet) == (
        "Nothing speaks against this pool: no error and no warning on 569 settled cases of 5 agents."
    )


def test_silence_is_not_praise_where_something_was_withheld():
    assert sentence(audit(findings=())).endswith(
        "5 agents, but not everything could be told."
    )


def test_too_few_cases_are_no_praise_either():
    few = (("calibration of the pool", "20 outcomes are fewer than the 30 it takes"),)
    assert sentence(audit(findings=(), withheld=few)) == (
        "Too little is known to judge this pool: 20 outcomes are fewer than the 30 it takes."
    )
    assert sentence(audit(withheld=few)).startswith("Do not trust this pool")
