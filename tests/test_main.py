from __future__ import annotations

import argparse
import io
import sys
from types import ModuleType

import pytest

from learned_context.errors import UserError
from pipeline import __main__ as command


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A verb of the test's own, as other stages add theirs to the table."""
    module = ModuleType("pipeline.commands.greet")
    module.add_arguments = lambda parser: parser.add_argument("name")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pipeline.commands.greet", module)
    monkeypatch.setitem(command.COMMANDS, "greet", "say a name")
    return module


def test_a_terminal_that_lacks_letters_is_no_crash(
    verb: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", newline="\n")
    monkeypatch.setattr(sys, "stdout", terminal)
    verb.run = lambda arguments: print(arguments.name)  # type: ignore[attr-defined]
    assert command.main(["greet", "θ"]) == 0
    assert terminal.buffer.getvalue() == b"\\u03b8\n"  # type: ignore[attr-defined]


def test_verb_runs(verb: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    verb.run = lambda arguments: print(arguments.name)  # type: ignore[attr-defined]
    assert command.main(["greet", "Ada"]) == 0
    assert capsys.readouterr().out == "Ada\n"


@pytest.mark.parametrize(
    ("raised", "code", "printed"),
    [(UserError("a: b"), 2, "error: a: b\n"), (KeyboardInterrupt(), 130, "")],
)
def test_failures(
    verb: ModuleType,
    capsys: pytest.CaptureFixture[str],
    raised: BaseException,
    code: int,
    printed: str,
) -> None:
    def run(arguments: argparse.Namespace) -> None:
        raise raised

    verb.run = run  # type: ignore[attr-defined]
    assert command.main(["greet", "Ada"]) == code
    assert capsys.readouterr().err == printed


def test_unknown_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(["paint"])
    assert caught.value.code == 2
    assert "invalid choice: 'paint'" in capsys.readouterr().err


def test_help_imports_no_stage(capsys: pytest.CaptureFixture[str], verb: ModuleType) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(["--help"])
    assert caught.value.code == 0
    assert "make a dataset's table" in capsys.readouterr().out
