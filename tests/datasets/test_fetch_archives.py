"""Archives: only the named member leaves them."""

from __future__ import annotations

import gzip
import stat
import zipfile
from pathlib import Path

import pytest

from learned_context.errors import UserError
from pipeline.datasets import fetch as fetching
from pipeline.datasets import reading
from tests.datasets.test_fetch import CONTENT, get, refusal, source


def zipped(folder: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_only_the_named_member_is_unpacked(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, folder = server
    zipped(folder, {"Readme.txt": b"read", "sub/hour.csv": CONTENT})
    get(tmp_path, source(f"{url}/a.zip", member="sub/hour.csv"))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.csv"]


@pytest.mark.parametrize("name", ["../a.csv", "/etc/a.csv", "x/../../a.csv", "..\\a.csv"])
def test_archive_that_climbs_out(tmp_path: Path, server: tuple[str, Path], name: str) -> None:
    url, folder = server
    zipped(folder, {"a.csv": CONTENT, name: CONTENT})
    assert refusal(tmp_path, source(f"{url}/a.zip", member="a.csv")) == (
        f"{url}/a.zip: the archive's member {name!r} climbs out of it"
    )
    assert not (tmp_path / "a.csv").exists()


def test_member_that_is_a_link(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, folder = server
    link = zipfile.ZipInfo("a.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert refusal(tmp_path, source(f"{url}/a.zip", member="a.csv")) == (
        f"{url}/a.zip: the archive's member 'a.csv' is a link"
    )


def test_member_that_is_too_large(
    tmp_path: Path, server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, folder = server
    zipped(folder, {"a.csv": bytes(2**21)})
    monkeypatch.setattr(fetching, "LARGEST", 2**20)
    assert refusal(tmp_path, source(f"{url}/a.zip", member="a.csv")) == (
        f"{url}/a.zip: the archive's member is larger than 1 MB"
    )


def test_missing_member(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, folder = server
    zipped(folder, {"day.csv": CONTENT, "Readme.txt": b""})
    assert refusal(tmp_path, source(f"{url}/a.zip", member="a.csv")) == (
        f"{url}/a.zip: no member 'a.csv' in the archive, found day.csv, Readme.txt"
    )


def test_truncated_archive(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, folder = server
    zipped(folder, {"a.csv": CONTENT * 1000})
    whole = (folder / "a.zip").read_bytes()
    (folder / "a.zip").write_bytes(whole[: len(whole) // 2])
    assert refusal(tmp_path, source(f"{url}/a.zip", member="a.csv")) == (
        f"{url}/a.zip: not a readable zip archive (File is not a zip file)"
    )


def test_web_page_instead_of_an_archive(tmp_path: Path, server: tuple[str, Path]) -> None:
    url, folder = server
    (folder / "a.zip").write_text("<html>gone</html>")
    assert refusal(tmp_path, source(f"{url}/a.zip", member="a.csv")) == (
        f"{url}/a.zip: a web page (File is not a zip file)"
    )


def test_a_small_gzip_file_that_unpacks_to_a_huge_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGEST", 2**20)
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(bytes(2**21)))
    assert path.stat().st_size < 10_000
    with pytest.raises(UserError, match="is larger than 1 MB"):
        reading.read_cells(path)
