"""The command line in a clone without data: wrong words, missing and damaged files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from benchmarks.attempts.harness import Attempt, Ending, Scratch
from pipeline.__main__ import COMMANDS
from pipeline.studies import STUDIES

RESULT = "results/train/frequency/lc.json"
NOTEBOOK = "reports/notebooks/data.ipynb"
WRONG_WORDS: list[tuple[tuple[str, ...], str]] = [
    ((), "the following arguments are required: verb"),
    (("paint",), "invalid choice: 'paint'"),
    (("tune",), "required: dataset"),
    (("tune", "frequency"), "required: model"),
    (("tune", "iris", "lc"), "'iris' is not in params.yaml; valid: "),
    (("tune", "frequency", "mlp"), "model 'mlp' is not in params.yaml; valid: "),
    (("train", "frequency", "lc", "twice"), "unrecognized arguments: twice"),
    (("linear", "../.."), "is not in params.yaml"),
    (("download", "iris"), "'iris' is not in params.yaml"),
    (("prepare", "iris"), "'iris' is not in params.yaml"),
    (("prepare", ""), "'' is not in params.yaml"),
    (("report", "nothing"), "no page 'nothing'; valid: index"),
    (("report", "../index"), "no page '../index'"),
    (("run", "--jobs", "0"), "--jobs 0: must be at least 1"),
    (("run", "--jobs", "-3"), "--jobs -3: must be at least 1"),
    (("run", "--jobs", "many"), "invalid int value: 'many'"),
    (("plan", "--jobs", "0"), "--jobs 0: must be at least 1"),
    (("plan", "trian"), "trian: no such stage; did you mean .*train"),
    (("plan", "train@frequency-mlp"), "no such stage; did you mean"),
    (("plan", "qqqqqq"), "no such stage; `dvc stage list --all` has all"),
    (("plan", "[a"), "no such stage"),
    (("run", ""), "no such stage"),
    (("run", "train@*", "nothing@*"), "nothing@\\*: no such stage"),
    (("run", "validate", "--scheduler", "tcp://192.0.2.1:8786"), "without TLS"),
    (("run", "validate", "--scheduler", "head:8786"), "host 'head' is not known|without TLS"),
    (("run", "validate", "--scheduler", "nonsense"), "not an address of the form"),
    (("audit", "--rerun", "paint@x"), "paint@x"),
    (("audit", "--networks", "few"), "few"),
    (("add-dataset",), "required: file"),
    (("add-dataset", "README.md"), "required: --task, --target"),
    (("remove-dataset",), "required: name"),
    (("demo", "--jobs", "few"), "invalid int value: 'few'"),
    (("demo", "--folder", "params.yaml"), "params.yaml"),
]
DAMAGED: list[tuple[str, bytes, tuple[str, ...], str]] = [
    (RESULT, b"", ("check",), f"{RESULT}: "),
    (RESULT, b"{}", ("check",), f"{RESULT}: "),
    (RESULT, b"[1]", ("check",), f"{RESULT}: "),
    (RESULT, b"\xff\xfe", ("check",), f"{RESULT}: "),
    (RESULT, b"9" * 5000, ("check",), f"{RESULT}: "),
    (RESULT, b"[" * 5000, ("check",), f"{RESULT}: "),
    (RESULT, b'{"rmse": NaN}', ("check", "--write"), f"{RESULT}: "),
    (RESULT, b"{}", ("report", "--readme"), f"{RESULT}: "),
    (NOTEBOOK, b"", ("report", "data"), f"{NOTEBOOK}: not a readable notebook"),
    (NOTEBOOK, b"[]", ("report", "data"), f"{NOTEBOOK}: not a readable notebook"),
    (NOTEBOOK, b'{"metadata": 3}', ("report", "data"), f"{NOTEBOOK}: not a readable notebook"),
    ("dvc.yaml", b"stages: [", ("plan",), "dvc.yaml"),
    ("dvc.yaml", b"", ("run", "validate"), "validate"),
    ("dvc.lock", b"schema: '2.0'\nstages:\n  a: [", ("plan",), "dvc.lock"),
    (".dvc/config", b"[core\n", ("plan",), r"\.dvc/config"),
    (".dvcignore", b"\xff\xfe", ("plan",), r"\.dvcignore"),
]
MISSING: list[tuple[str, tuple[str, ...], str]] = [
    (NOTEBOOK, ("report", "data"), f"{NOTEBOOK}: does not exist; restore it with `git checkout"),
    ("profiles/workstation.yaml", ("validate",), "profile: no .*; valid: paper, smoke"),
    ("dvc.yaml", ("plan", "validate"), "validate"),
    ("data/frequency/table.parquet", ("linear", "frequency"), r"table.parquet: does not exist"),
]


def attempts() -> Iterator[Attempt]:
    for verb in (*COMMANDS, *STUDIES):
        yield _call((verb, "--nonsense"), "unrecognized arguments|required")
    for verb in (*COMMANDS, *STUDIES):
        yield Attempt(f"{verb} --help", _act(verb, "--help"), "works", "usage: ")
    for words, says in WRONG_WORDS:
        yield _call(words, says)
    for file, content, words, says in DAMAGED:
        shown = content[:12].decode(errors="backslashreplace")
        yield Attempt(
            f"{' '.join(words)} with {file} of {len(content)} bytes {shown!r}",
            _act(*words),
            "refused",
            says,
            lambda scratch, file=file, content=content: scratch.write(file, content),
        )
    for file, words, says in MISSING:
        yield Attempt(
            f"{' '.join(words)} without {file}",
            _act(*words),
            "refused",
            says,
            lambda scratch, file=file: scratch.path(file).unlink(missing_ok=True),
        )
    for name, number in (("a negative error", -1.0), ("an error of text", "low"), ("none", None)):
        yield Attempt(f"check with {name}", _act("check"), "refused", RESULT, _with_error(number))
    yield Attempt(
        "run --scheduler with TLS and no certificate",
        _act("run", "validate", "--scheduler", "tls://127.0.0.1:1"),
        "refused",
        "no certificate is configured",
        lambda scratch: scratch.replace("params.yaml", "leak_share: 0.5", "leak_share: 0.6"),
    )
    yield Attempt(
        "run --scheduler where none is",
        _act("run", "validate", "--scheduler", "tcp://127.0.0.1:1"),
        "refused",
        r"no Dask scheduler answers .* with TLS \(docs/cluster.md says how\)",
        lambda scratch: scratch.replace("params.yaml", "leak_share: 0.5", "leak_share: 0.6"),
    )
    yield Attempt(
        f"check without {RESULT}",
        _check,
        "works",
        r"[1-9]\d* missing",
        lambda scratch: scratch.path(RESULT).unlink(),
    )
    yield Attempt("check as it is", _check, "works", "results: .* 0 missing")
    yield Attempt("validate as it is", _act("validate"), "works", "valid")
    yield Attempt("plan as it is", _act("plan"), "works", "stages")
    yield Attempt(
        "plan of one stage, as JSON", _act("plan", "validate", "--json"), "works", "wall_"
    )
    yield Attempt("dvc as it is", _act("dvc"), "works", "is what the studies declare")
    yield Attempt("prepare a generated dataset", _act("prepare", "frequency"), "works", "rows")
    yield Attempt(
        "dvc with an edited dvc.yaml",
        _act("dvc"),
        "refused",
        "dvc.yaml: is not what the studies declare; run `python -m pipeline dvc --write`",
        lambda scratch: scratch.replace("dvc.yaml", "stages:", "# mine\nstages:"),
    )


def _with_error(value: object) -> Callable[[Scratch], object]:
    def change(scratch: Scratch) -> None:
        content = json.loads(scratch.read(RESULT))
        scratch.write(RESULT, json.dumps(content | {"rmse": value}))

    return change


def _check(scratch: Scratch) -> Ending:
    """Code 1 is `check`'s answer, not a failure: some differences have no note."""
    ending = scratch.call("check")
    return Ending(0, ending.out, ending.err) if ending.code == 1 else ending


def _act(*words: str) -> Callable[[Scratch], Ending]:
    return lambda scratch: scratch.call(*words)


def _call(words: tuple[str, ...], says: str) -> Attempt:
    return Attempt(" ".join(words) or "no words", _act(*words), "refused", says)
