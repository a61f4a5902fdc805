"""Language models under study: trained here without the fresh documents, or in a local folder.

Each way gives a model and, where possible, a reference model trained without its documents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Protocol

from narcissus._options import BesideStudy, FilledIn
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.extraction.documents import TextDocument
from narcissus.extraction.huggingface import (
    HuggingFaceGenerator,
    check_model_folder,
    libraries,
)
from narcissus.extraction.ngram import CharacterNgram, Generator
from narcissus.extraction.recovered import Completes
from narcissus.observer import Observer


class LanguageModel(Generator, Completes, Protocol):
    """A model that is sampled, scored and asked to continue."""


@dataclass(frozen=True)
class ModelsUnderStudy:
    """A model, and reference models trained without its documents."""

    model: LanguageModel
    reference: LanguageModel | None  # None if there is none
    folder: Path | None  # of the release; None for a model in memory only
    reference_folder: Path | None
    parameters: int  # of the model
    # each reads one more model trained without the documents
    shadows: tuple[Callable[[], LanguageModel], ...] = ()


class HasModels(Protocol):
    """A part `language-model`: the source of a study's models."""

    @property
    def trains(self) -> bool:
        """Whether the models are trained here, so that the division of documents is random."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether there is no model folder for programs."""
        ...

    def check(self) -> None:
        """Refuse an unusable part before any work."""
        ...

    def seconds(self, documents: Sequence[TextDocument]) -> float:
        """Estimate the training time on such documents."""
        ...

    def words(self) -> str:
        """Describe the model for a reader."""
        ...

    def models(
        self,
        trained: Sequence[TextDocument],
        others: Sequence[TextDocument],
        place: Path,
        *,
        entropy: int,
        observer: Observer,
    ) -> ModelsUnderStudy:
        """Make models of ``trained`` and of ``others`` (the reference), kept in ``place``."""
        ...


class LocalCheckpoint:
    """A causal language model in a local folder, however it was trained (extra `language`).

    Parameters
    ----------
    model
        Folder with `config.json`, `*.safetensors` and a tokenizer. Nothing is downloaded, pickled
        weights are refused, and no code of the folder is run.
    reference
        Folder with another model, trained without the documents; none: no such comparison.
    shadows
        Folders with models trained like this one, but without the documents and independently of
        one another; each is attacked like the model.
    device
        "cpu", "cuda", ...; by default a GPU if there is one.
    batch
        Texts at a time.

    Raises
    ------
    InputError
        A folder holds no model in safetensors.
    MissingExtraError
        torch or transformers is not installed.
    """

    trains = False
    in_memory = False

    def __init__(
        self,
        model: Annotated[str, BesideStudy()],
        reference: Annotated[str | None, BesideStudy()] = None,
        shadows: Annotated[list[str] | None, BesideStudy()] = None,
        device: str | None = None,
        batch: int = 32,
        folder: Annotated[str, FilledIn()] = ".",
    ) -> None:
        self._folder = Path(folder) / model
        self._reference = None if reference is None else Path(folder) / reference
        self._shadows = [Path(folder) / one for one in shadows or ()]
        used = [one.resolve() for one in (self._folder, self._reference, *self._shadows) if one]
        if len(set(used)) < len(used):
            raise InputError("`model`, `reference` and `shadows` must be different folders")
        self._device, self._batch = device, integer("batch", batch, low=1)
        self.check()

    def check(self) -> None:
        for folder in (self._folder, self._reference, *self._shadows):
            if folder is not None:
                check_model_folder(folder)
        libraries("A Hugging Face model")

    def seconds(self, documents: Sequence[TextDocument]) -> float:
        return 0.0

    def words(self) -> str:
        return f"the model in {self._folder.name}"

    def models(
        self,
        trained: Sequence[TextDocument],
        others: Sequence[TextDocument],
        place: Path,
        *,
        entropy: int,
        observer: Observer,
    ) -> ModelsUnderStudy:
        def read(folder: Path) -> HuggingFaceGenerator:
            return HuggingFaceGenerator(folder, device=self._device, batch=self._batch)

        model = read(self._folder)
        reference = None if self._reference is None else read(self._reference)
        return ModelsUnderStudy(
            model,
            reference,
            self._folder,
            self._reference,
            model.parameters,
            tuple(partial(read, one) for one in self._shadows),
        )


@dataclass(frozen=True)
class TrainedCharacterNgram:
    """An n-gram model of characters, trained here on a third of the documents; needs no extra.

    Parameters
    ----------
    order
        Length of the n-grams: the predicted character and its context.
    """

    order: int = 8

    @property
    def in_memory(self) -> bool:
        return True

    @property
    def trains(self) -> bool:
        return True

    def __post_init__(self) -> None:
        integer("order", self.order, low=1)

    def check(self) -> None:
        """Accept: nothing is needed."""

    def seconds(self, documents: Sequence[TextDocument]) -> float:
        return 1e-6 * self.order * sum(one.copies * len(one.text) for one in documents)

    def words(self) -> str:
        return f"an n-gram model of characters of order {self.order}"

    def models(
        self,
        trained: Sequence[TextDocument],
        others: Sequence[TextDocument],
        place: Path,
        *,
        entropy: int,
        observer: Observer,
    ) -> ModelsUnderStudy:
        def count(documents: Sequence[TextDocument]) -> CharacterNgram:
            texts = [one.text for one in documents for _ in range(one.copies)]
            return CharacterNgram(texts, order=self.order)

        model, reference = count(trained), count(others)
        return ModelsUnderStudy(model, reference, None, None, model.parameters)
