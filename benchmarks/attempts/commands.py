"""The command line in a clone without data: wrong words, missing and damaged files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from benchmarks.attempts.harness import (
    Attempt,
    Ending,
    Scratch,
    call,
    refused,
    removed,
    replaced,
    works,
    written,
)
from pipeline.__main__ import COMMANDS
from pipeline.studies import STUDIES

VERBS = (*COMMANDS, *STUDIES)
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
    (("run", "--jobs", "0"), "--jobs: 0: must be a whole number"),
    (("run", "--jobs", "-3"), "--jobs: -3: must be a whole number"),
    (("run", "--jobs", "many"), "--jobs: many: must be a whole number"),
    (("plan", "--jobs", "0"), "--jobs: 0: must be a whole number"),
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
    (("demo", "--jobs", "few"), "--jobs: few: must be a whole number"),
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
    nonsense = [((verb, "--nonsense"), "unrecognized arguments|required") for verb in VERBS]
    for words, says in nonsense + WRONG_WORDS:
        yield refused(" ".join(words) or "no words", call(*words), says)
    for verb in VERBS:
        yield works(f"{verb} --help", call(verb, "--help"), "usage: ")
    for file, content, words, says in DAMAGED:
        shown = content[:12].decode(errors="backslashreplace")
        name = f"{' '.join(words)} with {file} of {len(content)} bytes {shown!r}"
        yield refused(name, call(*words), says, written(file, content))
    for file, words, says in MISSING:
        yield refused(f"{' '.join(words)} without {file}", call(*words), says, removed(file))
    for name, number in (("a negative error", -1.0), ("an error of text", "low"), ("none", None)):
        yield refused(f"check with {name}", call("check"), RESULT, _with_error(number))
    yield refused(
        "run --scheduler with TLS and no certificate",
        call("run", "validate", "--scheduler", "tls://127.0.0.1:1"),
        "no certificate is configured",
        replaced("params.yaml", "leak_share: 0.5", "leak_share: 0.6"),
    )
    yield refused(
        "run --scheduler where none is",
        call("run", "validate", "--scheduler", "tcp://127.0.0.1:1"),
        r"no Dask scheduler answers .* with TLS \(docs/cluster.md says how\)",
        replaced("params.yaml", "leak_share: 0.5", "leak_share: 0.6"),
    )
    yield works(f"check without {RESULT}", _check, r"[1-9]\d* missing", removed(RESULT))
    yield works("check as it is", _check, "results: .* 0 missing")
    yield works("validate as it is", call("validate"), "valid")
    yield works("plan as it is", call("plan"), "stages")
    yield works("plan of one stage, as JSON", call("plan", "validate", "--json"), "wall_")
    yield works("dvc as it is", call("dvc"), "is what the studies declare")
    yield works("prepare a generated dataset", call("prepare", "frequency"), "rows")
    yield refused(
        "dvc with an edited dvc.yaml",
        call("dvc"),
        "dvc.yaml: is not what the studies declare; run `python -m pipeline dvc --write`",
        replaced("dvc.yaml", "stages:", "# mine\nstages:"),
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
