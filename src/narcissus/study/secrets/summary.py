"""From what attacks named to numbers with limits, what is proved and what is refuted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from narcissus.bounds import best, bounds_on, threat
from narcissus.evidence import clopper_pearson, each_confidence
from narcissus.evidence.independent_runs import refuted_by_runs
from narcissus.findings import Finding, contradictions
from narcissus.game.outcome import BlockScores
from narcissus.results import Bound
from narcissus.study.results.base import SampledShare
from narcissus.study.results.secrets import (
    RecoveredSecrets,
    SecretBound,
    SecretNumbers,
    SecretResult,
    SecretsResults,
    TrainingResult,
)
from narcissus.study.secrets.schema import SecretsStudy, SecretThreshold
from narcissus.study.secrets.setting import SecretSetting
from narcissus.study.secrets.words import setting_words

Scored = Mapping[str, Sequence[BlockScores]]
"""What each attack came to, block by block."""


def summarised(
    study: SecretsStudy,
    settings: Sequence[SecretSetting],
    scored: Sequence[Scored],
    threshold: SecretThreshold | None,
) -> SecretsResults:
    """Give the results of all settings; all their limits hold at once (Bonferroni).

    Parameters
    ----------
    study, settings
        What was asked, and played.
    scored
        For each setting, what each attack came to.
    threshold
        What is accepted, if anything was said.
    """
    claims = sum(map(len, scored))
    each = each_confidence(study.run.confidence, claims)
    return SecretsResults(
        models=study.run.models,
        confidence=study.run.confidence,
        claims=claims,
        claim_confidence=each,
        settings=tuple(
            _setting(setting, own, threshold, each, study.run.confidence)
            for setting, own in zip(settings, scored, strict=True)
        ),
    )


def _setting(
    setting: SecretSetting,
    scored: Scored,
    threshold: SecretThreshold | None,
    each: float,
    joint: float,
) -> SecretResult:
    prior, training = setting.prior, setting.trained.training
    bound = None
    if training.noise > 0:
        danger = threat(values=prior.chances)
        bound = best(bounds_on(danger, training.guarantee, dear=False))
    attacks = tuple(_attack(name, blocks, setting, each) for name, blocks in scored.items())
    top = prior.chances.index(prior.guess)
    found = SecretNumbers(
        label=setting.label,
        prior=prior.words,
        values=len(prior.chances),
        likeliest=prior.values[top] if prior.values else str(top),
        guess=prior.guess,
        training=_training(setting),
        attacks=attacks,
        bound=None
        if bound is None
        else SecretBound(
            id=bound.id, theorem=bound.theorem, value=bound.value, assumptions=bound.assumptions
        ),
        at_most=None if threshold is None else threshold.most(prior.guess),
        decides=threshold is None or threshold.at in (None, setting.asked.epsilon),
        contradictions=_contradictions(setting.label, attacks, bound, joint),
    )
    grade, verdict = setting_words(found)
    status = found.status_by_numbers
    return SecretResult(**dict(found), status=status, grade=grade, verdict=verdict)


def _training(setting: SecretSetting) -> TrainingResult:
    asked, training = setting.asked, setting.trained.training
    accounted = asked.accounted
    kept = None if accounted is None else training.guarantee
    return TrainingResult(
        epsilon=None if accounted is None else asked.epsilon,
        delta=asked.delta,
        neighbours=asked.neighbours,
        accounted_mu=None if accounted is None else accounted.mu,
        mu=None if kept is None else kept.mu,
        kept_epsilon=None if kept is None else kept.epsilon_beyond(asked.delta),
        noise=training.noise,
        clip=training.clip,
        steps=training.steps,
        learning_rate=training.learning_rate,
        start=asked.start,
    )


def _attack(
    name: str, blocks: Sequence[BlockScores], setting: SecretSetting, each: float
) -> RecoveredSecrets:
    models = sum(len(block.scores.success) for block in blocks)
    hits = sum(int(block.scores.success.sum()) for block in blocks)
    fresh = sum(float(block.scores.baseline.sum()) for block in blocks)
    success = clopper_pearson(
        hits, models, confidence=each, quantity=f"secrets named by the attack {name}"
    )
    # the lower limit's own half of the error: both hold at once
    refuted = refuted_by_runs(
        setting.prior.weights,
        models,
        hits,
        delta=setting.asked.delta,
        confidence=1 - (1 - each) / 2,
    )
    return RecoveredSecrets(
        name=name,
        success=SampledShare.of(success),
        baseline=min(1.0, fresh / models),
        failed=sum(block.failed for block in blocks),
        refuted_epsilon=refuted.epsilon,
        refuted_mu=refuted.mu,
    )


def _contradictions(
    label: str, attacks: Sequence[RecoveredSecrets], bound: Bound | None, joint: float
) -> tuple[str, ...]:
    """Hold what attacks reached against what none can exceed."""
    if bound is None:
        return ()
    what = f"success of the best attacker, {label}"
    found = [Finding(what, bound.theorem, high=bound.value, assumptions=bound.takes_as_given)]
    for one in attacks:
        by, low = f"the attack `{one.name}`", one.success.low
        found.append(Finding(what, by, low, kind="sampled", confidence=joint))
    return tuple(str(clash) for clash in contradictions(found))
