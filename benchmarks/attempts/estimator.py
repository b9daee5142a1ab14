"""The estimator with wrong rows, labels, settings and files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from safetensors.numpy import save as to_bytes
from scipy.sparse import csr_array

from benchmarks.attempts.harness import Attempt, Scratch, python_call, refused, works, written
from benchmarks.attempts.security import PICKLE
from learned_context import LearnedContextRegressor

QUICK: dict[str, Any] = {
    "quality": "fast",
    "members": 1,
    "epochs": 3,
    "width": 8,
    "random_state": 1,
    "device": "cpu",
}
X = np.linspace(-1, 1, 60).reshape(30, 2)
Y = X @ [2.0, -1.0] + np.arange(30) % 3
TASK = np.array(["a", "b", "c"] * 10)
FRAME = pd.DataFrame(X, columns=["x", "z"])


@cache
def fitted() -> LearnedContextRegressor:
    return LearnedContextRegressor(**QUICK).fit(FRAME, Y, task=TASK)


def late(values: np.ndarray, bad: Any) -> np.ndarray:
    """The values with a bad one near the end."""
    changed = values.astype(type(bad) if isinstance(bad, str) else values.dtype, copy=True)
    changed[-2] = bad
    return changed


FIT: list[tuple[str, Any, Any, Any, str]] = [
    ("rows of one dimension", X[:, 0], Y, TASK, "2D array"),
    ("rows of three dimensions", X[:, :, None], Y, TASK, "dim"),
    ("no columns", X[:, :0], Y, TASK, "feature"),
    ("a frame without columns", FRAME[[]], Y, TASK, "0 feature"),
    ("no rows", X[:0], Y[:0], TASK[:0], "minimum of 2"),
    ("one row", X[:1], Y[:1], TASK[:1], "minimum of 2"),
    ("nothing", None, Y, TASK, "."),
    ("a word for rows", "rows", Y, TASK, "."),
    ("too few targets", X, Y[:-1], TASK, "29 values for 30 rows"),
    ("two targets a row", X, np.c_[Y, Y], TASK, "1d array"),
    ("no target", X, None, TASK, "y"),
    ("words for targets", X, TASK, TASK, "."),
    ("too few labels", X, Y, TASK[:-1], "29 labels for 30 rows"),
    ("labels of two dimensions", X, Y, TASK[:, None], "one dimension"),
    ("labels of two sorts", X, Y, [*TASK[:-1], 7], "str|int"),
    ("a missing label", X, Y, [*TASK[:-1], None], "missing"),
    ("labels that are lists", X, Y, [[1]] * 30, "."),
    ("a label that is no number", X, Y, late(np.arange(30.0), np.nan), "missing"),
    ("NaN in a row", late(X, np.nan), Y, TASK, "NaN"),
    ("infinity in a row", late(X, np.inf), Y, TASK, "infinity"),
    ("huge rows", X * 1e200, Y, TASK, "X has values beyond"),
    ("NaN in a target", X, late(Y, np.nan), TASK, "NaN"),
    ("infinity in a target", X, late(Y, -np.inf), TASK, "infinity"),
    ("huge targets", X, Y * 1e200, TASK, "y has values beyond"),
    ("rows that hardly differ", X * 1e-170, Y, TASK, "X has values that differ by less"),
    ("targets that hardly differ", X, Y * 1e-170, TASK, "y has values that differ by less"),
    ("a sparse matrix", csr_array(X), Y, TASK, "[Ss]parse"),
    ("labels that are dates", X, Y, pd.date_range("2020", periods=30), "Timestamp"),
    ("labels that are bytes", X, Y, [b"a"] * 30, "bytes"),
    ("an infinite label", X, Y, late(np.arange(30.0), np.inf), "infinite"),
    ("complex rows", X * 1j, Y, TASK, "."),
    ("dates", pd.DataFrame({"d": pd.date_range("2020", periods=30)}), Y, TASK, "'d' holds"),
    ("a mixed column", pd.DataFrame({"m": [1, *"b" * 29]}), Y, TASK, "'m' holds mixed"),
    ("an empty cell", pd.DataFrame({"m": [None, *"b" * 29]}), Y, TASK, "'m'"),
    ("a column twice", pd.DataFrame(X, columns=["x", "x"]), Y, TASK, "."),
]
SETTINGS: list[tuple[str, Any]] = [
    ("kind", "mlp"),
    ("kind", None),
    ("quality", "perfect"),
    ("members", 0),
    ("members", 2.5),
    ("task_dim", 0),
    ("task_dim", "two"),
    ("width", -1),
    ("width", True),
    ("width", 10**7),
    ("members", 10**9),
    ("task_dim", 10**12),
    ("blocks", 10**9),
    ("epochs", 10**12),
    ("blocks", -1),
    ("epochs", 0),
    ("batch_rows", 0),
    ("peak_rate", 0),
    ("peak_rate", float("nan")),
    ("momentum", 1.0),
    ("lambda_task", -1),
    ("lambda_shared", "none"),
    ("lambda_shared", 1e300),
    ("search", -1),
    ("unknown", "guess"),
    ("optimizer", "lion"),
    ("n_jobs", 0),
    ("device", "abacus"),
    ("device", "cuda:99"),
    ("device", "meta"),
    ("device", 3),
    ("device", None),
    ("task_column", "nothing"),
]
USE: list[tuple[str, Callable[[LearnedContextRegressor], object], str]] = [
    ("predict without a task", lambda m: m.predict(FRAME), "pass task="),
    ("predict an unknown task", lambda m: m.predict(FRAME, "d"), "'d' is not known"),
    ("predict with numbers for labels", lambda m: m.predict(FRAME, [1] * 30), "labels are numbers"),
    ("predict with too few labels", lambda m: m.predict(FRAME, ["a"] * 3), "3 labels for 30"),
    (
        "predict with another column",
        lambda m: m.predict(FRAME.rename(columns={"x": "w"}), "a"),
        "w",
    ),
    ("predict with a column less", lambda m: m.predict(FRAME[["x"]], "a"), "feature names"),
    ("predict with NaN", lambda m: m.predict(FRAME * np.nan, "a"), "NaN"),
    ("predict far away", lambda m: m.predict(FRAME * 1e30, "a"), "standard deviations away"),
    ("predict words", lambda m: m.predict(FRAME.assign(x="high"), "a"), "'x'"),
    ("an interval of level 1", lambda m: m.predict_interval(FRAME, "a", level=1), "level"),
    (
        "an interval of level 'high'",
        lambda m: m.predict_interval(FRAME, "a", level="high"),
        "level",
    ),
    ("add a known task", lambda m: m.add_task("a", FRAME, Y), "'a' is already there"),
    ("add a task without rows", lambda m: m.add_task("d", FRAME[:0], Y[:0]), "minimum of 1"),
    ("add a task of another sort", lambda m: m.add_task(7, FRAME, Y), "labels are numbers"),
    ("add a task with NaN", lambda m: m.add_task("d", FRAME, Y * np.nan), "NaN"),
    ("add a task far away", lambda m: m.add_task("d", FRAME, Y * 1e30), "standard deviations away"),
    ("update an unknown task", lambda m: m.update_task("d", FRAME, Y), "'d' is not known"),
    ("the neighbours of an unknown task", lambda m: m.nearest_tasks("d"), "'d' is not known"),
    ("no neighbours", lambda m: m.nearest_tasks("a", k=0), "k must be an integer"),
    ("neighbours in a word", lambda m: m.nearest_tasks("a", k="two"), "k must be an integer"),
    ("predict no rows", lambda m: m.predict(FRAME[:0], "a"), "minimum of 1"),
    ("predict columns in another order", lambda m: m.predict(FRAME[["z", "x"]], "a"), "names"),
    ("add a task without a label", lambda m: m.add_task(None, FRAME, Y), "label is missing"),
    ("add tasks, one of them known", lambda m: m.add_tasks(FRAME, Y, ["d"] * 29 + ["a"]), "'a' is"),
    ("score with too few targets", lambda m: m.score(FRAME, Y[:-1], TASK), "29|inconsistent"),
]
BEFORE_FIT: dict[str, Callable[[LearnedContextRegressor], object]] = {
    "predict": lambda m: m.predict(X, TASK),
    "predict_interval": lambda m: m.predict_interval(X, TASK),
    "nearest_tasks": lambda m: m.nearest_tasks("a"),
    "add_task": lambda m: m.add_task("a", X, Y),
    "save": lambda m: m.save("file"),
}
LABELS: list[tuple[str, Any]] = [
    ("large labels", [2**53 + n % 3 for n in range(30)]),
    ("booleans", X[:, 0] > 0),
]
FILES: list[tuple[str, bytes, str]] = [
    ("empty", b"", "not a|damaged"),
    ("text", b"hello", "not a|damaged"),
    ("a pickle", PICKLE, "not a"),
    ("an archive", b"PK\x03\x04" + bytes(200), "not a"),
    ("a huge header", b"\xff" * 16, "not a"),
    ("zeros", bytes(4096), "not a"),
]


def attempts() -> Iterator[Attempt]:
    for name, x, y, task, says in FIT:
        yield _refused(f"fit {name}", _fit(x, y, task), says)
    for name, value in SETTINGS:
        yield _refused(f"fit with {name}={value!r}", _fit(X, Y, TASK, **{name: value}), name)
    for name, use, says in USE:
        yield _refused(name, lambda scratch, use=use: use(fitted()), says)
    empty = LearnedContextRegressor()
    for name, use in BEFORE_FIT.items():
        yield _refused(f"{name} before fit", lambda scratch, use=use: use(empty), "not fitted")
    yield from _files()
    all_cores = python_call(_fit(X, Y, TASK, n_jobs=-1))
    yield works("fit with all cores", all_cores, "LearnedContextRegressor")
    for name, labels in LABELS:
        keeps = python_call(lambda scratch, labels=labels: _keeps_labels(labels))
        yield works(f"fit {name}", keeps, "True")


def _files() -> Iterator[Attempt]:
    def load(scratch: Scratch, name: str = "mine/model") -> object:
        return LearnedContextRegressor.load(scratch.path(name))

    def saved(scratch: Scratch, change: Callable[[bytes], bytes]) -> None:
        path = scratch.write("mine/model", b"")
        fitted().save(path)
        path.write_bytes(change(path.read_bytes()))

    for name, content, says in FILES:
        yield _refused(f"load a file that is {name}", load, says, written("mine/model", content))
    yield _refused("load a folder", lambda s: load(s, "docs"), "docs.*(folder|directory)")
    yield _refused("load what is not there", lambda s: load(s, "no"), "no.*does not exist")
    yield _refused("load a device", lambda s: load(s, "/dev/zero"), "/dev/zero: a device")
    others = written("mine/model", to_bytes({"weight": np.zeros(3)}))
    yield _refused("load somebody else's safetensors", load, "mine/model", others)
    yield _refused(
        "load a file cut short", load, "mine/model", lambda s: saved(s, lambda whole: whole[:-100])
    )
    yield _refused(
        "load a file whose description was changed",
        load,
        "mine/model",
        lambda s: saved(s, lambda whole: whole.replace(b"width", b"depth")),
    )
    yield _refused(
        "save into a folder that is a file",
        lambda s: fitted().save(s.path("README.md") / "model"),
        "README.md",
    )
    yield _refused(
        "save over a pipe",
        lambda s: fitted().save(s.path("mine/pipe")),
        "mine/pipe: cannot be written, it is a device, pipe or socket",
        lambda s: (s.write("mine/a", ""), os.mkfifo(s.path("mine/pipe"))),
    )
    yield _refused("save over a folder", lambda s: fitted().save(s.path("docs")), "docs")


def _keeps_labels(labels: Any) -> bool:
    model = LearnedContextRegressor(**QUICK).fit(X, Y, task=labels)
    return set(model.tasks_) == set(np.asarray(labels).tolist())


def _fit(x: Any, y: Any, task: Any, **settings: Any) -> Callable[[Scratch], object]:
    return lambda scratch: LearnedContextRegressor(**QUICK | settings).fit(x, y, task=task)


def _refused(name: str, use: Callable[[Scratch], object], *rest: Any) -> Attempt:
    return refused(name, python_call(use), *rest)
