"""What add-dataset and the stages have made for a dataset, and how to remove that and no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pipeline.datasets.sources import FileSource
from pipeline.files import Files, sha256


def copies(files: Files, name: str, sources: Iterable[FileSource]) -> Iterator[Path]:
    """The copies that add-dataset made. One that its owner has changed since is the owner's."""
    for source in sources:
        path = files.raw("by_hand", name) / source.name
        if path.is_file() and sha256(path) == source.sha256:
            yield path


def made(files: Files, name: str, edition: str, sources: Sequence[FileSource]) -> list[Path]:
    """Every file of this dataset that a command has written, and that exists."""
    found = list(copies(files, name, sources))
    found += [files.raw(name, edition) / source.name for source in sources]
    patterns = (
        f"data/{name}/table.parquet",
        f"data/{name}/models/**/*.safetensors",
        f"results/*/{name}/*.json",
        f"reports/plots/*/{name}-*",
        f"scratch/*/{name}-*/**/*",
        f"scratch/*/{name}-*",
        f"scratch/logs/*@{name}[.-]*",
    )
    found += [path for pattern in patterns for path in files.root.glob(pattern)]
    return sorted({path for path in found if path.is_file() and not _behind_a_link(files, path)})


def _behind_a_link(files: Files, path: Path) -> bool:
    """What a link leads to is not the dataset's."""
    return path.resolve() != files.root.resolve() / path.relative_to(files.root)


def left(files: Files, name: str) -> list[Path]:
    """What is in the dataset's folders, made by a command or not."""
    folders = (f"raw/{name}", f"raw/by_hand/{name}", f"data/{name}", f"results/*/{name}")
    found = (path for folder in folders for path in files.root.glob(f"{folder}/**/*"))
    return sorted(path for path in found if not path.is_dir() or path.is_symlink())


def remove(files: Files, paths: Iterable[Path]) -> None:
    """The files, and the folders of a dataset that they leave empty."""
    keep = {files.root / name for name in ("", "raw", "raw/by_hand", "data", "results", "scratch")}
    keep |= {files.root / "reports" / "plots", *(files.root / "results").glob("*")}
    keep |= {*(files.root / "scratch").glob("*"), *(files.root / "reports" / "plots").glob("*")}
    for path in paths:
        path.unlink()
        folder = path.parent
        while folder not in keep and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent
