"""The command ``scripts/mutate``."""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from mutation.coverage_map import CoverageMap, build
from mutation.layout import MutationError, unpack
from mutation.results import ResultFile, render
from mutation.trials import Laboratory, Limits, draw_mutants, run_all

DESCRIPTION = """\
Change single lines of the library in a copy of it, and see which changes no test
notices.

  scripts/mutate --map
      run all tests once with coverage, to know which tests run which line
  scripts/mutate --sample 300 --seed 0 -o build/mutation/results.jsonl
      test 300 mutants, drawn from all packages
  scripts/mutate --report build/mutation/results.jsonl
      print the share killed per package, and the mutants that survived
"""


def parser() -> ArgumentParser:
    """Return the options."""
    made = ArgumentParser(
        "scripts/mutate",
        description=DESCRIPTION,
        formatter_class=RawDescriptionHelpFormatter,
    )
    action = made.add_mutually_exclusive_group(required=True)
    action.add_argument(
        "--map", nargs="*", metavar="PATH",
        help="build the coverage map, from all tests or only from those in PATH",
    )  # fmt: skip
    action.add_argument(
        "--sample", type=int, metavar="N", help="draw and test N mutants"
    )
    action.add_argument(
        "--report", type=Path, metavar="FILE", help="print the table of a file"
    )
    made.add_argument(
        "--seed", type=int, default=0, help="another seed draws other mutants"
    )
    made.add_argument(
        "--package", nargs="+", default=[], metavar="NAME",
        help="only packages or modules of this name, such as truepool.audits",
    )  # fmt: skip
    made.add_argument(
        "-o", "--output", type=Path, metavar="FILE",
        help="where to write results; an existing file is continued "
        "(default: results.jsonl in the folder)",
    )  # fmt: skip
    made.add_argument(
        "--jobs", type=int, default=2, help="processes at a time (default: 2)"
    )
    made.add_argument(
        "--budget", type=float, default=Limits.budget, metavar="SECONDS",
        help="run the tests of a mutant only up to this time, as measured for the map "
        "(default: %(default)g)",
    )  # fmt: skip
    made.add_argument(
        "--factor", type=float, default=Limits.factor,
        help="end a mutant after this many times the time of the same tests without "
        "it; that counts as killed (default: %(default)g)",
    )  # fmt: skip
    made.add_argument(
        "--source", nargs="+", default=[], metavar="FOLDER",
        help="source folders for the map (default: src of [tool.ruff])",
    )  # fmt: skip
    made.add_argument(
        "--folder", type=Path, metavar="FOLDER",
        help="where the map is kept (default: build/mutation)",
    )  # fmt: skip
    return made


def main(root: Path, arguments: Sequence[str] | None = None) -> int:
    """Build a map, test mutants or print a report, for the project in ``root``."""
    chosen = parser().parse_args(arguments)
    folder = (chosen.folder or root / "build" / "mutation").resolve()
    try:
        if chosen.report is not None:
            if not chosen.report.exists():
                raise MutationError(f"there is no file {chosen.report}")
            print(render(ResultFile(chosen.report)))
            return 0
        with TemporaryDirectory(prefix="mutate-", ignore_cleanup_errors=True) as work:
            if chosen.map is not None:
                place = folder / "map", Path(work)
                print(build(root, *place, chosen.source, chosen.map, chosen.jobs))
                return 0
            output = chosen.output or folder / "results.jsonl"
            limits = Limits(chosen.budget, chosen.factor)
            sample(folder / "map", Path(work), output, limits, chosen.sample,
                   chosen.seed, chosen.package, chosen.jobs)  # fmt: skip
    except MutationError as error:
        print(f"scripts/mutate: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. The same command continues a sample.", file=sys.stderr)
        return 130
    return 0


def sample(
    folder: Path, work: Path, output: Path, limits: Limits, number: int, seed: int,
    packages: Sequence[str], jobs: int,
) -> None:  # fmt: skip
    """Draw mutants, test those without a result, and print the table."""
    tree = work / "tree"
    archive = folder / "tree.tar.gz"
    if not archive.exists():
        raise MutationError("there is no coverage map yet; build it with --map")
    unpack(archive, tree)
    covered = CoverageMap(folder, tree)
    if covered.paths:
        print(f"The map knows only the tests in {' '.join(covered.paths)}.")
    file = ResultFile(output)
    file.belongs_to(covered.digest)
    mutants = draw_mutants(covered, number, seed, packages)
    laboratory = Laboratory(archive, covered, work, jobs, limits)
    run_all(laboratory, mutants, file, jobs, lambda text: print(text, flush=True))
    print(f"\n{render(file)}")
