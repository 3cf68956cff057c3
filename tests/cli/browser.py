"""A headless Chromium, told what to do over its debugging pipe. Needs no package."""

import base64
import contextlib
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
LIMIT = 60  # seconds for any one answer; a loaded machine is slow


def find() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """One page. `messages` is what it wrote to the console, `requests` what it asked for."""

    def __init__(self, browser: "Browser", session: str):
        self.browser, self.session = browser, session
        self.messages: list[str] = []
        self.requests: list[str] = []
        browser.pages[session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def on_event(self, method: str, told: dict):
        if method == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(one.get("value")) for one in told["args"]))
        elif method == "Runtime.exceptionThrown":
            self.messages.append(json.dumps(told["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.messages.append(told["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    def size(self, width: int, height: int = 900):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip

    def scheme(self, value: str):
        """`light` or `dark`, as the system would have it."""
        feature = {"name": "prefers-color-scheme", "value": value}
        self.send("Emulation.setEmulatedMedia", media="", features=[feature])

    def open(self, file: pathlib.Path):
        self.send("Page.navigate", url=file.resolve().as_uri())
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression: str):
        got = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in got, got["exceptionDetails"]
        return got["result"].get("value")

    def wait(self, condition: str):
        end = time.monotonic() + LIMIT
        while not self.evaluate(condition):
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.02)

    def screenshot(self, file: pathlib.Path):
        """Of the whole page, however long."""
        got = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(got["data"]))

    def pdf(self, file: pathlib.Path):
        file.write_bytes(base64.b64decode(self.send("Page.printToPDF")["data"]))


class Browser:
    def __init__(self, program: str, profile: str):
        to_read, self.to_browser = os.pipe()
        self.from_browser, to_write = os.pipe()
        # It reads from descriptor 3 and writes to 4. A sandbox cannot be had by root.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", program, "--headless",
             "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self.buffer = b""
        self.last = 0
        self.pages: dict[str, Page] = {}

    def send(self, method: str, session: str | None = None, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            got = self.receive()
            if got.get("id") == self.last:
                assert "error" not in got, f"{method}: {got['error']}"
                return got["result"]
            page = self.pages.get(got.get("sessionId"))
            if page and "method" in got:
                page.on_event(got["method"], got["params"])

    def receive(self) -> dict:
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.from_browser], [], [], LIMIT)
            assert ready, "the browser does not answer"
            chunk = os.read(self.from_browser, 1 << 16)
            assert chunk, "the browser has ended"
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def page(self) -> Page:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session)

    def close(self):
        os.close(self.to_browser)
        os.close(self.from_browser)
        self.process.kill()  # what it would save on an orderly end is thrown away
        self.process.wait(LIMIT)


@contextlib.contextmanager
def started():
    """A browser with a profile of its own, gone afterwards."""
    with tempfile.TemporaryDirectory(
        prefix="einkorn-browser-", ignore_cleanup_errors=True
    ) as profile:
        browser = Browser(find(), profile)
        try:
            yield browser
        finally:
            browser.close()
