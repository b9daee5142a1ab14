"""Runs one command and kills it, with all its children, when the process above dies.

Usage: python guard.py COMMAND ARGUMENT... with standard input a pipe from the process above.
The guard leads a process group of its own. The system closes the pipe however the other side
ends, kill -9 included; then the whole group is killed. Uses the standard library only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def kill_group_at_end_of_input() -> None:
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    threading.Thread(target=kill_group_at_end_of_input, daemon=True).start()
    code = process.wait()
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
