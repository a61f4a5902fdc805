"""A Hugging Face causal language model from a local folder, as a `Generator`.

Nothing is downloaded and no code from the folder is run: weights are read from safetensors only,
since the older formats are pickles.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._files import file_size
from narcissus._optional import optional
from narcissus._random import RandomSource, generator
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.extraction.files import refuse_pickle

FloatArray = NDArray[np.float64]

LARGEST_TEXT = 2**26
"""Most bytes of a model's configuration, and of each file of its tokenizer (64 MiB)."""
_TEXTS = {".json", ".txt", ".jinja", ".model"}


class HuggingFaceGenerator:
    """A causal language model and its tokenizer (extra ``language``).

    Parameters
    ----------
    folder
        Holds ``config.json``, ``*.safetensors`` and a tokenizer.
    device
        "cpu", "cuda", ...; None takes a GPU where there is one.
    batch
        Texts at a time.

    Raises
    ------
    InputError
        The folder lacks one of them, or they cannot be read.
    MissingExtraError
        torch or transformers is not installed.
    """

    def __init__(self, folder: Path | str, *, device: str | None = None, batch: int = 32) -> None:
        path = Path(folder)
        if not path.is_dir():
            raise InputError(f"no such model folder: {path}")
        if not (path / "config.json").is_file():
            raise InputError(f"the folder {path} is no model: it has no config.json")
        weights = sorted(path.glob("*.safetensors"))
        if not weights:
            raise InputError(
                f"the model folder {path} has no weights: *.safetensors is needed "
                "(a .bin file is a pickle and is not read; save the model with "
                "`save_pretrained(folder, safe_serialization=True)`)"
            )
        for file in weights:
            refuse_pickle(file)
        for file in path.iterdir():  # configuration and tokenizer, which are read whole
            if file.suffix in _TEXTS:
                file_size(file, largest=LARGEST_TEXT)
        purpose = "A Hugging Face model"
        self._torch: Any = optional("torch", extra="language", purpose=purpose)
        transformers: Any = optional("transformers", extra="language", purpose=purpose)
        local = {"local_files_only": True, "trust_remote_code": False}
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(str(path), **local)
            self._model: Any = transformers.AutoModelForCausalLM.from_pretrained(
                str(path), use_safetensors=True, **local
            )
        except Exception as error:  # whatever the library meets in a broken folder
            raise InputError(f"cannot read the model in {path}: {error}") from error
        self.device = device or ("cuda" if self._torch.cuda.is_available() else "cpu")
        self._model.to(self.device).eval()
        self._batch = integer("batch", batch, low=1)
        start = self._tokenizer.bos_token_id
        if start is None:
            start = self._tokenizer.eos_token_id
        if start is None:
            raise InputError(f"the tokenizer in {path} has no token for the start of a text")
        self._start: int = start

    def sample(self, count: int, length: int, *, rng: RandomSource = None) -> list[str]:
        """Draw texts from the model, from its start token, without any sharpening."""
        torch = self._torch
        count, length = integer("count", count, low=1), integer("length", length, low=1)
        texts: list[str] = []
        seed = int(generator(rng).integers(2**63))
        with torch.no_grad(), torch.random.fork_rng():
            torch.manual_seed(seed)
            while len(texts) < count:
                rows = min(self._batch, count - len(texts))
                start = torch.full((rows, 1), self._start, device=self.device)
                drawn = self._model.generate(
                    start,
                    attention_mask=torch.ones_like(start),
                    do_sample=True,
                    top_k=0,
                    top_p=1.0,
                    temperature=1.0,
                    max_new_tokens=length,
                    pad_token_id=self._start,
                )
                texts += self._tokenizer.batch_decode(drawn[:, 1:], skip_special_tokens=True)
        return texts

    def negative_log_likelihood(self, texts: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Score texts, each after the start token; arrays of shape (texts,)."""
        torch = self._torch
        sums, tokens = np.zeros(len(texts)), np.zeros(len(texts))
        longest = int(getattr(self._model.config, "max_position_embeddings", 1024)) - 1
        for begin in range(0, len(texts), self._batch):
            batch = texts[begin : begin + self._batch]
            ids: list[list[int]] = [
                self._tokenizer(t, add_special_tokens=False)["input_ids"][:longest] for t in batch
            ]
            if any(not row for row in ids):
                raise InputError("`texts` must not be empty for the tokenizer")
            width = max(map(len, ids))
            padded = torch.tensor([row + [self._start] * (width - len(row)) for row in ids])
            mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in ids])
            padded, mask = padded.to(self.device), mask.to(self.device)
            first = torch.full((len(ids), 1), self._start, device=self.device)
            with torch.no_grad():
                logits = self._model(
                    torch.cat([first, padded], 1),
                    attention_mask=torch.cat([torch.ones_like(first), mask], 1),
                ).logits
            chosen = torch.log_softmax(logits[:, :-1].double(), -1)
            chosen = chosen.gather(2, padded[:, :, None])[:, :, 0]
            sums[begin : begin + len(ids)] = -(chosen * mask).sum(1).cpu().numpy()
            tokens[begin : begin + len(ids)] = mask.sum(1).cpu().numpy()
        return sums, tokens
