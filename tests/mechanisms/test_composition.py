"""Mechanisms side by side, or chosen one after the other."""

import math

import numpy as np
import pytest

from narcissus.attacks.base import Conversation
from narcissus.errors import InputError
from narcissus.guarantees import optimal_composition
from narcissus.mechanisms import (
    AdaptiveComposition,
    ExactAverage,
    Identity,
    Parallel,
    PublicKey,
    RandomizedResponse,
    Sha256,
    through_channel,
)


def test_parallel_channel_multiplies():
    parts = Parallel([RandomizedResponse(0.5), RandomizedResponse(1.0)])
    channel = parts.channel(np.array([[0], [1]]))
    matrix = np.asarray(channel.matrix.todense())
    assert matrix.sum(axis=1) == pytest.approx([1, 1])
    keep = [1 / (1 + math.exp(-e)) for e in (0.5, 1.0)]
    assert matrix.max() == pytest.approx(keep[0] * keep[1])
    assert parts.privacy(np.zeros((1, 1))) == (1.5, 0)
    assert Parallel([Identity()]).privacy(np.zeros((1, 1))) is None


PAIR = np.array([[0], [1]], dtype=np.uint8)


def test_the_part_that_is_asked_for_releases():
    parts = [RandomizedResponse(50.0), through_channel([[1.0, 0.0], [1.0, 0.0]])]
    mechanism = AdaptiveComposition(parts, 3)
    talk = Conversation(mechanism.answers(np.array([1]), np.random.default_rng(0)), 3)
    assert [int(np.ravel(talk.ask(part))[0]) for part in (0, 1, 0)] == [1, 0, 1]
    for wrong in (2, -1):
        with pytest.raises(InputError, match="the number of a mechanism, 0 to 1"):
            Conversation(mechanism.answers(np.array([1]), None), 3).ask(wrong)


def test_it_guarantees_what_the_least_private_part_does_so_often():
    mechanism = AdaptiveComposition([RandomizedResponse(0.5), RandomizedResponse(0.2)], 4)
    points = np.array([0.0, 0.7, 1.5])
    found = mechanism.promise(PAIR).profile(points)
    np.testing.assert_allclose(found, optimal_composition(0.5, 4).profile(points))
    for part in (Identity(), Sha256(4), through_channel([[1.0, 0.0], [0.5, 0.5]])):
        assert AdaptiveComposition([RandomizedResponse(0.5), part], 2).promise(PAIR) is None


def test_chances_are_those_of_the_parts():
    parts = [RandomizedResponse(1.0), RandomizedResponse(0.3)]
    mechanism = AdaptiveComposition(parts, 2)
    start = mechanism.begin(PAIR)
    for number, part in enumerate(parts):
        found = mechanism.advance(start, PAIR, number)
        for bit, (_, weights) in enumerate(found):
            right = np.where(PAIR[:, 0] == bit, part.keep, 1 - part.keep)
            np.testing.assert_allclose(weights[:, 0], right)
    assert list(mechanism.worth_asking(PAIR, [(0, 1)])) == [0, 1]
    assert not mechanism.worth_asking(PAIR, [(0, 1), (1, 1)])


def test_what_cannot_be_a_part_is_refused():
    with pytest.raises(InputError, match="at least one mechanism"):
        AdaptiveComposition([], 1)
    with pytest.raises(InputError, match="PublicKey talks"):
        AdaptiveComposition([PublicKey()], 1)
    with pytest.raises(InputError, match="object cannot be written out"):
        AdaptiveComposition([object()], 1).begin(PAIR)


def test_parts_side_by_side_are_exchangeable_where_every_one_is():
    counted, named = ExactAverage(), Identity()
    assert Parallel([counted, counted]).exchangeable
    assert not Parallel([counted, named]).exchangeable
    assert not Parallel([named, named]).exchangeable
