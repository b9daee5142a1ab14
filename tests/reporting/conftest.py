"""One rendered report that the tests of this folder look at, and small projects to change."""

from __future__ import annotations

import json
import os
import runpy
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.reporting.site import pages as site_pages
from tests.conftest import ROOT, Once
from tests.reporting.arena import arena
from tests.reporting.browser import Browser
from tests.reporting.project import Project, write

PAGES = site_pages(ROOT)
SOME = ("frequency", "sine_and_line", "bike_sharing", "inflation", "obesity", "death_rate")


BUDGETS = [
    {
        "dataset": dataset,
        "model": model,
        "fraction": fraction,
        "unit": "rmse" if fraction == 1 else "normalised",
        "paper_prints": printed,
        "runs": {
            name: {
                "rmse": error,
                "normalised": error / 4,
                "train_rmse": error / 2,
                "width": 60,
                "epochs": epochs,
                "batches": 2,
                "cpu_seconds": 9.0,
            }
            for name, error, epochs in (
                ("workstation", ours, 250),
                ("paper", long, 10000),
                ("paper, width 200", long, 10000),
            )
        },
    }
    for dataset, model, fraction, printed, ours, long in (
        ("bike_sharing", "cs", 1.0, 80.2, 49.7, 56.4),
        ("sine_and_line", "lc", 0.1, 0.25, 1.3, 1.2),
    )
]
"""What benchmarks/paper_budget.py may have found."""
DRAWS = [
    {
        "dataset": "sine_and_line",
        "model": "lc",
        "fraction": 0.1,
        "paper": 0.25,
        "ours": 1.3,
        "errors": [1.3, 0.2],
    }
]
"""What benchmarks/draws.py may have found."""


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def render(root: Path, *pages: str, notebooks: Path = ROOT) -> None:
    """Run the notebooks' cells here: a kernel for each would take most of the time."""
    for page in pages or PAGES:
        cells = json.loads((notebooks / f"reports/notebooks/{page}.ipynb").read_text())["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        script = root / "notebook.py"
        script.write_text("\n".join(code))
        with working_in(root):
            runpy.run_path(str(script))
        script.unlink()


@pytest.fixture(scope="session")
def report(once: Once) -> Project:
    """All pages of a project with six datasets; read it, do not change it."""

    def make(root: Path) -> None:
        root.mkdir()
        Project(root, 1.1, SOME).make()
        write(root / "results/benchmarks/arena.json", arena())
        write(root / "results/benchmarks/paper_budget.json", BUDGETS)
        write(root / "results/benchmarks/draws.json", DRAWS)
        for name in ("inflation_splits", "bike_columns"):
            shutil.copy(ROOT / f"results/benchmarks/{name}.json", root / "results/benchmarks")
        render(root)

    return Project(once("report", make), 1.1, SOME)


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Project]:
    def make(factor: float = 1.0, datasets: tuple[str, ...] = ()) -> Project:
        root = tmp_path / f"project-{len(list(tmp_path.iterdir()))}"
        root.mkdir()
        return Project(root, factor, datasets).make()

    return make


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests: they open the page that they need."""
    opened = Browser(tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()
