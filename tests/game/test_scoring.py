"""Scores: relations of all kinds, surprisal, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from narcissus import Game, play
from narcissus._random import child
from narcissus.attacks import OwnAttack, ReleasedRow, TwoCandidates
from narcissus.errors import InputError
from narcissus.game.scoring import exact_baseline, score, surprising, weight
from narcissus.knowledge import Candidates, Hidden, KnownRows, Rates
from narcissus.mechanisms import Constant, Identity, NoisyAverage
from narcissus.success import FixedBaseline, KeptSurprisal, NarcissusResilience
from narcissus.success.relations import AnyOf, Hamming, Member, Own, Pinned, Prefix, RandomRow
from narcissus.success.relations.base import Attempts
from narcissus.worlds import Bits, Draw, Tardos, Uniform


def test_surprisal_rules_out_what_was_told():
    world, side = Tardos(100, 400, 10), Candidates()
    plain = Game(world, NoisyAverage(0.5), Member(), side=side)
    with_surprisal = Game(world, NoisyAverage(0.5), Member(), side=side, surprisal=0.5)
    without = play(plain, TwoCandidates(), trials=100, stop=False, rng=1).attackers[0]
    within = play(with_surprisal, TwoCandidates(), trials=100, stop=False, rng=1).attackers[0]
    assert without.success.value > 0.8
    assert within.success.value == 0
    assert (without.scores.baseline == within.scores.baseline).all()
    for relation, other in ((Prefix(), "targeted"), (Member(), "surprisal is not known")):
        with pytest.raises(InputError, match=other):
            Game(Bits(4), Identity(), relation, side=KnownRows(1), surprisal=0.5)
    with pytest.raises(InputError, match="`surprisal` needs side information"):
        Game(world, NoisyAverage(0.5), Member(), surprisal=0.5)


@pytest.mark.parametrize(
    "side", [KnownRows(1), KnownRows(2), Candidates(), Hidden(), Rates()], ids=repr
)
@pytest.mark.parametrize("relation", [Member(), Hamming(0.34)], ids=repr)
def test_surprisal_with_an_attacker_who_abstains(side, relation):
    """Scored trial by trial from the definition: some recovered row is surprising enough."""
    world, share = Tardos(6, 3, 3), 0.7
    seen = []

    def attack(release, known, rng):
        kind = rng.integers(0, 4)
        made = None if kind == 0 else release[rng.integers(0, 3)] if kind < 3 else np.ones(3)
        seen.append(made)
        return made

    game = Game(world, Identity(), relation, side=side, surprisal=share)
    trials = 300
    scores = play(game, OwnAttack(attack), trials=trials, stop=False, rng=1).attackers[0].scores
    assert 0 < sum(made is None for made in seen) < trials
    rng = child(1, 0, 0)
    draw = world.draw(trials, rng)  # the block's own draw: the first thing that it does
    known = side.reveal(world, draw, rng)
    count = 0
    for trial, made in enumerate(seen):
        expected = False
        for place in range(3) if made is not None else ():
            one, index = draw.take(np.array([trial])), np.array([place])
            bits = side.surprisal(world, one, known[[trial]], index)[0]
            near = (draw.data[trial, place] != made).sum() <= (1 if relation != Member() else 0)
            enough = bits >= share * world.surprisal(one, index)[0] - 1e-9
            expected |= bool(near and enough)
        assert scores.success[trial] == expected
        count += expected
    assert count > 0
    silent = play(game, OwnAttack(lambda release: None), trials=50, stop=False, rng=1)
    assert not silent.attackers[0].scores.success.any()


@pytest.mark.parametrize(
    ("relation", "match"),
    [
        (lambda s, z: 1 / 0, "raised ZeroDivisionError"),
        (lambda s, z: "yes", "must return true or false, got 'yes'"),
        (lambda s, z: 2, "must return true or false, got 2"),
        (lambda s, z: np.array([True, False]), "must return true or false"),
        (lambda s, z: None, "must return true or false"),
    ],
)
def test_bad_relations_end_the_run_with_one_error(relation, match):
    game = Game(Bits(4), Identity(), Own(relation))
    with pytest.raises(InputError, match=match):
        play(game, ReleasedRow("all"), trials=10, rng=1)


def test_lists_of_guesses():
    game = Game(Bits(3), Constant(), AnyOf(Prefix()))
    every = [[list(map(int, f"{i:03b}")) for i in range(8)]]
    run = play(game, OwnAttack(lambda y: np.asarray(every[0])), trials=50, stop=False, rng=1)
    assert run.attackers[0].success.value == 1
    assert run.attackers[0].baseline.value == 1


def test_predicates_of_a_user_are_asked_row_by_row():
    game = Game(Uniform(4, 3), Identity(), RandomRow())

    def attack(release):
        rows = {tuple(row) for row in release.tolist()}
        return lambda row: tuple(row.tolist()) in rows

    run = play(game, OwnAttack(attack), trials=500, stop=False, rng=1).attackers[0]
    assert run.success.value == 1
    assert run.baseline.value < 0.6


def test_an_attempt_that_is_not_made_has_no_exact_baseline():
    class Sometimes:
        def attempt(self, release, known, rng):
            values = np.zeros((len(release), 2, 1), dtype=np.int64)
            return Attempts(values, np.arange(len(release)) % 2 == 0)

    game = Game(Bits(4, 0.3), Identity(), Pinned(1))
    one = play(game, Sometimes(), trials=6, stop=False, rng=1).attackers[0]
    assert one.scores.fresh == 0
    assert one.scores.baseline.tolist() == pytest.approx([0.7, 0] * 3)
    assert not one.scores.success[1::2].any()


class Scored:
    """A relation that gives what it is told to."""

    def __init__(self, held):
        self.held = held

    def holds(self, data, attempt, rng):
        return self.held


@pytest.mark.parametrize(
    "held", [np.ones(3, dtype=int), np.ones(4, dtype=bool), np.ones((3, 1), dtype=bool)]
)
def test_a_relation_gives_one_true_or_false_for_each_trial(held):
    attempts = Attempts(np.zeros((3, 2)), np.ones(3, dtype=bool))
    with pytest.raises(InputError, match="must give one true or false for each trial"):
        score(Scored(held), np.zeros((3, 2)), attempts, np.random.default_rng(0))
    good = np.array([True, False, True])
    np.testing.assert_array_equal(
        score(Scored(good), np.zeros((3, 2)), attempts, np.random.default_rng(0)), good
    )


def test_only_attempts_that_were_made_are_scored():
    made = np.array([False, True, False, True])
    attempts = Attempts(np.array([[1], [0], [0], [0]]), made)
    data = np.array([[1], [0], [0], [1]])
    rng = np.random.default_rng(0)
    assert score(Prefix(), data, attempts, rng).tolist() == [False, True, False, False]
    none = Attempts(attempts.values, np.zeros(4, dtype=bool))
    assert score(Scored(None), data, none, rng).tolist() == [False] * 4
    as_list = Attempts([None, np.array([0]), None, np.array([1])], made)
    assert score(Prefix(), data, as_list, rng).tolist() == [False, True, False, True]


def test_formulas_of_a_shipped_world_are_not_those_of_one_that_is_derived_from_it():
    """All bits are one coin: zeros are right every other time, and not once in 64 times."""

    class OneCoin(Bits):
        def draw(self, trials, rng):
            return Draw(np.repeat(rng.integers(0, 2, (trials, 1)), self.n, axis=1))

    class Zeros:
        def attempt(self, release, known, rng):
            return np.zeros((len(release), 6), dtype=np.uint8)

    game = Game(OneCoin(6), Constant(), Prefix())
    run = play(game, Zeros(), NarcissusResilience(0.0, 0.1), trials=400, rng=1)
    assert run.outcome == "no violation found"
    assert run.attackers[0].baseline.low < 0.5 < run.attackers[0].baseline.high
    assert FixedBaseline().prepare(game).best is None
    assert FixedBaseline().prepare(replace(game, relation=Pinned(6))).best is None
    shipped = replace(game, world=Bits(6), relation=Pinned(6))
    assert FixedBaseline().prepare(shipped).best == 2**-6


def test_an_exact_baseline_is_there_where_a_formula_is_and_nothing_is_told():
    """Of the looser relation where there is one; of a user's predicates none, nor of lists."""
    game = Game(Bits(2, 0.25), Identity(), Prefix())
    ones = np.ones((3, 2), dtype=int)
    every = np.ones(3, dtype=bool)
    made = np.array([True, False, True])
    assert exact_baseline(game, None, Attempts(ones, made)) == pytest.approx([1 / 16, 0, 1 / 16])
    looser = Game(Bits(2, 0.25), Identity(), Prefix(), looser=Prefix(1))
    assert exact_baseline(looser, None, Attempts(ones[:, :1], every)) == pytest.approx([0.25] * 3)
    told = Game(Bits(2, 0.25), Identity(), Prefix(), side=KnownRows(1))
    assert exact_baseline(told, None, Attempts(ones, every)) is None
    own = Game(Bits(2), Identity(), Own(lambda s, z: True))
    assert exact_baseline(own, None, Attempts(ones, every)) is None
    assert exact_baseline(game, None, Attempts([ones[0], ones[1]], every[:2])) is None
    assert exact_baseline(game, None, Attempts([], every[:0])) is None
    other_world = Game(Uniform(2, 1), Identity(), Pinned(1))
    assert exact_baseline(other_world, None, Attempts(np.zeros((3, 2, 1)), every)) is None

    class Asked:
        def holds(self, data, attempt, rng):
            raise AssertionError

        def baseline(self, world, attempt):
            return np.array([one(world) for one in attempt])

    predicates = Attempts([lambda world: 0.5, lambda world: 0.25], every[:2])
    found = exact_baseline(Game(Bits(2), Identity(), Asked()), None, predicates)
    assert found == pytest.approx([0.5, 0.25])


def test_attempts_without_a_weight_have_none():
    game = Game(Bits(2), Identity(), Prefix())
    attempts = Attempts(np.zeros((3, 2)), np.ones(3, dtype=bool))
    assert np.isnan(weight(game, attempts)).tolist() == [True] * 3

    class Light:
        def __init__(self, known):
            self.known = known

        def weight(self, world):
            return np.full(3, 1 / 2**world.n) if self.known else None

    assert weight(game, Attempts(Light(True), attempts.made)) == pytest.approx([0.25] * 3)
    assert np.isnan(weight(game, Attempts(Light(False), attempts.made))).all()


@pytest.mark.parametrize(
    ("told", "held"), [(5.0, True), (5.0 - 1e-9, True), (5.0 - 3e-9, False), (9.0, True)]
)
def test_a_row_keeps_its_share_of_surprisal_up_to_rounding(told, held):
    """Half of 10 bits: of the two rows that are recovered one is enough."""

    class Told(Candidates):
        def check(self, world):
            pass

        def surprisal(self, world, draw, known, index):
            return np.where(index == 1, told, 1.0)

    class Known(Tardos):
        def surprisal(self, draw, index):
            return np.full(len(index), 10.0)

    game = Game(Known(6, 3, 3), Identity(), Member(), side=Told(), surprisal=0.5)
    data = np.array([[[1, 1, 1], [1, 1, 1], [0, 0, 0]], [[1, 1, 1], [0, 1, 1], [0, 0, 0]]])
    attempts = Attempts(np.ones((2, 3)), np.ones(2, dtype=bool))
    draw = Draw(data, np.zeros(2))
    found = surprising(game, game.relation, game.kept, draw, np.zeros(2), attempts)
    assert found.tolist() == [held, False]


def test_attempts_at_data_that_are_no_array_stay_a_list():
    seen = []

    class Looks:
        def holds(self, data, attempt, rng):
            seen.append(attempt)
            return np.ones(len(attempt), dtype=bool)

    attempts = Attempts([np.zeros(2), np.ones(2)], np.ones(2, dtype=bool))
    rng = np.random.default_rng(0)
    assert score(Looks(), [{}, {}], attempts, rng).all()
    assert seen[0] is attempts.values
    score(Looks(), np.zeros((2, 2)), attempts, rng)
    assert seen[1].shape == (2, 2)


@pytest.mark.states("Kaplan et al. 2025", "Remark 4.5")
@pytest.mark.parametrize("looser", [None, Hamming(0.34)], ids=repr)
def test_fresh_rows_count_where_they_keep_their_share(looser):
    """Scored trial by trial: some row of the fresh data is recovered and surprising enough."""
    world, side, trials = Tardos(6, 3, 3), Candidates(), 300
    game = Game(
        world, Identity(), Member(), side=side, looser=looser,
        surprisal=KeptSurprisal(0.3, fresh_share=0.8),
    )  # fmt: skip
    seen = []

    class Watched(Candidates):
        def fresh(self, world, draw, known, rng):
            data = super().fresh(world, draw, known, rng)
            seen.append((data, known))
            return data

    game = replace(game, side=Watched())
    made = []

    def attack(release, known, rng):
        made.append(known[rng.integers(0, 2)])
        return made[-1]

    scores = play(game, OwnAttack(attack), trials=trials, stop=False, rng=1).attackers[0].scores
    [(data, known)] = seen
    places = 0 if looser is None else 1
    for trial, attempt in enumerate(made):
        expected = False
        for place in range(3):
            one, index = Draw(data[[trial]]), np.array([place])
            bits = side.surprisal(world, one, known[[trial]], index)[0]
            near = (data[trial, place] != attempt).sum() <= places
            expected |= bool(near and bits >= 0.8 * world.surprisal(one, index)[0] - 1e-9)
        assert scores.baseline[trial] == expected
    assert 0 < scores.baseline.mean() < 1
    plain = play(replace(game, surprisal=0.3), OwnAttack(attack), trials=trials, stop=False, rng=1)
    assert (plain.attackers[0].scores.success == scores.success).all()
    assert plain.attackers[0].scores.baseline.sum() > scores.baseline.sum()
