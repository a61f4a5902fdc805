"""From all trials of an audit to its results: every setting summarised, compared and judged.

Held-out guesses test the prior: others guess from the known columns of rows they were not fitted
to. If the prior is right about the rows of the table, and their secrets are independent given the
known columns, then no guess about a row made without its secret has a larger chance than the best
guess. So the number of right guesses is at most a sum of independent Bernoullis with these chances,
and its tail is known exactly. A random forest tests the prior for missed relations between columns;
a row with equal known columns tests it for copies of people.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import first_largest
from narcissus._random import child
from narcissus.bounds.binomial import PoissonBinomial
from narcissus.evidence import each_confidence, first_in_sequence
from narcissus.findings import contradictions, weakest
from narcissus.knowledge import FactoredTargets
from narcissus.priors.base import row_keys
from narcissus.results import Grade, Status
from narcissus.study.results.table import (
    WORST,
    Excess,
    FindingResult,
    SettingNumbers,
    SettingResult,
    ThresholdResult,
    decisive,
)
from narcissus.study.results.table_attacks import HeldOutGuess
from narcissus.study.table.bound_summary import gain_if_declared
from narcissus.study.table.excess import excesses, family
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.findings import findings_of
from narcissus.study.table.least_group import shown
from narcissus.study.table.proofs import not_exceeded
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.streams import HELD_OUT
from narcissus.study.table.summary import summarise
from narcissus.study.table.trees import tree_chances
from narcissus.study.table.verdict import Judgement, judge
from narcissus.study.table.words import against, in_favour, odds, threshold_text, verdict_words
from narcissus.worlds import RealRows
from narcissus.worlds.base import Draw


@dataclass(frozen=True)
class Overall:
    """The conclusion on a whole sweep; ``decided_at`` is the label that decides, if any."""

    status: Status
    grade: Grade
    assumptions: tuple[str, ...]
    contradictions: tuple[str, ...]
    verdict: str
    decided_at: str | None


def in_sequence(
    settings: Sequence[SettingNumbers], judgements: Sequence[Judgement], decided_at: str | None
) -> list[Judgement]:
    """Take back "met" after the first setting, from most protection to least, that is not met.

    Each setting is compared with the threshold at the full level. "Met" is claimed of the settings
    in an order fixed beforehand, up to the first failure: so all claims together have the level of
    one. The setting that the threshold names beforehand stands by itself.
    """
    found = list(judgements)
    order = sorted(range(len(found)), key=lambda number: -settings[number].protection)
    kept = first_in_sequence(found[number].status == "met" for number in order)
    for number in order[kept:]:
        if found[number].status == "met" and settings[number].label != decided_at:
            found[number] = replace(
                found[number],
                status="inconclusive",
                trials_needed=None,
                held_back_by=settings[order[kept]].label,
            )
    return found


def overall(
    settings: Sequence[SettingResult], threshold: ThresholdSpec | None, decided_at: str | None
) -> Overall:
    """Judge a sweep: by the setting that the threshold names, or by all of them."""
    if decided_at is not None:
        deciding = [s for s in settings if s.label == decided_at]
    else:
        deciding = settings
    status = WORST[min(WORST.index(s.status) for s in deciding)]
    worst = [s for s in deciding if s.status == status]
    found = tuple(dict.fromkeys(text for s in settings for text in s.contradictions))
    if found and status != "exceeded":
        # what is refuted at one level is assumed at all of them
        status, worst = "contradicted", [s for s in settings if s.contradictions]
    return Overall(
        status=status,
        grade=weakest(s.grade for s in worst),
        assumptions=() if found else tuple(dict.fromkeys(a for s in worst for a in s.assumptions)),
        contradictions=found,
        verdict=settings[0].verdict
        if len(settings) == 1
        else _words(settings, threshold, status, deciding),
        decided_at=decided_at,
    )


def _words(
    settings: Sequence[SettingResult],
    threshold: ThresholdSpec | None,
    status: Status,
    deciding: Sequence[SettingResult],
) -> str:
    if threshold is None:
        return " ".join(f"{s.label}: {s.odds}" for s in settings)
    text = f"The threshold ({threshold_text(threshold)})"
    of = {s: [r.label for r in settings if r.status == s] for s in WORST}
    where = [
        f"{words} at {', '.join(of[s])}"
        for s, words in (
            ("met", "met by itself" if status == "contradicted" else "met"),
            ("exceeded", "exceeded"),
            ("contradicted", "contradicted"),
            ("too few trials", "open for want of trials"),
            ("inconclusive", "neither shown to be met nor exceeded"),
        )
        if of[s]
    ]
    head = f"{text} is {'; '.join(where)}."
    one = deciding[0] if len(deciding) == 1 else None
    if one is not None and status != one.status:
        refuted = ", ".join(s.label for s in settings if s.contradictions)
        why = f"what is refuted at {refuted} is assumed at every level."
        return f"{head} {one.label} decides, and nothing is claimed there: {why}"
    if one is not None:
        return f"{head} {one.label} decides. At {one.label}: {one.verdict}"
    if status != "met":
        head += " Every level must meet it, since the threshold names none (`at`)."
    shown = decisive(settings)
    return f"{head} At {shown.label}: {shown.verdict}"


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
    """Return what a forest, and equal rows, guess of rows of the table; None if nothing can.

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
    """Score guesses about rows, with the prior's own guess and its upper bound on any guess."""
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
    """Summarise every setting, compare all findings, and judge each setting.

    The assumptions of one setting belong together with those of the others (the same prior,
    declarations by the same hand): refuted at one, none of them counts at another. A setting
    without assumptions is judged by itself. ``trials`` holds the outcome of each trial at each
    setting, by ``"trial/setting"``; ``decided_at`` is the label of the setting that the threshold
    names, if any.
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
