"""What is proved at one setting: for the people played, and limited for all people like them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.bounds import THEOREMS, Theorem
from narcissus.bounds.one_target import COLUMNS
from narcissus.guarantees import Guarantee
from narcissus.results import Grade
from narcissus.study.results.table import CountBound, ShareBound, TableBound
from narcissus.study.table import column_proofs, factored_proofs, proofs
from narcissus.study.table.counts import at_most_if_fair
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.findings import INDEPENDENT
from narcissus.study.table.population import mean_of_people, other_tails, tail_of_population
from narcissus.study.table.tails import mean_tails, unpacked

Trial = Mapping[str, NDArray[Any]]


def bound_results(
    experiment: Experiment, number: int, trials: Sequence[Trial]
) -> tuple[TableBound, ...]:
    """List what is proved at a setting; the bounds that are for comparison only come last."""
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
    """Give the limits of the swap program where they are less than those known.

    They are about people no less fair than all those played: of others nothing is claimed, unless
    the people played are all that there are.
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
    """Give what is proved of the mean share of columns: no limit of the share of people."""
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
    """Give the levels at which something is said of counts of targets."""
    return () if experiment.success.by_column else experiment.levels


def theorems_of(experiment: Experiment, guarantee: Guarantee) -> tuple[Theorem, Theorem]:
    """Give the theorems behind what is proved of the mean share, and of the count.

    Where each column counts by itself nothing is proved of counts: the second is not used.
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
    """Say that all is all: the release guarantees nothing."""
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
    """Give how a bound names its theorem."""
    return {"id": theorem.id, "theorem": theorem.statement}


def _given(experiment: Experiment, number: int) -> dict[str, Any]:
    """Give what every bound of a setting rests on."""
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
    """Give what follows from one (epsilon, delta) alone, and what is published.

    The published bound is for every attacker: nobody's attempt is likelier than the best.
    Followed by the attempts that one attack made it would be smaller for a bad attack, and no
    limit on the others. Under pure DP it holds given any release (Theorem 3.2), for each set of
    people by itself; otherwise averaged over releases with ``n delta`` added (Corollary 3.4).
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
