"""Worlds, mechanisms, relations, attackers and side information, each against its definition."""

from __future__ import annotations

import hashlib
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from narcissus.attacks import (
    BucketHashing,
    Inversion,
    KeySearch,
    Majority,
    Reencryption,
    Subtraction,
    TryInputs,
    TwoCandidates,
)
from narcissus.errors import InputError, TooLargeError
from narcissus.game import Game
from narcissus.knowledge import Candidates, Hidden, Hiding, KnownRows, Told
from narcissus.mechanisms import (
    Cipher,
    CountingQuery,
    ExactAverage,
    Identity,
    KAnonymity,
    MultiplyHash,
    NoisyAverage,
    Parallel,
    Parity,
    PublicKey,
    RandomizedResponse,
    Sha256,
    Subsample,
    XorHalf,
)
from narcissus.success.relations import (
    AnyOf,
    AtLeast,
    CloseAndUnique,
    FirstBit,
    Hamming,
    Isolates,
    Member,
    Pinned,
    Prefix,
    RandomRow,
    SameImage,
    TablePredicate,
)
from narcissus.worlds import (
    Bits,
    Finite,
    MonaLisa,
    Neighbours,
    Pairs,
    RandomNeighbours,
    Records,
    Superset,
    Tardos,
    Uniform,
)
from narcissus.worlds.base import bernoulli

ALARM = 1e-6


def within(successes: int, trials: int, rate: float) -> bool:
    """Tell whether a count is plausible: two-sided binomial, false alarm rate 1e-6."""
    return (
        stats.binom.ppf(ALARM / 2, trials, rate)
        <= successes
        <= stats.binom.isf(ALARM / 2, trials, rate)
    )


@pytest.mark.parametrize("rate", [0.0, 1e-3, 0.3, 0.5, 1 / 256, 0.999, 1.0])
def test_bernoulli_has_the_rate_it_is_given(rate):
    bits = bernoulli(np.random.default_rng(1), rate, (400, 500))
    assert within(int(bits.sum()), bits.size, rate)
    assert set(np.unique(bits)) <= {0, 1}


def test_bernoulli_takes_a_rate_for_each_column_and_shape():
    rates = np.array([0.0, 1 / 300, 0.7, 1.0])
    bits = bernoulli(np.random.default_rng(2), rates, (200_000, 4))
    for column, rate in zip(bits.T, rates, strict=True):
        assert within(int(column.sum()), len(column), rate)
    mixed = bernoulli(np.random.default_rng(3), rates[:, None], (4, 50_000))
    for row, rate in zip(mixed, rates, strict=True):
        assert within(int(row.sum()), row.size, rate)


@pytest.mark.parametrize(
    "world",
    [
        Bits(3, [0.2, 0.5, 0.9]),
        Records(2, [0.5, 0.3, 0.2]),
        Records(2, [[0.5, 0.5], [0.1, 0.9]]),
        Uniform(2, 1, 3),
        Finite([[0, 1], [1, 1], [0, 0]], [[0.2, 0.3, 0.5], [0.9, 0.1, 0.0]], [0.25, 0.75]),
        Pairs([[[0, 1], [1, 1]], [[0, 0], [1, 0]]], [0.2, 0.8]),
        RandomNeighbours(2),
        MonaLisa(2, 1, 0.3),
    ],
    ids=lambda w: type(w).__name__,
)
def test_drawn_worlds_match_their_enumeration(world):
    """Joint law of data set and fresh data set, against the enumeration, cell by cell."""
    trials = 60_000
    rng = np.random.default_rng(5)
    draw = world.draw(trials, rng)
    fresh = world.fresh(draw, rng)
    written = world.enumerate()
    joint = (written.weight[:, None, None] * written.sample[:, :, None]) * written.fresh[:, None]
    joint = joint.sum(axis=0)
    assert joint.sum() == pytest.approx(1)
    keys = [np.asarray(s).astype(int).tobytes() for s in written.data]
    chance: dict = {}
    for (i, a), (j, b) in itertools.product(enumerate(keys), enumerate(keys)):
        chance[a, b] = chance.get((a, b), 0) + joint[i, j]
    counts: dict = {}
    for s, t in zip(np.asarray(draw.data).astype(int), np.asarray(fresh).astype(int), strict=True):
        key = s.tobytes(), t.tobytes()
        counts[key] = counts.get(key, 0) + 1
    assert set(counts) <= {k for k, v in chance.items() if v > 0}
    for key, rate in chance.items():
        assert within(counts.get(key, 0), trials, min(1.0, rate))
    assert world.count() == len(written.data)


def test_neighbours_list_every_pair_once():
    world = Neighbours(2, 3)
    assert (RandomNeighbours(2, 3).pairs.sets == world.pairs.sets).all()
    assert len(world.members) == len(world.pairs.sets)
    assert len(world.pairs.sets) == 9 * 2 * 2 // 2
    for a, b in world.pairs.sets:
        assert (a != b).sum() == 1
    with pytest.raises(InputError, match="4096"):
        Neighbours(20, 2)
    with pytest.raises(TooLargeError, match="2,304 pairs"):
        RandomNeighbours(9).enumerate()


@pytest.mark.states("Kaplan et al. 2025", "Definition 3.3")
def test_tardos_shares_rows_as_often_as_it_should():
    world = Tardos(40, 200, 10)  # 200 bits: equal rows are the same people
    rng = np.random.default_rng(6)
    draw = world.draw(3000, rng)
    fresh = world.fresh(draw, rng)
    shared = (draw.data[:, :, None] == fresh[:, None]).all(axis=3).sum(axis=(1, 2))
    law = stats.hypergeom(40, 10, 10)
    for count in range(7):
        assert within(int((shared == count).sum()), 3000, float(law.pmf(count)))
    # Column counts of a data set are uniform on 0 .. n, under Laplace's rule.
    ones = draw.data[:, :, 0].sum(axis=1)
    for count in range(11):
        assert within(int((ones == count).sum()), 3000, 1 / 11)
    # Columns of the fresh rows that are not shared follow the same hidden rates.
    left = np.corrcoef(draw.data.mean(axis=1)[:, 0], fresh.mean(axis=1)[:, 0])[0, 1]
    assert left > 0.7


@pytest.mark.states("Kaplan et al. 2025", "Observation 4.2")
def test_tardos_given_rows_keeps_them_and_mixes_the_last():
    world = Tardos(20, 100, 5)
    rng = np.random.default_rng(7)
    draw = world.draw(4000, rng)
    side = KnownRows(4)
    known = side.reveal(world, draw, rng)
    fresh = side.fresh(world, draw, known, rng)
    assert (fresh[:, :4] == draw.data[:, :4]).all()
    same = (fresh[:, 4] == draw.data[:, 4]).all(axis=1)
    assert within(int(same.sum()), 4000, 1 / (20 - 5 + 1))  # Observation 4.2, corrected


def test_candidates_condition_on_the_pair():
    world = Tardos(10, 300, 3)
    rng = np.random.default_rng(8)
    draw = world.draw(4000, rng)
    side = Candidates()
    pair = side.reveal(world, draw, rng)
    among = (draw.data[:, :, None] == pair[:, None]).all(axis=3).any(axis=1)
    assert among.any(axis=1).all()
    same = (pair[:, 0] == pair[:, 1]).all(axis=1)
    assert within(int(same.sum()), 4000, 1 / 10)
    fresh = side.fresh(world, draw, pair, rng)
    inside = (fresh[:, :, None] == pair[:, None]).all(axis=3).any(axis=1)
    assert inside.any(axis=1).all()
    # S and T have the same law given the pair, so both rows are in equally often.
    assert within(int(inside[~same].all(axis=1).sum()), int((~same).sum()), 2 / 9)
    assert within(int(among[~same].all(axis=1).sum()), int((~same).sum()), 2 / 9)


def test_surprisal_of_candidates_by_enumeration_of_who_is_who():
    """Rows as labels: P(v = a | K, the others), counted over all samples and pairs.

    With 400 bits people have rows of their own, so that bits are as good as labels.
    """
    total, n = 7, 3
    weights: dict = {}
    for sample in itertools.combinations(range(total), n):
        for inside, other in itertools.product(sample, range(total)):
            for pair in ((inside, other), (other, inside)):
                for v in sample:
                    others = tuple(x for x in sample if x != v)
                    key = (pair, others)
                    weights.setdefault(key, {})
                    weights[key][v] = weights[key].get(v, 0) + 1
    alone = weights[(0, 1), (2, 3)]
    assert alone[0] / sum(alone.values()) == pytest.approx(0.5)
    company = weights[(0, 1), (1, 3)]
    assert company[0] / sum(company.values()) == pytest.approx(2 / (total - n + 2))
    twins = weights[(0, 0), (1, 2)]
    assert twins[0] / sum(twins.values()) == 1
    outside = weights[(0, 1), (0, 1)]  # K among the others: any of the rest
    assert outside[2] / sum(outside.values()) == pytest.approx(1 / (total - n + 1))
    world = Tardos(total, 400, n)
    rng = np.random.default_rng(9)
    draw = world.draw(200, rng)
    side, first, last = Candidates(), np.zeros(200, dtype=int), np.full(200, 2)
    stranger = bernoulli(rng, draw.nature.rates, (200, 400))
    pair = np.stack([draw.data[:, 0], stranger], axis=1)
    assert side.surprisal(world, draw, pair, first) == pytest.approx(1.0)
    both = np.stack([draw.data[:, 0], draw.data[:, 1]], axis=1)
    told = side.surprisal(world, draw, both, first)
    assert told == pytest.approx(math.log2((total - n + 2) / 2))
    same = np.stack([draw.data[:, 0], draw.data[:, 0]], axis=1)
    assert side.surprisal(world, draw, same, first) == pytest.approx(0.0)
    # A row outside K is a stranger to K: as surprising as it was, and as it is nobody's double
    # a little more, by the chance that the last row is none of the candidates.
    plain = world.surprisal(draw, last)
    assert side.surprisal(world, draw, same, last) == pytest.approx(plain)
    assert side.surprisal(world, draw, both, last) == pytest.approx(plain)
    # With one candidate among the others the other one may be the last row, or else has told
    # something about the rates.
    bits = side.surprisal(world, draw, pair, last)
    ones = draw.data[:, :2].sum(axis=1) + stranger
    chance = np.where(draw.data[:, 2] == 1, ones + 1, n + 1 - ones) / (n + 2)
    expected = math.log2((total - n + 2) / (total - n)) - np.log2(chance).sum(axis=1)
    assert bits == pytest.approx(expected)


def test_tardos_surprisal_is_the_rule_of_succession():
    world = Tardos(10, 3, 4)
    draw = world.draw(50, np.random.default_rng(10))
    bits = world.surprisal(draw, np.full(50, 1))
    for trial in range(50):
        others = np.delete(draw.data[trial], 1, axis=0).sum(axis=0)
        one = (others + 1) / 5
        chance = np.where(draw.data[trial, 1] == 1, one, 1 - one)
        assert bits[trial] == pytest.approx(-np.log2(chance).sum())


@pytest.mark.states("Kaplan et al. 2025", "Example 1.5")
def test_superset_worlds_and_lists():
    rng = np.random.default_rng(11)
    world = Superset(5, 40, 30, trivial=0.5)
    draw = world.draw(300, rng)
    zero = (draw.data == 0).all(axis=2)
    assert within(int(zero.sum()), zero.size, 0.5)
    listed = (draw.data[:, :, None] == draw.nature[:, None]).all(axis=3).any(axis=2)
    assert (listed | zero).all()
    uniform = Uniform(4, 40)
    draw = uniform.draw(300, rng)
    side = Hiding(50)
    known = side.reveal(uniform, draw, rng)
    assert known.shape == (300, 50, 40)
    inside = (draw.data[:, :, None] == known[:, None]).all(axis=3).any(axis=2)
    assert inside.all()
    first = (known[:, :1] == draw.data[:, :1]).all(axis=(1, 2))
    assert first.mean() < 0.2  # the order is random
    fresh = side.fresh(uniform, draw, known, rng)
    again = (fresh[:, :, None] == draw.data[:, None]).all(axis=3).any(axis=(1, 2))
    assert within(int(again.sum()), 300, 1 - math.comb(46, 4) / math.comb(50, 4))


@pytest.mark.states("Cohen et al. 2024", "section 1.1")
def test_mona_lisa_baseline_is_exact():
    world = MonaLisa(4, 3, 0.3)
    rng = np.random.default_rng(12)
    data = world.draw(40_000, rng).data
    for guess in ([0, 0, 0], [1, 0, 1]):
        attempt = np.tile(np.array(guess), (len(data), 1))
        rate = Member().baseline(world, attempt[:1])[0]
        assert within(int(Member().holds(data, attempt, rng).sum()), len(data), rate)
    assert Member().best(world) == pytest.approx(1 - (0.7 * 7 / 8) ** 4)


@pytest.mark.parametrize(
    ("relation", "world", "attempt"),
    [
        (Pinned(2), Bits(5, [0.1, 0.9, 0.5, 0.3, 0.7]), [[0, 3], [1, 0]]),
        (Prefix(2), Bits(4, [0.1, 0.9, 0.5, 0.3]), [0, 1]),
        (Member(), Records(3, [0.5, 0.3, 0.2]), 2),
        (Member(), Uniform(3, 2, 3), [0, 2]),
        (Hamming(0.25), Uniform(3, 8), [0, 1, 0, 1, 0, 1, 0, 1]),
    ],
    ids=["pinned", "prefix", "member", "rows", "hamming"],
)
def test_exact_baselines_match_play(relation, world, attempt):
    rng = np.random.default_rng(13)
    data = world.draw(40_000, rng).data
    many = np.tile(np.asarray(attempt), (len(data), *[1] * np.ndim(attempt)))
    rate = float(relation.baseline(world, many[:1])[0])
    assert within(int(relation.holds(data, many, rng).sum()), len(data), rate)


# SciPy 1.17's binomial distribution function gives 0 for the last two.
@pytest.mark.parametrize(("d", "allowed"), [(12, 3), (1000, 2), (1116, 37), (1193, 32)])
def test_the_baseline_of_near_rows_by_exact_integers(d, allowed):
    rows = Fraction(sum(math.comb(d, j) for j in range(allowed + 1)), 2**d)
    found = Hamming(allowed / d).baseline(Uniform(3, d), np.zeros((1, d)))
    assert found == pytest.approx(float(1 - (1 - rows) ** 3), rel=1e-11, abs=0)


def test_pinned_refuses_the_same_place_twice():
    twice = np.array([[[1, 1], [0, 0]]])
    data = np.zeros((1, 4), dtype=int)
    assert not Pinned(2).holds(data, twice, np.random.default_rng(0))[0]
    assert Pinned(2).baseline(Bits(4), twice)[0] == 0


def test_relations_by_hand():
    rng = np.random.default_rng(0)
    data = np.array([[[0, 0], [10, 10], [11, 10]]])
    assert Member().holds(data, np.array([[10, 10]]), rng)[0]
    assert not Member().holds(data, np.array([[10, 0]]), rng)[0]
    unique = CloseAndUnique(close=1.5, unique=5)
    assert unique.holds(data, np.array([[1, 1]]), rng)[0]
    assert not unique.holds(data, np.array([[10, 10]]), rng)[0]  # its neighbour is close
    three = [np.array([[0, 0], [11, 10], [5, 5]])]
    assert AtLeast(2).holds(data, three, rng)[0]
    assert not AtLeast(3).holds(data, three, rng)[0]
    assert AtLeast(3, close=1.0).holds(data, three, rng)[0]
    assert not AtLeast(1).holds(data, [np.empty((0, 2))], rng)[0]
    lists = [np.array([[5, 5], [0, 0]])]
    assert AnyOf(Member()).holds(data, lists, rng)[0]
    assert not AnyOf(Member(), 2).holds(data, lists, rng)[0]
    assert FirstBit().holds(np.array([[1, 0]]), np.array([1]), rng)[0]
    bits = np.array([[[0, 1, 1, 0], [1, 1, 1, 1]]])
    assert Hamming(0.25).holds(bits, np.array([[1, 1, 1, 0]]), rng)[0]
    assert not Hamming(0.2).holds(bits, np.array([[1, 1, 1, 0]]), rng)[0]
    table = TablePredicate(np.array([0, 1, 2]), np.array([[True, False, True]]))
    assert Isolates().holds(np.array([[0, 1, 1]]), table, rng)[0]
    assert not Isolates().holds(np.array([[0, 2, 1]]), table, rng)[0]
    assert RandomRow().probability(np.array([[0, 2, 1]]), table)[0] == pytest.approx(2 / 3)
    assert not Isolates().holds(np.array([[0, 1]]), [None], rng)[0]
    with pytest.raises(InputError, match="predicates"):
        Isolates().holds(np.array([[0, 1]]), np.array([1]), rng)


def test_mechanisms_by_hand():
    rng = np.random.default_rng(0)
    data = np.array([[[0, 1, 1, 1], [1, 1, 0, 0]]], dtype=np.uint8)
    assert ExactAverage().release(data, rng).tolist() == [[0.5, 1.0, 0.5, 0.5]]
    assert Parity().release(data, rng).tolist() == [[[1, 0], [0, 0]]]
    both = Parallel([XorHalf("second"), XorHalf("xor")]).release(data[:, 0], rng)
    assert [part.tolist() for part in both[0]] == [[1, 1], [1, 0]]
    shares = np.array([[0, 0, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]])
    cut = CountingQuery(0.3).release(shares, rng)
    assert np.isnan(cut).tolist() == [True, False, True]
    ten = np.r_[np.ones(3), np.zeros(7)][None]
    assert CountingQuery(0.3).release(ten, rng)[0] == pytest.approx(0.3)  # not cut by rounding
    some = Subsample(2).release(np.arange(5)[None], rng)[0]
    assert len(set(some.tolist())) == 2
    noisy = NoisyAverage(0.5)
    many = noisy.release(np.zeros((50_000, 10, 1)), rng)[:, 0]
    assert np.abs(many).mean() == pytest.approx(1 / (0.5 * 10), rel=0.05)
    assert noisy.privacy(np.zeros((1, 10, 4))) == (2.0, 0.0)
    ranges = KAnonymity(2).release(np.array([[[5, 1], [1, 9], [6, 2], [0, 8], [7, 7]]]), rng)[0]
    assert ranges[0].tolist() == [[0, 1], [8, 9]]
    assert ranges[1].tolist() == [[5, 7], [1, 7]]  # the last group takes the one left over


def test_randomized_response_channel_and_play_agree():
    mechanism = RandomizedResponse(1.0, values=3)
    data = np.array([[0, 2]])
    channel = mechanism.channel(data)
    rows = np.asarray(channel.matrix.todense())[0]
    assert rows.sum() == pytest.approx(1)
    played = mechanism.release(np.tile(data, (60_000, 1)), np.random.default_rng(1))
    for release, rate in zip(channel.releases, rows, strict=True):
        assert within(int((played == release).all(axis=1).sum()), len(played), rate)
    assert rows.max() / rows.min() == pytest.approx(math.exp(2.0))


def test_parallel_channel_multiplies():
    parts = Parallel([RandomizedResponse(0.5), RandomizedResponse(1.0)])
    channel = parts.channel(np.array([[0], [1]]))
    matrix = np.asarray(channel.matrix.todense())
    assert matrix.sum(axis=1) == pytest.approx([1, 1])
    keep = [1 / (1 + math.exp(-e)) for e in (0.5, 1.0)]
    assert matrix.max() == pytest.approx(keep[0] * keep[1])
    assert parts.privacy(np.zeros((1, 1))) == (1.5, 0)
    assert Parallel([Identity()]).privacy(np.zeros((1, 1))) is None


def test_hashes_against_the_standard_library():
    bits = np.random.default_rng(2).integers(0, 2, (5, 20)).astype(np.uint8)
    for row, image in zip(bits, Sha256(12).release(bits, np.random.default_rng(0)), strict=True):
        digest = hashlib.sha256(np.packbits(row).tobytes()).digest()
        assert image.tolist() == np.unpackbits(np.frombuffer(digest, np.uint8))[:12].tolist()
    words = np.random.default_rng(3).integers(0, 2, (50, 64)).astype(np.uint8)
    mechanism = MultiplyHash()
    images = mechanism.release(words, np.random.default_rng(0))
    assert (mechanism.invert(images) == words).all()
    number = int("".join(map(str, words[0])), 2) * 0x9E3779B97F4A7C15 % 2**64
    assert int("".join(map(str, images[0])), 2) == number


def test_ciphers_decrypt_and_encrypt_anew():
    rng = np.random.default_rng(4)
    data = np.zeros((2, 33), dtype=np.uint8)
    for scheme, size in (("aes", 160), ("one-time-pad", 32), ("repeating-xor", 32)):
        release = Cipher(scheme).release(data, rng)
        assert release.shape == (2, size)
        assert (release[0] != release[1]).any()
    broken = Cipher("repeating-xor", key_bits=4)
    text = broken.release(data, rng)[0]
    assert (broken.decrypt(text[None, :4], text) == 0).all()
    public = PublicKey("x25519")
    _, key = public.keys(rng)
    assert public.encrypt(key, b"one", rng) != public.encrypt(key, b"one", rng)
    fixed = PublicKey("deterministic")
    assert fixed.encrypt(key, b"one", rng) == fixed.encrypt(key, b"one", rng)
    assert fixed.interact(np.array([1]), Reencryption(), rng) == 1


def test_public_key_messages_can_be_opened_by_their_owner():
    """A real scheme: the owner's private key recovers the message."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import x25519
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    rng = np.random.default_rng(5)
    scheme = PublicKey()
    private, public = scheme.keys(rng)
    sealed = scheme.encrypt(public, b"hello", rng)
    shared = private.exchange(x25519.X25519PublicKey.from_public_bytes(sealed[:32]))
    key = HKDF(hashes.SHA256(), 16, None, b"narcissus").derive(shared)
    assert AESGCM(key).decrypt(bytes(12), sealed[32:], None) == b"hello"


def test_attacks_refuse_games_they_do_not_fit():
    tardos = Game(Tardos(10, 4, 3), ExactAverage(), Member())
    for attack in (Subtraction(), TwoCandidates(), Inversion(), BucketHashing(), KeySearch()):
        with pytest.raises(InputError, match=r"needs|no inverse"):
            attack.prepare(tardos)
    with pytest.raises(InputError, match="prepare"):
        TryInputs().attempt(np.zeros((1, 4)), None, np.random.default_rng(0))


def test_majority_and_subtraction_do_what_they_say():
    rng = np.random.default_rng(6)
    data = Uniform(5, 6).draw(20, rng).data
    average = ExactAverage().release(data, rng)
    assert (Majority().attempt(average, None, rng) == (data.mean(axis=1) >= 0.5)).all()
    assert (Subtraction().attempt(average, data[:, :4], rng) == data[:, 4]).all()


def test_bucket_weights_are_upper_limits():
    world = Uniform(30, 3, 10)
    game = Game(world, KAnonymity(5), Isolates())
    rng = np.random.default_rng(7)
    attack = BucketHashing().prepare(game)
    release = game.mechanism.release(world.draw(20, rng).data, rng)
    predicates = attack.attempt(release, None, rng)
    weights = predicates.weight(world)
    everyone = np.asarray(list(itertools.product(range(10), repeat=3)))
    true = predicates(np.tile(everyone, (20, 1, 1))).mean(axis=1)
    assert (true <= weights + 1e-12).all()
    assert true.mean() == pytest.approx((weights / 5).mean(), rel=0.5)


def test_side_information_refuses_worlds_it_cannot_condition_on():
    for side, world in (
        (Candidates(), Bits(4)),
        (Hidden(), Bits(4)),
        (Hiding(10), Bits(4)),
        (KnownRows(2), Pairs([[[0], [1]]])),
    ):
        with pytest.raises(InputError, match="not defined for the world"):
            Game(world, Identity(), Prefix(), side=side)
    with pytest.raises(InputError, match="at most 4"):
        Game(Bits(4), Identity(), Prefix(), side=KnownRows(5))
    noise = np.random.default_rng(0)
    with pytest.raises(InputError, match="not random"):
        Game(Bits(4), Identity(), Prefix(), side=Told(lambda s: noise.random()))


def test_told_side_information_conditions_and_gives_up():
    world, rng = Bits(6), np.random.default_rng(8)
    draw = world.draw(50, rng)
    side = Told(lambda s: int(s.sum()))
    known = side.reveal(world, draw, rng)
    fresh = side.fresh(world, draw, known, rng)
    assert fresh.sum(axis=1).tolist() == known
    impatient = Told(lambda s: s.tobytes(), tries=1)
    with pytest.raises(InputError, match=r"contradicts.*tries"):
        impatient.fresh(Bits(60), Bits(60).draw(5, rng), [b"never"] * 5, rng)


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
