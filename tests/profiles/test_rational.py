"""Games in rational numbers, against the definitions written out row by row."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from narcissus import Game
from narcissus.errors import InputError, NarcissusError
from narcissus.knowledge import Hidden, KnownRows, Listed, OwnSideInformation
from narcissus.mechanisms import ExactAverage, Identity
from narcissus.mechanisms.base import ReleaseChannel, deterministic
from narcissus.profiles import rational_game, worst_told, write_out
from narcissus.profiles.closed_forms import SmallTardos, small_delta
from narcissus.profiles.rational import fraction_of
from narcissus.success import KeptSurprisal
from narcissus.success.relations import Member
from narcissus.worlds import Bits, Finite, Pairs, Tardos, Uniform

F = Fraction
SETS = [[[0], [0]], [[0], [1]], [[1], [0]], [[1], [1]]]
LAWS = [[0.25, 0.25, 0.25, 0.25], [0.5, 0.125, 0.125, 0.25]]
PLAIN = [[0.25] * 4] * 2


def surprise(joint, told, data, place):
    """Return P(v = x | K, S minus v) of a row of a data set: Definition 4.4, by its event."""
    own, bag, hit, all_ = data[place], sorted(data[:place] + data[place + 1 :]), F(0), F(0)
    for (nature, other), chance in joint.items():
        for i, v in enumerate(other):  # v is a row of the data set at random
            if sorted(other[:i] + other[i + 1 :]) == bag:
                all_ += chance * told(nature, other) / len(other)
                hit += (v == own) * chance * told(nature, other) / len(other)
    return hit / all_


def by_definition(joint, channel, kernels, share=None, factor=1, bits=0, of_fresh=None):
    """Sum over what is told and released what the best attempt gains: Definitions 4.1 and 4.4."""
    total, rows = F(0), sorted({row for _, data in joint for row in data})
    for told in kernels:

        def counts(data, place, asked, told=told, bits=0):
            left = surprise(joint, told, data, place)
            before = surprise(joint, lambda *_: 1, data, place)
            a, b = F(asked).as_integer_ratio()
            return left**b <= before**a and left * 2**bits <= 1

        for y in {y for chances in channel.values() for y in chances}:
            gains = []
            for z in rows:
                gain = F(0)
                for nature in {nature for nature, _ in joint}:
                    fit = {s: p * told(nature, s) for (v, s), p in joint.items() if v == nature}
                    whole = sum(fit.values())
                    if not whole:
                        continue
                    again = sum(
                        p
                        for t, p in fit.items()
                        if any(x == z and (of_fresh is None or (p and counts(t, i, of_fresh)))
                               for i, x in enumerate(t))
                    )  # fmt: skip
                    for s, p in fit.items():
                        if not p:
                            continue
                        at = [i for i, x in enumerate(s) if x == z]
                        good = at and (
                            share is None or any(counts(s, i, share, bits=bits) for i in at)
                        )
                        gain += p * channel[s].get(y, 0) * (bool(good) - factor * again / whole)
                gains.append(gain)
            total += max(0, *gains)
    return total


def as_rows(data):
    return tuple(tuple(map(int, np.ravel(row))) for row in data)


def joint_of(natures, laws, sets=SETS):
    return {
        (v, as_rows(s)): F(natures[v]) * F(p)
        for v, law in enumerate(laws)
        for s, p in zip(sets, law, strict=True)
        if p
    }


SUMS = {as_rows(s): {int(np.sum(s)): F(1)} for s in SETS}
NOISY = {as_rows(s): {y: F(1 + 2 * (np.sum(s) == y), 5) for y in range(3)} for s in SETS}


class Noisy:
    """The sum of two bits, by chance 3/5, or one of the other two numbers."""

    def channel(self, data):
        rows = [[float(p) for p in NOISY[as_rows(s)].values()] for s in data]
        return ReleaseChannel([0, 1, 2], sparse.csr_array(np.array(rows)))


class Sum:
    """The sum of the bits."""

    def channel(self, data):
        return deterministic(np.asarray(data).reshape(len(data), -1).sum(axis=1))


class Odd:
    """Chances that are no fractions."""

    def channel(self, data):
        rows = np.tile([1 / math.pi, 1 - 1 / math.pi], (len(data), 1))
        return ReleaseChannel([0, 1], sparse.csr_array(rows))


COINS = [[[1, 0], [0.5, 0.5], [0, 1], [0.25, 0.75]], [[0, 1], [0.5, 0.5], [1, 0], [1, 0]]]


@pytest.mark.states("Kaplan et al. 2025", "Definition 4.1")
@pytest.mark.states("Kaplan et al. 2025", "Definition 4.4")
@pytest.mark.parametrize("share", [None, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("laws", [LAWS, PLAIN], ids=["skew", "plain"])
@pytest.mark.parametrize("kind", ["nothing", "nature", "first", "coins"])
def test_delta_is_that_of_the_definitions(share, laws, kind):
    joint = joint_of((0.25, 0.75), laws)
    sides = {
        "nothing": (Listed([[1.0]] * 4), [lambda v, s: 1]),
        "nature": (Hidden(), [lambda v, s, k=k: int(v == k) for k in (0, 1)]),
        "first": (
            OwnSideInformation(lambda data: int(data[0, 0])),
            [lambda v, s, k=k: int(s[0] == (k,)) for k in (0, 1)],
        ),
        "coins": (
            Listed(COINS),
            [lambda v, s, k=k: F(COINS[v][2 * s[0][0] + s[1][0]][k]) for k in (0, 1)],
        ),
    }
    side, kernels = sides[kind]
    for mechanism, channel in ((ExactAverage(), SUMS), (Noisy(), NOISY)):
        game = Game(Finite(SETS, laws, (0.25, 0.75)), mechanism, Member(), side, surprisal=share)
        found = rational_game(game).delta()
        assert found == by_definition(joint, channel, kernels, share)
        assert write_out(game).delta(0.0) == pytest.approx(float(found), abs=1e-14)


@pytest.mark.states("Kaplan et al. 2025", "Remark 4.5")
@pytest.mark.parametrize("asked", [KeptSurprisal(0.0, 1.0), KeptSurprisal(0.5, 0.5, 0.5)], ids=repr)
def test_the_variants_of_surprisal(asked):
    joint, side = joint_of((1,), LAWS[1:]), Listed([[1, 0], [0.5, 0.5], [0, 1], [1, 0]])
    kernels = [lambda v, s, k=k: F(side.chances[2 * s[0][0] + s[1][0]][k]) for k in (0, 1)]
    game = Game(Finite(SETS, LAWS[1:]), ExactAverage(), Member(), side, surprisal=asked)
    how = {"share": asked.share, "of_fresh": asked.fresh_share}
    if asked.bits == 0.5:  # 2 ** 0.5 is no rational number: squared
        kept = rational_game(game)
        assert write_out(game).delta(0.0) == pytest.approx(float(kept.delta()), abs=1e-14)
    else:
        assert rational_game(game).delta() == by_definition(joint, SUMS, kernels, bits=1, **how)


def test_other_epsilons_are_rounded_against_the_mechanism():
    game = Game(Finite(SETS, LAWS), ExactAverage(), Member())
    exact = rational_game(game)
    for epsilon in (0.1, 0.5, 1.0):
        found = exact.delta(epsilon)
        assert found == by_definition(
            joint_of((0.5, 0.5), LAWS),
            SUMS,
            [lambda v, s: 1],
            factor=F(math.exp(epsilon) * (1 - 1e-15)),
        )
        assert 0 <= float(found) - write_out(game).delta(epsilon) <= 1e-12


def test_small_tardos_priors_have_the_values_of_the_theory():
    """Additions B: 7/72, 4/27, 67/600; with a known row or the population by a listing apart."""
    for n, people, found in ((2, 3, F(7, 72)), (2, 4, F(4, 27)), (3, 4, F(67, 600))):
        game = Game(Tardos(people, 2, n), ExactAverage(), Member())
        sums = small_delta(SmallTardos(people, 2, n), lambda rows: tuple(map(sum, zip(*rows))))
        assert rational_game(game).delta() == found == sums
    for side, share, found in (
        (KnownRows(1), 0.5, F(13, 54)),
        (Hidden(), 0.0, F(227, 900)),
        (Hidden(), 0.5, F(629, 2700)),
        (Hidden(), 1.0, F(47, 2700)),
    ):
        game = Game(Tardos(4, 2, 2), ExactAverage(), Member(), side, surprisal=share)
        assert rational_game(game).delta() == found


def functions(causes, size, coins):
    """Yield all functions, as amounts of each cause by value: every side of the coin its own."""
    for labels in itertools.product(range(size), repeat=causes * coins):
        amounts = np.zeros((size, causes), dtype=int)
        for side, label in enumerate(labels):
            amounts[label, side // coins] += 1
        yield amounts


@pytest.mark.states("Kaplan et al. 2025", "Definition 4.1")
@pytest.mark.parametrize(
    ("sees", "size", "coins", "share"),
    [("data", 2, 1, None), ("data", 3, 1, 0.5), ("data", 2, 2, None), ("bag", 3, 2, 1.0),
     ("nature", 2, 1, None), ("nature", 2, 1, 0.5)],
)  # fmt: skip
def test_no_function_is_worse_than_the_worst(sees, size, coins, share):
    natures, laws = ((0.25, 0.75), LAWS) if sees == "nature" else ((1.0,), LAWS[:1])
    joint = joint_of(natures, laws)
    how = {} if share is None else {"surprisal": share, "side": Listed([[1.0]] * 4)}
    game = Game(Finite(SETS, laws, natures), ExactAverage(), Member(), **how)
    found = worst_told(game, size, sees=sees, coins=coins)
    keys = {"data": lambda v, s: s, "bag": lambda v, s: sorted(s), "nature": lambda v, s: (v, s)}
    place = {}
    for v, s in joint:
        place.setdefault(repr(keys[sees](v, s)), len(place))

    seen = {}

    def gain(amounts):  # what is told by one value, whatever the others are
        if amounts not in seen:
            told = lambda v, s: F(amounts[place[repr(keys[sees](v, s))]], coins)  # noqa: E731
            seen[amounts] = by_definition(joint, SUMS, [told], share) if any(amounts) else 0
        return seen[amounts]

    every = {tuple(sorted(map(tuple, one.tolist()))) for one in functions(len(place), size, coins)}
    assert found.delta == max(sum(map(gain, one)) for one in every)
    assert found.nothing == gain((coins,) * len(place))
    told = np.array([sides for _, _, sides in found.told])
    assert (told.sum(axis=1) == coins).all()
    assert told.shape[1] <= size
    assert sum(gain(tuple(map(int, column))) for column in told.T) == found.delta


def test_the_worst_of_two_fair_bits_needs_a_coin():
    """Functions add nothing to their sum; with coins one bit adds, and the worst replays."""
    game = Game(Bits(2), Sum(), Member())
    assert worst_told(game, 4).delta == worst_told(game, 2).nothing == F(1, 4)
    found = worst_told(game, 3, coins=2)
    assert (found.delta, found.functions) == (F(7, 24), sum(stirling(8, k) for k in (1, 2, 3)))
    side = Listed([[c / 2 for c in sides] for _, _, sides in found.told])
    again = Game(Finite([data for _, data, _ in found.told]), Sum(), Member(), side)
    assert rational_game(again).delta() == found.delta
    assert worst_told(game, 3, coins=5).delta == F(41, 140)


def stirling(n, k):
    return sum((-1) ** (k - j) * math.comb(k, j) * j**n for j in range(k + 1)) // math.factorial(k)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: worst_told(Game(Bits(2), Sum(), Member()), 1), "something from 2 on"),
        (lambda: worst_told(Game(Bits(4), Sum(), Member()), 2), "at most 14 things .* 16"),
        (lambda: worst_told(Game(Bits(2), Sum(), Member()), 2, sees="all"), "`sees` must be one"),
        (lambda: rational_game(Game(Uniform(2, 4), ExactAverage(), Member())), "at most 200,000"),
        (lambda: rational_game(Game(Pairs([[[0], [1]]]), Identity(), Member())), "pairs"),
        (lambda: rational_game(Game(Bits(2), Odd(), Member())), "releases are no simple fractions"),
        (
            lambda: rational_game(
                Game(Bits(2), Sum(), Member(), KnownRows(1), surprisal=1 / math.pi)
            ),
            "`share` must be a fraction",
        ),
    ],
)
def test_what_is_not_computed_is_refused(make, said):
    with pytest.raises(NarcissusError, match=said):
        make()


def test_the_simplest_fraction_is_found():
    for p, q in ((1, 3), (2, 7), (63, 1000), (1, 10**6), (0, 1), (1, 1)):
        assert fraction_of(p / q) == F(p, q)
    with pytest.raises(InputError, match="one distribution"):
        rational_game(Game(Pairs([[[0], [1]], [[0], [2]]]), Identity(), Member()))
