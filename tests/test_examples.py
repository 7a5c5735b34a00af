"""The scripts in examples/ and the notebooks in docs/ run, and print what they show."""

import json
import runpy
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from dataset_requirements import needs

ROOT = Path(__file__).parents[1]
SCRIPTS = {
    "first_audit": "Wrote report.html.",
    "fit_and_score": "169 new cases",
    "online_weights": "50 cases wait for their outcome.",
    "credit_of_vendors": "earns its place",
    "own_pool": "cautious",
    "misreporting": "The costs ask for a threshold of 0.091",
}
"""Each script, and something that it prints."""
NOTEBOOKS = {
    "first_audit": (),
    "llm_jury": ("judgebench",),
    "governors": ("governors",),
    "coordinator": (),
}
"""Each notebook, and the data sets it needs."""
LONGEST = 60


def test_every_script_and_notebook_is_tested():
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")}
    notebooks = {path.stem for path in (ROOT / "docs" / "notebooks").glob("*.ipynb")}
    assert scripts == set(SCRIPTS)
    assert notebooks == set(NOTEBOOKS)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_short_and_runs(name, tmp_path, monkeypatch, capsys):
    path = ROOT / "examples" / f"{name}.py"
    assert len(path.read_text().splitlines()) < LONGEST
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert SCRIPTS[name] in capsys.readouterr().out


def printed(cell):
    return "".join(
        "".join(output["text"])
        for output in cell["outputs"]
        if output["output_type"] == "stream" and output["name"] == "stdout"
    )


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[needs(*data)] if data else [])
        for name, data in NOTEBOOKS.items()
    ],
)
def test_a_notebook_prints_what_it_shows(name, tmp_path, monkeypatch):
    notebook = json.loads((ROOT / "docs" / "notebooks" / f"{name}.ipynb").read_text())
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert any(printed(cell) for cell in code), "run make notebooks"
    for cell in code:
        out = StringIO()
        with redirect_stdout(out):
            exec("".join(cell["source"]), names)
        assert out.getvalue() == printed(cell), "run make notebooks"
