"""Operations of `truepool.v1`: from the values of a message to the coordinator."""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any

from truepool.core.errors import RequestError
from truepool_serve.server.access import Caller
from truepool_serve.server.answers import after
from truepool_serve.server.coordinator import Coordinator
from truepool_serve.server.history import History
from truepool_serve.server.http_cases import LONGEST_BATCH
from truepool_serve.server.reports import Report

CHUNK = 2**20
"""Bytes of one part of a table; clients accept 4 MiB unless told otherwise."""
LAST_CASES, LAST_AUDITED = 10_000, 1000
"""Settled cases to look at unless a request says otherwise, and those to audit."""
Values = dict[str, Any]
Act = Callable[[Coordinator, Caller, Values], Awaitable[Any]]


def reports(values: Values) -> list[Report]:
    """Return a batch of columns as reports."""
    cases = values.get("cases", [])
    agents = values.get("agents", [])
    numbers = values.get("probabilities", [])
    if len(cases) > LONGEST_BATCH:
        raise RequestError(
            "too-large", f"a batch has at most {LONGEST_BATCH:,} reports"
        )
    if len(agents) == 1:
        agents = agents * len(cases)
    wide, rest = divmod(len(numbers), len(cases) or 1)
    if len(agents) != len(cases) or rest or bool(cases) != bool(numbers):
        raise RequestError(
            "invalid",
            "a batch has one case per report, one agent per report or for all, and "
            f"one probability per report or per report and label; got {len(cases)} "
            f"cases, {len(agents)} agents and {len(numbers)} probabilities",
        )
    if wide == 1:
        return list(zip(cases, agents, numbers, strict=True))
    return [
        (case, agent, numbers[i * wide : (i + 1) * wide])
        for i, (case, agent) in enumerate(zip(cases, agents, strict=True))
    ]


async def _create(to: Coordinator, who: Caller, values: Values) -> Any:
    return _pool(await after(to.create(who, _with_text(values))))


async def _list(to: Coordinator, who: Caller, values: Values) -> Any:
    return {"pools": await after(to.pools(who))}


async def _describe(to: Coordinator, who: Caller, values: Values) -> Any:
    return _state(await after(to.describe(who, values["pool"])))


async def _join(to: Coordinator, who: Caller, values: Values) -> Any:
    return await _change(to, who, values, "join", _agent(values))


async def _leave(to: Coordinator, who: Caller, values: Values) -> Any:
    return await _change(to, who, values, "leave", {"agent": values["agent"]})


async def _endpoint(to: Coordinator, who: Caller, values: Values) -> Any:
    return await _change(to, who, values, "endpoint", _agent(values))


async def _report(to: Coordinator, who: Caller, values: Values) -> Any:
    found = await after(to.report(who, values["pool"], reports(values)))
    return {"batch": 1, **found}


async def _decide(to: Coordinator, who: Caller, values: Values) -> Any:
    columns = values.get("columns")
    return await after(to.decide(who, values["pool"], values["case"], columns))


async def _predict(to: Coordinator, who: Caller, values: Values) -> Any:
    features = values.get("features", {})
    rest = values.get("columns"), values.get("deadline")
    return await to.predict(who, values["pool"], values["case"], features, *rest)


async def _settle(to: Coordinator, who: Caller, values: Values) -> Any:
    outcomes = [(o["case"], o.get("outcome")) for o in values.get("outcomes", [])]
    return await after(to.settle(who, values["pool"], outcomes))


async def _case(to: Coordinator, who: Caller, values: Values) -> Any:
    return await after(to.case(who, values["pool"], values["case"]))


async def _erase(to: Coordinator, who: Caller, values: Values) -> Any:
    return await after(to.erase(who, values["pool"], values["case"]))


async def _export(to: Coordinator, who: Caller, values: Values) -> Any:
    history = await _history(to, who, values, LAST_CASES)
    return await asyncio.to_thread(history.to_parquet)


async def _audit(to: Coordinator, who: Caller, values: Values) -> Any:
    history = await _history(to, who, values, LAST_AUDITED)
    return {"json": json.dumps(await asyncio.to_thread(history.audit))}


async def _challenge(to: Coordinator, who: Caller, values: Values) -> Any:
    rule = {n: v for n, v in _with_text(values).items() if n not in ("pool", "name")}
    content = {"name": values["name"], "rule": rule}
    return await _change(to, who, values, "challenge", content)


async def _compare(to: Coordinator, who: Caller, values: Values) -> Any:
    last = values.get("last", LAST_CASES)
    found = await asyncio.to_thread(to.evidence, who, values["pool"], last)
    return {"challengers": found}


async def _promote(to: Coordinator, who: Caller, values: Values) -> Any:
    return await _change(to, who, values, "promote", {"name": values["name"]})


async def _withdraw(to: Coordinator, who: Caller, values: Values) -> Any:
    return await _change(to, who, values, "withdraw", {"name": values["name"]})


async def _issue(to: Coordinator, who: Caller, values: Values) -> Any:
    words = values["role"], values.get("pool"), values.get("agent")
    return await after(await asyncio.to_thread(to.issue, who, *words))


async def _revoke(to: Coordinator, who: Caller, values: Values) -> Any:
    return await after(await asyncio.to_thread(to.revoke, who, values["id"]))


OPERATIONS: dict[str, Act] = {
    "CreatePool": _create,
    "ListPools": _list,
    "DescribePool": _describe,
    "Join": _join,
    "Leave": _leave,
    "SetEndpoint": _endpoint,
    "Report": _report,
    "Decide": _decide,
    "Predict": _predict,
    "Settle": _settle,
    "DescribeCase": _case,
    "Erase": _erase,
    "ExportPanel": _export,
    "Audit": _audit,
    "Challenge": _challenge,
    "CompareChallengers": _compare,
    "Promote": _promote,
    "Withdraw": _withdraw,
    "IssueToken": _issue,
    "RevokeToken": _revoke,
}
"""What each method does; `StreamReports` is many times `Report`."""


async def _change(
    to: Coordinator, who: Caller, values: Values, kind: str, content: Values
) -> Any:
    return _state(await after(to.change(who, values["pool"], kind, content)))


async def _history(to: Coordinator, who: Caller, values: Values, usual: int) -> History:
    last = values.get("last", usual)
    return await asyncio.to_thread(to.history, who, values["pool"], last)


def _agent(values: Values) -> Values:
    return {"agent": values["agent"], "endpoint": values.get("endpoint")}


def _with_text(values: Values) -> Values:
    """Values with a saved pool as JSON has it."""
    if "saved_pool" not in values:
        return values
    return values | {"saved_pool": base64.b64encode(values["saved_pool"]).decode()}


def _pool(found: Values) -> Values:
    if "saved_pool" not in found:
        return found
    return found | {"saved_pool": base64.b64decode(found["saved_pool"])}


def _state(found: Values) -> Values:
    """Description of a pool, with what it was made with apart."""
    own = ("rule", "challengers", "weights", "entries", "endpoints", "warning")
    pool = {name: value for name, value in found.items() if name not in own}
    return {
        "pool": _pool(pool),
        "agents": found["agents"],
        **{name: found[name] for name in own if name in found},
    }
