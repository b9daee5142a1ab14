"""One page of the report: the notebook shows blocks on it, and it writes them."""

from __future__ import annotations

from importlib.resources import files as package_files
from typing import TypeVar

from markupsafe import Markup

from pipeline.files import write_bytes, write_text
from pipeline.reporting.blocks import ENVIRONMENT, Drawing, Table, Text
from pipeline.reporting.explorer import Explorer
from pipeline.reporting.labels import LEADS, PAGES
from pipeline.reporting.results import Results

Block = Text | Table | Drawing | Explorer
AnyBlock = TypeVar("AnyBlock", bound=Block)


class Page:
    def __init__(self, name: str, results: Results) -> None:
        self.name = name
        self.results = results
        self.blocks: list[Block] = []
        self.folder = results.files.root / "reports" / name

    @classmethod
    def open(cls, name: str, root: str = ".") -> Page:
        return cls(name, Results.open(root))

    def show(self, block: AnyBlock) -> AnyBlock:
        """Put a block on the page; a notebook displays what this returns."""
        self.blocks.append(block)
        return block

    def write(self) -> str:
        """The tables and figures into reports/<page>/, the page into reports/<page>.html."""
        written: set[str] = set()
        for block in self.blocks:
            for suffix, content in _files(block):
                assert isinstance(block, Table | Drawing)
                name = f"{block.name}.{suffix}"
                assert name not in written, f"{name} is written twice"
                write_bytes(self.folder / name, content)
                written.add(name)
        self._remove_others(written)
        target = self.folder.with_suffix(".html")
        write_text(target, self.html())
        return str(target)

    def html(self) -> str:
        body = "".join(
            block.html() if isinstance(block, Text) else block.html(self.name)
            for block in self.blocks
        )
        template = package_files("pipeline.reporting").joinpath("template.html").read_text("utf-8")
        return ENVIRONMENT.from_string(template).render(
            title=PAGES[self.name],
            lead=LEADS[self.name],
            pages=PAGES,
            current=self.name,
            profile=self.results.settings.params.profile,
            missing=sorted(self.results.missing),
            body=Markup(body),  # every block has escaped its own content
        )

    def _remove_others(self, written: set[str]) -> None:
        """A figure that is no longer drawn must not stay behind as if it were current."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not written:
            write_text(self.folder / ".keep", "This page has neither tables nor figures.\n")
        for path in self.folder.iterdir():
            if path.is_file() and path.name not in written and path.name != ".keep":
                path.unlink()


def _files(block: Block) -> list[tuple[str, bytes]]:
    if isinstance(block, Table):
        texts = {"csv": block.csv(), "md": block.markdown(), "tex": block.tex()}
        return [(suffix, text.encode()) for suffix, text in texts.items()]
    if isinstance(block, Drawing):
        return [("svg", block.svg), ("png", block.png)]
    return []
