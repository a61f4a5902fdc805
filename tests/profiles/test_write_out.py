"""Small games written out, with their best attackers, against brute force; conversations too."""

from __future__ import annotations

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import pytest

from narcissus import (
    Game,
    load_study,
    memorized_information,
    play,
    profile,
    sampled_profile,
    smallest,
)
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import PureDP, optimal_composition
from narcissus.knowledge import KnownRows, Told
from narcissus.mechanisms import (
    AdaptiveComposition,
    Constant,
    CountingQuery,
    CountQueries,
    ExactAverage,
    Identity,
    Parallel,
    Parity,
    PublicKey,
    RandomizedResponse,
    SparseVector,
    through_channel,
)
from narcissus.profiles import Bayes, write_out, write_out_family
from narcissus.profiles.write_out import MOST, Best, Guesses, amount, conversations
from narcissus.study.shipped import shipped_study
from narcissus.success import FixedBaseline, Resilience, Threshold
from narcissus.success.relations import (
    FirstBit,
    Hamming,
    Isolates,
    Member,
    NamesSecret,
    OneOfPair,
    Own,
    Pinned,
    Prefix,
    RandomRow,
)
from narcissus.worlds import (
    Bits,
    Family,
    Finite,
    Neighbours,
    Pairs,
    Records,
    Secret,
    Tardos,
    Uniform,
)


def brute_force(prior, channel, holds, factor: Fraction) -> Fraction:
    """Give max over all deterministic attackers who may abstain, trying each one."""
    sets, releases, guesses = range(len(prior)), range(len(channel[0])), range(len(holds))
    best = Fraction(0)
    for attacker in itertools.product([None, *guesses], repeat=len(releases)):
        success = baseline = Fraction(0)
        for y, z in zip(releases, attacker, strict=True):
            if z is None:
                continue
            mass = [prior[s] * channel[s][y] for s in sets]
            success += sum(mass[s] * holds[z][s] for s in sets)
            baseline += sum(mass) * sum(prior[t] * holds[z][t] for t in sets)
        best = max(best, success - factor * baseline)
    return best


class TableMechanism:
    """A mechanism given by a channel over data sets that are single numbers."""

    def __init__(self, rows):
        self.rows = np.asarray(rows, dtype=float)

    def release(self, data, rng):
        steps = self.rows.cumsum(axis=1)[:, :-1]
        return (rng.random(len(data))[:, None] >= steps[data[:, 0]]).sum(axis=1)

    def channel(self, data):
        from scipy import sparse

        from narcissus.mechanisms import ReleaseChannel

        return ReleaseChannel(
            np.arange(self.rows.shape[1]), sparse.csr_array(self.rows[data[:, 0]])
        )

    def outcomes(self, n):
        return self.rows.shape[1]


@pytest.mark.states("Narcissus theory", "2")
@pytest.mark.parametrize("seed", range(6))
def test_profile_equals_the_best_of_all_attackers_in_rational_numbers(seed):
    rng = np.random.default_rng(seed)
    sets, releases, guesses = 3, 3, 3

    def parts(count):
        cut = sorted(int(x) for x in rng.integers(1, 20, count - 1))
        whole = [0, *cut, 20]
        return [Fraction(b - a, 20) for a, b in itertools.pairwise(whole)]

    prior = parts(sets)
    channel = [parts(releases) for _ in range(sets)]
    holds = [[int(x) for x in rng.integers(0, 2, sets)] for _ in range(guesses)]
    holds[0][0] = 1
    game = Game(
        Finite([[s] for s in range(sets)], [float(p) for p in prior]),
        TableMechanism([[float(c) for c in row] for row in channel]),
        Own(lambda data, z: bool(holds[z][int(data[0])]), attempts=list(range(guesses))),
    )
    for factor in (Fraction(1), Fraction(3, 2), Fraction(4)):
        expected = float(brute_force(prior, channel, holds, factor))
        got = write_out(game).deltas([math.log(factor)])[0]
        assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("tau", [0.0, 0.3])
def test_lumped_counts_give_the_same_profile_as_all_data_sets(tau):
    class Plain(CountingQuery):
        exchangeable = False

    lumped = profile(Game(Bits(7, 0.3), CountingQuery(tau), Pinned(2)), [0, 0.5, 1])
    plain = profile(Game(Bits(7, 0.3), Plain(tau), Pinned(2)), [0, 0.5, 1])
    assert lumped.data_sets < plain.data_sets
    assert lumped.delta == pytest.approx(plain.delta, abs=1e-13)


@pytest.mark.states("Cohen et al. 2024", "Definition 1.4", "Definition 1.5")
def test_fixed_and_threshold_statements_have_exact_forms():
    exact = write_out(Game(Records(2, [0.5, 0.25, 0.25]), Identity(), Member()))
    least, best = exact.robust(0.0)
    assert best == pytest.approx(0.75)
    assert least == pytest.approx(0.25)
    assert exact.beyond(0.5) == pytest.approx(0.75)  # all but the data set (0, 0)
    assert exact.beyond(0.8) == pytest.approx(1.0)
    assert isinstance(FixedBaseline(0, 0, best), FixedBaseline)
    assert isinstance(Threshold(0.1, 0.5), Threshold)


def test_an_attacker_who_may_not_abstain_gains_less():
    """Three data sets, nothing released: the forced guess loses (e - 1) / 3 at epsilon 1."""
    game = Game(Finite([[0], [1], [2]]), Constant(), Prefix())
    assert write_out(game, abstain=False).sweep([1.0])[0].rates == pytest.approx((1 / 3, 1 / 3))
    assert profile(game, 1.0, abstain=False).delta[0] == 0
    game = Game(Bits(3, 0.1), ExactAverage(), Pinned(1))
    free, forced = (profile(game, 0.5, abstain=a).delta[0] for a in (True, False))
    lines = [b.success - math.exp(0.5) * b.baseline for b in write_out(game).blocks()]
    per_release = np.concatenate(lines).max(axis=0)
    assert free == pytest.approx(np.maximum(per_release, 0).sum())
    assert forced == pytest.approx(max(0.0, per_release.sum()))
    assert forced < free


def test_too_large_says_how_large():
    with pytest.raises(TooLargeError, match=r"1,073,741,824 data sets.*sampl"):
        profile(Game(Bits(30), Identity(), Prefix()))
    with pytest.raises(TooLargeError, match="releases each"):
        profile(Game(Bits(12), RandomizedResponse(1.0), Prefix()), limit=100_000)
    with pytest.raises(TooLargeError, match=r"77,520 populations with 512 data sets"):
        profile(Game(Tardos(13, 3, 3), ExactAverage(), Member()))

    class Drawn(Tardos):
        enumerate = property()

    with pytest.raises(InputError, match=r"world Drawn cannot be written out.*play"):
        profile(Game(Drawn(10, 2, 3), ExactAverage(), Member()))
    with pytest.raises(TooLargeError, match="memorized"):
        memorized_information(Uniform(10, 10), Parity())


def test_numbers_of_thousands_of_digits_are_written_short():
    with pytest.raises(TooLargeError, match=r"about 10\^301030 data sets"):
        profile(Game(Uniform(1000, 1000), Parity(), Member()))


def test_a_relation_that_never_holds_is_refused():
    game = Game(Bits(3), Identity(), Own(lambda s, z: False, attempts=[1, 2]))
    with pytest.raises(InputError, match="never true"):
        profile(game)
    with pytest.raises(InputError, match="list of all attempts"):
        profile(Game(Bits(3), Identity(), Own(lambda s, z: True)))


def test_isolation_profile_counts_all_predicates():
    game = Game(Records(2, [0.5, 0.3, 0.2]), Identity(), Isolates())
    # Different rows can be told apart; equal rows cannot be isolated at all.
    success = 1 - (0.25 + 0.09 + 0.04)
    exact = write_out(game)
    assert exact.rates(0.0)[0] <= success + 1e-12
    assert exact.light(np.zeros(exact.count), 1.0) == pytest.approx(success)


def drawn(seed):
    """A game of three data sets, releases and attempts, in rational numbers and as parts."""
    rng = np.random.default_rng(seed)

    def parts(count):
        cut = sorted(int(x) for x in rng.integers(1, 20, count - 1))
        return [Fraction(b - a, 20) for a, b in itertools.pairwise([0, *cut, 20])]

    prior, channel = parts(3), [parts(3) for _ in range(3)]
    holds = [[int(x) for x in rng.integers(0, 2, 3)] for _ in range(3)]
    holds[0][0] = 1
    game = Game(
        Finite([[s] for s in range(3)], [float(p) for p in prior]),
        TableMechanism([[float(c) for c in row] for row in channel]),
        Own(lambda data, z: bool(holds[z][int(data[0])]), attempts=[0, 1, 2]),
    )
    return game, prior, channel, holds


@pytest.mark.states("Cohen et al. 2024", "Definition 1.4", "Definition 1.5")
@pytest.mark.parametrize("seed", range(6))
def test_the_other_baselines_equal_the_best_of_all_attackers(seed):
    """The fixed one, and attempts that are rarely right without a release."""
    game, prior, channel, holds = drawn(seed)
    exact = write_out(game)
    fixed = [sum(p * h for p, h in zip(prior, row, strict=True)) for row in holds]
    assert exact.fixed == pytest.approx([float(f) for f in fixed], abs=1e-14)

    def success(z, y):
        return sum(prior[s] * channel[s][y] * holds[z][s] for s in range(3))

    best = sum(max(success(z, y) for z in range(3)) for y in range(3))
    for factor in (1.0, 1.5):
        least, blind = exact.robust(math.log(factor))
        assert blind == pytest.approx(float(max(fixed)), abs=1e-14)
        assert least == pytest.approx(max(0.0, float(best) - factor * blind), abs=1e-14)
    for tau in (Fraction(0), *fixed, Fraction(1)):
        allowed = [z for z in range(3) if fixed[z] <= tau]
        light = sum(max((success(z, y) for z in allowed), default=0) for y in range(3))
        assert exact.beyond(float(tau)) == pytest.approx(float(light), abs=1e-14)
    assert exact.rates(-math.inf)[0] == pytest.approx(float(best), abs=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_attacker_is_what_is_played(seed):
    """Its attempts by release gain the delta, by the rational sums and by play."""
    game, prior, channel, holds = drawn(seed)
    exact, factor = write_out(game), Fraction(3, 2)
    gained, success = Fraction(0), Fraction(0)
    for told, y, z, gain in exact.best(math.log(1.5)):
        assert told == 0
        if z < 0:
            assert gain == 0
            continue
        mass = [prior[s] * channel[s][y] for s in range(3)]
        right = sum(m * h for m, h in zip(mass, holds[z], strict=True))
        blind = sum(mass) * sum(p * h for p, h in zip(prior, holds[z], strict=True))
        assert gain == pytest.approx(float(right - factor * blind), abs=1e-14)
        gained, success = gained + right - factor * blind, success + right
    assert exact.delta(math.log(1.5)) == pytest.approx(float(gained), abs=1e-14)
    rates = exact.rates(math.log(1.5))
    assert rates[0] == pytest.approx(float(success), abs=1e-14)
    assert rates[0] - 1.5 * rates[1] == pytest.approx(float(gained), abs=1e-13)
    one = play(game, exact.attacker(math.log(1.5)), trials=4000, stop=False, rng=2).attackers[0]
    # 5 deviations of a share of 4000
    assert one.success.value == pytest.approx(float(success), abs=5 * 0.5 / math.sqrt(4000))


def test_predicates_are_put_together_record_by_record():
    """Membership: the best predicate holds exactly for the rows that gain, at each release."""
    game = Game(Records(2, [0.5, 0.3, 0.2]), ExactAverage(), RandomRow())
    exact = write_out(game)
    assert exact.additive
    played = play(
        game, exact.attacker(0.2), Resilience(0.2), trials=20_000, stop=False, rng=4
    ).attackers[0]
    gain = played.scores.success - math.exp(0.2) * played.scores.baseline
    assert gain.mean() == pytest.approx(
        exact.delta(0.2), abs=5 * float(gain.std()) / math.sqrt(20_000)
    )
    assert not write_out(Game(Bits(2), Identity(), Prefix())).additive


def test_what_is_told_splits_releases():
    """Two of three bits known, their number released: what is told decides the third."""
    exact = write_out(Game(Bits(3), ExactAverage(), Prefix(), side=KnownRows(2)))
    assert len(exact.told) == 4
    assert exact.pairs == 8
    # for each thing that is told two numbers are possible, and then all is known
    gains = [(told, z) for told, y, z, gain in exact.best(0.0) if gain > 0]
    assert len(gains) == 8
    assert {told for told, _ in gains} == set(exact.told)
    assert exact.delta(0.0) == pytest.approx(0.5)
    found = play(
        Game(Bits(3), ExactAverage(), Prefix(), side=KnownRows(2)),
        exact.attacker(0.0),
        trials=50,
        stop=False,
        rng=1,
    ).attackers[0]
    assert found.success.value == 1


def test_epsilon_is_the_least_that_delta_allows():
    exact = write_out(Game(Bits(2), RandomizedResponse(1.0), Prefix()))
    for delta in (0.0, 1e-3, 0.1):
        least = exact.epsilon(delta)
        assert exact.delta(least) <= delta + 1e-15
        assert exact.delta(least - 1e-6) > delta
    assert exact.epsilon(0.9) == 0
    # a data set that is told for sure gains by its prior: log(2^-2) of it is never made up for
    certain = write_out(Game(Bits(2), Identity(), Prefix()))
    assert certain.epsilon(0.0) == pytest.approx(math.log(4), rel=1e-12)
    assert certain.delta(math.log(4) - 1e-9) > 0
    for wrong in (-0.1, 1.5):
        with pytest.raises(InputError, match="delta"):
            exact.epsilon(wrong)
    with pytest.raises(InputError, match="epsilon"):
        exact.delta(-1.0)


def test_many_guesses_are_gone_through_in_parts(monkeypatch):
    """Where they are not kept, and where a part holds but one, the answers stay the same."""
    module = sys.modules["narcissus.profiles.write_out"]
    game = Game(Records(2, [0.5, 0.3, 0.2]), Identity(), Member())
    whole = write_out(game)
    expected = (whole.deltas([0.0, 0.5]).tolist(), whole.robust(0.1), whole.beyond(0.6))
    monkeypatch.setattr(module, "_CHUNK", 1)
    monkeypatch.setattr(module, "_KEPT", 0)
    parts = write_out(game)
    assert len(list(parts.blocks())) == parts.count
    assert (parts.deltas([0.0, 0.5]).tolist(), parts.robust(0.1), parts.beyond(0.6)) == (
        pytest.approx(expected[0], abs=1e-15),
        pytest.approx(expected[1], abs=1e-15),
        pytest.approx(expected[2], abs=1e-15),
    )


def test_work_is_limited_too_and_so_is_each_number():
    game = Game(Bits(3), Identity(), Prefix())
    assert write_out(game, limit=8).delta(0.0) == pytest.approx(7 / 8)
    with pytest.raises(TooLargeError, match="at most 7 are"):
        write_out(game, limit=7)
    noisy = Game(Bits(3), RandomizedResponse(1.0), Prefix())
    assert write_out(noisy, limit=64).pairs == 64
    with pytest.raises(TooLargeError, match="8 releases each, 64 pairs; at most 63"):
        write_out(noisy, limit=63)
    # 8 guesses for each of 8 releases, with room for four numbers each
    assert write_out(game, work=8 * 32).count == 8
    with pytest.raises(TooLargeError, match=r"8 guesses for each of 8 releases.*play"):
        write_out(game, work=8 * 32 - 1)
    assert (amount(999), amount(12_345), amount(10**20)) == ("999", "12,345", "about 10^20")


def test_a_secret_goes_through_several_channels_at_once():
    """Data sets that are single numbers, of a mechanism that says how much it releases."""
    part = through_channel([[0.9, 0.1], [0.2, 0.8]])
    game = Game(Secret([0.5, 0.5]), Parallel([part, part]), NamesSecret(2))
    assert write_out(game).rates(-math.inf)[0] == pytest.approx((0.81 + 2 * 0.16 + 0.64) / 2)


def test_largest_success_is_that_of_the_likeliest_attempt():
    """At epsilon 1 the count gains nothing, though naming a zero is right 99.8 times in 100."""
    found = profile(Game(Bits(100, 0.002), CountingQuery(0.2), Pinned(1)), 1.0)
    assert found.success[0] < 1e-30
    assert found.delta[0] < 1e-30
    assert found.best_success == pytest.approx(0.998)
    assert math.isclose(found.exact.rates(-math.inf)[0], found.best_success)
    assert isinstance(profile(Game(Neighbours(2), Identity(), Prefix()), 0.0).attacker(), Bayes)


def best_of(success, baseline, *, additive=False, abstain=True, blocks=1):
    found = Best.nothing(0.0, [0], success.shape[1], abstain=abstain)
    for part in np.array_split(np.arange(len(success)), blocks):
        found.add(Guesses(0, part, success[part], baseline[part]), additive=additive)
    return found


@pytest.mark.parametrize(("additive", "abstain"), [(False, False), (False, True), (True, True)])
def test_which_attacker_is_shown_hangs_on_no_last_digit(additive, abstain):
    """Gains that are equal, and gains of nothing, in every rounding and order of blocks."""
    rng = np.random.default_rng(2)
    baseline = rng.integers(1, 6, size=(30, 12)) / 7
    success = baseline + rng.choice([-0.25, 0.0, 0.125, 0.25], size=(30, 12))
    first = best_of(success, baseline, additive=additive, abstain=abstain)
    for _ in range(30):
        moved = [
            part * (1 + rng.uniform(-4e-16, 4e-16, part.shape)) for part in (success, baseline)
        ]
        again = best_of(*moved, additive=additive, abstain=abstain, blocks=int(rng.integers(1, 5)))
        assert again.rates == pytest.approx(first.rates, rel=1e-12)
        assert again.delta == pytest.approx(first.delta, rel=1e-12)
        assert additive or (again.guess[0] == first.guess[0]).all()
    value = success - baseline
    most = np.maximum(value, 0).sum() if additive else value.max(axis=0).clip(min=0).sum()
    assert first.delta == pytest.approx(most)
    assert first.rates[0] - first.rates[1] == pytest.approx(first.delta)


SPLIT = [[[0, 0], [0, 1]], [[1, 1], [0, 1]], [[1, 0], [1, 1]]]


def test_profile_of_a_family_names_the_worst_rate_at_each_epsilon():
    rates = [0.002, 0.05, 0.5]
    family = Family([Bits(60, rate) for rate in rates])
    game = Game(family, CountingQuery(), Pinned(1))
    found = profile(game, [0.0, 1.0])
    alone = [profile(Game(Bits(60, r), CountingQuery(), Pinned(1)), [0.0, 1.0]) for r in rates]
    for place in (0, 1):
        deltas = [one.delta[place] for one in alone]
        assert found.delta[place] == max(deltas)
        assert f"rate={rates[int(np.argmax(deltas))]}" in found.member[place]
    assert found.member[0] != found.member[1]
    assert found.delta_at(0.3) == max(one.delta_at(0.3) for one in alone)
    assert found.epsilon_at(1e-3) == max(one.epsilon_at(1e-3) for one in alone)
    assert found.data_sets == sum(one.data_sets for one in alone)
    assert found.curve()[0]["member"] == found.member[0]
    best = smallest(
        lambda tau: Game(family, CountingQuery(tau), Pinned(1)), [0.0], epsilon=1, delta=1
    )
    assert best.delta == found.delta[1]
    run = play(game, found.attacker(0.0), Resilience(0.0), trials=300, rng=1)
    assert run.members == 3


def test_what_is_of_one_distribution_refuses_a_family():
    game = Game(Pairs(SPLIT), Identity(), Prefix())
    for wrong in (
        lambda: write_out(game),
        lambda: sampled_profile(game, 0.0),
        lambda: memorized_information(game.world, Identity()),
    ):
        with pytest.raises(InputError, match="family"):
            wrong()
    with pytest.raises(TooLargeError, match="first 2 of 3 distributions"):
        write_out_family(game, limit=3)
    with pytest.raises(InputError, match="not defined for the world Pairs"):
        Game(Family([Bits(3), Pairs(SPLIT)]), Identity(), Prefix(), side=KnownRows(1))


def test_a_relation_that_is_about_some_pairs_only_is_no_mistake():
    """`R_1` needs a data set that starts with zero; of some pairs neither does."""
    game = Game(Neighbours(2), CountingQuery(), OneOfPair(1))
    assert profile(game, 0.0).delta[0] == pytest.approx(0.5)
    never = Game(Neighbours(2), CountingQuery(), Own(lambda s, z: False, attempts=[0]))
    with pytest.raises(InputError, match="never true"):
        profile(never, 0.0)


PAIR = Pairs([[[0], [1]]])


def random_parts(rng, secrets, outputs=2, parts=2):
    return [
        through_channel(rng.dirichlet(np.ones(outputs), secrets).tolist()) for _ in range(parts)
    ]


def every_strategy(parts, prior, fresh, epsilon):
    """Try every strategy of two questions, then the best attempt for each conversation."""
    rows = [part.matrix.dense for part in parts]
    best = 0.0
    number = range(len(parts))
    for first in number:
        for second in itertools.product(number, repeat=rows[first].shape[1]):
            gain = 0.0
            for a, then in enumerate(second):
                for b in range(rows[then].shape[1]):
                    mass = prior * rows[first][:, a] * rows[then][:, b]
                    against = fresh(mass)
                    gain += max(0.0, float((mass - math.exp(epsilon) * against).max()))
            best = max(best, gain)
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_backward_induction_finds_the_best_strategy(seed, epsilon):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(3))
    parts = random_parts(rng, 3, parts=3)
    game = Game(Secret(prior), AdaptiveComposition(parts, 2), NamesSecret(3))
    expected = every_strategy(parts, prior, lambda mass: mass.sum() * prior, epsilon)
    assert write_out(game).delta(epsilon) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_over_a_pair_the_other_data_set_is_the_fresh_one(seed):
    parts = random_parts(np.random.default_rng(seed), 2, outputs=3)
    game = Game(PAIR, AdaptiveComposition(parts, 2), FirstBit())
    expected = every_strategy(parts, np.array([0.5, 0.5]), lambda mass: mass[::-1], 0.3)
    assert write_out(game).delta(0.3) == pytest.approx(expected, abs=1e-12)


def test_questions_that_depend_on_answers_get_more_than_any_fixed_ones():
    """Which half, then which of that half; fixed, the second question is about one half only."""
    study = load_study(shipped_study("interactive-adaptive").path)
    game = study.settings.build().game
    adaptive = write_out(game).rates(-math.inf)[0]
    fixed = [
        write_out(Game(game.world, Parallel(pair), game.relation)).rates(-math.inf)[0]
        for pair in itertools.product(game.mechanism.parts, repeat=2)
    ]
    assert adaptive == pytest.approx(0.81)
    assert max(fixed) == pytest.approx(0.63)


def test_one_part_often_is_the_same_as_all_at_once():
    part = RandomizedResponse(0.7)
    asked = Game(Bits(2), AdaptiveComposition([part], 3), Prefix())
    at_once = Game(Bits(2), Parallel([part] * 3), Prefix())
    for epsilon in (0.0, 0.5, 1.2):
        assert write_out(asked).delta(epsilon) == pytest.approx(write_out(at_once).delta(epsilon))


@pytest.mark.states("Kairouz, Oh and Viswanath 2015", "Theorem 3.3")
@pytest.mark.parametrize("questions", [1, 2, 3])
def test_optimal_composition_is_reached_and_not_exceeded(questions):
    """By randomized response, against every adaptive attacker; other parts stay below."""
    points = [0.0, 0.5, 1.0, 2.0]
    allowed = optimal_composition(1.0, questions).profile(points)
    parts = [RandomizedResponse(1.0), RandomizedResponse(0.5)]
    exact = write_out(Game(PAIR, AdaptiveComposition(parts, questions), FirstBit()))
    np.testing.assert_allclose(exact.deltas(points), allowed, atol=1e-12)
    weaker = through_channel([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    below = write_out(Game(PAIR, AdaptiveComposition([weaker], questions), FirstBit()))
    assert (below.deltas(points) <= allowed + 1e-12).all()


@pytest.mark.parametrize(
    "mechanism",
    [
        SparseVector(1.0, 1, 4, 2),
        SparseVector(1.0, 1, 4, 2, "dwork-roth"),
        CountQueries(2, epsilon=1.0),
    ],
)
def test_private_conversations_have_at_most_the_profile_of_their_privacy(mechanism):
    points = [0.0, 0.3, 0.7, 1.0]
    exact = write_out(Game(PAIR, mechanism, FirstBit()))
    assert (exact.deltas(points) <= PureDP(1.0).profile(points) + 1e-12).all()


def test_the_best_attacker_plays_as_written_out(within):
    game = Game(PAIR, SparseVector(1.0, 1, 5, 1, "stoddard"), FirstBit())
    exact = write_out(game)
    for epsilon in (0.0, 1.0):
        success, baseline = exact.rates(epsilon)
        one = play(game, exact.attacker(epsilon), trials=3000, stop=False, rng=3).attackers[0]
        assert one.failed == 0
        assert within(int(one.scores.success.sum()), 3000, success)
        assert within(int(one.scores.baseline.sum()), 3000, baseline)


def test_what_is_told_decides_what_is_asked(within):
    """Two bits, one of them told: the attacker asks for the other, and knows both."""
    game = Game(Bits(2), CountQueries(1), Prefix(), side=Told(lambda data: int(data[0])))
    exact = write_out(game)
    assert exact.rates(-math.inf)[0] == pytest.approx(1)
    assert write_out(Game(Bits(2), CountQueries(1), Prefix())).rates(-math.inf)[0] == 0.75
    one = play(game, exact.attacker(0.0), trials=300, stop=False, rng=4).attackers[0]
    assert one.success.value == 1


def test_other_baselines_are_of_the_best_questions_too():
    exact = write_out(Game(Bits(2), CountQueries(1), Prefix()))
    assert exact.robust(0.0) == pytest.approx((0.75 - 0.25, 0.25))
    assert exact.beyond(0.25) == pytest.approx(0.75)
    assert exact.beyond(0.2) == 0


def test_what_is_too_large_or_not_written_is_refused():
    with pytest.raises(TooLargeError, match="allow fewer questions"):
        write_out(Game(PAIR, SparseVector(1.0, 1, 30, 30), FirstBit()), limit=2000)
    with pytest.raises(TooLargeError, match="more than 50 conversations about 2 data sets"):
        conversations(SparseVector(1.0, 1, 5, 5), PAIR.sets[0], 100)
    assert MOST < 10**5
    with pytest.raises(InputError, match="the mechanism PublicKey cannot be written out"):
        write_out(Game(PAIR, PublicKey(), FirstBit()))
    with pytest.raises(InputError, match="about 6 bits are not written out"):
        write_out(Game(Bits(6), CountQueries(1), Hamming(0.1)))


def test_the_profile_is_that_of_the_best_questions():
    found = profile(Game(PAIR, SparseVector(1.0, 1, 3), FirstBit()), [0.0, 1.0])
    assert found.delta[0] > 0.05
    assert found.delta[1] == 0
