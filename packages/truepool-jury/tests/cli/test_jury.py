"""`truepool jury`, as its user sees it."""

import csv
import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from simulated_juries import RECIPES, simulate

import truepool as tp
from truepool.tables import read_column_names
from truepool_jury.juries.verdict_table import in_words_of_a_jury

JUDGES = ("ann", "bob", "cy", "dee", "eve")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """300 items, 5 judges, every third item labelled by a person."""
    path = tmp_path_factory.mktemp("jury") / "verdicts.csv"
    reports, truth = simulate(np.random.default_rng(4), items=300, **RECIPES["J5g"])
    write(
        path,
        reports,
        [("no", "yes")[y] if t % 3 == 0 else "" for t, y in enumerate(truth)],
    )
    return path


def write(path, reports, labels):
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", *JUDGES[: reports.shape[1]], "passed"])
        for t, (row, label) in enumerate(zip(reports.tolist(), labels, strict=True)):
            rows.writerow([f"item{t}", *row, label])


LABELLED = ("--outcome", "passed", "--positive", "yes")


def test_a_judge_that_is_called_an_agent_keeps_its_name():
    said = "column 'my agent' is no agent. Leave the agent out (--ignore 'my agent')."
    assert in_words_of_a_jury(said) == (
        "column 'my agent' is no judge. Leave the judge out (--ignore 'my agent')."
    )
    assert in_words_of_a_jury("the agent's report") == "the agent's verdict"


SHOWN = """\
50.0 % of items may be decided without a person: at most 10 % errors, with 90 % 
confidence.
What to do:
 1. To decide more items without a person, label about 190 in all, drawn at
    random.
 2. Send 103 items to a person.
 3. Keep bob, dee: without them the mean verdict is significantly worse.

4 judges, 300 items, 100 labels
- Outcome label: yes = positive (57 items), no = negative (43).
- True rate of yes: 55.9 % [48.5, 63.0].
- If no person looks at any of the 300 items, the errors of the jury's decisions
add up to the cost of 83 false alarms per 1,000 items (95 % interval 29 to 207).
A missed item costs 1, a false alarm 1.
- Errors of these decisions, as shares of all items: 4.1 % [1.4, 10.4] are 
missed, 4.2 % [1.5, 10.4] are false alarms.
- The same errors by class: of the positive items, 7.4 % [0.0, 17.6] are missed;
of the negative items, 9.7 % [0.6, 22.2] are false alarms.
- 50.0 % of items may be decided without a person: at most 10 % errors, with 90 
% confidence. The bound is on the errors among these items only: the surest 
ones, decided by the judges' mean log-odds.
- About 190 labels in all, drawn at random, would allow more, if errors stay as 
frequent: of 58 labelled items in these and the next 5 %, the jury decides 3 
wrongly.
- 103 items for a person, 97 decided without one.
- bob / cy: asked twice, 20.0 % of 300 verdicts change sides, and the mean 
difference is 0.256. That is reliability, not skill.
- The 4 judges are worth 2.5 independent ones, by their errors on labelled 
items.

What more labels would allow
labels drawn at random  decided without a person 
─────────────────────────────────────────────────
100 (now)                                 50.0 % 
200                                       55.0 % 

If the jury keeps erring as often in every share of the items.

What each judge adds
judge  answered        credit x 1000     advice 
────────────────────────────────────────────────
ann     100.0 %   -4.0 [-13.1, +5.4]  undecided 
bob     100.0 %  +13.0 [+5.5, +24.2]       keep 
dee     100.0 %  +17.5 [+5.6, +30.6]       keep 
eve     100.0 %   -8.2 [-16.7, +2.4]  undecided 

Credit: how much the Brier loss of the mean verdict rises without the judge. 
Keep or drop where the 95 % interval excludes 0.

How good each judge is alone, on labelled items
judge  labels  accuracy   Brier                      bias               slope 
──────────────────────────────────────────────────────────────────────────────
ann       100    77.0 %   0.160     +0.098 [+.021, +.175]  0.614 [.387, .840] 
bob       100    90.0 %  0.0753  -0.0254 [-.0799, +.0291]    1.57 [.94, 2.21] 
dee       100    88.0 %   0.102     -0.039 [-.102, +.024]  0.644 [.449, .840] 
eve       100    78.5 %   0.172     +0.020 [-.063, +.103]  0.541 [.345, .737] 

Bias: mean verdict minus the share of positive labels; above 0 is too generous. 
Slope of calibration: 1 is calibrated, below 1 over-confident, above 1 
under-confident; verdicts of 0 and 1 count as 2.0 % and 98.0 %.

"""


def test_the_analysis_at_eighty_columns(table, truepool, monkeypatch):
    monkeypatch.setattr("truepool.cli.screen.WIDTH", 80)
    code, out, err = truepool("jury", table, *LABELLED, "--repeated", "bob=cy")
    assert (code, err) == (0, "Judges: ann, bob, cy, dee, eve.\n")
    assert out == SHOWN


@pytest.mark.parametrize(
    "words", [[], ["--label-next", "20"], ["--budget", "40"], ["--max-error", "1%"]]
)
def test_terminal_markdown_and_page_say_the_same_about_what_to_do(
    table, truepool, tmp_path, monkeypatch, words
):
    monkeypatch.chdir(tmp_path)
    pages = ["--markdown", "j.md", "--html", "j.html"]
    code, out, err = truepool("jury", table, *LABELLED, *words, *pages)
    assert code == 0, err
    listed = re.search(
        r"<ol class=.advice.>(.*?)</ol>", Path("j.html").read_text(), re.S
    )
    steps = [unescape(step) for step in re.findall("<li>(.*?)</li>", listed[1])]
    block = out.partition("What to do:\n")[2].partition("\n\n")[0]
    said = re.split(r"(?:^|\n) ?\d+\. ", block)[1:]
    assert [" ".join(step.split()) for step in said] == steps
    text = Path("j.md").read_text().partition("**What to do:**\n\n")[2]
    lines = [f"{place}. {step}" for place, step in enumerate(steps, start=1)]
    assert text.startswith("\n".join(lines) + "\n\n")


def test_every_item_has_its_row(table, truepool, tmp_path):
    path = tmp_path / "items.csv"
    words = ("--budget", 40, "--label-next", 20, "--cost-fn", 10, "--currency", "EUR")
    code, out, _ = truepool("jury", table, *LABELLED, *words, "-o", path)
    assert code == 0
    text = " ".join(out.split())
    assert "A missed item costs 10 EUR, a false alarm 1 EUR." in text
    assert out.endswith(f"Wrote {path}.\n")
    rows = list(csv.DictReader(path.read_text().splitlines()))
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


def test_json_and_markdown_say_what_python_says(table, truepool, tmp_path):
    page = tmp_path / "jury.md"
    code, out, _ = truepool(
        "jury", table, *LABELLED, "--max-error", "20%", "--json", "--markdown", page
    )
    assert code == 0
    panel = tp.read_panel(table, "passed", positive="yes")
    found = tp.jury(panel, max_error=0.2)
    assert json.loads(out) == found.to_dict()
    assert page.read_text() == found.to_markdown()


def test_the_page_is_written_like_the_other_files(table, truepool, tmp_path):
    page = tmp_path / "jury.html"
    words = ("--html", page, "--max-error", "20%", "--pool", "crowd")
    code, out, _ = truepool("jury", table, *LABELLED, *words)
    assert code == 0
    assert f"Wrote {page}." in out
    panel = tp.read_panel(table, "passed", positive="yes")
    again = tmp_path / "again.html"
    tp.jury(panel, max_error=0.2, pool="crowd").to_html(again)
    assert page.read_text() == again.read_text()


def test_the_log_of_a_tool_is_a_table(truepool, tmp_path):
    log, labels = tmp_path / "run.json", tmp_path / "labels.csv"
    metrics = [{"name": name, "score": 0.7} for name in ("Tone", "Facts")]
    cases = [{"name": f"case{t}", "metricsData": metrics} for t in range(4)]
    log.write_text(json.dumps({"testCases": cases}))
    labels.write_text("id,passed\ncase1,yes\ncase3,no\n")
    words = ("--tool", "deepeval", "--labels", labels, *LABELLED)
    code, out, err = truepool("jury", log, *words)
    assert (code, err) == (0, "Judges: Facts, Tone.\n")
    assert "\n2 judges, 4 items, 2 labels\n" in out


def test_labels_that_were_asked_for_are_given_back(table, truepool, tmp_path):
    items, labels = tmp_path / "items.csv", tmp_path / "labels.csv"
    truepool("jury", table, *LABELLED, "--label-next", 20, "-o", items)
    rows = list(csv.DictReader(items.read_text().splitlines()))
    chosen = [row for row in rows if row["label_weight"]]
    lines = [f"{row['id']},{row['label_weight']},yes" for row in chosen]
    labels.write_text("\n".join(["id,label_weight,passed", *lines]) + "\n")
    code, out, err = truepool("jury", table, *LABELLED, "--labels", labels)
    assert (code, out) == (2, "")  # they are no random sample
    assert "Pass --weight label_weight" in err
    words = ("--labels", labels, "--weight", "label_weight", "--json")
    code, out, _ = truepool("jury", table, *LABELLED, *words)
    found = json.loads(out)
    assert (code, found["labelled"]) == (0, 120)
    before = json.loads(truepool("jury", table, *LABELLED, "--json")[1])
    assert found["certificate"]["labels"] == before["certificate"]["labels"]
    assert found["rate"]["estimate"] > before["rate"]["estimate"]


def with_names(table, folder, *, long):
    """The table with ids in the column 'item', wide or with one row per verdict."""
    rows = list(csv.DictReader(table.read_text().splitlines()))
    path = folder / "named.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        if not long:
            out.writerow(["item", *JUDGES, "passed"])
            out.writerows(row.values() for row in rows)
            return path, ("--id", "item")
        out.writerow(["item", "judge", "verdict", "passed"])
        for row in rows:
            verdicts = [[row["id"], judge, row[judge]] for judge in JUDGES]
            out.writerows([*verdict, row["passed"]] for verdict in verdicts)
    return path, ("--long", "item", "judge", "verdict")


def label(items, name="item"):
    """Add the labels that were asked for to the file of items, as a person would."""
    rows = list(csv.DictReader(items.read_text().splitlines()))
    with items.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([name, *list(rows[0])[1:], "passed"])
        for row in rows:
            out.writerow([*row.values(), "yes" if row["label_weight"] else ""])


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("name", ["item", "id"])
def test_the_round_trip_of_labels_keeps_the_name_of_the_ids(
    table, truepool, tmp_path, long, name
):
    path, named = with_names(table, tmp_path, long=long)
    items = tmp_path / "items.csv"
    words = (path, *named, *LABELLED)
    assert truepool("jury", *words, "--label-next", 20, "-o", items)[0] == 0
    assert read_column_names(items)[0] == "item"
    label(items, name)
    again = ("--labels", items, "--weight", "label_weight", "--json")
    code, out, err = truepool("jury", *words, *again)
    assert code == 0, err
    assert json.loads(out)["labelled"] == 120
    assert json.loads(out)["chosen_labels"] == 20


def test_labels_without_the_ids_or_the_outcome_are_refused_with_the_cure(
    table, truepool, tmp_path
):
    path, named = with_names(table, tmp_path, long=False)
    labels = tmp_path / "labels.csv"
    words = (path, *named, *LABELLED, "--labels", labels)
    labels.write_text("sample,passed\nitem1,yes\n")
    assert (
        "Call the column that has them 'item' or 'id'." in truepool("jury", *words)[2]
    )
    labels.write_text("item,human\nitem1,yes\n")
    assert "or name another one (--outcome)." in truepool("jury", *words)[2]
    unnamed = (path, "--ignore", "item", *LABELLED, "--labels", labels)
    assert "Name the column that has them (--id)." in truepool("jury", *unnamed)[2]


def test_no_id_column_takes_the_place_of_a_result(table, truepool, tmp_path):
    path = tmp_path / "decided.csv"
    path.write_text(table.read_text().replace("id,", "decision,", 1))
    words = (path, "--id", "decision", *LABELLED, "-o", tmp_path / "items.csv")
    code, _, err = truepool("jury", *words)
    assert (code, "column 'decision' of its own" in err) == (2, True)


def test_a_judge_that_answered_twice_in_a_long_table_is_reliable_or_not(
    truepool, tmp_path
):
    path, rng = tmp_path / "long.csv", np.random.default_rng(0)
    lines = ["item,judge,verdict"]
    for item in range(20):
        lines += [f"{item},gpt,{rng.random():.2f}" for _ in range(2)]
        lines += [f"{item},{judge},{rng.random():.2f}" for judge in ("llama", "phi")]
    path.write_text("\n".join(lines) + "\n")
    code, out, _ = truepool("jury", path, "--long", "item", "judge", "verdict")
    assert code == 0
    assert "gpt / gpt (run 2): asked twice" in out
    assert "\n3 judges, 20 items, 0 labels\n" in out


def test_without_labels_it_says_what_it_can(table, truepool, tmp_path):
    path = tmp_path / "bare.csv"
    reports, _ = simulate(np.random.default_rng(4), items=50)
    write(path, reports, [""] * 50)
    code, out, err = truepool("jury", path, "--ignore", "passed")
    assert code == 0
    assert "No item has a label in column 'y'." in err
    assert "True rate" not in out
    assert "Too few labels for the true rate and the cost: 20 are needed" in out
    assert truepool("jury", path, "--outcome", "passed")[1] == out
    assert truepool("jury")[0] == 0  # the bundled example


def test_a_single_label_is_refused_with_the_cure(truepool, tmp_path):
    path = tmp_path / "one.csv"
    write(path, np.full((5, 2), 0.5), ["1", "", "", "", ""])
    code, _, err = truepool("jury", path, "--outcome", "passed")
    assert (code, err) == (
        2,
        "error: at least 2 items must have an outcome, or none; column 'passed' has 1. "
        "Label another one.\n",
    )


def test_scores_without_labels_count_in_equal_steps(truepool, tmp_path):
    path, fractions = tmp_path / "scores.csv", tmp_path / "fractions.csv"
    scores = np.random.default_rng(0).integers(1, 6, (40, 3))
    labels = [str(int(row.sum() > 8)) for row in scores]
    unlabelled = [""] * 40
    write(path, scores, unlabelled)
    write(fractions, (scores - 1) / 4, unlabelled)
    words = ("--outcome", "passed", "--json")
    code, out, _ = truepool("jury", path, *words, "--scores", "1-5")
    assert code == 0
    assert out == truepool("jury", fractions, *words)[1]
    write(path, scores, labels)
    read = json.loads(truepool("jury", path, *words, "--scores", "1-5")[1])
    assert [step["score"] for step in read["score_scale"]] == [1, 2, 3, 4, 5]
    code, _, err = truepool("jury", path, *words)
    assert (
        code,
        "If these are scores, pass their lowest and highest (--scores 1-5)" in err,
    ) == (2, True)


def test_judges_may_have_ranges_of_their_own(truepool, tmp_path):
    mixed, fractions = tmp_path / "mixed.csv", tmp_path / "fractions.csv"
    verdicts = np.random.default_rng(0).integers(0, 5, (60, 3)) / 4
    labels = [
        str(int(row.sum() > 1.5)) if t % 2 else "" for t, row in enumerate(verdicts)
    ]
    write(fractions, verdicts, labels)
    write(mixed, np.array([0, 100, 1]) + verdicts * np.array([1, -100, 4]), labels)
    first, second = JUDGES[1:3]
    words = ("--outcome", "passed", "--json")
    ranges = ("--scores", f"{first}=100-0", "--scores", f"{second}=1-5")
    for chosen in ((), ("--ignore", first), ("--agents", f"{JUDGES[0]},{second}")):
        code, out, _ = truepool("jury", mixed, *words, *ranges, *chosen)
        assert code == 0
        assert out == truepool("jury", fractions, *words, *chosen)[1]


def test_scores_of_a_shared_range_may_fall(truepool, tmp_path):
    rising, falling = tmp_path / "rising.csv", tmp_path / "falling.csv"
    scores = np.random.default_rng(0).integers(1, 6, (40, 3))
    labels = [str(int(row.sum() > 8)) for row in scores]
    write(rising, scores, labels)
    write(falling, 6 - scores, labels)
    words = ("--outcome", "passed", "--json")
    up = json.loads(truepool("jury", rising, *words, "--scores", "1-5")[1])
    down = json.loads(truepool("jury", falling, *words, "--scores", "5-1")[1])
    assert [step["score"] for step in down["score_scale"]] == [5, 4, 3, 2, 1]
    assert [step["probability"] for step in down["score_scale"]] == pytest.approx(
        [step["probability"] for step in up["score_scale"]]
    )
    assert down["judges"] == up["judges"]


def test_the_runs_of_a_judge_have_its_range(truepool, tmp_path):
    path, fractions = tmp_path / "runs.csv", tmp_path / "fractions.csv"
    header = "item,judge,verdict,passed"
    verdicts = np.random.default_rng(0).integers(1, 6, (30, 3)).tolist()
    for file, ann in ((path, str), (fractions, lambda score: (5 - score) / 4)):
        rows = [
            f"q{t},{judge},{verdict},"
            for t, (one, other, bob) in enumerate(verdicts)
            for judge, verdict in (
                ("ann", ann(one)),
                ("ann", ann(other)),
                ("bob", bob / 5),
            )
        ]
        file.write_text("\n".join([header, *rows]) + "\n")
    words = ("--long", "item", "judge", "verdict", "--outcome", "passed", "--json")
    code, out, _ = truepool("jury", path, *words, "--scores", "ann=5-1")
    assert code == 0
    assert out == truepool("jury", fractions, *words)[1]


def test_json_lines_are_read_like_csv(table, truepool, tmp_path):
    # As evaluation tools write them: one object per verdict, the label repeated.
    path, lines = tmp_path / "verdicts.jsonl", []
    for row in csv.DictReader(table.read_text().splitlines()):
        for judge in JUDGES:
            line = {"item": row["id"], "judge": judge, "verdict": float(row[judge])}
            lines.append(json.dumps(line | {"passed": row["passed"] or None}))
    path.write_text("\n".join(lines) + "\n")
    long = ("--long", "item", "judge", "verdict")
    mine = json.loads(truepool("jury", path, *LABELLED, *long, "--json")[1])
    wide = json.loads(truepool("jury", table, *LABELLED, "--json")[1])
    assert mine == wide
    assert read_column_names(path) == ["item", "judge", "verdict", "passed"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"item": "a"}\n\n{"item": "b", "jud', "line 3 of {path} is '{{\"item\": \"b\", "
         "\"jud', which is cut off or not JSON. Correct the line or remove it."),
        ('{"item": "a"}\n[1, 2]\n', "line 2 of {path} is '[1, 2]', which is no object. "
         "Write each object on a line of its own."),
        ("\n\n", "the table must have at least one row"),
        ('{"item": "a", "judge": "g", "verdict": 1}\n{"item": "a", "judge": "h", '
         '"verdict": "n/a?"}', "a verdict must be a number in [0, 1]; column 'verdict' "
         "has 'n/a?' in line 2 of the file. If it means no verdict, pass --missing"),
        ("x" * 60, f"is '{'x' * 40}...', which is cut off"),
    ],
)  # fmt: skip
def test_a_faulty_line_is_named_with_its_cure(text, sentence, truepool, tmp_path):
    path = tmp_path / "verdicts.jsonl"
    path.write_text(text)
    code, _, err = truepool("jury", path, "--long", "item", "judge", "verdict")
    assert code == 2
    assert sentence.format(path=path) in err
    assert "parse error" not in err


def write_words(path, words, labels):
    lines = [
        json.dumps({"item": item, "judge": judge, "verdict": word, "passed": label})
        for item, (row, label) in enumerate(zip(words, labels, strict=True))
        for judge, word in zip("ab", row, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(("good", "bad"), [("yes", "no"), ("pass", "fail")])
def test_verdicts_in_words_are_votes_for_the_labels(good, bad, truepool, tmp_path):
    path, numbers = tmp_path / "words.jsonl", tmp_path / "numbers.jsonl"
    words = [(good, bad), (good.title(), f" {good} "), (bad, None), (bad, bad)]
    values = [(1, 0), (1, 1), (0, None), (0, 0)]
    labels = [good, good, bad, None]
    write_words(path, words, labels)
    write_words(numbers, values, labels)
    long = ("--long", "item", "judge", "verdict", "--outcome", "passed", "--json")
    code, out, _ = truepool("jury", path, *long, "--positive", good)
    assert code == 0
    assert out == truepool("jury", numbers, *long, "--positive", good)[1]
    turned = json.loads(truepool("jury", path, *long, "--positive", bad)[1])
    assert turned["outcome_labels"]["positive"] == bad
    # Without labels the two words are enough, and beside numbers, too.
    write_words(path, [(good, bad), (bad, "0.5")], [None, None])
    assert truepool("jury", path, *long, "--positive", good)[0] == 0


def test_verdicts_in_words_that_cannot_be_read_name_the_cure(truepool, tmp_path):
    path = tmp_path / "words.jsonl"
    long = ("--long", "item", "judge", "verdict", "--outcome", "passed")
    write_words(path, [("yes", "no"), ("no", "no")], ["yes", "no"])
    code, _, err = truepool("jury", path, *long)
    assert (code, err) == (
        2,
        "error: verdicts in words need to know which one is positive; column 'verdict' "
        "has 'yes' and 'no'. Say which one (--positive yes).\n",
    )
    write_words(path, [("yes", "no"), ("no", "perhaps")], ["yes", "no"])
    code, _, err = truepool("jury", path, *long, "--positive", "yes")
    assert (code, err) == (
        2,
        "error: a verdict in words must be 'yes' or 'no', as the labels are; column "
        "'verdict' has 'perhaps' in line 4 of the file. If it means no verdict, pass "
        "--missing perhaps; else correct it.\n",
    )
    assert (
        truepool("jury", path, *long, "--positive", "yes", "--missing", "perhaps")[0]
        == 0
    )
    write_words(path, [("good", "bad"), ("bad", "bad")], ["yes", "no"])
    for positive in ((), ("--positive", "yes")):
        code, _, err = truepool("jury", path, *long, *positive)
        assert (code, err) == (
            2,
            "error: verdicts in words must be the labels; column 'verdict' has 'good' "
            "and 'bad', column 'passed' has 'yes' and 'no'. Write the same two words "
            "in both.\n",
        )
    write_words(path, [("yes", "no"), ("no", "perhaps")], [None, None])
    for positive in ((), ("--positive", "yes")):
        code, _, err = truepool("jury", path, *long, *positive)
        assert (code, err) == (
            2,
            "error: verdicts in words must be two words, --positive one of them; "
            "column 'verdict' has 'yes', 'no' and 'perhaps'. Pass a word that means no "
            "verdict as --missing WORD.\n",
        )
    wide = tmp_path / "wide.csv"
    wide.write_text("id,a,b,prompt,passed\n1,yes,no,why,yes\n2,no,no,how,no\n")
    words = ("--outcome", "passed", "--positive", "yes")
    assert truepool("jury", wide, *words, "--ignore", "prompt")[0] == 0
    code, _, err = truepool("jury", wide, *words)
    assert err.endswith(
        "column 'prompt' has 'why' in line 2 of the file. It holds no numbers: leave "
        "it out (--ignore prompt; of a saved pool, in its fit).\n"
    )


def test_a_long_table_read_as_a_wide_one_is_recognized(truepool, tmp_path):
    path = tmp_path / "verdicts.jsonl"
    write_words(path, [(0.9, 0.1), (0.2, 0.3)], [None, None])
    code, _, err = truepool("jury", path)
    assert code == 2
    assert "look like one row per verdict. Pass --long item judge verdict." in err


def test_a_jury_of_one_is_refused_in_its_own_words(truepool, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("id,gpt,passed\na,0.5,1\nb,0.4,0\n")
    code, _, err = truepool("jury", path, "--outcome", "passed")
    assert (code, err) == (
        2, "error: a jury needs at least 2 judges; got 1, 'gpt'. Add the column of "
        "another judge; in a table --agents and --ignore say which columns are judges.\n",
    )  # fmt: skip


def test_notes_are_in_the_words_of_a_jury(truepool, tmp_path):
    path = tmp_path / "notes.csv"
    rows = "".join(
        f"{i % 38},{i % 2},0.{i % 9 + 1},0.{i % 7 + 1},\n" for i in range(40)
    )
    path.write_text("id,case,report,gpt,passed\n" + rows + "99,,,,\n")
    code, _, err = truepool("jury", path, "--outcome", "passed")
    assert code == 0, err
    first, *others = err.splitlines()
    assert first.startswith("Judges: ")
    said = " ".join(others)
    assert "1 item has no verdict at all: left out." in said
    assert "2 items repeat the id of an earlier one; each counts as an item" in said
    assert "column 'case' holds only 0 and 1 while others hold fractions" in said
    assert "If it is not a judge, leave it out (--ignore case" in said
    assert "agent " not in said


def test_the_example_is_of_items(truepool):
    code, _, err = truepool("jury", "--outcome", "y")
    assert (code, err.splitlines()[0]) == (
        0, "No table was given: these are the items of the bundled example.",
    )  # fmt: skip


def test_items_without_any_verdict_are_counted(truepool, tmp_path):
    path, page = tmp_path / "verdicts.csv", tmp_path / "page.html"
    path.write_text("id,a,b\n1,0.5,0.4\n2,,\n3,0.2,0.3\n4,,\n")
    code, out, _ = truepool("jury", path, "--html", page)
    assert code == 0
    assert "2 items have no verdict of any judge: left out." in out
    assert json.loads(truepool("jury", path, "--json")[1])["empty_items"] == 2
    assert "items without a verdict" in page.read_text()


def test_both_orders_that_agent_llm_wrote_are_one_judge(truepool, tmp_path):
    path, rng = tmp_path / "pairs.csv", np.random.default_rng(0)
    names = ("pairwise (m)", "pairwise swapped (m)", "judge (m)")
    rows = [",".join(f"{p:.2f}" for p in rng.random(3)) for _ in range(20)]
    path.write_text("\n".join([",".join(names), *rows]) + "\n")
    code, out, err = truepool("jury", path)
    assert code == 0
    assert "\n2 judges, 20 items" in out
    assert "are one judge that saw each pair in both orders" in err
    given = truepool("jury", path, "--swapped", "pairwise (m)=pairwise swapped (m)")
    assert given[1] == out
    assert "are one judge" not in given[2]


def test_a_slope_that_is_missing_has_its_reason(truepool, tmp_path):
    path = tmp_path / "few.csv"
    write(path, np.tile([[0.2, 0.7]], (25, 1)), ["0", "1"] * 12 + [""])
    out = truepool("jury", path, "--outcome", "passed")[1]
    assert "Slope -: it needs 30 labelled verdicts of the judge" in out


def test_a_long_table_has_one_row_per_verdict(table, truepool, tmp_path):
    path = tmp_path / "long.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "judge", "verdict", "passed"])
        for row in csv.DictReader(table.read_text().splitlines()):
            for judge in JUDGES:
                rows.writerow([row["id"], judge, row[judge], row["passed"]])
    long = ("--long", "item", "judge", "verdict")
    mine = json.loads(truepool("jury", path, *LABELLED, *long, "--json")[1])
    wide = json.loads(truepool("jury", table, *LABELLED, "--json")[1])
    assert mine["items"] == wide["items"]
    assert mine["rate"] == pytest.approx(wide["rate"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--swapped", "ann"), '--swapped must name two columns, as in --swapped "A=B"; '
         "got 'ann'"),
        (("--swapped", "ann=bop"), "there is no judge 'bop' (did you mean 'bob'?)"),
        (("--max-error", "2"), "--max-error must be a share above 0 and at most 100%"),
        (("--confidence", "100%"), "confidence must lie between 0 and 1; got 1.0"),
        (("--cost-fn", "amount"), "the items of a jury share their costs, so a cost must be one number"),
        (("--label-next", "500"), "label_next must be at least 2 and at most the number "
         "of items without a label, 200; got 500 (--label-next). Choose fewer."),
        (("--label-next", "1"), "got 1 (--label-next). Choose more."),
        (("--budget", "0"), "a budget must be at least 1 item; got 0"),
        (("--scores", "1-5"), "a score must lie between 1 and 5; column 'ann' has 0"),
        (("--scores", "five"), "scores must be given as the lowest and the highest"),
        (("--scores", "ann=1-5"), "a score must lie between 1 and 5; column 'ann' has 0"),
        (("--scores", "1-5", "--scores", "ann=5-1"), "those of 'ann' have 2: 1-5, ann=5-1"),
        (("--scores", "1-5", "--percent"), "either percentages or scores"),
        (("--group", "ann"), "truepool jury counts every case once"),
        (("--weight", "ann"), "label weights must be numbers above 0, one per label"),
        (("--pool", "mean"), "the pool of a jury must be log-odds or crowd; got 'mean'"),
        (("--swapped", "a=b=c"), "--swapped must name two columns"),
        (("--repeated", "ann=ann"), "--repeated must name two columns"),
        (("--tool", "promptfo"), "there is no evaluation tool 'promptfo'"),
        (("--labels", "nowhere.csv"), "there is no file 'nowhere.csv'"),
        (("--weight", "label_weight"), "--label-next writes them: pass its file, with the "
         "labels, as --labels, or name another column (--weight)"),
        (("--outcome", "label"), "there is no 'label'; columns: id, ann"),
        (("--json", "-o", "-"), "standard output takes either the items or JSON"),
        (("--cost-fp", "amount"), "--cost-fp names the column 'amount'. Pass"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(words, sentence, table, truepool, tmp_path):
    page = tmp_path / "page.md"
    code, out, err = truepool("jury", table, *LABELLED, *words, "--markdown", page)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert not page.exists()


def test_nothing_is_written_where_the_items_cannot_be(truepool, tmp_path):
    words = [
        "jury",
        "--output",
        tmp_path / "items.txt",
        "--markdown",
        tmp_path / "j.md",
    ]
    words.append(f"--json={tmp_path / 'j.json'}")
    code, out, err = truepool(*words)
    assert (code, out) == (2, "")
    assert "a table is written as .csv" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("long", [False, True])
def test_a_judge_that_only_repeats_itself_is_named(truepool, tmp_path, long):
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.4
    verdicts = np.clip(rng.normal(np.where(y, 0.7, 0.3)[:, None], 0.2, (300, 3)), 0, 1)
    verdicts[200:, 2] = 0.5
    labels = [("yes" if one else "no") if i % 3 else "" for i, one in enumerate(y)]
    judges, words = ("ann", "bob", "cyd"), ["--outcome", "passed", "--positive", "yes"]
    rows = [f"id,{','.join(judges)},passed"]
    rows += [f"q{i},{a},{b},{c},{labels[i]}" for i, (a, b, c) in enumerate(verdicts)]
    if long:
        rows, words = (
            ["id,judge,verdict,passed"],
            ["--long", "id", "judge", "verdict", *words],
        )
        rows += [
            f"q{i},{judge},{verdict},{labels[i]}"
            for i, given in enumerate(verdicts)
            for judge, verdict in zip(judges, given, strict=True)
        ]
    place = tmp_path / "v.csv"
    place.write_text("\n".join(rows))
    code, _, err = truepool("jury", place, *words)
    assert code == 0
    assert err.splitlines()[-1] == (
        "warning: The feed of cyd is dead: from case 201 of 300 (id q200) on it only "
        "reports 50 %. Get these verdicts again, or leave cyd out (--ignore cyd)."
    )
    code, _, err = truepool("jury", place, *words, "--ignore", "cyd")
    assert (code, "warning" in err) == (0, False)
