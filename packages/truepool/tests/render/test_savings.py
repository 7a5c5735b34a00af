from dataclasses import replace

import pytest
from example_audit import audit, findings

from truepool.comparison import Estimate
from truepool.render.savings import per_thousand, savings_per_thousand

SAVING = Estimate(0.08, 0.05, 0.11)


@pytest.mark.parametrize(
    ("code", "severity", "cases"),
    [
        ("selective-labels", "warning", "cases with an outcome"),
        ("selective-labels", "note", "cases"),
        ("biased", "warning", "cases"),
    ],
)
def test_where_outcomes_are_selective_savings_are_those_of_cases_with_one(
    code, severity, cases
):
    found = replace(findings()[0], code=code, severity=severity)
    result = audit(findings=(found,), withheld=())
    amount = f"80 false alarms per 1,000 {cases} (95 % interval 50 to 110"
    assert amount in per_thousand(result, SAVING)
    assert amount in result.advice
    interval = "80 false alarms, 95 % interval 50 to 110"
    assert savings_per_thousand(result, SAVING) == (
        f"savings per 1,000 {cases}: {interval}"
    )
