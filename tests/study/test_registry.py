"""Every line of the registry leads to a part whose options are typed and described."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from narcissus import attacks, extraction, knowledge, mechanisms, profiles, success, worlds
from narcissus.study.registry import ROOMS, loaded
from narcissus.study.signatures import options_of, summary_of
from narcissus.success import relations

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


OFFERS = {"world": "draw", "mechanism": "release", "attack": "attempt", "relation": "holds"}
HOMES = (attacks, extraction, knowledge, mechanisms, profiles, relations, success, worlds)
NOT_NAMED = {
    # protocols and beginnings of classes
    "Attack", "Knowledge", "Mechanism", "OutputRelation", "Relation", "World",
    # what a room makes of an object or a function of the user's
    "Own", "OwnAttack", "OwnMechanism", "OwnWorld", "Told",
    # made by parts that are named: a function with the options, or the best attack that is found
    "BestPredicate", "Lookup", "RankingAttack", "ThroughChannel", "TrainedOnSecret",
    # the game of a table, whose study has sections of its own
    "NoisyMarginals", "OtherColumns", "FactoredColumns", "People", "RealRows", "Prepared",
    "KeptReleases",
}  # fmt: skip


def test_every_part_of_a_game_has_its_line():
    """A part that is public and stands in no room cannot be named by a study."""
    offers = {*OFFERS.values(), "reveal"}
    public = {
        name
        for home in HOMES
        for name in home.__all__
        if isinstance(found := getattr(home, name), type)
        and any(hasattr(found, offer) for offer in offers)
    }
    named = {
        loaded(target).__name__
        for room in (*OFFERS, "side-information", "secret-attack")
        for target in ROOMS[room].parts.values()
    }
    assert public - named == NOT_NAMED


def test_every_statement_has_its_line_and_its_definition():
    made = [loaded(target) for target in ROOMS["statement"].parts.values()]
    assert all(issubclass(one, success.Claim) for one in made)
    assert len({one.definition for one in made}) == len(made)
    beginnings = {success.Claim, success.Resilience}
    public = {getattr(success, name) for name in success.__all__}
    claims = {one for one in public if isinstance(one, type) and issubclass(one, success.Claim)}
    assert claims - beginnings == set(made)
