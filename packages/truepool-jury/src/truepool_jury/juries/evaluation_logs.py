"""Logs of evaluation tools, as a long table of verdicts.

Each reader takes the JSON objects of a log and yields one verdict after another: which
item, which judge, the verdict and the label of a person, None where there is none.
Only fields that are named here are looked at, and no tool is imported.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from truepool.core.errors import UnknownNameError
from truepool.tables import Cure, Fault, Place, TableFaults, open_source
from truepool_jury.juries.verdict_rows import VerdictRows

Objects: TypeAlias = list[dict[str, Any]]
Verdict: TypeAlias = tuple[str, str, Any, Any]
COLUMNS = ("id", "judge", "verdict", "label")
"""Columns of the table that a log becomes."""

INSPECT_VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Grades of Inspect as numbers, as Inspect itself counts them."""
SUFFIXES = (".json", ".jsonl", ".ndjson")
MOST_SHOWN = 40
"""Characters of a faulty line that are shown."""


def read_log(path: Path, tool: str) -> VerdictRows:
    """Return the verdicts of a log as a long table: id, judge, verdict, label."""
    if tool not in READERS:
        raise UnknownNameError(
            "evaluation tool", tool, READERS, "; for others name the columns (long)"
        )
    objects = read_objects(path)
    try:
        rows = list(READERS[tool](objects))
    except (KeyError, TypeError, AttributeError) as error:
        raise _refusal(
            "not-a-log", path, cures=(Cure("no-tool", "long"),),
            fields={"tool": tool, "why": str(error)},
        ) from None  # fmt: skip
    if not rows:
        raise _refusal("no-verdicts", path, fields={"tool": tool})
    columns = [list(column) for column in zip(*rows, strict=True)]
    table = pa.table(dict(zip(COLUMNS, columns, strict=True)))
    return VerdictRows(table, path.name, lambda row: Place("case", rows[row][0]))


def tools_of(source: Any) -> list[str]:
    """Return the tools that may have written a file: JSON with their fields."""
    if not (isinstance(source, str | Path) and str(source).endswith(SUFFIXES)):
        return []
    found = []
    for tool in READERS:
        try:
            read_log(Path(source), tool)
        except TableFaults:
            continue
        found.append(tool)
    return found


def read_objects(path: Path) -> Objects:
    """Return the objects of a JSON file: the whole, or one per line."""
    if not path.is_file():
        open_source(path)  # which says that it is not there
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    try:
        whole = json.loads(text)
        found = whole if isinstance(whole, list) else [whole]
    except ValueError:
        lines = enumerate(text.splitlines(), 1)
        found = [_parse(path, n, line) for n, line in lines if line.strip()]
    wrong = [value for value in found if not isinstance(value, dict)]
    if wrong:
        shown = json.dumps(wrong[0])[:MOST_SHOWN]
        raise _refusal("not-an-object", path, found=shown, count=len(wrong))
    return found


def _parse(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        place, shown = Place("line", number), line[:MOST_SHOWN]
        fault = Fault("not-an-object", place=place, found=shown)
        raise TableFaults([fault], table=path.name) from None


def _refusal(code: str, path: Path, **settings: Any) -> TableFaults:
    place = Place("file", str(path))
    return TableFaults([Fault(code, place=place, **settings)], table=path.name)


def _promptfoo(objects: Objects) -> Iterator[Verdict]:
    """One line per output; its judges are the graded assertions, a person 'human'."""
    for whole in objects:
        results = whole["results"]["results"] if "results" in whole else [whole]
        for result in results:
            item = f"{result['testIdx']}/{result['promptIdx']}"
            parts = (result.get("gradingResult") or {}).get("componentResults") or []
            graded = [(part.get("assertion") or {}, part) for part in parts]
            labels = [p["pass"] for a, p in graded if a.get("type") == "human"]
            label = int(labels[-1]) if labels else None
            for place, (assertion, part) in enumerate(graded):
                if assertion.get("type") != "human":
                    failed = (part.get("metadata") or {}).get("graderError")
                    verdict = None if failed else float(part["score"])
                    yield item, _assertion_name(assertion, place), verdict, label


def _assertion_name(assertion: dict[str, Any], place: int) -> str:
    """Name a judge by its metric, its model, or its type and place."""
    provider = assertion.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("id")
    plain = f"{assertion.get('type', 'assertion')} {place + 1}"
    return str(assertion.get("metric") or provider or plain)


def _openai_evals(objects: Objects) -> Iterator[Verdict]:
    """Events of type match: what the model picked, and what a person expected."""
    models: dict[Any, str] = {
        found["spec"]["run_id"]: ", ".join(found["spec"]["completion_fns"])
        for found in objects
        if "spec" in found
    }
    for event in objects:
        if event.get("type") == "match":
            data, run = event["data"], event["run_id"]
            words = [None if data[name] is None else str(data[name])
                     for name in ("picked", "expected")]  # fmt: skip
            yield event["sample_id"], models.get(run, str(run)), *words


def _inspect(objects: Objects) -> Iterator[Verdict]:
    """Samples of a JSON log, or rows of samples_df; scorers are the judges.

    Every epoch of a sample is an output of its own, so it is an item of its own.
    """
    samples = [sample for whole in objects for sample in whole.get("samples", [whole])]
    epochs = any(sample.get("epoch", 1) > 1 for sample in samples)
    for sample in samples:
        item = f"{sample['id']}/{sample['epoch']}" if epochs else str(sample["id"])
        scores = sample.get("scores")
        if scores is None:
            scores = {
                name.removeprefix("score_"): {"value": value}
                for name, value in sample.items()
                if name.startswith("score_")
            }
        for judge, score in scores.items():
            yield item, judge, _grade(score["value"], judge), None


def _grade(value: Any, judge: str) -> float | None:
    """Return a grade of Inspect as a number."""
    if value is None or isinstance(value, int | float):
        return None if value is None else float(value)
    if isinstance(value, str) and value in INSPECT_VALUES:
        return INSPECT_VALUES[value]
    raise TableFaults([
        Fault("grade-unknown", agent=judge, found=value,
              cures=(Cure("leave-out-grade"),), fields={"known": [*INSPECT_VALUES]})
    ])  # fmt: skip


def _deepeval(objects: Objects) -> Iterator[Verdict]:
    """Test cases of a run; a judge is a metric by a model."""
    for whole in objects:
        for case in whole.get("testCases", [whole]):
            for metric in case["metricsData"] or []:
                model, score = metric.get("evaluationModel"), metric.get("score")
                judge = f"{metric['name']} ({model})" if model else metric["name"]
                yield case["name"], judge, None if score is None else float(score), None


READERS: dict[str, Callable[[Objects], Iterator[Verdict]]] = {
    "promptfoo": _promptfoo,
    "openai-evals": _openai_evals,
    "inspect": _inspect,
    "deepeval": _deepeval,
}
"""Evaluation tools whose logs are read."""
