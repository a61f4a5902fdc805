"""The chance that a person is found: individual risk, special and population uniques."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus.disclosure.classes import Codes, KeyClasses, Numbers
from narcissus.errors import InputError
from narcissus.results import NotAssessed
from narcissus.synthetic.files import keys_of

FEWEST_OF_POPULATION = 0.1
"""Least share of the population in a file from which its uniques are estimated."""
FEWEST_UNIQUES = 50
"""Fewest unique people of a file from which that is estimated."""
_SMALL = 5  # people of a class up to which classes are fitted: larger ones tell nothing of uniques
MOST_SPECIAL = 8
"""Most known columns whose subsets are searched for uniques."""


def individual_risk(people: Numbers, population: Numbers) -> Numbers:
    """Return the chance of each person to be identified from the known values, in [0, 1].

    The mean of 1 / F_k, where the number F_k of people in the population with these values is
    negative binomial given the number f_k in the file (Franconi and Polettini 2004; for f_k above
    2 the approximation by sdcMicro, Templ, Kowarik and Meindl 2015). Equal to 1 / f_k where the
    file is everybody.

    people, population: f_k and the estimated F_k of each person, both above 0.

    >>> individual_risk(np.array([2.0, 1.0]), np.array([110.0, 17.0])).round(8).tolist()
    [0.01714426, 0.17707583]
    """
    f = np.asarray(people, np.float64)
    p = np.minimum(f / population, 1.0)
    p = np.where(p < 1, p, 0.5)  # everybody is there: replaced below
    odds, log = p / (1 - p), np.log(1 / p)
    risk = np.where(f == 1, odds * log, np.where(f == 2, odds - odds**2 * log, p / (f - 1 + p)))
    return np.where(f / population < 1, np.clip(risk, 0.0, 1.0), 1 / f)


def risk_of_people(classes: KeyClasses, risk: Numbers) -> tuple[Numbers, Numbers]:
    """Return the risk of each person that one of their rows is identified, and how many they are.

    The rows of one household count as independent; equal ones of it count once. Shape (units,).
    """
    each = np.unique(np.stack([classes.units, classes.of_row]), axis=1)
    with np.errstate(divide="ignore"):
        kept = np.bincount(each[0], np.log1p(-risk[each[1]]))
    return -np.expm1(kept), classes.times if classes.is_by_row else np.ones(len(kept))


def population_uniques(sizes: Codes, population: float) -> float | NotAssessed:
    """Estimate how many people of a random sample are unique in the population.

    The chances of known values are taken as from a gamma distribution that may be improper at 0,
    fitted to the sample's classes of up to 5 people (the extended negative binomial, Engen 1974,
    zero-truncated; it holds Pitman's, Fisher's and the Poisson-gamma models). On simulated and
    real tables it is mostly within a factor of 2 of the truth; it is approximate.

    sizes: Number of people of each class in the sample, shape (classes,).
    population: Number of people in the population.

    >>> population_uniques(np.ones(5, int), 1000).reason[:20]
    'the file is less tha'
    """
    people = float(sizes.sum())
    if population < people:
        raise InputError(f"`population` must be at least the {people:,.0f} people of the file")
    counts = np.bincount(sizes[sizes <= _SMALL], minlength=_SMALL + 1)[1:].astype(np.float64)
    share = people / population
    if share >= 1:
        return float(counts[0])
    if share < FEWEST_OF_POPULATION or not FEWEST_UNIQUES <= counts[0] < sizes.sum():
        few = f"fewer than {FEWEST_UNIQUES} people of the file, or all of them, are unique in it"
        rare = f"the file is less than {FEWEST_OF_POPULATION:.0%} of the population"
        return NotAssessed(
            "people who are unique in the population",
            rare if share < FEWEST_OF_POPULATION else few,
            "take a larger share of the population, or other known columns",
        )
    power, left = _fitted(counts)
    scale = (1 - left) / left + 1
    return float(counts[0] * (scale / (scale - 1 + 1 / share)) ** (1 + power))


def _fitted(counts: Numbers) -> tuple[float, float]:
    """Return the shape (above -1) and the ratio of the distribution that fits best."""
    s = np.arange(1, len(counts) + 1)

    def at(x: Numbers) -> tuple[float, float]:
        return math.exp(x[0]) - 1, -math.log1p(math.exp(-x[1]))

    def misfit(x: Any) -> float:
        power, log = at(x)
        terms = scipy.special.gammaln(s + power) - scipy.special.gammaln(s + 1) + (s - 1) * log
        return float(-(counts * (terms - scipy.special.logsumexp(terms))).sum() / counts.sum())

    starts = ((a, b) for a in (-1.0, 0.5, 3.0) for b in (-3.0, 0.0, 4.0))
    limits = scipy.optimize.Bounds([-8.0, -12.0], [8.0, 12.0])
    tries = [
        scipy.optimize.minimize(misfit, start, method="Nelder-Mead", bounds=limits)
        for start in starts
    ]
    best = min(tries, key=lambda one: round(float(one.fun), 9))
    power, log = at(best.x)
    return power, math.exp(log)


def special_uniques(
    codes: Codes, *, units: Codes | None = None, times: Codes | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the SUDA score of each row, and the fewest known values that make it unique.

    Both have shape (rows,), and are 0 for rows that are not unique. A score is the sum over a
    row's minimal sample uniques, of k of M columns each, of (M - k)! (Elliot, Manning and Ford
    2002; as sdcMicro's ``original_scores``).

    codes: Known values, shape (rows, columns), of at most `MOST_SPECIAL` columns; missing values
        are a value of their own.
    units, times: As for `key_classes`.

    >>> [one.tolist() for one in special_uniques(np.array([[0, 0], [0, 1], [1, 1], [0, 0]]))]
    [[0, 1, 1, 0], [0, 2, 1, 0]]
    """
    rows, width = codes.shape
    if width > MOST_SPECIAL:
        raise InputError(f"`codes` may have {MOST_SPECIAL} columns at most, got {width}")
    owner, own = np.arange(rows) if units is None else units, np.ones(rows)
    score, fewest = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    unique: dict[tuple[int, ...], NDArray[np.bool_]] = {}
    for size in range(1, width + 1):
        for columns in combinations(range(width), size):
            keys = keys_of(codes[:, columns])
            each, first = np.unique(keys * rows + owner, return_index=True)
            people = np.bincount(each // rows, (own if times is None else times)[first])
            alone = (people == 1)[keys]
            below = [unique[part] for part in combinations(columns, size - 1) if part]
            minimal = alone & ~np.logical_or.reduce(below) if below else alone
            score += minimal * math.factorial(width - size)
            fewest[alone & (fewest == 0)] = size
            unique[columns] = alone
    return score, fewest
