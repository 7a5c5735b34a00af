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

from truepool.core.errors import SettingError, SourceError, suggestion
from truepool.core.files import missing_file
from truepool.panel.report_units import percent_option, scores_option

Objects: TypeAlias = list[dict[str, Any]]
Verdict: TypeAlias = tuple[str, str, Any, Any]
COLUMNS = ("item", "judge", "verdict", "label")
"""Columns of the table that a log becomes."""

INSPECT_VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Grades of Inspect as numbers, as Inspect itself counts them."""


def read_log(path: Path, tool: str, positive: Any = None) -> pa.Table:
    """Return the verdicts of a log as a long table: item, judge, verdict, label.

    ``positive`` is the label that a verdict in words is for.
    """
    if tool not in READERS:
        raise SettingError(
            f"there is no evaluation tool {tool!r}{suggestion(tool, READERS)}; known: "
            f"{', '.join(READERS)}. For others, name the columns (--long)."
        )
    objects = read_objects(path)
    try:
        rows = list(READERS[tool](objects, positive))
    except (KeyError, TypeError, AttributeError) as error:
        raise SourceError(
            f"{path} is not a log of {tool}: a field is missing or of another type "
            f"({error}). Name the columns of the table instead (--long)."
        ) from None
    if not rows:
        raise SourceError(
            f"a log must hold at least one verdict; {path} has none that {tool} writes"
        )
    columns = [list(column) for column in zip(*rows, strict=True)]
    return pa.table(dict(zip(COLUMNS, columns, strict=True)))


def check_scores(table: pa.Table, tool: str) -> None:
    """Refuse a score that is no probability."""
    for item, judge, verdict in zip(
        *(table[name].to_pylist() for name in COLUMNS[:3]), strict=True
    ):
        if isinstance(verdict, int | float) and not 0 <= verdict <= 1:
            raise SourceError(
                f"a score of {tool} must lie in [0, 1]; judge {judge!r} gave "
                f"{verdict:g} to item {item!r}. If all judges give scores of one "
                "range, name it (--scores 1-5); if only some do, name them too "
                f"({scores_option([judge], '1-5')}); if some give percentages, name "
                f"those ({percent_option([judge])})."
            )


def read_objects(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON file: the whole, or one per line."""
    if not path.is_file():
        raise SourceError(missing_file(path))
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    try:
        whole = json.loads(text)
        found = whole if isinstance(whole, list) else [whole]
    except ValueError:
        found = [_parse(path, n, line) for n, line in enumerate(text.splitlines(), 1)]
        found = [value for value in found if value is not None]
    if not all(isinstance(value, dict) for value in found):
        raise SourceError(f"{path} must hold JSON objects, one per line or in a list")
    return found


def _parse(path: Path, number: int, line: str) -> Any:
    if not line.strip():
        return None
    try:
        return json.loads(line)
    except ValueError as error:
        raise SourceError(
            f"{path} cannot be read as JSON: line {number} is cut off or not JSON "
            f"({error})"
        ) from None


def _promptfoo(objects: Objects, _: Any) -> Iterator[Verdict]:
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


def _openai_evals(objects: Objects, positive: Any) -> Iterator[Verdict]:
    """Events of type match: what the model picked, and what a person expected."""
    if positive is None:
        raise SettingError(
            "a log of openai-evals has verdicts in words; say which one is positive "
            "(--positive)"
        )
    models: dict[Any, str] = {
        found["spec"]["run_id"]: ", ".join(found["spec"]["completion_fns"])
        for found in objects
        if "spec" in found
    }
    for event in objects:
        if event.get("type") == "match":
            data, run = event["data"], event["run_id"]
            judge = models.get(run, str(run))
            said = data["picked"]
            verdict = None if said is None else float(str(said) == str(positive))
            yield event["sample_id"], judge, verdict, data["expected"]


def _inspect(objects: Objects, _: Any) -> Iterator[Verdict]:
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
        return value
    if isinstance(value, str) and value in INSPECT_VALUES:
        return INSPECT_VALUES[value]
    raise SourceError(
        f"a score of Inspect must be a number or one of {', '.join(INSPECT_VALUES)}; "
        f"scorer {judge!r} gave {value!r}. Leave it out of the log."
    )


def _deepeval(objects: Objects, _: Any) -> Iterator[Verdict]:
    """Test cases of a run; a judge is a metric by a model."""
    for whole in objects:
        for case in whole.get("testCases", [whole]):
            for metric in case["metricsData"] or []:
                model = metric.get("evaluationModel")
                judge = f"{metric['name']} ({model})" if model else metric["name"]
                yield case["name"], judge, metric.get("score"), None


READERS: dict[str, Callable[[Objects, Any], Iterator[Verdict]]] = {
    "promptfoo": _promptfoo,
    "openai-evals": _openai_evals,
    "inspect": _inspect,
    "deepeval": _deepeval,
}
"""Evaluation tools whose logs are read."""
