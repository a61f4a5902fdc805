"""Bounds at one setting: for the people played, and for the population they are drawn from.

A theorem bounds the chance that ``v`` of *these* people are recovered. Over the draw of people the
tail needs no more than upper limits of two means, as if all people were alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from narcissus.kinds.table.found import INDEPENDENT, bound_row
from narcissus.kinds.table.proofs import mean_tails, not_exceeded, unpacked
from narcissus.results import Estimate
from narcissus.rows import StudyRow


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
    upper_limit = single.value + (single.high - single.value) / times**0.5
    return interpolation_tails(np.full(n, upper_limit), np.full(n, delta * part.high))


Found = dict[str, Any]


def bound_rows(experiment: Experiment, number: int, trials: Sequence[Trial]) -> list[StudyRow]:
    """Return the bounds at a setting; those for comparison only come last."""
    label = experiment.settings[number].label
    return [bound_row(label, bound) for bound in _bounds(experiment, number, trials)]


def _bounds(experiment: Experiment, number: int, trials: Sequence[Trial]) -> list[Found]:
    guarantee, n = experiment.settings[number].guarantee, experiment.targets
    if guarantee is None:
        return _nothing(experiment)
    basis = _given(experiment, number, guarantee)
    by_share, by_tail = theorems_of(experiment, guarantee)
    floor = None
    if "reached" in trials[0]:  # less a hair, as limits have one more: they are equal under pure DP
        floor = mean_tails(trials, "reached", n) * (1 - 2e-12)

    def count(
        theorem: Theorem, name: str, level: float, limits: Sequence[Floats], reached: int | None
    ) -> Found:
        played, whole = (not_exceeded(tails, level) for tails in limits)
        return {
            "limits": "count",
            **_by(theorem),
            "name": name,
            **basis,
            "confidence": level,
            "at_most": played,
            "of": n,
            "at_most_of_population": whole,
            "reached": reached,
        }

    bounds: list[Found] = []
    for place, level in enumerate(_levels(experiment)):
        tails = mean_tails(trials, f"tails/{place}", n)
        whole = tail_of_population(experiment, number, trials, place)
        reached = None if floor is None else not_exceeded(floor, level)
        bounds.append(count(by_tail, by_tail.id, level, (tails, whole), reached))
    bounds += _if_fair(experiment, guarantee, trials, bounds)
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
    share = _share(_by(by_share), "mean share", basis, mean_bound, population.high)
    compared: dict[str, Any] = {**basis, "for_comparison": True}
    columns: list[Found] = []
    if "columns_bound" in trials[0]:  # no bound on the share of people
        mean_bound = float(np.mean([float(t["columns_bound"]) for t in trials]))
        columns.append(_share(_by(COLUMNS), COLUMNS.title, compared, mean_bound))
    return [*bounds, share, *columns, *_published(experiment, number, trials, share, compared)]


def _share(
    theorem: Mapping[str, str],
    name: str,
    given: Mapping[str, Any],
    most: float,
    population: float | None = None,
) -> Found:
    limits = {"limits": "share", "share_at_most": most, "share_of_population": population}
    return {**limits, **theorem, "name": name, **given}


def _if_fair(
    experiment: Experiment, guarantee: Guarantee, trials: Sequence[Trial], known: Sequence[Found]
) -> list[Found]:
    """Return lower bounds of the swap program, for people no less fair than those played."""
    if "evenness" not in trials[0]:
        return []
    each = np.array([t["evenness"] for t in trials])
    even = np.array([each[:, 0].max(), each[:, 1].min()])
    bounds: list[Found] = []
    for bound in known:
        limit = proofs.at_most_if_fair(even, bound["of"], guarantee, bound["confidence"])
        if limit is None or limit.value >= bound["at_most"]:
            continue
        theorem, count = THEOREMS[limit.id], int(limit.value)
        changes: dict[str, Any] = {**_by(theorem), "name": theorem.id, "at_most": count}
        changes["at_most_of_population"] = count if experiment.everybody else None
        bounds.append(bound | changes)
    return bounds


def _levels(experiment: Experiment) -> tuple[float, ...]:
    return () if experiment.success.by_column else experiment.levels


def theorems_of(experiment: Experiment, guarantee: Guarantee) -> tuple[Theorem, Theorem]:
    """Return the theorems behind the bounds on the mean share and on the count."""
    success, people = experiment.success, experiment.targets
    return proofs.theorems_of(success, people, guarantee, factored=experiment.factored)


def _nothing(experiment: Experiment) -> list[Found]:
    basis: Found = {
        "guarantee": "none",
        "grade": "not assessed",
        "for_comparison": False,
        "assumptions": (),
        "takes_as_given": (),
    }
    theorem = {"theorem": "no theorem: the release guarantees nothing", "id": ""}
    n, name = experiment.targets, "trivial limit"
    counts: list[Found] = [
        {
            "limits": "count",
            **theorem,
            "name": name,
            **basis,
            "confidence": level,
            "at_most": n,
            "of": n,
            "at_most_of_population": None,
        }
        for level in _levels(experiment)[:1]
    ]
    return [*counts, _share(theorem, name, basis, 1.0)]


def _by(theorem: Theorem) -> dict[str, str]:
    return {"id": theorem.id, "theorem": theorem.statement}


def _given(experiment: Experiment, number: int, guarantee: Guarantee) -> dict[str, Any]:
    premises = experiment.given_at(number)
    return {
        "guarantee": guarantee.describe(),
        "for_comparison": False,
        "grade": "proved if" if premises else "proved",
        "assumptions": (f"the release is {guarantee.describe()}", *guarantee.required, INDEPENDENT),
        "takes_as_given": premises,
    }


def _published(
    experiment: Experiment,
    number: int,
    trials: Sequence[Trial],
    share: Found,
    compared: Mapping[str, Any],
) -> list[Found]:
    """Return the bounds from one (epsilon, delta) alone, and the published bound.

    The published bound is evaluated at the best guess, so it holds for every attacker. Evaluated at
    one attack's attempts it would be smaller for a bad attack, and no bound on the others. Under
    pure DP it holds given any release (Theorem 3.2), for each set of people by itself; otherwise
    averaged over releases with ``n delta`` added (Corollary 3.4).
    """
    setting, n = experiment.settings[number], experiment.targets
    if setting.single is None:
        return []
    same: dict[str, Any] = {**compared, "guarantee": setting.single.describe()}
    pure = setting.single == setting.guarantee
    bounds: list[Found] = []
    if not pure:
        limit = float(np.mean([float(t["share_single"]) for t in trials]))
        theorem = {key: share[key] for key in ("id", "theorem")}
        bounds.append(_share(theorem, "mean share from one (epsilon, delta)", same, limit))
    for level in _levels(experiment):
        limit = (
            max(not_exceeded(unpacked(t, "published", n), level) for t in trials)
            if pure
            else not_exceeded(mean_tails(trials, "published", n), level)
        )
        bounds.append(
            {
                "limits": "count",
                **_by(proofs.published_theorem(setting.single)),
                "name": "published",
                **same,
                "confidence": level,
                "at_most": limit,
                "of": n,
                "at_most_of_population": None,
            }
        )
    return bounds
