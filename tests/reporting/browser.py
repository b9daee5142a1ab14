"""Headless Chromium: a page as it stands after its scripts have run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")
SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--enable-logging=stderr",
    "--dump-dom",
)


def open_page(path: Path, profile: Path) -> tuple[str, list[str]]:
    """Its HTML, and what stood on the console."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *SWITCHES, f"--user-data-dir={profile}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]
