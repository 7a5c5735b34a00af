"""Distributions with plug-ins, for tests: modules and entry points in a folder."""

from pathlib import Path
from textwrap import dedent


def install(
    folder: Path,
    name: str,
    modules: dict[str, str],
    entry_points: dict[str, dict[str, str]],
) -> Path:
    """Lay a distribution out as an installer does; the folder goes on the path.

    ``entry_points`` are by group.
    """
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    )
    groups = (
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in entry_points.items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups))
    for module, text in modules.items():
        path = folder / module
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return folder
