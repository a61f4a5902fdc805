"""Language models under study: trained here without the fresh documents, or in a local folder.

Each way gives a model and, where possible, a reference model trained without its documents. Nothing
is downloaded and no code of a model folder is run: weights are read from safetensors only, since
the older formats are pickles. A transformer that is trained here reads bytes: its tokenizer, built
without downloads, has a token for each byte and one for the start of a text, and its folder is that
of `save_pretrained`, for any reader of model folders.
"""

from __future__ import annotations

import collections.abc
import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

import numpy as np

from narcissus._arrays import Floats, first_largest
from narcissus._options import BesideStudy, FilledIn
from narcissus._random import RandomSource, generator
from narcissus._validation import integer, positive, refuse_text
from narcissus.errors import InputError
from narcissus.extraction.byte_tokenizer import TOKENS, write_tokenizer
from narcissus.extraction.files import trained_once
from narcissus.extraction.folder_texts import FolderTexts, texts_of_folder
from narcissus.extraction.kept import Keeps, Kept, in_batches, key_of, tokens_fit
from narcissus.extraction.model_contents import HasModelFolder, require_same_names
from narcissus.extraction.model_digest import model_digest
from narcissus.extraction.model_engine import (
    Asked,
    Engine,
    LanguageEngine,
    answers_of,
    device_of,
    libraries,
    silent,
)
from narcissus.extraction.model_folders import (
    language_model_files,
    staged,
)
from narcissus.extraction.model_process import (
    FREE_MEMORY,
    WEIGHTS,
    LanguageProcess,
    limits_memory,
    memory_limit,
)
from narcissus.extraction.model_trial import laid_out
from narcissus.extraction.ngram import CharacterNgram, Generator, model_prior
from narcissus.extraction.recovered import Completes, TextDocument
from narcissus.extraction.training import descend
from narcissus.observer import SILENT, Observer
from narcissus.priors.secrets import MOST, SecretPrior, read_values

Texts = Sequence[TextDocument]
_IGNORED = -100  # labels that PyTorch's loss leaves out
_LEAST_FREE = 2**28  # bytes that scoring may always take
_SHARE = 4  # the part of the memory beside the weights that scoring takes at once
_BYTES = 12  # for each number that a model gives, and what is computed of it
_SECONDS = 3e-10  # a parameter and a token, there and back, on one core


MOST_LOST = 0.05
"""Share of texts that a tokenizer may lose."""
_KEPT = 0.9
"""Share of a text's letters, and of its digits, that a tokenizer keeps; else the text is lost."""
_KEPT_SPACES = 0.99
"""Share of the spaces between a text's signs that a tokenizer keeps; else the text is lost."""
_TEXTS_TRIED = 1000
_STARTS_TRIED, _START_TOKENS = 32, 64
"""Texts, and tokens of each, that what is before a text is chosen by."""
_STARTS_SHOWN = 6


def is_lost(text: str, written: str) -> bool:
    """Say whether a text that was made into tokens and back lacks its letters or its digits.

    Case, accents and the order of letters are left out, and spaces that are more or longer. Of a
    text without letters and digits, its other signs count. Spaces count where the signs around them
    are written without one.

    >>> is_lost("Café 12", "cafe 12"), is_lost("number 1234", "number ####"), is_lost("!", "")
    (False, True, True)
    """
    before, after = (Counter(_folded(part)) for part in (text, written))
    kinds = [
        Counter({sign: count for sign, count in before.items() if is_kind(sign)})
        for is_kind in (str.isalpha, str.isnumeric)
    ]
    kinds = [kind for kind in kinds if kind] or [before]
    if any((kind & after).total() < _KEPT * kind.total() for kind in kinds):
        return True
    apart, joined = _neighbours(text)
    still_apart, now_joined = _neighbours(written)
    lost = (apart - still_apart) & (now_joined - joined)
    return lost.total() > (1 - _KEPT_SPACES) * apart.total()


def _neighbours(text: str) -> tuple[Counter[str], Counter[str]]:
    """Count the pairs of signs that follow each other with and without spaces between."""
    decomposed = unicodedata.normalize("NFKD", text).casefold().split()
    words = ["".join(_folded(word)) for word in decomposed]
    words = [word for word in words if word]
    apart = Counter(word[-1] + after[0] for word, after in pairwise(words))
    joined = Counter(a + b for word in words for a, b in pairwise(word))
    return apart, joined


def _folded(text: str) -> list[str]:
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return [sign for sign in decomposed if not sign.isspace() and not unicodedata.combining(sign)]


def _padded(torch: Any, rows: Sequence[Sequence[int]], fill: int) -> Any:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows])


class HuggingFaceGenerator:
    """A causal language model and its tokenizer (extra ``language``).

    folder: holds ``config.json``, ``*.safetensors`` and a tokenizer.
    device: "cpu", "cuda", ...; None takes a GPU if there is one.
    batch: texts at a time, at most; fewer are scored at a time where texts and vocabulary are so
        large that they would take more than a quarter of `memory` next to the weights.
    memory: MiB that the process of a stranger's model may take, 1,024 at least; None: 8,192, and
        three times its weights. It limits models on the processor, on Linux.
    unpublished: files and folders in it that are not published; they are not opened.
    is_published: whether the rest of the folder is: then it may hold texts and pictures, and
        nothing else, next to the model.
    is_own: whether this program made the folder. A stranger's model is read and run in a separate
        process, in the sandbox where there is one; on a GPU, which no sandbox reaches, in this
        process after a trial in the sandbox.
    """

    observer: Observer = SILENT
    """Who is told of long sampling and scoring."""
    store: Keeps | None = None
    """Where batches are kept as they end; those of an earlier run are taken again."""

    def __init__(
        self,
        folder: Path | str,
        *,
        device: str | None = None,
        batch: int = 32,
        memory: int | None = None,
        unpublished: Sequence[str] = (),
        is_published: bool = True,
        is_own: bool = False,
    ) -> None:
        self._path = path = Path(folder)
        self._unpublished = tuple(unpublished)
        self._batch = integer("batch", batch, low=1)
        limit = memory_limit(memory)
        parts = {"": language_model_files(path, unpublished, is_published=is_published)}
        torch, _ = libraries("A Hugging Face model")
        self.device = device_of(torch, device)
        if not is_own:
            parts = laid_out(parts, path)
        self._engine: Engine
        weights = WEIGHTS * sum(files.size for files in parts.values())
        self._memory = FREE_MEMORY if limit is None else limit - weights  # beside the weights
        if not is_own and self.device == "cpu":
            self._engine = LanguageProcess(parts, path, limit)
        else:
            with staged(parts) as place:
                self._engine = LanguageEngine(place, str(path), self.device, is_own=is_own)
        self._vocabulary = self._engine.facts.vocabulary
        self._start = 0  # the number of what is before a text, in `facts.starts`

    def sample(self, count: int, length: int, *, rng: RandomSource = None) -> list[str]:
        """Draw texts from their start, of ``length`` tokens or the model's context, if shorter.

        A text goes on after a token that ends it: which token that is only the folder says.
        """
        count = integer("count", count, low=1)
        length = min(integer("length", length, low=1), self.context)
        texts: list[str] = []
        seed = int(generator(rng).integers(2**63))
        rows = [min(self._batch, count - begin) for begin in range(0, count, self._batch)]
        state = first = self._engine.state(seed)

        def draw(number: int) -> Kept:
            tokens, after = self._engine.draw(state, rows[number], length)
            return {"tokens": tokens, "random": after}

        def fits(number: int, found: Kept) -> bool:
            alike = found["random"].shape == first.shape and found["random"].dtype == first.dtype
            return alike and tokens_fit(found["tokens"], rows[number], self._vocabulary)

        batches = [
            (self._key("sample", seed, length, self._batch, number, size), size * length)
            for number, size in enumerate(rows)
        ]
        for batch in self._in_batches(batches, draw, fits, "sample texts, in tokens"):
            state = batch["random"]  # as the batch left it, if it was kept
            texts += map(self.decode, batch["tokens"].tolist())
        return texts

    @cached_property
    def _named(self) -> list[str]:
        """What numbers depend on besides what is asked."""
        digest = model_digest(self._path, self._unpublished)
        return [digest, self._engine.facts.version, self.device]

    def _key(self, *asked: Any) -> str:
        return "" if self.store is None else key_of(self._named, self._start, *asked)

    def _in_batches(
        self,
        batches: Sequence[tuple[str, int]],
        make: Callable[[int], Kept],
        fits: Callable[[int, Kept], bool],
        what: str,
    ) -> collections.abc.Iterator[Kept]:
        return in_batches(self.store, batches, make, fits, what=what, observer=self.observer)

    def following(
        self, prompts: Sequence[Sequence[int]], length: int | Sequence[int]
    ) -> list[list[int]]:
        """Return the likeliest continuation of each prompt, token by token (greedily).

        Each prompt follows the start token. A prompt that ends within a word has other tokens than
        the whole word: to continue a document, pass its own first tokens.

        length: tokens of a continuation, of all or of each; one may be longer.
        Raises InputError: the context does not hold a prompt and its continuation.
        """
        lengths = [
            integer("length", int(size), low=1) for size in np.broadcast_to(length, len(prompts))
        ]
        for prompt, size in zip(prompts, lengths, strict=True):
            self._require_room(len(prompt), size)
        # those of about the same length together, as far as all of them fit
        batches: list[list[int]] = []
        longest = 0
        for number in sorted(range(len(prompts)), key=lambda number: lengths[number]):
            longest = max(longest, len(prompts[number]))
            is_full = not batches or len(batches[-1]) >= self._batch
            if is_full or longest + lengths[number] > self.context:
                batches.append([])
                longest = len(prompts[number])
            batches[-1].append(number)
        sizes = [lengths[numbers[-1]] for numbers in batches]
        ids = [[list(prompts[number]) for number in numbers] for numbers in batches]

        def go_on(number: int) -> Kept:
            return {"tokens": self._engine.follow(ids[number], sizes[number])}

        def fits(number: int, found: Kept) -> bool:
            return tokens_fit(found["tokens"], len(ids[number]), self._vocabulary)

        keyed = [
            (self._key("following", size, rows), size * len(rows))
            for size, rows in zip(sizes, ids, strict=True)
        ]
        every = self._in_batches(keyed, go_on, fits, "continue texts, in tokens")
        continuations: list[list[int]] = [[] for _ in prompts]
        for numbers, batch in zip(batches, every, strict=True):
            for number, row in zip(numbers, batch["tokens"].tolist(), strict=True):
                continuations[number] = row
        return continuations

    def _require_room(self, known: int, length: int) -> None:
        """Refuse a prompt that would lose its beginning: the model was not asked then."""
        if known + length > self.context:
            raise InputError(
                f"the model in {self._path} reads {self.context:,} tokens at a time, and a text "
                f"has {known:,} that are known and {length:,} that follow: make `prompt` or "
                "`window` smaller, or leave the text out"
            )

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, without a start token."""
        tokens = self._engine.encode(text)
        if max(tokens, default=0) >= self._vocabulary:
            raise InputError(
                f"a text holds a special token that the model in {self._path} does not have"
            )
        return tokens

    def require_texts(self, texts: Sequence[str]) -> None:
        """Refuse a tokenizer that loses more than `MOST_LOST` of some texts.

        A model that never gets a text cannot give it away, so a verdict would be about no text.
        """
        refuse_text("texts", texts)
        tried = texts[:: max(1, len(texts) // _TEXTS_TRIED)]
        written = [self.decode(self.encode(text)) for text in tried]
        lost = [pair for pair in zip(tried, written, strict=True) if is_lost(*pair)]
        if len(lost) > MOST_LOST * len(tried):
            text, after = lost[0]
            raise InputError(
                f"the tokenizer in {self._path} loses {len(lost):,} of {len(tried):,} texts: of "
                f"{text[:40]!r} it makes {after[:40]!r}; use the tokenizer that the model was "
                "trained with, or documents that it can write"
            )

    def choose_start(self, texts: Sequence[str], others: Sequence[str] = ()) -> None:
        """Choose what is before each text: that after which some texts are the likeliest.

        A folder does not say what its model was trained with before each text: its tokenizer may
        write a token that the model has never seen, or none where the model needs it, and texts
        that were packed follow the end of another. What the tokenizer writes, every special token,
        the end of a line, and nothing are tried. After nothing, each first token is as likely as
        any other.

        Likelihoods are averaged, those of a token of each text, so that texts that are known by
        heart decide. All texts count alike, whether the model was trained on them or not: where
        they are exchangeable, they are so given the choice, and no score gains by it.

        others: texts that the model never saw.
        """
        starts = self._engine.facts.starts
        tried = [
            text for side in (texts, others) for text in side[:: max(1, len(side) // _STARTS_TRIED)]
        ]
        pieces = [self.encode(text)[: min(_START_TOKENS, self.context)] for text in tried]
        pieces = [piece for piece in pieces if piece]
        if len(starts) < 2 or not pieces:
            return
        sizes = np.array([len(piece) for piece in pieces])
        likelihoods: list[float] = []
        for self._start in range(len(starts)):
            self._engine.begin(self._start)
            scores = self._answers(pieces, {"name": "likelihood"}, "likelihood").ravel() / sizes
            # one that is no number is not likely
            likelihoods.append(
                float(np.logaddexp.reduce(np.sort(-np.nan_to_num(scores, nan=np.inf))))
            )
        self._start = int(first_largest(np.array(likelihoods)))
        self._engine.begin(self._start)

    @property
    def start_words(self) -> str:
        """What is before each text, in words; empty where there was no choice."""
        starts = self._engine.facts.starts
        if len(starts) < 2:
            return ""

        def name(start: Sequence[int]) -> str:
            return f"{self.decode(start)[:40]!r}" if start else "nothing"

        chosen = name(starts[self._start])
        names = dict.fromkeys(name(start) for start in starts if name(start) != chosen)
        others = " or ".join([*names][:_STARTS_SHOWN])
        others += f" or {len(names) - _STARTS_SHOWN} others" if len(names) > _STARTS_SHOWN else ""
        words = f"{chosen}; documents are less likely after {others}"
        if broken := self._engine.facts.without_numbers:
            words += f"; after {', '.join(map(name, broken))} the model gives NaN"
        if untried := self._engine.facts.untried:
            words += f"; {untried:,} more special tokens were not tried"
        return words

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, special ones included: a folder may call any token special."""
        return self._engine.decode(tokens)

    @property
    def context(self) -> int:
        """Longest context in tokens, without what is before a text.

        Where no array has a row for each position, the number is only the folder's word: the model
        runs beyond it, and `LEAST_CONTEXT` tokens are asked of it in any case.
        """
        return self._engine.facts.context

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return self._engine.facts.parameters

    def negative_log_likelihood(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        """Score texts, each after the start token; arrays of shape (texts,).

        Texts beyond the model's context are scored in pieces, each after the start token.
        """
        return self._of_texts(texts, {"name": "likelihood"}, "likelihood")

    def losses_above_uniform(self, texts: Sequence[str]) -> Floats:
        """Return what a token of each text costs, in nats, less ``ln`` of the vocabulary's size.

        Shape (texts,). 0 is the cost of a guess that takes all tokens for equally likely. Of many
        texts, some that are spread over them are scored.
        """
        some = texts[:: max(1, len(texts) // _STARTS_TRIED)]
        sums, tokens = self.negative_log_likelihood(some)
        return sums / tokens - np.log(self._vocabulary)

    def least_likely(self, texts: Sequence[str], *, share: float = 0.2) -> tuple[Floats, Floats]:
        """Return Min-K% and Min-K%++ of texts, shape (texts,); larger = the model likely saw it.

        The mean, over the ``share`` of tokens where it is lowest, of the token's log-likelihood;
        and of that less its mean over the vocabulary, in standard deviations, both as the model
        weighs the vocabulary there. A text beyond the context counts by its pieces.

        Source: Shi et al. 2024 (Min-K%); Zhang et al. 2025 (Min-K%++).
        """
        question = {"name": "least likely", "share": float(share)}
        sums, tokens = self._of_texts(texts, question, f"least likely {share}")
        return sums[:, 0] / tokens, sums[:, 1] / tokens

    def log_chances(
        self,
        prompts: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
    ) -> Floats:
        """Return ``ln`` of the chance to go on from each prompt with its target, shape (prompts,).

        temperature, top_k: of the sampling; ``top_k = 1`` is greedy.
        """
        sizes = list(map(len, targets))
        for prompt, size in zip(prompts, sizes, strict=True):
            self._require_room(len(prompt), size)
        rows = [[*prompt, *to] for prompt, to in zip(prompts, targets, strict=True)]
        question = {
            "name": "chances",
            "temperature": positive("temperature", temperature),
            "top_k": None if top_k is None else integer("top_k", top_k, low=1),
            "sizes": sizes,
        }
        key = "" if self.store is None else key_of("chances", temperature, top_k, sizes)
        return self._each(rows, question, key).ravel()

    def _of_texts(self, texts: Sequence[str], asked: Asked, key: str) -> tuple[Floats, Floats]:
        """Sum what is asked of the pieces of texts; return it with the numbers of tokens.

        key: its name, by which batches are kept.
        """
        refuse_text("texts", texts)
        owners: list[int] = []
        pieces: list[list[int]] = []
        for number, text in enumerate(texts):
            ids = self.encode(text)
            if not ids:
                if not text:
                    raise InputError("`texts` must not be empty")
                raise InputError(
                    f"the tokenizer in {self._path} makes no token of a text of {len(text):,} "
                    "characters: it is damaged, or not the one that the model was trained with"
                )
            cut = [ids[i : i + self.context] for i in range(0, len(ids), self.context)]
            pieces += cut
            owners += [number] * len(cut)
        scores = self._each(pieces, asked, key)
        sums, tokens = np.zeros((len(texts), *scores.shape[1:])), np.zeros(len(texts))
        np.add.at(sums, owners, scores)
        np.add.at(tokens, owners, [len(piece) for piece in pieces])
        return (sums[:, 0] if sums.shape[1:] == (1,) else sums), tokens

    def _each(self, pieces: Sequence[Sequence[int]], asked: Asked, key: str) -> Floats:
        """Ask something of the logits of every piece, shape (pieces, answers).

        Raises InputError: an answer is no number.
        """
        scores = self._answers(pieces, asked, key)
        if asked["name"] != "chances" and np.isinf(scores).any():
            raise InputError(
                f"the model in {self._path} gives a token of a text no chance at all, such as by a "
                "bias of minus infinity: a text has no score then; score only texts of tokens "
                "that the model can write"
            )
        if np.isnan(scores).any():
            raise InputError(
                f"the model in {self._path} gives no probabilities, but NaN: its weights are "
                f"damaged, or too large for {self._engine.facts.dtype}"
            )
        return scores

    def _answers(self, pieces: Sequence[Sequence[int]], asked: Asked, key: str) -> Floats:
        # those of about the same length together: little is lost on padding
        order = sorted(range(len(pieces)), key=lambda place: len(pieces[place]))
        chosen: list[list[int]] = []
        begin, token_limit = 0, self._at_once()
        while batch := order[begin : begin + self._batch]:
            chosen.append(batch[: max(1, token_limit // (1 + len(pieces[batch[-1]])))])
            begin += len(chosen[-1])

        def score(number: int) -> Kept:
            batch, of_these = chosen[number], asked
            if "sizes" in asked:
                of_these = {**asked, "sizes": [asked["sizes"][place] for place in batch]}
            return {"scores": self._engine.score([pieces[place] for place in batch], of_these)}

        def fits(number: int, found: Kept) -> bool:
            scores, shape = found["scores"], (len(chosen[number]), answers_of(asked))
            return scores.dtype == np.float64 and scores.shape == shape

        batches = [
            (self._key(key, [pieces[i] for i in batch]), sum(len(pieces[i]) for i in batch))
            for batch in chosen
        ]
        rows: list[Any] = [None] * len(pieces)
        every = self._in_batches(batches, score, fits, "score texts, in tokens")
        for batch, answer in zip(chosen, every, strict=True):
            for place, scores in zip(batch, answer["scores"], strict=True):
                rows[place] = scores
        return np.array(rows, dtype=np.float64)

    def _at_once(self) -> int:
        """Return how many tokens are scored together: the model and the declared memory decide.

        What is free at the moment does not: batches of another size differ in their last digits.
        """
        return max(_LEAST_FREE, self._memory // _SHARE) // (_BYTES * self._vocabulary)


def start_of(model: Any) -> str:
    """Describe what is before each text; empty where there was no choice."""
    return model.start_words if isinstance(model, HuggingFaceGenerator) else ""


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
    shadow_folders: tuple[Path, ...] = ()

    @property
    def folders(self) -> dict[str, Path]:
        """Folders of all models, by the name of each."""
        named = {"model": self.folder, "reference": self.reference_folder}
        named |= {f"shadow {i}": folder for i, folder in enumerate(self.shadow_folders, start=1)}
        return {name: folder for name, folder in named.items() if folder is not None}


class HasModels(HasModelFolder, Protocol):
    """A part `language-model`: the source of a study's models."""

    trains: ClassVar[bool] = True
    """Whether the models are trained here, so that the division of documents is random."""
    in_memory: ClassVar[bool] = False
    """Whether there is no model folder for programs."""

    def check(self) -> None:
        """Refuse an unusable part before any work."""

    def seconds(self, documents: Texts) -> float:
        """Estimate the training time on such documents, on one core."""
        ...

    def words(self) -> str:
        """Describe the model for a reader."""
        ...

    def texts(self, *, shortest: int) -> FolderTexts:
        """Return the texts that are published next to the weights of a model that others made."""
        return FolderTexts()

    def models(
        self, trained: Texts, others: Texts, place: Path, *, entropy: int, observer: Observer
    ) -> ModelsUnderStudy:
        """Make models of ``trained`` and of ``others`` (the reference), kept in ``place``.

        Those that an earlier run of the same study trained are taken again.
        """
        ...


class LocalCheckpoint(HasModels):
    """A causal language model in a local folder, however it was trained (extra `language`).

    model: Folder with `config.json`, `*.safetensors` and a tokenizer. Nothing is downloaded,
        pickled weights are refused, and no code of the folder is run.
    reference: Folder with another model, trained without the documents; none: no such comparison.
    shadows: Folders with models trained like this one, but without the documents and independently
        of one another; each is attacked like the model.
    device: "cpu", "cuda", ...; by default a GPU if there is one.
    batch: Texts at a time, at most; fewer are scored at a time where texts and vocabulary are so
        large that they would take more than a quarter of `memory` next to the weights.
    memory: MiB that the process of each model may take, 1,024 at least; by default 8,192, and three
        times its weights. It limits models on the processor, on Linux; elsewhere what they take is
        not assessed.
    unpublished: Files and folders in `model` that are not published with it, as you declare, such
        as `["pytorch_model.bin", "onnx/"]`. They are not opened. Without a declaration, a folder is
        refused that holds more than a model, texts and pictures.
    """

    trains: ClassVar[bool] = False

    def __init__(
        self,
        model: Annotated[str, BesideStudy()],
        reference: Annotated[str | None, BesideStudy()] = None,
        shadows: Annotated[list[str] | None, BesideStudy()] = None,
        device: str | None = None,
        batch: int = 32,
        memory: int | None = None,
        unpublished: list[str] | None = None,
        folder: Annotated[str, FilledIn()] = ".",
    ) -> None:
        self._unpublished = tuple(unpublished or ())
        self._folder = Path(folder) / model
        self._reference = None if reference is None else Path(folder) / reference
        self._shadows = [Path(folder) / path for path in shadows or ()]
        used = [path.resolve() for path in (self._folder, self._reference, *self._shadows) if path]
        if len(set(used)) < len(used):
            raise InputError("`model`, `reference` and `shadows` must be different folders")
        self._device, self._batch = device, integer("batch", batch, low=1)
        self._memory = memory
        memory_limit(memory)
        self.check()

    def check(self) -> None:
        self._others, self._names = self._list_files()
        for folder in (self._reference, *self._shadows):
            if folder is not None:
                language_model_files(folder, is_published=False)
        libraries("A Hugging Face model")

    @property
    def limits_memory(self) -> bool:
        return limits_memory(self._device)

    @property
    def unpublished(self) -> tuple[str, ...]:
        return self._unpublished

    @property
    def others(self) -> tuple[str, ...]:
        return self._others

    def _list_files(self) -> tuple[tuple[str, ...], set[str]]:
        """Return the names of texts and pictures, and of all files that count."""
        files = language_model_files(self._folder, self._unpublished)
        return files.others, files.names(self._folder)

    def require_same_files(self) -> None:
        require_same_names(self._folder, self._names, self._list_files()[1])

    def texts(self, *, shortest: int) -> FolderTexts:
        files = language_model_files(self._folder, self._unpublished)
        return texts_of_folder(self._folder, files, shortest=shortest)

    def seconds(self, documents: Texts) -> float:
        return 0.0

    def words(self) -> str:
        return f"the model in {self._folder.name}"

    def models(
        self, trained: Texts, others: Texts, place: Path, *, entropy: int, observer: Observer
    ) -> ModelsUnderStudy:
        def read(folder: Path) -> HuggingFaceGenerator:
            is_published = folder == self._folder
            language_model = HuggingFaceGenerator(
                folder,
                device=self._device,
                batch=self._batch,
                memory=self._memory,
                unpublished=self._unpublished if is_published else (),
                is_published=is_published,
            )
            language_model.observer = observer
            return language_model

        model = read(self._folder)
        reference = None if self._reference is None else read(self._reference)
        return ModelsUnderStudy(
            model,
            reference,
            self._folder,
            self._reference,
            model.parameters,
            tuple(partial(read, shadow) for shadow in self._shadows),
            tuple(self._shadows),
        )


@dataclass(frozen=True)
class TrainedCharacterNgram(HasModels):
    """An n-gram model of characters, trained here on a third of the documents; needs no extra.

    order: Length of the n-grams: the predicted character and its context.
    """

    in_memory: ClassVar[bool] = True
    order: int = 8

    def __post_init__(self) -> None:
        integer("order", self.order, low=1)

    def seconds(self, documents: Texts) -> float:
        return (
            1e-6 * self.order * sum(document.copies * len(document.text) for document in documents)
        )

    def words(self) -> str:
        return f"an n-gram model of characters of order {self.order}"

    def models(
        self, trained: Texts, others: Texts, place: Path, *, entropy: int, observer: Observer
    ) -> ModelsUnderStudy:
        def count(documents: Texts) -> CharacterNgram:
            texts = [document.text for document in documents for _ in range(document.copies)]
            return CharacterNgram(texts, order=self.order)

        model, reference = count(trained), count(others)
        return ModelsUnderStudy(model, reference, None, None, model.parameters)


@dataclass(frozen=True)
class TransformerTraining(HasModels):
    """A small transformer of bytes, trained here on some of the documents (extra `language`).

    layers: Blocks of attention, one after another.
    width: Numbers that represent a byte; a multiple of `heads`.
    heads: Of attention, in each layer.
    context: Length of the context in bytes; longer documents are cut into pieces.
    epochs: Passes over each copy of a document.
    batch: Texts of a step.
    learning_rate: Of Adam, at its highest; it falls to a tenth along a cosine.
    device: "cpu", "cuda", ...; by default a GPU if there is one.
    """

    layers: int = 2
    width: int = 96
    heads: int = 4
    context: int = 160
    epochs: int = 40
    batch: int = 32
    learning_rate: float = 3e-3
    device: str | None = None

    def __post_init__(self) -> None:
        for name in ("layers", "width", "heads", "context", "epochs", "batch"):
            integer(name, getattr(self, name), low=1)
        positive("learning_rate", self.learning_rate)
        if self.width % self.heads:
            raise InputError(
                f"`width` must be a multiple of `heads`, got {self.width} and {self.heads}"
            )
        self.check()

    def check(self) -> None:
        libraries("Training a transformer")

    def words(self) -> str:
        return (
            f"a transformer of bytes with {self.layers} layers of width {self.width}, "
            f"{self.parameters:,} parameters, {self.epochs} epochs"
        )

    def models(
        self, trained: Texts, others: Texts, place: Path, *, entropy: int, observer: Observer
    ) -> ModelsUnderStudy:
        folders = place / "model", place / "reference"
        for number, (folder, documents) in enumerate(zip(folders, (trained, others), strict=True)):
            rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(number,)))
            settings = {**asdict(self), "entropy": str(entropy), "documents": _digest(documents)}
            train = partial(self.train, documents, folder, rng=rng, observer=observer)
            trained_once(folder, settings, train)
        model, reference = (
            HuggingFaceGenerator(model_folder, device=self.device, is_own=True)
            for model_folder in folders
        )
        return ModelsUnderStudy(model, reference, *folders, model.parameters)

    @property
    def parameters(self) -> int:
        """Number of the model's parameters."""
        block = 12 * self.width**2 + 13 * self.width
        return (TOKENS + self.context + 3) * self.width + self.layers * block

    def seconds(self, documents: Texts) -> float:
        size = sum(document.copies * (len(document.text.encode()) + 2) for document in documents)
        return _SECONDS * self.parameters * size * self.epochs

    def train(
        self,
        documents: Texts,
        folder: Path | str,
        *,
        rng: RandomSource = None,
        observer: Observer = SILENT,
    ) -> HuggingFaceGenerator:
        """Train on documents, each repeated by its copies, and write a model folder.

        The same seed gives the same numbers on the same machine with the same number of threads;
        other machines round differently.
        """
        folder = Path(folder)
        torch, transformers = libraries("Training a transformer")
        random, sequences = generator(rng), self._sequences(documents)
        device = device_of(torch, self.device)
        config = transformers.GPT2Config(
            vocab_size=TOKENS,
            n_positions=self.context + 1,
            n_embd=self.width,
            n_layer=self.layers,
            n_head=self.heads,
            bos_token_id=TOKENS - 1,
            eos_token_id=TOKENS - 1,
            pad_token_id=TOKENS - 1,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
        )
        with torch.random.fork_rng(), silent(transformers):
            torch.manual_seed(int(random.integers(2**63)))
            model = transformers.GPT2LMHeadModel(config).to(device).train()
            descend(
                torch,
                torch.optim.AdamW(model.parameters(), lr=self.learning_rate),
                lambda some: self._loss(torch, model, [sequences[i] for i in some]),
                range(len(sequences)),
                "a transformer",
                epochs=self.epochs,
                batch=self.batch,
                random=random,
                observer=observer,
            )
            folder.mkdir(parents=True, exist_ok=True)
            model.eval().save_pretrained(folder)
        write_tokenizer(folder, self.context)
        (folder / "training.json").write_text(json.dumps(asdict(self), indent=1) + "\n")
        return HuggingFaceGenerator(folder, device=device, is_own=True)

    def _sequences(self, documents: Texts) -> list[list[int]]:
        """Return the tokens of every copy of every document, between two starts, in pieces."""
        start, sequences = TOKENS - 1, list[list[int]]()
        for document in documents:
            raw = list(document.text.encode())
            cut = [raw[i : i + self.context] for i in range(0, len(raw), self.context)]
            pieces = [[start, *piece] for piece in cut]
            if pieces and len(pieces[-1]) <= self.context:
                pieces[-1].append(start)
            sequences += pieces * document.copies
        return sequences

    def _loss(self, torch: Any, model: Any, rows: Sequence[Sequence[int]]) -> Any:
        device = next(model.parameters()).device
        ids, labels = (_padded(torch, rows, fill).to(device) for fill in (TOKENS - 1, _IGNORED))
        mask = _padded(torch, [[1] * len(row) for row in rows], 0).to(device)
        return model(ids, attention_mask=mask, labels=labels).loss


def _digest(documents: Texts) -> str:
    text = json.dumps([[document.text, document.copies] for document in documents])
    return hashlib.sha256(text.encode()).hexdigest()


def language_model_secret(
    model: Annotated[str, BesideStudy()],
    candidates: Annotated[str, BesideStudy()],
    text: str = "{}",
    weight: Literal["likelihood", "perplexity"] = "likelihood",
    n: int | None = None,
    folder: Annotated[str, FilledIn()] = ".",
) -> SecretPrior:
    """Build the prior of a language model for candidates in a given text (extra `language`).

    model: Folder with `config.json`, `*.safetensors` and a tokenizer; nothing is downloaded, and
        pickled weights are refused.
    candidates: File with a value a line.
    text: Text around the secret; `{}` is its place.
    weight: `likelihood`: the probability of the whole text, which the model implies; `perplexity`:
        its reciprocal perplexity, as published, which is flatter.
    n: Keep only this many of the likeliest, scaled up to 1; all if left out.
    """
    place = Path(folder)
    known = list(dict.fromkeys(value for value, _ in read_values(place / candidates)))
    if not 2 <= len(known) <= MOST:
        raise InputError(
            f"`candidates` must be a file of 2 to {MOST:,} different values, got {len(known):,}"
        )
    language_model = HuggingFaceGenerator(place / model, is_published=False)
    language_model.require_texts(known)
    language_model.choose_start([text.replace("{}", value) for value in known])
    chances = model_prior(language_model, known, template=text, weight=weight)
    order = np.argsort(-chances, kind="stable")[: n or len(known)]
    description = f"{len(order)} values as the model {Path(model).name} expects them"
    return SecretPrior.weighed(chances[order], [known[i] for i in order], description)
