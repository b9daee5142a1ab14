import json
import os
import re
import shlex
import stat
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learned_context.errors import UserError
from learned_context.files import replacing
from pipeline import files

IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org")
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(JSON)
def test_what_is_written_is_what_is_read(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("json") / "a.json"
    files.write_json(path, content)
    assert files.read_json(path) == content


def test_a_list_of_numbers_stands_on_one_line(tmp_path):
    files.write_json(tmp_path / "a.json", {"a": [1, 2.5], "b": [{"c": []}], "d": ["x, y", "["]})
    text = (tmp_path / "a.json").read_text()
    assert '"a": [1, 2.5],' in text
    assert json.loads(text)["d"] == ["x, y", "["]


def test_nan_is_refused_and_the_old_file_stays(tmp_path):
    path = tmp_path / "a.json"
    files.write_json(path, 1)
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json(path, float("nan"))
    assert files.read_json(path) == 1


def test_a_block_that_fails_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "a"
    files.write_text(path, "old")
    with pytest.raises(RuntimeError), replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a", "old")]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_the_umask_says_who_may_read(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        files.write_text(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


def test_only_files_are_replaced(tmp_path):
    pipe, link, folder = tmp_path / "pipe", tmp_path / "link", tmp_path / "folder"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    folder.mkdir()
    for path, what in ((pipe, "a device, pipe or socket"), (link, "a device"), (folder, "a fold")):
        with pytest.raises(UserError, match=f"{path.name}: cannot be written, it is {what}"):
            files.write_text(path, "x")
    assert stat.S_ISFIFO(pipe.stat().st_mode) and link.is_symlink() and folder.is_dir()
    assert len(list(tmp_path.iterdir())) == 3


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file/a: cannot be written \(.*\); nothing was changed"):
        files.write_text(tmp_path / "file" / "a", "x")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1', r"a.json: line 1: not valid JSON \(Expecting ',' delimiter\); the file is"),
        (b"\xff\xfe", r"a.json: cannot be read"),
        (b"", r"a.json: line 1: not valid JSON"),
    ],
)
def test_damaged_json_is_named(tmp_path, content, message):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(UserError, match=message):
        files.read_json(tmp_path / "a.json")


def test_a_missing_file_says_how_to_get_it(tmp_path):
    with pytest.raises(UserError, match=r"b.json: does not exist; .*`dvc repro` makes it"):
        files.read_json(tmp_path / "b.json")


def test_the_hint_works_in_a_folder_with_a_space(tmp_path):
    folder = tmp_path / "my study's copy"
    folder.mkdir()
    path = folder / "params.yaml"
    path.write_text("profile: smoke")
    for words in (["init", "--quiet"], ["add", "."], [*IDENTITY, "commit", "--quiet", "-m", "x"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    for damage in (path.unlink, lambda: path.write_bytes(b"#" * (files.LARGEST_YAML + 1))):
        damage()
        with pytest.raises(UserError) as caught:
            files.read_yaml(path)
        hint = re.search("`(git checkout .*?)`", str(caught.value))[1]
        subprocess.run(shlex.split(hint), cwd=folder, check=True, capture_output=True)
        assert path.read_text() == "profile: smoke"


def test_the_code_digest_sees_names_and_contents_but_no_caches(tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.py").write_text("1")
    first = files.code_digest(tmp_path, ["p"])
    (tmp_path / "p" / "__pycache__").mkdir()
    (tmp_path / "p" / "__pycache__" / "a.pyc").write_text("x")
    assert files.code_digest(tmp_path, ["p"]) == first
    (tmp_path / "p" / "a.py").rename(tmp_path / "p" / "b.py")
    assert files.code_digest(tmp_path, ["p"]) != first


def test_equal_content_has_an_equal_digest_whatever_its_order():
    assert files.digest({"a": 1, "b": [2]}) == files.digest({"b": [2], "a": 1})
    assert files.digest({"a": 1}) != files.digest({"a": 2})
