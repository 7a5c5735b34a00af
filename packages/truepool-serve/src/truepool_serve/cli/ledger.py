"""``truepool ledger``: verify, export and shorten the record of a coordinator."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truepool.cli import options
from truepool.cli.keys import option

if TYPE_CHECKING:
    from truepool_serve.server.ledger import Ledger
    from truepool_serve.server.records import Entry

app = typer.Typer(
    help="Verify, export and shorten the record of a coordinator.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Place = Annotated[
    str,
    typer.Argument(metavar="LEDGER", help="File of a coordinator, or postgresql://..."),
]
Source = Annotated[
    str,
    typer.Argument(
        metavar="LEDGER", help="File of a coordinator, or its records as .jsonl."
    ),
]
PoolName = Annotated[str | None, option("pool", "Which pool (default: all).")]


@app.callback()
def private(context: typer.Context) -> None:
    """Verify, export and shorten the record of a coordinator."""
    import os

    # What a ledger holds is for its owner, also as a copy or an export.
    before = os.umask(0o077)
    context.call_on_close(lambda: os.umask(before))


@app.command("verify")
def verify(place: Place, pool: PoolName = None, json_file: options.Json = None) -> None:
    """Replay a ledger and compare decisions, weights and hashes."""
    from truepool.cli.outputs import STDOUT, check_files, print_files, write_json
    from truepool.cli.screen import print_line
    from truepool.core.errors import LedgerError
    from truepool.core.formatting import pluralize
    from truepool_serve.server import verification
    from truepool_serve.server.ledger import Ledger
    from truepool_serve.server.state import TOLERANCE

    check_files([], [json_file])
    with Ledger(place, write=False) as ledger:
        every = verification.verify_all(ledger, pool)
    found = [each for each in every if isinstance(each, verification.Verification)]
    faults = [each for each in every if isinstance(each, verification.Fault)]
    write_json(json_file, [vars(each) for each in every])
    for each in found if json_file != STDOUT else ():
        line = f"{each.pool}: verified {pluralize(each.entries, 'record')}"
        if each.erased:
            others = each.entries - each.replayed - each.erased
            line += (
                f", replayed {each.replayed:,} of them. Not replayed: "
                f"{pluralize(each.erased, 'erased record')} and "
                f"{pluralize(others, 'other')}, from an erased case up to the next "
                "snapshot; only their hashes were checked"
            )
        if each.apart:
            line += (
                f". {pluralize(each.apart, 'record')} came out with other last bits, "
                f"within a relative difference of {TOLERANCE:g}"
            )
        print_line(f"{line}. Chain {each.chain[:16]}.")
    if faults:
        raise LedgerError("\n".join(f"{each.pool}: {each.reason}" for each in faults))
    if json_file != STDOUT:
        if not every:
            print_line("The ledger has no pools.")
        print_files(json_file)


@app.command("token")
def token(
    place: Place,
    role: Annotated[
        str, typer.Option(metavar="ROLE", help="agent, operator, admin or monitor.")
    ],
    pool: Annotated[str | None, option("pool", "Pool of an agent.")] = None,
    agent: Annotated[str | None, option("agent", "The agent that reports.")] = None,
) -> None:
    """Create a token and print it, once; stop the coordinator first."""
    from truepool_serve.server.access import ANYONE, Access, check_grant, record
    from truepool_serve.server.operations import Operations

    check_grant(role, pool, agent)
    with _open(place, create=pool is None) as ledger, ledger.transaction():
        if pool is not None:
            Operations(ledger).check_agent(pool, agent)
        made = Access(ledger).issue(role, pool, agent)
        record(ledger, ANYONE, "issue", made.id, f"{role} (truepool ledger token)")
    print(made.token)


@app.command("export")
def export(
    place: Place,
    pool: Annotated[str, option("pool", "Which pool.")],
    output: Annotated[
        Path,
        option(
            "output",
            "File to write: .parquet for cases with a known outcome, .jsonl for all "
            "records.",
        ),
    ],
    last: Annotated[
        int, option("last", "How many of the most recent cases.", min=1)
    ] = 1_000_000,
) -> None:
    """Write the cases of a pool, or all its records."""
    from truepool.cli.outputs import check_files
    from truepool.cli.screen import print_line
    from truepool.core.files import atomic_path, check_path, write_bytes
    from truepool.core.formatting import pluralize
    from truepool_serve.server.entry_file import SUFFIX, format_entries
    from truepool_serve.server.settled import Settled, outline

    check_path(output, SUFFIX if output.suffix == SUFFIX else ".parquet")
    with _open(place) as ledger:
        check_files([Path(place)], [output])
        number = ledger.pool_number(pool)
        # No rule is needed, and so none of the plug-ins that the pool uses.
        config, agents, records = outline(ledger.entries(number))
        if output.suffix == SUFFIX:
            with atomic_path(output) as path, open(path, "w", encoding="utf-8") as file:
                file.writelines(format_entries(ledger.entries(number)))
            print_line(f"Wrote {pluralize(records, 'record')} to {output}.")
            return
        with ledger.reader() as reader:
            settled = Settled(config, agents, reader.settled(number, last))
        write_bytes(output, settled.to_parquet())
    print_line(f"Wrote {pluralize(len(settled.cases), 'case')} to {output}.")


@app.command("compact")
def compact(
    place: Place,
    before: Annotated[
        str,
        typer.Option(
            metavar="DATE",
            help="Erase cases settled before this date, as in 2026-01-31.",
        ),
    ],
    pool: PoolName = None,
) -> None:
    """Erase old cases; the weights and the hashes stay."""
    from truepool.cli.screen import print_line
    from truepool.core.formatting import pluralize
    from truepool_serve.messages import check_name
    from truepool_serve.server.ledger import Ledger
    from truepool_serve.server.operations import Operations

    moment = _moment("--before", before)
    if pool is not None:
        check_name("a pool", pool)
        with Ledger(place, write=False) as ledger:  # a refusal changes no byte
            Operations(ledger).find(pool)
    with _open(place) as ledger:
        operations = Operations(ledger)
        for name in ledger.pool_names() if pool is None else [pool]:
            with ledger.transaction():
                number, _ = operations.find(name)
                cases = ledger.settled_before(number, moment)
                if cases:
                    operations.erase(name, cases)
                fits = ledger.erase_fitted(number, moment)
            and_fits = f" and {pluralize(fits, 'fitted pool')}" if fits else ""
            print_line(f"{name}: erased {pluralize(len(cases), 'case')}{and_fits}.")
        ledger.database.shrink()


@app.command("trail")
def trail(
    place: Place,
    last: Annotated[
        int, option("last", "How many of the most recent actions.", min=1)
    ] = 100,
    json_file: options.Json = None,
) -> None:
    """Say who did what: tokens, pools, agents, rules, erasures."""
    from datetime import UTC, datetime

    from truepool.cli.outputs import STDOUT, check_files, print_files, write_json
    from truepool.cli.screen import print_line
    from truepool_serve.messages import to_builtins
    from truepool_serve.server.access import read_trail

    check_files([], [json_file])
    with _open(place) as ledger:
        found = read_trail(ledger, last)
    write_json(json_file, to_builtins(found))
    if json_file == STDOUT:
        return
    for each in found:
        at = datetime.fromtimestamp(each.at, UTC).isoformat(" ", "seconds")
        who = f"token {each.token}" if each.token else "without a token"
        # A new pool is its own target: its name would stand there twice.
        detail = "" if each.action == "create" else each.detail
        parts = (each.action, each.target, detail)
        what = " ".join(part for part in parts if part)
        print_line(f"{at}  {what}  ({each.role or 'unknown role'}, {who})")
    if not found:
        print_line("The trail is empty.")
    print_files(json_file)


@app.command("backup")
def backup(
    place: Place,
    output: Annotated[Path, option("output", "Ledger file to write.")],
) -> None:
    """Copy a ledger to a file, also while it is in use."""
    from truepool.cli.outputs import check_files
    from truepool.cli.screen import print_line
    from truepool.core.files import check_path
    from truepool.core.formatting import pluralize
    from truepool_serve.server.backup import back_up
    from truepool_serve.server.databases import display_name

    if display_name(place) == place:
        check_path(place)
    check_files([Path(place)], [output])
    records = back_up(place, output)
    print_line(f"Wrote {pluralize(records, 'record')} to {output}.")


@app.command("restore")
def restore(
    backup: Annotated[Path, typer.Argument(metavar="BACKUP", help="Copy to restore.")],
    target: Annotated[
        str, typer.Argument(metavar="LEDGER", help="Empty ledger, file or URL.")
    ],
) -> None:
    """Fill an empty ledger from a backup, once it is verified."""
    from truepool.cli.screen import print_line
    from truepool.core.formatting import pluralize
    from truepool_serve.server import backup as backups
    from truepool_serve.server.databases import display_name

    names = backups.restore(backup, target)
    pools = pluralize(len(names), "pool")
    them = "it" if len(names) == 1 else "them"
    print_line(f"Verified {pools} and restored {them} to {display_name(target)}.")


@app.command("statement")
def statement(
    place: Source,
    agent: Annotated[str, option("agent")],
    pool: Annotated[str | None, option("pool", "Which pool of a ledger.")] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="DATE",
            help="Only cases settled from this date on, as in 2026-01-31.",
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="DATE", help="Only cases settled before this date."
        ),
    ] = None,
    json_file: options.Json = None,
) -> None:
    """State what an agent contributed in a period."""
    from truepool.cli.outputs import STDOUT, check_files, print_files, write_json
    from truepool.cli.screen import print_line
    from truepool_serve.render.statement import describe
    from truepool_serve.server.statement import make_statement

    check_files([], [json_file])
    since = None if start is None else _moment("--from", start)
    until = None if end is None else _moment("--to", end)
    with _entries(place, pool) as entries:
        found = make_statement(entries, agent, since, until).to_dict()
    check_files([Path(place)], [json_file])
    write_json(json_file, found)
    if json_file != STDOUT:
        for line in describe(found):
            print_line(line)
        print_files(json_file)


@app.command("check")
def check_statement(
    statement_file: Annotated[
        str, typer.Argument(metavar="STATEMENT", help="JSON file of a statement.")
    ],
    place: Source,
) -> None:
    """Check a statement: recompute it from the records."""
    from truepool.cli.screen import print_line
    from truepool.core.formatting import pluralize
    from truepool_serve.server import statement as statements

    given = statements.read_statement(statement_file)
    with _entries(place, given["pool"]) as entries:
        replayed = statements.check_statement(given, entries)
    print_line(
        f"The statement is right: {pluralize(given['entries'], 'record')} verified, "
        f"{replayed:,} of them replayed. Chain {given['chain'][:16]}."
    )


@contextmanager
def _entries(place: str, pool: str | None) -> "Iterator[Iterator[Entry]]":
    """Yield the entries of a pool, of a ledger or of an export of its entries."""
    from truepool.core.errors import SettingError
    from truepool_serve.server.entry_file import SUFFIX, read_entries
    from truepool_serve.server.operations import Operations

    if place.endswith(SUFFIX):
        yield read_entries(place)
        return
    if pool is None:
        raise SettingError("a ledger holds several pools; name one with --pool")
    with _open(place) as ledger:
        number, _ = Operations(ledger).find(pool)
        yield ledger.entries(number)


def _moment(name: str, text: str) -> float:
    """Return a date as seconds; it is UTC unless it says otherwise."""
    from datetime import UTC, datetime

    from truepool.core.errors import SettingError

    try:
        date = datetime.fromisoformat(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise SettingError(
            f"{name} must be a date, as in 2026-01-31; got {text!r:.60}"
        ) from None


def _open(place: str, *, create: bool = False) -> "Ledger":
    from truepool_serve.server.ledger import Ledger

    return Ledger(place, create=create)
