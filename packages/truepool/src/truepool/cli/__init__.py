"""The command: one file per verb. The list of verbs is printed without importing them.

Only what every Python has already imported is imported here: the help of the command
must come at once, and the parser alone takes ten times as long as Python to start.
"""

import os
import sys

PAGE = os.path.join(os.path.dirname(__file__), "help.txt")
"""What ``truepool --help`` prints where no verb of somebody else is installed."""
PAGE_WIDTH = 80
"""Characters of a line of `PAGE`; the parser's help is never wider."""
LISTED = {b"game", b"jury", b"ledger", b"reproduce", b"serve"}
"""Verbs of truepool's other distributions: `PAGE` has them, installed or not."""
READ = {
    b"agents.zoo",
    b"checks",
    b"datasets",
    b"kinds",
    b"learners",
    b"names",
    b"pools",
    b"words",
}
"""Groups of plug-ins that change nothing on `PAGE`; it warns of an unknown one."""


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] in (["--help"], ["-h"]) and _page_is_true():
        try:
            with open(PAGE, encoding="ascii") as page:
                sys.stdout.write(page.read())
            sys.stdout.flush()
            sys.exit()
        except OSError:  # a full disk, which the commands report
            pass
    from truepool.cli.verbs import run

    run()


def _page_is_true() -> bool:
    """Return whether the screen is wide enough and no other plug-in is installed."""
    try:
        columns = int(os.environ.get("COLUMNS") or 0)
        columns = columns or os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        columns = PAGE_WIDTH  # no terminal
    return columns >= PAGE_WIDTH and not any(map(_has_plugins, sys.path))


def _has_plugins(folder: str) -> bool:
    if os.path.isfile(folder):  # a zip archive, which only the parser looks into
        return True
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return False
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                    if not _is_listed(file.read()):
                        return True
            except OSError:
                continue
    return False


def _is_listed(entry_points: bytes) -> bool:
    """Return whether entry points offer nothing to truepool but verbs on the page."""
    for section in entry_points.split(b"[")[1:]:
        group, _, entries = section.partition(b"]")
        offered = {line.split(b"=")[0].strip() for line in entries.split(b"\n")} - {b""}
        ours, _, kind = group.partition(b".")
        if ours == b"truepool" and kind == b"verbs":
            offered = {verb for verb in offered if b"." not in verb} - LISTED
            if offered:
                return False
        elif ours == b"truepool" and kind not in READ:
            return False
    return True
