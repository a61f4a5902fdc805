"""The kind of study "game": prove what can be proved, play the rest, draw one verdict."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from narcissus._random import child
from narcissus.errors import InputError, TooLargeError
from narcissus.game import Attacked, Play, play
from narcissus.profiles import WORK, WrittenOut, memorized_information, write_out
from narcissus.profiles.proofs import from_lemmas, from_privacy
from narcissus.results import Bound, Estimate, NotAssessed
from narcissus.study.game.identity import identity_of
from narcissus.study.game.schema import CLAIMS, GameStudy, GameStudyBase, Setup
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.pool import play_in_order
from narcissus.study.record import Status
from narcissus.study.store import TrialStore
from narcissus.success.statements import (
    FixedBaseline,
    NotMemorizing,
    Resilience,
    SinglingOut,
    Threshold,
)

NUMBER = {"type": ["number", "null"]}
RESULTS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["outcome", "statement", "attackers", "exact", "proofs", "confidence", "trials"],
    "properties": {
        "outcome": {
            "enum": [
                "violates, proved",
                "violates",
                "no violation found",
                "resilient, proved",
                "not assessed",
            ]
        },
        "expected": {"type": ["string", "null"]},
        "about": {"type": "string"},
        "source": {"type": "string"},
        "statement": {"type": "object"},
        "confidence": {"type": "number"},
        "trials": {"type": "integer"},
        "decided": {"type": ["integer", "null"]},
        "largest_epsilon_refuted": NUMBER,
        "attackers": {"type": "array", "items": {"type": "object"}},
        "exact": {"type": ["object", "null"]},
        "proofs": {"type": "array", "items": {"type": "object"}},
        "curve": {"type": "array", "items": {"type": "object"}},
        "memorized_bits": NUMBER,
        "remarks": {"type": "array", "items": {"type": "string"}},
    },
}

TOLERANCE = 1e-12
"""Rounding allowed where an exact delta is compared with the one of a statement."""


@dataclass(frozen=True)
class Exactly:
    """What writing the game out came to, for the statement."""

    holds: bool
    least: float
    words: str
    data: dict[str, Any]


class GameKind:
    """Plays studies of the kind "game"."""

    model: type[BaseModel] = GameStudy
    results_schema = RESULTS_SCHEMA

    def check(self, study: GameStudyBase, folder: Path) -> None:
        """Make all parts once, and see that they fit each other."""
        setup = study.build(folder)
        if not setup.attacks and study.exact.when == "never":
            raise InputError(
                "the study has no [[attack]] and `exact.when` is never: nothing could be found"
            )

    def play(self, study: GameStudyBase, folder: Path, options: RunOptions) -> Outcome:
        """Prove, play and judge."""
        if options.policy is not None:
            raise InputError(
                "`--policy` is for audits of tables: the threshold of a game is its [statement]"
            )
        if options.internal is not None:
            raise InputError("`--records` is for audits of tables: a game has no records to name")
        with ExitStack() as stack:
            store = None
            if options.folder is not None:
                store = stack.enter_context(
                    TrialStore(
                        options.folder,
                        identity_of(study, folder, options.entropy),
                        restart=options.restart,
                        observer=options.observer,
                    )
                )
            return _outcome(study, folder, options, store)


def _outcome(
    study: GameStudyBase, folder: Path, options: RunOptions, store: TrialStore | None
) -> Outcome:
    setup = study.build(folder)
    unanswered: list[NotAssessed] = []
    written = _written(study, setup, unanswered)
    statement = _completed(setup.statement, written)
    exact = None if written is None else _exactly(written, statement, study.exact.epsilons)
    proofs = _proofs(study, setup, statement)
    played = _played(study, setup, statement, options, store)
    if isinstance(statement, FixedBaseline) and statement.best == 1.0 and exact is None:
        unanswered.append(
            NotAssessed(
                "best fixed guess",
                "it has no formula for this world and relation, so 1 was taken for it, and "
                "nothing can violate the statement",
                "give its chance, or an upper limit of it, as `best` in [statement]",
            )
        )
    memorized = _memorized(study, setup, unanswered)
    useless = [] if played is None else [a for a in played.attackers if _useless(a)]
    unanswered += [
        NotAssessed(
            f"the attack {a.name}",
            f"it failed on every trial: {a.failures[0].error}",
            "mend it, and play again",
        )
        for a in useless
    ]
    nobody = played is None or len(useless) == len(played.attackers)
    outcome, status = _judge(exact, proofs, statement, None if nobody else played)
    if outcome == "not assessed":
        unanswered.append(
            NotAssessed(
                "the statement",
                "the game was not written out, no lemma applies, and no attacker could be played",
                "add an [[attack]] that works, or make the world smaller",
            )
        )
    remarks = [] if played is None else list(played.remarks)
    proved = exact is not None and exact.holds
    if proved and played is not None and played.outcome == "violates":
        remarks.append(
            "the run refuted a statement that is proved: a false alarm, which happens "
            f"with chance at most {1 - played.confidence:g}"
        )
    return Outcome(
        title=study.title,
        status=status,
        verdict=_verdict(outcome, statement, exact, proofs, None if nobody else played)
        + _failures(played),
        results={
            "outcome": outcome,
            "expected": study.expected,
            "about": study.about,
            "source": study.source,
            "statement": {
                **study.statement.model_dump(mode="json"),
                "words": statement.words(),
                "definition": CLAIMS[study.statement.name][1],
            },
            "confidence": study.run.confidence,
            "trials": 0 if played is None else played.trials,
            "decided": None if played is None else played.decided,
            "largest_epsilon_refuted": None if played is None else played.refuted,
            "attackers": [] if played is None else [_attacker(a) for a in played.attackers],
            "exact": None if exact is None else exact.data,
            "proofs": [bound.to_dict() for bound in proofs],
            "curve": [] if played is None else _curve(statement, played),
            "memorized_bits": memorized,
            "remarks": remarks,
        },
        assessed=_assessed(exact, proofs, played),
        not_assessed=unanswered,
        not_covered=[
            "attackers who know more than the study says",
            "data that is distributed otherwise than the study says",
            "side channels: running time, access patterns, errors",
            *([] if exact or proofs else ["attackers other than the ones that were played"]),
        ],
    )


KIND = GameKind()


def _written(
    study: GameStudyBase, setup: Setup, unanswered: list[NotAssessed]
) -> WrittenOut | None:
    if study.exact.when == "never":
        return None
    try:
        # Where it was not asked for, an exact answer may take seconds, not minutes.
        work = WORK if study.exact.when == "required" else WORK // 20
        return write_out(
            setup.game, limit=study.exact.limit, work=work, abstain=study.exact.abstain
        )
    except (TooLargeError, InputError) as error:
        if study.exact.when == "required":
            raise
        unanswered.append(
            NotAssessed(
                "the exact profile, against every attacker",
                str(error),
                "make the world smaller, or rely on the attackers that were played",
            )
        )
        return None


def _completed(statement: Any, written: WrittenOut | None) -> Any:
    """Fill in the best fixed guess where the game was written out."""
    if isinstance(statement, FixedBaseline) and statement.best == 1.0 and written is not None:
        best = min(1.0, float(written.fixed.max(initial=0.0)))
        return FixedBaseline(statement.epsilon, statement.delta, best)
    return statement


def _exactly(written: WrittenOut, statement: Any, epsilons: list[float]) -> Exactly | None:
    points = list(epsilons)
    if _has_profile(statement):
        points.append(float(statement.epsilon))
    points = sorted(set(points))
    at = float(statement.epsilon) if _has_profile(statement) else points[0]
    best = {one.epsilon: one for one in written.sweep(points)}
    success, baseline = best[at].rates
    data: dict[str, Any] = {
        "epsilon": points,
        "delta": [best[point].delta for point in points],
        "best_attacker": {"at_epsilon": at, "success": success, "baseline": baseline},
        "data_sets": len(written.enumeration.data),
        "releases": int(written.channel.matrix.shape[1]),
        "guesses": written.count,
    }
    if isinstance(statement, Resilience):
        least = best[at].delta
        limit, what = statement.delta, f"least delta at epsilon {statement.epsilon:g}"
    elif isinstance(statement, FixedBaseline) and not written.additive:
        least, best = written.robust(statement.epsilon)
        data["best_fixed_guess"] = best
        limit, what = statement.delta, f"least delta at epsilon {statement.epsilon:g}"
    elif isinstance(statement, Threshold) and not written.additive:
        least, limit = written.beyond(statement.tau), statement.epsilon
        what = f"least epsilon for tau {statement.tau:g}"
    elif isinstance(statement, SinglingOut) and hasattr(written.guesses, "weight"):
        weights = written.guesses.weight(written.game.world)
        if weights is None:
            return None
        factor = math.exp(statement.epsilon)
        least, limit, what = 0.0, statement.delta, f"least delta at epsilon {statement.epsilon:g}"
        for w in np.unique(weights[weights <= statement.w_max]):
            gain = written.light(weights, float(w)) - factor * float(statement.baseline(float(w)))
            least = max(least, gain)
    else:
        return None
    data["least"] = least
    data["limit"] = limit
    holds = least <= limit + TOLERANCE
    return Exactly(holds, least, f"{what}: {least:.6g}, allowed {limit:g}", data)


def _has_profile(statement: Any) -> bool:
    return isinstance(statement, Resilience | FixedBaseline | SinglingOut)


def _proofs(study: GameStudyBase, setup: Setup, statement: Any) -> list[Bound]:
    if not isinstance(statement, Resilience | FixedBaseline):
        return []
    bounds: list[Bound | None] = [from_lemmas(setup.game)]
    if isinstance(statement, Resilience) and not getattr(
        setup.game.mechanism, "interactive", False
    ):
        promise = None if study.privacy is None else (study.privacy.epsilon, study.privacy.delta)
        bounds.append(from_privacy(setup.game, statement.epsilon, promise))
    return [bound for bound in bounds if bound is not None]


def _played(
    study: GameStudyBase,
    setup: Setup,
    statement: Any,
    options: RunOptions,
    store: TrialStore | None,
) -> Play | None:
    if not setup.attacks:
        return None
    run = study.run
    return play(
        setup.game,
        setup.attacks,
        statement,
        trials=run.trials,
        fresh=run.fresh,
        confidence=run.confidence,
        stop=run.stop,
        rng=int(child(options.entropy, 0).integers(2**63)),
        observer=options.observer,
        # Most games take seconds, less than it takes to start processes.
        through=partial(
            play_in_order,
            store=store,
            workers=options.workers or 1,
            observer=options.observer,
        ),
    )


def _memorized(study: GameStudyBase, setup: Setup, unanswered: list[NotAssessed]) -> float | None:
    if not study.exact.memorized:
        return None
    world, mechanism = setup.game.world, setup.game.mechanism
    if not hasattr(world, "enumerate") or not hasattr(mechanism, "channel"):
        reason = "the world or the mechanism cannot be written out"
    else:
        try:
            return memorized_information(world, mechanism, limit=study.exact.limit)
        except TooLargeError as error:
            reason = str(error)
    unanswered.append(NotAssessed("memorized information", reason, "make the world smaller"))
    return None


def _judge(
    exact: Exactly | None, proofs: list[Bound], statement: Any, played: Play | None
) -> tuple[str, Status]:
    if exact is not None:
        return ("resilient, proved", "met") if exact.holds else ("violates, proved", "exceeded")
    if any(bound.value <= statement.delta + TOLERANCE for bound in proofs):
        return "resilient, proved", "met"
    if played is None:
        return "not assessed", "not assessed"
    if played.outcome == "violates":
        return "violates", "exceeded"
    return "no violation found", "inconclusive"


def _verdict(
    outcome: str, statement: Any, exact: Exactly | None, proofs: list[Bound], played: Play | None
) -> str:
    memorizes = isinstance(statement, NotMemorizing)
    if exact is not None:
        head = (
            "Resilient, proved against every attacker"
            if exact.holds
            else "Violated, proved: the best attacker does better than the statement allows"
        )
        return f"{head} ({exact.words})."
    if outcome == "resilient, proved":
        bound = min(proofs, key=lambda b: b.value)
        return (
            f"Resilient, proved by {bound.theorem}: delta at most {bound.value:.3g}, "
            f"allowed {statement.delta:g}."
        )
    if played is None:
        return "Not assessed: nothing was written out, proved or played."
    level = f"{100 * played.confidence:g}%"
    if outcome == "violates":
        what = (
            f"Memorizes at least {statement.m} of {statement.n} rows, at a false alarm rate of "
            f"at most {statement.xi:g}"
            if memorizes
            else f"Violates: {statement.words()}"
        )
        beyond = (
            ""
            if played.refuted is None
            else f" Refuted up to epsilon {played.refuted:.2f} at this delta."
        )
        return f"{what}, with {level} confidence, certain after {played.decided} trials.{beyond}"
    return (
        f"No violation found in {played.trials} trials of {len(played.attackers)} attacker(s); "
        "other attackers may do better, so this is no proof of resilience."
    )


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {**estimate.to_dict(), "grade": estimate.grade}


def _failures(played: Play | None) -> str:
    """Say which attackers raised: a reader must not take their failures for safety."""
    if played is None:
        return ""
    return "".join(
        f" The attack {one.name} failed with an error on {one.failed} of {played.trials} trials "
        f"(first: trial {one.failures[0].trial}, seed {one.failures[0].seed}: "
        f"{one.failures[0].error}); they count as unsuccessful."
        for one in played.attackers
        if one.failed
    )


def _useless(one: Attacked) -> bool:
    return one.failed == one.success.trials


def _attacker(one: Attacked) -> dict[str, Any]:
    return {
        "name": one.name,
        "success": _estimate(one.success),
        "baseline": _estimate(one.baseline),
        "baseline_exact_per_attempt": one.scores.fresh == 0,
        "failed": one.failed,
        "failures": [
            {"trial": f.trial, "seed": str(f.seed), "error": f.error} for f in one.failures
        ],
    }


def _curve(statement: Any, played: Play) -> list[dict[str, float]]:
    """Give, for each weight, how often predicates that light isolate, and the best without."""
    if not isinstance(statement, SinglingOut):
        return []
    rows: list[dict[str, float]] = []
    for w in statement.weights:
        shares = [
            float((one.scores.success & (np.nan_to_num(one.scores.weight, nan=np.inf) <= w)).mean())
            for one in played.attackers
        ]
        rows.append(
            {"w": float(w), "success": max(shares), "baseline": float(statement.baseline(float(w)))}
        )
    return rows


def _assessed(exact: Exactly | None, proofs: list[Bound], played: Play | None) -> list[str]:
    said: list[str] = []
    if exact is not None:
        said.append(
            f"every attacker, exactly: {exact.data['data_sets']:,} data sets, "
            f"{exact.data['releases']:,} releases, {exact.data['guesses']:,} guesses"
        )
    said += [f"every attacker, by {bound.theorem}" for bound in proofs]
    if played is not None:
        said += [
            f"the attacker {one.name}, by {played.trials:,} trials" for one in played.attackers
        ]
    return said
