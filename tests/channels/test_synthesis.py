"""The most secure mechanism at a loss: reference values, theorem, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.sparse import csgraph

from narcissus import channels as ch
from narcissus.errors import TooLargeError

from .conftest import refused

LINE = np.abs(np.subtract.outer(np.arange(5), np.arange(5))).astype(float)


@pytest.mark.states("Narcissus theory", "6.5")
def test_reference_values():
    private = ch.least_loss(LINE, epsilon=1.0)
    assert private.loss == pytest.approx(0.9934363613, abs=1e-9)
    assert private.beta_star == pytest.approx(0.6358246729, abs=1e-8)
    assert ch.local_dp_epsilon(private.channel) <= 1 + 1e-7
    free = ch.most_secure(LINE, private.loss)
    assert free.beta_star == pytest.approx(0.8278636344, abs=1e-8)
    both = ch.most_secure(LINE, 1.1 * private.loss, epsilon=1.0)
    assert both.beta_star == pytest.approx(0.8109692502, abs=1e-8)
    assert abs(both.beta_star - both.limit) < 1e-7
    metric = ch.most_secure(LINE, private.loss, epsilon=1.0, distance=LINE)
    assert metric.beta_star >= private.beta_star - 1e-7  # near secrets are held closer, far less


@pytest.mark.states("Narcissus theory", "6.5")
def test_least_loss_under_d_privacy(qif):
    line = LINE[:4, :4]
    found = ch.least_loss(line, epsilon=0.5, distance=line)
    assert found.loss == pytest.approx(0.8032653298563168, abs=1e-7)
    uniform = np.full(4, 0.25)
    theirs = qif.mechanism.d_privacy.min_loss_given_d(
        uniform, 4, lambda i, j: 0.5 * abs(i - j), lambda i, j: float(abs(i - j))
    )
    assert float((uniform[:, None] * theirs * line).sum()) == pytest.approx(found.loss, abs=1e-7)


@pytest.mark.states("Narcissus theory", "6.5")
@pytest.mark.parametrize("seed", range(4))
def test_the_theorem_holds_with_equality_on_lines_and_for_0_1_loss(seed):
    rng = np.random.default_rng(seed)
    prior, places = rng.dirichlet(np.ones(5)), np.sort(rng.random(5))
    for loss in (1 - np.eye(5), np.abs(np.subtract.outer(places, places))):
        nothing = ch.loss_of_nothing(loss, prior)
        found = ch.most_secure(loss, 0.37 * nothing, prior=prior)
        assert found.beta_star == pytest.approx(0.37, abs=1e-7)
        assert found.loss <= 0.37 * nothing + 1e-7
        back = ch.least_loss(loss, found.beta_star, prior=prior)
        assert back.loss == pytest.approx(0.37 * nothing, abs=1e-6)
    odd = [[0, 1, 0], [0, 0, 3], [1, 0, 0]]
    better = ch.most_secure(odd, ch.loss_of_nothing(odd) / 2)
    assert better.beta_star == pytest.approx(0.75, abs=1e-7)


def test_no_mechanism_of_many_is_better():
    """Random mechanisms at no larger loss are never above the program's limit."""
    rng = np.random.default_rng(9)
    loss = rng.random((4, 3))
    cheap = ch.least_loss(loss)
    found = ch.most_secure(loss, 0.6 * ch.loss_of_nothing(loss) + 0.4 * cheap.loss)
    near = 0
    for _ in range(400):
        mixed = 0.8 * found.channel.dense + 0.1 * cheap.channel.dense
        mixed += 0.1 * rng.dirichlet(np.full(3, 0.3), 4)
        if (mixed * loss).sum() / 4 <= found.loss:
            near += 1
            assert ch.beta_star(mixed).value <= found.limit + 1e-9
    assert near > 20


def test_the_curve_rises_and_is_concave():
    losses, values = ch.trade_off(LINE, 6, epsilon=1.0)
    assert losses[0] == pytest.approx(0.9934363613, abs=1e-6)
    assert values[-1] == pytest.approx(1, abs=1e-6)
    assert (np.diff(values) > 0).all()
    assert (np.diff(values, 2) < 1e-5).all()  # the first loss is met within 1e-6


def test_what_cannot_be_is_refused():
    refused(r"no mechanism has a loss below 0\.99343", ch.most_secure, LINE, 0.5, epsilon=1.0)
    refused("at least 0", ch.most_secure, -LINE, 0.5)
    refused("shape", ch.least_loss, [1.0, 2.0])
    refused("give both", ch.least_loss, LINE, distance=LINE)
    refused("5 x 5", ch.least_loss, LINE, epsilon=1.0, distance=np.eye(3))
    refused("fewer answers", ch.least_loss, np.ones((200, 200)), error=TooLargeError)


def _case(seed):
    rng = np.random.default_rng(seed)
    n, m, guesses = rng.integers(2, 7, 3)
    loss, prior = rng.random((n, m)), rng.dirichlet(np.ones(n))
    cheap = float(prior @ loss.min(axis=1))
    limit = cheap + 0.3 * rng.random() * (ch.loss_of_nothing(loss, prior) - cheap)
    return loss, prior, float(limit), rng.random((guesses, n))


@pytest.mark.states("Narcissus theory", "6.5")
@pytest.mark.parametrize("seed", range(8))
def test_the_least_vulnerable_is_that_of_another_program(qif, seed):
    loss, prior, limit, gain = _case(seed)
    m = loss.shape[1]
    found = ch.least_vulnerable(loss, limit, gain=gain, prior=prior)
    theirs = qif.mechanism.g_vuln.min_vuln_given_max_loss(
        prior, m, len(gain), limit,
        lambda w, x: float(gain[w, x]), lambda x, y: float(loss[x, y]),
    )  # fmt: skip
    made = ch.channel(np.clip(np.asarray(theirs), 0, 1))
    assert found.leakage == pytest.approx(ch.g_vulnerability(made, gain, prior), abs=1e-7)
    assert found.limit <= found.leakage <= found.limit + 1e-6
    assert found.loss <= limit + 1e-9
    lower = ch.least_vulnerable(loss, limit, gain=gain - 2, prior=prior)
    assert lower.leakage == pytest.approx(found.leakage - 2, abs=1e-7)
    back = ch.least_loss(loss, vulnerability=found.leakage, gain=gain, prior=prior)
    assert back.loss <= found.loss + 1e-7
    most = float(np.quantile(loss.min(axis=1), 1.0)) + 0.1
    hard = ch.least_vulnerable(loss, gain=gain, prior=prior, most_at_once=most)
    assert not hard.channel.dense[loss > most].any()
    theirs = qif.mechanism.g_vuln.min_vuln_given_max_loss(
        prior, m, len(gain), float(loss.max()),
        lambda w, x: float(gain[w, x]), lambda x, y: float(loss[x, y]), most,
    )  # fmt: skip
    made = ch.channel(np.clip(np.asarray(theirs), 0, 1))
    assert hard.leakage == pytest.approx(ch.g_vulnerability(made, gain, prior), abs=1e-7)


@pytest.mark.parametrize("seed", range(8))
def test_no_mechanism_at_the_loss_tells_fewer_bits(seed):
    loss, prior, limit, _ = _case(seed)
    found = ch.least_informative(loss, limit, prior=prior)
    assert found.loss <= limit + 1e-9
    assert found.limit <= found.leakage + 1e-9
    assert found.leakage <= found.limit + 1e-6
    rng, cheap = np.random.default_rng(seed), np.eye(loss.shape[1])[loss.argmin(axis=1)]

    def cost(made):
        return float(prior @ (made * loss).sum(axis=1))

    for size in np.geomspace(1e-4, 1, 100):
        other = rng.dirichlet(np.full(loss.shape[1], 0.3), len(loss))
        share = min(1.0, (limit - cost(cheap)) / max(cost(other) - cost(cheap), 1e-12))
        mixed = (1 - size) * found.channel.dense + size * (share * other + (1 - share) * cheap)
        assert cost(mixed) <= limit + 1e-9
        assert ch.shannon_leakage(mixed, prior) >= found.limit - 1e-8


@pytest.mark.parametrize("error", [0.0625, 0.25, 0.4])
def test_the_fewest_bits_in_closed_form(error):
    """Hamming loss and equal secrets: ``log n - h(d) - d log(n - 1)`` (Shannon 1959)."""
    n = 5
    h = -error * np.log2(error) - (1 - error) * np.log2(1 - error)
    bits = np.log2(n) - h - error * np.log2(n - 1)
    assert ch.least_informative(1 - np.eye(n), error).leakage == pytest.approx(bits, abs=1e-6)


def test_what_a_measure_cannot_have_is_refused():
    refused("below 0.2", ch.least_loss, LINE, vulnerability=0.1)
    refused("exclude", ch.least_loss, LINE, 0.5, vulnerability=0.5)
    refused("give both", ch.least_loss, LINE, gain=np.eye(5))
    refused("no answer is left", ch.least_vulnerable, LINE + 1, most_at_once=0.5)
    refused("no mechanism has a loss below", ch.least_informative, LINE + 1, 0.5)
    refused("column per secret", ch.least_vulnerable, LINE, gain=np.eye(3))
    assert ch.least_informative(LINE, 10.0).leakage == 0


@pytest.mark.states("Narcissus theory", "6.6")
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_best_of_all_answers(seed):
    rng = np.random.default_rng(seed)
    rows, loss, prior = rng.dirichlet(np.ones(4), 3), rng.random((3, 3)), rng.dirichlet(np.ones(3))
    found = ch.remap(rows, loss, prior, answers=["n", "m", "s"])

    def cost(made):
        return float((prior[:, None] * made * loss).sum())

    best = min(cost(rows @ np.eye(3)[list(c)]) for c in itertools.product(range(3), repeat=4))
    assert found.loss == pytest.approx(best, rel=1e-13)
    columns = [["n", "m", "s"].index(o) for o in found.channel.outputs]
    full = np.zeros((3, 3))
    full[:, columns] = found.channel.dense
    assert cost(full) == pytest.approx(best, rel=1e-13)
    assert ch.refines(rows, found.channel).holds
    assert rows @ found.by.dense == pytest.approx(found.channel.dense, abs=1e-15)


def test_noise_is_undone_where_the_prior_says_so():
    made = ch.Geometric(5, 0.7)
    far = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    prior = [0.9, 0.025, 0.025, 0.025, 0.025]
    plain = float(np.asarray(prior) @ (made.channel().dense * far).sum(axis=1))
    found = ch.remap(made.channel(), far, prior)
    assert found.loss < 0.6 * plain
    refused("column per secret", ch.remap, made.channel(), np.ones((3, 2)))


EXCLUDE = np.eye(3)
"""Name a secret that it is not."""


def competing(rng):
    """Losses of guesses whose savings sum to the largest loss, of each secret another one."""
    guesses, secrets = rng.integers(2, 5), rng.integers(3, 5)
    most = rng.random(secrets) + 0.2
    return most - rng.dirichlet(np.ones(guesses) * 0.3, secrets).T * most * (1 - 1e-12)


def tree(rng):
    n = rng.integers(3, 6)
    edges = np.zeros((n, n))
    for child in range(1, n):
        edges[child, rng.integers(child)] = rng.random() + 0.05
    far = csgraph.shortest_path(edges, directed=False)
    return (far + far.T) / 2


def attributes(_rng):
    """How many of two attributes are wrong, of any pair of values."""
    pairs = [(a, b) for a in range(2) for b in range(2)]
    return np.array([[(a != c) + (b != d) for c, d in pairs] for a, b in pairs], dtype=float)


@pytest.mark.states("Narcissus theory", "6.13")
@pytest.mark.parametrize(
    ("make", "family"), [(competing, "competing guesses"), (tree, "tree"), (attributes, "")]
)
def test_no_channel_and_prior_is_below(make, family):
    rng = np.random.default_rng(3)
    for _ in range(12):
        loss = make(rng)
        assert not family or ch.loss_family(loss) in (family, "competing guesses")
        prior, security = rng.dirichlet(np.full(loss.shape[1], 0.7)), rng.random()
        assert ch.least_l_beta(loss, security, prior).value >= security - 1e-7


@pytest.mark.states("Narcissus theory", "6.13")
def test_every_loss_is_limited_by_the_column_minima_and_one_reaches_them():
    rng = np.random.default_rng(4)
    for _ in range(200):
        n = int(rng.integers(2, 5))
        rows = rng.dirichlet(np.ones(4) * 0.8, n)
        limit = ch.l_beta_bound(rows)
        loss, prior = rng.random((3, n)) ** 3, rng.dirichlet(np.ones(n))
        assert ch.l_beta(rows, loss, prior) >= limit.value - 1e-12
        assert ch.l_beta(rows, np.eye(n)) == pytest.approx(limit.value, rel=1e-9)
        family = ch.loss_family(loss)
        assert ch.l_beta(rows, loss, prior) >= ch.l_beta_bound(rows, loss).value - 1e-12
        assert (family == "two secrets") == (n == 2)


def test_a_loss_that_beta_star_does_not_limit():
    rows = [[0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]]
    assert ch.beta_star(rows).value == 0.5
    assert ch.loss_family(EXCLUDE) == ""
    assert ch.l_beta(rows, EXCLUDE) == 0
    assert ch.l_beta_bound(rows, EXCLUDE).value == 0
    assert ch.l_beta_bound(rows, 1 - EXCLUDE).value == 0.5


def test_the_edge_of_the_family():
    """Savings that sum to a little more than the largest loss are of no family."""
    loss = np.array([[0, 1, 1], [1, 0, 1], [0.99, 1, 0]])
    assert ch.loss_family(loss) == ""
    loss[2, 0] = 1
    assert ch.loss_family(loss) == "competing guesses"
    line = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    assert ch.loss_family(line) == "tree"
    line[0, 2] = line[2, 0] = 1.9
    assert ch.loss_family(line) == ""
    assert ch.loss_family(np.zeros((3, 3))) == "competing guesses"


def test_the_least_of_one_prior_is_reached():
    loss = 1 - np.eye(4)
    for security in (0.0, 0.3, 1.0):
        assert ch.least_l_beta(loss, security).value == pytest.approx(security, abs=1e-7)


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ([[0.0], [1.0]], "at least two secrets"),
        ([[-1.0, 0, 1]], "at least 0"),
        ([0.0, 1, 2], "got shape"),
        ([[0.0, 1]], "a column for each of the 3"),
    ],
)
def test_bad_losses(loss, words):
    refused(words, ch.l_beta_bound, np.full((3, 2), 0.5), loss)
    refused("without the output is 0", ch.least_l_beta, np.zeros((3, 3)), 0.5)
