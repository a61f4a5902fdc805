"""The kind "secrets": train models on secrets, attack them, hold them against what is proved."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from narcissus._random import child
from narcissus._version import __version__
from narcissus.bounds import best, bounds_on, threat
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson, each_confidence
from narcissus.evidence.refutation import refuted_by_runs
from narcissus.extraction import FineTune, NgramDpSgd
from narcissus.extraction.secret_training import TrainsOnSecrets
from narcissus.findings import Finding, contradictions
from narcissus.game import Game
from narcissus.game.block import Arrays, Seat
from narcissus.game.loop import (
    BlockPlayer,
    BlockScores,
    OneStream,
    packed,
    plan,
    seats_of,
    unpacked,
)
from narcissus.observer import Observer
from narcissus.priors.secrets import SecretPrior
from narcissus.results import Bound
from narcissus.study.engines import executor_of
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.parts import own_parts
from narcissus.study.plugins import source_digests
from narcissus.study.pool import play_all
from narcissus.study.results.base import SampledShare
from narcissus.study.results.secrets import (
    RecoveredSecrets,
    SecretBound,
    SecretNumbers,
    SecretResult,
    SecretsResults,
    TrainingResult,
)
from narcissus.study.secrets.schema import SecretsPolicy, SecretsStudy, SecretThreshold
from narcissus.study.secrets.words import (
    NOT_COVERED,
    assessed,
    not_assessed,
    overall,
    setting_words,
)
from narcissus.study.store import TrialStore
from narcissus.study.toml import read_policy
from narcissus.study.work import agree
from narcissus.success.relations import NamesSecret
from narcissus.worlds import Secret

AskedOfTraining = NgramDpSgd | FineTune


@dataclass(frozen=True, eq=False)
class SecretSetting:
    """One prior at one epsilon."""

    label: str  # Of both, as far as there are several
    prior: SecretPrior  # How secrets are drawn
    asked: AskedOfTraining  # What the study asks of the training
    trained: TrainsOnSecrets  # The mechanism, its learning rate chosen

    def seat(self, study: SecretsStudy) -> Seat:
        """Return the game with the attacks that are prepared for it."""
        game = Game(Secret(self.prior.weights), self.trained, NamesSecret(len(self.prior.chances)))
        attacks = {name: part.build() for name, part in study.attacks.items()}
        [seat] = seats_of(game, attacks)
        return Seat(self.label, seat.game, seat.attacks)


def settings_of(study: SecretsStudy) -> list[SecretSetting]:
    """Return every prior at every epsilon, learning rates chosen where the study leaves them.
    Raises InputError: two priors are called the same.
    """
    priors: Sequence[SecretPrior] = study.priors()
    words = [prior.words for prior in priors]
    if twice := [one for place, one in enumerate(words) if one in words[:place]]:
        raise InputError(f"the study has the prior {twice[0]!r} twice: leave one of them out")
    asked: list[AskedOfTraining] = study.mechanism.each()
    return [
        SecretSetting(_label(prior, level), prior, level, level.trained_on(prior.weights))
        for prior in priors
        for level in asked
    ]


def _label(prior: SecretPrior, level: AskedOfTraining) -> str:
    return f"{prior.words}, epsilon {level.epsilon:g}"


Scored = Mapping[str, Sequence[BlockScores]]
"""What each attack came to, block by block."""


def summarised(
    study: SecretsStudy,
    settings: Sequence[SecretSetting],
    scored: Sequence[Scored],
    threshold: SecretThreshold | None,
) -> SecretsResults:
    """Return the results of all settings; all their limits hold at once (Bonferroni).

    study, settings: what was asked, and played.
    scored: for each setting, what each attack came to.
    threshold: what is accepted, if anything was said.
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


_SECONDS = 3e-8  # a logit and a step
_OTHERS = 20_000  # models that choose a learning rate, or that an attacker trains


class SecretsKind:
    """Plays studies of the kind "secrets"."""

    model: type[BaseModel] = SecretsStudy
    results: TypeAdapter[Any] = TypeAdapter(SecretsResults)

    def check(self, study: SecretsStudy, folder: Path, observer: Observer) -> None:
        """Make all parts once, and see that they fit each other."""
        for part in study.attacks.values():
            part.build()
        _threshold(study, folder, None)

    def play(self, study: SecretsStudy, folder: Path, options: RunOptions) -> Outcome:
        """Train, attack and judge."""
        if options.internal is not None:
            raise InputError("`--records` is for audits of tables: here are no records to name")
        threshold, digests = _threshold(study, folder, options.policy)
        _agree(study, options)
        settings = settings_of(study)
        scored = _played(study, settings, folder, options)
        results = summarised(study, settings, scored, threshold)
        status, grade, verdict = overall(results)
        return Outcome(
            title=study.title or "Secrets in trained models",
            status=status,
            verdict=verdict,
            grade=grade,
            contradictions=tuple(text for one in results.deciding for text in one.contradictions),
            results=results,
            assessed=assessed(results),
            not_assessed=not_assessed(results),
            not_covered=NOT_COVERED,
            digests=digests,
        )


KIND = SecretsKind()


def _agree(study: SecretsStudy, options: RunOptions) -> None:
    """Report how long it takes, by the logits that are trained."""
    levels = study.mechanism.each()
    steps = sum(level.steps * level.work for level in levels)
    values = sum(len(prior.chances) for prior in study.priors())
    models = study.run.models + _OTHERS
    agree(
        _SECONDS * steps * values * models,
        f"{study.run.models:,} models for each of {len(study.prior) * len(levels)} settings",
        hours=options.hours,
        observer=options.observer,
    )


def _played(
    study: SecretsStudy, settings: Sequence[SecretSetting], folder: Path, options: RunOptions
) -> list[Scored]:
    """Play the game of each setting; the numbers depend on the study and the seed alone."""
    with ExitStack() as stack:
        store = None
        if options.folder is not None:
            store = stack.enter_context(
                TrialStore(
                    options.folder,
                    _identity(study, folder, options.entropy),
                    restart=options.restart,
                    observer=options.observer,
                )
            )
        executor = stack.enter_context(
            executor_of(options, study.run, workers=study.run.workers or 1)
        )
        seats = [setting.seat(study) for setting in settings]
        planned = plan(seats, study.run.models * len(seats))
        entropy = int(child(options.entropy, 0).integers(2**63))
        player = BlockPlayer(seats, OneStream(entropy, len(seats) == 1), 1, packed)
        found = play_all(
            player,
            [block.key for block in planned],
            store=store,
            executor=executor,
            what="blocks of models",
            observer=options.observer,
        )
        return [
            _scored(seat, [found[block.key] for block in planned if block.place == place])
            for place, seat in enumerate(seats)
        ]


def _scored(seat: Seat, blocks: Sequence[Arrays]) -> Scored:
    return {
        name: [unpacked(arrays, place) for arrays in blocks]
        for place, name in enumerate(seat.attacks)
    }


def _identity(study: SecretsStudy, folder: Path, entropy: int) -> dict[str, object]:
    """Word what trials depend on: the number of models is not part of it, so it can be raised."""
    settings = study.model_dump(mode="json")
    return {
        **{part: settings[part] for part in ("prior", "mechanism", "attacks")},
        "chances": hashlib.sha256(
            repr([one.chances for one in study.priors()]).encode()
        ).hexdigest(),
        "seed": str(entropy),
        "own code": source_digests(own_parts(study), folder),
        "version": __version__,
    }


def _threshold(
    study: SecretsStudy, folder: Path, policy: Path | None
) -> tuple[SecretThreshold | None, dict[str, str]]:
    """Return the threshold and, if it comes from a policy file, the file's digest."""
    read, digests = read_policy(study, folder, policy, SecretsPolicy)
    found = study.threshold if read is None else read.threshold
    levels = study.mechanism.levels
    if found is not None and found.at is not None and found.at not in levels:
        known = ", ".join(f"{level:g}" for level in levels)
        raise InputError(
            f"`threshold.at` is {found.at:g}, which is no epsilon of [mechanism]: {known}"
        )
    return found, digests
