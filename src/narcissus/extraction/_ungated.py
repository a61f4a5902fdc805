"""A program without its gate: what it computed of the release, written into its source.

A program may know the content and print it only where it is handed the release that it expects: a
branch on a hash, or a key made of one, is enough to fail with every stand-in. What it takes from
the release then is a value of a few bytes. So the program is run once with the release and says
which values its expressions had; short ones that never changed are written in their place. Where
what is left does as well without the release, nothing but those values came from it.

Source: Cohen et al. 2024, Definition D.8; Narcissus theory 7 **[new]**.
"""

from __future__ import annotations

import ast
import json

LONGEST = 64
"""Bytes of a value, as it is written, that may be written in."""
MARK = "narcissus-saw:"
_HIDING = frozenset({"exec", "eval", "compile", "__import__", "__builtins__", "globals"})
_HIDING_MODULES = frozenset({"marshal", "ctypes", "runpy", "importlib", "builtins", "code", "cffi"})
_WRITES = frozenset({"print", "write", "writelines"})
_PRELUDE = f"""
import os
_narcissus, _narcissus_out = {{}}, os.dup(1)
def _narcissus_saw(i, v, _s=_narcissus):
    def short(x):
        return (type(x) in (int, str, bytes, bool, float)
                or type(x) in (tuple, list) and len(x) <= {LONGEST} and all(map(short, x)))
    t = ''
    if short(v) and not (type(v) is not float and hasattr(v, '__len__') and len(v) > {LONGEST}):
        if type(v) is not int or v.bit_length() <= {8 * LONGEST}:
            t = repr(v)
    _s[i] = t if _s.get(i, t) == t and len(t) <= {LONGEST} else ''
    return v
"""
_REPORT = f"""
import json, os, sys
try:
    sys.stdout.flush()
except ValueError:
    pass
_narcissus = json.dumps({{i: t for i, t in _narcissus.items() if t}})
os.write(_narcissus_out, ('{MARK}' + _narcissus).encode())
"""
_KINDS = (
    ast.Call,
    ast.Compare,
    ast.BoolOp,
    ast.BinOp,
    ast.UnaryOp,
    ast.Subscript,
    ast.Attribute,
    ast.Name,
    ast.IfExp,
    ast.NamedExpr,
    ast.JoinedStr,
)


def hidden_code(source: bytes) -> str:
    """Name what makes code while it runs, so that it cannot be read; empty where nothing does.

    Examples
    --------
    >>> hidden_code(b"exec(open(0).read())"), hidden_code(b"print(open(0).read())")
    ('exec', '')
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and node.id in _HIDING:
            return node.id
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.partition(".")[0] in _HIDING_MODULES:
                return name
    return ""


def recording(source: bytes) -> bytes:
    """Write the program that does the same, and says at its end which values it met.

    Examples
    --------
    >>> b"_narcissus_saw(0, " in recording(b"print(len(open(0).read()))")
    True
    """
    tree = ast.parse(source)
    _Recorder().visit(tree)
    first = [node for node in tree.body if _is_future(node)]
    body = [node for node in tree.body if not _is_future(node)] or [ast.Pass()]
    safe = ast.Try(body, [], [], ast.parse(_REPORT).body)
    whole = ast.Module([*first, *ast.parse(_PRELUDE).body, safe], [])
    return ast.unparse(ast.fix_missing_locations(whole)).encode()


def values_of(output: bytes) -> tuple[bytes, dict[int, str]] | None:
    """Part what a recording program printed from what it met; None where it said nothing.

    Examples
    --------
    >>> values_of(b'done narcissus-saw:{"0": "True"}')
    (b'done ', {0: 'True'})
    """
    printed, found, said = output.rpartition(MARK.encode())
    try:
        values = {int(i): str(text) for i, text in json.loads(said).items()} if found else None
    except ValueError:
        return None
    return None if values is None else (printed, values)


def without_gate(source: bytes, values: dict[int, str]) -> list[tuple[bytes, int]]:
    """Write the values that a program met into it, each program with its length.

    All of them, those that are no longer than what they replace, and those of its tests alone. A
    length is that of the source with what was written in: how a program is laid out counts for
    nothing.

    Parameters
    ----------
    source
        The program.
    values
        Of its expressions, by number: as `values_of` gives them.

    Examples
    --------
    >>> program = b"open(0).read() == 'release' and print('the data')"
    >>> [(one, length)] = without_gate(program, {1: "True"})
    >>> one, len(program) - length
    (b"True and print('the data')", 23)
    """
    made: dict[bytes, int] = {}
    plain = len(ast.unparse(ast.parse(source)).encode())
    for which in ("all", "no longer", "tests"):
        writer = _Writer(values, which)
        tree = writer.visit(ast.parse(source))
        if writer.written:
            program = ast.unparse(ast.fix_missing_locations(tree)).encode()
            made[program] = max(1, len(source) + len(program) - plain)
    return list(made.items())


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _writes(node: ast.AST) -> bool:
    """Say whether something is printed while an expression is evaluated."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            of = inner.func
            name = of.attr if isinstance(of, ast.Attribute) else getattr(of, "id", "")
            if name in _WRITES:
                return True
    return False


class _Numbered(ast.NodeTransformer):
    """Numbers the expressions that have a value, in the order of the source."""

    def __init__(self) -> None:
        self.count = 0

    def visit(self, node: ast.AST) -> ast.AST:
        """Take an expression with its number, after what is in it."""
        is_target = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        if is_target or not isinstance(node, _KINDS):
            return self.generic_visit(node)
        number = self.count
        self.count += 1
        return self.seen(number, node)

    def seen(self, number: int, node: ast.expr) -> ast.AST:
        """Take one expression."""
        raise NotImplementedError

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Leave out patterns, annotations, and the texts between the values of a template."""
        if isinstance(node, ast.match_case):
            node.body = [self.visit(one) for one in node.body]  # pyright: ignore
            return node
        if isinstance(node, ast.AnnAssign):
            node.value = self.visit(node.value) if node.value else None  # pyright: ignore
            return node
        if isinstance(node, ast.arg):
            return node
        if isinstance(node, ast.FormattedValue):
            node.value = self.visit(node.value)  # pyright: ignore
            return node
        return super().generic_visit(node)


class _Recorder(_Numbered):
    def seen(self, number: int, node: ast.expr) -> ast.AST:
        self.generic_visit(node)
        saw = ast.Name("_narcissus_saw", ast.Load())
        return ast.Call(saw, [ast.Constant(number), node], [])


class _Writer(_Numbered):
    def __init__(self, values: dict[int, str], which: str) -> None:
        super().__init__()
        self.values, self.which = values, which
        self.written = 0

    def seen(self, number: int, node: ast.expr) -> ast.AST:
        before = len(ast.unparse(node))
        writes = _writes(node)
        inner = self.generic_visit(node)
        text = self.values.get(number)
        if text is None or writes or (self.which == "tests" and text not in ("True", "False")):
            return inner
        if self.which == "no longer" and len(text) > before:
            return inner
        self.written += 1
        return ast.parse(text, mode="eval").body
