"""Budgets and retries, without a server."""

from email.utils import formatdate
from random import Random
from time import time

import pytest
from httpx2 import Request, Response
from openai import APIConnectionError, APIStatusError, APITimeoutError

from truepool.core.errors import EndpointError, SettingError
from truepool_jury.llm import Budget, Retry, Spending
from truepool_jury.llm.completion import Completion
from truepool_jury.llm.retry import is_temporary, requested_wait

REQUEST = Request("POST", "http://localhost/v1/chat/completions")


def call(read, written):
    return Completion("", tokens_in=read, tokens_out=written)


def test_calls_are_counted_one_by_one():
    spent = Spending(Budget(calls=2), calls=1)
    assert spent.exhausted() is None
    spent.calls += 1
    assert spent.exhausted() == "2 calls"
    assert Spending(Budget(calls=0)).exhausted() == "0 calls"


def test_calls_under_way_count_as_much_as_the_largest_finished_one():
    spent = Spending(Budget(tokens=100))
    assert spent.exhausted() is None
    spent.add(call(20, 10))
    spent.under_way = 1
    assert spent.exhausted() is None  # 30 + 2 * 30
    spent.under_way = 2
    assert spent.exhausted() == "100 tokens"
    assert Spending(Budget(tokens=0)).exhausted() == "0 tokens"


def test_money_is_the_price_of_both_kinds_of_tokens():
    spent = Spending(Budget(money=0.01, price_in=1, price_out=10, currency="EUR"))
    spent.add(call(2000, 200))
    assert spent.money == pytest.approx(0.004)
    assert spent.exhausted() is None
    spent.under_way = 1
    assert spent.exhausted() == "0.0100 EUR"
    assert Spending(Budget(money=0, price_in=1, price_out=1)).exhausted() == "0.000 USD"


def test_an_endpoint_that_counts_no_tokens_cannot_keep_a_budget_of_them():
    free = Spending(Budget(calls=5))
    free.add(Completion(""))
    assert free.describe() == "0 calls, 0 tokens"
    with pytest.raises(EndpointError, match="budget-calls"):
        Spending(Budget(tokens=5)).add(Completion(""))


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"calls": -1}, "calls must be a number of at least 0; got -1"),
        ({"money": float("nan"), "price_in": 1, "price_out": 1}, "money must be"),
        ({"money": 5}, "give price-in and price-out"),
        ({"price_in": 5}, "Give both"),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused(settings, fault):
    with pytest.raises(SettingError, match=fault):
        Budget(**settings)


def failure(code, error_code=None, **headers):
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    response = Response(code, headers=named, request=REQUEST)
    return APIStatusError("no", response=response, body={"code": error_code})


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503, 504])
def test_the_wait_doubles_up_to_the_longest_with_jitter(code):
    retry = Retry(8, 1.0, 10.0)
    for i, longest in enumerate([1, 2, 4, 8, 10, 10, 10, 10]):
        waits = [retry.wait(failure(code), i, Random(s)) for s in range(20)]
        assert longest / 2 <= min(waits) < max(waits) <= longest
    assert retry.wait(failure(code), 8, Random(0)) is None


def test_what_the_endpoint_asks_for_comes_first():
    date = formatdate(time() + 60, usegmt=True)
    for headers, least, most in (
        ({"retry_after": "7"}, 7, 7),
        ({"retry_after_ms": "7500"}, 7.5, 7.5),
        ({"retry_after": date}, 55, 61),
        ({"retry_after": "-3"}, 0, 1),
        ({"retry_after": "nan"}, 0, 1),
    ):
        assert (
            least <= Retry(3, 1.0).wait(failure(429, **headers), 0, Random(0)) <= most
        )
    assert requested_wait({"retry-after": formatdate(0)}) == 0


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422])
def test_what_would_fail_again_is_not_repeated(code):
    assert Retry().wait(failure(code), 0, Random(0)) is None


def test_timeouts_broken_connections_and_cut_answers_are_repeated():
    for error in (
        APITimeoutError(REQUEST),
        APIConnectionError(request=REQUEST),
        ValueError(),
    ):
        assert is_temporary(error)
        assert Retry(1, 0.5).wait(error, 0, Random(0)) <= 0.5
    assert not is_temporary(KeyError())


def test_retries_are_not_negative():
    with pytest.raises(SettingError, match="retries must be at least 0; got -1"):
        Retry(-1)
