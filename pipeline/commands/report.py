"""report: one page of the report, by its notebook; or the README's table."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pipeline import settings
from pipeline.files import Files
from pipeline.reporting import site
from pipeline.reporting.notebooks import run_notebook

if TYPE_CHECKING:  # what the notebooks import, and so what a report's stage depends on
    from pipeline.reporting import pages as _pages  # noqa: F401
    from pipeline.reporting.page import Page as _Page  # noqa: F401


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "page", nargs="*", help="names of notebooks that are pages; all if none is given"
    )
    parser.add_argument(
        "--readme",
        action="store_true",
        help="write what is generated in README.md and docs/ instead",
    )


def run(arguments: argparse.Namespace) -> None:
    files = Files()
    settings.load(files)  # before a notebook fails for the lack of them
    if arguments.readme:
        from pipeline.reporting import readme
        from pipeline.reporting.results import Results

        for path in readme.rewrite(Results(files)):
            print(f"{path}: up to date")
        readme.write_example(files.root / "README.md")
        return
    for page in arguments.page:
        site.check_name(files.root, page)
    for page in arguments.page or site.pages(files.root):
        run_notebook(files, page)
        print(f"reports/{page}.html")
