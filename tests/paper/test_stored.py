"""Means that are kept make the same answers as the run they are from."""

import json

import pytest

from truepool.paper import reproduce
from truepool.paper.expected import printed
from truepool.paper.stored import retold, stored

LABELS = ["tab:hyperparams", "tab:drift_regret", "fig:drift_regret", "tab:jetson_rtt"]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    run = reproduce(LABELS, out=tmp_path_factory.mktemp("run"))
    others = {label: {"verdict": "pending", "cause": "left out", "cells": []} for label in printed()}  # fmt: skip
    return {**run.to_dict(), "tables": {**others, **run.to_dict()["tables"]}}


def test_judged_anew_they_come_out_the_same(told):
    again = retold(stored(told)).to_dict()
    assert list(again["tables"]) == list(printed())
    assert again["environment"] == told["environment"]
    for label in LABELS:
        for before, after in zip(told["tables"][label]["cells"], again["tables"][label]["cells"], strict=True):  # fmt: skip
            assert (before["key"], before["verdict"]) == (after["key"], after["verdict"])  # fmt: skip
            if isinstance(before["measured"], float):
                assert after["measured"] == pytest.approx(before["measured"], rel=1e-5)
        rest = ("verdict", "reading", "cause", "columns", "seeds")
        assert [told["tables"][label][k] for k in rest] == [again["tables"][label][k] for k in rest]  # fmt: skip
    assert again["tables"]["tab:poa"]["cause"] == "left out"


def test_no_verdict_and_no_printed_number_is_kept(told):
    run, *rows = map(json.loads, stored(told).splitlines())
    assert set(run) == {"size", "environment", "pending"}
    assert {tuple(row) for row in rows} == {("table", "key", "column", "value", "error", "repeats")}  # fmt: skip
