"""Mechanisms on rows and bits: everything, nothing, parts, averages, counts and noise, by hand."""

import itertools
import math

import numpy as np
import pytest
from scipy import sparse, stats

from narcissus.channels import channel, local_dp_epsilon
from narcissus.errors import InputError
from narcissus.mechanisms import (
    Constant,
    CountingQuery,
    ExactAverage,
    Identity,
    KAnonymity,
    NoisyAverage,
    OwnMechanism,
    Parity,
    RandomizedResponse,
    Subsample,
    ThroughChannel,
    XorHalf,
    published_cut,
)
from narcissus.mechanisms.base import is_interactive


def test_everything_and_nothing():
    rng = np.random.default_rng(0)
    data = np.array([[1, 2], [3, 4], [1, 2]])
    assert Identity().release(data, rng) is data
    assert Identity().channel(data).matrix.toarray().argmax(axis=1).tolist() in (
        [0, 1, 0],
        [1, 0, 1],
    )
    assert (Constant().release(data, rng) == 0).all()
    assert Constant().channel(data).matrix.toarray().tolist() == [[1.0]] * 3
    assert Constant().privacy(data) == (0.0, 0.0)


def test_the_rows_of_a_subsample_are_rows_of_the_data_set_none_of_them_twice():
    found = Subsample(3).release(np.tile(np.arange(5), (200, 1)), np.random.default_rng(1))
    assert found.shape == (200, 3)
    assert all(len(set(rows)) == 3 for rows in found.tolist())


def test_played_it_is_as_written_out(within):
    """Each of the 12 ordered pairs of four rows; false alarms of all of them once in 1e5."""
    data = np.array([[3, 1, 4, 9]])
    written = Subsample(2).channel(data)
    rates = dict(zip(map(tuple, written.releases), written.matrix.toarray()[0], strict=True))
    assert set(rates) == set(itertools.permutations([3, 1, 4, 9], 2))
    assert set(rates.values()) == {1 / 12}
    assert [Subsample(k).outcomes(4) for k in range(1, 5)] == [4, 12, 24, 24]
    played = Subsample(2).release(np.repeat(data, 12_000, axis=0), np.random.default_rng(2))
    for pair in rates:
        assert within(int((played == pair).all(axis=1).sum()), 12_000, 1 / 12)


def test_rows_that_are_alike_add_up():
    """Of {a, a, b}, two rows: aa with 1/3, ab and ba with 1/3 each."""
    written = Subsample(2).channel(np.array([[0, 0, 1]]))
    rates = dict(zip(map(tuple, written.releases), written.matrix.toarray()[0], strict=True))
    assert rates == pytest.approx({(0, 0): 1 / 3, (0, 1): 1 / 3, (1, 0): 1 / 3})


def test_the_function_releases_each_data_set():
    data = np.arange(6).reshape(3, 2)
    made = OwnMechanism(lambda one, rng: one.sum()).release(data, np.random.default_rng(0))
    assert list(made) == [1, 5, 9]


def test_what_the_function_raises_names_it():
    def broken(data, rng):
        raise ValueError("oh")

    with pytest.raises(InputError, match="the mechanism `broken` raised ValueError: oh"):
        OwnMechanism(broken).release(np.zeros((1, 2)), np.random.default_rng(0))


def test_a_function_that_yields_is_talked_with():
    def scheme(data, rng):
        question = yield "hello"
        while question >= 0:
            question = yield data[question]

    made = OwnMechanism(scheme)
    assert is_interactive(made)
    assert not is_interactive(OwnMechanism(lambda data, rng: data))
    talk = made.answers([5, 7], np.random.default_rng(0))
    assert [next(talk), talk.send(1), talk.send(0)] == ["hello", 7, 5]


RNG = np.random.default_rng(0)


def test_the_mean_of_the_rows():
    data = np.array([[[0, 1, 1, 1], [1, 1, 0, 0]]], dtype=np.uint8)
    assert ExactAverage().release(data, RNG).tolist() == [[0.5, 1.0, 0.5, 0.5]]
    assert ExactAverage().release(data[:, 1], RNG).tolist() == [0.5]


@pytest.mark.parametrize("n", [256, 257, 258, 1000])
def test_sums_of_bytes_do_not_overflow(n):
    """257 times 255 is the most that 16 bits hold."""
    data = np.full((1, n, 1), 255, dtype=np.uint8)
    assert ExactAverage().release(data, RNG).tolist() == [[255.0]]


def test_numbers_that_are_no_integers_are_not_cut():
    data = np.array([[[0.25, -1.5], [0.5, 0.25]]])
    assert ExactAverage().release(data, RNG).tolist() == [[0.375, -0.625]]


def test_data_sets_with_the_same_mean_share_a_release():
    data = np.array([[[0], [1], [1]], [[1], [1], [0]], [[0], [0], [1]]])
    written = ExactAverage().channel(data)
    assert sorted(written.releases.ravel()) == pytest.approx([1 / 3, 2 / 3])
    shown = written.releases[written.matrix.toarray().argmax(axis=1), 0]
    assert shown.tolist() == [2 / 3, 2 / 3, 1 / 3]


def test_the_noise_is_laplace_of_scale_one_over_epsilon_n():
    """Kolmogorov-Smirnov with SciPy's distribution, seeded; a scale of 1.05 has p below 1e-16."""
    many = NoisyAverage(0.5).release(np.zeros((50_000, 10, 2)), np.random.default_rng(3)).ravel()
    assert stats.kstest(many, stats.laplace(scale=0.2).cdf).pvalue > 1e-6


@pytest.mark.states("Kaplan et al. 2025", "Theorem 4.7")
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3)])
def test_the_whole_release_is_epsilon_d_private(n, d):
    """One row changes each mean by at most 1/n: the density ratio of Laplace noise, at its worst.

    All zeros against one row of ones reaches the bound, to the left of both means.
    """
    epsilon = 0.7
    mechanism = NoisyAverage(epsilon)
    ones, zeros = np.zeros((1, n, d)), np.zeros((1, n, d))
    ones[0, 0] = 1
    said, delta = mechanism.privacy(ones)
    assert delta == 0
    release = mechanism.release(np.repeat(ones, 4000, axis=0), np.random.default_rng(1))
    noise = stats.laplace(scale=1 / (epsilon * n))
    ratio = sum(noise.logpdf(release - x.mean(axis=1)).sum(axis=1) * s
                for x, s in ((zeros, 1), (ones, -1)))  # fmt: skip
    assert np.abs(ratio).max() <= said + 1e-9
    assert ratio.max() == pytest.approx(epsilon * d)
    assert said == pytest.approx(epsilon * d)


def test_nothing_is_said_of_data_beyond_the_unit_cube():
    assert NoisyAverage(1.0).privacy(np.full((1, 2, 3), 1.01)) is None
    assert NoisyAverage(1.0).privacy(np.full((1, 2, 3), -0.01)) is None
    assert NoisyAverage(1.0).privacy(np.ones((1, 2))) == (1.0, 0.0)


@pytest.mark.parametrize("n", [1, 9, 10, 11])
@pytest.mark.parametrize("tenths", range(6))
def test_it_answers_from_the_cut_on_by_whole_numbers(n, tenths):
    """10 * ones >= tenths * n, from both ends: in integers, where 3/10 is not below .3."""
    data = np.tril(np.ones((n + 1, n), dtype=np.uint8), -1)  # 0, 1, ..., n ones
    found = CountingQuery(tenths / 10).release(data, RNG)
    for ones, share in enumerate(found):
        if 10 * min(ones, n - ones) >= tenths * n:
            assert share == ones / n
        else:
            assert math.isnan(share)


def test_written_out_the_silent_data_sets_share_a_release():
    data = np.array(list(itertools.product((0, 1), repeat=4)))
    written = CountingQuery(0.3).channel(data)
    shares = written.releases[written.matrix.toarray().argmax(axis=1)]
    silent = np.isin(data.sum(axis=1), (0, 1, 3, 4))
    assert np.isnan(shares[silent]).all()
    assert (shares[~silent] == 0.5).all()
    assert len(written.releases) == 2


def test_the_published_cut_follows_the_formula_of_the_paper():
    """At (1, 0.01, 2100), by hand: (1 - .01) e = 2.69110."""
    gamma, tau = published_cut(1, 0.01, 2100)
    assert gamma == pytest.approx((6 * 2.6910990 - 2) / 1.6910990, rel=1e-7)
    assert tau == pytest.approx((gamma**2 + 2 * gamma) * 5.9914645 / 2100, rel=1e-7)


def test_the_least_number_of_records_that_it_names_suffices():
    with pytest.raises(InputError, match=r"at least (\d+)") as caught:
        published_cut(1, 0.01, 500)
    least = int(str(caught.value).rpartition(" ")[2])
    assert published_cut(1, 0.01, least)[1] <= 0.25
    with pytest.raises(InputError, match="at least"):
        published_cut(1, 0.01, least - 1)


def test_ranges_by_hand():
    """Rows are sorted by the first attribute, then the next; the last group takes what is left."""
    data = np.array([[[5, 1], [1, 9], [6, 2], [0, 8], [7, 7]]])
    assert KAnonymity(2).release(data, RNG).tolist() == [[[[0, 1], [8, 9]], [[5, 7], [1, 7]]]]
    data = np.array([[[1, 5], [0, 9], [1, 0], [0, 2]]])
    assert KAnonymity(2).release(data, RNG).tolist() == [[[[0, 0], [2, 9]], [[1, 1], [0, 5]]]]
    written = KAnonymity(2).channel(data.repeat(3, axis=0))
    assert written.releases.tolist() == KAnonymity(2).release(data, RNG).tolist()


@pytest.mark.parametrize("n", [3, 8, 11])
@pytest.mark.parametrize("k", [2, 3])
def test_every_range_covers_at_least_k_rows_and_every_row_is_in_one(n, k):
    data = np.random.default_rng(n).integers(0, 6, (20, n, 3))
    for rows, ranges in zip(data, KAnonymity(k).release(data, RNG), strict=True):
        inside = (rows[:, None] >= ranges[..., 0]) & (rows[:, None] <= ranges[..., 1])
        member = inside.all(axis=2)
        assert len(ranges) == n // k
        assert (member.sum(axis=0) >= k).all()
        assert member.any(axis=1).all()


def test_parities_of_neighbours_by_hand():
    data = np.array([[[0, 1, 1, 1], [1, 1, 0, 0]]], dtype=np.uint8)
    assert Parity().release(data, RNG).tolist() == [[[1, 0], [0, 0]]]


def test_halves_by_hand():
    data = np.array([[0, 1, 1, 1], [1, 0, 1, 0]], dtype=np.uint8)
    assert XorHalf("second").release(data, RNG).tolist() == [[1, 1], [1, 0]]
    assert XorHalf("xor").release(data, RNG).tolist() == [[1, 0], [0, 0]]


EVERY = np.array(list(itertools.product((0, 1), repeat=6)), dtype=np.uint8)


@pytest.mark.parametrize(
    ("mechanism", "data"),
    [(Parity(), EVERY[:, None]), (XorHalf("second"), EVERY), (XorHalf("xor"), EVERY)],
    ids=repr,
)
def test_each_bit_stays_a_fair_coin_whatever_is_released(mechanism, data):
    """By enumeration of all strings; of halves, each bit of the first one."""
    hidden = data.reshape(64, 6)[:, : 3 if isinstance(mechanism, XorHalf) else 6]
    written = mechanism.channel(data)
    shown = written.matrix.toarray().argmax(axis=1)
    assert len(written.releases) == 8
    for release in range(8):
        assert (hidden[shown == release].mean(axis=0) == 0.5).all()


def test_randomized_response_channel_and_play_agree(within):
    mechanism = RandomizedResponse(1.0, values=3)
    data = np.array([[0, 2]])
    channel = mechanism.channel(data)
    rows = np.asarray(channel.matrix.todense())[0]
    assert rows.sum() == pytest.approx(1)
    played = mechanism.release(np.tile(data, (60_000, 1)), np.random.default_rng(1))
    for release, rate in zip(channel.releases, rows, strict=True):
        assert within(int((played == release).all(axis=1).sum()), len(played), rate)
    assert rows.max() / rows.min() == pytest.approx(math.exp(2.0))


ROWS = np.array([[0.7, 0.3, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_outputs_follow_the_rows(kind):
    mechanism, count = ThroughChannel(channel(kind(ROWS))), 20_000
    secrets = np.tile([0, 1], count)
    outputs = mechanism.release(secrets, np.random.default_rng(1))
    for secret, row in enumerate(ROWS):
        seen = np.bincount(outputs[secrets == secret], minlength=4)
        assert (seen[row == 0] == 0).all()
        # a false alarm once in a million
        assert stats.chisquare(seen[row > 0], row[row > 0] * count).pvalue > 1e-6


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_written_out_it_is_the_channel(kind):
    mechanism = ThroughChannel(channel(kind(ROWS)))
    written = mechanism.channel(np.array([1, 0, 1]))
    assert (written.matrix.toarray() == ROWS[[1, 0, 1]]).all()
    assert written.releases.tolist() == [0, 1, 2, 3]
    assert mechanism.privacy(np.array([0])) == (local_dp_epsilon(ROWS), 0.0)


def test_a_data_set_of_one_record_is_a_secret():
    """As worlds of pairs and lists of data sets give them: an axis of records."""
    mechanism = ThroughChannel(channel(np.eye(3)))
    sets = np.array([[2], [0]])
    assert mechanism.release(sets, np.random.default_rng(0)).tolist() == [2, 0]
    assert (mechanism.channel(sets).matrix.toarray() == np.eye(3)[[2, 0]]).all()


def zeros(*shape):
    return np.zeros(shape, dtype=int)


@pytest.mark.parametrize(
    ("refused", "says"),
    [
        (lambda: Subsample(0), "rows"),
        (lambda: Subsample(4).channel(zeros(1, 3)), "rows"),
        (lambda: Subsample(4).release(zeros(1, 3), RNG), "rows"),
        (lambda: NoisyAverage(0.0), "epsilon"),
        (lambda: NoisyAverage(-1.0), "epsilon"),
        (lambda: NoisyAverage(math.inf), "epsilon"),
        (lambda: CountingQuery(-0.1), "tau"),
        (lambda: CountingQuery(0.51), "tau"),
        (lambda: CountingQuery().release(zeros(3, 2, 2), RNG), "one value each"),
        (lambda: published_cut(0.001, 0.5, 2100), r"e\^epsilon > 1"),
        (lambda: published_cut(0.0, 0.1, 2100), "epsilon"),
        (lambda: published_cut(1.0, 0.0, 2100), "delta"),
        (lambda: published_cut(1.0, 1.0, 2100), "delta"),
        (lambda: published_cut(1.0, 0.1, 0), "`n`"),
        (lambda: KAnonymity(1), "`k`"),
        (lambda: KAnonymity(4).release(zeros(1, 3, 2), RNG), "at most the number of rows, 3"),
        (lambda: KAnonymity(2).release(zeros(1, 3), RNG), "rows of attributes"),
        (lambda: Parity().release(zeros(1, 2, 3), RNG), "even number of bits"),
        (lambda: Parity().release(zeros(1, 4), RNG), "even number of bits"),
        (lambda: XorHalf("xor").release(zeros(1, 3), RNG), "even number of bits"),
        (lambda: XorHalf("xor").release(zeros(1, 2, 2), RNG), "even number of bits"),
        (lambda: XorHalf("first"), "part"),
    ],
)
def test_what_cannot_be_released_is_refused(refused, says):
    with pytest.raises(InputError, match=says):
        refused()
