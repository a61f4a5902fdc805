"""What computes with a language model: it tokenizes, samples and scores one batch at a time.

It is in this process for models that this program made, and for others on a GPU. A stranger's
model on the processor runs in a separate process, behind the walls of the sandbox and with a
limit on its memory (`narcissus.extraction.model_process`).
"""

from __future__ import annotations

import collections.abc
import logging
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from narcissus._arrays import Floats
from narcissus._files import is_ours, reason_of
from narcissus._optional import optional
from narcissus._random import generator
from narcissus.errors import InputError, NarcissusError, TooLargeError
from narcissus.extraction.model_arrays import require_all_used
from narcissus.extraction.model_probes import (
    LONGEST_WINDOW,
    is_small,
    needs_texts_alone,
    same,
    windows_of,
)
from narcissus.extraction.model_weights import weights_of

Asked = Mapping[str, Any]
"""What is asked of the logits: its ``name``, and its settings."""
State = NDArray[np.uint8]
"""Of the generator of random numbers that sampling uses."""
_LEAST_LOG, _LEAST_SPREAD = -1e9, 1e-12  # nats, and nats squared
_CONTEXT = ("max_position_embeddings", "n_positions", "max_seq_len", "context_length")
"""What the settings of a model call the length of its context."""
_OFFSETS = 8
"""Rows that a table of positions may have beyond the context; OPT has two."""
LEAST_CONTEXT = 128
"""Tokens that a model without a table of positions is asked for, whatever its folder says."""
_NO_MEMORY = re.compile(
    r"(?i)can't allocate memory|cannot allocate memory|bad_alloc|out of memory|not enough memory"
    r"|MemoryError|memory allocation of \d+ bytes failed"
)
"""How libraries say that there is no memory."""


_LOOKED_AHEAD, _TRIED, _MOST_TRIED = 24, 7, 24  # tokens of a row, and pairs of rows
_TRIED_VALUES = 2**28
"""Parameters times tokens that more pairs than `_TRIED` may take."""
_GONE_ON, _BEHIND = 8, 4
"""Tokens that are written to try a model, and tokens of the text behind a window."""
_CHECKED = 4
"""One text in so many is scored twice, with other tokens at its end."""
_LONGEST_START = 8
"""Tokens that a tokenizer may write before a text."""
MOST_STARTS = 24
"""How many starts of a text are tried, at most; how many others there are is said."""
_SPECIAL = tuple(f"{name}_token_id" for name in ("bos", "eos", "cls", "sep", "pad", "mask", "unk"))
"""What a tokenizer and a model call their special tokens; the first is taken for the start."""
MOST_PARAMETERS = 2**50
"""More than any machine holds."""


_LOADERS = ("modeling_utils", "core_model_loading", "utils.loading_report")
"""What of transformers reads weights."""
_KNOWN_WARNING = re.compile(
    r"LOAD REPORT|^Some weights of"  # of missing, unexpected and mismatched arrays: all are checked
    r"|`torch_dtype` is deprecated|`loss_type=|caching allocator|checkpointing format"
)
"""Warnings of the loader that no verdict depends on."""


class ModelFacts(BaseModel):
    """What is known of a model that was read."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    vocabulary: int = Field(gt=0, lt=2**31)
    start: int = Field(ge=0, lt=2**31)
    """The token of the start of a text, which also fills rows; any one where there is none."""
    starts: list[list[int]] = Field(min_length=1, max_length=MOST_STARTS)
    """Tokens that may be before a text, the tokenizer's first; `LanguageEngine.begin` chooses."""
    without_numbers: list[list[int]] = Field(default=[], max_length=MOST_STARTS)
    """Others after which the model gives NaN."""
    untried: int = Field(default=0, ge=0, lt=2**31)
    """Special tokens that are not among them."""
    context: int = Field(gt=0, lt=2**40)
    parameters: int = Field(ge=0, le=MOST_PARAMETERS)
    dtype: str = Field(max_length=40)
    version: str = Field(max_length=80)
    """Of PyTorch."""


class Engine(Protocol):
    """A language model, asked for one batch at a time."""

    facts: ModelFacts

    def begin(self, number: int) -> None:
        """Choose the tokens before each text, by their number in ``facts.starts``."""
        ...

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, without a start token."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, special ones included."""
        ...

    def state(self, seed: int) -> State:
        """Return the state of random numbers that a seed begins."""
        ...

    def draw(self, state: State, rows: int, length: int) -> tuple[NDArray[Any], State]:
        """Sample texts; return their tokens, shape (rows, at most length), and the next state."""
        ...

    def follow(self, prompts: Sequence[Sequence[int]], length: int) -> NDArray[Any]:
        """Return the likeliest tokens after each prompt, shape (prompts, at most length)."""
        ...

    def score(self, pieces: Sequence[Sequence[int]], asked: Asked) -> Floats:
        """Ask something of the logits of each piece, shape (pieces, answers)."""
        ...


def answers_of(asked: Asked) -> int:
    """Return how many numbers are asked of each piece."""
    return 2 if asked["name"] == "least likely" else 1


def tells_of_memory(message: str) -> bool:
    """Say whether a message of a library tells that there is no memory."""
    return bool(_NO_MEMORY.search(message))


def ran_out(error: BaseException | None) -> bool:
    """Say whether an error, or one that it followed, tells that there is no memory."""
    seen = 0
    while error is not None and seen < 20:
        if isinstance(error, MemoryError) or tells_of_memory(str(error)):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False


def _padded(torch: Any, rows: Sequence[Sequence[int]], fill: int) -> Any:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows])


def device_of(torch: Any, device: str | None) -> str:
    """Return the device that was asked for; by default a GPU if there is one."""
    return device or ("cuda" if torch.cuda.is_available() else "cpu")


def libraries(purpose: str) -> tuple[Any, Any]:
    torch = optional("torch", extra="language", purpose=purpose)
    return torch, optional("transformers", extra="language", purpose=purpose)


@contextmanager
def silent(transformers: Any) -> collections.abc.Generator[None]:
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


class _Kept(logging.Handler):
    """Keeps the messages that a library logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextmanager
def warnings_of_loader() -> collections.abc.Generator[list[str]]:
    """Collect what transformers warns of while it reads weights, and print none of it.

    What the caller checks by itself, and what changes no number, is left out.
    """
    loggers = [logging.getLogger(f"transformers.{name}") for name in _LOADERS]
    before = [(logger.level, logger.propagate) for logger in loggers]
    kept, warned = _Kept(), list[str]()
    for logger in loggers:
        logger.setLevel(logging.WARNING)
        logger.propagate = False
        logger.addHandler(kept)
    try:
        yield warned
    finally:
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.removeHandler(kept)
            logger.setLevel(level)
            logger.propagate = propagate
    warned += [text for text in kept.messages if not _KNOWN_WARNING.search(text)]


@contextmanager
def blame_files(what: str) -> collections.abc.Generator[None]:
    """Turn whatever a library meets in a stranger's files into an `InputError` that begins so.

    Its parts in Rust panic with a class that is no Exception, which nobody else catches.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:
        if is_ours(error, OSError):
            raise
        raise InputError(f"{what}: {reason_of(error)}") from error


class LanguageEngine:
    """A causal language model and its tokenizer, read from a folder whose files were checked.

    place: the checked folder.
    path: the folder that was named, for messages.
    device: "cpu", "cuda", ...
    is_own: whether this program made the model, which is not tried then.
    """

    def __init__(self, place: Path, path: str, device: str, *, is_own: bool = False) -> None:
        self._path, self._device, self._is_own = path, device, is_own
        self._torch, self._transformers = libraries("A Hugging Face model")
        transformers = self._transformers
        local: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        options = {"use_safetensors": True, "ignore_mismatched_sizes": True} | local
        with silent(transformers):
            with blame_files(f"cannot read the tokenizer in {path}"):
                self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(place, **local)
            with blame_files(f"cannot read the model in {path}"), warnings_of_loader() as warned:
                self.model: Any
                self.model, loaded = transformers.AutoModelForCausalLM.from_pretrained(
                    place, output_loading_info=True, **options
                )
        sizes = [name for name, *_ in loaded["mismatched_keys"]]  # other than config.json says
        if missing := sorted({*loaded["missing_keys"], *sizes}):  # which would be drawn at random
            raise InputError(
                f"the model in {path} lacks {len(missing):,} of its weights, or has them in other "
                f"sizes, such as {missing[0]}: save it whole, with `save_pretrained`"
            )
        require_all_used(weights_of(place), self.model, path, loaded["unexpected_keys"])
        if warned:
            raise InputError(
                f"the model in {path} is not read without a warning, so that another program may "
                f"run another model: {' '.join(warned[0].split())[:400]}"
            )
        self.model.to(device).eval()
        self._precision = float(self._torch.finfo(self.model.dtype).eps)
        self._settings: dict[str, Any] = self.model.config.to_dict()
        self._texts_alone = needs_texts_alone(self._settings)
        vocabulary = int(self.model.get_input_embeddings().num_embeddings)
        start = self._start(vocabulary)
        single: list[list[int]] = [[]] if start is None else [[start]]
        every = single if is_own else self._starts(start, vocabulary)
        tried = every[:MOST_STARTS]
        without_numbers = [] if is_own else [tokens for tokens in tried if self._is_nan(tokens)]
        starts = [tokens for tokens in tried if tokens not in without_numbers] or tried
        self._begin = starts[0]
        if [start] in without_numbers:  # no row is filled with it
            start = next((token for tokens in starts for token in tokens), 0)
        self.facts = ModelFacts(
            vocabulary=vocabulary,
            start=start or 0,
            starts=starts,
            without_numbers=without_numbers if starts != tried else [],
            untried=len(every) - len(tried),
            context=self._context() - max(1, *map(len, starts)),
            parameters=sum(int(parameter.numel()) for parameter in self.model.parameters()),
            dtype=str(self.model.dtype),
            version=str(self._torch.__version__),
        )
        self._random_tokens = generator(None)  # no folder can be made for what is tried
        self._require_causal()
        if not is_own:
            self._require_cached()
            self._texts_alone = self._texts_alone or self._heeds_neighbours()

    def _starts(self, start: int | None, vocabulary: int) -> list[list[int]]:
        """Return what may be before a text: what the tokenizer writes, its start token, nothing,
        the end of a line, and every other special token, those with a name first.

        The folder does not say what its model was trained with.
        """
        written, tokenizer = self._written_before(), self.tokenizer
        named = [
            getattr(part, name, None)
            for part in (tokenizer, self.model.config)
            for name in (*_SPECIAL, "decoder_start_token_id")
        ]
        others: list[Any] = [
            token
            for value in named
            for token in (value if isinstance(value, list | tuple) else [value])
        ]
        added: dict[int, Any] = getattr(tokenizer, "added_tokens_decoder", {})
        others += getattr(tokenizer, "all_special_ids", [])
        others += [number for number, token in added.items() if getattr(token, "special", False)]
        fits = [token for token in others if type(token) is int and 0 <= token < vocabulary]
        line = [token for token in self.encode("\n")[-1:] if token < vocabulary]
        first = [[start]] if start is not None else []
        if written and max(written) < vocabulary:
            first = [written, *first]
        starts = [*first, [], *([line] if line else []), *([token] for token in fits)]
        return [tokens for i, tokens in enumerate(starts) if tokens not in starts[:i]]

    def _is_nan(self, tokens: Sequence[int]) -> bool:
        """Say whether a model gives no numbers after some tokens."""
        if not tokens:
            return False
        with self._running(1):
            logits = self._logits(self._torch.tensor([list(tokens)], device=self._device))
        return bool(logits.isnan().any())

    def _written_before(self) -> list[int]:
        """Return the special tokens that the tokenizer writes before a text."""
        text = "a"
        with blame_files(f"the tokenizer in {self._path} fails on a text"):
            bare = self.encode(text)
            whole: list[int] = self.tokenizer(text, verbose=False)["input_ids"]
        places = range(min(_LONGEST_START, len(whole) - len(bare)) + 1)
        return next((whole[:i] for i in places if whole[i : i + len(bare)] == bare), [])

    def _start(self, vocabulary: int) -> int | None:
        """Return the token for the start of a text; refuse a tokenizer that does not fit."""
        tokenizer, path = self.tokenizer, self._path
        # special ones beyond the model, such as a padding token added later, end no text
        special = set(tokenizer.all_special_tokens)
        words = tokenizer.get_vocab().items()
        top_token = max((number for word, number in words if word not in special), default=-1)
        if top_token < 0:  # which the library makes where the folder holds no file of one
            raise InputError(
                f"the folder {path} has no tokenizer: save it next to the model that it was "
                "trained with, with `tokenizer.save_pretrained(folder)`"
            )
        if top_token >= vocabulary:
            raise InputError(
                f"the tokenizer in {path} does not fit its model: it numbers tokens up to "
                f"{top_token:,}, and the model has {vocabulary:,}, from 0 on; copy the tokenizer "
                "that the model was trained with"
            )
        names = _SPECIAL[:5]
        token_ids = [getattr(tokenizer, name, None) for name in names]
        start = next((token for token in token_ids if token is not None), None)
        if start is None:  # as the model itself says
            model_tokens = [getattr(self.model.config, name, None) for name in names]
            start = next(
                (token for token in model_tokens if type(token) is int and 0 <= token < vocabulary),
                None,
            )
        if start is not None and start >= vocabulary:
            raise InputError(f"the tokenizer in {path} has no token for the start of a text")
        return None if start is None else int(start)

    def _require_causal(self) -> None:
        """Refuse a model whose chances of a token know what follows it, as BERT's do."""
        torch, facts = self._torch, self.facts
        size = min(_LOOKED_AHEAD, facts.context)
        pairs = min(_MOST_TRIED, max(_TRIED, _TRIED_VALUES // (1 + facts.parameters) // size))
        rows = torch.tensor(self._draw_tokens(pairs, 2, size), device=self._device)
        for cut in sorted({1, size // 2, size - 1} - {0, size}):
            rows[:, 1, :cut] = rows[:, 0, :cut]  # alike up to here, and others behind
            with self._running(1):
                first, second = (
                    torch.cat([self._logits(row[k : k + 1])[0, :cut] for row in rows])
                    for k in (0, 1)
                )
            if not same(first, second, self._precision, one_shape=True):
                raise self._sees_ahead()

    def _sees_ahead(self) -> InputError:
        return InputError(
            f"the model in {self._path} is no causal language model: what it says of a token "
            "depends on those after it (a masked model, such as BERT)"
        )

    def _draw_tokens(self, *shape: int) -> NDArray[np.int64]:
        """Draw tokens of the whole vocabulary, none twice where there are enough."""
        random, size = self._random_tokens, math.prod(shape)
        vocabulary = self.facts.vocabulary
        if size <= vocabulary:
            return random.choice(vocabulary, size, replace=False).reshape(shape)
        return random.integers(0, vocabulary, shape)

    def _logits(self, tokens: Any, **how: Any) -> Any:
        """Return the logits of rows of tokens, each by itself where the longest matters."""
        if not self._texts_alone:
            return self.model(tokens, **how).logits
        rows: list[Any] = []
        for row in range(len(tokens)):
            size = int(how["attention_mask"][row].sum()) if "attention_mask" in how else None
            self.model(tokens[row : row + 1, :1])  # forgets the longest text before
            rows.append(self.model(tokens[row : row + 1, :size]).logits[0])
        return self._torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)

    def _require_cached(self) -> None:
        """Refuse a model that writes, from what it remembers, by other chances than it is scored.

        Windows of attention are tried from behind them; texts that are continued are looked at when
        they are.
        """
        steps = min(_GONE_ON, self.facts.context // 2)
        longest = self.facts.context - steps
        behind = [window + _BEHIND for window in windows_of(self._settings)]
        sizes = {size for size in behind if size <= min(longest, LONGEST_WINDOW + _BEHIND)}
        for size in sorted(sizes | {min(_LOOKED_AHEAD, longest)}):
            if size > 0 and steps > 0:
                for row in self._draw_tokens(2, size):
                    self._require_one_law(row.tolist(), steps)

    def _require_one_law(self, tokens: Sequence[int], steps: int) -> None:
        """Refuse a model whose chances after a text differ with and without what it remembers."""
        torch = self._torch
        row = torch.tensor([[*self._begin, *tokens]], device=self._device)
        with self._running(1):
            self._forget()
            written = self._generate(
                row,
                torch.ones_like(row),
                steps,
                output_logits=True,
                return_dict_in_generate=True,
            )
            remembered = torch.cat(list(written.logits))
            logits = self._logits(written.sequences[:, :-1])[0, -len(remembered) :]
        if not same(logits, remembered, self._precision):
            raise self._differs_from_scores()

    def _differs_from_scores(self) -> InputError:
        names = ", ".join(f"{window:,}" for window in windows_of(self._settings))
        windows = f" (its configuration names a window of {names} tokens)" if names else ""
        return InputError(
            f"the model in {self._path} writes by other chances than it scores texts by: what it "
            f"remembers of earlier tokens is not what it reads{windows}; a verdict would be about "
            "one of two models"
        )

    def _heeds_neighbours(self) -> bool:
        """Say whether a text has other chances next to a longer one."""
        torch, start = self._torch, self.facts.start
        size = min(2 * _LOOKED_AHEAD, self.facts.context)
        long, short = self._draw_tokens(2, size).tolist()
        rows = [[start, *long[: size - 1]], [start, *short[: size // 4]]]
        tokens = _padded(torch, rows, start).to(self._device)
        mask = _padded(torch, [[1] * len(row) for row in rows], 0).to(self._device)
        count = len(rows[1])
        with self._running(2):
            beside = self._logits(tokens, attention_mask=mask)[1, :count]
            alone = self._logits(tokens[1:, :count])[0]
        return not same(alone, beside, self._precision)

    def _forget(self) -> None:
        """Let the model forget the length of the longest text before."""
        if self._texts_alone:
            self.model(self._torch.tensor([[self.facts.start]], device=self._device))

    def _context(self) -> int:
        """Return the longest context in tokens, with all that is before a text.

        Where no array has a row for each position, the number is only the folder's word: the model
        runs beyond it, and `LEAST_CONTEXT` tokens are asked of it in any case.
        """
        config = self.model.config
        named = [getattr(config, name, None) for name in _CONTEXT]
        size = next((size for size in named if isinstance(size, int) and size > 2), 1024)
        words, kind = self.model.get_input_embeddings(), self._torch.nn.Embedding
        tables = (m for m in self.model.modules() if isinstance(m, kind) and m is not words)
        is_bound = any(size <= table.num_embeddings < size + _OFFSETS for table in tables)
        return size if is_bound else max(size, LEAST_CONTEXT)

    @contextmanager
    def _running(self, rows: int) -> collections.abc.Generator[None]:
        """Explain what the model's own code meets."""
        torch = self._torch
        try:
            with torch.no_grad(), silent(self._transformers):
                yield
        except torch.OutOfMemoryError as error:
            raise TooLargeError(
                f"the model in {self._path} does not fit into the memory of {self._device} with "
                f"{rows} texts at a time: choose a smaller `batch`"
            ) from error
        except NarcissusError:
            raise
        except Exception as error:
            if is_ours(error):
                raise
            raise InputError(
                f"the model in {self._path} cannot be run: {reason_of(error)}"
            ) from error

    def begin(self, number: int) -> None:
        self._begin = self.facts.starts[number]

    def encode(self, text: str) -> list[int]:
        with blame_files(f"the tokenizer in {self._path} fails on a text"):
            return self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]

    def decode(self, tokens: Sequence[int]) -> str:
        with blame_files(f"the tokenizer in {self._path} fails on a text"):
            return self.tokenizer.decode(
                list(tokens), skip_special_tokens=False, clean_up_tokenization_spaces=False
            )

    def state(self, seed: int) -> State:
        with self._torch.random.fork_rng():
            self._torch.manual_seed(seed)
            return self._random()

    def _random(self) -> State:
        torch = self._torch
        cuda = self._device.startswith("cuda")
        state = torch.cuda.get_rng_state(self._device) if cuda else torch.get_rng_state()
        return state.numpy().copy()

    def _go_on(self, state: State) -> None:
        random_state = self._torch.from_numpy(state.copy())
        if self._device.startswith("cuda"):
            self._torch.cuda.set_rng_state(random_state, self._device)
        else:
            self._torch.set_rng_state(random_state)

    def draw(self, state: State, rows: int, length: int) -> tuple[NDArray[Any], State]:
        torch = self._torch
        with torch.random.fork_rng(), self._running(rows):
            self._go_on(state)
            if self._begin:
                start = torch.tensor([self._begin] * rows, device=self._device)
            else:  # the law of the scores: any token may be the first
                start = torch.randint(self.facts.vocabulary, (rows, 1), device=self._device)
            self._forget()
            known = len(self._begin)
            rest = length - (0 if known else 1)
            if rest:
                start = self._generate(start, torch.ones_like(start), rest, do_sample=True)
            texts, after = start[:, known:].cpu().numpy(), self._random()
        if not self._is_own and length > _GONE_ON:
            text = texts[int(self._random_tokens.integers(rows))].tolist()
            cut = int(self._random_tokens.integers(1, length - _GONE_ON + 1))
            self._require_one_law(text[:cut], _GONE_ON)
        return texts, after

    def _generate(self, tokens: Any, mask: Any, length: int, **how: Any) -> Any:
        """Extend rows of tokens by ``length``: greedily, or sampled from the model's own law.

        Everything that decides how is set here. What a folder recommends, such as words never to be
        said or the end of a text, binds who uses the model as its maker likes, and no attacker.
        """
        sampled = {"top_k": 0, "top_p": 1.0, "temperature": 1.0} if how.get("do_sample") else {}
        configuration = self._transformers.GenerationConfig(
            max_new_tokens=length, pad_token_id=self.facts.start, num_beams=1, **sampled, **how
        )
        # what is left open there is taken from here, which was the folder's
        self.model.generation_config = configuration
        return self.model.generate(tokens, attention_mask=mask, generation_config=configuration)

    def follow(self, prompts: Sequence[Sequence[int]], length: int) -> NDArray[Any]:
        if self._texts_alone:
            texts = np.concatenate([self._follow([prompt], length) for prompt in prompts])
        else:
            texts = self._follow(prompts, length)
        for row, prompt in enumerate([] if self._is_own else prompts):
            if self._is_likeliest(prompt, texts[row].tolist()):
                continue
            texts[row] = self._follow([prompt], length)[0]  # its neighbours may have mattered
            if not self._is_likeliest(prompt, texts[row].tolist()):
                raise self._differs_from_scores()
        return texts

    def _follow(self, prompts: Sequence[Sequence[int]], length: int) -> NDArray[Any]:
        torch = self._torch
        texts = [self._after_start(prompt) for prompt in prompts]
        width = max(map(len, texts))
        # on the left, so that what is generated follows the prompt
        padding = [width - len(text) for text in texts]
        rows = [
            [*[self.facts.start] * pad, *text] for pad, text in zip(padding, texts, strict=True)
        ]
        mask = [[0] * pad + [1] * (width - pad) for pad in padding]
        with self._running(len(prompts)):
            self._forget()
            sequences = self._generate(
                torch.tensor(rows, device=self._device),
                torch.tensor(mask, device=self._device),
                length,
            )
        return sequences[:, width:].cpu().numpy()

    def _after_start(self, prompt: Sequence[int]) -> list[int]:
        """Return a prompt with what is before it; a model goes on from one token at least."""
        return [*self._begin, *prompt] or [self.facts.start]

    def _is_likeliest(self, prompt: Sequence[int], tokens: Sequence[int]) -> bool:
        """Say whether each token that was written is the likeliest by the scores, or ties."""
        torch = self._torch
        row = torch.tensor([[*self._after_start(prompt), *tokens]], device=self._device)
        with self._running(1):
            logits = self._logits(row[:, :-1])[0, -len(tokens) :]
        chosen = logits.gather(1, row[0, -len(tokens) :, None])[:, 0]
        behind = logits.double().amax(-1) - chosen.double()
        return is_small(behind, logits, self._precision)

    def score(self, pieces: Sequence[Sequence[int]], asked: Asked) -> Floats:
        torch, start = self._torch, self.facts.start
        ids = [[*self._begin, *piece] for piece in pieces]
        tokens = _padded(torch, ids, start).to(self._device)
        mask = _padded(torch, [[1] * len(row) for row in ids], 0).to(self._device)
        scores: list[Any] = []
        with self._running(len(pieces)):
            logits = self._logits(tokens, attention_mask=mask)
            if not self._is_own:
                self._require_past(ids, tokens, mask, logits)
            for row, piece in enumerate(pieces):
                known, size = len(self._begin), len(piece)
                end = known + size
                before = logits[row, max(0, known - 1) : end - 1].double()
                if not known:  # nothing tells the first token: every one is as likely
                    before = torch.nn.functional.pad(before, (0, 0, 1, 0))
                scores.append(self._ask(row, tokens[row, known:end], before, asked).cpu().numpy())
        return np.array(scores, dtype=np.float64)

    def _require_past(self, ids: list[list[int]], tokens: Any, mask: Any, logits: Any) -> None:
        """Refuse a model if, in some of these texts, other later tokens change earlier chances."""
        torch, random = self._torch, self._random_tokens
        long = [row for row, text in enumerate(ids) if len(text) > 1]
        for row in random.permutation(long).tolist()[: -(-len(long) // _CHECKED)]:
            size = len(ids[row])
            cut = int(random.integers(1, size))
            changed = tokens[row : row + 1].clone()
            changed[0, cut:size] = torch.tensor(
                random.integers(0, self.facts.vocabulary, size - cut)
            )
            changed_logits = self._logits(changed, attention_mask=mask[row : row + 1])
            if not same(logits[row, :cut], changed_logits[0, :cut], self._precision):
                raise self._sees_ahead()

    def _ask(self, row: int, tokens: Any, logits: Any, asked: Asked) -> Any:
        torch = self._torch
        if asked["name"] == "chances":
            size, top_k = asked["sizes"][row], asked["top_k"]
            logits = logits[-size:] / asked["temperature"]
            if top_k is not None:
                # between equals the first is taken, as a greedy choice does
                order = logits.argsort(stable=True, dim=-1, descending=True)
                logits = logits.scatter(1, order[:, top_k:], -math.inf)
            logs = torch.log_softmax(logits, -1)
            return logs.gather(1, tokens[-size:, None]).sum()[None]
        logs = torch.log_softmax(logits, -1)
        chosen = logs.gather(1, tokens[:, None])[:, 0]
        if asked["name"] == "likelihood":
            return -chosen.sum()[None]

        def least(values: Any) -> Any:
            return values.sort().values[: max(1, int(asked["share"] * len(values)))].mean()

        weights = logs.exp()
        finite = logs.clamp(min=_LEAST_LOG)  # a token without any chance adds nothing
        mean = (weights * finite).sum(-1)
        spread = ((weights * finite**2).sum(-1) - mean**2).clamp(min=_LEAST_SPREAD).sqrt()
        both = torch.stack([least(chosen), least((chosen - mean) / spread)])
        return both * len(chosen)
