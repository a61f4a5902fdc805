"""The marks of parameters, as they stand on the parts that come with the package."""

import dataclasses
import inspect
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest

from narcissus._options import FilledIn, Level, OfRoom, Swept
from narcissus.study.registry import ROOMS, loaded

LEVELS = {"epsilon", "mu", "scale"}
PARTS = {f"{room}: {name}": loaded(target)
         for room in ROOMS for name, target in ROOMS[room].parts.items()}  # fmt: skip


def marks(hint):
    """Give the marks in a type, at any depth."""
    own = list(hint.__metadata__) if get_origin(hint) is Annotated else []
    return own + [mark for inner in get_args(hint) for mark in marks(inner)]


def marked_parameters(kind):
    for part, maker in PARTS.items():
        for name, hint in get_type_hints(maker, include_extras=True).items():
            for mark in marks(hint):
                if isinstance(mark, kind):
                    yield part, maker, name, mark


def default_of(maker, name):
    """Give what a parameter is if nothing is said of it; "none" if something must be."""
    if inspect.isfunction(maker):
        default = inspect.signature(maker).parameters[name].default
        return "none" if default is inspect.Parameter.empty else default
    field = getattr(maker, "__dataclass_fields__", {}).get(name)
    if field is None:
        return vars(maker).get(name, "none")
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return "none" if field.default is dataclasses.MISSING else field.default


def test_every_part_that_a_part_takes_is_of_a_room_that_there_is():
    taken = {(part, name): mark.room for part, _, name, mark in marked_parameters(OfRoom)}
    assert set(taken.values()) <= set(ROOMS)
    assert taken["mechanism: parallel", "parts"] == "mechanism"


def test_only_a_statement_waits_for_what_the_game_fills_in():
    """All others are made from a study file before the game is there, and are prepared then."""
    found = {
        (part, name): default_of(maker, name)
        for part, maker, name, _ in marked_parameters(FilledIn)
    }
    assert found["attack: key-search", "cipher"] is None
    without = {part.partition(":")[0] for (part, _), default in found.items() if default == "none"}
    assert without == {"statement"}


def test_levels_of_a_release_may_be_swept():
    assert Swept() in marks(Level)
    assert get_args(Level)[0] is float
    swept = {(part, name) for part, _, name, _ in marked_parameters(Swept)}
    assert {name for part, name in swept if part == "table-mechanism: marginals"} == LEVELS
    assert {part.partition(":")[0] for part, _ in swept} == {"secret-mechanism", "table-mechanism"}
    assert ("table-mechanism: rounding", "base") in swept


@pytest.mark.parametrize("mark", [OfRoom("world"), Swept(), FilledIn()], ids=repr)
def test_marks_that_say_the_same_are_the_same(mark):
    again = type(mark)(**vars(mark))
    assert mark == again
    assert marks(Annotated[Any, mark] | None) == [again]
    assert mark != OfRoom("mechanism")
