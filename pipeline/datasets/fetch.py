"""Getting one raw file: from where a person put it, a mirror, or its addresses; then its check."""

from __future__ import annotations

import hashlib
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

import requests
from tqdm import tqdm

from learned_context.errors import UserError
from learned_context.files import replacing
from pipeline.datasets.reading import LARGEST, is_web_page
from pipeline.datasets.sources import FileSource
from pipeline.files import sha256

CHUNK = 2**18
TIMEOUT = (10, 60)
"""Seconds to connect, and between two pieces of an answer."""


class Refused(Exception):
    """One place did not give the file. Never leaves this module."""


def fetch(
    source: FileSource, destination: Path, by_hand: Path, hint: str, mirror: str | None
) -> str:
    """Put the checked file at `destination` and say where it came from.

    `by_hand` is where a person may have put the file; `hint` says where to get it.
    """
    if destination.exists() and source.pinned and not _problem(source, destination):
        return "already there"
    tried = []
    for origin, write in _places(source, by_hand, mirror):
        try:
            with replacing(destination) as temporary:
                write(temporary)
                problem = _problem(source, temporary)
                if problem:
                    raise Refused(problem)
            return origin
        except Refused as reason:
            tried.append(f"{origin}: {reason}")
    attempts = "; ".join(tried) or "no address is known and LEARNED_CONTEXT_MIRROR is not set"
    raise UserError(
        f"{destination}: could not be had ({attempts}); get it by hand from {hint} "
        f"and put it at {by_hand}"
    )


def _places(
    source: FileSource, by_hand: Path, mirror: str | None
) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """The name of each place that may have the file, and how to write it from there."""
    if by_hand.exists():
        yield str(by_hand), partial(_copy, by_hand)
    if mirror and source.mirror:
        if "://" in mirror:
            address = f"{mirror.rstrip('/')}/{quote(source.mirror)}"
            yield address, partial(_download, address)
        else:
            path = Path(mirror) / source.mirror
            yield str(path), partial(_copy, path)
    for address in source.addresses:
        if source.member is None:
            yield address, partial(_download, address)
        else:
            yield address, partial(_download_member, address, source.member)


def _copy(path: Path, target: Path) -> None:
    try:
        with path.open("rb") as source:
            _stream(iter(lambda: source.read(CHUNK), b""), target, path.name, None)
    except FileNotFoundError:
        raise Refused("no such file") from None
    except (PermissionError, IsADirectoryError) as error:
        raise Refused(str(error.strerror)) from None


def _download(url: str, target: Path) -> None:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise Refused(f"not an address ({error})") from None
    if parts.scheme == "file":
        _copy(Path(url2pathname(parts.path)), target)
        return
    if parts.scheme not in ("http", "https"):
        raise Refused(f"{parts.scheme!r} is not one of http, https, file")
    # Encoded answers would be decoded on the way, and the hash is of the file itself.
    headers = {"Accept-Encoding": "identity", "User-Agent": "learned-context-pipeline"}
    try:
        with requests.get(url, stream=True, timeout=TIMEOUT, headers=headers) as answer:
            if answer.status_code != 200:
                raise Refused(f"{answer.status_code} {answer.reason}")
            length = answer.headers.get("Content-Length", "")
            total = int(length) if length.isdecimal() else None
            name = PurePosixPath(parts.path).name
            _stream(answer.iter_content(CHUNK), target, name, total)
    except requests.exceptions.ChunkedEncodingError:
        raise Refused("the answer broke off") from None
    except requests.Timeout:
        raise Refused("no answer in time") from None
    except requests.ConnectionError as error:
        raise Refused(f"cannot be reached ({_reason(error)})") from None
    except (requests.RequestException, ValueError) as error:
        raise Refused(f"not a valid address ({type(error).__name__})") from None


def _reason(error: Exception) -> str:
    """The innermost cause: no such host, refused, unreachable."""
    cause: BaseException | None = error
    while cause is not None and not (isinstance(cause, OSError) and cause.strerror):
        inner = getattr(cause, "reason", None)
        cause = inner if isinstance(inner, BaseException) else cause.__cause__ or cause.__context__
    return str(getattr(cause, "strerror", None) or "no connection")


def _stream(chunks: Iterator[bytes], target: Path, name: str, total: int | None) -> None:
    quiet = not sys.stderr.isatty()
    size = 0
    with (
        target.open("wb") as file,
        tqdm(total=total, desc=name, unit="B", unit_scale=True, disable=quiet) as bar,
    ):
        for chunk in chunks:
            size += len(chunk)
            if size > LARGEST:
                raise Refused(f"is larger than {LARGEST // 2**20} MB")
            file.write(chunk)
            bar.update(len(chunk))


def _download_member(url: str, member: str, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".archive.") as folder:
        archive = Path(folder) / "archive"
        _download(url, archive)
        extract_member(archive, member, target)


def extract_member(archive: Path, member: str, target: Path) -> None:
    """Write the named member of a zip to `target`, and nothing anywhere else."""
    try:
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                path = PurePosixPath(info.filename.replace("\\", "/"))
                if path.is_absolute() or ".." in path.parts:
                    raise Refused(f"the archive's member {info.filename!r} climbs out of it")
            if member not in opened.namelist():
                found = ", ".join(opened.namelist()[:8])
                raise Refused(f"no member {member!r} in the archive, found {found}")
            info = opened.getinfo(member)
            if stat.S_ISLNK(info.external_attr >> 16):
                raise Refused(f"the archive's member {member!r} is a link")
            if info.file_size > LARGEST:
                raise Refused(f"the archive's member is larger than {LARGEST // 2**20} MB")
            with opened.open(info) as content:
                # The size that the archive states may be false: the stream is counted as well.
                _stream(iter(lambda: content.read(CHUNK), b""), target, member, info.file_size)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        page = "a web page" if is_web_page(archive) else "not a readable zip archive"
        raise Refused(f"{page} ({error})") from None


def _problem(source: FileSource, path: Path) -> str:
    """Why the file is not the one that is meant; empty if it is."""
    if is_web_page(path):
        return "a web page instead of the file"
    size = path.stat().st_size
    if size == 0:
        return "an empty file"
    if source.size is not None and size != source.size:
        return f"{size} bytes instead of {source.size}"
    checks = (("sha256", source.sha256, sha256), ("git blob", source.git_blob, git_blob))
    for name, expected, digest in checks:
        if expected is not None and (found := digest(path)) != expected:
            return f"{name} is {found} instead of {expected}: damaged, or another file"
    return ""


def git_blob(path: Path) -> str:
    """What `git hash-object` prints."""
    total = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            total.update(chunk)
    return total.hexdigest()
