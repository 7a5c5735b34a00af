"""Audit the corpus: say what differs from the record, or make a new record.

Run: make corpus, or PYTHONPATH=packages/truepool/tests python -W ignore -m audit_corpus
[NAME ...] [--kind KIND ...] [--jobs 2] [--record]. A name or kind is one of `tables`. A
new record of a table replaces the old one; what is meant to differ stays as it is. Both
end with what was planted and how much of it was found, then and now.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor

from audit_corpus.answers import answers
from audit_corpus.record import (
    differences,
    falsely_blamed,
    is_meant,
    load,
    names_fault,
    record,
    save,
)
from audit_corpus.tables import TABLES


def audited(name):
    table = TABLES[name]
    return answers(table.audit(), table.names)


def main():
    parser = argparse.ArgumentParser(prog="audit_corpus", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    kinds = sorted({table.kind for table in TABLES.values()})
    parser.add_argument("--kind", nargs="*", default=[], choices=kinds)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    if unknown := {*given.names} - {*TABLES}:
        parser.error(f"there is no table {', '.join(sorted(unknown))}")
    wanted = [n for n, t in TABLES.items() if n in given.names or t.kind in given.kind]
    wanted = wanted or list(TABLES)
    known, found, count = load(), {}, {}
    with ProcessPoolExecutor(given.jobs) as pool:
        for name, one in zip(wanted, pool.map(audited, wanted), strict=True):
            found[name] = one
            if not given.record:
                _show(name, known, one, count)
    if given.record:
        new = {name: record(TABLES[name], found[name]) for name in wanted}
        save(known["tables"] | new, known["meant"])
    _score(known["tables"], found)
    print(f"{len(found)} tables; differences that are not meant: {count or 'none'}")
    return int(bool(count))


def _show(name, known, found, count):
    """Print what differs from the record, and count what is not meant by its field."""
    for what in differences(known["tables"][name], found):
        field, key, was, now = what
        fine = is_meant(what, name, known["meant"])
        mark = "meant" if fine else "DIFFERS"
        print(f"{mark:8}{name:22}{field:10}{key:28}{was} -> {now}", flush=True)
        if not fine:
            count[field] = count.get(field, 0) + 1


def _score(known, found):
    """Print how many planted faults are named by kind, in the record and now."""
    rows = {}
    for name, one in found.items():
        before, row = known.get(name), rows.setdefault(TABLES[name].kind, [0] * 5)
        planted = TABLES[name].planted
        row[0] += len(planted)
        for column, said in ((1, before), (3, one)):
            if said is not None:
                row[column] += sum(names_fault(fault, said) for fault in planted)
                row[column + 1] += len(falsely_blamed(planted, said))
    print(f"{'kind':20}{'planted':>8}{'named':>12}{'falsely blamed':>18}")
    rows["all"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    for kind, (due, *counts) in rows.items():
        was, false, now, false_now = counts
        change = f"{was} -> {now}", f"{false} -> {false_now}"
        print(f"{kind:20}{due:8}{change[0]:>12}{change[1]:>18}")


if __name__ == "__main__":
    sys.exit(main())
