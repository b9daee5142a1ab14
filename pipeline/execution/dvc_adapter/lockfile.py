"""Writes dvc.lock as DVC does, but whole or not at all, and without parsing it every time.

DVC re-parses and rewrites the file in place for every stage, which takes about a second at
a hundred stages and leaves half a file when killed. Here only the new entries are formatted, by
DVC's own formatter; the text of the others is kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dvc.utils.serialize import dumps_yaml, parse_yaml_for_update

from learned_context.errors import UserError
from pipeline.files import read_text, write_text

HEADER = "schema: '2.0'\nstages:\n"
ENTRY = re.compile(r"^  (?=\S)", re.MULTILINE)
PLAIN_KEY = re.compile(r"  ([\w@.+-]+):\n")


class LockFile:
    """One dvc.lock. `order` says where a new entry goes: as if `dvc repro` had run them all."""

    def __init__(self, path: Path, order: Sequence[str], scratch: Path) -> None:
        self.path = path
        # Not beside the file, where a killed run would leave it in the user's way.
        self._temporary = scratch / "dvc.lock.tmp"
        self._rank = {name: rank for rank, name in enumerate(order)}
        self._text: str | None = None
        self._entries: dict[str, str] | None = {}

    def update(self, stages: Mapping[str, Any]) -> bool:
        """Set the entries of these stages; say whether the file changed. Call under the lock."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else HEADER
        if text != self._text:  # someone else wrote it, or it is the first time
            self._entries = _split(text)
        if self._entries is None:
            new = _update_by_parser(self.path, text, stages)
        else:
            for name, content in stages.items():
                self._place(self._entries, name, _entry(name, content))
            new = HEADER + "".join(self._entries.values())
        if new != text:
            self._replace(new)
        self._text = new
        return new != text

    def _replace(self, text: str) -> None:
        with self._temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self._temporary.replace(self.path)

    def _place(self, entries: dict[str, str], name: str, entry: str) -> None:
        if name in entries or name not in self._rank:
            entries[name] = entry
            return
        names = list(entries)
        before = [n for n, one in enumerate(names) if self._rank.get(one, -1) < self._rank[name]]
        position = before[-1] + 1 if before else 0
        later = {one: entries.pop(one) for one in names[position:]}
        entries[name] = entry
        entries.update(later)


def drop(path: Path, unwanted: Callable[[str], bool]) -> None:
    """Remove the entries of some stages, and the file with its last one. Call under the lock."""
    if not path.exists():
        return
    text = read_text(path)
    entries = _split(text)
    if entries is None:
        raise UserError(f"{path}: not as DVC writes it; restore it with `git checkout`")
    kept = {name: entry for name, entry in entries.items() if not unwanted(name)}
    if len(kept) == len(entries):
        return
    if not kept:
        path.unlink()
    else:
        write_text(path, HEADER + "".join(kept.values()))


def _split(text: str) -> dict[str, str] | None:
    """The text of every entry, or None if the file is not as DVC writes it."""
    if text == HEADER:
        return {}
    if not text.startswith(HEADER) or re.search(r"^\S", text[len(HEADER) :], re.MULTILINE):
        return None
    starts = [match.start() for match in ENTRY.finditer(text)]
    parts = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    entries = {}
    for part in parts:
        key = PLAIN_KEY.match(part)
        if not key:
            return None
        entries[key.group(1)] = part
    return entries if HEADER + "".join(parts) == text else None


def _entry(name: str, content: Any) -> str:
    return str(dumps_yaml({"stages": {name: content}})).removeprefix("stages:\n")


def _update_by_parser(path: Path, text: str, stages: Mapping[str, Any]) -> str:
    data = parse_yaml_for_update(text, str(path))
    data.setdefault("schema", "2.0")
    data.setdefault("stages", {}).update(stages)
    return str(dumps_yaml(data))
