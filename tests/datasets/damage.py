"""What the tests of all parsers use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from learned_context.errors import UserError

AGAIN = "delete it and download it again"


def error(parse: Callable[[], object]) -> str:
    """The message of the error that `parse` must raise: one line."""
    with pytest.raises(UserError) as caught:
        parse()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def damaged(path: Path, old: str, new: str) -> Path:
    """Replace a piece of a file in place."""
    text = path.read_bytes().decode("utf-8-sig")
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode())
    return path
