"""A stranger's model in a separate process: behind the sandbox's walls, with a limit on memory.

Whatever a configuration, a tokenizer or a weight makes a library do happens there. What comes back
is plain values and arrays, each checked for its shape. Where nobody has a sandbox and the user says
that the maker of the model is trusted (`narcissus.extraction.without_isolation`), the process has
no walls, and its memory is limited all the same.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from narcissus._arrays import Floats
from narcissus._guarded import EndedError
from narcissus._json import BadContentError
from narcissus._optional import optional
from narcissus._validation import MOST_SECONDS, integer
from narcissus.errors import InputError, NarcissusError, TooLargeError
from narcissus.extraction._messages import Arrays, pack, unpack
from narcissus.extraction._runs import Limits, converse
from narcissus.extraction.model_engine import (
    MOST_PARAMETERS,
    Asked,
    ModelFacts,
    State,
    answers_of,
    device_of,
    tells_of_memory,
)
from narcissus.extraction.model_folders import ModelFiles, reason_of_crash
from narcissus.extraction.model_trial import model_forks
from narcissus.extraction.sandbox import check_isolation

FREE_MEMORY = 2**33
"""Bytes that the process of a model may take, next to `WEIGHTS` times its weights."""
WEIGHTS = 3
"""Weights are mapped, read and changed to another type."""
LEAST_MEMORY = 1024
"""MiB that the libraries alone need."""
_MOST_MEMORY = 2**40
_LIBRARIES, _A_THREAD = 2**33, 2**28
"""Bytes of addresses, which cost nothing: of libraries, and of each thread."""
_PROGRAM = Path(__file__).with_name("_model_serving.py")
_PROCESSOR = ("/proc/cpuinfo", "/sys/devices/system/cpu")
"""What says which instructions a processor has: without it, PyTorch computes by other ones."""
_SLACK, _A_CALL, _A_CHARACTER = 60.0, 0.01, 1e-4
"""Seconds that a tokenizer may take: in all, for each text, and for each character."""
_HEAD = 2**16
"""Bytes of an answer next to its arrays and texts."""
_A_TEXT = 2**10
"""Bytes of an answer for each character that is tokenized, and for each token that is written."""
_AN_IMAGE = 2**28
"""Bytes of an image, at most."""


_START, _BYTES_A_SECOND = 1800.0, 2**20
"""Seconds for reading a model, and bytes of its weights that are read in one, at least."""
_QUESTION = 600.0
"""Seconds for a question, whatever is asked: machines are busy, and some are put to sleep."""
_A_TOKEN, _A_VALUE = 0.1, 1e-8
"""Seconds for each token, and for each token and each number of the weights."""
_LONG = 100
"""Tokens of a text behind which each takes as long again, where nothing of it is remembered."""
_A_STEP, _A_VALUE_OF_IMAGES, _MORE_STEPS = 10.0, 1e-6, 10
"""Seconds for each step of an image, and for each number of the weights; steps to decode it."""
_ROUNDING = 1e-6
"""What a logarithm of a chance may be above 0."""


def memory_limit(memory: int | None) -> int | None:
    """Return a limit in bytes of one in MiB; None: as much as the weights ask for.

    Raises InputError: it is less than `LEAST_MEMORY`, or more than any machine has.
    """
    if memory is None:
        return None
    try:
        return integer("memory", memory, low=LEAST_MEMORY, high=_MOST_MEMORY) << 20
    except InputError as error:
        raise InputError(
            f"`memory` counts MiB: a whole number from {LEAST_MEMORY:,}, which the libraries alone "
            f"need, to {_MOST_MEMORY:,}, such as 8192 for 8 GiB, got {memory!r}"
        ) from error


def limits_memory(device: str | None) -> bool:
    """Say whether the limit on a model's memory holds on a device; None: the one by default."""
    torch: Any = optional("torch", extra="language", purpose="A model in a folder")
    return device_of(torch, device) == "cpu" and sys.platform == "linux"


class ModelProcess:
    """A model in a separate process, which ends with this object.

    parts: the checked files of each folder of the model; "" is the folder itself.
    path: the folder that was named, for messages.
    memory: bytes that it may take; None: `FREE_MEMORY`, and `WEIGHTS` times its weights.
    what: "language" or "images".
    Raises InputError: a library cannot read it. TooLargeError: it needs more memory than it may
        take. IsolationError: there is no sandbox, and nobody said that its maker is trusted.
    """

    def __init__(
        self, parts: Mapping[str, ModelFiles], path: Path, memory: int | None, what: str
    ) -> None:
        torch: Any = optional("torch", extra="language", purpose="A model in a folder")
        isolation, threads = check_isolation(), int(torch.get_num_threads())
        size = sum(files.size for files in parts.values())
        weights = [file.resolve() for files in parts.values() for file in files.weights]
        self.path, self.memory = path, memory or FREE_MEMORY + WEIGHTS * size
        addresses = self.memory + size + _LIBRARIES + threads * _A_THREAD
        limits = Limits(MOST_SECONDS, addresses, threads=64 + 4 * threads, disk=2**26)
        self._stack = contextlib.ExitStack()

        def fill(place: Path) -> None:
            for name, files in parts.items():
                files.write(place / name)

        self._conversation = self._stack.enter_context(
            converse(
                _PROGRAM,
                fill,
                limits,
                isolation.method,
                readable=[*weights, *(Path(file) for file in _PROCESSOR if os.path.exists(file))],
                told={"data": self.memory, "files": 64 + 4 * len(weights)},
                forks=model_forks(images=what == "images"),
            )
        )
        self._closing = weakref.finalize(self, self._stack.close)
        request = {"what": what, "path": str(path), "threads": threads}
        try:
            self.told, _ = self.ask(
                "read", request, most=_HEAD, seconds=_START + size / _BYTES_A_SECOND
            )
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End the process; may be called again."""
        self._closing()

    def ask(
        self,
        name: str,
        values: Mapping[str, Any],
        arrays: Arrays | None = None,
        *,
        most: int,
        seconds: float,
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Ask for something by its name; return values and arrays.

        most: bytes of the answer, at most.
        seconds: time for it.
        Raises InputError, TooLargeError: the model, or what it needs.
        """
        if not self._closing.alive:
            raise InputError(f"the process of the model in {self.path} has ended")
        seconds = min(seconds, MOST_SECONDS)
        try:
            request = pack({**values, "name": name}, arrays)
            answer = self._conversation.ask(request, most=most, seconds=seconds)
            fields, result = unpack(answer)
            if (kind := fields.pop("error", None)) is None:
                return fields, result
            message = " ".join(str(fields["message"]).split())[:1000]
            message = message.encode("utf-8", "backslashreplace").decode()
        except EndedError as error:
            self._closing()
            raise self._explain(error, name, seconds) from error
        except (BadContentError, ValueError, KeyError, TypeError, RecursionError) as error:
            self._closing()
            raise self.refused("nothing in a known form") from error
        except BaseException:
            self._closing()
            raise
        if kind == "memory":
            raise self._is_too_large()
        if str(self.path) not in message:  # whoever took it over says what they like
            message = f"the model in {self.path}: {message}"
        raise (TooLargeError if kind == "TooLargeError" else InputError)(message)

    def refused(self, answer: str) -> InputError:
        """End the process, which no longer does what it is asked; return the error that says so."""
        self._closing()
        return InputError(
            f"the process of the model in {self.path} answered something else than was asked: "
            f"{answer}; whoever made the model may have taken the process over"
        )

    def _is_too_large(self) -> TooLargeError:
        return TooLargeError(
            f"the model in {self.path} needs more memory than the {self.memory >> 20:,} MiB that "
            "it may take: choose a smaller `batch`, or a larger `memory`"
        )

    def _explain(self, error: EndedError, name: str, seconds: float) -> NarcissusError:
        """Describe why there was no answer."""
        if error.code is None and name not in ("encode", "decode"):
            return InputError(
                f"the process of the model in {self.path} had no answer (`{name}`) after "
                f"{seconds:,.0f} seconds, many times what so large a model needs for it: it hangs, "
                "or this machine is far too slow; a smaller `batch` asks for less at a time"
            )
        if error.code is None:
            return InputError(
                f"the tokenizer in {self.path} takes too long for a text: its patterns need time "
                "that grows faster than the text"
            )
        lines = error.error.decode("utf-8", "replace").strip().splitlines()
        if error.is_of_memory or any(tells_of_memory(line) for line in lines):
            return self._is_too_large()
        failure = "cannot read" if name == "read" else "cannot run"
        if error.code < 0:
            return InputError(
                f"{failure} the model in {self.path}: its process was ended by signal "
                f"{-error.code}; "
                f"perhaps memory: it may take {self.memory >> 20:,} MiB (`memory`), and this "
                "machine may have less"
            )
        reason = reason_of_crash("\n".join(lines), f"exit code {error.code}")
        return InputError(f"{failure} the model in {self.path} (crashed): {reason}")


class LanguageProcess:
    """A stranger's language model in a separate process; as `ModelProcess`."""

    def __init__(self, parts: Mapping[str, ModelFiles], path: Path, memory: int | None) -> None:
        self._process = ModelProcess(parts, path, memory, "language")
        try:
            self.facts = ModelFacts.model_validate(self._process.told)
        except ValidationError as error:
            raise self._process.refused("facts that no model has") from error
        tokens = [self.facts.start, *(token for start in self.facts.starts for token in start)]
        if not 0 <= min(tokens) <= max(tokens) < self.facts.vocabulary:
            raise self._process.refused("a start token that it does not have")
        self._spent, self._allowed = 0.0, _SLACK
        self._values = sum(files.values for files in parts.values())

    def _seconds(self, tokens: int, longest: int) -> float:
        """Return the time for a question about so many tokens, of texts of this length."""
        each = _A_TOKEN + _A_VALUE * self._values
        return _QUESTION + tokens * each * (1 + longest / _LONG)

    def _of_text(
        self, name: str, values: Mapping[str, Any], size: int
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Ask the tokenizer, whose time is limited over all texts together."""
        self._allowed += _A_CALL + _A_CHARACTER * size
        before = time.monotonic()
        try:
            return self._process.ask(
                name,
                values,
                most=_HEAD + _A_TEXT * size,
                seconds=max(1.0, self._allowed - self._spent),
            )
        finally:
            self._spent += time.monotonic() - before

    def begin(self, number: int) -> None:
        self._process.ask("begin", {"number": number}, most=_HEAD, seconds=_QUESTION)

    def encode(self, text: str) -> list[int]:
        _, arrays = self._of_text("encode", {"text": text}, len(text))
        return self._tokens(arrays.get("tokens"), 1).tolist()

    def _tokens(self, tokens: NDArray[Any] | None, dimensions: int) -> NDArray[Any]:
        if tokens is None or tokens.dtype != np.int64 or tokens.ndim != dimensions:
            raise self._process.refused("no tokens")
        if tokens.size and tokens.min() < 0:
            raise self._process.refused("tokens below 0")
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        answer, _ = self._of_text("decode", {"tokens": list(map(int, tokens))}, len(tokens))
        text = answer.get("text")
        if not isinstance(text, str):
            raise self._process.refused("no text")
        if _has_surrogates(text):
            raise self._process.refused("a text with halves of letters")
        return text

    def state(self, seed: int) -> State:
        _, arrays = self._process.ask("state", {"seed": seed}, most=2 * _HEAD, seconds=_QUESTION)
        return self._state(arrays.get("state"))

    def _state(self, state: NDArray[Any] | None) -> State:
        if state is None or state.dtype != np.uint8 or state.ndim != 1:
            raise self._process.refused("no state of random numbers")
        return state

    def draw(self, state: State, rows: int, length: int) -> tuple[NDArray[Any], State]:
        request, limit = {"rows": rows, "length": length}, 2 * _HEAD + 8 * rows * length
        seconds = self._seconds(rows * length, length)
        _, arrays = self._process.ask(
            "draw", request, {"state": state}, most=limit, seconds=seconds
        )
        tokens, after = self._shaped(arrays.get("tokens"), rows, length), arrays.get("state")
        if self._state(after).shape != state.shape:
            raise self._process.refused("a state of random numbers of another size")
        return tokens, self._state(after)

    def _shaped(self, tokens: NDArray[Any] | None, rows: int, length: int) -> NDArray[Any]:
        sequences = self._tokens(tokens, 2)
        if len(sequences) != rows or not min(1, rows * length) <= sequences.shape[1] <= length:
            raise self._process.refused(
                f"{sequences.shape[1]:,} tokens of {len(sequences):,} texts, where {length:,} of "
                f"{rows:,} were asked for"
            )
        if sequences.size and sequences.max() >= self.facts.vocabulary:
            raise self._process.refused("tokens that it does not have")
        return sequences

    def follow(self, prompts: Sequence[Sequence[int]], length: int) -> NDArray[Any]:
        request = {"prompts": [list(map(int, prompt)) for prompt in prompts], "length": length}
        limit = _HEAD + 8 * len(prompts) * length
        longest = length + max(map(len, prompts), default=0)
        seconds = self._seconds(len(prompts) * longest, longest)
        _, arrays = self._process.ask("follow", request, most=limit, seconds=seconds)
        return self._shaped(arrays.get("tokens"), len(prompts), length)

    def score(self, pieces: Sequence[Sequence[int]], asked: Asked) -> Floats:
        request = {"pieces": [list(map(int, piece)) for piece in pieces], "asked": dict(asked)}
        longest = 1 + max(map(len, pieces), default=0)
        seconds = self._seconds(len(pieces) * longest, longest)
        limit = _HEAD + 16 * len(pieces)
        _, arrays = self._process.ask("score", request, most=limit, seconds=seconds)
        scores, shape = arrays.get("scores"), (len(pieces), answers_of(asked))
        if scores is None or scores.dtype != np.float64 or scores.shape != shape:
            raise self._process.refused(f"no scores of the shape {shape}")
        # NaN is what damaged weights give: who asked says so
        if asked["name"] == "likelihood" and (scores < -_ROUNDING).any():
            raise self._process.refused("chances above 1")
        if asked["name"] != "likelihood" and (scores[:, 0] > _ROUNDING).any():
            raise self._process.refused("chances above 1")
        return scores


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


class ImageProcess:
    """A stranger's model of images in a separate process; as `ModelProcess`."""

    def __init__(self, parts: Mapping[str, ModelFiles], path: Path, memory: int | None) -> None:
        self._process = ModelProcess(parts, path, memory, "images")
        parameters = self._process.told.get("parameters")
        if type(parameters) is not int or not 0 <= parameters <= MOST_PARAMETERS:
            raise self._process.refused("a number of parameters that no model has")
        self.parameters = parameters
        self._values = sum(files.values for files in parts.values())

    def draw(self, seed: int, size: int, caption: str, steps: int) -> NDArray[Any]:
        request = {"seed": seed, "size": size, "caption": caption, "steps": steps}
        each = _A_STEP + _A_VALUE_OF_IMAGES * self._values
        seconds = _QUESTION + size * (steps + _MORE_STEPS) * each
        limit = _HEAD + _AN_IMAGE * size
        _, arrays = self._process.ask("images", request, most=limit, seconds=seconds)
        images = arrays.get("images")
        if images is None or images.dtype != np.float64 or images.ndim not in (3, 4):
            raise self._process.refused("no images")
        if len(images) != size or 0 in images.shape:
            raise self._process.refused(f"{len(images):,} images, where {size:,} were asked for")
        return images
