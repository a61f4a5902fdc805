"""Many pairs at once: near the truth where no pair has samples enough, and never below it."""

import numpy as np
import pytest
from scipy import stats

from narcissus import channels as ch
from narcissus.channels import pooled as module
from narcissus.channels.estimators import Frequentist, Guess
from narcissus.channels.limits import evenly
from narcissus.channels.pooled import Ledger, PairFamily, pooled_high
from narcissus.channels.samples import samples
from narcissus.observer import SILENT


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
        (200, 0.9129, 100_000, 0.920),
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
        lambda outputs: weight_of[outputs], np.ones(size), np.arange(size), rank,
        len(upper[0]), expected, np.full(size, 0.05), 1.0, Guess(),
    )  # fmt: skip


@pytest.mark.coverage_claim
@pytest.mark.parametrize(
    "runs", [400, pytest.param(5_000, marks=pytest.mark.nightly)], ids=["few", "many"]
)
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
