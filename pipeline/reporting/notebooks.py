"""Run a page's notebook with papermill, in a kernel of this very interpreter."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from learned_context.errors import UserError
from learned_context.files import parse_file
from pipeline import settings
from pipeline.files import Files
from pipeline.reporting import site

KERNEL = "report"


def run_notebook(files: Files, page: str) -> None:
    """Execute the page's notebook; it writes the page. The executed copy holds times: scratch."""
    settings.load(files)  # a mistake there is found before a kernel starts
    source = files.root / "reports" / "notebooks" / f"{page}.ipynb"
    restore = site.restore(source)
    parse_file(source, _validate, "notebook", restore)
    target = files.scratch("report", f"{page}.ipynb")
    target.parent.mkdir(parents=True, exist_ok=True)
    with _own_kernel() as folder:
        import papermill  # slow to import
        from traitlets.config import Config

        connection = str(folder / "connection.json")
        try:
            papermill.execute_notebook(
                str(source),
                str(target),
                parameters={"root": str(files.root)},
                kernel_name=KERNEL,
                language="python",
                progress_bar=False,
                cwd=None,
                log_output=False,
                config=Config(KernelManager={"transport": "ipc", "connection_file": connection}),
            )
        except papermill.PapermillExecutionError as error:
            if error.ename == "UserError":
                raise UserError(error.evalue) from None
            raise UserError(
                f"{source}: cell {error.cell_index} ends with {error.ename}: {error.evalue}; "
                f"correct the cell, or {restore}"
            ) from error
        except RuntimeError as error:  # what the kernel's client raises when the kernel is gone
            raise UserError(
                f"{source}: its kernel ended ({error}), perhaps for want of memory; run it again"
            ) from None


def _validate(source: Path) -> None:
    import nbformat

    nbformat.validate(nbformat.read(source, as_version=4))


@contextmanager
def _own_kernel() -> Iterator[Path]:
    """A kernel specification that nobody has to install and that no other one can shadow.

    The kernel's sockets are files in the same folder. A free port could be taken by another kernel
    between the moment when it is chosen and the moment when it is used.
    """
    with tempfile.TemporaryDirectory(prefix="report-kernel-") as folder:
        spec = Path(folder, "kernels", KERNEL, "kernel.json")
        spec.parent.mkdir(parents=True)
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        command += ["--IPKernelApp.log_level=ERROR"]  # it warns of every kernel that it is local
        spec.write_text(json.dumps({"argv": command, "display_name": KERNEL, "language": "python"}))
        before = os.environ.get("JUPYTER_PATH")
        os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, (folder, before)))
        try:
            yield Path(folder)
        finally:
            os.environ.pop("JUPYTER_PATH")
            if before is not None:
                os.environ["JUPYTER_PATH"] = before
