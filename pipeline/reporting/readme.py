"""The tables in README.md and docs/: generated, so that they cannot differ from the results."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from learned_context.errors import UserError
from learned_context.files import write_bytes
from pipeline import checked
from pipeline.files import read_text, write_text
from pipeline.reporting import benchmarks, readme_figure, times
from pipeline.reporting.blocks import Cell, Table
from pipeline.reporting.cells import number
from pipeline.reporting.checking import Check, check
from pipeline.reporting.formatting import duration
from pipeline.reporting.labels import model_style
from pipeline.reporting.pages import arena as arena_page
from pipeline.reporting.pages import check as check_page
from pipeline.reporting.pages import reproduce
from pipeline.reporting.paper import COMPARED
from pipeline.reporting.results import Results, benchmark_path

FIGURE = Path("docs", "learned_context.png")


def rewrite(results: Results) -> list[Path]:
    """Record the times, and put every generated block between its marks."""
    measured = times.measure(results)
    written = []
    if measured:
        record = benchmark_path(results.files, "times")
        checked.write(record, measured)
        written.append(record)
    for name, blocks in BLOCKS.items():
        path = results.files.root / name
        if path.exists() or name == "README.md":
            write_text(path, with_blocks(path, blocks(results)))
            written.append(path)
    picture = readme_figure.draw(results)
    if picture:
        write_bytes(results.files.root / FIGURE, picture)
        written.append(results.files.root / FIGURE)
    return written


def write_example(readme: Path) -> None:
    """Run the README's example, if it has one, and put what it prints below it."""
    if "<!-- begin: example -->" in read_text(readme):
        block = f"```text\n{run_example(readme)}```\n"
        write_text(readme, with_blocks(readme, {"example": block}))


def run_example(readme: Path) -> str:
    """What the first Python block of the README prints, in a process of its own."""
    found = re.search(r"```python\n(.*?)```", read_text(readme), re.DOTALL)
    if not found:
        raise UserError(f"{readme}: no example; a block that begins with ```python is needed")
    done = subprocess.run(
        [sys.executable, "-c", found[1]], capture_output=True, text=True, cwd=readme.parent
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        raise UserError(f"{readme}: its example fails: {' '.join(last)}")
    return done.stdout


def with_blocks(path: Path, blocks: dict[str, str]) -> str:
    """The text of a file with each block between its marks."""
    text = read_text(path)
    for name, block in blocks.items():
        begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
        head, found, rest = text.partition(begin)
        _, closed, tail = rest.partition(end)
        if not (found and closed):
            raise UserError(f"{path}: the lines {begin} and {end} are needed, in this order")
        text = f"{head}{begin}\n{block}{end}{tail}"
    return text


def readme_blocks(results: Results) -> dict[str, str]:
    judged = check(results)
    return {
        "result": _result(results, judged),
        "arena": _arena(results),
        "reproduction": _reproduction(results, judged),
    }


def _arena(results: Results) -> str:
    """The summary of the leaderboard, or what would make it."""
    found = arena_page.load(results)
    story = arena_page.story(found)
    if found is None:
        return f"{story.answer}\n"
    table = arena_page.leaderboard(found)
    assert isinstance(table, Table)
    short = replace(table, caption="", rows=table.rows[: readme_figure.MOST_METHODS], notes=())
    more = "The [arena](reports/arena.html) has all methods, every dataset, and where it loses."
    return f"**{story.title}.** {story.answer}\n\n{short.markdown()}\n{more}\n"


def _result(results: Results, compared: Check) -> str:
    """One line: how much of the paper holds, and what it took."""
    story = check_page.story(compared)
    found = times.load(results)
    took = ""
    if found:
        took = f" The study took {duration(found.total)} of processor time ({found.machine})."
    return f"**{story.title}.**{took} Read the [report](reports/index.html).\n"


def _reproduction(results: Results, judged: Check) -> str:
    verdicts = {compared.cell: compared for compared in judged.numbers}
    rows = []
    for dataset in results.datasets:
        compared = verdicts.get(f"base/{dataset}/lc")
        if compared is None:
            continue
        ratios = (verdicts.get(f"base/{dataset}/{model}") for model in COMPARED)
        info = results.info(dataset)
        data = "the paper's" if not results.difference(dataset) else (
            "rebuilt" if info and info.comparable else "other data"
        )  # fmt: skip
        rows.append(
            [
                Cell(results.label(dataset)),
                number(compared.ours, 3),
                number(compared.paper, 3),
                *(number(one.ratio if one else None, 2) for one in ratios),
                Cell(compared.verdict),
                Cell(data),
            ]
        )
    labels = [model_style(model).label for model in COMPARED]
    table = Table(
        "reproduction",
        "",
        ("Dataset", "LC", "Paper", *(f"{one} / paper" for one in labels), "LC's verdict", "Data"),
        rows,
    )
    return table.markdown()


def reproducibility_blocks(results: Results) -> dict[str, str]:
    """How often what is promised was tried, and what the study took."""
    faults = ("kills", "tamperings", "misuse")
    tests = ("line_coverage", "mutation", "device_mutations")
    tried = benchmarks.tables(results.files, *faults, *tests)
    took = reproduce.minutes(results)
    shown = took.markdown() if isinstance(took, Table) else f"{took.paragraphs[0]}\n"
    return {"tried": tried, "times": shown}


def benchmarks_blocks(results: Results) -> dict[str, str]:
    """Speed and quality, as measured."""
    networks = ("training", "members", "quality", "holdout", "lipo_samples", "random_settings")
    others = ("estimator", "defaults", "added_tasks", "runner")
    return {"measured": benchmarks.tables(results.files, *networks, *others)}


BLOCKS: dict[str, Callable[[Results], dict[str, str]]] = {
    "README.md": readme_blocks,
    "docs/reproducibility.md": reproducibility_blocks,
    "docs/benchmarks.md": benchmarks_blocks,
}
"""file -> its generated blocks by name"""
