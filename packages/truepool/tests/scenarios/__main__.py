"""Audit draws of every scenario and say in how many of them each answer was right.

Run: make scenarios, or PYTHONPATH=tests python -m scenarios [NAME ...] [--seeds 1000
1020] [--jobs 2] [--output FILE]. A line of JSON per draw; a draw that the file already
holds is not made again. Seeds below 1000 are for development, others judge.
"""

import argparse
import json
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

import truepool as tp
from scenarios import answers, bank, cards, excess

EXCESS = "excess"
"""The comparison of `auto` with its linear candidates, on `cards` and on `large`."""
SPLITS = (0.5, 0.7, -0.5, -0.7)
"""Shares of the card payments to learn from; negative: drawn at random."""


SEEDS = (0, 1, 2, 3)
"""Seeds of an audit that must give one plan."""


def run(name, seed):
    """One draw: its answers, or the excess of `auto` on the tables of this seed.

    What takes minutes is left out for most seeds: its answers are empty then.
    """
    if name == EXCESS:
        return [asdict(one) for one in _excess(seed)]
    if name in EXTRA:
        every, draw = EXTRA[name]
        found = draw(seed) if seed % every == 0 else {}
    else:
        found = answers.draw(name, seed)
    return {what: bool(right) for what, right in found.items()}


def _worth(seed):
    """Whether each vendor's interval holds what it is worth on another draw."""
    drawn, other = bank.make("large", seed), bank.make("large", seed + 500_000)
    return answers.worth_is_right(drawn, answers.audit(drawn), other)


def _seeds(seed):
    return {"plan": _one_plan(bank.make("large", seed).panel)}


def _cards(seed):
    """The real payments, of which there is one table."""
    found = tp.audit(cards.make().panel(), costs=bank.COSTS)
    same = {"plan of four seeds": _one_plan(cards.make().panel())}
    return answers.judge_cards(found) | same


def _one_plan(panel):
    """Whether audits of all seeds recommend the same."""
    audits = (tp.audit(panel, costs=bank.COSTS, seed=seed) for seed in SEEDS)
    return len({found.plan.pool for found in audits}) == 1


EXTRA = {"worth": (5, _worth), "seeds": (10, _seeds), "cards": (1000, _cards)}
"""What takes minutes: every so many seeds."""


def _excess(seed):
    """Minutes each; there is one table of cards, so its splits in time are made once."""
    found = []
    for split in SPLITS if seed % 20 == 0 else SPLITS[2:]:
        found += excess.on_cards(split, seed)
    return found + (excess.on_bank("large", seed) if seed % 5 == 0 else [])


def main():
    """Make the draws that are missing, and print the rates of right answers."""
    parser = argparse.ArgumentParser(prog="scenarios", description=__doc__)
    names = [*answers.RIGHT, *EXTRA, EXCESS]
    parser.add_argument("names", nargs="*", choices=[*names, []], default=[])
    parser.add_argument("--seeds", nargs=2, type=int, default=(1000, 1020))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path("build/scenarios.jsonl"))
    args = parser.parse_args()
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.touch()
    known = {(row["name"], row["seed"]): row for row in _rows(args.output)}
    wanted = [(name, s) for name in args.names or names for s in range(*args.seeds)]
    missing = [place for place in wanted if place not in known]
    with (
        ProcessPoolExecutor(args.jobs) as pool,
        args.output.open("a", encoding="utf-8") as file,
    ):
        tasks = {pool.submit(run, *place): place for place in missing}
        for done in as_completed(tasks):
            name, seed = tasks[done]
            row = {"name": name, "seed": seed, "found": done.result()}
            known[name, seed] = row
            print(json.dumps(row), file=file, flush=True)
    _report([known[place] for place in wanted])


def _rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _report(rows):
    """Print a table of rates, then one of costs."""
    draws = defaultdict(list)
    for row in rows:
        draws[row["name"]].append(row["found"])
    compared = [excess.Paid(**one) for part in draws.pop(EXCESS, []) for one in part]
    print("| scenario | answer | right | of |\n|---|---|---|---|")
    for name, every in draws.items():
        found = [answer for answer in every if answer]
        for what in found[0] if found else ():
            print(f"| {name} | {what} | {sum(d[what] for d in found)} | {len(found)} |")
    if not compared:
        return
    cells = defaultdict(list)
    for one in compared:
        cells[one.table, one.costs].append(one)
    print(
        "\n| table | draws | costs | auto | best linear | its cost | excess | 95 % |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    for (table, costs), found in cells.items():
        e = excess.Excess.over(found)
        print(
            f"| {table} | {len(found)} | {costs} | {1000 * e.auto:.4g} | {e.linear} | "
            f"{1000 * e.best:.4g} | {e.value:+.1%} | [{e.low:+.1%}, {e.high:+.1%}] |"
        )


if __name__ == "__main__":
    main()
