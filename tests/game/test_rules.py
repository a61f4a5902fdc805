"""Parts of a game that cannot be are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.game.rules import Game, is_own
from narcissus.knowledge import Candidates, KnownRows, Told
from narcissus.mechanisms import (
    Cipher,
    CountingQuery,
    KAnonymity,
    MultiplyHash,
    Parallel,
    Parity,
    RandomizedResponse,
    Sha256,
    XorHalf,
)
from narcissus.success import KeptSurprisal, Resilience
from narcissus.success.relations import AnyOf, Hamming, Member, Own, SameImage
from narcissus.success.statements import Evidence
from narcissus.worlds import Bits, Draw, Family, Finite, Pairs, Records, Superset, Tardos


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Bits(0), "`n` must be at least 1"),
        (lambda: Bits(3, 1.5), "`rate` must be probabilities"),
        (lambda: Bits(3, [0.1, 0.2]), "3 of them"),
        (lambda: Records(3), "give `probabilities`"),
        (lambda: Records(3, [0.5, 0.4]), "sum to 1"),
        (lambda: Records(2, [0.5, 0.5], [1, 2, 3]), "equally many"),
        (lambda: Records(3, [[0.5, 0.5]]), "one list for each"),
        (lambda: Tardos(5, 2, 6), "at most `N`"),
        (lambda: Finite([[1], [2, 3]]), "one shape"),
        (lambda: Finite([[1], [2]], [0.5, 0.25, 0.25]), "each of 2 data sets"),
        (lambda: Pairs([[[1], [2], [3]]]), "two data sets each"),
        (lambda: Superset(2, 3, 0), "`size`"),
        (lambda: CountingQuery(0.6), "`tau` must be in"),
        (lambda: Hamming(1.5), "`gamma`"),
        (lambda: RandomizedResponse(-1), "`epsilon`"),
        (lambda: KAnonymity(1), "`k`"),
        (lambda: Cipher("rot13"), "`scheme` must be one of"),
        (lambda: XorHalf("first"), "`part` must be one of"),
        (lambda: Parallel([]), "at least one"),
        (lambda: Parity().release(np.zeros((1, 2, 3)), np.random.default_rng(0)), "even number"),
        (lambda: MultiplyHash().release(np.zeros((1, 8)), np.random.default_rng(0)), "64 bits"),
        (lambda: Hamming(0.1).guesses(np.zeros((1, 2, 30))), "2\\^30"),
        (lambda: SameImage(Sha256()).function.bits + Sha256(0).bits, "`bits`"),
    ],
)
def test_bad_parameters_are_named(make, match):
    with pytest.raises(InputError, match=match):
        make()


def test_what_a_user_wrote_is_found_at_any_depth():
    class Mine:
        pass

    theirs = [None, "a", 1, 2.0, {"a": 1}, np.ones(2), np.float64(1), (), [], Bits(3), Parity()]
    theirs.append(Evidence(Resilience()))  # ours, and no dataclass
    for part in (*theirs, theirs, tuple(theirs)):
        assert not is_own(part)
    for part in (
        Mine(),
        [1, Mine()],
        (Bits(3), [Mine()]),
        Own(Mine),
        AnyOf(Own(Mine)),
        AnyOf(Mine()),
    ):
        assert is_own(part)


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_the_share_of_surprisal_is_a_share(share):
    world = Tardos(6, 3, 3)
    with pytest.raises(InputError, match="`surprisal` must be in"):
        Game(world, Parity(), Member(), side=Candidates(), surprisal=share)
    for good in (0, 1):
        Game(world, Parity(), Member(), side=Candidates(), surprisal=good)


def test_surprisal_needs_a_relation_about_one_row():
    class OfAll(Member):
        targeted = False

    world = Tardos(6, 3, 3)
    with pytest.raises(InputError, match=r"targeted relation.*`targeted = True` and `matches"):
        Game(world, Parity(), OfAll(), side=Candidates(), surprisal=0.5)
    parts = {"side": Candidates(), "looser": OfAll()}
    Game(world, Parity(), Member(), **parts, surprisal=0.5)  # of fresh data nothing is asked
    with pytest.raises(InputError, match="targeted relation"):
        Game(world, Parity(), Member(), **parts, surprisal=KeptSurprisal(0.5, fresh_share=0.5))


class Unlisted:
    """A world that draws, and is not written out."""

    n = 4

    def draw(self, trials, rng):
        return Draw(rng.integers(0, 2, (trials, 4, 3)))

    def fresh(self, draw, rng):
        return self.draw(draw.trials, rng).data

    def fresh_given_rows(self, draw, rows, rng):
        return draw.data


def test_surprisal_must_be_known_of_the_world_and_of_what_is_told():
    coins = Told(lambda data, rng: 1)
    for world, side in ((Bits(4), coins), (Tardos(6, 3, 3), coins), (Unlisted(), KnownRows(1))):
        with pytest.raises(InputError, match=r"surprisal is not known.*class that offers"):
            Game(world, Parity(), Member(), side=side, surprisal=0.5)


def test_a_family_is_checked_member_by_member_and_taken_apart():
    family = Family([Tardos(6, 3, 3), Unlisted()])
    with pytest.raises(InputError, match="surprisal is not known for the world Unlisted"):
        Game(family, Parity(), Member(), side=KnownRows(1), surprisal=0.5)
    game = Game(Pairs([[[0], [1]], [[1], [2]]]), Parity(), Member())
    members = game.members()
    assert [list(one.world.sets.ravel()) for one in members.values()] == [[0, 1], [1, 2]]
    assert all(one.relation is game.relation for one in members.values())
    with pytest.raises(InputError, match="a family of 2"):
        game.single("a profile")
    one = Game(Bits(3), Parity(), Member())
    assert one.members() == {"": one}
    assert one.single("a profile") is one


def test_what_is_told_must_fit_the_world():
    with pytest.raises(InputError):
        Game(Bits(4), Parity(), Member(), side=Candidates())
    with pytest.raises(InputError):
        Game(Family([Tardos(6, 3, 3), Bits(4)]), Parity(), Member(), side=Candidates())
