"""Train or read a language model, attack it, hold it against fresh documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, model_validator

from narcissus._arrays import BoolArray
from narcissus._files import read_bytes
from narcissus._random import child
from narcissus._validation import some_of
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson, mean_limits, roc_band
from narcissus.evidence.intervals import auc
from narcissus.extraction.assess import assess_extraction
from narcissus.extraction.canaries import CanaryPlan, NamedCanaries, PlantedCanary, named_canaries
from narcissus.extraction.evidence import ExtractionEvidence
from narcissus.extraction.files import DataSet, check_release
from narcissus.extraction.folder_texts import FolderTexts
from narcissus.extraction.language_models import (
    HasModels,
    ModelsUnderStudy,
    start_of,
)
from narcissus.extraction.model_digest import model_digest
from narcissus.extraction.recovered import (
    Division,
    TextDocument,
    membership_scores,
    recovered_documents,
)
from narcissus.extraction.sandbox import check_source
from narcissus.kinds.engine import Done, Files, PreparedWork
from narcissus.kinds.extraction.program import (
    ProgramResult,
    program_not_assessed,
    require_room,
)
from narcissus.kinds.memorization.engine import (
    ABOVE,
    TOLD,
    Criteria,
    GroupOfCopies,
    MemorizationKind,
    MemorizedResult,
    asks_points,
    level_of_each,
    model_not_assessed,
    require_whole,
)
from narcissus.kinds.memorization.language.attacks import (
    AttackedDocuments,
    RankedBy,
    completed,
    discovered,
    generated,
    keeping,
    losses_remark,
    read_in_folder,
    texts_of,
)
from narcissus.kinds.memorization.language.schema import LanguageStudy, MembershipSection
from narcissus.membership.reported import RateTold, RocCurve, rate_rows, reported_rates
from narcissus.observer import Observer
from narcissus.results import Estimate, Grade, NotAssessed
from narcissus.rows import (
    Count,
    Fact,
    Findings,
    Positive,
    Quantity,
    Share,
    StudyCriterion,
    StudyRow,
)
from narcissus.study.kinds import RunOptions
from narcissus.study.merging import MergedGroups, by_copies

Scores = Mapping[str, NDArray[np.float64]]
CANARIES = "canaries named"
_CALLED: dict[Grade, str] = dict.fromkeys(("sampled", "approximate", "not assessed"), TOLD)
_DIVISION, _CANARIES, _RANKS, _TRAINING, _PROGRAM = 0, 2, 3, 4, 5
"""Keys of random streams; 1 is sampling's."""


class DocumentGroup(GroupOfCopies):
    """Documents with as many copies in the training text, and how many an attack recovered."""

    reference: Quantity | None = Field(
        default=None, description="Share that the same attack recovers from the reference model."
    )
    chance: Share | None = Field(
        default=None,
        description="That as many are recovered if the division were random; null: no fresh ones.",
    )
    by_shadows: tuple[Count, ...] = Field(
        default=(), description="How many of them each shadow model gives away."
    )

    @property
    def others(self) -> dict[str, Quantity | None]:
        return {**super().others, "reference": self.reference}

    @model_validator(mode="after")
    def _of_its_documents(self) -> Self:
        if max(self.by_shadows, default=0) > self.total:
            raise ValueError("a shadow model gives away more documents than there are")
        return self

    def beside_shadows(self, each: float) -> tuple[Estimate, Estimate]:
        """Limit what models that were trained without these documents give away: each is a trial.

        Returns tuple: the share that such a model gives away on average, and how often it gives
            away as many as this model, or more.
        """
        many = sum(count >= self.recovered for count in self.by_shadows)
        quantity = "share recovered from a model without them"
        shares = np.array(self.by_shadows) / self.total
        mean = mean_limits(shares, confidence=each, quantity=quantity)
        return mean, clopper_pearson(many, len(self.by_shadows), confidence=each)


class DocumentAttack(Fact):
    """One attack that recovers documents."""

    name: str = Field(
        pattern="^(generation|completion|reading|near-verbatim completion|discovery n=[0-9]+)$"
    )
    rule: str = Field(description="When a document counts as recovered.")
    groups: Annotated[tuple[DocumentGroup, ...], AfterValidator(require_whole)] = Field(
        description="All documents, then those of each number of copies."
    )
    ranked: tuple[RankedBy, ...] = Field((), description="By score, where anything is ranked.")
    merged: MergedGroups | None = None
    unrelated: Count | None = Field(
        None,
        description="Continuations that are as near to the text of another document trained on, "
        "where near-verbatim ones count.",
    )
    beyond_context: Count = Field(
        0,
        description="Documents trained on that were left out: the model's context does not hold "
        "their beginning and what follows it.",
    )
    shorter_prompts: Count = Field(
        0,
        description="Documents trained on whose prompt has fewer tokens than the study asks for, "
        "since that many end within a character.",
    )

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if len({len(group.by_shadows) for group in self.groups}) > 1:
            raise ValueError("there must be as many shadow models for each group")
        return self


class MembershipScore(Fact):
    """How a score tells documents trained on from fresh ones."""

    curve: RocCurve
    above: Quantity = Field(description="Chance that it is above that of a fresh document.")
    rates: tuple[RateTold, ...]

    @property
    def name(self) -> str:
        return self.curve.name

    def rows(self, base_rate: float | None) -> Iterator[StudyRow]:
        yield StudyRow(role="attack", of=ABOVE, name=self.name, quantity=self.above, about=self)
        yield from rate_rows(self.name, self.rates, base_rate, of=_CALLED, key="rate")


class CanaryGroup(Fact):
    """Canaries that are in the training text equally often.

    What a model that never saw them does is known exactly: it names one of as many secrets as each
    was compared with.
    """

    copies: Positive
    canaries: Positive
    alternatives: Positive = Field(description="Other secrets that each is compared with.")
    named: Count = Field(description="Whose secret is likelier than every other.")
    by_chance: Count = Field(description="Most that a model names that never saw them.")
    chance: Share = Field(description="That such a model names as many.")
    completed: Count = Field(description="Whose secret the model prints after the text before it.")
    guess_completed: Share = Field(description="Largest chance that such a model prints one.")
    exposure: float = Field(ge=0, description="Median over canaries, in bits.")

    @model_validator(mode="after")
    def _of_those_planted(self) -> Self:
        for count, words in ((self.named, "named"), (self.completed, "printed")):
            if count > self.canaries:
                raise ValueError(f"there are more canaries {words} than planted")
        return self

    @property
    def guess(self) -> float:
        return 1 / (self.alternatives + 1)

    @property
    def share(self) -> Quantity:
        return Quantity(value=self.named / self.canaries, grade="counted", trials=self.canaries)

    def row(self) -> StudyRow:
        return StudyRow(
            role="attack",
            of=CANARIES,
            name="likelihood",
            quantity=self.share,
            baseline=self.guess,
            at={"copies": self.copies},
            about=self,
        )


class LanguageResult(MemorizedResult):
    """What a language model gives away."""

    model: str = Field(description="What it is, in words.")
    start: str = Field("", description="What is before each text, where that was chosen.")
    has_reference: bool
    trained_copies: Positive = Field(description="Documents trained on, with their copies.")
    attacks: tuple[DocumentAttack, ...] = Field(min_length=1)
    base_rate: Share | None = Field(
        default=None, description="Share of documents trained on, of precisions."
    )
    scores: tuple[MembershipScore, ...] = Field((), description="Of membership.")
    canaries: tuple[CanaryGroup, ...] = Field((), description="By copies.")
    program: ProgramResult | None = None

    @property
    def groups_by_attack(self) -> dict[str, tuple[DocumentGroup, ...]]:
        return {attack.name: attack.groups for attack in self.attacks}

    @property
    def how_merged(self) -> MergedGroups | None:
        return next((attack.merged for attack in self.attacks if attack.merged is not None), None)

    def all_rows(self) -> Iterator[StudyRow]:
        yield from super().all_rows()
        for score in self.scores:
            yield from score.rows(self.base_rate)
        yield from (group.row() for group in self.canaries)
        if self.program is not None:
            yield from self.program.rows()


@dataclass(frozen=True)
class FoundAboutModel:
    """Everything that was done to a model, before limits are made."""

    words: str
    parameters: int
    division: Division
    attacked: Sequence[AttackedDocuments]
    trained_scores: Scores
    fresh_scores: Scores
    canaries: Sequence[NamedCanaries]
    evidence: ExtractionEvidence | None
    has_reference: bool
    unpublished: tuple[str, ...] = ()
    start: str = ""  # what is before each text, where that was chosen


@dataclass(frozen=True, eq=False)
class LanguageWork(PreparedWork[LanguageStudy]):
    """A model to be made, and its documents."""

    part: HasModels = field(kw_only=True)
    division: Division = field(kw_only=True)
    planted: tuple[PlantedCanary, ...] = ()

    @property
    def documents(self) -> list[TextDocument]:
        return [*self.division.trained, *(canary.document for canary in self.planted)]


class LanguageKind(MemorizationKind[LanguageStudy, LanguageWork]):
    model = LanguageStudy
    result = LanguageResult
    layout = "narcissus.kinds.memorization.language.layout:LAYOUT"
    unit, kept = "documents", ("chance",)

    def check(self, study: LanguageStudy, folder: Path, observer: Observer) -> None:
        """Refuse missing files, folders that are no models, missing packages."""
        observer.start("checking the files of the model", 0)
        part: HasModels = study.model.build()
        part.check()
        super().check(study, folder, observer)
        if study.program is not None:
            if part.unpublished:
                raise InputError(
                    "[program] gets the whole folder of the model: take what `unpublished` names "
                    "out of the folder, or leave [program] out"
                )
            refuse_program(part)
            check_source(read_bytes(folder / study.program.path), str(study.program.path))

    def prepare(self, study: LanguageStudy, folder: Path, options: RunOptions) -> LanguageWork:
        part: HasModels = study.model.build()
        planted = study.planted(folder, part, child(options.entropy, _CANARIES))
        division = study.division(folder, part, child(options.entropy, _DIVISION), planted)
        return LanguageWork(
            study, folder, options.entropy, part=part, division=division, planted=planted
        )

    def files(self, study: LanguageStudy) -> Files:
        planted = None if study.canaries is None else study.canaries.file
        return {"documents": study.data.documents, "canaries": planted}

    def cost(self, work: LanguageWork, options: RunOptions) -> tuple[float, str]:
        part = work.part
        seconds = part.seconds(work.documents) + part.seconds(work.division.reference)
        return seconds, f"training {part.words()}, and a reference model"

    def measure(self, work: LanguageWork, done: Done, options: RunOptions) -> Findings:
        study, division, planted = work.study, work.division, work.planted
        step = partial(options.observer.start, total=0)
        with options.place() as place, self.kept_batches(options) as store:
            step("reading the model")
            models = work.part.models(
                work.documents,
                division.reference,
                place,
                entropy=int(child(work.entropy, _TRAINING).integers(2**63)),
                observer=options.observer,
            )
            groups = (
                texts_of(division.trained),
                texts_of(division.fresh),
                [canary.text() for canary in planted],
            )
            step("choosing what is before each text")
            models = keeping(models, store, options.observer, groups)
            if not work.part.trains:
                work.not_assessed.extend(
                    losses_remark(models.model, groups[:2], confidence=study.run.confidence)
                )
            attacked = _attacked(study, models, division, planted, options)
            if not work.part.trains:
                step("reading the texts of the model's folder")
                texts = work.part.texts(shortest=study.window)
                attacked += _read(study, texts, division, planted)
                work.not_assessed.extend(_unread(texts.unread))
            step("scoring documents")
            scores = _scores(study, models, division)
            evidence = program_evidence(study, models, division, planted, work.folder, options)
            canaries: tuple[NamedCanaries, ...] = ()
            if study.canaries is not None:
                step("naming canaries")
                canaries = named_canaries(
                    models.model,
                    planted,
                    CanaryPlan.of(planted),
                    alternatives=study.canaries.alternatives,
                    completes=models.model,
                    rng=child(work.entropy, _RANKS),
                )
            step("digesting the folders of models")
            if models.folder is not None and not work.part.unpublished:
                check_release(models.folder, largest=2**50)
            for name, folder in models.folders.items():
                declared = work.part.unpublished if name == "model" else ()
                work.digests[name] = model_digest(folder, declared)
            work.part.require_same_files()
        step("drawing conclusions")
        work.not_assessed.extend(
            model_not_assessed(
                trains=work.part.trains,
                limits_memory=work.part.limits_memory,
                others=work.part.others,
                are_searched=True,
            )
        )
        if evidence is not None:
            work.not_assessed.extend(program_not_assessed(evidence))
        return self.measured(
            study,
            FoundAboutModel(
                work.part.words(),
                models.parameters,
                division,
                attacked,
                *scores,
                canaries,
                evidence,
                models.reference is not None,
                work.part.unpublished,
                start_of(models.model),
            ),
        )

    def measured(self, study: LanguageStudy, found: FoundAboutModel) -> Findings:
        """Make the limits, each for all of them together (Bonferroni)."""
        division, evidence = found.division, found.evidence
        divided = [
            by_copies([_copies(part.trained), _copies(part.fresh)], study.groups.least_group)
            for part in found.attacked
        ]
        groups = [[(), *parts] for parts, _ in divided]
        claims = 2 * len(found.trained_scores) + len(found.canaries)
        sides = texts_of(division.trained), texts_of(division.fresh)
        claims += asks_points(*sides, by_chance=division.by_chance)
        for part, copy_groups in zip(found.attacked, groups, strict=True):
            claims += sum(bool(_among(part.fresh, copies).any()) for copies in copy_groups)
            claims += len(copy_groups) * (part.by_reference is not None)
            claims += len(copy_groups) * 2 * bool(part.by_shadows)
        each = level_of_each(study.run.confidence, claims)
        program, membership = None, study.membership or None
        if study.program is not None and evidence is not None:
            program = ProgramResult.of(evidence, study.program.relation.build())
        result = LanguageResult(
            model=found.words,
            start=found.start,
            parameters=found.parameters,
            has_reference=found.has_reference,
            unpublished=found.unpublished,
            trained=len(division.trained),
            trained_copies=sum(part.copies for part in division.trained),
            fresh=len(division.fresh),
            by_chance=division.by_chance,
            confidence=study.run.confidence,
            claims=claims,
            blind=self.without_model(*sides, by_chance=division.by_chance, each=each),
            attacks=tuple(
                DocumentAttack(
                    name=part.name,
                    rule=part.rule,
                    groups=tuple(_group(part, copies, each) for copies in copy_groups),
                    ranked=part.ranked,
                    merged=merged,
                    unrelated=part.unrelated,
                    beyond_context=part.beyond_context,
                    shorter_prompts=part.shorter_prompts,
                )
                for part, copy_groups, (_, merged) in zip(
                    found.attacked, groups, divided, strict=True
                )
            ),
            base_rate=membership and membership.base_rate,
            scores=tuple(_scored(found, membership, each)),
            canaries=tuple(
                CanaryGroup.taken(part, by_chance=part.by_chance(each), chance=part.chance())
                for part in found.canaries
            ),
            program=program,
        )
        limit = study.threshold
        accepted = (None, None) if limit is None else (limit.gain, limit.quality)
        return self.found(self.criteria(*accepted), result)

    def criteria(self, gain: float | None, quality: float | None = None) -> Criteria:
        """Hold gains of all documents, and the program's quality, to what is accepted.

        Where only the quality is limited, any gain is accepted: a program that is no extraction
        proves nothing.
        """
        whole: dict[str, float | str] = {"copies": 0}
        if quality is None:
            return (StudyCriterion(of="gain", at=whole, at_most=gain),)
        return (
            StudyCriterion(of="gain", at=whole, at_most=1.0 if gain is None else gain),
            StudyCriterion(of="quality", at_most=quality, decides=False),
        )

    def found(self, criteria: Any, result: LanguageResult) -> Findings:
        """Let a program decide that is an extraction of too much quality, if no gain does."""
        gain, *others = criteria
        largest = max(attack.groups[0].gain.low or 0.0 for attack in result.attacks)
        exceeds = gain.at_most is not None and largest > gain.at_most
        decides = [not exceeds and program_exceeds(result, other) for other in others]
        others = [
            other.model_copy(update={"decides": that})
            for other, that in zip(others, decides, strict=True)
        ]
        return super().found((gain, *others), result)

    def premises(self, result: LanguageResult) -> tuple[str, ...]:
        assumptions = super().premises(result)
        if any(attack.groups[0].by_shadows for attack in result.attacks):
            text = (
                "shadow models were trained as the model was, each without these documents and "
                "independently of the others"
            )
            assumptions = (*assumptions, text)
        return (*assumptions, *(() if result.program is None else result.program.assumptions))


KIND = LanguageKind()


def program_exceeds(result: LanguageResult, criterion: StudyCriterion) -> bool:
    """Return whether the program is an extraction of more quality than is accepted."""
    program, limit = result.program, criterion.at_most
    return (
        program is not None
        and limit is not None
        and program.verdict == "extraction"
        and program.quality > limit
    )


def _copies(documents: Sequence[TextDocument]) -> NDArray[np.int64]:
    return np.array([document.copies for document in documents], dtype=np.int64)


def _among(documents: Sequence[TextDocument], copies: tuple[int, ...]) -> BoolArray:
    return np.isin(_copies(documents), copies) | (not copies)


def _group(part: AttackedDocuments, copies: tuple[int, ...], each: float) -> DocumentGroup:
    trained, fresh = _among(part.trained, copies), _among(part.fresh, copies)
    counts = recovered_documents(
        part.recovered[trained],
        part.recovered_fresh[fresh],
        None if part.by_reference is None else part.by_reference[trained],
        confidence=each,
    )
    return DocumentGroup.of(
        counts,
        copies=copies,
        reference=None if counts.reference is None else Quantity.of(counts.reference),
        chance=counts.chance,
        by_shadows=tuple(int(shadow[trained].sum()) for shadow in part.by_shadows),
    )


def _scored(
    found: FoundAboutModel, section: MembershipSection | None, each: float
) -> Iterator[MembershipScore]:
    """Yield how each score tells documents trained on from fresh ones."""
    rates = [] if section is None else reported_rates(section.false_alarms)
    base_rate = None if section is None else section.base_rate
    for name, trained in found.trained_scores.items():
        fresh = found.fresh_scores[name]
        # both sides vary; the share of these very documents is within, whatever they share
        band = roc_band(trained, fresh, confidence=each)
        yield MembershipScore(
            curve=RocCurve.of(name, band),
            above=Quantity.of(auc(trained, fresh, confidence=each)),
            rates=tuple(RateTold.of(band, rate, base_rate) for rate in rates),
        )


def refuse_program(part: HasModels) -> None:
    """Refuse a program for a model that is no folder.
    Raises InputError: the model is in memory only.
    """
    if part.in_memory:
        raise InputError(
            "[program] needs a model folder to be given: use the model `transformer` or `folder`"
        )


def program_evidence(
    study: LanguageStudy,
    models: ModelsUnderStudy,
    division: Division,
    planted: Sequence[PlantedCanary],
    folder: Path,
    options: RunOptions,
) -> ExtractionEvidence | None:
    """Run the program with the model, with stand-ins and the reference model, and weigh it.

    The shadow data are the fresh documents, with canaries whose secrets were never planted.
    """
    section = study.program
    if section is None or models.folder is None:
        return None
    options.observer.start("running the program", 0)
    random = child(options.entropy, _PROGRAM)
    others: list[str] = []
    if study.canaries is not None:
        secrets = CanaryPlan.of(planted).secrets(len(planted), random)
        others = [canary.text(secret) for canary, secret in zip(planted, secrets, strict=True)]
    data = [*texts_of(division.trained), *(canary.text() for canary in planted)]
    reference = models.reference_folder
    program, workers = read_bytes(folder / section.path), options.workers or study.run.workers
    limits = section.limits.of_a_run()
    runs = section.runs * (2 + (reference is not None))
    require_room(program, models.folder, limits, runs, workers=workers, options=options)
    return assess_extraction(
        DataSet("\n".join(data).encode(), "the documents trained on"),
        models.folder,
        program,
        section.relation.build(),
        runs=section.runs,
        margin=section.margin,
        shadows=[DataSet("\n".join([*texts_of(division.fresh), *others]).encode(), "fresh ones")],
        other_releases={} if reference is None else {"the reference model": reference},
        confidence=study.run.confidence,
        limits=limits,
        workers=workers,
        served=section.server,
        rng=random,
        observer=options.observer,
    )


def _attacked(
    study: LanguageStudy,
    models: ModelsUnderStudy,
    division: Division,
    planted: Sequence[PlantedCanary],
    options: RunOptions,
) -> list[AttackedDocuments]:
    options.observer.start("continuing documents", 0)
    # the first to be played, since it is quick to find that documents are too short for it
    known = completed(models, division, study.completion) if study.completion else []
    if study.discovery:
        known += discovered(models, division, study.discovery)
    attacks: list[AttackedDocuments] = []
    if study.generation:
        options.observer.start("sampling and ranking", 0)
        mine = [canary.text() for canary in planted]
        found = generated(models, division, study.generation, entropy=options.entropy, mine=mine)
        attacks += [] if found is None else [found]
    attacks += known
    if not attacks:
        played = "[generation]" if study.generation else "[completion]"
        played = "[generation] or [completion]" if study.generation and study.completion else played
        raise InputError(
            f"every document trained on is too short for {played}: make `prompt` or "
            "`window` smaller"
        )
    return attacks


def _read(
    study: LanguageStudy,
    texts: FolderTexts,
    division: Division,
    planted: Sequence[PlantedCanary],
) -> list[AttackedDocuments]:
    """Look for documents in what is published next to the weights."""
    window, mine = study.window, [canary.text() for canary in planted]
    k = study.generation.k if study.generation else 1
    attack = read_in_folder(division, texts.texts, window=window, k=k, mine=mine)
    return [] if attack is None else [attack]


def _unread(names: Sequence[str]) -> Iterator[NotAssessed]:
    """Describe what documents in a code that nobody knows would look like."""
    if names:
        yield NotAssessed(
            f"a long stretch in {some_of(names, 6)}",
            "it is a text in none of the usual codes, and may be documents that are packed or "
            "encrypted",
            "take it out of the folder that is published",
        )


def _scores(
    study: LanguageStudy, models: ModelsUnderStudy, division: Division
) -> tuple[Scores, Scores]:
    """Score documents by side; nothing where it was not asked for."""
    if not study.membership:
        return {}, {}
    trained, fresh = (
        membership_scores(
            models.model, texts_of(side), models.reference, names=study.membership.scores
        )
        for side in (division.trained, division.fresh)
    )
    return trained, fresh
