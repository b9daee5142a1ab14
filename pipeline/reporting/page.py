"""One page of the report: the notebook shows blocks on it, and it writes them."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from markupsafe import Markup

from learned_context.errors import UserError
from learned_context.files import write_bytes
from pipeline.files import write_text
from pipeline.reporting import site
from pipeline.reporting.blocks import ENVIRONMENT, PageBlock, Text, asset, prose
from pipeline.reporting.results import Results

AnyBlock = TypeVar("AnyBlock", bound=PageBlock)

PAPER = "https://arxiv.org/abs/2303.00788"
DOI = "https://doi.org/10.48550/arXiv.2303.00788"


class Address(NamedTuple):
    address: str
    text: str


class Page:
    def __init__(self, name: str, results: Results) -> None:
        self.name = name
        self.results = results
        self.blocks: list[PageBlock] = []
        self.folder = results.files.root / "reports" / name
        self.entries = site.pages(results.files.root)
        if name not in self.entries:
            raise UserError(
                f"{self.folder}.ipynb: no page of the report; valid: {', '.join(self.entries)}"
            )
        self.title = self.entries[name].label
        self.lead: list[tuple[str, Markup]] = []
        self._related: list[tuple[str, list[Address]]] = []

    @classmethod
    def open(cls, name: str, root: str = ".") -> Page:
        return cls(name, Results.open(root))

    def begin(self, title: str, *, question: str, answer: str, caveat: str = "") -> Text:
        """The finding as the page's title, then question, answer and caveat."""
        self.title = title
        texts = {"Question": question, "Answer": answer, "Caveat": caveat}
        self.lead = [(term, Markup(" ").join(prose(t))) for term, t in texts.items() if t]
        return Text(tuple(text for _, text in self.lead), heading=title)

    def section(self, title: str, text: str = "") -> Text:
        return self.show(Text(prose(text) if text else (), heading=title))

    def show(self, block: AnyBlock) -> AnyBlock:
        """Put a block on the page; a notebook displays what this returns.

        What is missing is said once, not for the figure and again for the table below it.
        """
        if block not in self.blocks[-1:]:
            self.blocks.append(block)
        return block

    def related(self, *pages: str, code: tuple[str, ...] = (), paper: str = "") -> None:
        """Where to read on: other pages, the notebook and the code behind this one, the paper."""
        notebook = Address(f"notebooks/{self.name}.ipynb", f"{self.name}.ipynb")
        module = f"pipeline/reporting/pages/{self.name}.py"
        self._related = [
            (
                "Related pages",
                [Address(f"{p}.html", self.entries[p].label) for p in pages if p in self.entries],
            ),
            ("Notebook of this page", [notebook]),
            ("Code", [Address(f"../{path}", path) for path in (module, *code)]),
            ("Data", [Address("inputs.json", "every result file with its SHA-256")]),
            ("Paper", [Address(PAPER, f"arXiv 2303.00788{paper and ', ' + paper}"),
                       Address(DOI, "DOI")]),
        ]  # fmt: skip

    def write(self) -> str:
        """The tables and figures into reports/<page>/, the page into reports/<page>.html."""
        written: set[str] = set()
        for block in self.blocks:
            for name, content in block.files().items():
                assert name not in written, f"{name} is written twice"
                write_bytes(self.folder / name, content)
                written.add(name)
        self._remove_others(written)
        target = self.folder.with_suffix(".html")
        write_text(target, self.html())
        return str(target)

    def html(self) -> str:
        entry = self.entries[self.name]
        if not self._related:
            self.related()
        body = "".join(block.html(self.name) for block in self.blocks)
        return ENVIRONMENT.get_template("page.html").render(
            name=self.name,
            title=self.title,
            kicker=entry.label,
            description=entry.about,
            lead=self.lead,
            navigation=site.navigation(self.entries),
            sections=[b for b in self.blocks if isinstance(b, Text) and b.heading],
            related=[(term, links) for term, links in self._related if links],
            profile=self.results.settings.params.profile,
            missing=sorted(self.results.missing),
            marked="†" in body,
            body=Markup(body),  # every block has escaped its own content
            style=Markup(asset("style.css")),
            script=Markup(asset("report.js")),
        )

    def _remove_others(self, written: set[str]) -> None:
        """A figure that is no longer drawn must not stay behind as if it were current."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not written:
            write_text(self.folder / ".keep", "This page has neither tables nor figures.\n")
            written = {".keep"}
        for path in self.folder.iterdir():
            if path.is_file() and path.name not in written:
                path.unlink()
