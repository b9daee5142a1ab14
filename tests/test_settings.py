from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from learned_context.errors import UserError
from pipeline import settings
from pipeline.files import Files
from tests.commands.test_download import change
from tests.conftest import ROOT


def message(project: Path) -> str:
    with pytest.raises(UserError) as caught:
        settings.load(Files(project))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_project_s_own_settings_are_valid() -> None:
    loaded = settings.load(Files(ROOT))
    assert loaded.dataset("schools").edition == "paper"
    for path in sorted((ROOT / "profiles").glob("*.yaml")):
        settings.Profile.model_validate(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize(
    ("keys", "value", "expected"),
    [
        (
            ("seeds", "sarch"),
            3,
            "seeds: unknown key 'sarch'; valid: data, search, split, train",
        ),
        (
            ("seeds", "split"),
            "two",
            "seeds.split: 'two' is not valid; input should be a valid integer",
        ),
        (
            ("validation",),
            1.5,
            "validation: 1.5 is not valid; input should be less than 1",
        ),
        (
            ("seeds", "data"),
            True,
            "seeds.data: True is not valid; input should be a valid integer",
        ),
        (
            ("fractions",),
            [0.1],
            "fractions: must hold 0.5, whose search gives the hold-out study its settings",
        ),
        (
            ("space", "width"),
            [400, 500],
            "space.width: 400 is above the profile's width_max 100",
        ),
        (
            ("fractions",),
            [0.5, 0],
            "fractions[1]: 0 is not valid; input should be greater than 0",
        ),
        (
            ("categories",),
            "ordinal",
            "categories: 'ordinal' is not valid; input should be 'onehot' or 'number'",
        ),
        (
            ("space", "width"),
            [500, 50],
            "space: width: the lower end 500 is above the upper end 50",
        ),
        (
            ("dataset", "frequency", "rows"),
            5,
            "dataset.frequency: unknown key 'rows'; valid: draw, edition, features, noise, split, "
            "target, task, tasks, test_rows, train_rows, train_share",
        ),
        (
            ("dataset", "mine"),
            {"edition": "own", "task": "well", "features": ["x"], "train_share": 0.8},
            "dataset.mine: target: missing; your own dataset needs it",
        ),
        (
            ("models",),
            ["lc", "lc"],
            "models: a value is there twice",
        ),
        (("models",), ["cs"], "models: must hold 'lc', the network that the studies are about"),
        (("models",), ["lc", "rnn"], "models: no network 'rnn'; valid: lc, cs, ll, fs, film"),
        (
            ("base_only",),
            ["lc"],
            "base_only: 'lc' is one of models, too",
        ),
    ],
)
def test_mistakes(project: Path, keys: tuple[str, ...], value: object, expected: str) -> None:
    change(project / "params.yaml", *keys, value=value)
    assert message(project) == f"{project / 'params.yaml'}: {expected}"


def test_dataset_without_keys(project: Path) -> None:
    change(project / "params.yaml", "datasets", value=["frequency", "iris"])
    assert message(project).startswith(
        f"{project / 'params.yaml'}: datasets: 'iris' has no entry below 'dataset'; valid: bike"
    )


def test_missing_key(project: Path) -> None:
    content = yaml.safe_load((project / "params.yaml").read_text())
    del content["validation"]
    (project / "params.yaml").write_text(yaml.safe_dump(content))
    assert message(project) == f"{project / 'params.yaml'}: validation: missing"


def test_not_yaml(project: Path) -> None:
    (project / "params.yaml").write_text("profile: [smoke\n")
    assert message(project).startswith(f"{project / 'params.yaml'}: line 2: not valid YAML (")


def test_unknown_profile(project: Path) -> None:
    change(project / "params.yaml", "profile", value="laptop")
    valid = ", ".join(sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml")))
    path = project / "profiles" / "laptop.yaml"
    assert message(project) == f"{project / 'params.yaml'}: profile: no {path}; valid: {valid}"


def test_command_line_writes_nothing(project: Path) -> None:
    change(project / "params.yaml", "seeds", "data", value=-1)
    before = sorted(project.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", "prepare", "frequency"],
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "error: params.yaml: seeds.data: -1 is not valid; "
        "input should be greater than or equal to 0\n"
    )
    assert sorted(project.rglob("*")) == before


def test_missing_params(project: Path) -> None:
    shutil.move(project / "params.yaml", project / "elsewhere.yaml")
    assert message(project).startswith(f"{project / 'params.yaml'}: does not exist; run this in")
