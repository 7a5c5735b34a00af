"""Compare how two versions read tables: the same panel bit for bit, or both refuse.

Run: python scripts/compare_readers.py REVISION FOLDER [TESTS...]. Makes an environment
of the revision in FOLDER, runs its tests of tables, panels and the command there,
records every table that they read, and reads it again here. Prints one line for each
difference and how many there are. With --keep FILE it writes small text tables on which
both agree, as the frozen sample of the tests.
"""

import argparse
import json
import os
import pickle
import shutil
import subprocess
from collections import Counter
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

TESTS = ("packages/truepool/tests/tables", "packages/truepool/tests/panel",
         "packages/truepool/tests/cli")  # fmt: skip
SMALL = 600
"""Characters of a table that is kept."""


def digest(panel: Any) -> dict[str, Any]:
    """Return what must be the same of a panel."""
    values = np.ascontiguousarray(panel.values, dtype=np.float64)
    parts = (values, np.asarray(panel.outcomes, np.int64))
    return {
        "agents": list(panel.agents),
        "labels": [str(label) for label in panel.labels.names],
        "shape": list(values.shape),
        "numbers": sha256(b"".join(part.tobytes() for part in parts)).hexdigest(),
        "times": None if panel.times is None else [str(t) for t in panel.times[:3]],
        "weights": None if panel.weights is None else panel.weights[:3].tolist(),
    }


# ---- as a plug-in of pytest, in the environment of the old version

_folder, _count = Path(), 0


def pytest_addoption(parser: Any) -> None:
    """Add the folder as an option."""
    parser.addoption("--tables", help="folder to record tables in")


def pytest_configure(config: Any) -> None:
    """Record every table that is read from here on."""
    global _folder
    given = config.getoption("--tables")
    if given is None:
        return
    _folder = Path(given)
    tables: Any = import_module("truepool.tables")
    reader: Any = import_module("truepool.tables.reader")
    known = reader.load_panel

    def load_panel(source: Any, written: Any, **how: Any) -> Any:
        kept, failed = _keep(source), []
        if check := how.get("check"):

            def judged(*cases: Any, **rest: Any) -> None:
                try:
                    check(*cases, **rest)
                except Exception:
                    failed.append(True)
                    raise

            how["check"] = judged
        try:
            panel, summary = known(source, written, **how)
        except Exception as error:
            refused = {"refused": f"{type(error).__name__}: {error}"}
            _note(kept, written, how, {"skipped": "its costs"} if failed else refused)
            raise
        try:
            _note(kept, written, how, digest(panel))
        except Exception as error:  # too large to be written out
            _note(kept, written, how, {"skipped": str(error)})
        return panel, summary

    reader.load_panel = tables.load_panel = load_panel


def _keep(source: Any) -> str:
    """Keep a table as it is now."""
    global _count
    _count += 1
    name = f"{_count:05}"
    try:
        if not isinstance(source, str | Path):
            (_folder / f"{name}.pickle").write_bytes(pickle.dumps(source))
            return f"{name}.pickle"
        path, target = Path(source), _folder / f"{name}-{Path(source).name}"
        if path.is_dir():
            shutil.copytree(path, target)
        else:
            shutil.copy(path, target)
        return target.name
    except Exception:  # not there, or no plain object
        return ""


def _note(kept: str, written: Any, how: dict[str, Any], found: dict[str, Any]) -> None:
    keys = {name: value for name, value in vars(written).items() if value is not None}
    line = {"table": kept, "keys": keys, "found": found,
            "empty": bool(how.get("allow_empty_cases"))}  # fmt: skip
    with (_folder / "tables.jsonl").open("a") as file:
        file.write(json.dumps(line, default=str) + "\n")


# ---- here


def declare(keys: dict[str, Any]) -> Any:
    """Return what the options of the old version say, as keys."""
    from truepool.tables import Declared

    own = {n: v for n, v in keys.items() if v not in ("", [], ()) and n != "layout"}
    if own.get("percent") in ("*", ["*"]):
        own["percent"] = True
    for name in ("agents", "ignore", "missing", "columns", "long", "percent"):
        if isinstance(own.get(name), str):
            own[name] = own[name].split(",")
    if own.get("decimal") == ".":
        del own["decimal"]
    scores: dict[str, str] = {}
    for text in own.pop("scores", ()):
        names, _, span = str(text).rpartition("=")
        scores |= dict.fromkeys(names.split(",") if names else ["*"], span)
    known = {n: v for n, v in own.items() if n in Declared.__dataclass_fields__}
    return Declared(**known, scores=scores)


def read_again(line: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Read a recorded table with this version."""
    from truepool.core.errors import TruepoolError
    from truepool.tables import TableFaults, load_panel

    path = folder / line["table"]
    source = pickle.loads(path.read_bytes()) if path.suffix == ".pickle" else path
    try:
        declared = declare(line["keys"])
        panel, _ = load_panel(source, declared, allow_empty_cases=line["empty"])
        return digest(panel)
    except TableFaults as error:
        return {"refused": str(error), "codes": error.codes}
    except TruepoolError as error:
        return {"refused": f"{type(error).__name__}: {error}"}


def compare(folder: Path, keep: Path | None) -> Counter[str]:
    """Print every difference; count what there was."""
    counts, sample, seen = Counter[str](), list[dict[str, Any]](), set[str]()
    for text in (folder / "tables.jsonl").read_text().splitlines():
        line = json.loads(text)
        if not line["table"] or "skipped" in line["found"]:
            counts["not recorded"] += 1
            continue
        old, new = line["found"], read_again(line, folder)
        both = "refused" in old, "refused" in new
        kind = {
            (True, True): "both refuse",
            (True, False): "only the old one refuses",
            (False, True): "only the new one refuses",
            (False, False): "same" if old == new else "different",
        }[both]
        counts[kind] += 1
        if kind in ("same", "both refuse"):
            sample += _small(folder / line["table"], line, new, seen)
            continue
        keys = {n: v for n, v in line["keys"].items() if v not in ("", [], None)}
        print(f"{kind}: {line['table']} {keys}\n  old {old}\n  new {new}")
    if keep is not None:
        keep.write_text("".join(json.dumps(each) + "\n" for each in sample))
    return counts


def _small(
    path: Path, line: dict[str, Any], found: dict[str, Any], seen: set[str]
) -> list[dict[str, Any]]:
    """Return a small table of text that no other is like, to be kept."""
    if path.suffix not in (".csv", ".tsv", ".jsonl") or path.stat().st_size > SMALL:
        return []
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return []
    mark = json.dumps([text[:200], line["keys"]], default=str)
    if mark in seen:
        return []
    seen.add(mark)
    declared, usual = vars(declare(line["keys"])), vars(declare({}))
    keys = {n: v for n, v in declared.items() if v != usual[n]}
    found = {n: v for n, v in found.items() if n != "refused"}
    name = path.name.partition("-")[2]
    kept = {"name": name, "text": text, "keys": keys, "empty": line["empty"]}
    return [kept | {"found": found}]


def main() -> None:
    """Record with the old version unless that was done, then compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision")
    parser.add_argument("folder", type=Path)
    parser.add_argument("tests", nargs="*", default=TESTS)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    old, tables = given.folder / "old", given.folder / "tables"
    here = Path(__file__).parents[1]
    if not tables.exists():
        if not old.exists():
            subprocess.run(["git", "clone", "-q", here, old], check=True)
            subprocess.run(
                ["git", "checkout", "-q", given.revision], cwd=old, check=True
            )
            subprocess.run(["make", "develop"], cwd=old, check=True)
        tables.mkdir(parents=True)
        shutil.copy(__file__, old / "compare_readers.py")
        python = str((old / ".venv" / "bin" / "python").absolute())
        words = [python, "-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider"]
        words += ["-p", "compare_readers", "--tables", str(tables.resolve())]
        settings = os.environ | {"PYTHONPATH": "."}
        subprocess.run([*words, *given.tests], cwd=old, env=settings, check=False)
    for kind, count in compare(tables, given.keep).most_common():
        print(f"{count:5} {kind}")


if __name__ == "__main__":
    main()
