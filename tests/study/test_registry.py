"""Every line of the registry leads to a part whose options are typed and described."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from narcissus.study.registry import ROOMS, loaded
from narcissus.study.signatures import options_of, summary_of

LINES = [(room, name) for room in ROOMS for name in ROOMS[room].parts]


@pytest.mark.parametrize(("room", "name"), LINES)
def test_every_part_is_there_typed_and_described(room, name):
    maker = loaded(ROOMS[room].parts[name])
    assert callable(maker)
    assert summary_of(maker).endswith(".")
    takes = options_of(maker, given=ROOMS[room].given).values()
    for option in takes:
        assert option.hint is not Any, option.name
        assert option.text, option.name
    assert len({option.text for option in takes}) == len(takes)


@pytest.mark.parametrize("room", ROOMS)
def test_parts_stand_in_order_and_the_default_is_one(room):
    parts = ROOMS[room].parts
    assert list(parts) == sorted(parts)
    assert ROOMS[room].default in {"", *parts}
    if ROOMS[room].of_function:
        assert len(inspect.signature(loaded(ROOMS[room].of_function)).parameters) >= 1
