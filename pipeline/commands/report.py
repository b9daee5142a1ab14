"""report: one page of the report, by its notebook; or the README's table."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from learned_context.errors import UserError
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
    pages = site.pages(files.root)
    for page in arguments.page:
        if page not in pages:
            raise UserError(f"report: no page {page!r}; valid: {', '.join(pages)}")
    for page in arguments.page or pages:
        run_notebook(files, page)
        print(f"reports/{page}.html")
