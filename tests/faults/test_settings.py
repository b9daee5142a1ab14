"""Mistakes in the files of settings: named with key and line, by every command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dvc.utils.serialize import parse_yaml

from pipeline import settings
from pipeline.__main__ import main
from pipeline.files import LARGEST_YAML, Files
from tests.conftest import ROOT

Failure = Callable[..., str]
COMMANDS = (
    ["validate"],
    ["download", "frequency"],
    ["prepare", "frequency"],
    ["tune", "frequency", "lc"],
    ["check"],
    ["report", "index"],
    ["plan"],
    ["run"],
    ["demo"],
    ["add-dataset", "wells.csv", "--task", "a", "--target", "b"],
    ["remove-dataset", "wells"],
    ["audit"],
)


def change(path: Path, old: str, new: str) -> int:
    """Replace a text that is there once; return the number of its line."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_key_that_is_there_twice_is_named_with_its_line(
    project: Path, failure: Failure, words: list[str]
) -> None:
    line = change(project / "params.yaml", "  split: 2 ", "  split: 2\n  split: 7 ")
    assert f'params.yaml: line {line + 1}: found duplicate key "split" with value' in failure(
        *words
    )


@pytest.mark.parametrize("name", ["profiles/workstation.yaml", "raw/sources.yaml"])
def test_a_key_that_is_there_twice_in_another_file(
    project: Path, failure: Failure, name: str
) -> None:
    path = project / name
    key = next(line for line in path.read_text().splitlines() if line[:1].isalpha())
    path.write_text(f"{path.read_text()}\n{key.split(':')[0]}: {{}}\n")
    assert f"{name}: line " in (message := failure("plan"))
    assert f'found duplicate key "{key.split(":")[0]}"' in message


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_missing_settings_are_named(project: Path, failure: Failure, words: list[str]) -> None:
    (project / "params.yaml").unlink()
    message = failure(*words)
    assert "params.yaml: does not exist; run this in the project's root folder" in message
    assert "`git checkout params.yaml`" in message


@pytest.mark.parametrize("number", ["010", "0o10", "0x1F", "1_000", "7"])
def test_a_number_means_the_same_to_us_and_to_dvc(project: Path, number: str) -> None:
    path = project / "params.yaml"
    change(path, "  split: 2 ", f"  split: {number} ")
    expected = parse_yaml(path.read_text(), str(path))["seeds"]["split"]
    assert settings.load(Files(project)).params.seeds.split == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("noise: 0.1}", "noise: 1.0e+300}", "dataset.frequency.noise: 1e+300 is not valid; input"),
        ("tasks: 250", "tasks: 100000000000", "dataset.frequency.tasks: 100000000000 is not valid"),
        ("tasks: 250", "tasks: 900000", "dataset.frequency: tasks, train_rows and test_rows: they"),
        ("blocks: 2 ", "blocks: 2000000 ", "network.blocks: 2000000 is not valid; input should"),
        ("width: [50, 500]", "width: [50, 1000000000]", "space.width[1]: 1000000000 is not valid"),
        ("  split: 2 ", "  split: 99999999999999999999 ", "seeds.split: 99999999999999999999 is"),
        (
            "1.0e-4, 1.5",
            "1.0e-4, 1.0e+300",
            "space.peak_rate[1]: 1e+300 is not valid; input should",
        ),
    ],
)
def test_a_number_beyond_all_sense_is_named(
    project: Path, failure: Failure, old: str, new: str, message: str
) -> None:
    change(project / "params.yaml", old, new)
    for words in (["prepare", "frequency"], ["plan"]):
        assert failure(*words).removeprefix(f"{project}/").startswith(f"params.yaml: {message}")


def test_a_huge_file_of_settings_is_not_read(project: Path, failure: Failure) -> None:
    with (project / "params.yaml").open("a") as file:
        file.write("#" * LARGEST_YAML)
    assert "params.yaml: has 4 MB, and a file of settings at most 4" in failure("check")


def test_aliases_of_aliases_are_no_long_error(project: Path, failure: Failure) -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
    )
    path = project / "params.yaml"
    path.write_text(bomb + path.read_text())
    assert len(failure("check")) < 300
    path.write_text(bomb.replace("a29: ", "datasets: "))
    assert len(failure("check")) < 300


@pytest.mark.parametrize("words", [["plan"], ["prepare", "frequency"], ["check"]], ids=" ".join)
def test_letters_that_python_cannot_read(tmp_path: Path, words: list[str]) -> None:
    folder = tmp_path / "ünï"
    folder.mkdir()
    environment = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-m", "pipeline", *words],
        cwd=folder,
        env=environment,
        text=True,
        capture_output=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert "set PYTHONUTF8=1" in done.stderr


def test_a_wrong_value_is_named_before_dvc_looks_for_any_data() -> None:
    """Every stage of the data, and so every stage below, waits for the one that names it."""
    stages = parse_yaml((ROOT / "dvc.yaml").read_text(), "dvc.yaml")["stages"]
    validate = stages["validate"]
    (output,) = (name for one in validate["outs"] for name in one)
    assert output in stages["download"]["deps"]
    assert not any(name.startswith(("data/", "raw/", "results/")) for name in validate["deps"])
    tracked = {name: keys for one in validate["params"] for name, keys in one.items()}
    assert set(tracked["params.yaml"]) == set(settings.Params.model_fields)
    assert set(tracked["profiles/${profile}.yaml"]) == set(settings.Profile.model_fields)


def test_what_git_keeps_survives_a_stage_that_fails() -> None:
    for name in ("dvc.yaml", "results/dvc.yaml"):
        for stage in parse_yaml((ROOT / name).read_text(), name)["stages"].values():
            for one in stage["outs"]:
                for options in one.values() if isinstance(one, dict) else ():
                    assert options["cache"] is False and options["persist"] is True


def test_validate_names_what_is_wrong_and_writes_the_same_for_all_valid_settings(
    project: Path, failure: Failure
) -> None:
    assert main(["validate", "--write"]) == 0
    before = (project / "results/validated.json").read_bytes()
    change(project / "params.yaml", "leak_share: 0.5", "leak_share: 0.6")
    assert main(["validate", "--write"]) == 0
    assert (project / "results/validated.json").read_bytes() == before
    change(project / "params.yaml", "leak_share: 0.6", "leak_share: 7")
    assert failure("validate").startswith("params.yaml: leak_share: 7 is not valid")
