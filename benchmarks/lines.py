"""Lines of code by package, without blank lines, comments and docstrings.

`--project` counts another checkout, to compare with.
"""

from __future__ import annotations

import argparse
import ast
import tokenize
from collections import Counter
from pathlib import Path

TOPS = ("learned_context", "pipeline", "benchmarks", "tests")
BETWEEN = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
"""Tokens that are no code."""


def lines_of_code(path: Path) -> int:
    with tokenize.open(path) as file:
        tokens = [one for one in tokenize.generate_tokens(file.readline) if one.type not in BETWEEN]
    code = {line for one in tokens for line in range(one.start[0], one.end[0] + 1)}
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:  # a text that is a statement documents what is above it
            case ast.Expr(ast.Constant(str()), lineno=first, end_lineno=last):
                code -= set(range(first, last + 1))
    return len(code)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--project", type=Path, default=Path(__file__).resolve().parents[1])
    root = parser.parse_args().project
    for top in TOPS:
        packages: Counter[str] = Counter()
        for path in (root / top).rglob("*.py"):
            folders = path.relative_to(root).parts[:-1]
            packages["/".join(folders[:2])] += lines_of_code(path)
        print(f"{packages.total():6} {top}")
        for name in sorted(packages):
            print(f"{packages[name]:12} {name if '/' in name else f'{name}/*.py'}")


if __name__ == "__main__":
    main()
