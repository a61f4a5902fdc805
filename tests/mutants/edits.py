"""What is mutated: one small change of one expression, as a programmer may slip.

Words are left alone (strings, what is said in an error, annotations), and so is what runs but
once: imports and decorators. A library was tried first (mutmut 3, cosmic-ray): most of what
survives theirs are changed words, they pass over properties and cached functions or know nothing
of which test runs which line.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
OPPOSITE = {
    "min": "max", "minimum": "maximum", "any": "all", "floor": "ceil", "argmin": "argmax",
    "cdf": "sf", "log": "log1p", "exp": "expm1", "union": "intersection",
}  # fmt: skip
WORDS = {"dtype", "quantity", "method", "why"}  # arguments that change no number
OPPOSITE |= {right: left for left, right in OPPOSITE.items()}


@dataclass(frozen=True)
class Mutant:
    """One change of one module.

    Attributes
    ----------
    module
        Dotted name.
    path
        Of its file, from the root.
    place
        The function or class that is changed, dots between.
    lines
        First and last line to look at for tests that run it: from the statement's beginning.
    change
        The expression before and after.
    number
        Which of the changes that look alike in this place.
    """

    module: str
    path: str
    place: str
    lines: tuple[int, int]
    change: str
    number: int

    @property
    def key(self) -> str:
        """A name that stays when other lines of the file change."""
        again = f" #{self.number + 1}" if self.number else ""
        return f"{self.path}::{self.place}: {self.change}{again}"

    def rank(self, seed: int) -> str:
        """Where it stands in the order of a seed: a larger sample holds the smaller one."""
        return hashlib.sha256(f"{seed} {self.key}".encode()).hexdigest()


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what an expression may be mistaken for."""
    match node:
        case ast.Compare(left, ops, comparators):
            for i, op in enumerate(ops):
                for other in COMPARED[type(op)]:
                    yield ast.Compare(left, [*ops[:i], other(), *ops[i + 1 :]], comparators)
        case ast.BinOp(left, op, right) if type(op) in COMPUTED:
            yield ast.BinOp(left, COMPUTED[type(op)](), right)
            yield left
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for i in range(len(values)):
                rest = [*values[:i], *values[i + 1 :]]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield operand
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(float(value)):
            yield ast.Constant(1.5 * value if value else 1.0)
        case ast.Call(func, args, keywords):
            yield from _calls(func, args, keywords)
        case ast.IfExp(_, body, orelse):
            yield body
            yield orelse
        case ast.Slice(lower, upper, step):
            for i, limit in enumerate((lower, upper, step)):
                if limit is not None:
                    kept = [None if i == j else part for j, part in enumerate((lower, upper, step))]
                    yield ast.Slice(*kept)
        case _:
            pass


def _calls(func: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]) -> Iterator[ast.Call]:
    match func:
        case ast.Name(name) if name in OPPOSITE:
            yield ast.Call(ast.Name(OPPOSITE[name], ast.Load()), args, keywords)
        case ast.Attribute(value, name) if name in OPPOSITE:
            yield ast.Call(ast.Attribute(value, OPPOSITE[name], ast.Load()), args, keywords)
        case _:
            pass
    for i, keyword in enumerate(keywords):
        if keyword.arg not in WORDS:
            yield ast.Call(func, args, [*keywords[:i], *keywords[i + 1 :]])


def _statements(node: ast.stmt) -> Iterator[tuple[ast.stmt, str]]:
    """Yield what a statement may be mistaken for, and that in words."""
    match node:
        case ast.If(test) | ast.While(test):
            for value in (True, False):
                if isinstance(node, ast.While) and value:
                    continue
                other = copy.copy(node)
                other.test = ast.Constant(value)
                yield other, f"if {ast.unparse(test)} -> if {value}"
        case ast.AugAssign() | ast.Expr(ast.Call()):
            yield ast.Pass(), f"{ast.unparse(node)} -> pass"
        case _:
            pass


Lines = tuple[int, int]
Found = tuple[ast.AST, str, int | None, ast.AST, str, str, Lines]


class _Search(ast.NodeVisitor):
    """Finds every place that may be changed: (holder, field, index, new node, words, place)."""

    def __init__(self) -> None:
        self.found: list[Found] = []
        self.within: list[str] = []
        self.statement = 1

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Assert):
            return
        if isinstance(node, ast.stmt):
            self.statement = node.lineno
        named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if named:
            self.within.append(node.name)
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "ctx", "op", "ops"):
                continue
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST):
                    self._at(node, field, index, child)
                    self.visit(child)
        if named:
            self.within.pop()

    def _at(self, node: ast.AST, field: str, index: int | None, child: ast.AST) -> None:
        place = ".".join(self.within)
        begin = child.lineno if isinstance(child, ast.stmt) else self.statement
        line = (begin, getattr(child, "lineno", begin))
        if isinstance(child, ast.expr):
            for other in _expressions(child):
                words = f"{ast.unparse(child)} -> {ast.unparse(ast.fix_missing_locations(other))}"
                self.found.append((node, field, index, other, words, place, line))
            if isinstance(node, ast.comprehension) and field == "ifs":
                words = f"for ... if {ast.unparse(child)} -> for ..."
                self.found.append((node, field, index, ast.Constant(True), words, place, line))
        elif isinstance(child, ast.stmt):
            for other, words in _statements(child):
                self.found.append((node, field, index, other, words, place, line))


def _search(text: str) -> tuple[ast.Module, list[Found]]:
    tree = ast.parse(text)
    search = _Search()
    search.visit(tree)
    return tree, search.found


def mutants(path: Path, root: Path) -> list[Mutant]:
    """List every mutant of a file."""
    _, found_here = _search(path.read_text(encoding="utf-8"))
    where = path.relative_to(root)
    parts = where.with_suffix("").parts
    below = parts.index("src") if "src" in parts else 0
    module = ".".join(parts[below + 1 :]).removesuffix(".__init__")
    seen: dict[tuple[str, str], int] = {}
    found: list[Mutant] = []
    for *_, words, place, lines in found_here:
        change = " ".join(words.split())
        number = seen.get((place, change), 0)
        seen[place, change] = number + 1
        found.append(Mutant(module, where.as_posix(), place, lines, change, number))
    return found


def mutated(path: Path, root: Path, mutant: Mutant) -> ast.Module:
    """Give the tree of the file with this one change."""
    tree, edits = _search(path.read_text(encoding="utf-8"))
    node, field, index, other, *_ = edits[mutants(path, root).index(mutant)]
    if index is None:
        setattr(node, field, other)
    else:
        getattr(node, field)[index] = other
    return ast.fix_missing_locations(tree)
