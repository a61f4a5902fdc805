"""Small worlds of marginals, and everything about them computed the long way."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from narcissus.attacks.table import Simulated, Targets
from narcissus.knowledge import FactoredTargets
from narcissus.mechanisms import (
    ChosenQueries,
    GaussianNoise,
    MarginalQueries,
    Microdata,
    NoisyMarginals,
    ProtectedCounts,
)
from narcissus.priors.factors import Factors
from narcissus.success import CodesRight, exact_match


def queries_of(sizes, unknown, tables):
    """Return all tables of so many columns, or the listed ones: (sets, coarser columns)."""
    if isinstance(tables, int):
        return MarginalQueries(tuple(sizes), tuple(unknown), tables)
    sets, coarse = tables
    return ChosenQueries(tuple(sizes), tuple(unknown), sets, coarse=coarse)


def world(rng, *, people, sizes, unknown, k, success=None, concentration=1.0):
    """Draw people with random known columns and a random prior; give targets and secrets."""
    queries = queries_of(sizes, unknown, k)
    codes = np.stack([rng.integers(0, s, people) for s in sizes], axis=1).astype(np.int32)
    codes[:, list(unknown)] = 0
    prior = rng.dirichlet(np.full(queries.values, concentration), people)
    secrets = (prior.cumsum(axis=1) < rng.random((people, 1))).sum(axis=1)
    secrets = np.minimum(secrets, queries.values - 1).astype(np.int64)
    targets = Targets(queries, codes, prior, success or exact_match(queries.unknown_shape))
    return targets, secrets


def complete(targets, secrets):
    """Put secrets into the people's unknown columns."""
    codes = targets.codes.copy()
    codes[:, list(targets.queries.unknown)] = targets.queries.split(np.asarray(secrets))
    return codes


def incidence(targets):
    """Return which cell each value of each person falls into: (n, values, cells), 0, 1, 2 ..."""
    n, values = targets.prior.shape
    found = np.zeros((n, values, targets.queries.cells))
    for value in range(values):
        cells = targets.queries.cells_of(complete(targets, np.full(n, value)))
        for person, own in enumerate(cells):
            np.add.at(found[person, value], own, 1)
    return found


def release(targets, noise, secrets, rng):
    """Release the tables of these people."""
    [counts] = NoisyMarginals(targets.queries, noise).release(complete(targets, secrets)[None], rng)
    return counts


def assignments(targets):
    """Every joint assignment of secrets, shape (values^n, n)."""
    values = targets.prior.shape[1]
    return np.array(list(product(range(values), repeat=targets.people)))


def log_density(targets, noise, release, secrets):
    """Log density of the release from SciPy's own distributions, cell by cell."""
    counts = targets.queries.counts(complete(targets, secrets))
    if noise.kind == "gaussian":
        return stats.norm.logpdf(release, counts, noise.scale).sum()
    return stats.laplace.logpdf(release, counts, noise.scale).sum()


def posterior(targets, noise, release):
    """Exact posterior marginals by enumeration of all assignments, shape (n, values)."""
    every = assignments(targets)
    logs = np.array(
        [
            log_density(targets, noise, release, a)
            + targets.log_prior[np.arange(targets.people), a].sum()
            for a in every
        ]
    )
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    found = np.zeros_like(targets.prior)
    for a, w in zip(every, weights, strict=True):
        found[np.arange(targets.people), a] += w
    return found


class Rounded:
    """Rounded to the nearest multiple of a base; halves up."""

    title = "rounded"

    def __init__(self, base):
        self.base = base

    def publish(self, counts, rng):
        return self.base * np.floor(counts / self.base + 0.5)

    def log_likelihood(self, cells, counts):
        with np.errstate(divide="ignore"):
            return np.log((self.publish(counts, None) == cells).astype(float))


class RandomlyRounded:
    """Rounded up or down to a multiple of a base, so that the mean is right."""

    title = "rounded at random"

    def __init__(self, base):
        self.base = base

    def publish(self, counts, rng):
        low = self.base * np.floor(counts / self.base)
        return low + self.base * (rng.random(counts.shape) < (counts - low) / self.base)

    def log_likelihood(self, cells, counts):
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(1 - np.abs(cells - counts) / self.base, 0.0))


class Withheld:
    """Withheld where from 1 to below a threshold."""

    title = "withheld"

    def __init__(self, threshold):
        self.threshold = threshold

    def publish(self, counts, rng):
        return np.where((counts > 0) & (counts < self.threshold), np.nan, counts)

    def log_likelihood(self, cells, counts):
        small = (counts > 0) & (counts < self.threshold)
        with np.errstate(divide="ignore"):
            return np.log(np.where(np.isnan(cells), small, cells == counts).astype(float))


def protect(targets, rule, secrets, rng):
    """Release the tables of these people under a rule."""
    counts = targets.queries.counts(complete(targets, secrets))
    return ProtectedCounts(targets.queries, rule, rule.publish(counts, rng))


def protected_posterior(targets, release):
    """Exact posterior marginals given protected cells, by enumeration, shape (n, values)."""
    found = np.zeros_like(targets.prior)
    people = np.arange(targets.people)
    for a in assignments(targets):
        counts = targets.queries.counts(complete(targets, a))
        log = release.rule.log_likelihood(release.cells, counts).sum()
        found[people, a] += np.exp(log) * targets.prior[people, a].prod()
    return found / found.sum(axis=1, keepdims=True)


def swapped(rows, column, rng):
    """Exchange a column of a fifth of the rows."""
    rows = rows.copy()
    moved = rng.permutation(len(rows))[: len(rows) // 5]
    rows[moved, column] = rows[np.roll(moved, 1), column]
    return rows


def simulated(kind, number, seed, noise=2.0, **changes):
    """Releases of a kind to learn from: counts, rows, swapped rows, or cells under a rule."""
    rng = np.random.default_rng(seed)
    people = {"people": 60, "sizes": (2, 3, 2, 3, 4), "unknown": (0,), "k": 3, **changes}
    found = []
    for _ in range(number):
        targets, secrets = world(rng, concentration=2.0, **people)
        if kind == "counts":
            given = release(targets, GaussianNoise(noise), secrets, rng)
        elif kind in ("rows", "swapped"):
            rows = complete(targets, secrets)
            given = Microdata(rows if kind == "rows" else swapped(rows, 0, rng))
        else:
            given = protect(targets, RULES[kind], secrets, rng)
        found.append(Simulated(targets, given, secrets))
    return found


class Mine:
    """An attack of one's own, which answers as it is told."""

    title, uses, informed = "mine", "prior", False

    def __init__(self, answer):
        self.answer = answer

    def guess(self, view, *, rng):
        return self.answer(view, rng)


RULES = {"rounded": Rounded(3), "random": RandomlyRounded(3), "withheld": Withheld(4)}


@pytest.fixture
def worlds():
    """Return the helpers of this room's tests."""
    return SimpleNamespace(
        queries_of=queries_of,
        world=world,
        complete=complete,
        incidence=incidence,
        release=release,
        assignments=assignments,
        log_density=log_density,
        posterior=posterior,
        rules=RULES,
        simulated=simulated,
        protect=protect,
        protected_posterior=protected_posterior,
    )


def factored_of(targets):
    """Return the same people as if their joint values could not be listed: one factor of all."""
    shape = targets.queries.unknown_shape
    table = targets.log_prior.reshape(targets.people, *shape)
    factors = Factors(shape, (tuple(range(len(shape))),), (table,), np.arange(targets.people))
    return FactoredTargets(targets.queries, targets.codes, factors, CodesRight(targets.success))
