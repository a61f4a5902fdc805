"""`dataclasses.replace` escapes the type checker: what it names must be fields of one class."""

import ast
from pathlib import Path

SRC = Path(__file__).resolve().parents[1] / "src" / "narcissus"
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SRC.rglob("*.py"))}


def name_of(node):
    """Return the last name of `a`, `a.b`, `a[b]`, `a(...)`."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def classes(trees):
    """Return the fields of each dataclass by its name, those of its bases included."""
    own, bases = {}, {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                fields = {
                    part.target.id
                    for part in node.body
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
                }
                own.setdefault(node.name, set()).update(fields)
                bases.setdefault(node.name, set()).update(map(name_of, node.bases))

    def all_of(name, seen=()):
        if name not in own or name in seen:
            return set()
        return own[name].union(*(all_of(base, (*seen, name)) for base in bases[name]))

    return {name: all_of(name) for name in own}


def wrong(trees, fields):
    """Yield the places of calls that name what no class has together."""
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or len(node.args) != 1:
                continue
            func = node.func
            is_replace = isinstance(func, ast.Name) and func.id == "replace"
            is_replace = is_replace or ast.unparse(func) == "dataclasses.replace"
            named = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
            if is_replace and named and not any(named <= one for one in fields.values()):
                yield f"{path.name}:{node.lineno}: {sorted(named)}"


def test_what_is_replaced_is_a_field():
    assert not list(wrong(TREES, classes(TREES.values())))


def test_a_field_that_does_not_exist_is_found():
    text = (
        "@dataclass\nclass Verdict:\n    numbers: int\n    status: str\n"
        "class Fuller(Verdict):\n    more: int\n"
        "replace(page.verdict, numbers=1, worst=None)\nreplace(fuller, status='', more=2)\n"
        "dataclasses.replace(one, more=1, other=2)\n'a'.replace('a', 'b')\n"
    )
    trees = {Path("mine.py"): ast.parse(text)}
    assert list(wrong(trees, classes(trees.values()))) == [
        "mine.py:7: ['numbers', 'worst']",
        "mine.py:9: ['more', 'other']",
    ]
