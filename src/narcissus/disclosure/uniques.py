"""The chance that a person is found: individual risk, and uniques of the population."""

from __future__ import annotations

import numpy as np
import scipy

from narcissus.disclosure.classes import Codes, KeyClasses, Numbers

LEAST_SHARE = 0.1
"""Least share of the population in a file from which its uniques are estimated."""
FEWEST_UNIQUES = 50
"""Fewest unique people of a file from which that is estimated."""
_SMALL = 5  # people of a class up to which classes are fitted: larger ones tell nothing of uniques


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
    f, is_part = np.asarray(people, np.float64), people < population
    p = np.where(is_part, f / population, 0.5)
    odds, log = p / (1 - p), np.log(1 / p)
    risk = np.where(f == 1, odds * log, np.where(f == 2, odds - odds**2 * log, p / (f - 1 + p)))
    return np.where(is_part, np.clip(risk, 0.0, 1.0), 1 / f)


def risk_of_people(classes: KeyClasses, risk: Numbers) -> Numbers:
    """Return the risk of each unit that one of its rows is identified, shape (units,).

    risk: Of each key, shape (keys,). Different rows of a household count as independent.
    """
    unit, key = np.unique(np.stack([classes.units, classes.of_row]), axis=1)
    with np.errstate(divide="ignore"):
        return -np.expm1(np.bincount(unit, np.log1p(-risk[key])))


def population_uniques(sizes: Codes, population: float) -> float | None:
    """Estimate how many people of a random sample are unique in the population.

    The chances of known values are taken as from a gamma distribution that may be improper at 0,
    fitted to the sample's classes of up to 5 people (the extended negative binomial, Engen 1974,
    zero-truncated; it holds Pitman's, Fisher's and the Poisson-gamma models). On simulated and
    real tables it is mostly within a factor of 2 of the truth; it is approximate.

    sizes: Number of people of each class in the sample, shape (classes,).
    population: Number of people in the population, at least those of the sample.

    Returns
    -------
    The estimate; None where the sample is less than `LEAST_SHARE` of the population, or has fewer
    than `FEWEST_UNIQUES` unique people, or no others.

    >>> round(population_uniques(np.array([1] * 100 + [2] * 40), 200), 1)
    94.3
    """
    counts = np.bincount(sizes[sizes <= _SMALL], minlength=_SMALL + 1)[1:]
    share = float(sizes.sum()) / population
    if share >= 1:
        return float(counts[0])
    if share < LEAST_SHARE or not FEWEST_UNIQUES <= counts[0] < len(sizes):
        return None
    power = np.geomspace(2.0**-10, 2.0**10, 401)[:, None, None]  # above -1, by 1
    left = scipy.special.expit(np.linspace(-9, 9, 361))[:, None]
    s = np.arange(1, _SMALL + 1)
    terms = scipy.special.gammaln(s + power - 1) - scipy.special.gammaln(s + 1)
    terms = terms + (s - 1) * np.log(left)
    fits = ((terms - scipy.special.logsumexp(terms, axis=-1, keepdims=True)) * counts).sum(axis=-1)
    best = np.unravel_index(int(fits.argmax()), fits.shape)
    scale = 1 / float(left[best[1], 0])
    return float(counts[0] * (scale / (scale - 1 + 1 / share)) ** float(power[best[0], 0, 0]))
