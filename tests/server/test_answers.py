"""How those who wait on an event loop get the answers of the writer."""

import asyncio
import threading
from concurrent.futures import Future

import pytest

from truepool.core.errors import RequestError
from truepool.server.answers import after


def test_an_answer_that_is_there_is_returned_and_an_error_raised():
    good, bad = Future(), Future()
    good.set_result(3)
    bad.set_exception(RequestError("unknown", "no such case"))
    assert asyncio.run(after(good)) == 3
    with pytest.raises(RequestError, match="no such case"):
        asyncio.run(after(bad))


def test_everybody_gets_their_own_answer_from_another_thread():
    answers = [Future() for _ in range(2000)]

    def write():
        for i, answer in enumerate(answers):
            if i % 7:
                answer.set_result(i)
            else:
                answer.set_exception(RequestError("conflict", str(i)))

    async def wait():
        threading.Thread(target=write).start()
        waiting = asyncio.gather(*map(after, answers), return_exceptions=True)
        return await asyncio.wait_for(waiting, 60)

    found = asyncio.run(wait())
    assert [str(answer) for answer in found] == [str(i) for i in range(2000)]
    refused = [i for i, each in enumerate(found) if isinstance(each, RequestError)]
    assert refused == list(range(0, 2000, 7))


def test_the_loop_is_woken_once_for_answers_that_come_together(monkeypatch):
    answers, woken = [Future() for _ in range(50)], []

    async def wait():
        loop = asyncio.get_running_loop()
        usual = loop.call_soon_threadsafe

        def count(act, *words):
            woken.append(act)
            return usual(act, *words)

        monkeypatch.setattr(loop, "call_soon_threadsafe", count)
        waiting = [asyncio.create_task(after(answer)) for answer in answers]
        await asyncio.sleep(0)
        for answer in answers:
            answer.set_result(None)
        await asyncio.gather(*waiting)

    asyncio.run(wait())
    assert len(woken) == 1


def test_one_who_leaves_keeps_no_answer_from_the_others():
    first, second = Future(), Future()
    for answer in (first, second):
        answer.set_running_or_notify_cancel()

    async def wait():
        left, stays = (asyncio.create_task(after(each)) for each in (first, second))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.sleep(0)
        first.set_result(1)
        second.set_result(2)
        return await stays

    assert asyncio.run(wait()) == 2


def test_an_answer_after_the_loop_has_ended_is_nobodys_trouble(caplog):
    late = Future()

    async def leave():
        task = asyncio.create_task(after(late))
        await asyncio.sleep(0)
        assert not task.done()

    asyncio.run(leave())
    late.set_result(1)
    assert not caplog.records
