"""What an attacker could plant: in sources, archives, tables, links; and what listens."""

from __future__ import annotations

import io
import stat
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psutil

from benchmarks.attempts.harness import (
    Attempt,
    Ending,
    Scratch,
    call,
    refused,
    replaced,
    verb,
    works,
    written,
)
from benchmarks.attempts.own_data import COLUMNS, PLAIN, add, added
from pipeline.execution import cluster

PICKLE = b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x94\x8c\x0atouch evil\x94\x85\x94R\x94."
SOURCE = "mirror: schools/ILEA567.DAT"
ADDRESS = '"http://www.bristol.ac.uk/cmm/media/migrated/ilea567.zip"'
SHA = "sha256: 57bbbfd28db39a1383661fdce8719fa8f5b29ec6d0881292ade5f2d8c3774a68"
SOURCES: list[tuple[str, str, str, str]] = [
    ("a file of this machine", ADDRESS, '"file:///etc/passwd"', r"addresses\[0\]: 'file:///etc"),
    ("another protocol", ADDRESS, '"gopher://a/b"', r"addresses\[0\]: 'gopher://a/b' is not valid"),
    ("no host", ADDRESS, '"http:///a"', r"addresses\[0\]: 'http:///a' is not valid"),
    ("a mirror's parent", SOURCE, "mirror: ../../etc/passwd", r"mirror: '\.\./\.\./etc"),
    ("a mirror's parent inside", SOURCE, "mirror: a/../../b", r"mirror: 'a/\.\./\.\./b' is not"),
    ("a root for a mirror", SOURCE, "mirror: /etc/passwd", r"mirror: '/etc/passwd' is not valid"),
    ("a backslash in a mirror", SOURCE, r"mirror: a\..\b", r"mirror: .* is not valid"),
    ("a name with a path", "name: ILEA567.DAT", "name: ../../x", r"name: '\.\./\.\./x' is not"),
    ("a hidden name", "name: ILEA567.DAT", "name: .bashrc", r"name: '\.bashrc' is not valid"),
    ("a hash too short", SHA, "sha256: abc", r"sha256: 'abc' is not valid"),
]


def attempts() -> Iterator[Attempt]:
    for name, old, new, says in SOURCES:
        change = replaced("raw/sources.yaml", old, new)
        yield refused(f"sources with {name}", call("validate"), says, change)
    yield from _answers()
    yield from _planted()
    yield from _links()
    yield works("what a local run listens on", _listening, "nothing")


# -- a server that answers with something else ---------------------------------------------------


def zipped(*members: tuple[str, bytes], link: bool = False) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            if link:
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, content)
    return target.getvalue()


def _answers() -> Iterator[Attempt]:
    data = "ILEA567.DAT"
    answers: list[tuple[str, int, dict[str, str], bytes, str]] = [
        ("a web page", 200, {}, b"<!DOCTYPE html><html></html>", "web page"),
        ("nothing", 200, {}, b"", "not a readable zip|empty"),
        ("an error", 500, {}, b"x", "500"),
        ("a move to a file", 302, {"Location": "file:///etc/passwd"}, b"", "not an address|schema"),
        ("a move in circles", 302, {"Location": "/again"}, b"", "not an address|redirect"),
        ("no archive", 200, {}, b"hello" * 99, "not a readable zip"),
        ("another member", 200, {}, zipped(("a.txt", b"x")), "no member 'ILEA567.DAT'"),
        ("a member that climbs", 200, {}, zipped((data, b"x"), ("../../evil", b"x")), "climbs out"),
        ("a member at the root", 200, {}, zipped((data, b"x"), ("/evil", b"x")), "climbs out"),
        ("a member that is a link", 200, {}, zipped((data, b"/etc"), link=True), "is a link"),
        ("a member of 600 MB", 200, {}, zipped((data, bytes(600 * 2**20))), "larger than 512 MB"),
        ("other bytes", 200, {}, zipped((data, b"1" * 1000)), "damaged, or another file"),
    ]
    for name, code, headers, body, says in answers:
        yield refused(f"a server that answers with {name}", _download(code, headers, body), says)


def _download(code: int, headers: dict[str, str], body: bytes) -> Callable[[Scratch], Ending]:
    def act(scratch: Scratch) -> Ending:
        with _serving(code, headers, body) as address:
            text = scratch.read("raw/sources.yaml")
            scratch.replace("raw/sources.yaml", ADDRESS, f'"{address}/a.zip"')
            try:
                return scratch.call("download", "schools")
            finally:
                scratch.write("raw/sources.yaml", text)

    return act


@contextmanager
def _serving(code: int, headers: dict[str, str], body: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


# -- files that were planted ---------------------------------------------------------------------


def _planted() -> Iterator[Attempt]:
    table, by_hand = "data/frequency/table.parquet", "raw/by_hand/bike_sharing/hour.csv"
    for name, content in (("a pickle", PICKLE), ("zeros", bytes(999)), ("text", b"PAR1 evil PAR1")):
        yield refused(
            f"a table that is {name}",
            _without_evil("linear", "frequency"),
            f"{table}: not a readable parquet",
            written(table, content),
        )
    yield refused(
        "a raw file put there by hand that is another one",
        call("download", "bike_sharing"),
        f"{by_hand}: sha256 is .*damaged, or another file",
        written(by_hand, "instant,dteday\n1,2\n"),
    )
    yield works(
        "a module beside the data is not imported",
        _without_evil("validate"),
        "valid",
        written("raw/by_hand/yaml.py", "import os; os.system('touch evil')\n"),
    )
    yield refused(
        "a shell's words in a dataset's name",
        _without_evil("add-dataset", "mine/w.csv", *COLUMNS, "--name", "a;touch evil"),
        "is not valid",
        written("mine/w.csv", PLAIN),
    )
    yield works(
        "a template's words in a column's name",
        _without_evil("add-dataset", "mine/w.csv", *COLUMNS),
        "added",
        written("mine/w.csv", PLAIN.replace(b",x,", b",${profile},")),
    )


def _without_evil(*words: str) -> Callable[[Scratch], Ending]:
    def act(scratch: Scratch) -> Ending:
        ending = scratch.call(*words)
        return Ending(-1, err="code was run") if scratch.path("evil").exists() else ending

    return act


# -- links ---------------------------------------------------------------------------------------


def _links() -> Iterator[Attempt]:
    def link(scratch: Scratch, name: str, target: str) -> None:
        path = scratch.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(scratch.path(target))

    def remove(scratch: Scratch) -> Ending:
        scratch.write("elsewhere/lc.json", "{}")
        ending = scratch.call("remove-dataset", "wells")
        kept = scratch.path("elsewhere/lc.json").exists()
        return ending if kept else Ending(-1, err="a file behind a link is gone")

    yield works(
        "remove a dataset whose results are a link to a folder",
        remove,
        "wells: removed",
        lambda s: (added(s), link(s, "results/train/wells", "elsewhere")),
    )
    yield refused(
        "add a dataset where its copy would be a link",
        add("notes.csv"),
        "is there already, and add-dataset did not make it",
        lambda s: (s.write("notes.csv", PLAIN), link(s, "raw/by_hand/notes/notes.csv", "notes.md")),
    )
    yield works(
        "write a table where a link is",
        call("prepare", "frequency"),
        "rows",
        lambda s: link(s, "data/frequency/table.parquet", "notes.md"),
    )
    own = written("mine/README.md", "my own")
    for folder in (".", "docs", "mine"):
        name, act = f"demo into {folder}, where other files are", verb("demo", "--folder", folder)
        yield refused(name, act, "no folder that the demo made", own)


def _listening(scratch: Scratch) -> Ending:
    def ports() -> set[object]:
        found = psutil.Process().net_connections()
        return {one.laddr for one in found if one.status == psutil.CONN_LISTEN}

    before = ports()
    with cluster.connect(None, 2) as workers:
        workers.submit(sum, [1, 2]).result()
        opened = ports() - before
    return Ending(0, f"listening on {opened}" if opened else "nothing")
