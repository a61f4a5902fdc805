"""Language models under study: trained here without the fresh documents, or in a local folder.

Each way gives a model and, if there can be one, a reference model that was trained without the
documents that the first was trained on.
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
    """A model, and one that was trained without its documents.

    Attributes
    ----------
    model, reference
        The two; None where there is no reference model.
    folder, reference_folder
        Where they are as releases; None for a model that is in memory only.
    parameters
        How many numbers the model has.
    shadows
        Each reads one more model that was trained without the documents.
    """

    model: LanguageModel
    reference: LanguageModel | None
    folder: Path | None
    reference_folder: Path | None
    parameters: int
    shadows: tuple[Callable[[], LanguageModel], ...] = ()


class HasModels(Protocol):
    """A part `language-model`: how the models of a study come about."""

    @property
    def trains(self) -> bool:
        """Whether the models are trained here, so that chance decides on which documents."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether there is no model folder that a program could be given."""
        ...

    def check(self) -> None:
        """Refuse what cannot be used, before any work."""
        ...

    def seconds(self, documents: Sequence[TextDocument]) -> float:
        """Estimate what training on such documents takes."""
        ...

    def words(self) -> str:
        """Say what the model is, for a reader."""
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
        """Give the models: of documents, and of others (the reference); ``place`` keeps them."""
        ...


class LocalCheckpoint:
    """A causal language model in a local folder, whoever trained it (extra `language`).

    Parameters
    ----------
    model
        Folder with `config.json`, `*.safetensors` and a tokenizer. Nothing is downloaded, pickled
        weights are refused, and no code of the folder is run.
    reference
        Folder with another model, trained without the documents; none: no such comparison.
    shadows
        Folders with models trained as this one was, but each without the documents, and
        independently of one another: each is attacked as the model is.
    device
        "cpu", "cuda", ...; none takes a GPU where there is one.
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
        """Look at the files, and for the libraries."""
        for folder in (self._folder, self._reference, *self._shadows):
            if folder is not None:
                check_model_folder(folder)
        libraries("A Hugging Face model")

    def seconds(self, documents: Sequence[TextDocument]) -> float:
        """Nothing is trained."""
        return 0.0

    def words(self) -> str:
        """Name the folder."""
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
        """Read them."""

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
        Characters that it looks at, the predicted one included.
    """

    order: int = 8

    @property
    def in_memory(self) -> bool:
        """It is."""
        return True

    @property
    def trains(self) -> bool:
        """It does."""
        return True

    def __post_init__(self) -> None:
        integer("order", self.order, low=1)

    def check(self) -> None:
        """Need nothing."""

    def seconds(self, documents: Sequence[TextDocument]) -> float:
        """Count characters."""
        return 1e-6 * self.order * sum(one.copies * len(one.text) for one in documents)

    def words(self) -> str:
        """Say its order."""
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
        """Count both; they stay in memory."""

        def count(documents: Sequence[TextDocument]) -> CharacterNgram:
            texts = [one.text for one in documents for _ in range(one.copies)]
            return CharacterNgram(texts, order=self.order)

        model, reference = count(trained), count(others)
        return ModelsUnderStudy(model, reference, None, None, model.parameters)
