"""The wheel and the sdist are complete, and the library in them needs no package of the study."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGES = ("learned_context", "pipeline")
PACKAGED = (".py", ".css", ".html", ".js", ".yaml", ".csv", ".mplstyle")
OF_THE_STUDY = [
    "dask",
    "distributed",
    "dlib",
    "dvc",
    "ipykernel",
    "jinja2",
    "matplotlib",
    "nbformat",
    "networkx",
    "papermill",
    "pyarrow",
    "pydantic",
    "yaml",
    "requests",
    "rich",
    "ruamel",
    "statsmodels",
    "tqdm",
]
BLOCK = f"""
import sys
for name in {OF_THE_STUDY!r}:
    sys.modules[name] = None  # importing it is an ImportError
"""
USE = """
import sys
from pathlib import Path
import numpy as np
import learned_context
from learned_context import LearnedContextRegressor

assert Path(learned_context.__file__).is_relative_to(sys.argv[1]), learned_context.__file__
rng = np.random.default_rng(0)
task = np.repeat(["a", "b", "c", "d"], 30)
x = rng.normal(size=(120, 2))
y = x[:, 0] * np.repeat([1.0, 2.0, 3.0, 4.0], 30) + rng.normal(0, 0.01, 120)
model = LearnedContextRegressor(quality="fast", random_state=0).fit(x, y, task=task)
few = rng.normal(size=(20, 2))
model.add_tasks(few, 2.5 * few[:, 0], task=["new"] * 20)
before = model.predict(few, task=["new"] * 20)
model.save(Path(sys.argv[1]) / "model.safetensors")
after = LearnedContextRegressor.load(Path(sys.argv[1]) / "model.safetensors")
assert np.array_equal(after.predict(few, task=["new"] * 20), before)
assert np.sqrt(np.mean((before - 2.5 * few[:, 0]) ** 2)) < 2
print("used")
"""


def committed(*endings: str) -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = listed.stdout.splitlines()
    return {name for name in names if name.endswith(endings or "") and (ROOT / name).exists()}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A wheel and an sdist of a clean copy: setuptools would take leftovers of other builds."""
    folder = tmp_path_factory.mktemp("package")
    copy = folder / "copy"
    for name in (*committed(), "pyproject.toml", "README.md", "LICENSE"):
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    script = (
        "from setuptools import build_meta as build\n"
        f"build.build_wheel({str(folder)!r}); build.build_sdist({str(folder)!r})"
    )
    subprocess.run([sys.executable, "-c", script], cwd=copy, check=True, capture_output=True)
    return folder


def test_the_wheel_has_every_module_page_and_script(built):
    (wheel,) = built.glob("learned_context-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = committed(*PACKAGED)
    assert {"pipeline/reporting/assets/page.html"} < wanted
    assert wanted <= names
    assert not {name for name in names if not name.startswith((*PACKAGES, "learned_context-"))}


def test_the_sdist_has_them_too(built):
    (sdist,) = built.glob("learned_context-*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert committed(*PACKAGED) | {"pyproject.toml", "README.md", "LICENSE"} <= names


def run(python: str | Path, script: str, *words: str) -> None:
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    ended = subprocess.run(
        [python, "-c", script, *words],
        cwd=words[0],
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0 and "used" in ended.stdout, ended.stderr


def test_the_library_of_the_wheel_works_without_the_study_s_packages(built, tmp_path):
    (wheel,) = built.glob("learned_context-*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path)
    run(sys.executable, f"import sys; sys.path.insert(0, sys.argv[1])\n{BLOCK}{USE}", str(tmp_path))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_wheel_in_an_empty_environment_without_extras(built, tmp_path):
    """Fetches torch; everything else is as for a stranger."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    pins = [
        line
        for line in (ROOT / "requirements.lock").read_text().splitlines()
        if line.partition("==")[0] in ("torch", "numpy", "pandas", "scipy", "scikit-learn")
    ]
    (tmp_path / "pins.txt").write_text("\n".join(pins))
    (wheel,) = built.glob("learned_context-*.whl")
    install = [python, "-m", "pip", "install", "--quiet", "--constraint", tmp_path / "pins.txt"]
    subprocess.run([*install, wheel], check=True)
    listed = subprocess.run(
        [python, "-m", "pip", "list"], capture_output=True, text=True, check=True
    )
    installed = {line.split()[0].lower() for line in listed.stdout.splitlines()[2:]}
    torchs_own = {"jinja2", "networkx"}
    assert not installed & (set(OF_THE_STUDY) - torchs_own)
    run(python, USE, str(tmp_path))
