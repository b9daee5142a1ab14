"""A page as a reader sees it: its tables, links and images."""

from __future__ import annotations

from html.parser import HTMLParser


class Reader(HTMLParser):
    """tables: id -> rows of cells' texts; the paper's number stands after a line break."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.links: list[str] = []
        self.images: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self._table = ""
        self._cell: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        if tag == "figure":
            self._table = values.get("id", "")
        elif tag == "table":
            self.tables[self._table] = []
        elif tag == "tr":
            self.tables[self._table].append([])
        elif tag in ("td", "th"):
            self._cell = ""
        elif tag == "span" and self._cell is not None and values.get("class") == "paper":
            self._cell += "\n"
        elif tag == "a":
            self.links.append(values["href"])
        elif tag == "img":
            self.images.append(values["src"])

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cell is not None:
            self._cell += data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._cell is not None:
            self.tables[self._table][-1].append(self._cell)
            self._cell = None
