"""Which class is positive: what every way in for labels owes, and every verb.

A way in is given outcomes 0 and 1 and, beside them, the same outcomes under other names.
It refuses the names until it is told which one is positive, gives then what it gives
for 0 and 1, and means the opposite when it is told the opposite.
"""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import stand_in
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel
from pyarrow import csv, parquet
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from training_data import features

import truepool as tp
from truepool.agents.features import Features
from truepool.cli.verbs import every_command
from truepool.core.errors import OutcomeError
from truepool.panel.costs import Costs
from truepool.tables import TableFaults

PANEL = random_panel(3, cases=90, agents=3)
R, Y = PANEL.reports, PANEL.outcomes
X, _ = features(90)
X[:, 0] += 2 * Y
COSTS = Costs(fn=10, fp=1)
PAIRS = {
    "text": ("genuine", "fraud"),
    "yes and no": ("no", "yes"),
    "1 and 2": (1, 2),
    "2 and 1": (2, 1),
    "-1 and 1": (-1, 1),
    "text 0 and 1": ("0", "1"),
}
FLIPPED = {"0 and 1": (1, 0), "booleans": (True, False)}
"""Labels that need no word, with a word that says the opposite."""

pairs = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
all_pairs = pytest.mark.parametrize(
    "pair", [*PAIRS.values(), *FLIPPED.values()], ids=[*PAIRS, *FLIPPED]
)


def named(outcomes, pair):
    """The same outcomes under other names; the second of a pair is the positive one."""
    return np.array(pair)[outcomes]


def table(reports, outcomes):
    return {f"m{i}": reports[:, i] for i in range(3)} | {"y": outcomes}


def in_file(write, name):
    def read(folder, outcomes, positive, reports):
        write(pa.table(table(reports, outcomes)), folder / name)
        return tp.read_panel(folder / name, positive=positive).outcomes

    return read


def in_frame(make):
    def read(folder, outcomes, positive, reports):
        frame = make(table(reports, outcomes))
        return tp.read_panel(frame, positive=positive).outcomes

    return read


def categorical(columns):
    return pd.DataFrame(columns).astype({"y": "category"})


def in_panel(use):
    def read(folder, outcomes, positive, reports):
        return use(tp.Panel(reports, outcomes, positive=positive))

    return read


def by_pool(folder, outcomes, positive, reports):
    pool = tp.VCG(costs=Costs()).fit(reports, outcomes, positive=positive)
    return pool.predict_proba(reports)[:, 1]


def features_of(folder, outcomes, positive, reports):
    return Features(X, outcomes, positive=positive).outcomes


def features_by_column(folder, outcomes, positive, reports):
    columns = {"a": X[:, 0], "b": X[:, 1]}
    return Features.from_columns(columns, outcomes, positive=positive).outcomes


def trained(folder, outcomes, positive, reports):
    team = {"bayes": GaussianNB(), "tree": tp.agents.zoo.make("tree")}
    made = tp.agents.train(X, outcomes, team, positive=positive, cache=False)
    return made.panel(X, outcomes).reports


def saved(folder, outcomes, positive, reports):
    made = tp.agents.train(X, outcomes, ["tree"], positive=positive, cache=False)
    path = tp.agents.save(made["tree"], folder / "tree.joblib")
    return tp.agents.load(path, trust=True).predict_proba(X)[:, 1]


def exported(folder, outcomes, positive, reports):
    made = tp.agents.train(X, outcomes, ["tree"], positive=positive, cache=False)
    tp.agents.export(made["tree"], folder / "tree.onnx")
    agent = tp.agents.load(folder / "tree.onnx")
    return tp.agents.train(X, outcomes, {"tree": agent}, positive=positive).reports(X)


def classified(folder, outcomes, positive, reports):
    agents = [("bayes", GaussianNB()), ("line", LogisticRegression())]
    model = tp.PooledClassifier(agents, tp.VCG(costs=COSTS), positive=positive)
    model.fit(X, outcomes)
    assert model.classes_.tolist() == np.unique(outcomes).tolist()
    k = list(model.classes_).index(1 if positive is None else positive)
    flagged = model.predict(X) == model.classes_[k]
    assert_array_equal(flagged, model.predict_proba(X)[:, k] > COSTS.threshold)
    return model.predict_proba(X)[:, k]


WAYS = {
    "arrays": in_panel(lambda panel: panel.outcomes),
    "csv": in_file(csv.write_csv, "panel.csv"),
    "parquet": in_file(parquet.write_table, "panel.parquet"),
    "pandas": in_frame(pd.DataFrame),
    "pandas categories": in_frame(categorical),
    "polars": in_frame(pl.DataFrame),
    "pyarrow": in_frame(pa.table),
    "pool.fit": by_pool,
    "replay": in_panel(lambda panel: tp.replay("gradient", panel).pooled),
    "Features": features_of,
    "Features.from_columns": features_by_column,
    "agents.train": trained,
    "a saved agent": saved,
    "an exported agent": exported,
    "PooledClassifier": classified,
}
if "games" in dir(tp):  # truepool-lab is installed
    WAYS["a game on a panel"] = in_panel(
        lambda panel: tp.games.Game.on(panel).draw().outcomes
    )
TABLES = ("csv", "parquet", "pandas", "pandas categories", "polars", "pyarrow")
"""Ways in that read a table; in text, 0 and 1 are the numbers."""

ways = pytest.mark.parametrize("way", WAYS)


@ways
@pairs
def test_no_way_in_guesses_which_label_is_positive(way, pair, tmp_path):
    if way in TABLES and pair == PAIRS["text 0 and 1"]:
        pytest.skip("in the text of a table, 0 and 1 are numbers")
    with pytest.raises((OutcomeError, TableFaults)) as refusal:
        WAYS[way](tmp_path, named(Y, pair), None, R)
    message = str(refusal.value)
    for label in pair:
        assert f"positive={label!r}" in message
    assert "\n" not in message
    if way in TABLES:
        assert refusal.value.codes == ("which-positive",)


@ways
@all_pairs
def test_every_entry_point_gives_the_same_result_as_with_0_and_1(way, pair, tmp_path):
    negative, positive = pair
    plain = WAYS[way](tmp_path, Y, None, R)
    same = WAYS[way](tmp_path, named(Y, pair), positive, R)
    assert_allclose(same, plain, atol=1e-6)
    turned = WAYS[way](tmp_path, named(Y, pair), negative, 1 - R)
    assert_allclose(turned, 1 - plain, atol=1e-6)


@ways
def test_every_way_in_refuses_a_label_that_does_not_occur(way, tmp_path):
    with pytest.raises((OutcomeError, TableFaults), match="'fruad'") as refusal:
        WAYS[way](tmp_path, named(Y, PAIRS["text"]), "fruad", R)
    if way in TABLES:
        assert refusal.value.codes == ("no-label",)


@all_pairs
def test_a_stream_gives_the_same_result_as_with_0_and_1(pair):
    agents = ("m0", "m1", "m2")
    streams = [
        tp.Stream("gradient", agents),
        tp.Stream("gradient", agents, positive=pair[1], negative=pair[0]),
        tp.Stream("gradient", agents, positive=pair[0], negative=pair[1]),
    ]
    for row_reports, outcome in zip(R, Y, strict=True):
        x, opposite = (
            dict(zip(agents, row, strict=True))
            for row in (row_reports, 1 - row_reports)
        )
        streams[0].learn_one(x, outcome)
        streams[1].learn_one(x, pair[outcome])
        streams[2].learn_one(opposite, pair[outcome])
    assert streams[1].weights == streams[0].weights
    assert_allclose(
        list(streams[2].weights.values()), list(streams[0].weights.values())
    )


@pairs
def test_no_stream_guesses_which_label_is_positive(pair):
    stream = tp.Stream("gradient", ("m0", "m1"))
    strange = next(label for label in pair if label not in (0, 1))
    cure = r"Stream\(..., positive=LABEL, negative=LABEL\)"
    with pytest.raises(OutcomeError, match=cure):
        stream.learn_one({"m0": 0.2, "m1": 0.7}, strange)


VERBS = {
    words: verb
    for words, verb in every_command()
    if any("--outcome" in parameter.opts for parameter in verb.params)
    and words != "init"  # it asks, and writes down what it was told
}
"""Every verb that takes an outcome column, by its words."""
ON_PANEL = {
    "audit": [],
    "compare": ["--pool", "vcg"],
    "jury": [],
    "replay": [],
    "game": ["--payment", "brier"],
}
"""Verbs on a panel, and what keeps them short."""
JSON = ("--json", "-")


@pytest.fixture(scope="module", autouse=True)
def model():
    """A model for the verb that asks one: the stand-in."""
    with stand_in.serve() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", stand_in.KEY)
        patch.setenv("OPENAI_BASE_URL", server.url)
        yield


@pytest.fixture
def truepool(monkeypatch, capsys):
    """Run the command in this process; exit code, standard output, standard error."""
    from truepool.cli import main

    def run(*words):
        monkeypatch.setattr("sys.argv", ["truepool", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        shown = capsys.readouterr()
        return stop.value.code or 0, shown.out, shown.err

    return run


def words_of(verb, folder, outcomes, reports=R):
    """Words of a verb on tables with these outcomes, asked for JSON."""
    path = folder / "table.csv"
    if verb.startswith("agent"):
        columns = {f"x{j}": X[:, j] for j in range(5)} | {"y": outcomes}
    else:
        columns = table(reports, outcomes)
    csv.write_csv(pa.table(columns), path)
    if verb in ON_PANEL:
        return [verb, path, *ON_PANEL[verb], *JSON]
    if verb == "fit":
        return [verb, path, "-o", folder / "out.pool", "--pool", "vcg", *JSON]
    if verb == "pool":
        fresh = folder / "new.csv"
        csv.write_csv(pa.table({k: v for k, v in columns.items() if k != "y"}), fresh)
        return [verb, path, fresh, "-o", folder / "out.csv", "--pool", "vcg", *JSON]
    if verb == "agent train":
        files = ["-o", folder / "out.joblib"]
        return ["agent", "train", path, *files, "--model", "tree", *JSON]
    if verb == "agent llm":
        asked = ["--question", "Is it fraud?", "--model", stand_in.MODEL]
        files = ["-o", folder / "out.csv", "--set", f"answers={folder / 'answers'}"]
        return ["agent", "llm", path, *asked, *files, *JSON]
    files = [folder / "agent.joblib", "-o", folder / "out.csv"]
    return ["agent", "report", path, *files, "--trust", *JSON]


def test_every_verb_that_takes_an_outcome_is_tested_here():
    agents = {"agent train", "agent report", "agent llm"}
    tested = {*ON_PANEL, *agents, "fit", "pool"}
    missing = {"agent llm", "jury", "game"} - set(VERBS)  # not installed
    assert set(VERBS) == tested - missing


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_takes_an_outcome_takes_its_positive_label(verb):
    assert any("--positive" in parameter.opts for parameter in VERBS[verb].params)


ASKING = [verb for verb in VERBS if verb != "agent report"]
"""Verbs that have to be told; saved agents know it from their training."""

IN_CSV = {name: pair for name, pair in PAIRS.items() if name != "text 0 and 1"}


@pytest.mark.parametrize("verb", ASKING)
@pytest.mark.parametrize("pair", IN_CSV.values(), ids=IN_CSV)
def test_no_verb_guesses_which_label_is_positive(verb, pair, truepool, tmp_path):
    words = words_of(verb, tmp_path, named(Y, pair))
    before = sorted(tmp_path.iterdir())
    code, out, err = truepool(*words)
    assert (code, out) == (2, "")
    for label in pair:
        assert f"--positive {label}" in err
    assert err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("verb", ASKING)
def test_no_verb_takes_a_label_that_does_not_occur(verb, truepool, tmp_path):
    words = words_of(verb, tmp_path, named(Y, PAIRS["text"]))
    code, out, err = truepool(*words, "--positive", "fruad")
    assert (code, out) == (2, "")
    assert "'fruad'" in err
    assert "'fraud'" in err.replace("--positive fraud", "'fraud'")


def run_verb(truepool, folder, verb, outcomes, *more, reports=R):
    """What a verb says, its labels, and the columns it wrote, if any."""
    code, out, err = truepool(*words_of(verb, folder, outcomes, reports), *more)
    assert code == 0
    assert all(line.startswith("read table.csv: ") for line in err.splitlines()), err
    result = json.loads(out)
    rows = result if isinstance(result, list) else [result]
    (labels,) = {json.dumps(row.pop("outcome_labels")): None for row in rows}
    for name in ("classes", "stored", "calls", "tokens_in", "tokens_out"):
        rows[0].pop(name, None)
    rows[0].pop("table", None)  # it names the positive label
    written = folder / "out.csv"
    columns = csv.read_csv(written).to_pydict() if written.exists() else {}
    return result, json.loads(labels), columns


def _replaced(result, old, new):
    return json.loads(json.dumps(result).replace(old, new))


NAMED = {"text": ("genuine", "fraud"), "-1 and 1": (-1, 1), "1 and 2": (2, 1)}


@pytest.mark.parametrize("verb", ASKING)
@pytest.mark.parametrize("pair", NAMED.values(), ids=NAMED)
def test_every_verb_gives_the_same_result_as_with_0_and_1(
    verb, pair, truepool, tmp_path
):
    if verb == "audit" and pair != NAMED["text"]:
        pytest.skip("an audit takes seconds, and the panel is the same")
    plain, natural, columns = run_verb(truepool, tmp_path, verb, Y)
    counts = np.bincount(Y).tolist()
    assert natural == {"positive": 1, "negative": 0, "labels": [0, 1], "cases": counts}
    same, labels, again = run_verb(
        truepool, tmp_path, verb, named(Y, pair), "--positive", pair[1]
    )
    for number, name in enumerate(pair):  # an audit names the decision that costs least
        same = _replaced(same, f"Deciding {name} in", f"Deciding {number} in")
        same = _replaced(same, f'"constant": "{name}"', f'"constant": "{number}"')
    assert same == plain
    if verb == "agent llm":  # it writes the outcomes as they were
        columns["y"] = named(np.array(columns["y"]), pair).tolist()
    assert again == columns
    assert labels == {
        "positive": pair[1], "negative": pair[0], "labels": list(pair), "cases": counts,
    }  # fmt: skip


@pytest.mark.parametrize(
    "verb",
    [v for v in ("compare", "replay", "pool", "game", "agent train") if v in VERBS],
)
def test_every_verb_gives_the_opposite_with_the_opposite_label(
    verb, truepool, tmp_path
):
    pair = PAIRS["text"]
    plain, _, columns = run_verb(truepool, tmp_path, verb, Y)
    turned, labels, again = run_verb(
        truepool, tmp_path, verb, named(Y, pair), "--positive", "genuine", reports=1 - R
    )
    assert labels["positive"] == "genuine"
    assert labels["cases"] == np.bincount(Y)[::-1].tolist()
    if verb == "pool":
        assert_allclose(again["pooled"], 1 - np.array(columns["pooled"]), atol=1e-9)
    if verb == "compare":
        for mine, other in zip(turned["rows"], plain["rows"], strict=True):
            assert_allclose(mine["brier"], other["brier"])
    if verb == "replay":
        assert_allclose(turned["mean_loss"], plain["mean_loss"])
    if verb == "agent train":
        agent = tp.agents.load(tmp_path / "out.joblib", trust=True)
        assert (agent.positive, agent.classes_.tolist()) == (
            "genuine",
            ["fraud", "genuine"],
        )


@pytest.mark.parametrize("verb", ASKING)
def test_every_verb_prints_which_label_is_positive(verb, truepool, tmp_path):
    words = words_of(verb, tmp_path, named(Y, PAIRS["text"]))
    words = [word for word in words if word not in JSON]
    code, out, err = truepool(*words, "--positive", "fraud")
    few, many = np.bincount(Y)
    unit = "items" if verb == "jury" else "cases"
    assert code == 0
    if verb == "audit":  # one screen: the line on how the table was read says it
        assert "(positive: fraud)" in err
        return
    assert (
        f"Outcome label: fraud = positive ({many} {unit}), genuine = negative ({few})."
        in out
    )


def test_a_quiet_audit_prints_nothing(truepool, tmp_path):
    words = words_of("audit", tmp_path, named(Y, PAIRS["text"]))[:2]
    assert truepool(*words, "--positive", "fraud", "--quiet") == (0, "", "")


@pytest.mark.parametrize(
    ("label", "text"), [(2, "2"), (2, "2.0"), (True, "true"), (False, "False")]
)
def test_the_command_line_finds_numbers_and_booleans_by_their_text(
    label, text, truepool, tmp_path
):
    other = {2: 1}.get(label, not label)
    outcomes = named(Y, (other, label))
    labels = run_verb(truepool, tmp_path, "replay", outcomes, "--positive", text)[1]
    assert labels["positive"] == label


@pytest.mark.parametrize("positive", ["fraud", "genuine"])
def test_agents_report_the_probability_of_the_label_they_were_trained_for(
    positive, truepool, tmp_path
):
    folder, words = tmp_path, named(Y, PAIRS["text"])
    plain = tp.agents.train(X, Y, ["tree"], cache=False)["tree"].predict_proba(X)
    frame = pa.table({f"x{j}": X[:, j] for j in range(5)})
    made = tp.agents.train(frame, words, ["tree"], positive=positive, cache=False)
    tp.agents.save(made["tree"], folder / "agent.joblib")
    k = int(positive == "fraud")
    _, labels, columns = run_verb(truepool, folder, "agent report", words)
    assert labels["positive"] == positive
    assert_allclose(columns["agent"], plain[:, k])
    assert_array_equal(columns["y"], (words == positive).astype(int))
    (folder / "out.csv").unlink()
    other = PAIRS["text"][1 - k]
    ask = words_of("agent report", folder, words)
    code, out, err = truepool(*ask, "--positive", other)
    assert (code, out) == (2, "")
    assert f"the one of training, {positive!r} for 'agent'; got {other!r}" in err
    second = tp.agents.train(frame, words, ["tree"], positive=other, cache=False)[
        "tree"
    ]
    tp.agents.save(second, folder / "other.joblib")
    ask.insert(4, folder / "other.joblib")
    code, out, err = truepool(*ask)
    assert (code, out) == (2, "")
    assert f"'agent' was trained with {positive!r}, 'other' with {other!r}" in err
    assert not (folder / "out.csv").exists()
