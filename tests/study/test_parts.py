"""Parts as a file names them: what is written down, what is made."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

from narcissus.study.part_section import PartSection, checked
from narcissus.study.parts import Part, own_parts


def test_a_section_is_written_with_its_defaults_and_read_again():
    part = checked("table-attack", {"name": "rap", "start": "prior"})
    section = part.to_dict()
    assert section["steps"] == 1000
    assert checked("table-attack", section) == part
    kind = TypeAdapter(Annotated[Part, PartSection("table-attack")])
    assert kind.dump_python(part, mode="json") == section
    assert kind.validate_python(part) is part


def test_a_sweep_makes_one_object_for_each_level():
    part = checked("table-mechanism", {"epsilon": [1, 3.0], "k": 2})
    assert (part.swept, part.levels) == (True, [1.0, 3.0])
    assert [one.label for one in part.each()] == ["ε = 1", "ε = 3"]
    alone = checked("table-mechanism", {"mu": 1})
    assert (alone.swept, alone.levels) == (False, [1.0])
    assert [one.label for one in alone.each()] == ["μ = 1"]
    for levels in ([], [1, 1.0], [1, "2"], [True]):
        with pytest.raises(ValidationError):
            checked("table-mechanism", {"epsilon": levels})


def test_the_names_of_ones_own_parts_are_found_at_any_depth():
    part = Part("attack", "mine:Typed", {"size": 1})
    nested = Part("world", "family", {"parts": [part]})
    assert list(own_parts([{"a": nested}, part])) == ["mine:Typed", "mine:Typed"]
    assert list(own_parts(checked("world", {"name": "bits", "n": 1}))) == []
