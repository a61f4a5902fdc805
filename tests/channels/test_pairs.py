"""Choosing pairs among many secrets."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from narcissus import channels as ch
from narcissus.channels import pairs as module
from narcissus.channels.estimators import Frequentist, Guess
from narcissus.channels.limits import evenly
from narcissus.channels.pairs import BOLDEST, Ledger, PairFamily, bet, cost, families, pooled_high
from narcissus.channels.samples import samples
from narcissus.observer import SILENT


def test_many_secrets_without_all_pairs():
    # 300 secrets, alike but for two that stand out.
    rng = np.random.default_rng(4)
    secret = rng.integers(300, size=60_000)
    output = np.round(rng.laplace(size=60_000) * 5).astype(int)
    output[secret == 17] -= 20
    output[secret == 222] += 20
    found = ch.estimate(secret, output, rng=1)
    assert set(found.pair) == {"17", "222"}
    # The truth is 0.02; one miss in a hundred held-out samples each certifies about 0.11.
    assert found.beta_star.high < 0.15


def test_very_many_secrets_use_candidates(monkeypatch):
    monkeypatch.setattr("narcissus.channels.pairs.MOST_CANDIDATES", 40)
    rng = np.random.default_rng(4)
    secret = rng.integers(200, size=40_000)
    output = np.round(rng.laplace(size=40_000) * 5).astype(int)
    output[secret == 17] -= 20
    output[secret == 122] += 20
    found = ch.estimate(secret, output, rng=1)
    assert set(found.pair) == {"17", "122"}


def response(rng, values, beta, size):
    """Draw as many samples of each value under randomised response of this Bayes security."""
    secret = np.repeat(np.arange(values), size // values)
    kept = rng.random(size) < 1 - (values - 1) * beta / values
    return secret, np.where(kept, secret, (secret + rng.integers(1, values, size)) % values)


@pytest.mark.states("Narcissus theory", "6.9")
@pytest.mark.parametrize(
    ("values", "beta", "size", "most"),
    [
        (50, 0.7237, 20_000, 0.741),
        pytest.param(200, 0.9129, 100_000, 0.920, marks=pytest.mark.nightly),
        pytest.param(400, 0.9387, 400_000, 0.945, marks=pytest.mark.nightly),
    ],
)
def test_randomised_response_with_many_values(values, beta, size, most):
    rng, found = np.random.default_rng(0), []
    for _ in range(3 if values == 50 else 1):
        secret, output = response(rng, values, beta, size)
        found.append(ch.estimate(secret, output, rng=rng, estimators="frequentist"))
    highs = [one.beta_star.high for one in found]
    assert beta < np.mean(highs) <= most
    assert all(one.pairs > values for one in found)
    assert "the mean of" in str(found[0])
    assert "told apart best" not in str(found[0])
    assert found[0].to_dict()["pairs"] == found[0].pairs


def test_one_pair_that_stands_out_is_taken_by_itself():
    rng = np.random.default_rng(1)
    secret, output = response(rng, 20, 0.9, 10_000)
    leaky = (secret == 3) | (secret == 7)
    output[leaky] = np.where(rng.random(leaky.sum()) < 0.9, secret[leaky], output[leaky])
    found = ch.estimate(secret, output, rng=1, estimators="frequentist")
    assert found.pairs <= 37  # those with one of the two
    assert {"3", "7"} & set(found.pair)
    assert found.beta_star.high < 0.25


@pytest.mark.states("Narcissus theory", "6.9")
def test_the_later_says_nothing_to_the_earlier(monkeypatch):
    """Changing what comes last changes only its own losses."""
    monkeypatch.setattr(module, "GROWTH", 1.25)
    rng = np.random.default_rng(2)
    secret, output = response(rng, 10, 0.8, 2_000)
    order = evenly(secret, rng)
    seen = []

    class Spy(Ledger):
        def add(self, data, family, block, later, room):
            super().add(data, family, block, later, room)
            seen.append((self.lost, self.staked, self.charged))

    changed = output.copy()
    changed[order[1_500:]] = 0
    for shown in (output, changed):
        monkeypatch.setattr(module, "Ledger", Spy)
        pooled_high(samples(secret, shown), [Frequentist()], order, 0.05, SILENT)
    half = len(seen) // 2
    first, second = seen[:half], seen[half:]
    ends = [500]
    while ends[-1] * module.GROWTH < 1_600:
        ends.append(int(np.ceil(ends[-1] * module.GROWTH)))
    whole = sum(end <= 1_500 for end in ends[1:])
    assert whole >= 2
    assert first[:whole] == second[:whole]
    assert first[-1] != second[-1]


def family_of(data, weight_of, expected):
    """Give a family of all pairs with fixed events: the larger number is said of larger outputs."""
    size = len(data.names)
    rank = np.full((size, size), size * size)
    upper = np.triu_indices(size, 1)
    rank[upper] = np.arange(len(upper[0]))
    rank = np.minimum(rank, rank.T)
    return PairFamily(
        lambda outputs: weight_of[outputs], np.ones(size), np.arange(size), rank, Guess(),
        pairs=len(upper[0]), expected=expected, spread=np.full(size, 0.05), promise=1.0,
    )  # fmt: skip


@pytest.mark.coverage_claim
@pytest.mark.repeats(120, 5_000, "runs")
@pytest.mark.parametrize("numbers", [(60, 60, 60), (200, 20, 60)])
def test_the_ledger_covers_with_wrong_predictions_and_unlike_numbers(runs, numbers):
    """Of a mean known exactly; misses at most a fifth, false alarm one in a million."""
    rows = np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.25, 0.55]])
    scores = rows.T.copy()
    secret = np.repeat(np.arange(3), numbers)
    truth = np.mean([
        np.where(rows[a] > rows[b], rows[b], rows[a]).sum() for a, b in ((0, 1), (0, 2), (1, 2))
    ])  # fmt: skip
    rng, misses = np.random.default_rng([7, *numbers]), 0
    for _ in range(runs):
        output = (rng.random(len(secret))[:, None] > np.cumsum(rows, axis=1)[secret]).sum(axis=1)
        data = samples(np.r_[secret, [0, 1, 2] * 10], np.r_[output, np.tile([0, 1, 2], 10)])
        number = np.unique(data.output, return_index=True)[1]
        values = np.r_[output, np.tile([0, 1, 2], 10)][number]
        family = family_of(data, scores[values], rng.random(3) / 2)
        ledger, block = Ledger(), np.arange(len(secret))
        ledger.add(data, family, block, len(block), np.log(5))
        misses += ledger.high(0.2) < truth - 1e-12
    assert misses <= stats.binom.isf(1e-6, runs, 0.2)


def test_what_is_not_charged_for_would_miss():
    """The mean itself, taken as a limit, misses half of the time."""
    rng, misses = np.random.default_rng(3), 0
    for _ in range(40):
        secret, output = response(rng, 6, 0.8, 6_000)
        data = samples(secret, output)
        found = pooled_high(data, [Frequentist()], evenly(secret, rng), 0.05, SILENT)
        misses += found.value < 0.8
        assert found.high >= found.value
    assert misses > 6


def test_what_is_left_of_the_chance_goes_to_a_single_pair():
    rng = np.random.default_rng(4)
    secret, output = response(rng, 40, 0.9, 8_000)
    data = samples(secret, output)
    found = pooled_high(data, [Frequentist()], evenly(secret, rng), 0.05, SILENT)
    assert found.pairs > 1
    assert found.left == pytest.approx(0.05 * module.LITTLE)


def test_secrets_too_rare_to_be_met_in_each_part_are_left_to_the_pair():
    data = samples(np.tile(np.arange(3), 10), np.arange(30) % 4)
    order = np.arange(30)
    assert pooled_high(data, [Frequentist()], order[:12], 0.05, SILENT) is None


def drawn(rng, rows, size):
    secret = np.tile(np.arange(len(rows)), size // len(rows))
    output = (rng.random(len(secret))[:, None] > np.cumsum(rows, axis=1)[secret]).sum(axis=1)
    return samples(secret, output)


def best(data, later=4_000, tried=None):
    past = np.arange(data.size // 2)
    block = np.arange(data.size // 2, data.size)
    return families(data, tried or [Frequentist()], past, block, later, 0.025)


def test_all_pairs_where_all_are_alike_and_one_where_one_stands_out():
    rng = np.random.default_rng(0)
    alike = np.full((12, 12), 0.06) + np.eye(12) * 0.28
    found = best(drawn(rng, alike, 9_600))[0]
    assert found.pairs > 30
    apart = alike.copy()
    apart[2], apart[9] = np.eye(12)[2] * 0.97 + 0.0025, np.eye(12)[9] * 0.97 + 0.0025
    found = best(drawn(rng, apart, 9_600))[0]
    assert {2, 9} & set(found.first)
    assert found.pairs <= 21  # those with one of the two


def test_weights_sum_to_two_and_losses_to_the_overlap():
    rng = np.random.default_rng(1)
    rows = rng.dirichlet(np.ones(5), 6)
    data = drawn(rng, rows, 60_000)
    family = best(data)[0]
    assert family.most.sum() == pytest.approx(2)
    own, weight, lost = family.losses(data, np.arange(data.size))
    each = np.bincount(own, weight)
    mean = (np.bincount(own, weight * lost) / each).sum()
    chosen = np.argwhere((family.rank < family.pairs) & np.triu(np.ones((6, 6), bool), 1))
    exact = np.mean([np.minimum(rows[a], rows[b]).sum() for a, b in chosen])
    assert mean == pytest.approx(exact, abs=0.01)
    assert (lost <= family.most[own] + 1e-12).all()
    assert (lost >= 0).all()


def test_the_better_estimator_comes_first_and_learns_anew():
    rng = np.random.default_rng(2)
    data = drawn(rng, rng.dirichlet(np.ones(4), 5), 5_000)
    found = best(data, tried=[Guess(), Frequentist()])
    assert [one.estimator.name for one in found] == ["frequentist", "guess"]
    more = found[0].learned(data, np.arange(data.size))
    assert more.each.sum() == data.size
    assert more.pairs == found[0].pairs


def test_the_luckiest_of_many_equal_pairs_is_not_believed():
    """What seems best on the samples that rank is judged on others."""
    rng = np.random.default_rng(3)
    promises = []
    for _ in range(10):
        data = drawn(rng, np.full((40, 8), 1 / 8), 4_000)
        promises.append(best(data)[0].promise)
    assert min(promises) > 0.95


def test_secrets_that_do_not_occur_are_left_out():
    secret = np.r_[np.tile([0, 1], 200), np.full(12, 2)]
    data = samples(secret, np.arange(412) % 3)
    found = families(data, [Frequentist()], np.arange(200), np.arange(200, 400), 200, 0.05)
    assert list(found[0].candidates) == [0, 1]
    assert not families(data, [Frequentist()], np.arange(200), np.arange(401, 412), 10, 0.05)


def test_the_bet_is_the_best_of_its_kind():
    spread, most, after = np.full(4, 0.002), np.full(4, 0.5), np.array([500.0, 600, 700, 800])
    chosen, width = bet(spread, most, after, 3.7)
    largest = (most / after).max()
    variance = (spread / after).sum() / largest**2
    others = np.linspace(0.001, BOLDEST, 500)
    widths = [largest * (3.7 + cost(one) * variance) / one for one in others]
    assert width <= 1.05 * min(widths)
    assert 0 < chosen <= BOLDEST
    assert bet(np.zeros(4), most, after, 3.7)[0] == BOLDEST


def test_what_is_alike_is_not_told_apart_by_chance():
    rng = np.random.default_rng(4)
    data = drawn(rng, np.full((20, 20), 0.03) + np.eye(20) * 0.4, 4_000)
    found = best(data)[0]
    assert found.clearly > 0
    own, _weight, lost = found.losses(data, np.arange(2_000, 4_000))
    hard = replace(found, clearly=0.0)
    assert lost.std() < 0.8 * hard.losses(data, np.arange(2_000, 4_000))[2].std()
    assert (lost <= found.most[own] + 1e-12).all()


def test_what_is_left_to_judge_by_are_the_samples_that_did_not_choose(monkeypatch):
    rng = np.random.default_rng(0)
    data = samples(np.repeat([0, 1, 2], 40), rng.integers(3, size=120))
    seen = []

    def shortlist(_data, _wanted, split, _observer):
        seen.append(split)
        raise StopIteration

    monkeypatch.setattr(module, "_shortlist", shortlist)
    first = np.arange(30)  # all of them of the first secret
    with pytest.raises(StopIteration):
        module.choose_pair(data, None, first, SILENT)
    assert np.asarray(seen[0].later).tolist() == [10, 40, 40]
