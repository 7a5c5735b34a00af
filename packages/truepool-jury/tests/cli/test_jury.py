"""`truepool jury`, as its user sees it."""

import csv
import json
import re
import shlex
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from simulated_juries import RECIPES, simulate

import truepool as tp

DOCS = Path(__file__).parents[4] / "docs" / "jury.md"
JUDGES = ("ann", "bob", "cy", "dee", "eve")
LABELLED = ("--outcome", "passed", "--positive", "yes")
LONG = ("--set", "long=item,judge,verdict")
WEIGHT = ("--set", "weight=label_weight")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """300 items, 5 judges, every third item labelled by a person."""
    path = tmp_path_factory.mktemp("jury") / "verdicts.csv"
    reports, truth = simulate(np.random.default_rng(4), items=300, **RECIPES["J5g"])
    labels = [("no", "yes")[y] if t % 3 == 0 else "" for t, y in enumerate(truth)]
    write(path, reports, labels)
    return path


@pytest.fixture
def jury(truepool):
    """Run the verb; what it found, as JSON, and what it said on standard error."""

    def run(*words):
        code, out, err = truepool("jury", *words, "--json", "-")
        assert code == 0, err
        return json.loads(out), err

    return run


@pytest.fixture
def refused(truepool):
    """Run the verb, which must refuse; a sentence for each thing that is wrong."""

    def run(*words):
        code, out, err = truepool("jury", *words)
        assert (code, out) == (2, ""), err
        assert all(line.startswith("error: ") for line in err.splitlines())
        return err.splitlines()

    return run


def write(path, reports, labels):
    names = JUDGES[: reports.shape[1]]
    lines = [["id", *names, "passed"]]
    lines += [[f"item{t}", *row, label]
              for t, (row, label) in enumerate(zip(reports.tolist(), labels, strict=True))]  # fmt: skip
    save(path, lines)


def save(path, lines):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(lines)


def load(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def as_long(table, path, name="item"):
    """Write the table with one row per verdict, as CSV or JSON lines."""
    rows = [{name: row["id"], "judge": judge, "verdict": float(row[judge]),
             "passed": row["passed"] or None} for row in load(table) for judge in JUDGES]  # fmt: skip
    if path.suffix == ".csv":
        save(path, [[*rows[0]], *(row.values() for row in rows)])
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


# What is found


def test_the_page_in_the_docs_shows_what_is_printed(table, truepool):
    code, out, _ = truepool("jury", table, *LABELLED, "--set", "repeated=bob=cy")
    assert code == 0
    (shown,) = re.findall(r"```text\n(\d.*?)```", DOCS.read_text(), re.S)
    assert " ".join(shown.split()) in " ".join(out.split())


def test_every_command_in_the_docs_runs(table, truepool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows, rng = load(table), np.random.default_rng(1)
    Path("verdicts.csv").write_text(table.read_text())
    words = [[row["id"], judge, ("fail", "pass")[float(row[judge]) > 0.5],
              {"yes": "pass", "no": "fail"}.get(row["passed"])]
             for row in rows for judge in JUDGES]  # fmt: skip
    names = ("item", "judge", "verdict", "passed")
    lines = [json.dumps(dict(zip(names, each, strict=True))) for each in words]
    Path("verdicts.jsonl").write_text("\n".join(lines))
    columns = ("gpt", "gpt swapped", "llama", "llama again")
    save(Path("pairs.csv"), [columns, *rng.random((20, 4)).round(2).tolist()])
    grades = [{"score": float(s), "assertion": {"metric": m}}
              for m, s in zip("ab", rng.random(2), strict=True)]  # fmt: skip
    log = [{"testIdx": t, "promptIdx": 0, "gradingResult": {"componentResults": grades}}
           for t in range(20)]  # fmt: skip
    Path("results.jsonl").write_text("\n".join(map(json.dumps, log)))
    cases = [{"name": f"c{t}", "metricsData": [{"name": m, "score": 0.5} for m in "ab"]}
             for t in range(4)]  # fmt: skip
    Path("run.json").write_text(json.dumps({"testCases": cases}))
    Path("labels.csv").write_text("id,passed\nc1,yes\nc3,no\n")
    commands = re.findall(r"^truepool (jury .*)$", DOCS.read_text(), re.M)
    assert len(commands) >= 7
    for command in commands:
        code, _, err = truepool(*shlex.split(command))
        assert code == 0, (command, err)


def test_tables_and_sentences_fit_a_narrow_screen(table, truepool, monkeypatch):
    monkeypatch.setattr("truepool.cli.screen.WIDTH", 80)
    code, out, _ = truepool("jury", table, *LABELLED)
    assert code == 0
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 80


@pytest.mark.parametrize(
    "words", [[], ["--label-next", "20"], ["--budget", "40"], ["--max-error", "1%"]]
)
def test_terminal_markdown_page_and_json_say_the_same_about_what_to_do(
    table, truepool, tmp_path, monkeypatch, words
):
    monkeypatch.chdir(tmp_path)
    files = ["--markdown", "j.md", "--html", "j.html", "--json", "j.json"]
    code, out, err = truepool("jury", table, *LABELLED, *words, *files)
    assert code == 0, err
    steps = json.loads(Path("j.json").read_text())["steps"]
    page = unescape(re.sub(r"<[^>]+>", "", Path("j.html").read_text()))
    places = [page.index(step.replace("`", "")) for step in steps]
    assert places == sorted(places)
    block = out.partition("What to do:\n")[2].partition("\n\n")[0]
    said = re.split(r"(?:^|\n) ?\d+\. ", block)[1:]
    assert [" ".join(step.split()) for step in said] == steps
    text = Path("j.md").read_text().partition("**What to do:**\n\n")[2]
    lines = [f"{place}. {step}" for place, step in enumerate(steps, start=1)]
    assert text.startswith("\n".join(lines) + "\n\n")


def test_json_markdown_and_page_are_those_of_python(table, jury, tmp_path):
    text, page, again = (tmp_path / name for name in ("j.md", "j.html", "again.html"))
    words = ("--max-error", "20%", "--pool", "crowd", "--set", "level=0.9")
    found, _ = jury(table, *LABELLED, *words, "--markdown", text, "--html", page)
    panel = tp.read_panel(table, "passed", positive="yes")
    expected = tp.jury(panel, max_error=0.2, pool="crowd", level=0.9)
    expected.to_html(again)
    assert found == json.loads(json.dumps(expected.to_dict()))
    assert text.read_text() == expected.to_markdown()
    assert page.read_text() == again.read_text()


def test_every_item_has_its_row(table, truepool, tmp_path):
    path = tmp_path / "items.csv"
    words = ("--budget", 40, "--label-next", 20, "--set", "cost-fn=10")
    code, out, _ = truepool("jury", table, *LABELLED, *words, "-o", path)
    assert code == 0
    assert out.endswith(f"Wrote {path}.\n")
    rows = load(path)
    assert [row["id"] for row in rows] == [f"item{t}" for t in range(300)]
    by = [row["decided_by"] for row in rows]
    assert {name: by.count(name) for name in set(by)} == {
        "label": 100, "person": 40, "automatic": 160,
    }  # fmt: skip
    assert by[::3] == ["label"] * 100
    weights = [float(row["label_weight"]) for row in rows if row["label_weight"]]
    assert len(weights) == 20
    assert sum(weights) == pytest.approx(200)
    assert truepool("jury", table, *LABELLED, *words, "-o", "-")[1] == path.read_text()


def test_ids_that_a_spreadsheet_would_run_are_made_safe_if_asked(truepool, tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("id,a,b\n=1+1,0.2,0.4\nq,0.3,0.1\n")
    for words, first in (((), "=1+1"), (("--set", "spreadsheet-safe=true"), "'=1+1")):
        assert truepool("jury", path, *words, "-o", tmp_path / "i.csv")[0] == 0
        assert load(tmp_path / "i.csv")[0]["id"] == first


def test_costs_have_the_unit_that_is_named(table, jury):
    words = ("--set", "cost-fn=10", "--set", "currency=EUR")
    (one, _), (ten, _) = jury(table, *LABELLED), jury(table, *LABELLED, *words)
    assert ten["cost"]["value"]["value"] > one["cost"]["value"]["value"]


def test_without_labels_it_says_what_it_can(truepool, jury, tmp_path):
    path = tmp_path / "bare.csv"
    reports, _ = simulate(np.random.default_rng(4), items=50)
    write(path, reports, [""] * 50)
    found, err = jury(path, "--ignore", "passed")
    assert (found["items"], found["labelled"]) == (50, 0)
    assert (found["rate"], found["cost"]) == (None, None)
    assert [each["needed"] for each in found["withheld"]] == [10, 20, 20]
    assert "--outcome" in err
    assert jury(path, "--outcome", "passed")[0] == found


def test_a_judge_that_may_be_the_labels_is_named(jury, tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("id,a,b,human\nq1,0.5,0.4,1\nq2,0.2,0.3,\nq3,0.1,0.3,0\n")
    assert "(perhaps human)" in jury(path)[1]
    found, err = jury(path, "--outcome", "human")
    assert (found["labelled"], "perhaps" in err) == (2, False)


def test_the_example_is_of_items(jury):
    found, err = jury("--set", "seed=1")
    assert found["labelled"] == found["items"] == 569
    assert "items of the bundled example" in err


def test_items_without_any_verdict_are_counted(jury, tmp_path):
    path, page = tmp_path / "verdicts.csv", tmp_path / "page.html"
    path.write_text("id,a,b\n1,0.5,0.4\n2,,\n3,0.2,0.3\n4,,\n")
    found, err = jury(path, "--html", page)
    assert (found["items"], found["empty_items"]) == (2, 2)
    assert "2 items have no verdict" in err
    assert "items without a verdict" in page.read_text()


# How tables are read


def test_the_first_note_says_how_the_table_was_read(table, jury):
    _, err = jury(table, *LABELLED)
    assert err == (
        "read verdicts.csv: 300 items, judges ann, bob, cy, dee, eve, outcome passed "
        "(positive: yes), id id.\n"
    )


@pytest.mark.parametrize("name", ["long.csv", "long.jsonl"])
def test_a_long_table_says_the_same_as_a_wide_one(table, jury, tmp_path, name):
    path = as_long(table, tmp_path / name)
    wide, _ = jury(table, *LABELLED)
    assert jury(path, *LABELLED)[0] == wide
    assert jury(path, *LABELLED, *LONG)[0] == wide


def test_all_that_a_table_does_not_say_is_asked_at_once_and_a_file_answers(
    jury, refused, tmp_path
):
    path = tmp_path / "scores.csv"
    rows = np.random.default_rng(0).integers(1, 6, (40, 3))
    labels = [("bad", "good")[int(row.sum() > 8)] if t % 2 else ""
              for t, row in enumerate(rows)]  # fmt: skip
    write(path, rows, labels)
    asked = refused(path)
    assert [line.partition(" ")[0] for line in asked] == ["error:"] * 2
    assert "--set scores=1-5" in asked[0]
    assert "--positive good" in asked[1]
    keys = tmp_path / "pool.toml"
    keys.write_text('positive = "good"\nscores = "1-5"\n[jury]\nlevel = 0.9\n')
    found, err = jury(path)
    assert (found["labelled"], found["level"]) == (20, 0.9)
    assert f"keys from {keys}" in err
    assert jury(path, "--set", "level=0.8")[0]["level"] == 0.8


@pytest.mark.parametrize(("good", "bad"), [("yes", "no"), ("ja", "nein")])
def test_verdicts_in_words_count_as_one_and_zero(jury, tmp_path, good, bad):
    rng = np.random.default_rng(2)
    votes = rng.random((60, 3)) < 0.5
    truth = [
        (bad, good)[int(row.sum() > 1)] if t % 2 else "" for t, row in enumerate(votes)
    ]
    write(tmp_path / "numbers.csv", votes.astype(int), truth)
    write(tmp_path / "words.csv", np.where(votes, good.title(), bad), truth)
    words = ("--outcome", "passed", "--positive", good)
    numbers, _ = jury(tmp_path / "numbers.csv", *words)
    assert jury(tmp_path / "words.csv", *words)[0] == numbers
    bare = [(f"q{t}", j, (bad, good)[int(row["ab".index(j)])])
            for t, row in enumerate(votes) for j in "ab"]  # fmt: skip
    save(tmp_path / "long.csv", [("item", "judge", "verdict"), *bare])
    found, _ = jury(tmp_path / "long.csv", "--positive", good)
    assert (found["items"], found["labelled"]) == (60, 0)


def test_the_log_of_a_tool_is_a_table(jury, refused, tmp_path):
    log, labels = tmp_path / "run.json", tmp_path / "labels.csv"
    metrics = [{"name": name, "score": 0.7} for name in ("Tone", "Facts")]
    cases = [{"name": f"case{t}", "metricsData": metrics} for t in range(4)]
    log.write_text(json.dumps({"testCases": cases}))
    labels.write_text("id,passed\ncase1,yes\ncase3,no\n")
    found, _ = jury(log, "--tool", "deepeval", "--labels", labels, *LABELLED)
    assert (found["items"], found["labelled"]) == (4, 2)
    assert [judge["name"] for judge in found["judges"]] == ["Facts", "Tone"]
    (said,) = refused(log)
    assert "--tool deepeval" in said


# One judge in several columns


def test_a_judge_that_answered_twice_in_a_long_table_is_one(jury, tmp_path):
    path, rng = tmp_path / "long.csv", np.random.default_rng(0)
    lines = [(item, judge, f"{rng.random():.2f}") for item in range(20)
             for judge in ("gpt", "gpt", "llama", "phi")]  # fmt: skip
    save(path, [("item", "judge", "verdict"), *lines])
    found, _ = jury(path)
    assert [judge["name"] for judge in found["judges"]] == ["gpt", "llama", "phi"]
    (twice,) = found["repetitions"]
    assert (twice["runs"], twice["items"]) == (["gpt", "gpt (run 2)"], 20)


def test_both_orders_that_agent_llm_wrote_are_one_judge(jury, tmp_path):
    path, rng = tmp_path / "pairs.csv", np.random.default_rng(0)
    names = ("pairwise (m)", "pairwise swapped (m)", "judge (m)")
    save(path, [names, *rng.random((20, 3)).round(2).tolist()])
    found, err = jury(path)
    assert len(found["judges"]) == 2
    assert found["order_bias"][0]["items"] == 20
    named = jury(path, "--set", "swapped=pairwise (m)=pairwise swapped (m)")
    assert named[0] == found
    assert len(named[1].splitlines()) == len(err.splitlines()) - 1


def test_several_pairs_may_be_named(table, jury):
    pairs = ("--set", "repeated=ann=bob", "--set", "repeated=cy=dee=eve")
    found, _ = jury(table, *LABELLED, *pairs)
    assert [each["runs"] for each in found["repetitions"]] == [
        ["ann", "bob"], ["cy", "dee", "eve"],
    ]  # fmt: skip


# Labels that come back


def label(items, name="item"):
    """Add the labels that were asked for to the file of items, as a person would."""
    rows = load(items)
    lines = [[*row.values(), "yes" if row["label_weight"] else ""] for row in rows]
    save(items, [[name, *list(rows[0])[1:], "passed"], *lines])


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("name", ["item", "id"])
def test_the_round_trip_of_labels_keeps_the_name_of_the_ids(
    table, truepool, jury, refused, tmp_path, long, name
):
    items, path = tmp_path / "items.csv", tmp_path / "named.csv"
    if long:
        as_long(table, path)
    else:
        path.write_text(table.read_text().replace("id,", "item,", 1))
    before, _ = jury(path, *LABELLED)
    code, _, err = truepool("jury", path, *LABELLED, "--label-next", 20, "-o", items)
    assert code == 0
    assert f"--labels {items} --set weight=label_weight" in err
    assert next(iter(load(items)[0])) == "item"
    label(items, name)
    back = (path, *LABELLED, "--labels", items)
    assert "--set weight=label_weight" in refused(*back)[0]  # they are no random sample
    found, _ = jury(*back, *WEIGHT)
    assert (found["labelled"], found["chosen_labels"]) == (120, 20)
    assert found["certificate"]["labels"] == before["certificate"]["labels"]
    assert found["rate"]["estimate"] > before["rate"]["estimate"]


# Broken judges


@pytest.mark.parametrize("long", [False, True])
def test_a_judge_that_only_repeats_itself_is_named(jury, tmp_path, long):
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.4
    verdicts = np.clip(rng.normal(np.where(y, 0.7, 0.3)[:, None], 0.2, (300, 3)), 0, 1)
    verdicts[200:, 2] = 0.5
    labels = [("no", "yes")[int(one)] if i % 3 else "" for i, one in enumerate(y)]
    path = tmp_path / "v.csv"
    write(path, verdicts, labels)
    if long:
        lines = [(row["id"], judge, row[judge], row["passed"])
                 for row in load(path) for judge in JUDGES[:3]]  # fmt: skip
        save(path, [("item", "judge", "verdict", "passed"), *lines])
    warning = jury(path, *LABELLED)[1].splitlines()[-1]
    assert warning.startswith("warning: ")
    assert "case 201 of 300 (id item200)" in warning
    assert "--ignore cy" in warning
    assert "warning" not in jury(path, *LABELLED, "--ignore", "cy")[1]


# Refusals


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "swapped=ann"), "'ann'"),
        (("--set", "swapped=a=b=c"), "swapped must name two columns"),
        (("--set", "repeated=ann=ann"), "repeated must name two columns"),
        (("--set", "swapped=ann=bop"), "'bop' (did you mean 'bob'?)"),
        (("--max-error", "2"), "--max-error must be a share"),
        (("--set", "confidence=100%"), "got 1.0"),
        (("--set", "cost-fn=amount"), "cost-fn names the column 'amount'"),
        (("--set", "cost-fp=amount"), "cost-fp names the column 'amount'"),
        (("--label-next", "500"), "got 500. Choose fewer."),
        (("--label-next", "1"), "got 1. Choose more."),
        (("--budget", "0"), "got 0"),
        (("--set", "scores=five"), "'five'"),
        (("--set", "scores=1-5", "--set", "percent=true"), "percent"),
        (("--set", "group=ann"), "--set group=ann"),
        (("--set", "propensity=ann"), "--set propensity=ann"),
        (("--set", "weight=ann"), "label weights must be numbers above 0"),
        (("--set", "weight=label_weight"), "no column 'label_weight'"),
        (("--pool", "mean"), "log-odds or crowd; got 'mean'"),
        (("--tool", "promptfo"), "did you mean 'promptfoo'"),
        (("--labels", "nowhere.csv"), "there is no file nowhere.csv"),
        (("--json", "-", "-o", "-"), "standard output"),
        (("-o", "items.txt"), "items.txt"),
        (("--repeated", "ann=bob"), "--set repeated="),
        (("--ignore", "bob", "--ignore", "[cdeb]*"), "at least two judges"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_nothing_is_written(
    words, said, table, refused, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (error,) = refused(table, *LABELLED, *words, "--markdown", "page.md")
    assert said in error
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"item": "a"}\n\n{"item": "b", "jud', "in line 3"),
        ('{"item": "a"}\n[1, 2]\n', "in line 2"),
        ('{"item": "a", "judge": "g", "verdict": 1}\n{"item": "b", "judge": "g", '
         '"verdict": 0}\n{"item": "a", "judge": "h", "verdict": "n/a?"}',
         "'n/a?' in line 3"),
    ],
)  # fmt: skip
def test_a_faulty_line_is_named(text, where, refused, tmp_path):
    path = tmp_path / "verdicts.jsonl"
    path.write_text(text)
    (error,) = refused(path, *LONG)
    assert where in error


def test_refusals_and_notes_are_in_the_words_of_a_jury(jury, refused, tmp_path):
    path = tmp_path / "t.csv"
    write(path, np.full((5, 2), 0.5), ["1", "", "", "", ""])
    (error,) = refused(path, "--outcome", "passed")
    assert "at least 2 items" in error
    rows = [(i % 38, i % 2, f"0.{i % 9 + 1}", f"0.{i % 7 + 1}") for i in range(40)]
    save(path, [("id", "case", "report", "gpt"), *rows])
    _, err = jury(path)
    said = " ".join(err.splitlines()[1:]).replace("(perhaps case)", "")
    assert "item" in said
    assert not re.search(r"\b(agent|case|report)s?\b", said)


def test_no_id_column_takes_the_place_of_a_result(table, refused, tmp_path):
    path = tmp_path / "decided.csv"
    path.write_text(table.read_text().replace("id,", "decision,", 1))
    words = (path, "--id", "decision", *LABELLED, "-o", tmp_path / "items.csv")
    assert "column 'decision' of its own" in refused(*words)[0]
