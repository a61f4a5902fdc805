"""From all trials of an audit to its results: every setting summarised, compared and judged.

What others than the prior guess from the known columns, of rows that they were not fitted to.

If the prior is right about the rows of the table, and their secrets are independent given the
known columns, then no guess about a row that did not see its secret has a larger chance than the
best guess, whoever makes it. So the number of right guesses is at most a sum of independent
Bernoullis with these chances, and its tail is known exactly. A random forest tests it where the
prior misses a relation between columns; a row with equal known columns where people are copies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import first_largest
from narcissus._random import child
from narcissus.bounds.binomial import PoissonBinomial
from narcissus.evidence import each_confidence
from narcissus.findings import contradictions
from narcissus.knowledge import FactoredTargets
from narcissus.priors.base import row_keys
from narcissus.study.results.table import (
    Excess,
    FindingResult,
    SettingNumbers,
    SettingResult,
    ThresholdResult,
)
from narcissus.study.results.table_attacks import HeldOutGuess
from narcissus.study.table.excess import excesses, family
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.findings import findings_of
from narcissus.study.table.least_group import shown
from narcissus.study.table.population import gain_if_declared
from narcissus.study.table.proofs import not_exceeded
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.streams import HELD_OUT
from narcissus.study.table.summary import summarise
from narcissus.study.table.sweep import in_sequence
from narcissus.study.table.trees import tree_chances
from narcissus.study.table.verdict import Judgement, judge
from narcissus.study.table.words import against, in_favour, odds, verdict_words
from narcissus.worlds import RealRows
from narcissus.worlds.base import Draw

Codes = NDArray[np.int32]
Guesses = NDArray[np.integer]

FITTED, TESTED = 3_000, 2_000
"""Rows that the forest is fitted to, and rows that are guessed, at most."""
FEWEST = 20
"""Rows of a table with which that is tried."""
LOOKED_UP = 20_000
"""Rows among which equal ones are looked for, at most."""
CLASSES = 100
"""Secrets that the forest tells apart, the most frequent ones."""
ENTRIES = 10_000_000
"""Chances of joint values that are held at once."""
SURE = 0.998
"""Level of each of the two limits: a right prior that is called refuted is a headline."""

FOREST, EQUAL = "a random forest", "a row with equal known columns"


def held_out_guesses(experiment: Experiment) -> tuple[HeldOutGuess, ...] | None:
    """Return what a forest, and equal rows, guess of rows of the table; None where nothing can.

    Deterministic given the experiment's entropy.
    """
    table, queries = experiment.table, experiment.queries
    if table.rows < FEWEST or not queries.known:
        return None
    rng = child(experiment.entropy, HELD_OUT)
    some = min(table.rows, LOOKED_UP)
    drawn = RealRows(table.in_order, some, table.counts).draw(1, rng).data[0]
    rows = drawn[rng.permutation(some)]
    most = TESTED if experiment.factored else max(1, min(TESTED, ENTRIES // queries.values))
    tested = min(len(rows) // 3, most)
    fitted = rows[tested : tested + FITTED]
    found = [_scored(experiment, FOREST, rows[:tested], _forest(experiment, fitted, rows[:tested]))]
    keys = row_keys(rows, queries.known, queries.sizes)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    like = first[np.ravel(which)]
    again = np.flatnonzero(like != np.arange(len(rows)))[:most]
    if again.size:
        said = _named(experiment, rows[like[again]])
        found.append(_scored(experiment, EQUAL, rows[again], said))
    return tuple(found)


def _named(experiment: Experiment, rows: Codes) -> Guesses:
    """Give the guesses that name the secrets of these rows."""
    if experiment.factored:
        return rows[:, list(experiment.queries.unknown)]
    return experiment.success.guess_of(experiment.queries.joint(rows))


def _forest(experiment: Experiment, fitted: Codes, asked: Codes) -> Guesses:
    """Guess the unknown columns of rows from the known ones of others.

    Joint values are guessed as one; where none are listed, column by column.
    """
    queries = experiment.queries
    known = list(queries.known)
    ordered = [experiment.table.ordered[c] for c in known]
    rng = child(experiment.entropy, HELD_OUT, 0)

    def chances(secrets: Guesses) -> tuple[Guesses, NDArray[np.float64]]:
        values, counts = np.unique(secrets, return_counts=True)
        values = np.sort(values[np.argsort(-counts, kind="stable")][:CLASSES])
        kept = np.isin(secrets, values)
        classes = np.searchsorted(values, secrets[kept])
        rows, size = fitted[kept][:, known], len(values)
        return values, tree_chances(rows, classes, asked[:, known], ordered, size=size, rng=rng)

    if experiment.factored:
        picked: list[Guesses] = []
        for column in queries.unknown:
            values, found = chances(fitted[:, column])
            picked.append(values[first_largest(found)])
        return np.stack(picked, axis=1)
    values, found = chances(queries.joint(fitted))
    beliefs = np.zeros((len(asked), queries.values))
    beliefs[:, values] = found
    return experiment.success.decide(beliefs)


def _scored(experiment: Experiment, by: str, rows: Codes, attempt: Guesses) -> HeldOutGuess:
    """Score guesses about rows, beside the prior's own and what it allows anybody."""
    side: Any = experiment.side
    [targets] = side.reveal(None, Draw(rows[None]), child(experiment.entropy, HELD_OUT, 1))
    success, secrets, people = targets.success, targets.secrets(rows), len(rows)
    best = targets.best_limit if isinstance(targets, FactoredTargets) else targets.best_chance
    best = np.clip(best, 0.0, 1.0)
    if success.by_column:  # parts of a person: Hoeffding 1963, Theorem 1
        most = min(1.0, float(best.mean()) + math.sqrt(-math.log(1 - SURE) / (2 * people)))
    else:
        most = not_exceeded(PoissonBinomial(best).tails(), SURE) / people
    return HeldOutGuess(
        by=by,
        people=people,
        share=float(success.score(secrets, attempt).mean()),
        prior_share=float(success.score(secrets, targets.best_guess).mean()),
        at_most=most,
        confidence=SURE,
    )


def conclude(
    experiment: Experiment,
    trials: Mapping[str, Mapping[str, NDArray[Any]]],
    threshold: ThresholdSpec | None,
    decided_at: str | None,
) -> list[SettingResult]:
    """Summarise every setting, hold all findings against each other, and judge each setting.

    What is taken as given at one setting is of a piece with what is at the others (the same prior,
    declarations by the same hand): refuted at one, none of it counts at another. A setting that
    takes nothing as given is judged by itself.

    Parameters
    ----------
    experiment
        What was played.
    trials
        Outcome of each trial at each setting, by ``"trial/setting"``.
    threshold
        The threshold, if there is one.
    decided_at
        Label of the setting that the threshold names, if it names one.
    """
    experiment, trials = shown(experiment, trials)
    joint = each_confidence(experiment.confidence, family(experiment))
    settings = range(len(experiment.settings))
    given = [experiment.given_at(number) for number in settings]
    own = [[trials[f"{t}/{number}"] for t in range(experiment.trials)] for number in settings]
    held_out = held_out_guesses(experiment)
    numbers = [summarise(experiment, n, own[n], held_out=held_out) for n in settings]
    gains = [gain_if_declared(experiment, number, own[number]) for number in settings]
    findings = [
        findings_of(found, experiment.takes_as_given, joint, gain, real=experiment.real_rows)
        for found, gain in zip(numbers, gains, strict=True)
    ]
    clashes = [contradictions(found) for found in findings]
    refuting = [clash for found in clashes for clash in found if clash.refuted]
    held: list[list[Excess]] = []
    judgements: list[Judgement] = []
    for number in settings:
        held.append(
            [] if threshold is None else excesses(experiment, number, own[number], threshold)
        )
        own_clashes = clashes[number]
        elsewhere = [clash for clash in refuting if given[number] and clash not in own_clashes]
        judgements.append(judge(threshold, held[number], [*own_clashes, *elsewhere], given[number]))
    judgements = in_sequence(numbers, judgements, decided_at)
    return [
        SettingResult(
            **dict(numbers[number]),
            threshold=_threshold(threshold, decided_at),
            excesses=tuple(held[number]),
            findings=tuple(FindingResult.of(one) for one in findings[number]),
            decides=decided_at in (None, numbers[number].label),
            **_judged(numbers[number], judgements[number], threshold, held[number], given[number]),
        )
        for number in settings
    ]


def _threshold(threshold: ThresholdSpec | None, decided_at: str | None) -> ThresholdResult | None:
    """Give what was judged by: a policy's threshold is in no study."""
    if threshold is None:
        return None
    return ThresholdResult(
        share=threshold.share,
        advantage=threshold.advantage,
        gain=threshold.gain,
        targets=threshold.targets,
        worst_group=threshold.worst_group,
        decided_at=decided_at,
        reason=threshold.reason,
        origin=threshold.origin,
    )


def _judged(
    numbers: SettingNumbers,
    judgement: Judgement,
    threshold: ThresholdSpec | None,
    held: list[Excess],
    given: tuple[str, ...],
) -> dict[str, Any]:
    """Give the judgement in numbers and in words."""
    found = judgement.contradictions
    return {
        "status": judgement.status,
        "held_back_by": judgement.held_back_by,
        "grade": judgement.grade,
        "assumptions": judgement.takes_as_given,
        "contradictions": tuple(str(one) for one in found),
        "trials_needed": judgement.trials_needed,
        "verdict": verdict_words(numbers, threshold, judgement),
        "odds": odds(numbers, found),
        "evidence_for": ()
        if judgement.held_back_by is not None
        else tuple(in_favour(numbers, threshold, held, found, given)),
        "evidence_against": tuple(against(numbers, held, found)),
    }
