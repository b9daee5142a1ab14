"""Headless Chromium, driven by its own protocol: open a page, look, click, print."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from tornado.websocket import WebSocketClientConnection, websocket_connect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"
)
WIDTHS = (1440, 390)
SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
)


class Browser:
    """One browser and one tab for all tests that share it."""

    def __init__(self, profile: Path) -> None:
        assert CHROMIUM is not None
        command = [CHROMIUM, *SWITCHES, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.loop = asyncio.new_event_loop()
        self.problems: list[str] = []
        self._number = 0
        self._loaded = False
        self._socket = self._do(self._connect(profile / "DevToolsActivePort"))
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    _session = ""

    def open(self, path: Path, width: int = 1440, query: str = "", dark: bool = False) -> None:
        """Load a page; what goes wrong on it is in `problems` afterwards."""
        self.problems.clear()
        self._loaded = False
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=path.as_uri() + query)
        deadline = time.monotonic() + 60
        while not self._loaded:
            assert time.monotonic() < deadline, f"{path} did not load"
            self._do(self._hear())
        self.evaluate("document.fonts.ready.then(() => 1)")  # also: every event has arrived

    def evaluate(self, script: str) -> Any:
        """The value of an expression on the page."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def scripts(self, allowed: bool) -> None:
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            code = {"Enter": 13, "Tab": 9}.get(key, 0)
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **text
            )

    def pdf(self) -> bytes:
        return base64.b64decode(self.call("Page.printToPDF")["data"])

    def picture(self, path: Path) -> None:
        """The whole page, for people."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._do(self._call(method, params))

    def close(self) -> None:
        self._socket.close()
        self.process.terminate()
        self.process.wait(timeout=30)
        self.loop.close()

    def _do(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(coroutine, 120))

    async def _connect(self, port_file: Path) -> WebSocketClientConnection:
        while not (port_file.exists() and len(port_file.read_text().splitlines()) == 2):
            assert self.process.poll() is None, "chromium ended at once"
            await asyncio.sleep(0.05)
        port, path = port_file.read_text().splitlines()
        return await websocket_connect(
            f"ws://127.0.0.1:{port}{path}", max_message_size=256 * 1024 * 1024
        )

    async def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        await self._socket.write_message(json.dumps(message))
        while True:
            answer = await self._hear()
            if answer.get("id") == message["id"]:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    async def _hear(self) -> dict[str, Any]:
        text = await self._socket.read_message()
        assert text is not None, "chromium went away"
        message = json.loads(text)
        params = message.get("params", {})
        match message.get("method"):
            case "Page.loadEventFired":
                self._loaded = True
            case "Runtime.exceptionThrown":
                self.problems.append(str(params["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self.problems.append(str(params["args"]))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.problems.append(str(params["entry"]))
            case "Network.loadingFailed":
                self.problems.append(str(params))
            case "Network.requestWillBeSent":
                address = params["request"]["url"]
                if not address.startswith(("file:", "data:", "about:")):
                    self.problems.append(f"asks the network for {address}")
        return message
