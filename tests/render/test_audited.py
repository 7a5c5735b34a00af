import io
import re

import pytest
from faults import COSTS, flipped, sound, timed
from panels import random_panel
from rich.console import Console

from truepool.audit import audit
from truepool.panel import Panel
from truepool.render.audited import markdown, show
from truepool.render.verdict import sentence

QUICK = {"costs": COSTS, "resamples": 50}
TOLD = audit(flipped(cases=500), **QUICK)


def shown(told, width=120):
    screen = io.StringIO()
    show(told, Console(file=screen, width=width))
    return screen.getvalue()


def test_the_terminal_shows_every_finding_with_what_to_do():
    text = " ".join(shown(TOLD).split())
    for finding in TOLD.findings:
        assert " ".join(finding.sentence.split()) in text
        assert f"Do: {finding.advice}" in text
    assert "1. ERROR agent1 is upside down" in text
    assert f"Advice. {TOLD.advice}" in text
    assert re.search(r"AUC: 0\.2\d+; cost a case: \+0\.\d+ \[", text)


def test_a_narrow_terminal_is_enough():
    assert "A wider terminal shows more" in shown(TOLD, width=60)


def test_markdown_says_the_same():
    page = markdown(TOLD)
    assert page == TOLD.to_markdown()
    assert page.startswith(f"# {sentence(TOLD)}\n")
    assert "1. **ERROR** agent1 is upside down" in page
    assert "| agent0 |" in page
    assert "| agent3 says the opposite |" in page
    assert page.count("\n## ") == 2


def test_what_was_withheld_and_sampled_is_said(monkeypatch):
    from truepool.audit import evidence

    few = audit(Panel([[0.9, 0.5], [0.1, 0.5], [0.8, 0.2]], [1, 0, 1]))
    assert "Withheld: harm: 3 outcomes are fewer than the 30 it takes." in shown(few)
    monkeypatch.setattr(evidence, "LOOK", 100)
    some = audit(sound(cases=200), **QUICK)
    assert "Estimated from 100 random cases: credit and robustness." in markdown(some)


@pytest.mark.parametrize("silent", [0.0, 0.2])
def test_the_setting_is_said(silent):
    page = markdown(audit(random_panel(1, cases=100, silent=silent), resamples=20))
    assert "1 is decided above 0.500." in page
    assert ("of reports silent" in page) == (silent > 0)
    many = markdown(audit(timed(random_panel(1, classes=3)), resamples=20))
    assert "3 classes, decided at least expected cost." in many
