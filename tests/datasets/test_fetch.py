"""Getting one file: real files, a real local web server, real damaged archives."""

from __future__ import annotations

import hashlib
import socket
import subprocess
from pathlib import Path

import pytest

from learned_context.errors import UserError
from pipeline.datasets.fetch import fetch, git_blob
from pipeline.datasets.sources import FileSource

CONTENT = b"a,b\n1,2\n"
SHA = hashlib.sha256(CONTENT).hexdigest()


def source(*addresses: str, **keys: object) -> FileSource:
    return FileSource.model_validate(
        {"name": "a.csv", "addresses": addresses, "sha256": SHA} | keys
    )


def get(tmp_path: Path, file: FileSource, mirror: str | None = None) -> str:
    return fetch(
        file, tmp_path / "out" / "a.csv", tmp_path / "by_hand" / "a.csv", "the archive", mirror
    )


def refusal(tmp_path: Path, file: FileSource, mirror: str | None = None) -> str:
    """The reasons in the error, after checking its frame and that nothing is left behind."""
    with pytest.raises(UserError) as caught:
        get(tmp_path, file, mirror)
    start = f"{tmp_path / 'out' / 'a.csv'}: could not be had ("
    end = f"); get it by hand from the archive and put it at {tmp_path / 'by_hand' / 'a.csv'}"
    text = str(caught.value)
    assert text.startswith(start) and text.endswith(end) and "\n" not in text
    assert list((tmp_path / "out").rglob("*")) == []
    return text.removeprefix(start).removesuffix(end)


def test_downloads_over_http(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, _ = server
    assert get(tmp_path, source(f"{url}/a.csv")) == f"{url}/a.csv"
    assert (tmp_path / "out" / "a.csv").read_bytes() == CONTENT
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.csv"]


def test_mirror_comes_before_addresses(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, folder = server
    file = source("http://127.0.0.1:1/a.csv", mirror="a.csv")
    assert get(tmp_path, file, str(folder)) == str(folder / "a.csv")
    for mirror in (url, url + "/", folder.as_uri()):
        (tmp_path / "out" / "a.csv").unlink()
        assert get(tmp_path, file, mirror) == f"{mirror.rstrip('/')}/a.csv"


def test_address_serves_where_the_mirror_has_no_file(
    tmp_path: Path, server: tuple[str, Path]
) -> None:
    url, folder = server
    file = source(f"{url}/a.csv", mirror="other.csv")
    assert get(tmp_path, file, str(folder)) == f"{url}/a.csv"


def test_file_put_by_hand_comes_first(tmp_path: Path) -> None:
    by_hand = tmp_path / "by_hand" / "a.csv"
    by_hand.parent.mkdir()
    by_hand.write_bytes(CONTENT)
    assert get(tmp_path, source()) == str(by_hand)


def test_right_file_is_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.csv").write_bytes(CONTENT)
    assert get(tmp_path, source()) == "already there"


def test_no_place_at_all(tmp_path: Path) -> None:
    reason = "no address is known and LEARNED_CONTEXT_MIRROR is not set"
    assert refusal(tmp_path, source()) == reason


def test_unreachable_address(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/a.csv"
    assert refusal(tmp_path, source(url)) == f"{url}: cannot be reached (Connection refused)"


def test_all_that_was_tried_is_named(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, folder = server
    file = source(f"{url}/none.csv", f"{url}/neither.csv", mirror="gone.csv")
    assert refusal(tmp_path, file, str(folder)) == (
        f"{folder / 'gone.csv'}: no such file; {url}/none.csv: 404 File not found; "
        f"{url}/neither.csv: 404 File not found"
    )


def test_wrong_hash(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, folder = server
    (folder / "a.csv").write_bytes(CONTENT + b"3,4\n")
    found = hashlib.sha256(CONTENT + b"3,4\n").hexdigest()
    assert refusal(tmp_path, source(f"{url}/a.csv")) == (
        f"{url}/a.csv: sha256 is {found} instead of {SHA}: damaged, or another file"
    )


def test_wrong_hash_leaves_an_older_file_alone(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, _ = server
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.csv").write_bytes(b"old")
    with pytest.raises(UserError, match="could not be had"):
        get(tmp_path, source(f"{url}/a.csv", sha256="0" * 64))
    assert (tmp_path / "out" / "a.csv").read_bytes() == b"old"


def test_truncated_answer(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, _ = server
    assert refusal(tmp_path, source(f"{url}/short.csv")) == f"{url}/short.csv: the answer broke off"


def test_truncated_file(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, folder = server
    (folder / "a.csv").write_bytes(CONTENT[:5])
    file = source(f"{url}/a.csv", sha256=None, git_blob="0" * 40, size=8)
    assert refusal(tmp_path, file) == f"{url}/a.csv: 5 bytes instead of 8"


def test_web_page_instead_of_a_file(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, folder = server
    (folder / "a.csv").write_text("\n<!DOCTYPE html><html>moved</html>")
    for file in (source(f"{url}/a.csv"), source(f"{url}/a.csv", sha256=None)):
        assert refusal(tmp_path, file) == f"{url}/a.csv: a web page instead of the file"


def test_git_blob_is_that_of_git(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(CONTENT)
    printed = subprocess.run(
        ["git", "hash-object", "--no-filters", path], capture_output=True, text=True, check=True
    )
    assert git_blob(path) == printed.stdout.strip()


def test_other_schemes_are_refused(tmp_path: Path) -> None:
    file = source(mirror="a.csv")
    assert refusal(tmp_path, file, "ftp://127.0.0.1") == (
        "ftp://127.0.0.1/a.csv: 'ftp' is not one of http, https, file"
    )
