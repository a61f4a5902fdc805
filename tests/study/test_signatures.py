"""What a signature and a docstring say of the options of a part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

import pytest
from typing_extensions import TypeAliasType

from narcissus._options import FilledIn, Level, OfRoom, Swept
from narcissus.study.signatures import (
    REQUIRED,
    _words,
    described,
    in_a_file,
    marked,
    options_of,
    summary_of,
    takes_any,
    waits,
)


@dataclass(frozen=True)
class Base:
    """A base.

    Parameters
    ----------
    rows
        How many,
        of them.
    low, high
        Ends of it.

    Raises
    ------
    low
        No parameter at all.
    """

    rows: int
    low: float = 0.0


@dataclass(frozen=True)
class Shown(Base):
    """Has a docstring of its own."""

    high: float = 1.0
    names: Sequence[str] = field(default_factory=list)
    game: Annotated[Any, FilledIn()] = None
    row: int | Literal["all"] = 0
    more: Mapping[str, int] = field(default_factory=dict)
    part: Annotated[Any, OfRoom("world")] = None
    level: Level | None = None
    fixed: int = field(default=3, init=False)


@dataclass(frozen=True)
class Waiting:
    m: int
    n: Annotated[int, FilledIn()]


def test_options_are_the_parameters_in_their_order():
    takes = options_of(Shown)
    assert list(takes) == ["rows", "low", "high", "names", "row", "more", "part", "level"]
    assert takes["rows"].required
    assert takes["rows"].default is REQUIRED
    assert takes["names"].default == []
    assert {name: option.type_words() for name, option in takes.items()} == {
        "rows": "whole number",
        "low": "number",
        "high": "number",
        "names": "list of texts",
        "row": "whole number or `all`",
        "more": "keys with values",
        "part": "a world",
        "level": "number or list of numbers",
    }


def test_descriptions_come_from_the_docstring():
    said = {"rows": "How many, of them.", "low": "Ends of it.", "high": "Ends of it."}
    assert described(Base) == said
    assert options_of(Base)["rows"].text == "How many, of them."
    assert options_of(Shown)["low"].text == "Ends of it."  # where it is inherited from
    assert summary_of(Base) == "A base."


def test_what_the_study_gives_is_no_option():
    def fit(table, rows: int = 2, *more: int, **rest: int):
        raise NotImplementedError

    assert list(options_of(fit, given=1)) == ["rows"]
    assert takes_any(fit)
    assert not takes_any(Shown)
    assert summary_of(fit) == ""


def test_some_wait_for_the_game():
    assert not waits(Shown)
    assert waits(Waiting)
    assert list(options_of(Waiting)) == ["m"]
    assert marked(Level | None, Swept)
    assert not marked(Level | None, OfRoom)


def test_a_type_that_is_not_there_checks_nothing():
    def maker(size: Nowhere, word: str = "a"):  # noqa: F821
        raise NotImplementedError

    assert options_of(maker)["size"].hint is Any


@pytest.mark.parametrize("name", ["NDArray", "Other"])
def test_an_array_is_left_out_also_where_it_is_the_name_of_a_type(name):
    """As `numpy.typing.NDArray` is from NumPy 2.5 on; other names of types are said in words."""
    T = TypeVar("T")
    alias = TypeAliasType(name, list[T], type_params=(T,))
    left = in_a_file((alias[float], list[float]))
    assert left == ([list[float]] if name == "NDArray" else [alias[float], list[float]])
    assert _words(alias[float])[0].startswith("list of")
