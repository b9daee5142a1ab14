"""The text of the files that people write: typing errors, wrong encodings, hostile YAML."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.attempts.harness import (
    Attempt,
    Scratch,
    call,
    refused,
    removed,
    replaced,
    works,
    written,
)

PARAMS, SOURCES, PAPER = "params.yaml", "raw/sources.yaml", "reports/paper.yaml"
BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 25)
)
CHANGES: list[tuple[str, str, str, str]] = [
    ("a tab", "  split: 2 ", "\tsplit: 2 ", r"params\.yaml: line 15: not valid YAML"),
    ("a bracket left open", "fractions: [0.5, 0.1]", "fractions: [0.5", r"line \d+: not valid"),
    ("no colon", "validation: 0.2", "validation 0.2", r"line \d+: not valid YAML"),
    ("a key twice", "validation: 0.2 ", "validation: 0.2\nvalidation: 0.3 ", r'key "validation"'),
    ("a key twice below", "  data: 1 ", "  data: 1\n  data: 7 ", r'line 15: .* key "data"'),
    ("a seed with a comma", "  data: 1 ", "  data: 1,5 ", r"seeds\.data: '1,5' is not valid"),
    ("a share with a comma", "leak_share: 0.5", "leak_share: 0,5", r"leak_share: '0,5' is not va"),
    ("a percent sign", "leak_share: 0.5", "leak_share: 50%", r"leak_share: '50%' is not valid"),
    ("a date", "leak_share: 0.5", "leak_share: 2001-99-99", r"not valid YAML"),
    ("yes", "categories: number", "categories: yes", r"categories: 'yes' is not valid"),
    ("a tag of Python", "  data: 1 ", "  data: !!python/object/apply:os.system [id] ", r"not val"),
    ("an unknown alias", "  data: 1 ", "  data: *no ", r"line \d+: not valid YAML"),
    ("a second document", "seeds:", "---\nseeds:", r"not valid YAML"),
    ("wrong indentation", "  split: 2 ", " split: 2 ", r"line \d+: not valid YAML"),
    ("a bell", "profile: workstation", "profile: work\astation", r"not valid YAML"),
]
VALID: list[tuple[str, str, str]] = [
    ("a comment", "  data: 1 ", "  data: 1  # mine "),
    ("a zero in front", "  split: 2 ", "  split: 010 "),
    ("an exponent without a point", "leak_share: 0.5", "leak_share: 5e-1"),
    ("a byte-order mark", "# What", "\ufeff# What"),
]
WHOLE: list[tuple[str, str, bytes, str, str]] = [
    ("empty", PARAMS, b"", "validate", r"params\.yaml: must be a mapping"),
    ("a list", PARAMS, b"- 1\n", "validate", r"params\.yaml: must be a mapping"),
    ("a number", PARAMS, b"7", "validate", r"params\.yaml: must be a mapping"),
    ("UTF-16", PARAMS, "a: 1".encode("utf-16"), "validate", r"params\.yaml: cannot be read"),
    ("Latin-1", PARAMS, b"profile: gr\xfcn", "validate", r"params\.yaml: cannot be read"),
    ("zeros", PARAMS, bytes(1000), "validate", r"params\.yaml: not valid YAML"),
    ("a hundred MB", PARAMS, b"#" * 10**8, "validate", r"params\.yaml: has 95 MB"),
    ("a bomb of aliases", PARAMS, BOMB.encode(), "validate", r"unknown key 'a0'"),
    ("brackets without end", PARAMS, b"[" * 100_000, "validate", r"params\.yaml: .*not valid YAML"),
    ("a picture", PARAMS, b"\x89PNG\r\n\x1a\n" + bytes(99), "validate", r"cannot be read"),
    ("empty sources", SOURCES, b"", "validate", r"raw/sources\.yaml: must be a mapping"),
    ("sources cut", SOURCES, b"dataset:\n  schools: {paper:", "validate", r"sources\.yaml: line 3"),
    ("empty paper", PAPER, b"", "check", r"reports/paper\.yaml: "),
    ("paper cut", PAPER, b"tables: [", "check", r"reports/paper\.yaml: "),
]


def attempts() -> Iterator[Attempt]:
    for name, old, new, says in CHANGES:
        yield refused(f"{PARAMS} with {name}", call("validate"), says, replaced(PARAMS, old, new))
    for name, old, new in VALID:
        yield works(f"{PARAMS} with {name}", call("validate"), "valid", replaced(PARAMS, old, new))
    yield works(f"{PARAMS} with Windows line ends", call("validate"), "valid", _for_windows)
    for name, file, content, verb, says in WHOLE:
        yield refused(f"{file} is {name}", call(verb), says, written(file, content))
    for file, verb in ((PARAMS, "plan"), (SOURCES, "plan"), (PAPER, "check")):
        yield refused(f"{file} is gone", call(verb), f"{file}: does not exist", removed(file))
        yield refused(f"{file} is a folder", call(verb), f"{file}: ", _as_folder(file))


def _for_windows(scratch: Scratch) -> None:
    scratch.write(PARAMS, scratch.read(PARAMS).replace("\n", "\r\n"))


def _as_folder(file: str) -> Callable[[Scratch], None]:
    def change(scratch: Scratch) -> None:
        scratch.path(file).unlink()
        scratch.path(file).mkdir()

    return change
