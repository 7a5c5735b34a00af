"""``truepool serve`` and ``truepool ledger``."""

import gc
import json
import re
import signal
import socket
import ssl
from contextlib import ExitStack
from pathlib import Path

import grpc
import numpy as np
import pytest
from pyarrow import parquet as pq
from server.grpc_service import Client
from server.service import Local, Nursery

import truepool as tp
from truepool.core import registry
from truepool.core.files import exit_on_sigterm
from truepool_serve.cli import serve


@pytest.fixture
def place(tmp_path):
    with Local(tmp_path / "ledger.db") as local:
        local.fill(20, np.random.default_rng(0))
    return tmp_path / "ledger.db"


@pytest.fixture
def ran(monkeypatch):
    """Configurations of servers that end at once."""
    found = []

    async def end(self, sockets):
        found.append(self.config)

    monkeypatch.setattr("uvicorn.Server.serve", end)
    return found


def test_a_coordinator_seldom_looks_for_garbage(truepool, place, monkeypatch):
    found, before = [], gc.get_threshold()

    async def end(self, sockets):
        found.append((gc.get_threshold()[0], gc.get_freeze_count() > 0))

    monkeypatch.setattr("uvicorn.Server.serve", end)
    try:
        assert truepool("serve", place, "--port", "0")[0] == 0
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
    assert found == [(50_000, True)]


def test_check_says_whether_a_ledger_can_be_served(truepool, place, tmp_path):
    assert truepool("serve", place, "--check") == (0, f"{place} can be served.\n", "")
    assert truepool("serve", place, "--check", "--quiet") == (0, "", "")
    code, _, err = truepool("serve", tmp_path / "none.db", "--check")
    assert (code, err) == (2, f"error: there is no ledger '{tmp_path}/none.db'\n")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--host", "0.0.0.0"], "needs TLS (--tls-cert, --tls-key) and tokens"),
        (["--tls-cert", "c.pem"], "both --tls-cert and --tls-key"),
        (["--set", "tls-client-ca=c.pem"], "tls-client-ca needs"),
        (["--host", "256.0.0.1", "--insecure"], "cannot listen on 256.0.0.1"),
        (["--tls-cert", "no.pem", "--tls-key", "no.pem"], "no.pem"),
    ],
)
def test_what_is_not_safe_or_not_possible_is_refused(truepool, place, words, sentence):
    code, _, err = truepool("serve", place, *words)
    assert code == 2
    assert sentence in err
    new = place.with_name("new.db")
    assert truepool("serve", new, *words)[0] == 2
    assert not new.exists()
    assert err.count("\n") <= 2


def test_beyond_this_machine_tokens_alone_are_not_enough(truepool, place, certificate):
    key, cert = certificate
    words = ("--host", "0.0.0.0", "--check", "--tls-cert", cert, "--tls-key", key)
    code, _, err = truepool("serve", place, *words)
    assert (code, "and tokens" in err) == (2, True)
    code, token, _ = truepool("ledger", "token", place, "--role", "admin")
    assert code == 0
    assert token.startswith("tp_")
    assert truepool("serve", place, "--host", "0.0.0.0", "--check")[0] == 2
    assert truepool("serve", place, *words)[0] == 0
    words = ("--host", "0.0.0.0", "--check", "--insecure")
    assert truepool("serve", place, *words)[0] == 0


def test_a_token_that_cannot_be_makes_no_ledger(truepool, place, tmp_path):
    new = tmp_path / "new.db"
    code, _, err = truepool("ledger", "token", new, "--role", "root")
    assert (code, "a role is one of agent, operator, admin" in err) == (2, True)
    words = ("--role", "agent", "--pool", "fraud", "--agent")
    code, _, err = truepool("ledger", "token", new, *words, "ada")
    assert (code, "there is no ledger" in err, new.exists()) == (2, True, False)
    code, _, err = truepool("ledger", "token", place, *words, "eve")
    assert (code, "pool 'fraud' has no agent 'eve'" in err) == (2, True)
    assert truepool("ledger", "token", place, *words, "ada")[1].startswith("tp_")


def test_verify_replays_the_ledger(truepool, place):
    code, out, _ = truepool("ledger", "verify", place)
    assert code == 0
    assert out.startswith("fraud: verified 41 records. Chain ")
    code, out, _ = truepool("ledger", "verify", place, "--json", "-")
    assert json.loads(out)[0]["replayed"] == 41
    code, _, err = truepool("ledger", "verify", place, "--pool", "frad")
    assert (code, "known: fraud" in err) == (2, True)
    code, _, err = truepool("ledger", "verify", place, "--pool", "\udcff")
    assert (code, "must be printable" in err) == (2, True)


def test_an_empty_ledger_has_no_pools(truepool, tmp_path):
    Local(tmp_path / "l.db", None).__exit__()
    out = truepool("ledger", "verify", tmp_path / "l.db")[1]
    assert out == "The ledger has no pools.\n"


def test_the_export_can_be_audited(truepool, place, tmp_path):
    table = tmp_path / "cases.parquet"
    words = ("ledger", "export", place, "--pool", "fraud", "-o", table, "--last", "15")
    assert truepool(*words) == (0, f"Wrote 15 cases to {table}.\n", "")
    panel = tp.read_panel(table, outcome="outcome", positive="fraud")
    assert panel.reports.shape == (15, 3)
    code, _, err = truepool("ledger", "export", place, "--pool", "x", "-o", table)
    assert (code, "there is no pool 'x'" in err) == (2, True)


def test_a_pool_whose_plug_in_is_gone_is_named_and_can_be_exported(
    truepool, tmp_path, monkeypatch
):
    place, table = tmp_path / "l.db", tmp_path / "cases.parquet"
    with Local(place) as local:
        rule = {"name": "new", "rule": {"learner": "hedge"}}
        local.change("fraud", "challenge", rule)
        local.change("fraud", "join", {"agent": "dan"})
        local.change("fraud", "leave", {"agent": "ada"})
        local.report("fraud", [(c, a, 0.2) for c in "ab" for a in ("bob", "dan")])
        for case in "ab":
            local.decide("fraud", case, None)
            local.settle("fraud", [(case, "ok")])
    names = registry.names
    gone = lambda kind: {k: v for k, v in names(kind).items() if k != "hedge"}  # noqa: E731
    monkeypatch.setattr(registry, "names", gone)
    for words in (("ledger", "verify", place), ("serve", place, "--check")):
        code, _, err = truepool(*words)
        assert code == 2
        assert "a rule of the pool 'fraud' in the ledger cannot be used: " in err
        assert "'hedge'" in err
    words = ("ledger", "export", place, "--pool", "fraud", "-o")
    assert truepool(*words, table) == (0, f"Wrote 2 cases to {table}.\n", "")
    assert pq.read_table(table).column_names[2:4] == ["bob", "cyd"]
    lines = tmp_path / "all.jsonl"
    assert truepool(*words, lines) == (0, f"Wrote 8 records to {lines}.\n", "")


@pytest.fixture
def export(truepool, tmp_path):
    with Local(tmp_path / "more.db") as local:
        local.fill(60, np.random.default_rng(0))
    table = tmp_path / "cases.parquet"
    truepool("ledger", "export", tmp_path / "more.db", "--pool", "fraud", "-o", table)
    return table


def used(err):
    """What a run says that it took from an export."""
    return re.findall(r"[:,] ([a-z-]+) = ", err.partition("From the export")[2])


COSTS = ["outcome", "positive", "cost-fn", "cost-fp", "currency"]


def test_an_export_is_audited_at_the_costs_of_its_pool(truepool, export):
    code, out, err = truepool("audit", export, "--json", "-")
    assert (code, used(err)) == (0, COSTS)
    assert "not the coordinator's rule" in err
    found = json.loads(out)
    costs = found["costs"]
    assert (costs["fn"], costs["fp"], costs["currency"]) == (10, 1, "EUR")
    words = ("--outcome", "outcome", "--positive", "fraud", "--cost-fn", "10")
    words += ("--set", "currency=EUR", "--pool", "mean", "--json", "-")
    code, said, err = truepool("audit", export, *words)
    assert (code, used(err)) == (0, [])
    assert json.loads(said) == found


def test_costs_on_the_command_line_win_over_those_of_an_export(truepool, export):
    code, out, err = truepool("compare", export, "--cost-fn", "3", "--json", "-")
    assert (code, used(err)) == (0, ["outcome", "positive"])
    costs = json.loads(out)["costs"]
    assert (costs["fn"], costs["fp"], costs.get("currency", "")) == (3, 1, "")


def test_a_pool_is_fitted_at_the_costs_of_an_export(truepool, export, tmp_path):
    code, _, err = truepool("fit", export, "-o", tmp_path / "f.pool")
    assert (code, used(err)) == (0, COSTS)
    pool = tp.load_pool(tmp_path / "f.pool")
    assert (pool.costs.fn, pool.labels_.positive) == (10, "fraud")


def test_compact_erases_what_is_old(truepool, place):
    words = ("ledger", "compact", place, "--before")
    assert truepool(*words, "2001-01-01") == (0, "fraud: erased 0 cases.\n", "")
    code, _, err = truepool(*words, "yesterday")
    assert (code, "must be a date" in err) == (2, True)
    assert truepool(*words, "2999-01-01T00:00:00+02:00", "--pool", "fraud")[1] == (
        "fraud: erased 20 cases.\n"
    )
    out = truepool("ledger", "verify", place)[1]
    assert out.startswith(
        "fraud: verified 43 records, replayed 3 of them. Not replayed: 40 erased "
        "records and 0 others, from an erased case up to the next snapshot; only their "
        "hashes were checked. Chain "
    )


def test_the_trail_is_readable(truepool, place):
    truepool("ledger", "token", place, "--role", "operator")
    code, out, _ = truepool("ledger", "trail", place)
    assert code == 0
    first, last = out.splitlines()
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00  create fraud  \(admin, without a token\)",
        first,
    )
    assert "operator (truepool ledger token)  (admin, without a token)" in last
    code, out, _ = truepool("ledger", "trail", place, "--last", "1", "--json", "-")
    (row,) = json.loads(out)
    assert row["action"] == "issue"


def test_an_empty_trail_is_said_to_be_empty(truepool, tmp_path):
    Local(tmp_path / "l.db", None).__exit__()
    assert truepool("ledger", "trail", tmp_path / "l.db")[1] == "The trail is empty.\n"


def test_a_ledger_is_backed_up_and_restored(truepool, place, tmp_path):
    copy, new = tmp_path / "copy.db", tmp_path / "new.db"
    out = truepool("ledger", "backup", place, "-o", copy)[1]
    assert out == f"Wrote 41 records to {copy}.\n"
    out = truepool("ledger", "restore", copy, new)[1]
    assert out == f"Verified 1 pool and restored it to {new}.\n"
    assert truepool("ledger", "verify", new) == truepool("ledger", "verify", place)
    code, _, err = truepool("ledger", "restore", copy, new)
    assert (code, "into an empty ledger" in err) == (2, True)


def test_the_exit_codes_of_a_stopped_service_are_listed():
    docs = Path(__file__).parents[4] / "docs"
    said = re.search(r"exit code is then (.*)", (docs / "serve.md").read_text())[1]
    codes = set(re.findall(r"\d+", said))
    assert codes == {"130", "143"}
    listed = (docs / "reference" / "errors.md").read_text().partition("## Codes")[0]
    assert codes <= set(re.findall(r"^\| (\d+) \|", listed, re.MULTILINE))


def test_compact_gives_the_space_back(truepool, place):
    with Local(place, None) as local:
        rows = [(f"more {i}", "ada", 0.5) for i in range(20_000)]
        local.report("fraud", rows)
        for case, *_ in rows[:50]:
            local.erase("fraud", case)
    truepool("ledger", "compact", place, "--before", "2999-01-01")
    assert b"case 1" not in place.read_bytes()  # nothing that was erased is left


def test_the_command_line_wins_over_the_environment_and_it_over_the_file(
    truepool, place, tmp_path, monkeypatch, ran
):
    file = tmp_path / "c.toml"
    file.write_text('[serve]\nhost = "256.0.0.1"\ninsecure = true\n')

    def host(*words):
        err = truepool("serve", *words, "--port", "0", "--config", file)[2]
        return re.search(r"(listen on|http://)\s?([\d.]+\d)", err)[2]

    assert host(place) == "256.0.0.1"
    monkeypatch.setenv("TRUEPOOL_SERVE_HOST", "127.0.0.1")
    monkeypatch.setenv("TRUEPOOL_SERVE_LEDGER", str(place))
    assert host() == "127.0.0.1"
    assert host("--host", "257.0.0.1") == "257.0.0.1"
    monkeypatch.setenv("TRUEPOOL_SERVE_PORT", "many")
    code, _, err = truepool("serve", "--check")
    assert (code, "port" in err, "'many'" in err) == (2, True, True)


@pytest.mark.parametrize(
    ("seconds", "warns"), [(4e-7, True), (9.9e-6, True), (1e-5, False), (None, False)]
)
def test_a_file_in_memory_is_warned_of(
    truepool, place, monkeypatch, ran, seconds, warns
):
    monkeypatch.setattr(
        "truepool_serve.server.sqlite.Sqlite.sync_time", lambda self: seconds
    )
    err = truepool("serve", place, "--port", "0")[2]
    assert ("a power cut would lose it" in err) == warns


def test_the_time_of_the_disk_is_measured(place):
    with Local(place, None) as local:
        assert 0 < local.coordinator.ledger.database.sync_time() < 10


def test_traces_need_a_collector(truepool, place):
    code, _, err = truepool("serve", place, "--set", "traces=localhost")
    assert (code, "must be the URL of a collector" in err) == (2, True)


def test_it_listens_and_says_where(truepool, place, ran, certificate):
    code, _, err = truepool("serve", place, "--port", "0")
    assert code == 0
    assert err.startswith(
        "No tokens: anyone who can reach this address may do everything.\n"
    )
    assert re.search(
        rf"Serving {place} on http://127.0.0.1:\d+; Ctrl\+C stops.\n$", err
    )
    key, cert = certificate
    words = ("--tls-cert", cert, "--tls-key", key, "--set", f"tls-client-ca={cert}")
    assert truepool("serve", place, "--port", "0", *words, "--quiet") == (0, "", "")
    assert ran[1].ssl_cert_reqs == ssl.CERT_REQUIRED
    assert ran[0].access_log is False  # paths hold the names of cases


@pytest.fixture(scope="module")
def nursery():
    with Nursery() as found:
        yield found


def test_it_serves_grpc_too_on_a_port_of_its_own(nursery, tmp_path):
    process = nursery.start(tmp_path / "l.db", "--grpc-port", "0")
    process.wait_until_ready()
    port = re.search(r"gRPC on 127.0.0.1:(\d+)\.", "".join(process.said))[1]
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        assert Client(channel).call("ServerReady").ready
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = ("--grpc-port", str(taken.getsockname()[1]))
        with pytest.raises(AssertionError, match="another host or port") as e:
            nursery.start(tmp_path / "other.db", *words)
        assert str(e.value).startswith("error: ")  # and gRPC prints nothing itself
    process.stop()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = (X.sum(axis=1) > 0).astype(int)
    folder = tmp_path_factory.mktemp("model")
    agent = tp.agents.train(X, y, ["logistic"], cache=False)["logistic"]
    tp.agents.save(agent, folder / "clf.joblib")
    return folder / "clf.joblib"


@pytest.fixture(scope="module")
def exported(model):
    for name in ("onnxruntime", "skl2onnx"):
        pytest.importorskip(name, reason="needs truepool[onnx]")
    path = model.with_suffix(".onnx")
    agent = tp.agents.load(model, trust=True)
    tp.agents.export(agent, path, np.random.default_rng(0).normal(size=(100, 2)))
    return path


def test_an_agent_is_served_by_one_command(nursery, exported):
    values = [[0.5, -1.0], [2.0, 0.25]]
    expected = tp.agents.load(exported).predict_proba(np.array(values))
    process = nursery.start(exported, "--grpc-port", "0", verb=["agent", "serve"])
    said = "".join(process.said)
    assert "Serving model clf on http://127.0.0.1" in said
    given = {"name": "x", "datatype": "FP64", "shape": [2, 2], "data": values}
    status, answer = process.ask("POST", "/v2/models/clf/infer", {"inputs": [given]})
    assert status == 200
    assert answer["outputs"][0]["data"] == expected.ravel().tolist()
    port = re.search(r"gRPC on 127.0.0.1:(\d+)\.", said)[1]
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        assert Client(channel).call("ModelReady", {"name": "clf"}).ready
    process.stop()


def test_a_pickled_agent_is_served_only_where_it_is_trusted(truepool, model):
    code, _, err = truepool("agent", "serve", model, "--check")
    assert (code, "trust" in err) == (2, True)
    words = ("agent", "serve", model, "--check", "--trust")
    assert truepool(*words) == (0, f"{model} can be served.\n", "")
    assert truepool(*words, "--quiet") == (0, "", "")


def test_an_agent_is_not_served_to_others_without_tls_and_a_token(
    truepool, exported, certificate, monkeypatch
):
    key, cert = certificate
    words = ("agent", "serve", exported, "--check", "--host", "0.0.0.0")
    tls = ("--tls-cert", cert, "--tls-key", key)
    for extra in ((), tls):
        code, _, err = truepool(*words, *extra)
        assert (code, "TRUEPOOL_AGENT_TOKEN" in err) == (2, True)
    assert truepool(*words, "--insecure")[0] == 0
    monkeypatch.setenv("TRUEPOOL_AGENT_TOKEN", "secret")
    assert truepool(*words)[0] == 2
    assert truepool(*words, *tls)[0] == 0


def test_a_port_that_is_taken_is_refused():
    listener = serve.listen("127.0.0.1", 0)
    assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    with listener, pytest.raises(tp.core.errors.SettingError, match="Name another"):
        serve.listen("127.0.0.1", listener.getsockname()[1])
    try:
        serve.listen("::1", 0).close()
    except tp.core.errors.SettingError:
        pass  # a machine without IPv6


def test_the_ledger_of_a_demo_goes_when_the_server_is_terminated():
    places = []

    def serve_until_terminated():
        with ExitStack() as stack:
            stack.enter_context(exit_on_sigterm())
            places.append(Path(serve._temporary_ledger(stack)).parent)
            assert places[0].exists()
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(SystemExit):
        serve_until_terminated()
    assert not places[0].exists()
