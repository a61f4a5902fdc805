"""A small transformer of bytes, trained here on documents and saved as a model folder.

The tokenizer, built here without downloads, has a token for each byte and one for the start of a
text. The folder is that of `save_pretrained` (safetensors), for any reader of model folders:
`transformers.pipeline("text-generation", folder)`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from narcissus._random import RandomSource, generator
from narcissus._validation import integer, positive
from narcissus.errors import InputError
from narcissus.extraction.documents import TextDocument
from narcissus.extraction.huggingface import HuggingFaceGenerator, libraries, silent
from narcissus.extraction.kept_training import keep, trained_already
from narcissus.extraction.language_models import ModelsUnderStudy
from narcissus.observer import SILENT, Observer

START = "<s>"
TOKENS = 257
"""256 bytes, and the start of a text."""
_IGNORED = -100  # labels that PyTorch's loss leaves out
_SECONDS = 3e-10  # a parameter and a token, there and back, on one core


@dataclass(frozen=True)
class TransformerTraining:
    """A small transformer of bytes, trained here on some of the documents (extra `language`).

    Parameters
    ----------
    layers
        Blocks of attention, one after another.
    width
        Numbers that represent a byte; a multiple of `heads`.
    heads
        Of attention, in each layer.
    context
        Length of the context in bytes; longer documents are cut into pieces.
    epochs
        Passes over each copy of a document.
    batch
        Documents of a step.
    learning_rate
        Of Adam, at its highest; it falls to a tenth along a cosine.
    device
        "cpu", "cuda", ...; by default a GPU if there is one.

    Raises
    ------
    InputError
        A number is out of its range.
    MissingExtraError
        torch or transformers is not installed.
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

    @property
    def in_memory(self) -> bool:
        return False

    @property
    def trains(self) -> bool:
        return True

    def check(self) -> None:
        libraries("Training a transformer")

    def words(self) -> str:
        return (
            f"a transformer of bytes with {self.layers} layers of width {self.width}, "
            f"{self.parameters:,} parameters, {self.epochs} epochs"
        )

    def models(
        self,
        trained: Sequence[TextDocument],
        others: Sequence[TextDocument],
        place: Path,
        *,
        entropy: int,
        observer: Observer,
    ) -> ModelsUnderStudy:
        """Train both, or take those of an earlier run of the same study."""
        found: list[HuggingFaceGenerator] = []
        for number, (name, documents) in enumerate((("model", trained), ("reference", others))):
            folder = place / name
            said = {**asdict(self), "entropy": str(entropy), "documents": _digest(documents)}
            if not trained_already(folder, said):
                shutil.rmtree(folder, ignore_errors=True)
                rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(number,)))
                self.train(documents, folder, rng=rng, observer=observer)
                keep(folder, said)
            found.append(HuggingFaceGenerator(folder, device=self.device))
        model, reference = found
        return ModelsUnderStudy(
            model, reference, place / "model", place / "reference", model.parameters
        )

    @property
    def parameters(self) -> int:
        """Number of the model's parameters."""
        block = 12 * self.width**2 + 13 * self.width
        return (TOKENS + self.context + 3) * self.width + self.layers * block

    def seconds(self, documents: Sequence[TextDocument]) -> float:
        """Estimate the training time on one core of a CPU."""
        size = sum(one.copies * (len(one.text.encode()) + 2) for one in documents)
        return _SECONDS * self.parameters * size * self.epochs

    def train(
        self,
        documents: Sequence[TextDocument],
        folder: Path | str,
        *,
        rng: RandomSource = None,
        observer: Observer = SILENT,
    ) -> HuggingFaceGenerator:
        """Train on documents, each repeated by its copies, and write a model folder.

        The same seed gives the same numbers on the same machine with the same number of threads;
        other machines round differently.

        Parameters
        ----------
        documents
            Training documents.
        folder
            Folder of the model; created if missing.
        rng
            Draws the initial weights and the order of documents.
        observer
            Receives every step.
        """
        folder = Path(folder)
        torch, transformers = libraries("Training a transformer")
        random = generator(rng)
        sequences = self._sequences(documents)
        device = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
        with torch.random.fork_rng(), silent(transformers):
            torch.manual_seed(int(random.integers(2**63)))
            model = transformers.GPT2LMHeadModel(self._config(transformers)).to(device)
            self._fit(torch, model, sequences, random, observer)
            folder.mkdir(parents=True, exist_ok=True)
            model.save_pretrained(folder)
        write_tokenizer(folder, self.context)
        (folder / "training.json").write_text(json.dumps(asdict(self), indent=1) + "\n")
        return HuggingFaceGenerator(folder, device=device)

    def _config(self, transformers: Any) -> Any:
        return transformers.GPT2Config(
            vocab_size=TOKENS, n_positions=self.context + 1, n_embd=self.width,
            n_layer=self.layers, n_head=self.heads, bos_token_id=TOKENS - 1,
            eos_token_id=TOKENS - 1, pad_token_id=TOKENS - 1,
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        )  # fmt: skip

    def _sequences(self, documents: Sequence[TextDocument]) -> list[list[int]]:
        """Return the tokens of every copy of every document, between two starts, in pieces."""
        start, found = TOKENS - 1, list[list[int]]()
        for one in documents:
            raw = list(one.text.encode())
            cut = [raw[i : i + self.context] for i in range(0, len(raw), self.context)]
            ends = [[start]] * (len(cut) > 0)
            pieces = [[start, *piece] for piece in cut]
            if pieces and len(pieces[-1]) <= self.context:
                pieces[-1] += ends[0]
            found += pieces * one.copies
        return found

    def _fit(
        self,
        torch: Any,
        model: Any,
        sequences: Sequence[Sequence[int]],
        random: np.random.Generator,
        observer: Observer,
    ) -> None:
        device = next(model.parameters()).device
        optimiser = torch.optim.AdamW(model.parameters(), lr=self.learning_rate)
        batches = -(-len(sequences) // self.batch)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
            optimiser, batches * self.epochs, eta_min=self.learning_rate / 10
        )
        model.train()
        observer.start("train a transformer", batches * self.epochs)
        for _ in range(self.epochs):
            order = random.permutation(len(sequences))
            for begin in range(0, len(order), self.batch):
                rows = [sequences[i] for i in order[begin : begin + self.batch]]
                width = max(map(len, rows))
                ids = torch.tensor([[*r, *[TOKENS - 1] * (width - len(r))] for r in rows])
                labels = torch.tensor([[*r, *[_IGNORED] * (width - len(r))] for r in rows])
                mask = torch.tensor([[1] * len(r) + [0] * (width - len(r)) for r in rows])
                given = {"attention_mask": mask.to(device), "labels": labels.to(device)}
                loss = model(ids.to(device), **given).loss
                optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimiser.step()
                schedule.step()
                observer.advance()
        observer.finish()
        model.eval()


def write_tokenizer(folder: Path, context: int) -> None:
    """Write a tokenizer with a token for each byte, and one for the start of a text."""
    # GPT-2 shows bytes as characters: those that can be printed as they are, others from 256 on.
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    letters = {byte: chr(byte) for byte in shown}
    letters |= {byte: chr(256 + place) for place, byte in enumerate(others)}
    plain = {"add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": TOKENS - 1, "content": START, "single_word": False,
                          "lstrip": False, "rstrip": False, "normalized": False,
                          "special": True}],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", **plain},
        # a pipeline asks as training did: after the start of a text
        "post_processor": {"type": "TemplateProcessing",
                           "single": [{"SpecialToken": {"id": START, "type_id": 0}},
                                      {"Sequence": {"id": "A", "type_id": 0}}],
                           "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                                    {"Sequence": {"id": "B", "type_id": 1}}],
                           "special_tokens": {START: {"id": START, "ids": [TOKENS - 1],
                                                      "tokens": [START]}}},
        "decoder": {"type": "ByteLevel", **plain},
        "model": {"type": "BPE", "vocab": {**{letters[b]: b for b in range(256)},
                                            START: TOKENS - 1}, "merges": []},
    }  # fmt: skip
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": START, "eos_token": START,
        "pad_token": START, "padding_side": "left", "model_max_length": context,
        "clean_up_tokenization_spaces": False,
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")


def _digest(documents: Sequence[TextDocument]) -> str:
    text = json.dumps([[one.text, one.copies] for one in documents])
    return hashlib.sha256(text.encode()).hexdigest()
