"""Train models on secrets, attack them, and limit what was named, guessed, proved and refuted."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from narcissus._options import MOST_WORKERS
from narcissus._random import child
from narcissus.bounds import best, bounds_on, threat
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson, each_confidence
from narcissus.evidence.refutation import refuted_by_runs
from narcissus.extraction import FineTune, NgramDpSgd
from narcissus.extraction.secret_training import TrainsOnSecrets
from narcissus.game import Game
from narcissus.game.block import Scenario
from narcissus.game.loop import (
    BlockPlayer,
    BlockScores,
    OneStream,
    Planned,
    packed,
    plan,
    scenarios_of,
    unpacked,
)
from narcissus.kinds.engine import Done, Kind, PreparedWork, Tasks
from narcissus.observer import Observer
from narcissus.priors.secrets import SecretPrior
from narcissus.rows import (
    Count,
    Fact,
    Findings,
    Level,
    Place,
    Positive,
    Quantity,
    Share,
    StudyCriterion,
    StudyResult,
    StudyRow,
)
from narcissus.study.kinds import RunOptions
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part, own_parts
from narcissus.study.plugins import source_digests
from narcissus.study.sections import Approval, FileSection, PlayedRun, named_by_key
from narcissus.success.relations import NamesSecret
from narcissus.worlds import Secret

Prior = Annotated[Part, PartSection("secret-prior")]
TrainedBy = Annotated[Part, PartSection("secret-mechanism")]
AttackOnSecret = Annotated[Part, PartSection("secret-attack", named=True)]


def _listed(value: Any) -> Any:
    """Take one section [prior] for a list of one."""
    return [value] if isinstance(value, dict | Part) else value


class SecretThreshold(Approval):
    """What the person who approves the training accepts; of two limits both must be kept."""

    success: float | None = Field(
        default=None, gt=0, le=1, description="Chance that a secret is named, at most."
    )
    advantage: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Advantage over the best guess without the model, at most: "
        "(success - guess) / (1 - guess).",
    )
    at: float | None = Field(
        default=None,
        allow_inf_nan=True,
        description="The epsilon (as in [mechanism]) that decides status and exit code; if left "
        "out, every one must meet the threshold.",
    )

    @model_validator(mode="after")
    def _some(self) -> SecretThreshold:
        if self.success is None and self.advantage is None:
            raise ValueError("give `success`, `advantage` or both")
        return self

    def most(self, guess: float) -> float:
        """Return success that is accepted where the best guess without the model is ``guess``."""
        limits = [1.0]
        if self.success is not None:
            limits.append(self.success)
        if self.advantage is not None:
            limits.append(guess + self.advantage * (1.0 - guess))
        return min(limits)


class SecretsRun(PlayedRun):
    """How much work."""

    models: int = Field(
        default=2000,
        ge=10,
        le=10**7,
        description="Models trained for each prior and epsilon, each on a separate secret.",
    )
    confidence: float = Field(
        default=0.95,
        gt=0,
        lt=1,
        description="Of all limits of the study together: of each attack, prior and epsilon, on "
        "both sides.",
    )
    workers: int | None = Field(
        default=None, ge=1, le=MOST_WORKERS, description="Processes; one if left out."
    )


class SecretsStudy(FileSection):
    """Secrets in trained models: what attacks name, the guess without, and what nobody exceeds."""

    title: str = Field("", description="A name for the report.")
    about: str = Field("", description="One sentence: what this study shows.")
    source: str = Field("", description="Paper and number.")
    prior: Annotated[
        list[Prior], BeforeValidator(_listed, json_schema_input_type=Prior | list[Prior])
    ] = Field(
        min_length=1,
        description="How secrets are drawn; several, as [[prior]], are studied one by one.",
    )
    mechanism: TrainedBy
    attacks: dict[str, AttackOnSecret] = Field(
        {"argmax": {}, "posterior": {}, "ranking": {}},
        description="Attacks by name; `name` of the part where it is another one.",
        validate_default=True,
    )
    threshold: SecretThreshold | None = None
    policy: str | None = Field(
        default=None, description="A file with its own [threshold], instead of one here."
    )
    run: SecretsRun = SecretsRun()

    _by_key = field_validator("attacks", mode="before")(named_by_key)

    @model_validator(mode="after")
    def _can_be_played(self) -> SecretsStudy:
        if not self.attacks:
            raise ValueError("name at least one attack")
        if self.threshold is not None and self.policy is not None:
            raise ValueError("give `threshold` or `policy`, not both")
        return self

    def priors(self) -> list[SecretPrior]:
        """Make the priors, in the order of the file."""
        return [part.build() for part in self.prior]


class SecretsPolicy(FileSection):
    """The threshold of the person who approves the training, with its origin and reason."""

    threshold: SecretThreshold


AskedOfTraining = NgramDpSgd | FineTune
Scored = Mapping[str, Sequence[BlockScores]]
"""What each attack came to, block by block."""

_SECONDS = 3e-8  # a logit and a step
_OTHERS = 20_000  # models that choose a learning rate, or that an attacker trains


NonNegative = Annotated[float, Field(ge=0)]
NoneOrNumber = NonNegative | None


class Training(Fact):
    """How models were trained, and what that guarantees."""

    epsilon: NoneOrNumber = Field(description="What noise was made for; null: no noise.")
    delta: float = Field(ge=0, le=1)
    neighbours: str = Field(description="What `epsilon` is about.")
    accounted_mu: NoneOrNumber = Field(description="Of Gaussian DP, about `neighbours`.")
    mu: NoneOrNumber = Field(description="What holds about another canary, Gaussian DP.")
    kept_epsilon: NoneOrNumber = Field(description="The same as an epsilon, at `delta`.")
    noise: float = Field(ge=0, description="Standard deviation of a step's, in clipping norms.")
    clip: float = Field(ge=0)
    steps: Positive
    learning_rate: float = Field(ge=0)
    start: str

    @model_validator(mode="after")
    def _noise_or_none(self) -> Self:
        without = {self.epsilon is None, self.mu is None, self.kept_epsilon is None}
        if without != {self.noise == 0}:
            raise ValueError("a guarantee and noise go together: one of them is missing")
        return self


class NamingAttack(Fact):
    """What one attack named at a setting, and what that refutes of any guarantee."""

    name: str
    success: Quantity
    fresh: Share = Field(description="Of fresh secrets, that the same guesses name.")
    failed: Count = Field(0, description="Models on which it failed: these count as not named.")
    refuted_epsilon: NonNegative = Field(description="Every smaller one is refuted; 0: none.")
    refuted_mu: NonNegative = Field(description="The same of Gaussian DP.")

    def rows(self, at: Mapping[str, Place]) -> Iterator[StudyRow]:
        yield StudyRow(
            role="attack",
            of="success",
            name=self.name,
            quantity=self.success,
            baseline=self.fresh,
            at=at,
            about=self,
        )
        epsilon, level = self.refuted_epsilon, self.success.confidence
        refuted = Quantity(value=epsilon, low=epsilon, grade="sampled", confidence=level)
        yield StudyRow(
            role="refuted",
            of="refuted epsilon",
            name=self.name,
            quantity=refuted,
            at=at,
            about=self,
        )


class NamingBound(Fact):
    """What no attacker exceeds."""

    theorem: str
    success: Quantity


class AttackedSetting(Fact):
    """One prior at one epsilon: a criterion each, in the same order."""

    prior: str
    values: Positive
    likeliest: str = Field(description="What is guessed without a model.")
    guess: Share = Field(description="Of secrets that this names.")
    training: Training
    attacks: tuple[NamingAttack, ...] = Field(min_length=1)
    bound: NamingBound | None = Field(None, description="Null: there is no noise.")

    @model_validator(mode="after")
    def _bounded_by_noise(self) -> Self:
        if (self.bound is None) != (self.training.noise == 0):
            raise ValueError("a bound and noise go together: one of them is missing")
        return self

    @property
    def epsilon(self) -> float:
        """What noise was made for; infinite: no noise."""
        return math.inf if self.training.epsilon is None else self.training.epsilon

    @property
    def label(self) -> str:
        return f"{self.prior}, epsilon {self.epsilon:g}"

    @property
    def at(self) -> dict[str, Place]:
        return {"prior": self.prior, "epsilon": self.epsilon}

    def rows(self) -> Iterator[StudyRow]:
        guess, at = Quantity(value=self.guess, grade="proved"), self.at
        yield StudyRow(
            role="guess", of="guess", name=self.likeliest, quantity=guess, at=at, about=self
        )
        for attack in self.attacks:
            yield from attack.rows(at)
        if self.bound is not None:
            limit, theorem = self.bound.success, self.bound.theorem
            yield StudyRow(role="bound", of="bound", name=theorem, quantity=limit, at=at)


class SecretsResult(StudyResult):
    """What was trained, named, refuted and proved."""

    models: Positive = Field(description="Trained for each setting.")
    confidence: Level = Field(description="Of all limits together.")
    settings: tuple[AttackedSetting, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _same_attacks(self) -> Self:
        if len({tuple(attack.name for attack in each.attacks) for each in self.settings}) > 1:
            raise ValueError("settings have different attacks")
        if any(attack.failed > self.models for each in self.settings for attack in each.attacks):
            raise ValueError("an attack fails on more models than were trained")
        return self

    def rows(self) -> Iterator[StudyRow]:
        """Yield each setting's guess, its attacks with what they refute, and its bound."""
        for setting in self.settings:
            yield from setting.rows()


@dataclass(frozen=True, eq=False)
class SecretSetting:
    """One prior at one epsilon."""

    label: str
    prior: SecretPrior
    asked: AskedOfTraining
    trained: TrainsOnSecrets  # The mechanism, its learning rate chosen

    def scenario(self, study: SecretsStudy) -> Scenario:
        """Return the game with the attacks that are prepared for it."""
        game = Game(Secret(self.prior.weights), self.trained, NamesSecret(len(self.prior.chances)))
        attacks = {name: part.build() for name, part in study.attacks.items()}
        [scenario] = scenarios_of(game, attacks)
        return Scenario(self.label, scenario.game, scenario.attacks)

    def result(self, scored: Scored, each: float) -> AttackedSetting:
        """Limit what attacks named, each at the level of ``each``."""
        prior, trained = self.prior, self.trained.training
        top = prior.chances.index(prior.guess)
        bound = None
        if trained.noise > 0:
            danger = threat(values=prior.chances)
            proved = best(bounds_on(danger, trained.guarantee, expensive=False))
            bound = NamingBound(theorem=proved.theorem, success=Quantity.of(proved))
        return AttackedSetting(
            prior=prior.words,
            values=len(prior.chances),
            likeliest=prior.values[top] if prior.values else str(top),
            guess=prior.guess,
            training=self._training(),
            attacks=tuple(self._attack(name, blocks, each) for name, blocks in scored.items()),
            bound=bound,
        )

    def _attack(self, name: str, blocks: Sequence[BlockScores], each: float) -> NamingAttack:
        models = sum(len(block.scores.success) for block in blocks)
        hits = sum(int(block.scores.success.sum()) for block in blocks)
        fresh = sum(float(block.scores.baseline.sum()) for block in blocks)
        # the lower limit's own half of the error: both hold at once
        delta, level = self.asked.delta, 1 - (1 - each) / 2
        epsilon, mu = refuted_by_runs(
            self.prior.weights, models, hits, delta=delta, confidence=level
        )
        return NamingAttack(
            name=name,
            success=Quantity.of(clopper_pearson(hits, models, confidence=each)),
            fresh=min(1.0, fresh / models),
            failed=sum(block.failed for block in blocks),
            refuted_epsilon=epsilon,
            refuted_mu=mu,
        )

    def _training(self) -> Training:
        request, training = self.asked, self.trained.training
        accounted = request.accounted
        guarantee = None if accounted is None else training.guarantee
        return Training.taken(
            training,
            epsilon=None if accounted is None else request.epsilon,
            delta=request.delta,
            neighbours=request.neighbours,
            accounted_mu=None if accounted is None else accounted.mu,
            mu=None if guarantee is None else guarantee.mu,
            kept_epsilon=None if guarantee is None else guarantee.epsilon_beyond(request.delta),
            start=request.start,
        )


def settings_of(study: SecretsStudy) -> list[SecretSetting]:
    """Return every prior at every epsilon, learning rates chosen where the study leaves them.
    Raises InputError: two priors are called the same.
    """
    priors: Sequence[SecretPrior] = study.priors()
    words = [prior.words for prior in priors]
    if twice := [
        description for place, description in enumerate(words) if description in words[:place]
    ]:
        raise InputError(f"the study has the prior {twice[0]!r} twice: leave one of them out")
    levels: list[AskedOfTraining] = study.mechanism.each()
    return [
        SecretSetting(
            f"{prior.words}, epsilon {level.epsilon:g}",
            prior,
            level,
            level.trained_on(prior.weights),
        )
        for prior in priors
        for level in levels
    ]


@dataclass(frozen=True, eq=False)
class SecretsWork(PreparedWork[SecretsStudy]):
    """Priors, levels and attacks of a study, made when they are needed."""

    @cached_property
    def settings(self) -> list[SecretSetting]:
        return settings_of(self.study)

    @cached_property
    def scenarios(self) -> list[Scenario]:
        return [setting.scenario(self.study) for setting in self.settings]

    @cached_property
    def blocks(self) -> list[Planned]:
        return plan(self.scenarios, self.study.run.models * len(self.scenarios))


class SecretsKind(Kind[SecretsStudy, SecretsWork]):
    """The kind "secrets"."""

    model = SecretsStudy
    result = SecretsResult
    layout = "narcissus.kinds.secrets.layout:LAYOUT"
    policy = SecretsPolicy

    def check(self, study: SecretsStudy, folder: Path, observer: Observer) -> None:
        for part in study.attacks.values():
            part.build()
        super().check(study, folder, observer)

    def prepare(self, study: SecretsStudy, folder: Path, options: RunOptions) -> SecretsWork:
        at, levels = study.threshold and study.threshold.at, study.mechanism.levels
        if at is not None and at not in levels:
            known = ", ".join(f"{level:g}" for level in levels)
            raise InputError(
                f"`threshold.at` is {at:g}, which is no epsilon of [mechanism]: {known}"
            )
        return SecretsWork(study, folder, options.entropy)

    def cost(self, work: SecretsWork, options: RunOptions) -> tuple[float, str]:
        study = work.study
        levels = study.mechanism.each()
        steps = sum(level.steps * level.work for level in levels)
        values = sum(len(prior.chances) for prior in study.priors())
        return (
            _SECONDS * steps * values * (study.run.models + _OTHERS),
            f"{study.run.models:,} models for each of {len(study.prior) * len(levels)} settings",
        )

    def tasks(self, work: SecretsWork) -> Tasks:
        entropy = int(child(work.entropy, 0).integers(2**63))
        stream = OneStream(entropy, len(work.scenarios) == 1)
        return Tasks(
            BlockPlayer(work.scenarios, stream, 1, packed),
            [block.key for block in work.blocks],
            _identity(work),
            "blocks of models",
        )

    def measure(self, work: SecretsWork, done: Done, options: RunOptions) -> Findings:
        scored = [
            {
                name: [unpacked(done[b.key], place) for b in work.blocks if b.place == number]
                for place, name in enumerate(scenario.attacks)
            }
            for number, scenario in enumerate(work.scenarios)
        ]
        return self.measured(work, scored)

    def measured(self, work: SecretsWork, scored: Sequence[Scored]) -> Findings:
        """Limit what attacks named, for each setting; all limits hold jointly (Bonferroni)."""
        run, threshold = work.study.run, work.study.threshold
        each = each_confidence(run.confidence, sum(map(len, scored)))
        result = SecretsResult(
            models=run.models,
            confidence=run.confidence,
            settings=tuple(
                setting.result(scores, each)
                for setting, scores in zip(work.settings, scored, strict=True)
            ),
        )
        criteria = tuple(
            StudyCriterion(
                of="success",
                label=setting.label,
                at=setting.at,
                at_most=None if threshold is None else threshold.most(setting.guess),
                decides=threshold is None or threshold.at in (None, setting.epsilon),
            )
            for setting in result.settings
        )
        return self.found(criteria, result)


KIND = SecretsKind()


def _identity(work: SecretsWork) -> dict[str, object]:
    """Word what trials depend on: the number of models is not part of it, so it can be raised."""
    study = work.study
    settings = study.model_dump(mode="json")
    chances = repr([prior.chances for prior in study.priors()])
    return {
        **{part: settings[part] for part in ("prior", "mechanism", "attacks")},
        "chances": hashlib.sha256(chances.encode()).hexdigest(),
        "seed": str(work.entropy),
        "own code": source_digests(own_parts(study), work.folder),
    }
