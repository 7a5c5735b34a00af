"""Where the modules of a project lie, and copies of its tree to change them in."""

import os
import shutil
import subprocess
import tarfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from glob import glob
from hashlib import sha256
from pathlib import Path
from typing import Any


class MutationError(Exception):
    """What a user has to do first, or differently."""


@dataclass(frozen=True)
class Module:
    """A module that is mutated: its dotted name, and its path in the project."""

    name: str
    path: str

    @property
    def package(self) -> str:
        """The package that it is counted under: two components of its name."""
        return ".".join(self.name.split(".")[:2])


@dataclass(frozen=True)
class Layout:
    """Source folders of a project and the packages in them, from its configuration.

    The folders are ``src`` of ``[tool.ruff]``, where patterns such as
    ``packages/*/src`` are allowed; the packages are ``source`` of
    ``[tool.coverage.run]``, without what ``omit`` leaves out.
    """

    root: Path
    folders: tuple[str, ...]
    packages: tuple[str, ...]
    omitted: tuple[str, ...]

    @classmethod
    def read(cls, root: Path, folders: Sequence[str] = ()) -> "Layout":
        """Read the configuration; folders that are given replace those in it."""
        tools = tomllib.loads((root / "pyproject.toml").read_text()).get("tool", {})
        patterns = folders or tools.get("ruff", {}).get("src", [".", "src"])
        found = [
            p for pattern in patterns for p in sorted(glob(pattern, root_dir=root))
        ]
        run: dict[str, Any] = tools.get("coverage", {}).get("run", {})
        packages = [p for p in run.get("source", []) if _places(root, found, p)]
        if not packages:
            raise MutationError(
                f"no package of [tool.coverage.run] source lies in {', '.join(found)}; "
                "name the source folders with --source"
            )
        omitted = tuple(run.get("omit", []))
        return cls(root, tuple(found), tuple(packages), omitted)

    def package_folders(self) -> list[str]:
        """Folders of the packages, relative to the root."""
        named = self.packages
        return [p for name in named for p in _places(self.root, self.folders, name)]

    def modules(self, *, omitted: bool = False) -> list[Module]:
        """The modules that are mutated, by name; or those that are left out."""
        found = {}
        for folder in self.package_folders():
            for path in (self.root / folder).rglob("*.py"):
                parts = path.relative_to((self.root / folder).parent).with_suffix("")
                name = ".".join(p for p in parts.parts if p != "__init__")
                if any(fnmatch(path, pattern) for pattern in self.omitted) == omitted:
                    found[name] = Module(name, path.relative_to(self.root).as_posix())
        return [found[name] for name in sorted(found)]


def _places(root: Path, folders: Sequence[str], package: str) -> list[str]:
    paths = [Path(folder, package) for folder in folders]
    return [p.as_posix() for p in paths if (root / p).is_dir()]


def copy_tree(root: Path, target: Path) -> None:
    """Copy the files that git tracks or would track.

    All have the same time in whole seconds: caches of compiled code that are copied
    with the tree stay valid only if times are restored exactly.
    """
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True)
    time = (root / "pyproject.toml").stat().st_mtime // 1
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, target / name)
            os.utime(target / name, (time, time))


def pack(tree: Path, archive: Path, names: Sequence[str]) -> str:
    """Keep these files of a tree, and what numba compiled; return a digest of them."""
    digest = sha256()
    for name in sorted(names):
        digest.update(name.encode() + (tree / name).read_bytes())
    compiled = [p.relative_to(tree).as_posix() for p in tree.rglob("*.nb[ci]")]
    with tarfile.open(archive, "w:gz", compresslevel=3) as file:
        for name in [*sorted(names), *sorted(compiled)]:
            file.add(tree / name, name)
    return digest.hexdigest()[:12]


def unpack(archive: Path, target: Path) -> None:
    """Write the files of a kept tree."""
    with tarfile.open(archive) as file:
        file.extractall(target, filter="data")
