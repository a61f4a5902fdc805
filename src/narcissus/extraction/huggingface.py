"""A Hugging Face causal language model from a local folder, as a `Generator`.

Nothing is downloaded and no code from the folder is run: weights are read from safetensors only,
since the older formats are pickles.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from narcissus._files import file_size, parsing, read_bytes
from narcissus._optional import optional
from narcissus._random import RandomSource, generator
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.extraction.files import refuse_links, refuse_pickle

FloatArray = NDArray[np.float64]

LARGEST_TEXT = 2**26
"""Most bytes of a model's configuration, and of each file of its tokenizer (64 MiB)."""
_TEXTS = {".json", ".txt", ".jinja", ".model"}


def check_model_folder(path: Path) -> int:
    """Refuse a folder without a model whose weights can be read safely; return the bytes of the
    weights.

    Raises
    ------
    InputError
        It is missing, has no ``config.json`` or no ``*.safetensors``, or asks for code of its own.
    TooLargeError
        A configuration or tokenizer has more than `LARGEST_TEXT` bytes.
    """
    if not path.is_dir():
        raise InputError(f"no such model folder: {path}")
    if not (path / "config.json").is_file():
        raise InputError(f"the folder {path} is no model: it has no config.json")
    refuse_links(path)
    weights = sorted(path.glob("*.safetensors"))
    if not weights:
        raise InputError(
            f"the model folder {path} has no weights: *.safetensors is needed "
            "(a .bin file is a pickle and is not read; save the model with "
            "`save_pretrained(folder, safe_serialization=True)`)"
        )
    for file in path.rglob("*"):  # whoever gets the folder would get them as well
        if file.is_file():
            refuse_pickle(file)
    for file in path.iterdir():  # configuration and tokenizer, which are read whole
        if file.suffix in _TEXTS:
            file_size(file, largest=LARGEST_TEXT)
    for name in ("config.json", "tokenizer_config.json"):
        if (path / name).is_file() and "auto_map" in _settings(path / name):
            raise InputError(
                f"the model in {path} brings code of its own (`auto_map` in {name}), which is "
                "never run here: use a model of an architecture that transformers knows"
            )
    return sum(file.stat().st_size for file in weights)


def _settings(path: Path) -> dict[str, Any]:
    with parsing(path, "a configuration"):
        found: Any = json.loads(read_bytes(path, largest=LARGEST_TEXT))
    if not isinstance(found, dict):
        raise InputError(f"{path} is no configuration: it must be an object in JSON")
    return cast("dict[str, Any]", found)


def libraries(purpose: str) -> tuple[Any, Any]:
    torch = optional("torch", extra="language", purpose=purpose)
    return torch, optional("transformers", extra="language", purpose=purpose)


@contextmanager
def silent(transformers: Any) -> Generator[None]:
    """Keep transformers from writing on standard error: the library never prints."""
    logging = transformers.utils.logging
    level, shows = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if shows:
            logging.enable_progress_bar()


class HuggingFaceGenerator:
    """A causal language model and its tokenizer (extra ``language``).

    Parameters
    ----------
    folder
        Holds ``config.json``, ``*.safetensors`` and a tokenizer.
    device
        "cpu", "cuda", ...; None takes a GPU if there is one.
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
        check_model_folder(path)
        self._torch, self._transformers = libraries("A Hugging Face model")
        transformers = self._transformers
        local = {"local_files_only": True, "trust_remote_code": False}
        try:
            with silent(transformers):
                self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(
                    str(path), **local
                )
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
        """Draw texts from the start token, without any sharpening."""
        torch = self._torch
        count, length = integer("count", count, low=1), integer("length", length, low=1)
        texts: list[str] = []
        seed = int(generator(rng).integers(2**63))
        with torch.no_grad(), torch.random.fork_rng(), silent(self._transformers):
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

    def complete(self, prompts: Sequence[str], length: int) -> list[str]:
        """Return the likeliest continuation of each prompt, token by token (greedily).

        Each prompt follows the start token; one beyond the model's context loses its beginning. A
        prompt that ends within a word has other tokens than the whole word: to continue a document,
        pass its tokens to `following`. ``length`` is the most tokens of a continuation.
        """
        ids = [self.encode(text) for text in prompts]
        found = self.following(ids, length)
        # together, since a decoder may drop the space at the beginning of what it is given
        return [
            self.decode([*one, *more])[len(self.decode(one)) :]
            for one, more in zip(ids, found, strict=True)
        ]

    def following(self, prompts: Sequence[Sequence[int]], length: int) -> list[list[int]]:
        """Return the likeliest continuation of each prompt in tokens; see `complete`."""
        torch = self._torch
        length = integer("length", length, low=1)
        continuations: list[list[int]] = []
        kept = max(1, self.context - length)
        for begin in range(0, len(prompts), self._batch):
            ids = [list(one)[-kept:] for one in prompts[begin : begin + self._batch]]
            width = max(map(len, ids))
            # on the left, so that what is generated follows the prompt
            padding = [[self._start] * (width - len(row)) for row in ids]
            rows = [[*pad, self._start, *row] for pad, row in zip(padding, ids, strict=True)]
            mask = [
                [0] * len(pad) + [1] * (len(row) + 1) for pad, row in zip(padding, ids, strict=True)
            ]
            with torch.no_grad(), silent(self._transformers):
                found = self._model.generate(
                    torch.tensor(rows, device=self.device),
                    attention_mask=torch.tensor(mask, device=self.device),
                    do_sample=False,
                    max_new_tokens=length,
                    pad_token_id=self._start,
                )
            continuations += found[:, width + 1 :].tolist()
        return continuations

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, without a start token."""
        return self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, without special ones."""
        return self._tokenizer.decode(
            list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )

    @property
    def context(self) -> int:
        """Longest context in tokens, without the start token."""
        return int(getattr(self._model.config, "max_position_embeddings", 1024)) - 1

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return sum(int(one.numel()) for one in self._model.parameters())

    def negative_log_likelihood(self, texts: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Score texts, each after the start token; arrays of shape (texts,).

        Texts beyond the model's context are scored in pieces, each after the start token.
        """
        sums, tokens = np.zeros(len(texts)), np.zeros(len(texts))
        owners: list[int] = []
        pieces: list[list[int]] = []
        for number, text in enumerate(texts):
            ids = self.encode(text)
            if not ids:
                raise InputError("`texts` must not be empty for the tokenizer")
            cut = [ids[i : i + self.context] for i in range(0, len(ids), self.context)]
            pieces += cut
            owners += [number] * len(cut)
        # those of about the same length together: little is lost on padding
        order = sorted(range(len(pieces)), key=lambda place: len(pieces[place]))
        for begin in range(0, len(order), self._batch):
            batch = order[begin : begin + self._batch]
            found = self._score([pieces[place] for place in batch])
            for place, loss in zip(batch, found, strict=True):
                sums[owners[place]] += loss
                tokens[owners[place]] += len(pieces[place])
        return sums, tokens

    def _score(self, ids: Sequence[list[int]]) -> FloatArray:
        torch = self._torch
        width = max(map(len, ids))
        padded = torch.tensor([row + [self._start] * (width - len(row)) for row in ids])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in ids])
        padded, mask = padded.to(self.device), mask.to(self.device)
        first = torch.full((len(ids), 1), self._start, device=self.device)
        with torch.no_grad(), silent(self._transformers):
            logits = self._model(
                torch.cat([first, padded], 1),
                attention_mask=torch.cat([torch.ones_like(first), mask], 1),
            ).logits
        chosen = torch.log_softmax(logits[:, :-1].double(), -1)
        chosen = chosen.gather(2, padded[:, :, None])[:, :, 0]
        return -(chosen * mask).sum(1).cpu().numpy()
