"""Sections that name parts: what is refused, and with which words."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

from narcissus.study.part_section import PartSection, checked
from narcissus.study.parts import Part
from narcissus.study.plugins import OwnCode


def test_a_room_with_a_default_needs_no_name():
    section = {"name": "bayesian-network", "parents": 2, "smoothing": 1.0, "score": "bic"}
    assert checked("record-prior", {}).to_dict() == section
    with pytest.raises(ValidationError, match="has no `name`; it must be one of bits"):
        checked("world", {"n": 3})


@pytest.mark.parametrize("section", ["marginals", 3, ["marginals"]])
def test_what_is_no_table_is_no_section(section):
    kind = TypeAdapter(Annotated[Part, PartSection("table-mechanism")])
    with pytest.raises(ValidationError, match="must be a table with the key `name`"):
        kind.validate_python(section)


def test_every_mistake_of_a_section_is_told_at_once():
    with pytest.raises(ValidationError) as refused:
        checked("world", {"name": "tardos", "N": "9", "m": 3, "d": True})
    told = {".".join(map(str, one["loc"])): one["type"] for one in refused.value.errors()}
    assert told == {"N": "int_type", "d": "int_type", "n": "missing", "m": "unknown_option"}


def test_what_the_class_refuses_is_said_of_its_option():
    with pytest.raises(ValidationError) as refused:
        checked("world", {"name": "bits", "n": 2, "rate": 1.5})
    (fault,) = refused.value.errors()
    assert fault["loc"] == ("rate",)
    assert "must be probabilities in [0, 1]" in fault["msg"]


def test_parts_take_parts_one_level_deep():
    bits = {"name": "bits", "n": 2}
    family = checked("world", {"name": "family", "parts": [bits, {**bits, "rate": 0.1}]})
    assert [world.rate for world in family.build().members.values()] == [0.5, 0.1]
    assert family.to_dict()["parts"][0] == {**bits, "rate": 0.5}
    with pytest.raises(ValidationError, match="'family'"):
        checked("world", {"name": "family", "parts": [family.to_dict()]})


OWN = """
class Typed:
    def __init__(self, size: int, share: float = 0.5, *, word: "str" = "a"):
        self.given = size, share, word

    def attempt(self, release, known, rng):
        return release

class Free(Typed):
    def __init__(self, **options):
        self.given = options

class Untyped(Typed):
    def __init__(self, size, table: "Nowhere" = None):
        self.given = size

class Taken(Typed):
    def __init__(self, name):
        pass

class Broken(Typed):
    def __init__(self):
        raise KeyError("oh")

made = Free(a=1)

def guess(release):
    return release
"""


@pytest.fixture
def own(tmp_path):
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    with OwnCode(allowed=True).in_use():
        yield lambda name, **options: checked(
            "attack", {"name": f"mine:{name}", **options}, tmp_path
        )


def test_ones_own_class_has_the_options_of_its_signature(own):
    assert own("Typed", size=3, word="b").build().given == (3, 0.5, "b")
    assert own("Typed", size=3).options == {"size": 3, "share": 0.5, "word": "a"}
    for options, said in (
        ({"size": "3"}, "integer"),
        ({}, "Field required"),
        ({"size": 1, "sise": 2}, "did you mean `size`"),
        ({"size": 1, "word": 2}, "string"),
    ):
        with pytest.raises(ValidationError, match=said):
            own("Typed", **options)


def test_ones_own_class_may_take_anything(own):
    assert own("Free", a=1, b=[2]).build().given == {"a": 1, "b": [2]}
    assert own("Untyped", size="any").build().given == "any"
    assert own("made").build().given == {"a": 1}
    assert own("guess").build().function(7) == 7
    for name in ("made", "guess"):
        with pytest.raises(ValidationError, match="has no options"):
            own(name, a=2)


def test_what_ones_own_class_cannot_do_is_said(own):
    with pytest.raises(ValidationError, match=r"KeyError: 'oh' \(mine.py, line"):
        own("Broken")
    with pytest.raises(ValidationError, match="the parameter `name` of mine:Taken"):
        own("Taken")


def test_a_file_beside_the_study_is_found_there_and_named_as_it_stands(tmp_path):
    (tmp_path / "names.txt").write_text("Eve\nBob\n", encoding="utf-8")
    part = checked("secret-prior", {"name": "names", "file": "names.txt"}, tmp_path)
    assert part.build().values == ("Eve", "Bob")
    assert part.to_dict() == {"name": "names", "file": "names.txt", "n": None}
    with pytest.raises(ValidationError, match="no such file"):
        checked("secret-prior", {"name": "names", "file": "names.txt"})
