"""Command lines that nobody should type, for every verb, option and key that there is.

A verb, an option or a key is found by walking the command, so a new one is tested as
soon as it is added. A new verb runs with `table.csv` for every argument and with every option that
names a file; where it needs something else, `ARGUMENTS` or `CHEAP` says so.
"""

import io
import os
import shutil
import stat
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from zlib import crc32

from command import VERBS
from hostile.tables import TABLES, sound_table

from truepool.cli import keys, main, verbs

DEVICE = "/dev/full"
"""Of a machine whose disk is full; root could replace it by a file."""

ARGUMENTS = {
    "file": "sound.pool",
    "agent": "sound.joblib",
    "name": "nothing",
    "names": "nothing",
    "labels": "tab:nothing",
    "ledger": "sound.db",
    "place": "sound.db",
    "statement_file": "sound.statement",
    "backup": "sound.db",
    "target": "restored.db",
    "topic": "keys",
}
"""What an argument is in a sound command; any other is a table."""
CHEAP = {
    "fit": ("--pool", "mean"),
    "pool": ("--pool", "mean"),
    "compare": ("--pool", "mean"),
    "game": ("--set", "rounds=1", "--payment", "vcg"),
    "agent train": ("--model", "logistic"),
    "agent llm": (
        "--question", "so?", "--model", "m", "--base-url", "http://127.0.0.1:9",
        "--set", "key-variable=TRUEPOOL_CACHE", "--set", "retries=0",
        "--set", "timeout=1.0", "--set", "budget-calls=0",
    ),
    "agent report": ("--trust",),
    "agent export": ("--trust",),
    "agent serve": ("--trust", "--check"),
    "serve": ("--check",),
    "ledger compact": ("--before", "2026-01-31"),
    "ledger export": ("--pool", "p"),
    "ledger statement": ("--pool", "p", "--agent", "ada"),
    "ledger token": ("--role", "admin"),
}  # fmt: skip
"""Options that keep a command short, or that it needs."""
EXPENSIVE = {"demo"}
"""Verbs that no option makes short: they get values that no other verb has."""
SLOW = tuple(verb for verb in ("audit", "game") if verb in VERBS)
"""Verbs that take half a second and more: each hostile table is tried on one."""
INPUTS = {
    "--config", "--since", "--check-on", "--train", "--labels", "--tls-cert", "--tls-key",
}  # fmt: skip
"""Options that name a file to read; all others that name a file write it."""
SUFFIXES = {
    "--html": ".html", "--json": ".json", "--markdown": ".md", "--onnx": ".onnx",
    "--plot": ".svg", "fit": ".pool", "init": ".toml", "agent export": ".onnx",
    "agent train": ".joblib", "ledger export": ".parquet", "ledger backup": ".db", "demo": "", "reproduce": "",
}  # fmt: skip
"""Kind of the file by option, or by verb for --output; no suffix is a folder."""
EXCLUSIVE = {("score", "--json")}
"""Outputs that a verb does not write together with its others."""
OLD = b"old\n"
"""Content of every output file before a command."""

TEXTS = (
    "", " ", "\x1b[31m", "[/x]", "a\nb", "n\x00ul", "\udcff", "-1", "nan", "1e999",
    "=1+1", "0:1", ",", "%", "*", '"', "\n", "9" * 400, "x" * 5000, "y", "id",
)  # fmt: skip
NUMBERS = (
    "0", "-1", "-0.0", "nan", "inf", "-inf", "1e308", "5e-324", "4294967296",
    "1" + "0" * 30, "\u0661", "", "0x10", "1,5", "banana", "0.9999999999999999",
)  # fmt: skip
OUTPUTS = (
    "", "folder", "missing/out", DEVICE, "n" * 300, "\udcff", "table.csv",
    "loop", "/proc/self/mem", "a\nb\x1b[31m", "n\x00ul",
)  # fmt: skip
FILES = (
    "", "missing", "folder", "n" * 5000, "n\x00ul", "\udcff\x1b[31m", "garbage",
    "empty", "/dev/null", "loop", "/proc/self/mem", "-",
)  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What a command answered; a code of None is a traceback."""

    code: int | None
    out: str
    err: str


def prepare(folder: Path) -> None:
    """Put sound inputs, old outputs and odd things into an empty folder."""
    (folder / "table.csv").write_bytes(sound_table())
    for name, content in TABLES.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    (folder / "folder" / "mine.txt").write_bytes(OLD)
    (folder / "empty").write_bytes(b"")
    (folder / "garbage").write_bytes(bytes(range(256)) * 9)
    (folder / "loop").symlink_to("loop")
    with chdir(folder):
        for words in (
            ["fit", "table.csv", "-o", "sound.pool", "--pool", "mean"],
            [
                "agent",
                "train",
                "table.csv",
                "-o",
                "sound.joblib",
                *CHEAP["agent train"],
            ],
        ):
            answer = run(words)
            assert answer.code == 0, answer
    if "serve" in VERBS:
        _make_ledger(folder)
    for verb in VERBS:
        for name in outputs(verb).values():
            if Path(name).suffix:
                (folder / name).write_bytes(OLD)


def _make_ledger(folder: Path) -> None:
    """Put a ledger with a few cases into a folder, and a statement about it."""
    from truepool_serve.messages import Pool, convert
    from truepool_serve.server.access import ANYONE
    from truepool_serve.server.coordinator import Coordinator

    with Coordinator(folder / "sound.db") as coordinator:
        pool = {"name": "p", "agents": ["ada", "bob"], "costs": {"fn": 10, "fp": 1}}
        coordinator.create(ANYONE, convert(pool, Pool)).result(60)
        for i, outcome in enumerate((1, 0, 1)):
            reports = [(f"case {i}", agent, 0.6) for agent in pool["agents"]]
            coordinator.report(ANYONE, "p", reports).result(60)
            coordinator.decide(ANYONE, "p", f"case {i}", None).result(60)
            coordinator.settle(ANYONE, "p", [(f"case {i}", outcome)]).result(60)
    with chdir(folder):
        words = ["ledger", "statement", "sound.db", *CHEAP["ledger statement"]]
        answer = run([*words, "--json=sound.statement"])
        assert answer.code == 0, answer


def flag(option: object) -> str:
    """Return the long name of an option."""
    return str(max(option.opts, key=len))  # type: ignore[attr-defined]


def outputs(verb: str) -> dict[str, str]:
    """File of each option of a verb that writes one."""
    names = {}
    for option in VERBS[verb].params:
        name = flag(option)
        if option.type_descriptor.annotation is Path and name.startswith("--"):
            kind = SUFFIXES.get(verb if name == "--output" else name, ".csv")
            if name not in INPUTS and (verb, name) not in EXCLUSIVE:
                names[name] = f"old-{verb.replace(' ', '-')}{name}{kind}"
    return names


def sound(verb: str, **arguments: str) -> list[str]:
    """Return a command that works: every argument, every output."""
    words = verb.split()
    for parameter in VERBS[verb].params:
        if parameter.param_type_name == "argument":
            usual = ARGUMENTS.get(parameter.name, "table.csv")
            words.append(arguments.get(parameter.name, usual))
    words += CHEAP.get(verb, ())
    return [*words, *(f"{name}={file}" for name, file in outputs(verb).items())]


@dataclass(frozen=True)
class Hostile:
    """A command line with one thing wrong: this value of this parameter."""

    verb: str
    parameter: str
    value: str
    words: list[str]
    option: tuple[str, ...] = ()


def hostile(verb: str) -> Iterator[Hostile]:
    """Yield the hostile command lines of a verb.

    A table that need not be named is named in every other one.
    """
    for parameter in VERBS[verb].params:
        kind = parameter.type_descriptor.annotation
        path = kind in (Path, list[Path])
        name = flag(parameter)
        if parameter.param_type_name == "argument":
            for value in (*FILES, *TABLES) if path else TEXTS:
                yield Hostile(verb, name, value, sound(verb, **{name: value}))
        elif kind is bool or name == "--help":
            given = (f"{name}=maybe",)
            yield Hostile(verb, name, "maybe", [*sound(verb), *given], given)
        else:
            for i, value in enumerate(_values(name, kind)):
                more = [""] * (parameter.nargs - 1)
                given = [name, value, *more] if more else [f"{name}={value}"]
                words = sound(verb) if i % 2 else _without_table(verb)
                yield Hostile(verb, name, value, [*words, *given], tuple(given))
    for name, kind in settings(verb).items():
        words = sound(verb)
        for i in [i for i, word in enumerate(words) if word.startswith(f"{name}=")]:
            del words[i - 1 : i + 1]  # a key is set once
        for value in ("maybe", "") if kind is bool else _values(name, kind):
            given = ("--set", f"{name}={value}")
            yield Hostile(verb, name, value, [*words, *given], given)


def settings(verb: str) -> dict[str, object]:
    """Keys of a verb that are no options, and their types."""
    verbs.describe_all()
    known = keys.VERBS.get(verb.replace(" ", "."), {})
    return {name: each.type for name, each in known.items() if not each.option}


def _values(name: str, kind: object) -> tuple[str, ...]:
    if kind is Path:
        return FILES if name in INPUTS else OUTPUTS
    number = isinstance(kind, type) and issubclass(kind, int | float | Enum)
    return NUMBERS if number else (*TEXTS, *NUMBERS)


def _without_table(verb: str) -> list[str]:
    optional = any(
        parameter.param_type_name == "argument" and not parameter.required
        for parameter in VERBS[verb].params
    )
    return [word for word in sound(verb) if word != "table.csv" or not optional]


def chosen() -> dict[str, list[Hostile]]:
    """Choose by verb what is tried in every test run; `make fuzz` draws from all.

    Every table and file, and a sixth of the values of every option. What several verbs
    share is spread over them, but every option of a verb is tried.
    """
    every = [each for verb in VERBS for each in hostile(verb)]
    users: dict[tuple[str, str], list[str]] = {}
    last = {}
    for each in every:
        cheap = each.verb not in EXPENSIVE
        users.setdefault((each.parameter, each.value), []).extend([each.verb] * cheap)
        last[each.verb, each.parameter] = each.value
    found: dict[str, list[Hostile]] = {verb: [] for verb in VERBS}
    for each in every:
        verbs = users[each.parameter, each.value] or [each.verb]
        draw = crc32(f"{each.parameter}{each.value!r}".encode())
        fallback = last[each.verb, each.parameter] == each.value
        if not each.option:
            turn = each.verb not in SLOW or SLOW[draw % len(SLOW)] == each.verb
        else:
            turn = draw % 6 == 0 and verbs[draw // 6 % len(verbs)] == each.verb
        if fallback or turn:
            found[each.verb].append(each)
    return found


def run(words: list[str]) -> Answer:
    """Run a command in this process; a warning counts as a traceback."""
    out, err = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True),
        io.StringIO(),
    )
    before = sys.argv, sys.stdin
    sys.argv = ["truepool", *words]
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO()))  # type: ignore[arg-type]
    code: int | None = None
    try:
        with warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(err):
            warnings.simplefilter("error")
            main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    except BaseException:  # whatever reaches the user is a fault, an interrupt too
        err.write(traceback.format_exc(limit=-3))
    finally:
        sys.argv, sys.stdin = before
    return Answer(code, out.buffer.getvalue().decode(errors="replace"), err.getvalue())


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if not path.is_symlink():
                found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def restore(folder: Path, before: dict[str, bytes]) -> None:
    """Bring a folder back to what it held."""
    for name, content in contents(folder).items():
        if name not in before:
            (folder / name).unlink()
        elif content != before[name]:
            (folder / name).write_bytes(before[name])
    for path in folder.iterdir():
        if path.is_dir() and not any(name.startswith(path.name) for name in before):
            shutil.rmtree(path)


def fault(words: list[str], folder: Path, before: dict[str, bytes]) -> str | None:
    """Run a command in a folder; say what it does that no command may do."""
    with chdir(folder):
        answer = run(words)
    after = contents(folder)
    if after != before:
        restore(folder, before)
    problem = _problem(answer, changed=after != before)
    if os.path.exists(DEVICE) and not stat.S_ISCHR(os.stat(DEVICE).st_mode):
        problem = f"{DEVICE} was replaced by a file"
    return problem and f"{words!r:.300}: {problem}"


def _problem(answer: Answer, *, changed: bool) -> str | None:
    shown = answer.out + answer.err
    if answer.code is None:
        return f"traceback\n{answer.err}"
    if answer.code not in (0, 1, 2):
        return f"exit code {answer.code}"
    if any(not c.isprintable() and c != "\n" for c in shown):
        return f"a control character is shown: {shown!r:.300}"
    if answer.code < 2:
        return None
    if changed:
        return f"something was written before: {answer.err}"
    if answer.out:
        return f"something was printed before the error: {answer.out:.200}"
    lines = answer.err.splitlines()
    if not lines or not all(line.startswith("error: ") for line in lines):
        return f"not a sentence for every fault: {answer.err:.500}"
    if len(answer.err) > 2000:
        return f"{len(answer.err)} characters: {answer.err:.200}"
    return None
