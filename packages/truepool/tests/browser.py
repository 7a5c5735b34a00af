"""A real browser, driven over a pipe by its DevTools protocol; no package needed."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 60.0


def find_browser():
    """Path of the browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a browser: calls go down one pipe, answers and events come up another."""

    def __init__(self, path):
        self.folder = tempfile.mkdtemp()
        down, self.down = os.pipe()
        self.up, up = os.pipe()
        self.process = subprocess.Popen(
            # The protocol is spoken on descriptors 3 and 4, whatever they are here.
            ["bash", "-c", f'exec "$@" 3<&{down} 4>&{up}', "-", path, *FLAGS, f"--user-data-dir={self.folder}"],
            pass_fds=(down, up), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(down)
        os.close(up)
        self.buffer, self.calls, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call(
            "Target.attachToTarget", targetId=target, flatten=True
        )["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Ask, and wait for the answer; what happens meanwhile is kept in ``events``."""
        self.calls += 1
        request = {"id": self.calls, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.down, json.dumps(request).encode() + b"\0")
        return self.wait(lambda message: message.get("id") == request["id"])["result"]

    def wait(self, wanted):
        """Next message that is wanted; events on the way are kept."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            message = self._next(end)
            if "method" in message:
                self.events.append(message)
            if wanted(message):
                assert "error" not in message, message
                return message
        raise TimeoutError("the browser did not answer")

    def _next(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select(
                [self.up], [], [], max(0.0, end - time.monotonic())
            )
            read = os.read(self.up, 1 << 20) if ready else b""
            if not read:
                raise TimeoutError("the browser did not answer")
            self.buffer += read
        line, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(line)

    def open(self, path, width=1280, height=900, dark=False):
        """Show a file or an address, and wait until it stands."""
        self.events.clear()
        self.resize(width, height, dark)
        url = path if "://" in str(path) else f"file://{path}"
        self.call("Page.navigate", url=url)
        self.wait(lambda message: message.get("method") == "Page.loadEventFired")

    def resize(self, width, height=900, dark=False):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def run(self, script):
        """Value of a script, run in the page."""
        message = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in message, message
        return message["result"].get("value")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=KEYS[key],
                **text,
            )

    def drag(self, start, end):
        """Press the mouse at one point and let it go at another."""
        for kind, (x, y) in (("Pressed", start), ("Moved", end), ("Released", end)):
            self.call(
                "Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, button="left", buttons=1, clickCount=1
            )  # fmt: skip

    def picture(self):
        """The whole page as PNG."""
        message = self.call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True
        )
        return base64.b64decode(message["data"])

    def printed(self):
        """The page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF")["data"])

    def happened(self, *methods):
        return [
            message["params"] for message in self.events if message["method"] in methods
        ]

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(PATIENCE)
        os.close(self.down)
        os.close(self.up)
        shutil.rmtree(self.folder, ignore_errors=True)


KEYS = {"Enter": 13, "Tab": 9, "ArrowLeft": 37, "ArrowRight": 39}
