"""The scratch copy of `make demo`; that the pipeline runs in it is tested by running it."""

import subprocess

import pytest
import yaml

from learned_context.errors import UserError
from pipeline.__main__ import main
from pipeline.commands import demo
from pipeline.commands.demo import copy_project, use_smoke_budget


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "project"
    (root / "results").mkdir(parents=True)
    for name, text in {
        "params.yaml": "# a comment\nprofile: workstation\ndatasets: [schools]\nfractions: [0.5]\n",
        "dvc.yaml": "stages: {}\n",
        "dvc.lock": "schema: '2.0'\n",
        "results/a.json": "{}\n",
        "results/dvc.yaml": "stages: {}\n",
        ".gitignore": "ignored\n",
        "ignored": "x",
        "new.py": "not yet committed",
    }.items():
        (root / name).write_text(text)
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    return root


def names(folder):
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and ".git/" not in path.as_posix()
    }


def test_the_copy_has_the_project_s_files_but_not_its_results(repository, tmp_path):
    copy_project(repository, tmp_path / "copy")
    expected = {"params.yaml", "dvc.yaml", "results/dvc.yaml", ".gitignore", "new.py"}
    assert names(tmp_path / "copy") == expected


def test_a_second_copy_keeps_what_the_first_has_computed(repository, tmp_path):
    copy = tmp_path / "copy"
    copy_project(repository, copy)
    (copy / "results" / "own.json").write_text("{}")
    (repository / "new.py").write_text("changed")
    copy_project(repository, copy)
    assert (copy / "results" / "own.json").exists()
    assert (copy / "new.py").read_text() == "changed"


def test_an_interrupted_copy_is_known_as_the_demo_s(repository, tmp_path, monkeypatch):
    def interrupt(*paths):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo.shutil, "copy2", interrupt)
    with pytest.raises(KeyboardInterrupt):
        copy_project(repository, tmp_path / "copy")
    assert (tmp_path / "copy" / demo.MARK).exists()


@pytest.mark.parametrize("folder", [".", "results", "docs"])
def test_a_folder_of_somebody_s_own_is_left_alone(project, folder, capsys):
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    (project / "docs").mkdir()
    (project / "docs" / "params.yaml").write_text("mine")
    (project / "results").mkdir()
    (project / "results" / "mine").write_text("mine")
    before = (project / "params.yaml").read_text()
    assert main(["demo", "--folder", folder]) == 2
    assert "is no folder that the demo made; choose one that does not" in capsys.readouterr().err
    assert (project / "docs" / "params.yaml").read_text() == "mine"
    assert (project / "params.yaml").read_text() == before


def test_the_smoke_budget_leaves_the_other_settings(repository):
    use_smoke_budget(repository / "params.yaml")
    text = (repository / "params.yaml").read_text()
    assert text.startswith("# a comment")
    content = yaml.safe_load(text)
    assert content["profile"] == "smoke"
    assert content["datasets"] == ["frequency", "sine_and_line"]
    assert content["fractions"] == [0.5]


def test_without_git_the_error_says_what_to_do(tmp_path):
    (tmp_path / "project").mkdir()
    with pytest.raises(UserError, match="not a git repository; clone the project with git"):
        copy_project(tmp_path / "project", tmp_path / "copy")
