"""A sweep on a Ray of our own: the numbers of one process."""

from pathlib import Path

from command import truepool
from ray_nodes import ray

from truepool_lab.games import Game, sweep

__all__ = ["ray", "truepool"]


def test_a_sweep_runs_on_it(ray):
    game, over = Game(cases=300), {"offset": [0.0, 0.05], "n": [2, 3]}
    settings = {"repetitions": 2, "seed": 3}
    here = sweep(game, over, ["brier"], jobs=1, **settings)
    assert sweep(game, over, ["brier"], engine=ray, **settings).points == here.points


def test_the_command_writes_on_it_what_it_writes_here(
    ray, tmp_path, truepool, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    words = "game --sweep n=2,3 --set cases=300 --json {}.json"
    here = truepool(*words.format("here").split())
    there = truepool(*words.format("there").split(), "--set", "engine=ray")
    assert here[0] == 0
    assert tuple(str(text).replace("there", "here") for text in there) == tuple(
        map(str, here)
    )
    assert Path("there.json").read_bytes() == Path("here.json").read_bytes()
