"""Bounds at one setting: for the people played, and for the population they are drawn from.

A theorem bounds the chance that ``v`` of *these* people are recovered. Over the draw of people the
tail needs no more than upper limits of two means, as if all people were alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.bounds import THEOREMS, Theorem, interpolation_tails
from narcissus.bounds.one_target import COLUMNS
from narcissus.bounds.theorems import of_tails
from narcissus.evidence import mean_limits, population_mean_upper
from narcissus.guarantees import Guarantee
from narcissus.results import Estimate, Grade
from narcissus.study.results.table import CountBound, ShareBound, TableBound
from narcissus.study.table import column_proofs, factored_proofs, proofs
from narcissus.study.table.counts import at_most_if_fair, mean_tails, unpacked
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.findings import INDEPENDENT

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


Trial = Mapping[str, NDArray[Any]]


def bound_results(
    experiment: Experiment, number: int, trials: Sequence[Trial]
) -> tuple[TableBound, ...]:
    """List the bounds at a setting; those for comparison only come last."""
    setting, n = experiment.settings[number], experiment.targets
    if setting.guarantee is None:
        return _nothing(experiment)
    given = _given(experiment, number)
    guarantee = setting.guarantee.describe()
    share_theorem, tail_theorem = theorems_of(experiment, setting.guarantee)
    bounds: list[TableBound] = []
    floor = None
    if "reached" in trials[0]:  # less a hair, as limits have one more: they are equal under pure DP
        floor = mean_tails(trials, "reached", n) * (1 - 2e-12)
    for place, level in enumerate(_levels(experiment)):
        tails = mean_tails(trials, f"tails/{place}", n)
        whole = tail_of_population(experiment, number, trials, place)
        bounds.append(
            CountBound(
                limits="count",
                **_by(tail_theorem),
                name=tail_theorem.id,
                guarantee=guarantee,
                for_comparison=False,
                **given,
                confidence=level,
                at_most=proofs.not_exceeded(tails, level),
                of=n,
                at_most_of_population=proofs.not_exceeded(whole, level),
                reached=None if floor is None else proofs.not_exceeded(floor, level),
            )
        )
    bounds += _if_fair(experiment, number, trials, bounds)
    for theorem, tails, whole in other_tails(experiment, number, trials):
        bounds += [
            CountBound(
                limits="count",
                **_by(theorem),
                name=theorem.title,
                guarantee=guarantee,
                for_comparison=False,
                **given,
                confidence=level,
                at_most=proofs.not_exceeded(tails, level),
                of=n,
                at_most_of_population=proofs.not_exceeded(whole, level),
            )
            for level in _levels(experiment)
        ]
    sums = np.array([t["bound"] for t in trials])
    whole = mean_of_people(experiment, sums[:, 0], sums[:, 1], confidence=experiment.confidence)
    share = ShareBound(
        limits="share",
        **_by(share_theorem),
        name="mean share",
        guarantee=guarantee,
        for_comparison=False,
        **given,
        share_at_most=float(sums[:, 0].sum() / (n * len(trials))),
        share_of_population=whole.high,
    )
    columns = _of_columns(experiment, number, trials)
    return (*bounds, share, *columns, *_for_comparison(experiment, number, trials, share))


def _if_fair(
    experiment: Experiment, number: int, trials: Sequence[Trial], known: Sequence[TableBound]
) -> list[TableBound]:
    """Return the bounds of the swap program if they are below those known.

    They hold for people no less fair than all those played. Of others nothing is claimed, unless
    the people played are the whole population.
    """
    guarantee = experiment.settings[number].guarantee
    assert guarantee is not None
    if "evenness" not in trials[0]:
        return []
    each = np.array([t["evenness"] for t in trials])
    even = np.array([each[:, 0].max(), each[:, 1].min()])
    found: list[TableBound] = []
    for bound in known:
        assert isinstance(bound, CountBound)
        most = at_most_if_fair(even, bound.of, guarantee, bound.confidence)
        if most is None or most.value >= bound.at_most:
            continue
        theorem, count = THEOREMS[most.id], int(most.value)
        changes: dict[str, Any] = {**_by(theorem), "name": theorem.id, "at_most": count}
        changes["at_most_of_population"] = count if experiment.everybody else None
        found.append(bound.model_copy(update=changes))
    return found


def _of_columns(experiment: Experiment, number: int, trials: Sequence[Trial]) -> list[TableBound]:
    """Bound the mean share of columns; this is no bound on the share of people."""
    guarantee = experiment.settings[number].guarantee
    assert guarantee is not None
    if "columns_bound" not in trials[0]:
        return []
    given: dict[str, Any] = {**_given(experiment, number), "for_comparison": True}
    return [
        ShareBound(
            limits="share",
            **_by(COLUMNS),
            name=COLUMNS.title,
            guarantee=guarantee.describe(),
            **given,
            share_at_most=float(np.mean([float(t["columns_bound"]) for t in trials])),
            share_of_population=None,
        )
    ]


def _levels(experiment: Experiment) -> tuple[float, ...]:
    return () if experiment.success.by_column else experiment.levels


def theorems_of(experiment: Experiment, guarantee: Guarantee) -> tuple[Theorem, Theorem]:
    """Return the theorems behind the bounds on the mean share and on the count.

    Where each column counts by itself no bound on counts is proved: the second is not used.
    """
    if experiment.success.by_column:
        theorem = column_proofs.share_theorem(experiment.success)
        return theorem, theorem
    if experiment.factored:
        return (
            factored_proofs.share_theorem(experiment.success, guarantee),
            factored_proofs.tail_theorem(experiment.success, guarantee),
        )
    success, people = experiment.success, experiment.targets
    return (
        proofs.share_theorem(success, people, guarantee),
        proofs.tail_theorem(success, people, guarantee),
    )


def _nothing(experiment: Experiment) -> tuple[TableBound, ...]:
    """Return the trivial bounds: the release guarantees nothing."""
    same: dict[str, Any] = {
        "theorem": "no theorem: the release guarantees nothing",
        "name": "trivial limit",
        "guarantee": "none",
        "grade": "not assessed",
        "for_comparison": False,
        "assumptions": (),
        "takes_as_given": (),
    }
    n = experiment.targets
    return (
        *(
            CountBound(
                limits="count",
                **same,
                confidence=level,
                at_most=n,
                of=n,
                at_most_of_population=None,
            )
            for level in _levels(experiment)[:1]
        ),
        ShareBound(limits="share", **same, share_at_most=1.0, share_of_population=None),
    )


def _by(theorem: Theorem) -> dict[str, str]:
    return {"id": theorem.id, "theorem": theorem.statement}


def _given(experiment: Experiment, number: int) -> dict[str, Any]:
    guarantee, given = experiment.settings[number].guarantee, experiment.given_at(number)
    assert guarantee is not None
    grade: Grade = "proved if" if given else "proved"
    return {
        "grade": grade,
        "assumptions": (
            f"the release is {guarantee.describe()}",
            INDEPENDENT,
        ),
        "takes_as_given": given,
    }


def _for_comparison(
    experiment: Experiment, number: int, trials: Sequence[Trial], share: ShareBound
) -> list[TableBound]:
    """Return the bounds from one (epsilon, delta) alone, and the published bound.

    The published bound is evaluated at the best guess, so it holds for every attacker. Evaluated at
    one attack's attempts it would be smaller for a bad attack, and no bound on the others. Under
    pure DP it holds given any release (Theorem 3.2), for each set of people by itself; otherwise
    averaged over releases with ``n delta`` added (Corollary 3.4).
    """
    setting = experiment.settings[number]
    if setting.single is None:
        return []
    same: dict[str, Any] = {
        **_given(experiment, number),
        "for_comparison": True,
        "guarantee": setting.single.describe(),
    }
    pure = setting.single == setting.guarantee
    bounds: list[TableBound] = []
    if not pure:
        bounds.append(
            ShareBound(
                limits="share",
                id=share.id,
                theorem=share.theorem,
                name="mean share from one (epsilon, delta)",
                **same,
                share_at_most=float(np.mean([float(t["share_single"]) for t in trials])),
                share_of_population=None,
            )
        )
    n = experiment.targets
    for level in _levels(experiment):
        most = (
            max(proofs.not_exceeded(unpacked(t, "published", n), level) for t in trials)
            if pure
            else proofs.not_exceeded(mean_tails(trials, "published", n), level)
        )
        bounds.append(
            CountBound(
                limits="count",
                **_by(proofs.published_theorem(setting.single)),
                name="published",
                **same,
                confidence=level,
                at_most=most,
                of=n,
                at_most_of_population=None,
            )
        )
    return bounds
