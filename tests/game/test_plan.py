"""Families that are played: trials are shared, members have chance of their own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from narcissus import Game, play
from narcissus.attacks import FixedGuess, OwnAttack, ReleasedRow
from narcissus.errors import InputError
from narcissus.game.block import Seat
from narcissus.game.plan import BlockPlayer, OneStream, plan, seats_of
from narcissus.mechanisms import Constant, Identity, PublicKey, RandomizedResponse
from narcissus.success import Resilience
from narcissus.success.relations import Own, Prefix
from narcissus.worlds import Bits, Draw, Pairs

SPLIT = [[[0, 0], [0, 1]], [[1, 1], [0, 1]], [[1, 0], [1, 1]]]


def test_play_names_the_member_that_is_violated():
    """One pair of three is told apart by its first record; the others never are."""

    def relation(data, attempt):
        return int(data[0]) == attempt

    def first(release):
        return int(release[0])

    game = Game(Pairs(SPLIT), Identity(), Own(relation))
    run = play(game, OwnAttack(first), Resilience(0.0, 0.2), trials=900, rng=5)
    assert run.outcome == "violates"
    assert run.members == 3
    assert run.member == "pair 2, [1, 1] and [0, 1]"
    assert run.member in str(run)
    assert run.attackers[0].success.value == 1
    assert run.attackers[0].baseline.value == 0
    # three distributions share the level of each limit, and both rates halve it
    assert run.attackers[0].success.confidence == pytest.approx(1 - 0.05 / 3 / 2)


def test_trials_are_shared_and_workers_would_see_the_same_blocks():
    game = Game(Pairs(SPLIT), Constant(), Prefix())
    run = play(game, FixedGuess([0, 0]), Resilience(0.0, 0.9), trials=100, stop=False, rng=1)
    assert run.trials in (33, 34)
    few = play(game, FixedGuess([0, 0]), Resilience(0.0, 0.9), trials=1, stop=False, rng=1)
    assert few.trials == 1


def test_members_of_a_family_have_random_numbers_of_their_own():
    pair = SPLIT[0]
    game = Game(Pairs([pair, pair]), RandomizedResponse(1.0), Prefix())
    seen = {}

    def keep(player, keys):
        for key in keys:
            seen[key] = player(key)
            yield seen[key]

    play(game, ReleasedRow("all"), Resilience(0, 1), trials=200, stop=False, rng=3, through=keep)
    one, other = seen["batch/0/100/0"], seen["batch/0/100/1"]
    assert (one["0/success"] != other["0/success"]).any()


@pytest.mark.coverage_claim
def test_a_family_of_true_statements_is_refuted_no_more_often_than_said():
    """20 pairs at the edge of the statement, 300 runs at 70%; false-alarm rate 1e-6.

    Each pair is a fair coin for the attacker, success and baseline alike, so the statement at
    epsilon 0 and delta 0 is true with equality. Without the level shared among the pairs most
    runs would call it violated.
    """
    pairs = [[[0, k], [1, k]] for k in range(20)]
    game = Game(Pairs(pairs), Constant(), Prefix(1))
    wrong = sum(
        play(game, FixedGuess([0]), Resilience(), trials=20 * 60, confidence=0.7, rng=seed).outcome
        == "violates"
        for seed in range(300)
    )
    assert wrong <= stats.binom.ppf(1 - 1e-6, 300, 0.3)


class Sized:
    """A world whose data and what is behind it are of so many bytes, without holding them."""

    def __init__(self, data, nature=0):
        self.data, self.nature = data, nature

    def draw(self, trials, rng):
        nature = zeros(self.nature) if self.nature else None
        return Draw(zeros(self.data, trials) if self.data else np.zeros(trials), nature)

    def fresh(self, draw, rng):
        return draw.data


def zeros(count, *before):
    return np.broadcast_to(np.zeros(1, dtype=np.uint8), (*before, count))


class Tells:
    def __init__(self, told):
        self.told = told

    def check(self, world):
        pass

    def reveal(self, world, draw, rng):
        return zeros(self.told) if self.told else "a word"


def sizes(seats, trials):
    found = {}
    for block in plan(seats, trials):
        found.setdefault(block.place, []).append(block.size)
    return list(found.values())


@pytest.mark.parametrize(
    ("data", "nature", "told", "block"),
    [
        (32_000_000, 0, None, 1),
        (3_200_000, 0, None, 10),
        (900_000_000, 0, None, 1),
        (7_000_000, 0, None, 4),
        (1_000_000, 15_000_000, None, 2),
        (1_000_000, 1_000_000, 6_000_000, 4),
        (16_000, 0, 16_000, 500),  # a user's own parts: blocks stay small
        (100_000, 0, 0, 320),
    ],
)
def test_a_block_holds_some_32_megabytes(data, nature, told, block):
    """Of the data, of what is behind it and of what is told: each may be the largest."""
    side = None if told is None else Tells(told)
    game = Game(Sized(data, nature), Constant(), Prefix(), side=side)
    seat = Seat("", game, {"a": ReleasedRow()})
    assert sizes([seat], 3 * block + 1) == [[block, block, block, 1]]


def test_first_blocks_are_small_and_then_grow_unless_a_trial_may_take_long():
    """So that a plain violation is seen at once; an interrupted run loses the blocks in flight."""
    quick = Seat("", Game(Bits(5), Identity(), Prefix()), {"a": ReleasedRow()})
    assert sizes([quick], 33_000) == [[500, 2_000, 8_000, 10_000, 10_000, 2_500]]
    own = OwnAttack(lambda release: release)
    for slow in (
        Seat("", quick.game, {"a": ReleasedRow(), "b": own}),
        Seat("", Game(Bits(5), Identity(), Prefix(), looser=Own(lambda s, z: True)), {}),
        Seat("", Game(Bits(5), Identity(), Own(lambda s, z: True)), {}),
        Seat("", Game(Bits(5), PublicKey("deterministic"), Prefix()), {}),
    ):
        assert sizes([slow], 1_700) == [[500, 500, 500, 200]]
    wide = Seat("", Game(Bits(16_000), Identity(), Prefix()), {"a": ReleasedRow()})
    assert sizes([wide], 5_000) == [[500, 2_000, 2_000, 500]]


@pytest.mark.parametrize(
    ("trials", "shares"), [(1, [1, 1, 1]), (3, [1, 1, 1]), (10, [4, 3, 3]), (11, [4, 4, 3])]
)
def test_trials_are_shared_evenly_and_blocks_come_in_turn(trials, shares):
    seats = seats_of(Game(Pairs(SPLIT), Identity(), Prefix()), ReleasedRow("all"))
    assert [sum(blocks) for blocks in sizes(seats, trials)] == shares
    many = plan(seats, 3 * 3_000)
    assert [(block.number, block.place) for block in many] == [
        (n, p) for n in range(3) for p in range(3)
    ]
    assert [block.key for block in many[:4]] == [
        "batch/0/500/0",
        "batch/0/500/1",
        "batch/0/500/2",
        "batch/1/2000/0",
    ]
    [first, *_] = plan(seats[:1], 3_000)
    assert first.key == "batch/0/500"


def test_generators_are_alone_unless_the_block_and_the_seat_are_the_same():
    """Of 200 blocks of 200 seats, and of the attacks in each, no two begin with the same number."""
    streams = OneStream(7, alone=False)
    begun = {}
    for number, place in [*((0, p) for p in range(200)), *((n, 0) for n in range(1, 200))]:
        sources = streams(number, place)
        assert sources.world is sources.release
        begun[number, place, "world"] = sources.world.integers(2**63)
        for turn in range(2):
            own = sources.attack(turn, "whoever")
            begun[number, place, turn] = own.integers(2**63)
    assert len(set(begun.values())) == len(begun)
    again = OneStream(7, alone=False)(3, 0)
    assert again.world.integers(2**63) == begun[3, 0, "world"]
    assert again.attack(1, "by its place").integers(2**63) == begun[3, 0, 1]
    alone = OneStream(7)(3, 0)
    assert alone.world.integers(2**63) != begun[3, 0, "world"]


def test_a_block_is_played_by_its_key():
    seats = seats_of(Game(Pairs(SPLIT), Identity(), Prefix()), ReleasedRow("all"))
    player = BlockPlayer(seats, OneStream(5, alone=False), 1, lambda played: played)
    played = player("batch/2/30/1")
    assert (played.number, played.place, played.draw.trials) == (2, 1, 30)
    assert played.seat is seats[1]
    first = BlockPlayer(seats[:1], OneStream(5), 1, lambda played: played)("batch/2/30")
    assert (first.number, first.place, first.draw.trials) == (2, 0, 30)
    with pytest.raises(InputError, match="at least one attack"):
        seats_of(seats[0].game, {})


def test_who_reads_releases_does_not_talk_and_the_contrary():
    class Asks:
        def converse(self, conversation, known, rng):
            return 0

    talks = Game(Pairs([[[0], [1]]]), PublicKey(), Prefix())
    quiet = Game(Pairs([[[0], [1]]]), Identity(), Prefix())
    assert seats_of(talks, Asks())
    assert seats_of(quiet, ReleasedRow("all"))
    with pytest.raises(InputError, match=r"reads a release.*converse\(conversation, known, rng\)"):
        seats_of(talks, {"row": ReleasedRow("all")})
    with pytest.raises(
        InputError, match=r"the attack own asks questions, and .*Identity answers none"
    ):
        seats_of(quiet, {"own": Asks()})
    assert seats_of(talks, OwnAttack(lambda talk: 0))
    assert seats_of(quiet, OwnAttack(lambda release: 0))
