"""A block: drawn, told, released, attacked and scored; with chance of its own for each part."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import Game, play
from narcissus._random import child
from narcissus.attacks import OwnAttack, ReleasedPlaces, ReleasedRow
from narcissus.attacks.table import Ceiling, MeanField, PriorGuess
from narcissus.errors import InputError
from narcissus.game.block import Seat, Sources, play_block
from narcissus.knowledge import KnownRows, OtherColumns
from narcissus.mechanisms import (
    GaussianNoise,
    Identity,
    MarginalQueries,
    NoisyMarginals,
    RandomizedResponse,
)
from narcissus.success import Resilience, exact_match
from narcissus.success.relations import Hamming, Own, Pinned, Prefix
from narcissus.success.table import EachPerson
from narcissus.worlds import Bits, Draw, Pairs, RealRows, Uniform


class AllOfIt:
    """Knowledge of all the data, besides."""

    def __eq__(self, other):
        return type(other) is AllOfIt

    def __hash__(self):
        return 1

    def add(self, draw, known):
        return draw.data


def test_attackers_are_played_on_the_same_data_sets():
    game = Game(Bits(8), Identity(), Pinned(1))
    both = play(
        game, {"one": ReleasedPlaces(), "two": ReleasedPlaces()}, trials=500, stop=False, rng=1
    )
    one, two = both.attackers
    assert (one.scores.success == two.scores.success).all()
    assert one.success.confidence == pytest.approx(1 - 0.05 / 2 / 2)


def test_sampled_baseline_agrees_with_the_exact_one():
    class Unnamed(Bits):
        """The same world, for which no formula is known."""

    world = Bits(6, 0.3)
    exact = play(
        Game(world, Identity(), Pinned(2)), ReleasedPlaces(2), trials=4000, stop=False, rng=1
    ).attackers[0]
    assert exact.scores.fresh == 0

    class NoFormula(Pinned):
        def baseline(self, world, attempt):
            return None

    sampled = play(
        Game(world, Identity(), NoFormula(2)),
        ReleasedPlaces(2),
        trials=4000,
        fresh=3,
        stop=False,
        rng=1,
    ).attackers[0]
    assert sampled.scores.fresh == 3
    assert set(np.unique(sampled.scores.baseline * 3).round(6)) <= {0, 1, 2, 3}
    assert abs(sampled.baseline.value - exact.baseline.value) < 0.03


@pytest.mark.states("Cohen et al. 2024", "Definition A.2")
def test_pairs_compare_with_the_other_data_set():
    """003, Definition A.2: on a pair of two distinct strings the releaser is right or wrong."""
    game = Game(Pairs([[[0, 1], [1, 1]]]), Identity(), Prefix())
    run = play(game, ReleasedRow("all"), trials=400, stop=False, rng=1).attackers[0]
    assert run.scores.success.all()
    assert not run.scores.baseline.any()


def test_two_criteria_use_the_looser_relation_for_fresh_data():
    world = Uniform(3, 10)
    strict = Game(world, Identity(), Hamming(0.0), looser=Hamming(1.0))
    run = play(strict, ReleasedRow(), trials=200, stop=False, rng=1).attackers[0]
    assert run.baseline.value == 1


@pytest.mark.parametrize("part", ["world", "mechanism"])
def test_a_world_or_mechanism_that_raises_is_one_error(part):
    class Broken(Bits, Identity):
        def draw(self, trials, rng):
            if part == "world":
                raise KeyError("lost")
            return super().draw(trials, rng)

        def release(self, data, rng):
            raise KeyError("lost")

    broken = Broken(4)
    with pytest.raises(InputError, match=f"the {part} Broken raised KeyError"):
        play(Game(broken, broken, Prefix()), ReleasedRow("all"), trials=10)


def test_own_worlds_of_objects_are_played():
    class Words:
        def draw(self, trials, rng):
            return Draw([{"word": str(rng.integers(1000))} for _ in range(trials)])

        def fresh(self, draw, rng):
            return self.draw(draw.trials, rng).data

    game = Game(Words(), Identity(), Own(lambda s, z: s["word"] == z["word"]))
    run = play(game, OwnAttack(lambda release: release), Resilience(1.0), trials=300, rng=1)
    assert run.outcome == "violates"


def one_stream(number, place):
    return Sources(
        child(1, number), child(2, number), lambda turn, name: child(3, number, len(name), turn)
    )


class Records:
    """Attacks that write down what they are told, and copy the release."""

    def __init__(self, error=None):
        self.told, self.error = [], error

    def attempt(self, release, known, rng):
        self.told.append((release, known, rng.integers(1000)))
        if self.error is not None:
            raise self.error
        return release


class Insider(Records):
    knows = AllOfIt()


def test_an_attack_is_told_more_where_it_asks_for_it_and_no_other_is():
    game = Game(Bits(6), Identity(), Prefix(), side=KnownRows(2))
    plain, insider = Records(), Insider()
    seat = Seat("", game, {"plain": plain, "insider": insider})
    played = play_block(seat, 0, 0, size=5, streams=one_stream)
    [(_, known, _)], [(_, more, _)] = plain.told, insider.told
    np.testing.assert_array_equal(known, played.draw.data[:, :2])
    np.testing.assert_array_equal(more, played.draw.data)
    assert played.told(AllOfIt()) is more  # worked out once


def test_each_part_has_the_chance_that_it_is_given():
    game = Game(Bits(6), RandomizedResponse(1.0), Prefix())
    first, second = Records(), Records()
    seat = Seat("", game, {"a": first, "bb": second})
    played = play_block(seat, 4, 0, size=50, streams=one_stream)
    draw = Bits(6).draw(50, child(1, 4)).data
    np.testing.assert_array_equal(played.draw.data, draw)
    expected = RandomizedResponse(1.0).release(draw, child(2, 4))
    np.testing.assert_array_equal(played.release, expected)
    seat = Seat("", game, {"a": first, "bb": second}, strict=True)
    play_block(seat, 4, 0, size=50, streams=one_stream)
    # asked strictly, an attack has its generator as it is
    assert first.told[1][2] == child(3, 4, 1, 0).integers(1000)
    assert second.told[1][2] == child(3, 4, 2, 1).integers(1000)


def test_an_attack_may_take_part_in_the_first_blocks_only():
    seat = Seat("", Game(Bits(6), Identity(), Prefix()), {"a": Records(), "b": Records()}, {"b": 2})
    names = [list(play_block(seat, n, 0, size=3, streams=one_stream).turns) for n in range(4)]
    assert names == [["a", "b"], ["a", "b"], ["a"], ["a"]]


def test_where_an_attack_must_not_fail_its_error_ends_the_run():
    game = Game(Bits(6), Identity(), Prefix())
    forgiving = Seat("", game, {"a": Records(KeyError("lost"))})
    turn = play_block(forgiving, 0, 0, size=3, streams=one_stream).turns["a"]
    assert len(turn.attempts.failures) == 3
    assert not turn.success.any()
    strict = Seat("", game, {"a": Records(KeyError("lost"))}, strict=True)
    with pytest.raises(KeyError, match="lost"):
        play_block(strict, 0, 0, size=3, streams=one_stream)


def test_other_data_are_released_to_those_who_know_no_more_than_the_game_tells():
    game = Game(Bits(6), Identity(), Prefix(), side=KnownRows(2))
    plain, insider = Records(), Insider()
    seat = Seat("", game, {"plain": plain, "insider": insider})
    played = play_block(seat, 0, 0, size=5, streams=one_stream)
    other = 1 - played.draw.data
    made = played.again(other, one_stream(9, 0))
    assert set(made) == {"plain"}
    np.testing.assert_array_equal(made["plain"].values, other)
    release, known, _ = plain.told[1]
    np.testing.assert_array_equal(release, other)
    np.testing.assert_array_equal(known, played.known)
    assert len(insider.told) == 1


def test_people_are_scored_one_by_one_with_exact_chances():
    """Two games of a family with the same people and the same shape of noise."""
    queries = MarginalQueries((2, 2, 3), (2,), 2)
    table = np.random.default_rng(0).integers(0, (2, 2, 3), (60, 3)).astype(np.int32)
    success = exact_match((3,))

    class Prior:
        names, sizes = ("a", "b", "c"), (2, 2, 3)

        def conditional(self, codes, unknown):
            return np.tile([0.2, 0.3, 0.5], (len(codes), 1))

    def seat(scale):
        game = Game(
            RealRows(table, 10),
            NoisyMarginals(queries, GaussianNoise(scale)),
            EachPerson((2,), success),
            OtherColumns(Prior(), queries, success),
        )
        attacks = {"prior": PriorGuess(), "mean field": MeanField(), "ceiling": Ceiling()}
        return Seat(f"{scale:g}", game, attacks, strict=True)

    little, much = (play_block(seat(s), 3, 0, size=2, streams=one_stream) for s in (1.0, 9.0))
    np.testing.assert_array_equal(little.draw.data, much.draw.data)
    for one, two, people in zip(little.release, much.release, little.draw.data, strict=True):
        counts = queries.counts(people)
        np.testing.assert_allclose(9 * (one.cells - counts), two.cells - counts)
    secrets = little.draw.data[..., 2]
    for played in (little, much):
        for turn in played.turns.values():
            guess = turn.attempts.values
            np.testing.assert_array_equal(turn.success, guess == secrets)
            np.testing.assert_array_equal(turn.baseline, np.array([0.2, 0.3, 0.5])[guess])
            assert turn.fresh == 0
        assert (played.turns["prior"].attempts.values == 2).all()
    hits = {name: turn.success.mean() for name, turn in little.turns.items()}
    assert hits["ceiling"] > hits["prior"]
    with pytest.raises(InputError, match="audit the release with a table study"):
        play(little.seat.game, PriorGuess(), trials=2)


def test_one_fresh_data_set_is_drawn_unless_more_are_asked_for():
    class NoFormula(Prefix):
        def baseline(self, world, attempt):
            return None

    seat = Seat("", Game(Bits(1), Identity(), NoFormula()), {"a": ReleasedRow("all")})
    one = play_block(seat, 0, 0, size=40, streams=one_stream).turns["a"]
    assert (one.fresh, set(one.baseline)) == (1, {0.0, 1.0})
    three = play_block(seat, 0, 0, size=400, streams=one_stream, fresh=3).turns["a"]
    assert (three.fresh, set((3 * three.baseline).round(9))) == (3, {0.0, 1.0, 2.0, 3.0})


def test_what_is_told_more_is_worked_out_once():
    seen = []

    class Counted(AllOfIt):
        def add(self, draw, known):
            seen.append(known)
            return draw.data.copy()

    seat = Seat("", Game(Bits(6), Identity(), Prefix(), side=KnownRows(2)), {})
    played = play_block(seat, 0, 0, size=5, streams=one_stream)
    more = Counted()
    assert played.told(more) is played.told(more)
    assert len(seen) == 1


def test_no_fresh_data_set_is_drawn_where_every_baseline_is_exact(monkeypatch):
    def refuse(self, draw, rng):
        raise AssertionError

    monkeypatch.setattr(Bits, "fresh", refuse)
    seat = Seat("", Game(Bits(3), Identity(), Prefix()), {"a": ReleasedRow("all")})
    turn = play_block(seat, 0, 0, size=5, streams=one_stream).turns["a"]
    assert turn.baseline == pytest.approx([1 / 8] * 5)


def test_fresh_data_sets_are_those_that_fit_what_was_told():
    """The first two rows are told, and they are all that is asked."""
    told = Game(Bits(6), Identity(), Prefix(2), side=KnownRows(2))

    class Known:
        def attempt(self, release, known, rng):
            return known

    turn = play_block(Seat("", told, {"a": Known()}), 0, 0, size=50, streams=one_stream).turns["a"]
    assert turn.success.all()
    assert (turn.baseline == 1).all()
    assert turn.fresh == 1
