"""The whole way from labels to verdicts, on experiments made for the purpose."""

import json

import pytest

from truepool.core.engine import cells
from truepool.core.errors import UnknownNameError
from truepool_lab.paper import experiments, reproduce
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.interface import Experiment, Reading, row

LABELS = ["tab:poa", "fig:overview", "tab:scaling"]


class Fake(Experiment):
    name = "fake"
    readings = {  # noqa: RUF012
        "tab:poa": Reading("as it stands", "no reason"),
        "fig:overview": Reading(""),
    }

    def cells(self, size):
        return cells(self.name, 4 if size == "full" else 2, {"n": [1]})

    @staticmethod
    def measure(cell):
        value = 1.0 + 0.001 * cell.repeat
        return [
            row("tab:poa", ["VCG"], "PoA", value),
            row("tab:poa", ["Brier"], "PoA", value + 1),
            row("fig:overview", [0], "y", value),
        ]

    def derive(self, rows):
        return [row("tab:poa", ["rows"], "count", len(rows))]

    def figure(self, label, rows):
        from matplotlib.figure import Figure

        page = Figure()
        page.subplots().plot([r["value"] for r in rows if r["table"] == label])
        return page


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.setattr(experiments, "every", lambda: {"fake": Fake})
    monkeypatch.setattr("truepool_lab.paper.reproduction.every", lambda: {"fake": Fake})


def test_numbers_stand_beside_the_printed_ones(tmp_path):
    result = reproduce(LABELS, out=tmp_path)
    answer = result["tab:poa"]
    vcg, brier = answer.cells[("VCG",), "PoA"], answer.cells[("Brier",), "PoA"]
    assert (vcg.printed.text, vcg.measured.value, vcg.verdict) == (
        "1.00",
        1.0005,
        "match",
    )
    assert (brier.printed.text, brier.verdict) == ("7.25", "apart")
    assert answer.cells[("Externality",), "PoA"].verdict == "pending"
    assert answer.cells[("rows",), "count"].measured.value == 6
    assert (answer.status, answer.reading.reading) == ("compared", "as it stands")
    assert (answer.level.cells, answer.level.match) == (2, 1)
    assert answer.order.same == 1


def test_figures_are_drawn_and_not_judged(tmp_path):
    result = reproduce(LABELS, out=tmp_path)
    assert (result["fig:overview"].cells, result["fig:overview"].status) == (
        {},
        "drawn",
    )
    ((label, page),) = result.figures().items()
    assert label == "fig:overview"
    assert list(page.axes[0].lines[0].get_ydata()) == [1.0, 1.001]


def test_what_cannot_be_run_is_pending_with_the_reason(tmp_path, monkeypatch):
    result = reproduce(LABELS, out=tmp_path)
    assert result["tab:scaling"].status == "pending"
    assert result["tab:scaling"].reading.cause == "not built yet"
    monkeypatch.setattr(Fake, "packages", {"no_such_package": "truepool-lab[neural]"})
    reason = reproduce(["tab:poa"], out=tmp_path)["tab:poa"].reading.cause
    assert reason == "needs no_such_package: pip install 'truepool-lab[neural]'"
    monkeypatch.setenv("TRUEPOOL_DATA", str(tmp_path))
    monkeypatch.setenv("TRUEPOOL_CACHE", str(tmp_path))
    monkeypatch.setattr(Fake, "needs", ("nsl-kdd",))
    reason = reproduce(["tab:poa"], out=tmp_path)["tab:poa"].reading.cause
    assert "needs the data set nsl-kdd: truepool data path nsl-kdd" in reason


def test_all_64_are_answered_when_none_is_named(tmp_path):
    assert [a.table.label for a in reproduce(out=tmp_path).answers] == list(
        paper_tables()
    )


def test_kept_rows_are_used_again_and_sizes_do_not_mix(tmp_path, monkeypatch):
    reproduce(["tab:poa", "tab:poa"], out=tmp_path)
    done = []
    reproduce(["tab:poa"], out=tmp_path, progress=lambda *steps: done.append(steps))
    assert done == []
    full = reproduce(["tab:poa"], size="full", out=tmp_path)
    assert full["tab:poa"].cells[("VCG",), "PoA"].measured.repeats == 4
    assert sorted(p.name for p in (tmp_path / "rows").iterdir()) == [
        "fake-full.jsonl",
        "fake-quick.jsonl",
    ]


def test_an_unknown_label_is_answered_with_the_nearest_before_anything_runs(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'tab:poa'"):
        reproduce(["tab:scaling", "tab:po"], out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_everything_can_be_told_as_json(tmp_path):
    result = reproduce(LABELS, out=tmp_path).to_dict()
    again = json.loads(json.dumps(result, allow_nan=False))
    assert list(again["tables"]) == LABELS
    assert again["conclusions"][0]["verdict"] == "holds"
    assert again["tables"]["tab:poa"]["conclusions"]
    cell = again["tables"]["tab:poa"]["cells"][0]
    assert cell == {
        "key": ["VCG"], "column": "PoA", "printed": "1.00", "measured": 1.0005,
        "error": pytest.approx(0.0005), "repeats": 2, "verdict": "match",
        "kind": "evidence",
            "tolerance": pytest.approx(0.005 + 0.001 * (1 + 2 / 10) ** 0.5),
            "spread": "as ours",
    }  # fmt: skip
    assert {"python", "numpy", "truepool", "cores"} <= set(again["environment"])
