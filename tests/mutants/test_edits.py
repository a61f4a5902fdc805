"""The changes that the mutation tool makes are those that a programmer may slip into."""

import ast
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def edits():
    """Give the module beside this file, as `run.py` imports it."""
    sys.path.insert(0, str(HERE))
    try:
        yield __import__("edits")
    finally:
        sys.path.remove(str(HERE))
        del sys.modules["edits"]


@pytest.fixture
def changed(edits, tmp_path):
    """Give a function that lists what a text becomes."""

    def become(text):
        path = tmp_path / "src" / "module.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        found = edits.mutants(path, tmp_path)
        return [ast.unparse(edits.mutated(path, tmp_path, mutant)) for mutant in found]

    return become


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = tail + size * d + error", "x = tail + size * d"),
        ("x = score[first]", None),
        ("best = max(a, key=len)", "best = min(a, key=len)"),
        ("x = f(a, epsilon=e)", "x = f(a)"),
        ("if a < b:\n    x = c", "if a <= b:\n    x = c"),
        ("if a < b:\n    x = c", "if False:\n    x = c"),
        ("x = [a for a in b if a]", "x = [a for a in b if True]"),
        ("x = a[1:]", "x = a[:]"),
        ("x += 1", "pass"),
        ("x = 0.5", "x = 0.75"),
        ("x = a and b", "x = b"),
        ("raise ValueError(1)", None),
        ("x = 'words'", None),
        ("def f(a: Literal[1]) -> Literal[2]:\n    '''One.'''", None),
    ],
)
def test_each_kind_of_slip(changed, text, expected):
    found = changed(text)
    assert expected in found if expected else not found
    assert text not in found


def test_names_stay_when_other_lines_change(edits, tmp_path):
    path = tmp_path / "src" / "module.py"
    path.parent.mkdir()
    path.write_text("def f(a):\n    return a + 1 if a < 1 else 1\n")
    before = [m.key for m in edits.mutants(path, tmp_path)]
    path.write_text("import os\n\n\ndef f(a):\n    return a + 1 if a < 1 else 1\n")
    assert [m.key for m in edits.mutants(path, tmp_path)] == before
    assert len(set(before)) == len(before)


def test_a_larger_sample_holds_the_smaller(edits, tmp_path):
    path = tmp_path / "src" / "module.py"
    path.parent.mkdir()
    path.write_text("x = [1, 2, 3, 4, 5, 6, 7]\n")
    every = edits.mutants(path, tmp_path)
    orders = [[m.key for m in sorted(every, key=lambda m: m.rank(s))] for s in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
