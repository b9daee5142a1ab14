"""Every mutant of a module: one changed operator, comparison, constant, condition or dropped call.

Annotations, docstrings, decorators and the text of error messages are left alone: they decide no
number.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

SWAPPED: tuple[tuple[type[ast.AST], type[ast.AST]], ...] = (
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.BitAnd, ast.BitOr),
    (ast.And, ast.Or),
    (ast.Eq, ast.NotEq),
    (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot),
)
OTHER_OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    **{one: (other,) for one, other in SWAPPED},
    **{other: (one,) for one, other in SWAPPED},
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
}


@dataclass(frozen=True)
class Mutant:
    line: int
    before: str
    after: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a module, as the module's whole text."""
    tree = ast.parse(source)
    for place in range(len(list(_code(tree)))):
        for choice in range(len(_choices(list(_code(tree))[place]))):
            changed = copy.deepcopy(tree)
            node = list(_code(changed))[place]
            before = ast.unparse(node)
            _choices(node)[choice]()
            after = ast.unparse(node)
            yield Mutant(node.lineno, _short(before), _short(after), ast.unparse(changed))


def _code(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """The statements and expressions below a node that may decide a number."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, (ast.Raise, ast.JoinedStr)) or _is_text(child):
                continue
            if isinstance(child, (ast.expr, ast.stmt)):
                yield child
            if isinstance(child, ast.AST):
                yield from _code(child)


def _is_text(node: object) -> bool:
    """A docstring, or a string that is a statement."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _choices(node: ast.expr | ast.stmt) -> list[Callable[[], None]]:
    """The ways to change this node, in place."""
    found: list[Callable[[], None]] = []

    def setting(name: str, value: object) -> None:
        found.append(lambda: setattr(node, name, value))

    match node:
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign():
            for other in OTHER_OPERATORS.get(type(node.op), ()):
                setting("op", other())
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                for other in OTHER_OPERATORS.get(type(operator), ()):
                    setting("ops", [*node.ops[:index], other(), *node.ops[index + 1 :]])
        case ast.UnaryOp():
            if isinstance(node.op, ast.USub | ast.Invert):
                setting("op", ast.UAdd())
            elif isinstance(node.op, ast.Not):
                setting("operand", ast.UnaryOp(ast.Not(), node.operand))
        case ast.Constant(value=bool()):
            setting("value", not node.value)
        case ast.Constant(value=int() | float()):
            setting("value", node.value + 1)
            if isinstance(node.value, float) and node.value:
                setting("value", node.value / 2)
        case ast.Constant(value=str()):
            setting("value", f"{node.value}?")
        case ast.If() | ast.While() | ast.IfExp():
            setting("test", ast.UnaryOp(ast.Not(), node.test))
        case ast.Expr(value=ast.Call()):
            setting("value", ast.Constant(None))
        case ast.Return() if node.value is not None:
            setting("value", ast.Constant(None))
    return found


def _short(text: str) -> str:
    line = text.splitlines()[0]
    return line if len(line) <= 100 else f"{line[:97]}..."
