"""Which pages the report has: the notebooks that say so in their metadata.

A new page is a notebook and the module it calls; nothing else lists it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from learned_context.errors import UserError
from learned_context.files import parse_file
from pipeline.settings import Section

NOTEBOOKS = Path("reports", "notebooks")


class PageEntry(Section):
    name: str
    label: str  # in the navigation
    group: str  # its heading there
    order: int
    about: str  # one sentence, for search engines and link previews


def pages(root: Path) -> dict[str, PageEntry]:
    """name -> page, in the order of the navigation."""
    found = []
    for path in sorted((root / NOTEBOOKS).glob("*.ipynb")):
        content = parse_file(path, _read, "notebook", restore(path))
        metadata = content.get("metadata", {}) if isinstance(content, dict) else None
        if not isinstance(metadata, dict):
            raise UserError(f"{path}: not a readable notebook; {restore(path)}")
        if "page" not in metadata:
            continue  # a notebook that is no page
        try:
            found.append(PageEntry.model_validate({"name": path.stem, **metadata["page"]}))
        except (TypeError, ValidationError) as error:
            raise UserError(
                f"{path}: metadata.page needs label, group, order and about ({error!r})"
            ) from None
    return {page.name: page for page in sorted(found, key=lambda page: (page.order, page.name))}


def check_name(root: Path, page: str) -> None:
    """Refuse a name that is no page's; name the notebook if that is what is missing."""
    known = pages(root)
    if page in known:
        return
    notebook = root / NOTEBOOKS / f"{page}.ipynb"
    if page.isidentifier() and (root / "reports" / f"{page}.html").exists():
        raise UserError(f"{notebook}: does not exist; {restore(notebook)}")
    raise UserError(f"report: no page {page!r}; valid: {', '.join(known)}")


def restore(path: Path) -> str:
    return f"restore it with `git checkout {path}`"


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def navigation(entries: dict[str, PageEntry]) -> list[tuple[str, list[PageEntry]]]:
    """The pages by group, in order."""
    groups: dict[str, list[PageEntry]] = {}
    for page in entries.values():
        groups.setdefault(page.group, []).append(page)
    return list(groups.items())
