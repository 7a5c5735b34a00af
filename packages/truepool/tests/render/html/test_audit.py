"""The page of an audit, as text; how it behaves is asked of a browser elsewhere."""

import re
from base64 import b64encode
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from example_audit import (
    AGENTS,
    agent_summaries,
    audit,
    calibration,
    curve,
    drift,
    estimate,
    findings,
)
from panels import random_panel

import truepool as tp
from truepool.audits.values import Changes, Finding
from truepool.comparison import Estimate
from truepool.core.errors import SourceError
from truepool.panel.labels import Labels
from truepool.panel.panel import Panel
from truepool.render.html.audit import LINKS, html
from truepool.render.tables.evidence import correlations

HOSTILE = {
    "end of style": "</style><script>alert(1)</script>",
    "rule": "a{display:none}",
    "rule in a style": 'x style="}p{zoom:9"',
    "hidden findings": 'x style="}.finding{display:none"',
    "style": ' style="display:none"',
    "image": '"><img src=x onerror=alert(1)>',
    "attribute": 'b" onload="alert(2)',
    "quotes": "c' d",
    "entity": "&amp;",
    "template": "{{ 7 * 7 }}{% raw %}",
    "comment": "<!--",
    "policy": "default-src *; sha256-",
}
"""What an agent may be called by a vendor who would like the page to say less."""
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Elements, in their order, with what a reader needs to know of them."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.text, self.shape, self.ink = [], [], {}, [], set()
        self.feed(text)
        self.close()
        assert self.open == []
        self.style, *rules = self.text["style"].split("\n.s")
        self.rules = {rule.partition("{")[2] for rule in rules}

    def handle_starttag(self, name, attributes):
        self.handle_startendtag(name, attributes)
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.seen.append((name, dict(attributes)))
        written = (name, *sorted(key for key, _ in attributes))
        if "svg" in self.open:  # names of another width leave room for other ticks
            self.ink.add(written)
        else:
            self.shape.append(written)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        for name in set(self.open):
            self.text[name] = self.text.get(name, "") + data.strip("\n")

    def all(self, name):
        return [attributes for seen, attributes in self.seen if seen == name]


@cache
def example_page():
    return html(audit())


def test_the_verdict_is_the_first_thing_said():
    page = Page(example_page())
    text = page.text["main"]
    assert page.text["header"].startswith(
        "Can this pool be trusted?Do not trust this pool as it is: 2 errors"
    )
    assert "What to doBefore anything else, " in page.text["header"]
    assert (
        text.index("Agent tree is over-confident")
        < text.index("The threshold in use")
        < text.index("stacked-lr costs least")
    )


def test_a_finding_says_its_number_its_cost_and_what_to_do():
    text = Page(example_page()).text["article"]
    assert (
        "calibration slope0.520 [.410, .660]savings per case if fixed (in false alarms)+0.0310 [+.0120, +.0540]"
        in text
    )
    assert "What to do: Recalibrate tree on cases with a known outcome" in text
    assert "threshold0.500savings per case if fixed (in false alarms)" in text, (
        "no interval where none can be told"
    )


def test_every_link_leads_somewhere():
    page = Page(example_page())
    ids = [attributes["id"] for _, attributes in page.seen if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for attributes in page.all("a")]
    assert links
    assert {link[1:] for link in links} <= set(ids)
    on_request = {"segments", "capacity"}  # audits with --by or --capacity
    assert set(LINKS.values()) - on_request <= set(ids)


@pytest.mark.usefixtures("empty_figures")
def test_a_finding_whose_figure_is_not_there_has_no_link():
    bare = audit(
        findings=(
            replace(findings()[0], figure="nowhere"),
            replace(findings()[1], figure=None),
        )
    )
    assert "See the evidence" not in html(bare)
    no_time = audit(drift=None)
    page = Page(html(no_time))
    ids = {attributes.get("id") for _, attributes in page.seen}
    assert {attributes["href"][1:] for attributes in page.all("a")} <= ids


def test_headings_are_in_order():
    levels = [
        int(name[1])
        for name, _ in Page(example_page()).seen
        if re.fullmatch("h[1-6]", name)
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_a_page_has_landmarks_a_language_and_a_title():
    page = Page(example_page())
    for landmark in ("header", "nav", "main", "footer"):
        assert len(page.all(landmark)) == 1
    assert page.all("html") == [{"lang": "en"}]
    assert page.text["title"].startswith("Audit: Do not trust")


def test_every_figure_is_told_in_words():
    pictures = [attributes for attributes in Page(example_page()).all("svg")]
    assert len(pictures) == 7 + 9
    assert all(
        picture["role"] == "img" and len(picture["aria-label"]) > 20
        for picture in pictures
    )
    labels = [picture["aria-label"] for picture in pictures]
    assert (
        "Reliability diagram of tree. Calibration slope 0.520 [.420, .620]: over-confident."
        in labels
    )
    assert any(
        "The most correlated are logistic and forest, 0.900." in label
        for label in labels
    )


def test_nothing_is_loaded_and_only_the_pages_own_script_runs():
    assert not re.search(
        r'(src|srcset|poster)=|@import|url\((?!#)|href="(?!#)|https?:', example_page()
    )
    policy = next(
        meta["content"]
        for meta in Page(example_page()).all("meta")
        if meta.get("http-equiv")
    )
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for part in ("style", "script"):
        inside = re.search(rf"<{part}>(.*?)</{part}>", example_page(), re.DOTALL)[1]
        hashed = b64encode(sha256(inside.encode()).digest()).decode()
        assert f"{part}-src 'sha256-{hashed}'" in policy
    assert " style=" not in example_page()


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_name_changes_the_words_of_a_page_and_nothing_else(name):
    plain, hostile = map(
        Page, (example_page(), html(audit(tuple(name + a for a in AGENTS))))
    )
    assert hostile.shape == plain.shape
    assert hostile.ink <= plain.ink
    assert hostile.text["script"] == plain.text["script"]
    assert hostile.style == plain.style
    assert hostile.rules <= plain.rules
    assert name + AGENTS[0] in hostile.text["tbody"]
    assert name + AGENTS[0] in hostile.text["h3"]


def test_what_cannot_be_told_is_left_out():
    bare = audit(
        findings=(), curve=None, comparison=None, drift=None, threshold=None, missing=0.0, withheld=(), sampled=(),
        calibration=tuple(replace(calibration(agent), slope=None, bias=None, p_value=None, reliability=None) for agent in AGENTS),
        agent_summaries=tuple(replace(one, leave_one_out=None, shapley=None, weight=None) for one in agent_summaries()),
    )  # fmt: skip
    page = Page(html(bare))
    assert "Nothing was found." in page.text["main"]
    assert len(page.all("svg")) == 1
    assert "What could not be tested, and why" not in page.text["main"]
    assert "nan" not in page.text["main"].lower()


def test_what_was_withheld_or_sampled_is_said():
    text = Page(example_page()).text["main"]
    assert "drift of the pool: fewer than 1,000 cases." in text
    assert "SamplesShapley credit: 2,000 orders.Robustness: 500 cases." in text


@pytest.mark.usefixtures("empty_figures")
def test_no_alarm_is_said_too():
    quiet = replace(audit().drift, alarms=())
    assert "No alarm: no agent got significantly worse." in html(audit(drift=quiet))


def test_classes_and_their_costs_are_told():
    matrix = ((0.0, 1.0, 2.0), (1.0, 0.0, 1.0), (5.0, 1.0, 0.0))
    several = audit(
        classes=3,
        labels=Labels.from_count(3),
        curve=None,
        threshold=None,
        costs={"fn": 5.0, "fp": 2.0, "matrix": matrix},
        comparison=None,
    )
    page = Page(html(several))
    assert "classes3" in page.text["header"]
    assert (
        "1 to 5 by the cost matrix, most of all deciding class 0" in page.text["header"]
    )
    assert "the class of least expected cost is decided" in page.text["main"]


@pytest.mark.usefixtures("empty_figures")
def test_labels_of_diagrams_say_which_way():
    some = (
        calibration("a", 1.6),
        calibration("b", 1.0),
        replace(calibration("c"), slope=None),
    )
    text = html(audit(calibration=some))
    assert "under-confident." in text
    assert "no significant miscalibration." in text
    assert "No slope: there are too few cases." in text


def test_many_agents_fit_on_a_page():
    agents = tuple(f"agent {i}" for i in range(60))
    text = html(audit(agents))
    assert len(text) < 2_000_000
    page = Page(text)
    labels = [picture["aria-label"] for picture in page.all("svg")]
    diagrams = [label for label in labels if label.startswith("Reliability")]
    assert len(diagrams) == 24
    assert any("of pool." in label for label in diagrams), "the pool is always drawn"
    weights = next(label for label in labels if label.startswith("Weights earned"))
    assert weights.count("agent") == 8, "no more is read aloud"
    assert "The 24 least calibrated are shown." in page.text["main"]
    assert "The 30 most correlated of 60 agents." in page.text["main"]
    assert "The 30 largest." in page.text["main"]
    assert "The 30 that help or harm most." in page.text["main"]
    assert all(f"agent {i}" in page.text["tbody"] for i in range(60))


@pytest.mark.usefixtures("empty_figures")
def test_the_chart_of_credit_shows_who_helps_or_harms_most_whatever_its_weight():
    found = audit(tuple(f"agent {i}" for i in range(60)))
    *others, light, harmful = found.agent_summaries
    light = replace(light, weight=Estimate(0, 0, 0), leave_one_out=Estimate(9, 8, 10))
    harmful = replace(light, agent=harmful.agent, leave_one_out=Estimate(-7, -8, -6))
    page = Page(html(replace(found, agent_summaries=(*others, light, harmful))))
    labels = [picture["aria-label"] for picture in page.all("svg")]
    credit = next(label for label in labels if label.startswith("Credit of the agents"))
    assert "agent 58 9.0" in credit
    assert "agent 59 -7.0" in credit


@pytest.mark.usefixtures("empty_figures")
def test_where_all_diagrams_fit_none_is_called_the_worst():
    agents = tuple(f"agent {i}" for i in range(22))
    text = Page(html(audit(agents))).text["main"]
    assert "least calibrated are shown" not in text
    assert "30 largest" not in text


def test_a_page_is_written_whole(tmp_path):
    audit().to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == example_page()
    with pytest.raises(SourceError, match="there is no folder"):
        audit().to_html(tmp_path / "no" / "report.html")


def test_the_same_audit_makes_the_same_page():
    assert html(audit()) == example_page()


@pytest.mark.usefixtures("empty_figures")
def test_costs_that_save_are_shown_as_they_are():
    one = replace(findings()[0], cost=estimate(-0.02), number=None)
    assert (
        "savings per case if fixed (in false alarms)-0.0200 [-.0300, -.0100]"
        in Page(html(audit(findings=(one,)))).text["article"]
    )


@pytest.mark.parametrize(
    "panel",
    [
        Panel([[0.9, 0.8], [0.2, 0.1], [0.7, 0.9]], [1, 0, 1]),
        random_panel(2, cases=120, silent=0.2),
        random_panel(3, cases=150, classes=3),
        Panel(random_panel(4, cases=200).reports, random_panel(4, cases=200).outcomes, ("pool", "a", "b", "c"), times=range(200)),
    ],
    ids=["few", "silent", "classes", "times"],
)  # fmt: skip
def test_real_audits_fit_on_the_page(panel):
    result = tp.audit(panel, costs=tp.Costs(fn=3), resamples=100)
    text = html(result)
    page = Page(text)
    assert len(page.all("article")) == len(result.groups)
    assert "nan" not in page.text["main"].lower()
    linked = [finding for finding in result.findings if finding.figure]
    assert page.text["main"].count("See the evidence") <= len(linked)
    untold = page.text["main"].partition("What could not be tested, and why")[2]
    for what, why in result.withheld:
        assert what in untold
        assert f": {why}." in untold
    worst = {"error": "error", "warning": "warning"}.get(result.worst())
    praised = "unsure" if result.withheld else "note"
    assert f'class="verdict {worst or praised}"' in text
    drawn = any(one.reliability is not None for one in result.calibration)
    assert ("too few cases to draw it" in page.text["main"]) != drawn


def test_alarms_have_their_dates_where_cases_have_them():
    told = drift()
    days = tuple(f"2024-05-{1 + i // 10:02d}" for i in range(120))
    dated = replace(told, dates=days, alarm_dates=("2024-05-09 13:05",))
    page = Page(html(audit(drift=dated)))
    assert "bayes413" in page.text["table"].replace(" ", "")
    assert "2024-05-0913:05" in page.text["table"].replace(" ", "")
    assert "date of the case" in page.text["svg"]


def test_another_threshold_is_said_only_where_it_costs_significantly_less():
    plain = Page(example_page()).text["main"]
    assert "No threshold other than 0.500 costs significantly less." in plain
    other = Finding(
        "other-threshold", "warning", (), "Deciding above 0.31 would cost less.", "Do."
    )
    told = html(
        audit(findings=(*findings(), other), curve=replace(curve(), lowest=0.31))
    )
    assert "No threshold other" not in told
    assert "lowest cost" in told


def test_pairs_of_agents_are_listed_by_their_correlation():
    rows = correlations(audit()).rows
    assert rows[0] == ("logistic, forest", "0.900")
    assert len(rows) == 8 < 10
    assert [float(value) for _, value in rows] == sorted(
        (float(v) for _, v in rows), reverse=True
    )


def test_the_page_counts_the_case_of_an_alarm_from_1():
    assert "at case 413" in html(audit())  # at the 412th position, from 0
    assert "at case 412" not in html(audit(findings=()))


@pytest.mark.usefixtures("empty_figures")
def test_where_no_alarm_could_be_raised_none_is_ruled_out():
    quiet = replace(audit(), drift=replace(audit().drift, alarms=()))
    assert "No alarm: no agent" in html(quiet)
    blind = replace(quiet, withheld=(("drift alarms", "river is not installed"),))
    assert "No alarm: no agent" not in html(blind)


@pytest.mark.usefixtures("empty_figures")
def test_the_earlier_audit_is_named_above_the_list_of_changes():
    changes = Changes("march.csv", "2026-03-31", "no", None, (), (("biased", "ada"),))
    page = html(audit(changes=changes))
    assert "<p>Since the audit of 2026-03-31 (march.csv):</p>" in page
    assert "<li>Since" not in page


def test_always_deciding_is_called_by_the_labels():
    page = html(audit(labels=Labels(("legit", "fraud"))))
    assert '"always fraud" and "always legit"' in page
    assert "always 1" not in page


@pytest.mark.usefixtures("empty_figures")
def test_the_share_of_positives_on_the_page_is_that_of_the_weights():
    assert "(1.2 % by weight)" in html(audit(weighted_share=0.012))
