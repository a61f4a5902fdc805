"""A game's findings, in the shape of the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from narcissus._outwards import upper
from narcissus.attacks.conversation import Transcript
from narcissus.game import Attacked, Play
from narcissus.results import Estimate
from narcissus.study.game.schema import GameStudy
from narcissus.study.game.verdict import Ground, Judged, Proof, grade_of
from narcissus.study.results.base import SampledShare
from narcissus.study.results.game import (
    AttackerResult,
    CurvePoint,
    ExchangeResult,
    FailedAttempt,
    GameResults,
    Gap,
    ProofResult,
    StatementResult,
    TranscriptResult,
)
from narcissus.success.singling_out import SAME, SinglingOut


def answer(
    study: GameStudy,
    ground: Ground,
    judged: Judged,
    *,
    played: Play | None,
    members: int,
    memorized: float | None,
) -> GameResults:
    """Give what was found about one statement.

    ``played`` is the whole run, those attackers included that failed on every trial.
    """
    statement = ground.statement
    return GameResults(
        outcome=judged.outcome,
        expected=study.expected,
        about=study.about,
        source=study.source,
        statement=StatementResult(
            name=study.statement.name,
            words=statement.words(),
            definition=statement.definition,
            scope=ground.scope,
            epsilon=study.statement.options.get("epsilon"),
            delta=study.statement.options.get("delta"),
        ),
        confidence=study.run.confidence,
        trials=0 if played is None else played.trials,
        decided=None if played is None else played.decided,
        member=None if played is None else played.member or None,
        members=members,
        largest_epsilon_refuted=None if played is None else played.refuted,
        attackers=()
        if played is None
        else tuple(_attacker(one, ground.gaps) for one in played.attackers),
        exact=ground.exact,
        proofs=tuple(_proof(proof, statement) for proof in ground.proofs),
        curve=() if played is None else tuple(_curve(played.statement, played.attackers)),
        memorized_bits=memorized,
        remarks=() if played is None else tuple(played.remarks),
        decides=None if played is None else played.decides,
    )


def _attacker(one: Attacked, gaps: Mapping[str, Estimate | None]) -> AttackerResult:
    gap = gaps.get(one.name)
    return AttackerResult(
        name=one.name,
        success=SampledShare.of(one.success),
        baseline=SampledShare.of(one.baseline),
        gap=None if gap is None else Gap.of(gap),
        baseline_exact_per_attempt=one.scores.fresh == 0,
        attempts=one.attempts,
        failed=one.failed,
        failures=tuple(
            FailedAttempt(trial=f.trial, seed=str(f.seed), error=f.error) for f in one.failures
        ),
        transcripts=tuple(_transcript(said, one) for said in one.transcripts) or None,
    )


def _transcript(said: Transcript, one: Attacked) -> TranscriptResult:
    return TranscriptResult(
        trial=said.trial,
        greeting=said.greeting,
        exchanges=tuple(ExchangeResult(question=q, answer=a) for q, a in said.exchanges),
        questions=said.questions,
        attempt=said.attempt,
        success=bool(one.scores.success[said.trial]),
        baseline=float(one.scores.baseline[said.trial]),
    )


def _proof(proof: Proof, statement: Any) -> ProofResult:
    bound = proof.bound
    return ProofResult(
        id=bound.id,
        theorem=bound.theorem,
        limits=proof.limits,
        quantity=bound.quantity,
        value=bound.value,
        at_most=f"at most {upper(bound.value, 3)}",
        assumptions=bound.assumptions,
        grade=grade_of(bound.assumptions),
        sufficient=proof.suffices(statement),
    )


def _curve(statement: Any, attackers: Sequence[Attacked]) -> list[CurvePoint]:
    """Give, for each weight, how often predicates that light isolate, and the best without."""
    if not isinstance(statement, SinglingOut):
        return []
    rows: list[CurvePoint] = []
    for w in statement.weights[statement.weights > 0]:  # nothing of weight 0 isolates
        light = w * (1 + SAME)  # what has no weight, NaN, is not light
        shares = [
            float((one.scores.success & (one.scores.weight <= light)).mean()) for one in attackers
        ]
        baseline = float(statement.baseline(float(w)))
        rows.append(CurvePoint(w=float(w), success=max(shares), baseline=baseline))
    return rows
