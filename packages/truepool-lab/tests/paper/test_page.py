"""The committed page of the full run says what its stored rows say, and nothing else."""

import runpy
from pathlib import Path

import pytest

from truepool_lab.paper.archive import from_jsonl
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.experiments import with_variants

APART = {
    "tab:approx_vcg", "tab:edge_summary", "tab:jetson_inference", "tab:jetson_rtt",
    "tab:latency", "tab:latency_breakdown", "tab:overhead", "tab:scaling",
    "tab:throughput", "tab:neural_comp@misreports", "tab:sample", "tab:vcg_decomp",
    "fig:vcg_decomp",
}  # fmt: skip
"""With running times, which a busy machine would spoil, and one measured again after
stacking had learned to fill in missing reports; those of small samples were measured
again with the stacking of the paper."""
OUTDATED = {
    "tab:main_results", "tab:ece_binary", "tab:empirical_rho", "tab:platt",
    "tab:significance", "fig:reliability", "fig:reliability_nslkdd", "tab:tabnet",
}  # fmt: skip
"""Measured before stacking was that of sec:experiments; they await a full run."""
ROOT = Path(__file__).parents[4]
ARCHIVE = (ROOT / "docs/reproduction.jsonl").read_text(encoding="utf-8")
RUN = from_jsonl(ARCHIVE)


def test_the_page_is_what_the_stored_rows_make():
    script = runpy.run_path(str(ROOT / "scripts/publish_reproduction.py"))
    page = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")
    assert page == script["page"](ARCHIVE)


def test_it_is_the_whole_run_at_full_size():
    assert RUN.size == "full"
    assert [a.label for a in RUN.answers] == with_variants(list(paper_tables()))
    assert not [a.label for a in RUN.answers if a.status == "pending"]
    assert {"command", "seeds", "python", "numpy"} <= set(RUN.environment)


def test_tables_measured_apart_from_the_others_are_named():
    assert set(RUN.added) == APART


@pytest.mark.parametrize("answer", RUN.answers, ids=lambda a: a.label)
def test_whatever_is_apart_has_its_cause(answer):
    apart = any(c.verdict == "apart" for c in answer.cells.values())
    assert not apart or answer.variant or answer.reading.cause.endswith(".")
    if not answer.variant:
        compared = [c for c in answer.cells.values() if c.verdict != "not at hand"]
        known = all(c.measured for c in compared if c.printed and c.printed.measurable)
        assert known or answer.outdated


def test_tables_whose_experiment_has_changed_since_are_named():
    assert {a.label for a in RUN.answers if a.outdated} == OUTDATED


def test_every_figure_is_there():
    drawn = {f.stem.replace("_", ":", 1) for f in (ROOT / "docs/reproduction").iterdir()}  # fmt: skip
    figures = {
        label for label, table in paper_tables().items() if table.kind == "figure"
    }
    assert drawn == figures
