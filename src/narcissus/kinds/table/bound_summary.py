"""Bounds at one setting: for the people played, and for the population they are drawn from.

A theorem bounds the chance that ``v`` of *these* people are recovered. Over the draw of people the
tail needs no more than upper limits of two means, as if all people were alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from narcissus._arrays import Floats
from narcissus.bounds import THEOREMS, Theorem, interpolation_tails
from narcissus.bounds.one_target import COLUMNS
from narcissus.bounds.theorems import of_tails
from narcissus.evidence import mean_limits, population_mean_upper
from narcissus.guarantees import Guarantee
from narcissus.kinds.table import proofs
from narcissus.kinds.table.envelope import Trial
from narcissus.kinds.table.estimates import exactly
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.found import INDEPENDENT, TableBound
from narcissus.kinds.table.proofs import mean_tails, not_exceeded, unpacked
from narcissus.results import Estimate, Grade
from narcissus.rows import Quantity


def mean_of_people(
    experiment: Experiment, sums: Floats, squares: Floats, *, confidence: float
) -> Estimate:
    """Limit the mean over all people of a number in [0, 1] by sums of each trial."""
    n = experiment.targets
    if experiment.everybody:  # the people played are the population
        return exactly(float(sums.mean() / n), confidence, len(sums))
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


def gain_if_declared(experiment: Experiment, number: int, trials: Sequence[Trial]) -> float | None:
    """Bound what a declared release adds, on average, to the score on fresh people.

    None where nothing is declared, or the prior may be wrong: gains are then over a decoy.
    """
    if not (experiment.prior_is_exact and experiment.settings[number].mechanism.assumes):
        return None
    if "gain_bound" not in trials[0]:
        return None
    sums = np.array([t["gain_bound"] for t in trials])
    return mean_of_people(experiment, sums[:, 0], sums[:, 1], confidence=experiment.confidence).high


def other_tails(
    experiment: Experiment, number: int, trials: Sequence[Trial]
) -> Iterator[tuple[Theorem, Floats, Floats]]:
    """Return the tails by other theorems than domination: each with two limits.

    The first is for the people played, the second for the population, shapes (n + 2,). A theorem
    yields no numbers of single persons that could be summed. But its limits in the trials are
    independent, so the mean over people is limited for each v. A tail falls with v: a search from
    the largest v downwards, stopped at the first that is too large, fails with the chance of one
    limit. So the second limit is cut to what those above it allow.
    """
    guarantee = experiment.settings[number].guarantee
    theorems = [] if guarantee is None else of_tails(guarantee)
    for theorem in theorems:
        if f"tails/{theorem.id}" not in trials[0]:
            continue
        tables = np.array([unpacked(t, f"tails/{theorem.id}", experiment.targets) for t in trials])
        # only the upper limits are used; the theorems share the error
        level = 1 - (1 - experiment.confidence) / len(theorems)
        high = np.zeros(tables.shape[1])  # more than everybody is impossible
        for v, column in enumerate(tables.T[:-1]):
            limit = mean_limits(column, confidence=level).high
            assert limit is not None
            high[v] = limit
        whole = np.maximum.accumulate(high[::-1])[::-1]
        yield (theorem, tables.mean(axis=0), whole)


def tail_of_population(
    experiment: Experiment, number: int, trials: Sequence[Trial], place: int, *, times: int = 1
) -> Floats:
    """Bound the chance over people and releases that v of n are reconstructed; v = 0 .. n + 1.

    Holds for all v at the same time, with chance ``1 - (1 - confidence) / 2`` over the people
    played.
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
    upper_limit = single.value + (single.high - single.value) / times**0.5
    return interpolation_tails(np.full(n, upper_limit), np.full(n, delta * part.high))


@dataclass(frozen=True)
class _Basis:
    """What bounds at a setting follow from."""

    guarantee: str
    grade: Grade
    assumptions: tuple[str, ...] = ()
    takes_as_given: tuple[str, ...] = ()
    for_comparison: bool = False

    def bound(
        self,
        theorem: Theorem | None,
        name: str,
        value: float,
        *,
        people: int | None = None,
        level: float | None = None,
        whole: float | None = None,
        reached: int | None = None,
    ) -> TableBound:
        """Return a bound on a mean share, or on the number of some people at a level."""
        return TableBound(
            quantity=Quantity(
                value=value,
                grade=self.grade,
                confidence=level,
                id="" if theorem is None else theorem.id,
                assumptions=self.assumptions,
                takes_as_given=self.takes_as_given,
            ),
            theorem=NO_THEOREM if theorem is None else theorem.statement,
            name=name,
            guarantee=self.guarantee,
            people=people,
            of_population=whole,
            reached=reached,
            for_comparison=self.for_comparison,
        )


NO_THEOREM = "no theorem: the release guarantees nothing"


def bounds_at(experiment: Experiment, number: int, trials: Sequence[Trial]) -> list[TableBound]:
    """Return the bounds at a setting; those for comparison only come last."""
    guarantee, n = experiment.settings[number].guarantee, experiment.targets
    if guarantee is None:
        nothing, name = _Basis("none", "not assessed"), "trivial limit"
        levels = _levels(experiment)[:1]
        counts = [nothing.bound(None, name, n, people=n, level=level) for level in levels]
        return [*counts, nothing.bound(None, name, 1.0)]
    basis = _given(experiment, number, guarantee)
    by_share, by_tail = theorems_of(experiment, guarantee)
    floor = None
    if "reached" in trials[0]:  # less a hair, as limits have one more: they are equal under pure DP
        floor = mean_tails(trials, "reached", n) * (1 - 2e-12)

    def count(
        theorem: Theorem, name: str, level: float, limits: Sequence[Floats], reached: int | None
    ) -> TableBound:
        played, whole = (not_exceeded(tails, level) for tails in limits)
        more: Any = {"level": level, "whole": whole, "reached": reached}
        return basis.bound(theorem, name, played, people=n, **more)

    bounds: list[TableBound] = []
    for place, level in enumerate(_levels(experiment)):
        tails = mean_tails(trials, f"tails/{place}", n)
        whole = tail_of_population(experiment, number, trials, place)
        reached = None if floor is None else not_exceeded(floor, level)
        bounds.append(count(by_tail, by_tail.id, level, (tails, whole), reached))
    bounds += _if_fair(experiment, guarantee, trials, basis, bounds)
    bounds += [
        count(theorem, theorem.title, level, limits, None)
        for theorem, *limits in other_tails(experiment, number, trials)
        for level in _levels(experiment)
    ]
    sums = np.array([t["bound"] for t in trials])
    population = mean_of_people(
        experiment, sums[:, 0], sums[:, 1], confidence=experiment.confidence
    )
    mean_bound = float(sums[:, 0].sum() / (n * len(trials)))
    bounds.append(basis.bound(by_share, "mean share", mean_bound, whole=population.high))
    compared = replace(basis, for_comparison=True)
    if "columns_bound" in trials[0]:  # no bound on the share of people
        mean_bound = float(np.mean([float(t["columns_bound"]) for t in trials]))
        bounds.append(compared.bound(COLUMNS, COLUMNS.title, mean_bound))
    return [*bounds, *_published(experiment, number, trials, by_share, compared)]


def _if_fair(
    experiment: Experiment,
    guarantee: Guarantee,
    trials: Sequence[Trial],
    basis: _Basis,
    known: Sequence[TableBound],
) -> list[TableBound]:
    """Return lower bounds of the swap program, for people no less fair than those played."""
    if "evenness" not in trials[0]:
        return []
    each = np.array([t["evenness"] for t in trials])
    even = np.array([each[:, 0].max(), each[:, 1].min()])
    bounds: list[TableBound] = []
    for bound in known:
        limit = proofs.at_most_if_fair(even, bound.of, guarantee, bound.confidence)
        if limit is None or limit.value >= bound.at_most:
            continue
        theorem, count = THEOREMS[limit.id], int(limit.value)
        whole = count if experiment.everybody else None
        more: Any = {"level": bound.confidence, "whole": whole, "reached": bound.reached}
        bounds.append(basis.bound(theorem, theorem.id, count, people=bound.of, **more))
    return bounds


def _levels(experiment: Experiment) -> tuple[float, ...]:
    return () if experiment.success.by_column else experiment.levels


def theorems_of(experiment: Experiment, guarantee: Guarantee) -> tuple[Theorem, Theorem]:
    """Return the theorems behind the bounds on the mean share and on the count."""
    success, people = experiment.success, experiment.targets
    return proofs.theorems_of(success, people, guarantee, factored=experiment.factored)


def _given(experiment: Experiment, number: int, guarantee: Guarantee) -> _Basis:
    premises, words = experiment.given_at(number), guarantee.describe()
    return _Basis(
        guarantee=words,
        grade="proved if" if premises else "proved",
        assumptions=(f"the release is {words}", *guarantee.required, INDEPENDENT),
        takes_as_given=tuple(premises),
    )


def _published(
    experiment: Experiment,
    number: int,
    trials: Sequence[Trial],
    by_share: Theorem,
    compared: _Basis,
) -> Iterator[TableBound]:
    """Yield the bounds from one (epsilon, delta) alone, and the published bound.

    The published bound is evaluated at the best guess, so it holds for every attacker. Evaluated at
    one attack's attempts it would be smaller for a bad attack, and no bound on the others. Under
    pure DP it holds given any release (Theorem 3.2), for each set of people by itself; otherwise
    averaged over releases with ``n delta`` added (Corollary 3.4).
    """
    setting, n = experiment.settings[number], experiment.targets
    if setting.single is None:
        return
    same = replace(compared, guarantee=setting.single.describe())
    pure = setting.single == setting.guarantee
    if not pure:
        limit = float(np.mean([float(t["share_single"]) for t in trials]))
        yield same.bound(by_share, "mean share from one (epsilon, delta)", limit)
    theorem = proofs.published_theorem(setting.single)
    for level in _levels(experiment):
        limit = (
            max(not_exceeded(unpacked(t, "published", n), level) for t in trials)
            if pure
            else not_exceeded(mean_tails(trials, "published", n), level)
        )
        yield same.bound(theorem, "published", limit, people=n, level=level)
