"""Train or read a language model, attack it, hold it against fresh documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from narcissus._arrays import BoolArray
from narcissus._files import file_digest, read_bytes
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson, each_confidence, mean_limits, roc_band
from narcissus.evidence.intervals import auc
from narcissus.extraction.assess import assess_extraction
from narcissus.extraction.canaries import CanaryPlan, NamedCanaries, PlantedCanary, named_canaries
from narcissus.extraction.evidence import ExtractionEvidence
from narcissus.extraction.files import DataSet, check_release
from narcissus.extraction.language_models import HasModels, ModelsUnderStudy
from narcissus.extraction.model_digest import model_digest
from narcissus.extraction.recovered import (
    Division,
    TextDocument,
    membership_scores,
    recovered_documents,
)
from narcissus.extraction.sandbox import check_source
from narcissus.kinds.engine import Done, PreparedWork
from narcissus.kinds.extraction.program import (
    ProgramResult,
    program_not_assessed,
    require_room,
)
from narcissus.kinds.memorization.engine import (
    ABOVE,
    TOLD,
    Criteria,
    MemorizationKind,
    MemorizedDetail,
    asks_points,
    count_rows,
    model_not_assessed,
    of_copies,
    with_gains,
)
from narcissus.kinds.memorization.language.attacks import (
    AttackedDocuments,
    RankedBy,
    completed,
    discovered,
    generated,
    keeping,
    texts_of,
)
from narcissus.kinds.memorization.language.schema import LanguageStudy
from narcissus.membership.reported import RateTold, RocCurve, rate_rows, reported_rates
from narcissus.observer import Observer
from narcissus.results import Estimate, Grade
from narcissus.rows import Count, Fact, Findings, Positive, Quantity, StudyCriterion, StudyRow
from narcissus.study.kinds import RunOptions
from narcissus.study.merging import MergedGroups, by_copies

Scores = Mapping[str, NDArray[np.float64]]
_DIVISION, _CANARIES, _RANKS, _TRAINING, _PROGRAM = 0, 2, 3, 4, 5
"""Keys of random streams; 1 is sampling's."""


class DocumentAttack(Fact):
    """One attack that recovers documents, beside its rows."""

    name: str = Field(
        pattern="^(generation|completion|near-verbatim completion|discovery n=[0-9]+)$"
    )
    rule: str = Field(description="When a document counts as recovered.")
    ranked: tuple[RankedBy, ...] = Field((), description="By score, where anything is ranked.")
    merged: MergedGroups | None = None
    shadows: tuple[tuple[Count, ...], ...] = Field(
        (), description="By group, how many of its documents each shadow model gives away."
    )
    unrelated: Count | None = Field(
        None,
        description="Continuations that are as near to the text of another document trained on, "
        "where near-verbatim ones count.",
    )

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if len(set(map(len, self.shadows))) > 1:
            raise ValueError("`shadows` must hold as many models for each group")
        return self


class LanguageDetail(MemorizedDetail):
    """What is said of a language model beside rows."""

    model: str = Field(description="What it is, in words.")
    has_reference: bool
    trained_copies: Positive = Field(description="Documents trained on, with their copies.")
    attacks: tuple[DocumentAttack, ...] = Field(min_length=1)
    program: ProgramResult | None = None
    curves: tuple[RocCurve, ...] = Field((), description="Of each score of membership.")

    @property
    def how_merged(self) -> MergedGroups | None:
        return next((attack.merged for attack in self.attacks if attack.merged is not None), None)


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


@dataclass(frozen=True, eq=False)
class LanguageWork(PreparedWork[LanguageStudy]):
    """A model to be made, and its documents."""

    digests: dict[str, str]
    part: HasModels = field(kw_only=True)
    division: Division = field(kw_only=True)
    planted: tuple[PlantedCanary, ...] = ()

    @property
    def documents(self) -> list[TextDocument]:
        return [*self.division.trained, *(canary.document for canary in self.planted)]


class LanguageKind(MemorizationKind[LanguageStudy, LanguageWork]):
    model = LanguageStudy
    detail = LanguageDetail
    layout = "narcissus.kinds.memorization.language.layout:LAYOUT"
    unit, kept = "documents", ("chance",)

    def check(self, study: LanguageStudy, folder: Path, observer: Observer) -> None:
        """Refuse missing files, folders that are no models, missing packages."""
        part: HasModels = study.model.build()
        part.check()
        self.prepare(study, folder, RunOptions(0, observer))
        if study.program is not None:
            refuse_program(part)
            check_source(read_bytes(folder / study.program.path), str(study.program.path))

    def prepare(self, study: LanguageStudy, folder: Path, options: RunOptions) -> LanguageWork:
        options.refuse_policy_and_records("language models")
        part: HasModels = study.model.build()
        planted = study.planted(folder, part, child(options.entropy, _CANARIES))
        division = study.division(folder, part, child(options.entropy, _DIVISION), planted)
        digests = {"documents": file_digest(folder / study.data.documents)}
        if study.canaries is not None and study.canaries.file is not None:
            digests["canaries"] = file_digest(folder / study.canaries.file)
        return LanguageWork(
            study, folder, options.entropy, digests, part=part, division=division, planted=planted
        )

    def cost(self, work: LanguageWork, options: RunOptions) -> tuple[float, str]:
        part = work.part
        seconds = part.seconds(work.documents) + part.seconds(work.division.reference)
        return seconds, f"training {part.words()}, and a reference model"

    def measure(self, work: LanguageWork, done: Done, options: RunOptions) -> Findings:
        study, division, planted = work.study, work.division, work.planted
        with options.place() as place, self.kept_batches(options) as store:
            models = work.part.models(
                work.documents,
                division.reference,
                place,
                entropy=int(child(work.entropy, _TRAINING).integers(2**63)),
                observer=options.observer,
            )
            models = keeping(models, store, options.observer)
            attacked = _attacked(study, models, division, planted, options)
            scores = _scores(study, models, division)
            evidence = program_evidence(study, models, division, planted, work.folder, options)
            canaries: tuple[NamedCanaries, ...] = ()
            if study.canaries is not None:
                canaries = named_canaries(
                    models.model,
                    planted,
                    CanaryPlan.of(planted),
                    alternatives=study.canaries.alternatives,
                    completes=models.model,
                    rng=child(work.entropy, _RANKS),
                )
            if models.folder is not None:
                check_release(models.folder, largest=2**50)
            work.digests.update(
                (name, model_digest(folder)) for name, folder in models.folders.items()
            )
        work.not_assessed.extend(
            model_not_assessed(trains=work.part.trains, limits_memory=work.part.limits_memory)
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
            ),
        )

    def measured(self, study: LanguageStudy, found: FoundAboutModel) -> Findings:
        """Make the limits, each for all of them together (Bonferroni)."""
        membership, base_rate = study.membership, None
        if membership:
            rates, base_rate = reported_rates(membership.false_alarms), membership.base_rate
        else:
            rates = []
        minimum = study.groups.least_group
        divided = [
            by_copies([_copies(part.trained), _copies(part.fresh)], minimum)
            for part in found.attacked
        ]
        groups = [[(), *parts] for parts, _ in divided]
        claims = 2 * len(found.trained_scores) + len(found.canaries)
        sides = texts_of(found.division.trained), texts_of(found.division.fresh)
        claims += asks_points(*sides, by_chance=found.division.by_chance)
        for part, copy_groups in zip(found.attacked, groups, strict=True):
            claims += sum(bool(_among(part.fresh, copies).any()) for copies in copy_groups)
            claims += len(copy_groups) * (part.by_reference is not None)
            claims += len(copy_groups) * 2 * bool(part.by_shadows)
        each = each_confidence(study.run.confidence, claims)
        rows: list[StudyRow] = []
        attacks: list[DocumentAttack] = []
        for part, copy_groups, (_, merged) in zip(found.attacked, groups, divided, strict=True):
            rows += [row for copies in copy_groups for row in _group(part, copies, each)]
            members = (
                [_among(part.trained, copies) for copies in copy_groups] if part.by_shadows else []
            )
            counts = [tuple(int(s[m].sum()) for s in part.by_shadows) for m in members]
            attacks.append(
                DocumentAttack(
                    name=part.name,
                    rule=part.rule,
                    ranked=part.ranked,
                    merged=merged,
                    shadows=tuple(counts),
                    unrelated=part.unrelated,
                )
            )
        curves: list[RocCurve] = []
        for name, trained in found.trained_scores.items():
            fresh = found.fresh_scores[name]
            rows.append(_above(name, auc(trained, fresh, confidence=each)))
            # both sides vary; the share of these very documents is within, whatever they share
            band = roc_band(trained, fresh, confidence=each)
            curves.append(RocCurve.of(name, band))
            told = [RateTold.of(band, rate, base_rate) for rate in rates]
            rows += rate_rows(name, told, base_rate, of=_CALLED, key="rate")
        rows += [_canaries(part, each) for part in found.canaries]
        program, evidence = None, found.evidence
        if study.program is not None and evidence is not None:
            program = ProgramResult.of(evidence, study.program.relation.build())
        detail = LanguageDetail(
            model=found.words,
            parameters=found.parameters,
            has_reference=found.has_reference,
            trained=len(found.division.trained),
            trained_copies=sum(part.copies for part in found.division.trained),
            fresh=len(found.division.fresh),
            by_chance=found.division.by_chance,
            confidence=study.run.confidence,
            claims=claims,
            attacks=tuple(attacks),
            program=program,
            curves=tuple(curves),
        )
        detail = detail.model_copy(update={"blind": self.without_model(*sides, detail)})
        limit = study.threshold
        accepted = (None, None) if limit is None else (limit.gain, limit.quality)
        return self.found(self.criteria(*accepted), rows, detail)

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

    def derived(self, rows: Sequence[StudyRow], detail: LanguageDetail) -> Iterator[StudyRow]:
        program = () if detail.program is None else tuple(detail.program.rows())
        places = {(row.of, row.name) for row in program}
        attack_rows = [row for row in rows if (row.of, row.name) not in places]
        for row in with_gains(attack_rows, self.counted):
            yield canary_row(row.at["copies"], row.facts) if row.of == CANARIES else row
        yield from program

    def deciding(
        self, criteria: Criteria, rows: Sequence[StudyRow], detail: LanguageDetail
    ) -> Criteria:
        """Let a program decide that is an extraction of too much quality, if no gain does."""
        gain, *others = criteria
        gains = [row.quantity.low or 0.0 for row in rows if row.of == "gain" and row.is_at(gain.at)]
        exceeds = gain.at_most is not None and max(gains) > gain.at_most
        return (
            gain,
            *(
                other.model_copy(update={"decides": not exceeds and program_exceeds(detail, other)})
                for other in others
            ),
        )

    def premises(self, detail: LanguageDetail) -> tuple[str, ...]:
        assumptions = super().premises(detail)
        if any(attack.shadows for attack in detail.attacks):
            text = (
                "shadow models were trained as the model was, each without these documents and "
                "independently of the others"
            )
            assumptions = (*assumptions, text)
        return (*assumptions, *(() if detail.program is None else detail.program.assumptions))


KIND = LanguageKind()
CANARIES = "canaries named"
_CALLED: dict[Grade, str] = dict.fromkeys(("sampled", "approximate", "not assessed"), TOLD)
CANARY = (
    "canaries",
    "alternatives",
    "named",
    "by_chance",
    "chance",
    "completed",
    "guess_completed",
    "exposure",
)
"""What is known of canaries that stand equally often in the training text."""


def program_exceeds(detail: LanguageDetail, one: StudyCriterion) -> bool:
    """Return whether the program is an extraction of more quality than is accepted."""
    program, limit = detail.program, one.at_most
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


def _group(one: AttackedDocuments, copies: tuple[int, ...], each: float) -> list[StudyRow]:
    trained, fresh = _among(one.trained, copies), _among(one.fresh, copies)
    recovery = recovered_documents(
        one.recovered[trained],
        one.recovered_fresh[fresh],
        None if one.by_reference is None else one.by_reference[trained],
        confidence=each,
    )
    beside = {"fresh": recovery.fresh, "reference": recovery.reference}
    facts = {} if recovery.chance is None else {"chance": recovery.chance}
    counts = recovery.recovered, recovery.documents
    return count_rows("recovered", one.name, counts, beside, of_copies(copies), facts)


def _above(score: str, found: Estimate) -> StudyRow:
    """Return the chance that a document trained on scores above a fresh one (area under ROC)."""
    return StudyRow(role="attack", of=ABOVE, name=score, quantity=Quantity.of(found))


def _canaries(one: NamedCanaries, each: float) -> StudyRow:
    chances = {"by_chance": one.by_chance(each), "chance": one.chance()}
    facts = {key: chances[key] if key in chances else getattr(one, key) for key in CANARY}
    return canary_row(one.copies, facts)


def canary_row(copies: Any, facts: Mapping[str, Any]) -> StudyRow:
    """Return how many canaries were named whose secrets stand so often in the training text.

    What a model that never saw them does is known exactly: one of as many secrets as each was
    compared with.
    """
    named, count = facts["named"], facts["canaries"]
    if facts["completed"] > count:
        raise ValueError("there are more canaries printed than planted")
    quantity = Quantity(value=named / count, grade="counted", trials=count)
    return StudyRow(
        role="attack",
        of=CANARIES,
        name="likelihood",
        quantity=quantity,
        baseline=1 / (facts["alternatives"] + 1),
        at={"copies": copies},
        facts=facts,
    )


def beside_shadows(
    counts: Sequence[int], recovered: int, of: int, each: float
) -> tuple[Estimate, Estimate]:
    """Limit what models that were trained without these documents give away: each is a trial.

    counts: documents that each gives away, of so many.
    Returns tuple: the share that such a model gives away on average, and how often it gives away
        as many as this model, or more.
    """
    many = sum(count >= recovered for count in counts)
    quantity = "share recovered from a model without them"
    mean = mean_limits(np.array(counts) / of, confidence=each, quantity=quantity)
    return mean, clopper_pearson(many, len(counts), confidence=each)


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
    # the first to be played, since it is quick to find that documents are too short for it
    known = completed(models, division, study.completion) if study.completion else []
    if study.discovery:
        known += discovered(models, division, study.discovery)
    attacks: list[AttackedDocuments] = []
    if study.generation:
        options.observer.note("sampling and ranking")
        mine = [canary.text() for canary in planted]
        attacks.append(
            generated(models, division, study.generation, entropy=options.entropy, mine=mine)
        )
    attacks += known
    if not attacks:
        raise InputError(
            "no document is long enough for [completion], the only attack: make `prompt` or "
            "`window` smaller, or play [generation]"
        )
    return attacks


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
