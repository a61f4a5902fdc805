"""What formulas say is drawn at larger values too; nothing that was played is."""

import pytest

from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.knowledge import Candidates
from narcissus.mechanisms import ExactAverage, Identity, NoisyAverage, Parity
from narcissus.profiles import write_out
from narcissus.profiles.closed_forms.average import limit_given_rows
from narcissus.profiles.closed_forms.candidates import candidates_success
from narcissus.scale.variants import beyond
from narcissus.success.relations import Hamming, Member
from narcissus.worlds import Tardos, Uniform


def test_a_lemma_goes_on_beyond_what_was_played():
    def game(d):
        return Game(Tardos(100, int(d), 5), ExactAverage(), Hamming(0.1))

    (found,) = beyond(game, ["majority"], [20, 40])
    assert [p.size for p in found.points] == [80, 160, 320]
    assert [p.value for p in found.points] == [limit_given_rows(5, d, 0.1) for d in (80, 160, 320)]
    assert (found.quantity, found.limits, found.grade) == ("bound", "success", "proved")


def test_the_way_up_ends_where_a_value_is_refused():
    def game(d):
        if d > 100:
            raise InputError("too large")
        return Game(Tardos(100, int(d), 5), ExactAverage(), Hamming(0.1))

    (found,) = beyond(game, [], [20, 40])
    assert [p.size for p in found.points] == [80]


def test_the_best_success_at_parities_is_that_of_the_game():
    def game(d):
        return Game(Uniform(2, int(d)), Parity(), Member())

    found = next(c for c in beyond(game, [], [2, 4]) if c.quantity == "closed form")
    assert [p.size for p in found.points] == [2, 4, 8, 16, 32]
    for point in found.points[:2]:
        exact = write_out(game(point.size)).best(float("-inf"))
        assert point.value == pytest.approx(sum(gain for *_, gain in exact))


def test_two_candidates_are_told_apart_by_the_formula():
    def game(d):
        return Game(Tardos(50, int(d), 5), NoisyAverage(1.0), Member(), side=Candidates())

    (found,) = beyond(game, ["two-candidates", "other"], [100, 200])
    assert found.whose == "two-candidates"
    assert found.grade == "approximate"
    for point in found.points:
        one = candidates_success(5, int(point.size), 1.0)
        assert point.value == pytest.approx(0.9 * one + 0.1)


def test_where_nothing_is_known_nothing_is_drawn():
    assert beyond(lambda d: Game(Uniform(2, int(d)), Identity(), Member()), [], [2, 4]) == []
