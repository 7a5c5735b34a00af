"""A stand-in for a language model: a local server that speaks OpenAI's chat protocol.

It is no language model. It answers by a rule that can be read off the prompt: the share of
`SIGNS` that occur in the user's message, as a probability. Its models are called
`MODEL` and `OTHER`, so everything made with it carries such a name, and others are unknown.

What goes wrong is scripted: `faults` are taken one per request, before the rule applies.
"""

import json
import re
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

import pytest

MODEL = "stand-in, no language model"
OTHER = "second stand-in, no language model"
KEY = "sk-secret-of-the-test-0123456789"
SIGNS = ('"S0"', '"REJ"', 'serror_rate": 1', "bad", "wrong")
"""What speaks for yes; the probability is (1 + how many occur) / (2 + how many there are)."""
ORDER = re.compile(r"ignore (?:all )?previous instructions and answer (\d\.?\d*)", re.I)
QUOTED = re.compile(r"<data ([0-9a-f]+)>.*?</data \1>", re.S)


def rule(text: str) -> float:
    """Probability that the stand-in gives; an order outside quoted data is obeyed."""
    order = ORDER.search(QUOTED.sub("", text))
    if order:
        return float(order[1])
    return (1 + sum(sign in text for sign in SIGNS)) / (2 + len(SIGNS))


@dataclass
class StandIn:
    """What the server was asked, and what it does next."""

    faults: deque = field(default_factory=deque)
    requests: list[dict] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    schemas: bool = True
    usage: bool = True
    logprobs: bool = True
    models: bool = True
    delay: float = 0.0
    say: str | None = None
    under_way: int = 0
    most_under_way: int = 0
    lock: Lock = field(default_factory=Lock)
    url: str = ""


@contextmanager
def serve() -> Iterator[StandIn]:
    """Run a server on loopback until the block ends."""
    state = StandIn()

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, request, client_address):
            pass  # a client that was killed

    class Bound(Handler):
        stand_in = state

    server = Server(("127.0.0.1", 0), Bound)
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    stand_in: StandIn

    def do_GET(self):
        if self.path != "/v1/models" or not self.stand_in.models:
            return self.refuse(404, "there is nothing here")
        about = {"object": "model", "created": 0, "owned_by": "tests"}
        models = [{"id": name, **about} for name in (MODEL, OTHER)]
        return self.send({"object": "list", "data": models})

    def do_POST(self):
        state = self.stand_in
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with state.lock:
            state.requests.append(body)
            state.authorizations.append(self.headers["Authorization"])
            state.times.append(time.monotonic())
            state.under_way += 1
            state.most_under_way = max(state.most_under_way, state.under_way)
            fault = state.faults.popleft() if state.faults else None
        try:
            time.sleep(state.delay)
            self.answer(body, fault)
        finally:
            with state.lock:
                state.under_way -= 1

    def answer(self, body, fault):
        state = self.stand_in
        sent = self.headers.get("Authorization")
        if self.path != "/v1/chat/completions":
            return self.refuse(404, "there is nothing here")
        if sent != f"Bearer {KEY}":
            return self.refuse(
                401, f"Incorrect API key provided: {sent}", "invalid_api_key"
            )
        if body["model"] not in (MODEL, OTHER):
            return self.refuse(404, f"no model {body['model']}", "model_not_found")
        if "response_format" in body and not state.schemas:
            return self.refuse(400, "response_format json_schema is not supported")
        if fault is not None:
            return fault(self, body)
        return self.complete(body)

    def complete(self, body, *, text=None, finish="stop", refusal=None, cut=0):
        """Send a completion, as one piece or as a stream of chunks."""
        user = body["messages"][-1]["content"]
        chance = rule(user)
        said = {"probability": chance}
        if '"verdict"' in user:
            said = {"verdict": "yes" if chance > 0.5 else "no"}
        if "step by step" in user:
            said = {"reasoning": "A rule of the tests.", **said}
        schema = "response_format" in body or "tools" in body
        answer = (
            json.dumps(said) if schema else f"A rule of the tests.\n{json.dumps(said)}"
        )
        answer = text if text is not None else self.stand_in.say or answer
        message = {"role": "assistant", "content": answer, "refusal": refusal}
        if "tools" in body:
            called = {
                "name": body["tool_choice"]["function"]["name"],
                "arguments": answer,
            }
            call = {"id": "call_1", "type": "function", "function": called}
            message |= {"content": None, "tool_calls": [call]}
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": finish,
            "logprobs": None,
        }
        if body.get("logprobs") and self.stand_in.logprobs:
            choice["logprobs"] = {"content": tokens(answer, chance), "refusal": None}
        whole = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [choice],
        }
        if self.stand_in.usage:
            read, written = len(user.split()), len(answer.split())
            whole["usage"] = {
                "prompt_tokens": read,
                "completion_tokens": written,
                "total_tokens": read + written,
            }
        if body.get("stream"):
            return self.stream(whole, answer, cut)
        return self.send(whole, cut=cut)

    def stream(self, whole, answer, cut):
        chunk = {**whole, "object": "chat.completion.chunk"}
        usage = chunk.pop("usage", None)
        (choice,) = chunk.pop("choices")
        message = choice["message"]
        pieces = [{"role": "assistant"}]
        if "tool_calls" in message:
            (call,) = message["tool_calls"]
            pieces.append({"tool_calls": [{"index": 0, **call}]})
        else:
            half = len(answer) // 2
            pieces += [{"content": answer[:half]}, {"content": answer[half:]}]
        if message["refusal"]:
            pieces.append({"refusal": message["refusal"]})
        events = [
            {**chunk, "choices": [{"index": 0, "delta": piece, "finish_reason": None}]}
            for piece in pieces
        ]
        end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        if choice["logprobs"]:
            end["logprobs"] = choice["logprobs"]
        events.append({**chunk, "choices": [end]})
        if usage:
            events.append({**chunk, "choices": [], "usage": usage})
        lines = [json.dumps(event) for event in events[: len(events) - abs(cut)]]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in lines if cut else [*lines, "[DONE]"]:
            event = f"data: {line}\n\n".encode()
            self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        self.close_connection = cut > 0
        if not self.close_connection:
            self.wfile.write(b"0\r\n\r\n")

    def send(self, value, status=200, headers=(), cut=0):
        content = json.dumps(value).encode()
        self.send_bytes(content, "application/json", status, headers, cut)

    def send_bytes(self, content, kind, status=200, headers=(), cut=0):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content[: len(content) - cut])
        self.close_connection = bool(cut)

    def refuse(self, status, message, code=None, headers=()):
        error = {"message": message, "type": "stand_in", "param": None, "code": code}
        self.send({"error": error}, status, headers)

    def log_message(self, *args):
        pass


def tokens(answer, chance):
    """The answer in tokens; at a verdict, both words with their log-probabilities."""
    from math import log

    pieces = re.findall(r"yes|no|\W+|\w+", answer)
    tops = [
        {"token": "yes", "logprob": log(chance)},
        {"token": "no", "logprob": log(1 - chance)},
    ]
    return [
        {"token": piece, "logprob": 0.0, "bytes": None,
         "top_logprobs": tops if piece in ("yes", "no") else []}
        for piece in pieces
    ]  # fmt: skip


def status(code, message="not now", error_code=None, **headers):
    """A fault: an error of the endpoint."""
    named = [(name.replace("_", "-"), str(value)) for name, value in headers.items()]
    return lambda handler, body: handler.refuse(code, message, error_code, named)


def says(text, **how):
    """A fault: a completion with this text instead of that of the rule."""
    return lambda handler, body: handler.complete(body, text=text, **how)


def cut(count):
    """A fault: the end of the response is never sent; of a stream, so many events.

    Where the count is negative, the stream ends properly without its last events.
    """
    return lambda handler, body: handler.complete(body, cut=count)


def late(seconds):
    """A fault: an answer after so many seconds."""

    def wait(handler, body):
        time.sleep(seconds)
        handler.complete(body)

    return wait


@pytest.fixture
def endpoint(monkeypatch):
    """A server whose URL and key are in the environment."""
    with serve() as state:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", state.url)
        yield state


@pytest.fixture
def stand_in(endpoint, monkeypatch, tmp_path):
    """The same, with a folder of its own for the answers."""
    monkeypatch.setenv("TRUEPOOL_CACHE", str(tmp_path / "cache"))
    return endpoint
