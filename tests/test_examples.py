"""The scripts in examples/ and the notebooks in docs/ run, and print what they show."""

import ast
import json
import re
import runpy
import shlex
import shutil
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


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """The stand-in for a model, and a copy of the tables that the page asks it about."""
    path = ROOT / "examples" / "stand_in_model.py"
    assert len(path.read_text().splitlines()) < LONGEST
    chat = runpy.run_path(str(path))["Chat"]
    monkeypatch.chdir(shutil.copytree(ROOT / "examples" / "llm", tmp_path / "llm"))
    monkeypatch.setenv("TRUEPOOL_CACHE", str(tmp_path / "cache"))
    with ThreadingHTTPServer(("127.0.0.1", 0), chat) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv(
            "OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1"
        )
        yield
        server.shutdown()


LLM = (ROOT / "docs" / "llm.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", LLM, re.MULTILINE | re.DOTALL)


def test_git_ignores_what_the_commands_on_language_models_write():
    commands = "\n".join(blocks("bash"))
    written = set(re.findall(r"(?:-o|--html| >) (\w+\.\w+)", commands))
    assert len(written) == 6
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {f"/examples/llm/{name}" for name in written} <= set(ignored)


@pytest.mark.no_cover
def test_every_command_on_language_models_runs_with_the_stand_in(stand_in, truepool):
    lines = [line for block in blocks("bash") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("truepool ")]
    assert len(commands) == 7
    outputs = []
    for command in commands:
        words, _, file = command.partition(" > ")
        code, out, err = truepool(*shlex.split(words)[1:])
        assert code == 0, err
        outputs.append(out)
        if file:
            Path(file).write_text(out)
    (shown,) = blocks("text")
    assert outputs[0] == shown
    jury = outputs[5]
    assert "show no relation to the labels" in " ".join(jury.split())
    assert "copies" not in jury  # the answers depend on the model
    names = {}
    for block in blocks("python"):
        exec(block, names)
    assert names["found"].reports.shape == (60, 4)


def test_the_page_on_language_models_describes_its_tables():
    for name, rows, columns in re.findall(r"^\| `(\w+\.csv)` \| (\d+) .*? \| (.*) \|$", LLM, re.M):  # fmt: skip
        head, *lines = (ROOT / "examples" / "llm" / name).read_text().splitlines()
        assert len(lines) == int(rows)
        listed = re.findall(r"`(\w+)`", columns)
        assert listed == head.split(",") or columns == "the same"


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
