"""The race: `auto` against what practitioners use instead, on one table of rows.

`PROTOCOL.md` says what was fixed before anything was measured; `make race` measures what
is missing in ``results.jsonl`` and writes ``docs/race.md`` from it.
"""
