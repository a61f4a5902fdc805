"""A number for DP-SGD is one for a program: how it samples, and by what it divides."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom, norm

from narcissus import bounds
from narcissus.errors import InputError
from narcissus.guarantees import (
    GaussianDP,
    as_approximate,
    as_asked,
    as_replace_one,
    dp_sgd,
    from_event,
)
from narcissus.guarantees.base import DECLARED

pytest.importorskip("dp_accounting")
COARSE = {"interval": 1e-2}


@pytest.fixture
def rng():
    return np.random.default_rng(20261129)


def advantage_of_shuffled(noise, batches, rng, runs=4000):
    """Let all gradients be -1 but the target's, and say yes where some batch is above 0."""
    sums = rng.normal(-1.0, noise, (2, runs, batches))
    place = rng.integers(0, batches, runs)
    sums[0, np.arange(runs), place] += 2.0
    yes = (sums.max(axis=2) > 0.0).mean(axis=1)
    return float(yes[0] - yes[1])


def test_shuffled_batches_break_the_number_of_poisson_sampling(rng):
    """Poisson sampling leaves a record out with chance .366; a pass never does."""
    reached = advantage_of_shuffled(0.2, 100, rng)
    poisson = float(dp_sgd(0.2, 0.01, 100, **COARSE).profile(0.0))
    shuffled = float(dp_sgd(0.2, 0.01, 100, sampling="shuffled").profile(0.0))
    assert poisson < 0.66 < 0.95 < reached <= shuffled


def advantage_with_sizes(noise, rate, steps, records, rng, runs=1500):
    """Tell a record more by the sizes of batches beside the sums, by the likelihood ratio."""
    told = []
    for more in (True, False):
        sizes = rng.binomial(records, rate, (runs, steps))
        drawn = (rng.random((runs, steps)) < rate) & more
        sums = rng.normal(0.0, noise, (runs, steps)) + drawn
        seen = sizes + drawn
        ratio = seen * (1 - rate) / ((records - seen + 1) * rate)
        likelihood = (1 - rate) + rate * ratio * np.exp((2 * sums - 1) / (2 * noise**2))
        told.append((np.log(likelihood).sum(axis=1) > 0).mean())
    return told[0] - told[1]


def test_the_size_of_a_batch_tells_more_than_is_accounted_for(rng):
    """400 records: .1636 to .18 by whoever sees the sizes, where .1404 is proved without."""
    proved = float(dp_sgd(1.1, 0.01, 1000, secret="membership", interval=1e-3).profile(0.0))
    assert proved == pytest.approx(0.1404, abs=2e-4)
    reached = advantage_with_sizes(1.1, 0.01, 1000, 400, rng)
    spread = 4 * np.sqrt(0.5 / 1500)
    assert reached + spread > 0.1636
    for secret in ("value", "membership"):
        with pytest.raises(InputError, match=r"divide by a constant|sampling=\"fixed\""):
            dp_sgd(1.1, 0.01, 1000, divisor="sampled", secret=secret)


def hockey_stick(one, other, epsilon, noise, rate):
    """Integrate over two mixtures of a normal at 0 and one at a shift."""
    x = np.linspace(-14, 14, 40_001)
    p, q = (
        (1 - rate) * norm.pdf(x, 0, noise) + rate * norm.pdf(x, shift, noise)
        for shift in (one, other)
    )
    return float(np.trapezoid(np.maximum(p - np.exp(epsilon) * q, 0.0), x))


@pytest.mark.parametrize("noise", [0.8, 2.0])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_a_batch_of_one_size_puts_somebody_else_out(noise, rate):
    """Enumerated over shifts: who comes in is +1 where who goes out was -1, two norms apart."""
    added = dp_sgd(noise, rate, 1, sampling="fixed", secret="membership", interval=1e-3)
    replaced = dp_sgd(noise, rate, 1, sampling="fixed", interval=1e-3)
    by_poisson = dp_sgd(noise, rate, 1, secret="membership", interval=1e-3)
    shifts = np.linspace(-2.0, 2.0, 9)
    for epsilon in (0.0, 0.3, 1.0):
        alone = max(hockey_stick(a, 0.0, epsilon, noise, rate) for a in shifts)
        both = max(
            hockey_stick(a, b, epsilon, noise, rate)
            for a in shifts for b in shifts if abs(a - b) <= 2
        )  # fmt: skip
        assert alone <= float(added.profile(epsilon)) + 1e-6
        assert both <= float(replaced.profile(epsilon)) + 1e-6
    alone = rate * (2 * ndtr(1.0 / noise) - 1)
    assert float(added.profile(0.0)) == pytest.approx(alone, abs=2e-3)
    assert alone > 1.5 * float(by_poisson.profile(0.0)) or noise < 1


def test_a_pass_that_is_begun_counts_whole():
    assert dp_sgd(2.0, 0.25, 4, sampling="shuffled").mu == pytest.approx(1.0)
    assert dp_sgd(2.0, 0.25, 5, sampling="shuffled").mu == pytest.approx(np.sqrt(2))
    assert dp_sgd(2.0, 0.3, 4, sampling="shuffled").mu == pytest.approx(np.sqrt(2))  # 3 in a pass
    assert dp_sgd(2.0, 1.0, 3, sampling="shuffled").mu == pytest.approx(np.sqrt(3))
    found = dp_sgd(2.0, 0.25, 4, sampling="shuffled", secret="membership")
    assert (found.adjacency, found.secret) == ("replace-one", "membership")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"divisor": "expected", "secret": "membership"}, "a record more or less changes"),
        ({"divisor": "expected", "adjacency": "add-remove"}, "in many dimensions"),
        ({"sampling": "shuffled", "adjacency": "add-remove"}, "moves others to other batches"),
        ({"sampling": "shuffled", "rate": 0}, "`rate` must be above 0"),
        ({"sampling": "sorted"}, "sampling"),
        ({"divisor": "mean"}, "divisor"),
    ],
)
def test_a_program_of_which_nothing_is_proved_is_refused(how, said):
    with pytest.raises(InputError, match=said):
        dp_sgd(**{"noise": 1.0, "rate": 0.1, "steps": 3, **how})


def test_an_expected_size_tells_which_of_two_data_sets_it_was(rng):
    """The noise is divided too: its size in many dimensions tells the number of records."""
    dimensions, runs = 400_000, 40

    def size(records):
        return np.std(rng.normal(0.0, 1.0, dimensions)) / (0.1 * records)

    between = 1 / (0.1 * 50.5)
    assert all(size(50) > between > size(51) for _ in range(runs))
    assert float(dp_sgd(1.0, 0.1, 1, secret="membership", **COARSE).profile(0.0)) < 0.05


@pytest.mark.parametrize("sampling", ["poisson", "fixed", "shuffled"])
def test_every_bound_names_the_program(sampling):
    words = {"poisson": "Poisson", "fixed": "without replacement", "shuffled": "random order"}
    guarantee = dp_sgd(1.0, 0.1, 10, sampling=sampling, **COARSE)
    converted = [
        guarantee,
        as_approximate(guarantee, delta=1e-5),
        as_asked(guarantee, "membership"),
        as_replace_one(dp_sgd(1.0, 0.1, 10, secret="membership", **COARSE))
        if sampling == "poisson"
        else guarantee,
    ]
    for one in converted:
        assert words[sampling] in " ".join(one.assumed)
        assert "exact normal noise of 1 clipping norms" in " ".join(one.assumed)
    danger = bounds.threat(prior=0.1)
    for bound in bounds.bounds_on(danger, guarantee):
        if hasattr(bound, "assumptions"):
            assert words[sampling] in " ".join(bound.assumptions)
    assert GaussianDP(1.0).assumed == (GaussianDP(1.0).describe(), *DECLARED)


def test_a_composition_names_that_the_program_is_the_one_of_its_event():
    events = pytest.importorskip("dp_accounting").dp_event
    found = from_event(events.GaussianDpEvent(2.0), **COARSE)
    assert "as the event says" in found.assumed[1]


def test_how_many_records_are_drawn_has_the_law_that_the_test_takes():
    """The ratio of the likelihoods of a size, with a record more and without, by its formula."""
    for seen in range(6):
        formula = seen * 0.9 / ((20 - seen + 1) * 0.1)
        assert formula == pytest.approx(binom.pmf(seen - 1, 20, 0.1) / binom.pmf(seen, 20, 0.1))
