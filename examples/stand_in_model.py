"""A stand-in for a language model, to try `truepool agent llm` without one.

Run: python examples/stand_in_model.py, then in another terminal
OPENAI_API_KEY=none OPENAI_BASE_URL=http://127.0.0.1:8123/v1 truepool agent llm ...
It understands no prompt: its answer is a hash of its name and the case. No number made
with it says anything about a model.
"""

import json
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Chat(BaseHTTPRequestHandler):
    """Answers OpenAI's chat protocol."""

    def do_POST(self) -> None:
        """Answer one call."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = request["model"] + request["messages"][-1]["content"]
        answer = json.dumps({"probability": sha256(asked.encode()).digest()[0] / 255})
        message = {"role": "assistant", "content": answer}
        reply = {
            "id": "1", "object": "chat.completion", "created": 0,
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }  # fmt: skip
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing about each call."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 8123), Chat)
    print("Listening on http://127.0.0.1:8123/v1.", flush=True)
    server.serve_forever()
