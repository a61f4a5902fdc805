"""A number of guesses that the release decides: one test takes it as fixed, the sweep does not.

Guesses of the canaries of a mechanism of mu-Gaussian DP that plays its part well: it tells how many
of its guesses are right by the chances of a linear program, and which at random. With 7 or 100
guesses of 100 canaries alone, the recursion of Mahloujifar et al. 2024 keeps its level; a release
that makes 7 or 100 of them is refuted too often.
"""

from functools import cache

import numpy as np
import pytest
from scipy import optimize, sparse, stats

from narcissus.evidence import refute_scores
from narcissus.guarantees import GaussianDP

CANARIES, MU, LEVEL = 100, 7 / 30, 0.05
NEAR = 0.998 * MU  # leaves room between the points of the program
NUMBERS = (7, 100)


def refutes(guesses, right, mu=MU):
    """Whether the recursion refutes mu by a count (algorithm 3, as jax_privacy has it)."""
    r, h = LEVEL * right / CANARIES, LEVEL * (guesses - right) / CANARIES
    for i in range(right - 1, -1, -1):
        more = max(h, stats.norm.cdf(stats.norm.ppf(min(r, 1.0)) - mu))
        if more == h:
            break
        r, h = min(r + i / (guesses - i) * (more - h), 1.0), more
    return r + h > guesses / CANARIES


def sides(law):
    """Masses of a canary's releases and of the same ones where its coin fell the other way."""
    ours, theirs = [law[0, 0]], [law[0, 0]]  # without a guess
    for n in NUMBERS:
        for k in range(1, n + 1):
            right, wrong = law[n, k] * k / CANARIES, law[n, k - 1] * (n - k + 1) / CANARIES
            ours += [right, wrong]
            theirs += [wrong, right]
        silent = sum(law[n, k] for k in range(n + 1)) * (1 - n / CANARIES)
        ours, theirs = [*ours, silent], [*theirs, silent]
    return np.array(ours), np.array(theirs)


def _filled(law, epsilon):
    """Hold the ratios exactly: what the solver took for nothing is not quite nothing."""
    for n in NUMBERS:
        for k in range(1, n + 1):
            law[n, k] = max(law[n, k], np.exp(-epsilon) * law[n, k - 1] * (n - k + 1) / k)
        for k in range(n, 0, -1):
            law[n, k - 1] = max(law[n, k - 1], np.exp(-epsilon) * law[n, k] * k / (n - k + 1))
    return np.array(list(law.values()))


@cache
def program(numbers):
    """The law of guesses and right ones that is refuted most often, and how often that is."""
    names = [(0, 0), *((n, k) for n in NUMBERS for k in range(n + 1))]
    unit = dict(zip(names, np.eye(len(names)), strict=True))
    ours, theirs = sides(unit)
    points, rows, most = np.linspace(0, 4 * MU, 30), [], []
    cells, width = len(ours), len(names) + 30 * len(ours)
    for place, epsilon in enumerate(points):
        start = len(names) + place * cells
        gap = sparse.hstack([sparse.csr_array(ours - np.exp(epsilon) * theirs),
                             sparse.csr_array((cells, start - len(names))),
                             -sparse.eye_array(cells),
                             sparse.csr_array((cells, width - start - cells))])  # fmt: skip
        total = np.zeros((1, width))
        total[0, start : start + cells] = 1
        rows += [gap, sparse.csr_array(total)]
        # no ratio is above the last point, so that nothing is spent beyond it
        last = epsilon == points[-1]
        most += [np.zeros(cells), [0.0] if last else GaussianDP(NEAR).profile([epsilon])]
    won = np.array([n in numbers and refutes(n, k) for n, k in names], dtype=float)
    bounds = [(0, None if n in (0, *numbers) else 0) for n, _ in names]
    once = np.r_[np.ones(len(names)), np.zeros(width - len(names))][None]
    found = optimize.linprog(
        np.r_[-won, np.zeros(width - len(names))], sparse.vstack(rows), np.concatenate(most),
        once, [1.0], [*bounds, *[(0, None)] * (width - len(names))],
    )  # fmt: skip
    law = _filled(dict(zip(names, np.maximum(found.x[: len(names)], 0), strict=True)), points[-1])
    law /= law.sum()
    # between the points a little is lost: all is silent with the chance that makes up for it
    one, other = sides(dict(zip(names, law, strict=True)))
    fine = np.linspace(0, points[-1] * (1 - 1e-9), 2_000)
    spent = np.array([np.maximum(one - np.exp(e) * other, 0).sum() for e in fine])
    allowed = GaussianDP(MU).profile(fine)
    share = float(np.min(allowed[spent > 1e-9] / spent[spent > 1e-9]).clip(max=1))
    beyond = np.maximum(one - np.exp(points[-1]) * (1 + 1e-9) * other, 0).sum()
    assert (share > 0.99, beyond) == (True, 0)
    law *= share
    law[0] += 1 - share
    return names, law, float(law @ won)


@pytest.mark.states("Narcissus theory", "5.1")
def test_a_number_that_the_release_decides_is_refuted_above_its_level_where_it_counts_as_fixed():
    for number in NUMBERS:
        assert 0.03 < program((number,))[2] <= LEVEL
    names, law, refuted = program(NUMBERS)
    assert refuted > 1.05 * LEVEL
    assert all(0.2 < law[[n == one for n, _ in names]].sum() < 0.8 for one in NUMBERS)


@pytest.mark.coverage_claim
@pytest.mark.repeats(40, 2000)
def test_the_sweep_keeps_its_level_on_the_same_release(repeats):
    names, law, _ = program(NUMBERS)
    rng, refuted = np.random.default_rng(8), 0
    for _ in range(repeats):
        guesses, right = names[rng.choice(len(names), p=law)]
        inside = rng.random(CANARIES) < 0.5
        while inside.sum() * 2 == CANARIES:  # refused without `coins`
            inside = rng.random(CANARIES) < 0.5
        place = rng.permutation(CANARIES)[:guesses]
        score, said = np.zeros(CANARIES), inside[place]
        said[right:] ^= True
        score[place] = np.where(said, 1.0, -1.0)
        refuted += refute_scores(score, inside).mu > MU
    assert refuted <= stats.binom.ppf(1 - 1e-6, repeats, LEVEL)
