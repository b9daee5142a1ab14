"""kill -9 at the worst moment of every stage: the next run ends as if nothing had happened."""

from __future__ import annotations

import http.server
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from pipeline.__main__ import main
from tests import small_study
from tests.commands.test_download import LINES, change, unpinned_inflation
from tests.faults.conftest import OUTPUTS, STAGES, leftovers, start

FAR_FUTURE = 4e9
KILLED = """
import os, signal, sys
from pipeline.__main__ import main
left, sync = int(sys.argv[1]), os.fsync
def fsync(handle):
    global left
    sync(handle)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
os.fsync = fsync
sys.exit(main(sys.argv[2:]))
"""
"""The stage kills itself when so many files are on the disk, the last one not yet in place."""


def kill_in(study: Path, words: list[str], files: int) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(files), *words],
        cwd=study,
        env=small_study.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def results(study: Path) -> dict[str, bytes]:
    paths = [study / name for name in OUTPUTS.values()]
    paths += sorted(path for path in study.glob("results/*/frequency/*.json"))
    return {str(path): path.read_bytes() for path in paths if ".run." not in path.name}


@pytest.mark.parametrize(
    ("verb", "files"),
    [
        ("prepare", 1),
        pytest.param("prepare", 2, marks=pytest.mark.slow),
        pytest.param("tune", 1, marks=pytest.mark.slow),
        ("tune", 3),
        pytest.param("train", 1, marks=pytest.mark.slow),
        ("train", 2),
    ],
)
def test_a_stage_that_is_killed_while_it_writes(study: Path, verb: str, files: int) -> None:
    words = next(words for words in STAGES if words[0] == verb)
    expected = results(study)
    (study / OUTPUTS[verb]).unlink()
    kill_in(study, words, files)
    scratch = study / "scratch"
    assert leftovers(study) or any(scratch.rglob("*.jsonl")), "the kill came too late"
    for path in scratch.rglob("*"):  # the clock may have been set back since
        os.utime(path, (FAR_FUTURE, FAR_FUTURE))
    assert main(words) == 0
    assert results(study) == expected
    assert leftovers(study) == []


@contextmanager
def slow_server(content: bytes) -> Iterator[tuple[str, threading.Event]]:
    """Gives the first half of a file, and the rest when the event is set."""
    go_on = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            try:
                self.wfile.write(content[: len(content) // 2])
                self.wfile.flush()
                go_on.wait()
                self.wfile.write(content[len(content) // 2 :])
            except OSError:
                return  # the other side was killed

        def log_message(self, *words: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/a.csv", go_on
        finally:
            go_on.set()
            server.shutdown()


def until(condition: Callable[[], object], what: str, seconds: float = 120) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, what
        time.sleep(0.05)


def test_a_download_that_is_killed_half_way(project: Path) -> None:
    text = "\n".join(LINES) + "\n"
    unpinned_inflation(project, 60, LINES)
    shutil.rmtree(project / "raw" / "by_hand")
    with slow_server(text.encode()) as (address, go_on):
        keys = ("dataset", "inflation", "paper", "files", 0, "addresses")
        change(project / "raw" / "sources.yaml", *keys, value=[address])
        process = start(project, "download", "inflation")
        until(lambda: leftovers(project), "nothing arrives")
        process.kill()
        process.communicate()
        folder = project / "raw" / "inflation" / "paper"
        assert not list(folder.glob("*.csv")), "half a file looks like a whole one"
        go_on.set()
        assert main(["download", "inflation"]) == 0
        assert [path.read_text() for path in folder.iterdir()] == [text]


def kernels(process: psutil.Process) -> list[psutil.Process]:
    return [
        child
        for child in process.children(recursive=True)
        if "ipykernel_launcher" in " ".join(child.cmdline())
    ]


@pytest.mark.parametrize("victim", [pytest.param("report", marks=pytest.mark.slow), "kernel"])
def test_a_report_that_is_killed(study: Path, victim: str) -> None:
    page = study / "reports" / "theory.html"
    process = start(study, "report", "theory")
    parent = psutil.Process(process.pid)
    until(lambda: kernels(parent), "no kernel starts")
    kernel = kernels(parent)[0]
    (process if victim == "report" else kernel).kill()
    output, _ = process.communicate()
    assert "Traceback" not in output
    if victim == "kernel":
        assert process.returncode == 2
        assert "reports/notebooks/theory.ipynb" in output and "run it again" in output
    until(lambda: not kernel.is_running() or kernel.status() == "zombie", "the kernel goes on")
    assert not page.exists()
    assert main(["report", "theory"]) == 0
    assert page.exists() and leftovers(study / "reports") == []
