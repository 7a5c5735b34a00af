"""The catalogue of an audit: a word for every code, none that nothing says, and commands that run."""

import ast
import json
import os
import re
import shlex
import tomllib
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from example_audit import DEAD, EVERY, SHARP, audit, change, diagnosis, plan, sound

import truepool
from truepool.audits import kinds
from truepool.audits.timeline import Position
from truepool.audits.values import Step
from truepool.cli import keys, verbs
from truepool.core.sentences import PYTHON, TERMINAL, catalogue, say
from truepool.pages.wording import Speaker

SNAPSHOT = Path(__file__).with_name("words.json")
OWN = tomllib.loads(files("truepool.words").joinpath("audit.toml").read_text("utf-8"))
SOURCE = Path(truepool.__file__).parent
FIELDS = {
    "who": ("rf", "gbm"), "pool": "mean", "in_use": "mean", "better": "auto", "table": "reports.csv", "file": "reports.pool",
    "fit_set": "--ignore rf -o reports.pool", "make_set": "costs=costs", "read": "", "left": 3, "places": (1, 2), "forward": "", "constant": "ja", "agent": "rf", "agents": 5, "cases": 569, "positives": 212, "tested": 400,
    "reasons": "rf is biased", "question": "which one?", "when": "2026-05-11", "date": "2026-05-11", "threshold": 0.0909,
    "factor": 100.0, "classes": (("red", "green"),), "by": "country", "failing": ("DE", "FR"), "label": "ja", "saving": 38.0,
    "cost": 200.0, "worth": 12.0, "settings": ("costs", "seed"), "before": "sound", "now": "biased", "of": "", "level": "95 %",
    "unit": ", in EUR", "trusted_set": "--set trusted=rf", "read_set": "--ignore rf", "positive_set": "--positive ja",
    "share": 0.37, "positive": "ja", "headline": "You can trust it.", "source": "may.json",
    "decision": "nein", "without": ("rf",), "value": 10.0, "case": 413, "effective": 1.7, "shown": 12, "known": 40, "code": "odd",
    "outside": 2, "groups": 8, "first": "rf", "second": "gbm", "closest": 0.93, "learner": "gradient", "dropped": ("gbm",),
    "names": ("LU",), "segments": ("gaming",), "other": "gbm", "why": "fewer than 30 cases", "measure": "AUC", "capacity": "200 per day", "tried": 9, "what": "drift",
    "found": "c is reversed.", "set": "--ignore rf", "area": 0.18, "out": "", "state": "biased", "since": "2026-05-11", "best": 0.1, "implied": 0.0909, "weight": 0.31, "alarms": ("rf at 2026-05-11",),
}  # fmt: skip


def rendered():
    """Every template, filled with the same fields."""
    found = {}
    for kind, templates in OWN.items():
        for code, template in templates.items():
            spoken = [
                voice for voice in (PYTHON, TERMINAL) if isinstance(template, dict)
            ] or [PYTHON]
            for voice in spoken:
                one = (
                    {**FIELDS, "agents": ("rf", "gbm")}
                    if code in ("best-set", "best-set-all", "reversed")
                    else FIELDS
                )
                name = f"{code} ({voice.dialect})" if len(spoken) > 1 else code
                found.setdefault(kind, {})[name] = say(kind, code, one, voice)
    return found


def test_the_words_are_those_of_the_snapshot():
    """Rewrite it with TRUEPOOL_SNAPSHOT=1 and read the difference."""
    text = json.dumps(rendered(), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("TRUEPOOL_SNAPSHOT"):
        SNAPSHOT.write_text(text, encoding="utf-8")
    assert SNAPSHOT.read_text(encoding="utf-8") == text


def test_every_state_of_a_kind_has_a_label_and_a_reason():
    """A diagnosis that is an error or a warning is a reason of the verdict."""
    for kind in kinds.TABLE:
        assert kind.state in catalogue()["state"], kind.code
        if kind.most != "note":
            assert kind.state in catalogue()[f"clause-{kind.subject}"], kind.code


def test_every_question_and_every_action_of_a_kind_has_words():
    for kind in kinds.TABLE:
        if kind.doubts or kind.asked:
            assert kind.state in catalogue()["ask"]
        if kind.action and kind.action not in ("lean-on-best", "recalibrate-pool"):
            assert kind.action in catalogue()["do"], kind.code


def said():
    """Codes that the pages say, as their source has them."""
    for path in (SOURCE / "pages").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            if isinstance(node, ast.JoinedStr):
                parts = [
                    p.value if isinstance(p, ast.Constant) else "*" for p in node.values
                ]
                yield "".join(map(str, parts))


def test_no_title_caption_or_column_is_left_over():
    known = set(said())
    patterns = [
        re.compile(text.replace("*", "[a-z-]+"))
        for text in known
        if re.fullmatch("[a-z-]*\\*[a-z-]*", text)
    ]
    unused = [
        code
        for code in OWN["audit"]
        if code not in known
        and not any(p.fullmatch(code) for p in patterns if p.pattern != "[a-z-]+")
    ]
    assert [code for code in unused if code not in ("error", "warning", "note")] == []


STEPS = {
    "name-outcome": {}, "name-positive": {"label": "ja"}, "empty-late": {"date": "2026-05-11"}, "give-propensity": {},
    "ask-leak": {"removed": True}, "leave-out": {}, "leave-out-there": {"by": "country", "failing": ("DE",)}, "restore": {},
    "repair": {}, "rescale": {"factor": 100.0, "date": "2026-05-11"}, "ask-unit": {"date": "2026-05-11"}, "reverse": {},
    "swap": {"classes": (("red", "green"),)}, "recalibrate": {}, "decide-at": {"threshold": 0.0909}, "ask-meaning": {},
    "use": {"pool": "auto", "without": ("tree",), "agent": None}, "refit": {"pool": "auto", "without": ()},
    "keep": {"pool": "mean"}, "collect": {},
}  # fmt: skip


@pytest.mark.parametrize("action", STEPS)
def test_a_command_is_one_that_the_parser_takes(action):
    verbs.describe_all()
    step = Step(
        action,
        ("tree", "odd, name") if action != "leave-out" else ("tree",),
        STEPS[action],
    )
    one = audit()
    command = Speaker.of(one, TERMINAL, "my reports.csv").command(step)
    if not command:
        return
    words = shlex.split(command)
    program, verb, table, *rest = words
    assert (program, table) == ("truepool", "my reports.csv")
    known = keys.VERBS[verb]
    while rest:
        flag, value, *rest = rest
        if flag == "--set":
            name = value.partition("=")[0].partition(".")[0]
            assert not known[name].option or name in known
        elif flag != "-o":
            assert known[flag.removeprefix("--")].option
    keys.read_settings([v for f, v in pairwise(words[3:]) if f == "--set"], verb)


@pytest.mark.parametrize("action", STEPS)
def test_a_line_of_python_is_one_that_compiles(action):
    step = Step(action, ("tree",), STEPS[action])
    one = change(audit(), source="reports.csv")
    ast.parse(Speaker.of(one).command(step).replace("COLUMN", "'column'"))
    assert Speaker.of(one).step(step).endswith(".")


def test_a_case_stands_for_the_day_where_there_are_no_dates():
    given = {"factor": 100.0, "from": Position(412, 569)}
    say_it = Speaker.of(audit())
    assert "case 413" in say_it.step(Step("rescale", ("tree",), given))
    assert "2026-05-11" in say_it.step(
        Step("rescale", ("tree",), {**given, "date": "2026-05-11"})
    )


def test_a_pool_is_fitted_to_reports_as_the_steps_before_leave_them():
    steps = (
        Step("reverse", ("tree",)),
        Step("leave-out", ("bayes",)),
        Step("use", (), STEPS["use"] | {"without": ("bayes",)}),
    )
    one = change(audit(), plan=plan(*steps, without=("bayes",)))
    say_it = Speaker.of(one, TERMINAL)
    assert "--ignore bayes --set scores.tree=1-0" in say_it.command(steps[-1])
    assert "scores={'tree': '1-0'}" in Speaker.of(one).command(steps[-1])
    # One file is written, by the last step that fits.
    assert [say_it.command(step) for step in steps[:2]] == ["", ""]
    until = change(one, plan=plan(*steps[:2], without=("bayes",)))
    assert "--ignore bayes" in Speaker.of(until, TERMINAL).command(steps[1])
    assert "scores" not in Speaker.of(audit(), TERMINAL).command(audit().plan.steps[-1])


def test_another_threshold_is_fitted_without_the_agents_left_out_before():
    steps = (Step("leave-out", ("bayes",)), Step("decide-at", (), {"threshold": 0.2}))
    one = change(audit(), plan=plan(*steps, pool="mean", without=("bayes",)))
    assert "--ignore bayes --set threshold=0.2" in Speaker.of(one, TERMINAL).command(
        steps[1]
    )
    line = Speaker.of(one).command(steps[1])
    assert "ignore=['bayes']" in line
    assert "threshold=0.2" in line


def test_since_when_is_a_day_in_a_long_table_and_the_start_where_it_was_always_so():
    always = diagnosis("agent", "tree", replace(SHARP, who=("tree",), date=""))
    dated = diagnosis(
        "agent", "bayes", replace(DEAD, since=3, date="2026-05-11 08:30:12")
    )
    say_it = Speaker.of(audit())
    assert say_it.began(always) == say_it.text("start")
    assert say_it.began(diagnosis("agent", "forest")) == ""
    short = Speaker.of(change(audit(), cases_per_month=100 * audit().cases))
    long = Speaker.of(change(audit(), cases_per_month=audit().cases / 2))
    assert (short.began(dated), long.began(dated)) == (
        "2026-05-11 08:30:12",
        "2026-05-11",
    )


def test_a_pool_is_not_called_sound_beside_agents_that_cannot_be_trusted():
    say_it = Speaker.of(change(audit(), pool=diagnosis("pool", "mean")))
    assert say_it.state(say_it.audit.pool) != say_it.label("sound")
    calm = Speaker.of(sound())
    assert calm.state(calm.audit.pool) == calm.label("sound")


def test_a_cost_is_said_in_its_unit():
    say_eur = Speaker.of(EVERY["prices"]())
    assert say_eur.money(12.0) == "12 EUR"
    assert Speaker.of(audit()).money(12.0) == "12 false alarms"
    assert say(
        "change", "worth", {"who": "rf", "worth": 12.0}, Speaker.of(audit()).voice
    ).startswith("rf is worth the cost of 12 false alarms")


def test_no_sentence_about_an_audit_stands_outside_the_catalogue():
    """Text of three words or more in the modules that show an audit is documentation."""
    for name in ("audit", "audit_evidence", "audit_figures", "wording", "json"):
        tree = ast.parse((SOURCE / "pages" / f"{name}.py").read_text())
        documented = {
            id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in documented
            ):
                words = [
                    w
                    for w in re.findall(r"[A-Za-z]{2,}", node.value)
                    if " " in node.value
                ]
                assert (
                    len(words) < 3
                    or "assert" in name
                    or node.value.startswith("only those")
                ), node.value
