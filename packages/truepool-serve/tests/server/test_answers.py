"""How those who wait on an event loop get the answers of the writer."""

import asyncio
import threading
import time

import pytest

from truepool.core.errors import RequestError
from truepool_serve.server.answers import Answer, after, give


def test_an_answer_that_is_there_is_returned_and_an_error_raised():
    good, bad = Answer(), Answer()
    give([(good, 3), (bad, RequestError("unknown", "no such case"))])
    assert good.done()
    assert asyncio.run(after(good)) == good.result() == 3
    with pytest.raises(RequestError, match="no such case"):
        asyncio.run(after(bad))


def test_everybody_gets_their_own_answer_from_another_thread():
    answers = [Answer() for _ in range(2000)]

    def write():
        for i, answer in enumerate(answers):
            give([(answer, i if i % 7 else RequestError("conflict", str(i)))])

    async def wait():
        threading.Thread(target=write).start()
        waiting = asyncio.gather(*map(after, answers), return_exceptions=True)
        return await asyncio.wait_for(waiting, 60)

    found = asyncio.run(wait())
    assert [str(answer) for answer in found] == [str(i) for i in range(2000)]
    refused = [i for i, each in enumerate(found) if isinstance(each, RequestError)]
    assert refused == list(range(0, 2000, 7))


def test_the_loop_is_woken_once_for_answers_that_come_together(monkeypatch):
    answers, woken = [Answer() for _ in range(50)], []

    async def wait():
        loop = asyncio.get_running_loop()
        usual = loop.call_soon_threadsafe

        def count(act, *words):
            woken.append(act)
            return usual(act, *words)

        monkeypatch.setattr(loop, "call_soon_threadsafe", count)
        waiting = [asyncio.create_task(after(answer)) for answer in answers]
        await asyncio.sleep(0)
        give((answer, None) for answer in answers)
        await asyncio.gather(*waiting)

    asyncio.run(wait())
    assert len(woken) == 1


def test_one_who_leaves_keeps_no_answer_from_the_others():
    first, second = Answer(), Answer()

    async def wait():
        left, stays = (asyncio.create_task(after(each)) for each in (first, second))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.sleep(0)
        give([(first, 1), (second, 2)])
        return await stays

    assert asyncio.run(wait()) == 2


def test_an_answer_after_the_loop_has_ended_is_nobodys_trouble(caplog):
    late = Answer()

    async def leave():
        task = asyncio.create_task(after(late))
        await asyncio.sleep(0)
        assert not task.done()

    asyncio.run(leave())
    give([(late, 1)])
    assert not caplog.records


def test_a_thread_waits_for_an_answer_as_long_as_it_says():
    answer = Answer()
    with pytest.raises(TimeoutError):
        answer.result(0.01)

    def write():
        time.sleep(0.05)
        give([(answer, 3)])

    threading.Thread(target=write).start()
    assert answer.result(60) == 3
    assert answer.result() == 3


def test_no_thread_that_waits_is_forgotten():
    """Given at every moment around the one at which the waiting begins."""
    for _ in range(300):
        answers = [Answer() for _ in range(20)]
        writer = threading.Thread(target=give, args=([(a, 1) for a in answers],))
        writer.start()
        assert [answer.result(60) for answer in answers] == [1] * 20
        writer.join()
