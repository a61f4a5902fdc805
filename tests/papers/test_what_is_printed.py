"""Every number that is called printed stands in words of its paper, and in no other way.

With `NARCISSUS_PAPERS` naming a folder that holds the papers as text, ``000*.txt`` to ``004*.txt``,
the words themselves are looked up there; the project neither holds nor needs those files.
"""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
from pathlib import Path

import pytest

import narcissus_papers as room
from narcissus_papers import ITEMS, Given, Quote

PAPERS = {"swanberg": ("001",), "chatzikokolakis": ("002",), "cohen": ("003", "000"),
          "kaplan": ("004",)}  # fmt: skip
PLACES = re.compile(
    r"section (\d|[IVX]+)|Appendix [A-Z]|footnote \d|note after Def|"
    r"(proof of )?(Theorem|Proposition|Definition|Example|Observation|Equation|Fact|Figure) "
)
SOURCES = sorted(Path(room.__path__[0]).rglob("*.py"))
QUICK = [item for item in ITEMS.values() if not item.pieces and item.seconds <= 1]


def declared():
    """Find the quotes that modules declare, each with the part of the room it stands in."""
    found = {}
    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        part = module.name.split(".")[1]
        values = vars(importlib.import_module(module.name)).values()
        for value in values:
            for one in value.values() if isinstance(value, dict) else [value]:
                if isinstance(one, Quote) and part in PAPERS:
                    found[part, one] = None
    return list(found)


DECLARED = declared()


def shown(item):
    """Make an item and give its quotes, of numbers and of claims."""
    made = item.make(Given())
    return [one.quote for one in (*made.printed, *made.held) if one.quote is not None]


def calls(tree, *names):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


def test_there_are_quotes_of_every_figure_that_prints_numbers():
    numbers = {(part, one.number) for part, one in DECLARED if one.number}
    assert {n for part, n in numbers if part == "swanberg"} >= {
        "0.24", "0.45", "1.0", "17.8", "0.25", "2.37", "38.0%", "52.5%", "10%", "56%", "65%", "84%",
        "81", "82",
    }  # fmt: skip
    assert {n for part, n in numbers if part == "chatzikokolakis"} >= {
        "0.6", "0.36", "0.978", "0.511", "0.998", "0.501", "0.95", "0.525", "0.925", "0.538",
        "0.992", "0.99999", "0.99995", "0.96", "95%", "99%", "2,458,285",
    }  # fmt: skip


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_number_is_called_printed_without_its_words(path):
    """The second argument of `Printed` is a quote or None, and never a number that stands there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for call in calls(tree, "Printed", "_printed"):
        if len(call.args) < 2:
            continue
        given = call.args[1]
        is_none = isinstance(given, ast.Constant) and given.value is None
        assert is_none or not isinstance(given, ast.Constant | ast.UnaryOp | ast.BinOp), (
            f"{path.name}:{call.lineno}"
        )


@pytest.mark.parametrize("item", QUICK, ids=lambda item: item.name)
@pytest.mark.one_in(4)
def test_what_fails_and_what_is_compared_quotes_the_paper(item):
    """Every claim that fails, and all that is called printed, stands beside words of the paper."""
    made = item.make(Given())
    for one in made.printed:
        assert one.quote is None or one.quote.number in one.quote.words
    for one in made.held:
        if not one.holds or "as printed" in one.what.replace("are as printed for j", ""):
            assert one.quote is not None, one.what
    for quote in shown(item):
        assert PLACES.match(quote.place), quote.place
        assert len(quote.words) <= 100, quote.words  # a few words


def token(word):
    """Match a word of a quote; the conversions repeat a formula, and so the number in it."""
    plain = re.escape(word)
    if re.fullmatch(r"[(=]?\d[\d.,]*%?[.,;)]?", word):
        number = re.escape(word.strip("(),;=.").rstrip("%"))
        return rf"[(=]?\s*(?:{number}[%.,;)]?)+"
    return plain


def stands_in(words, text):
    pieces = [r"\s*".join(map(token, piece.split())) for piece in words.split("...")]
    return re.search(".{0,500}?".join(pieces), text, flags=re.S) is not None


FOLDER = os.environ.get("NARCISSUS_PAPERS")


@pytest.mark.skipif(FOLDER is None, reason="NARCISSUS_PAPERS names no folder")
@pytest.mark.parametrize("part", PAPERS)
def test_the_words_stand_in_the_papers(part):
    texts = ["".join(p.read_text(encoding="utf-8") for p in Path(FOLDER).glob(f"{number}*.txt"))
             for number in PAPERS[part]]  # fmt: skip
    assert all(texts), f"a text of {PAPERS[part]} is not in {FOLDER}"
    quotes = [one for where, one in DECLARED if where == part]
    quotes += [q for item in QUICK if item.paper in PAPERS[part] for q in shown(item)]
    missing = [q.words for q in quotes if not any(stands_in(q.words, text) for text in texts)]
    assert missing == []


def test_words_that_are_not_there_are_not_found():
    assert stands_in(
        "but 0.24 for the most", "bound is but 0.240.240.240.24 for\nthe most probable"
    )
    assert stands_in("achieves ... 65% ... success", "achieves 65%percent6565\\%65 % success")
    assert not stands_in("but 0.232 for the most", "but 0.240.240.24 for the most probable")
    assert not stands_in("achieves ... 65%", "achieves 56%")
