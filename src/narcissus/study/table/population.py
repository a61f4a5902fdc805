"""Bounds for the population that the people played were drawn from.

A theorem bounds the chance that ``v`` of *these* people are recovered. Over the draw of people the
tail needs no more than upper limits of two means, as if all people were alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.bounds import Theorem, interpolation_tails
from narcissus.bounds.theorems import of_tails
from narcissus.evidence import mean_limits, population_mean_upper
from narcissus.results import Estimate
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.tails import mean_tails, unpacked

Floats = NDArray[np.float64]


def mean_of_people(
    experiment: Experiment, sums: Floats, squares: Floats, *, confidence: float
) -> Estimate:
    """Limit the population's mean of a number in [0, 1] that each person has.

    ``sums`` and ``squares`` are those of the number and of its square over the people of each
    trial, shape (trials,); ``confidence`` is the level of both limits together.
    """
    n = experiment.targets
    if experiment.everybody:  # the people played are the population
        value = float(sums.mean() / n)
        return Estimate(value, value, value, confidence, len(sums), method="all people")
    error = (1 - confidence) / 2
    sums = np.clip(sums, 0, n)
    squares = np.clip(squares, 0, sums)
    high = population_mean_upper(sums, squares, n, confidence=1 - error)
    # the lower limit is the upper one of what is missing to 1
    missing = population_mean_upper(n - sums, n - 2 * sums + squares, n, confidence=1 - error)
    assert high.high is not None
    assert missing.high is not None
    low = 1 - missing.high
    return Estimate(high.value, low, high.high, confidence, high.trials, method=high.method)


def gain_if_declared(
    experiment: Experiment, number: int, trials: Sequence[Mapping[str, NDArray[Any]]]
) -> float | None:
    """Bound what a release adds, on average, to the score of the same attempts on fresh people.

    Only if the release rests on a declaration, which attacks can then test. None otherwise, and
    where the prior may be wrong about the people: then gains are over a decoy.
    """
    if not (experiment.prior_is_exact and experiment.settings[number].mechanism.assumes):
        return None
    if "gain_bound" not in trials[0]:
        return None
    sums = np.array([t["gain_bound"] for t in trials])
    return mean_of_people(experiment, sums[:, 0], sums[:, 1], confidence=experiment.confidence).high


def other_tails(
    experiment: Experiment, number: int, trials: Sequence[Mapping[str, NDArray[Any]]]
) -> list[tuple[Theorem, Floats, Floats]]:
    """Return the tails by other theorems than domination: each with two limits.

    The first is for the people played, the second for the population, shapes (n + 2,). A theorem
    yields no numbers of single persons that could be summed. But its limits in the trials are
    independent, so the mean over people is limited for each v. A tail falls with v: a search from
    the largest v downwards, stopped at the first that is too large, fails with the chance of one
    limit. So the second limit is cut to what those above it allow.
    """
    guarantee = experiment.settings[number].guarantee
    asked = [] if guarantee is None else of_tails(guarantee)
    found: list[tuple[Theorem, Floats, Floats]] = []
    for theorem in asked:
        if f"tails/{theorem.id}" not in trials[0]:
            continue
        tables = np.array([unpacked(t, f"tails/{theorem.id}", experiment.targets) for t in trials])
        # only the upper limits are used; the theorems share the error
        level = 1 - (1 - experiment.confidence) / len(asked)
        high = np.zeros(tables.shape[1])  # more than everybody is impossible
        for v, column in enumerate(tables.T[:-1]):
            limit = mean_limits(column, confidence=level).high
            assert limit is not None
            high[v] = limit
        whole = np.maximum.accumulate(high[::-1])[::-1]
        found.append((theorem, tables.mean(axis=0), whole))
    return found


def tail_of_population(
    experiment: Experiment,
    number: int,
    trials: Sequence[Mapping[str, NDArray[Any]]],
    place: int,
    *,
    times: int = 1,
) -> Floats:
    """Bound the chance, over people and releases, that at least v of n fall; v = 0 .. n + 1.

    Holds for all v at once, with chance ``1 - (1 - confidence) / 2`` over the people played.
    ``place`` is the index of the confidence level that chose the point of the profile. ``times``
    above 1 makes a plan and no limit: roughly what ``times`` as many trials would show.
    """
    n = experiment.targets
    if experiment.everybody:
        return mean_tails(trials, f"tails/{place}", n)
    # An upper limit of o and one of the cost as a part of delta, each on one side, share the error.
    # Larger numbers than the true ones are valid too, for all people alike (Narcissus theory 4.10).
    level = 1 - (1 - experiment.confidence) / 2
    sums = np.array([t[f"single/{place}"] for t in trials], dtype=np.float64)
    single = mean_of_people(experiment, sums[:, 0], sums[:, 1], confidence=level)
    part = mean_of_people(experiment, sums[:, 2], sums[:, 3], confidence=level)
    assert single.high is not None
    guarantee = experiment.settings[number].guarantee
    assert guarantee is not None
    assert part.high is not None
    delta = float(guarantee.profile(experiment.points[number][place]))
    most = single.value + (single.high - single.value) / times**0.5
    return interpolation_tails(np.full(n, most), np.full(n, delta * part.high))
