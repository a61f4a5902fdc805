"""The study file of a language model.

The descriptions here are the documentation of the study file
(`narcissus init --schema language-model`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import numpy as np
from pydantic import Field, model_validator

from narcissus._files import read_bytes
from narcissus._options import MOST_COUNT, MOST_WORKERS
from narcissus.errors import InputError
from narcissus.extraction.canaries import CanaryPlan, PlantedCanary, read_canaries, require_planted
from narcissus.extraction.evidence import MARGIN
from narcissus.extraction.language_models import HasModels
from narcissus.extraction.recovered import (
    DEFAULT_SCORES,
    LARGEST_TEXT,
    Division,
    divide,
    read_documents,
)
from narcissus.kinds.extraction.kind import LimitSettings
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part
from narcissus.study.sections import Approval, FileSection, GroupsByCopies, SeededRun

Rate = Annotated[float, Field(gt=0, lt=1)]


class DocumentFiles(FileSection):
    """The documents; paths are relative to the study file."""

    documents: Path = Field(
        description="Text file (UTF-8). For a model that is trained here: all documents, of which "
        "chance takes a third to train on, a third that stays fresh, and a third for the reference "
        "model. For a model in a folder: documents that it was trained on."
    )
    fresh: Path | None = Field(
        None,
        description="For a model in a folder: documents of the same source that it has not seen.",
    )
    unit: Literal["line", "paragraph"] = Field(
        "line", description="A document a line, or separated by blank lines."
    )


class CanarySection(FileSection):
    """Secrets that are planted in the training text: here, or before a training elsewhere."""

    file: Path | None = Field(
        None,
        description="For a model in a folder: the canaries that were planted before it was "
        "trained, as `narcissus canaries write` wrote them; in place of `each`, `copies`, `digits` "
        "and `text`. `data.documents` must hold them, as often as they were planted.",
    )
    each: int = Field(20, ge=1, le=10_000, description="Canaries for each number of copies.")
    copies: list[Annotated[int, Field(ge=1, le=10_000)]] = Field(
        [1, 4, 16], min_length=1, description="How often each appears in the training text."
    )
    digits: int = Field(8, ge=1, le=100, description="Of a secret, drawn at random.")
    text: str = Field(
        CanaryPlan.text, description="The document; `{number}` of the canary, then `{secret}`."
    )
    alternatives: int = Field(
        99, ge=1, le=100_000, description="Other secrets that each is compared with."
    )

    @model_validator(mode="after")
    def _either(self) -> CanarySection:
        drawn = sorted(self.model_fields_set & {"each", "copies", "digits", "text"})
        if self.file is not None and drawn:
            raise ValueError(f"`file` says which canaries were planted: leave out `{drawn[0]}`")
        self.plan()
        return self

    def plan(self) -> CanaryPlan:
        return CanaryPlan(self.each, tuple(self.copies), self.digits, self.text)


class GenerationSection(FileSection):
    """The attack that samples the model, ranks what it prints, and keeps the best."""

    samples: int = Field(500, ge=1, le=10**7, description="Texts that are drawn.")
    length: int = Field(150, ge=1, le=10**5, description="The most tokens in each.")
    top: int = Field(100, ge=1, le=MOST_COUNT, description="How many are kept by each score.")
    window: int = Field(40, ge=1, le=MOST_COUNT, description="Characters in a row that must agree.")
    k: int = Field(
        1,
        ge=1,
        le=MOST_COUNT,
        description="Most different documents, of all sides, that may hold them.",
    )


class CompletionSection(FileSection):
    """The attack that knows how a document begins, and lets the model go on."""

    prompt: int | None = Field(
        50, ge=1, le=MOST_COUNT, description="Tokens at the beginning of a document that are known."
    )
    prefix: int | None = Field(
        None,
        ge=1,
        le=MOST_COUNT,
        description="In place of `prompt`: characters that are known; of a token that they cut, "
        "nothing is.",
    )
    window: int = Field(
        30, ge=1, le=MOST_COUNT, description="Characters after them that must agree."
    )
    edits: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="Count near-verbatim continuations too, as a separate attack: at most so "
        "many insertions, deletions and substitutions for each character of `window`.",
    )
    tokens: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Likewise: at least this share of the tokens in `window` agree, each at its "
        "place. With `edits`, either is enough.",
    )

    @model_validator(mode="before")
    @classmethod
    def _either(cls, given: Any) -> Any:
        """Take a prefix for the prompt, as files and records that know no `prompt` mean it."""
        if not isinstance(given, dict):
            return given
        keys = cast("dict[str, Any]", given)
        if keys.get("prefix") is None:
            return {**keys, "prompt": 50 if keys.get("prompt") is None else keys["prompt"]}
        if keys.get("prompt") is not None:
            raise ValueError("give `prompt` (tokens) or `prefix` (characters), one of them")
        return {**keys, "prompt": None}


class DiscoverySection(FileSection):
    """The attack that knows how a document begins, and samples the model again and again.

    A document is (n, p)-discoverable if one of n samples goes on with its next tokens with a chance
    of p or more. That follows exactly from the probabilities that the model gives.
    """

    prompt: int = Field(
        50, ge=1, le=MOST_COUNT, description="Tokens at the beginning that are known."
    )
    window: int = Field(50, ge=1, le=MOST_COUNT, description="Tokens after them that must agree.")
    n: list[Annotated[int, Field(ge=1, le=10**12)]] = Field(
        [1, 100, 10_000], min_length=1, description="Samples; an attack for each number."
    )
    p: float = Field(0.5, gt=0, le=1, description="Chance from which on a document counts.")
    temperature: float = Field(1.0, gt=0, description="Of the sampling.")
    top_k: int | None = Field(
        None,
        ge=1,
        le=MOST_COUNT,
        description="Sample among so many of the likeliest tokens; 1 is greedy, and `n = [1]` is "
        "enough for it. Left out: all tokens.",
    )


class MembershipSection(FileSection):
    """The attack that says whether a document was in the training text."""

    scores: list[
        Literal["perplexity", "loss", "zlib", "lower", "reference", "min-k", "min-k++"]
    ] = Field(
        list(DEFAULT_SCORES),
        min_length=1,
        description="By what documents are ranked; `reference` needs a reference model, `min-k` "
        "and `min-k++` (of the 20% least likely tokens) a transformer.",
    )
    false_alarms: list[Rate] = Field(
        [0.1, 0.01],
        min_length=1,
        description="Shares of fresh documents that may be told, too, "
        "in addition to those that are always reported, 1e-1 to 1e-5.",
    )
    base_rate: Rate | None = Field(
        None, description="Share of documents asked about that were trained on; limits precisions."
    )


class ProgramSection(FileSection):
    """A program that is said to extract documents from the model folder, run in the sandbox."""

    path: Path = Field(
        description="Python source; finds the model as the folder `release`, and may use the "
        "packages that are installed (torch, transformers)."
    )
    relation: Annotated[Part, PartSection("extraction-relation")] = Field(
        {"name": "strings", "bytes_each": 40},  # pyright: ignore[reportArgumentType] (checked)
        validate_default=True,
        description="When an output counts.",
    )
    runs: int = Field(20, ge=1, le=100_000, description="Runs with each release.")
    margin: int = Field(
        MARGIN,
        ge=0,
        le=MOST_COUNT,
        description="Bytes by which it must be shorter than what needs no model.",
    )
    server: bool = Field(
        True,
        description="Fork the runs from one jailed process that has imported what the program "
        "needs: a start of seconds is paid once.",
    )
    limits: LimitSettings = LimitSettings(memory=8192)  # pyright: ignore[reportCallIssue]


class LanguageThreshold(Approval):
    """What the person who approves the release accepts."""

    gain: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="Share of documents that an attack recovers beyond fresh ones, at most.",
    )
    quality: float | None = Field(
        None, ge=0, lt=1, description="Quality of the extraction by the program, at most."
    )

    @model_validator(mode="after")
    def _some(self) -> LanguageThreshold:
        if self.gain is None and self.quality is None:
            raise ValueError("give `gain`, `quality` or both")
        return self


class LanguageRun(SeededRun):
    """How it is run."""

    confidence: float = Field(0.95, gt=0, lt=1, description="Of all limits of the study together.")
    workers: int = Field(
        1, ge=1, le=MOST_WORKERS, description="Runs of the program at the same time."
    )


class LanguageStudy(FileSection):
    """A language model as a release: what it gives away of its documents, and what it would anyway.

    Attacks that the file does not name are played with their defaults; `false` leaves one out.
    """

    title: str = Field("", description="A name for the report.")
    about: str = Field("", description="One sentence: what this study shows.")
    data: DocumentFiles
    model: Annotated[Part, PartSection("language-model")]
    canaries: CanarySection | None = Field(None, description="Left out: none are planted.")
    generation: GenerationSection | Literal[False] = GenerationSection()  # pyright: ignore[reportCallIssue]
    completion: CompletionSection | Literal[False] = CompletionSection()  # pyright: ignore[reportCallIssue]
    discovery: DiscoverySection | None = Field(None, description="Left out: it is not played.")
    membership: MembershipSection | Literal[False] = MembershipSection()  # pyright: ignore[reportCallIssue]
    program: ProgramSection | None = Field(None, description="Left out: none is run.")
    groups: GroupsByCopies = GroupsByCopies()  # pyright: ignore[reportCallIssue] (has defaults)
    threshold: LanguageThreshold | None = None
    run: LanguageRun = LanguageRun()  # pyright: ignore[reportCallIssue] (has defaults)

    @model_validator(mode="after")
    def _fits(self) -> LanguageStudy:
        if not (self.generation or self.completion or self.discovery):
            raise ValueError("play `generation`, `completion` or `discovery`")
        if self.threshold and self.threshold.quality is not None and self.program is None:
            raise ValueError("`threshold.quality` is about a program: name one in [program]")
        return self

    @property
    def window(self) -> int:
        """Characters of a document that count where they are found."""
        sections = [part for part in (self.generation, self.completion) if part]
        return sections[0].window if sections else 50

    def planted(
        self, folder: Path, part: HasModels, rng: np.random.Generator
    ) -> tuple[PlantedCanary, ...]:
        """Draw the canaries, or read those of a model in a folder.
        Raises InputError: they are not in the text that the model was trained on, or do not fit
            the way the model comes about.
        """
        if self.canaries is None:
            return ()
        if part.trains and self.canaries.file is not None:
            raise InputError("`canaries.file` is for a model in a folder: leave it out")
        if part.trains:
            return self.canaries.plan().plant(rng)
        if self.canaries.file is None:
            raise InputError(
                "[canaries] of a model in a folder need `file`: what `narcissus canaries write` "
                "wrote before the model was trained, and was planted in its training text"
            )
        planted = read_canaries(folder / self.canaries.file)
        for path, trained in ((self.data.documents, True), (self.data.fresh, False)):
            if path is not None:
                body = read_bytes(folder / path, largest=LARGEST_TEXT)
                require_planted(planted, str(path), body, trained=trained)
        return planted

    def division(
        self,
        folder: Path,
        part: HasModels,
        rng: np.random.Generator,
        planted: Sequence[PlantedCanary] = (),
    ) -> Division:
        """Read the documents, and divide them by chance where the model is trained here.

        Canaries in the text that a model in a folder was trained on are none of its documents.
        Raises InputError: a file is missing or empty, or the two files do not fit the way the model
            comes about.
        """
        documents = read_documents(folder / self.data.documents, self.data.unit)
        if part.trains:
            if self.data.fresh is not None:
                raise InputError(
                    "`data.fresh` is for a model in a folder: of a model that is trained here, "
                    "chance takes fresh documents out of `data.documents`"
                )
            return divide(documents, rng)
        if self.data.fresh is None:
            raise InputError(
                "a model in a folder needs `data.fresh`: documents of the same source that it was "
                "not trained on: they show what it would give away anyway"
            )
        mine = {document.text() for document in planted}
        trained = tuple(document for document in documents if document.text not in mine)
        return Division(trained, read_documents(folder / self.data.fresh, self.data.unit))
