"""The scripts in examples/ and the notebooks in docs/ run, and print what they show."""

import ast
import json
import re
import runpy
from contextlib import redirect_stdout
from http.server import ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread

import pytest
from command import truepool
from dataset_requirements import needs

__all__ = ["truepool"]

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
    assert scripts == {*SCRIPTS, "stand_in_model"}
    assert notebooks == set(NOTEBOOKS)


def test_the_guides_list_every_script_by_its_first_line():
    page = (ROOT / "docs" / "guides.md").read_text()
    listed = dict(re.findall(r"^\| `(\w+\.py)` \| (.+) \|$", page, re.MULTILINE))
    assert listed == {
        path.name: ast.get_docstring(ast.parse(path.read_text())).splitlines()[0]
        for path in (ROOT / "examples").glob("*.py")
    }


@pytest.mark.no_cover
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_short_and_runs(name, tmp_path, monkeypatch, capsys):
    path = ROOT / "examples" / f"{name}.py"
    assert len(path.read_text().splitlines()) < LONGEST
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert SCRIPTS[name] in capsys.readouterr().out


def test_the_stand_in_for_a_model_is_asked_like_one(tmp_path, monkeypatch, truepool):
    path = ROOT / "examples" / "stand_in_model.py"
    assert len(path.read_text().splitlines()) < LONGEST
    chat = runpy.run_path(str(path))["Chat"]
    monkeypatch.chdir(tmp_path)
    Path("cases.csv").write_text("id,amount,label\n1,10,yes\n2,250,no\n3,3,no\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), chat) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv(
            "OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1"
        )
        words = "agent llm cases.csv --model stand-in --outcome label --positive yes"
        code, out, _ = truepool(
            *words.split(), "--question", "Is it fraud?",
            "--answers", "answers", "-o", "reports.csv",
        )  # fmt: skip
        server.shutdown()
    assert code == 0
    assert "direct (stand-in): 3 reports." in out


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
