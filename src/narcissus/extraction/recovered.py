"""Documents that an attack on a language model recovers, and would recover anyway.

The unit is the document. An attack recovers some training documents; its success on *fresh*
documents, by the same rule, is the baseline of a model that never saw a document. The first is a
count, the second a sampled share: given the model and the attack's output, fresh documents are
independent of both. So its limits hold however training documents depend on each other through the
model.

Source: Cohen et al. 2024, D.2 and D.3 (k-eidetic texts, ranked samples), with the baseline of
Narcissus theory 1 **[new]**.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.results import Estimate

BoolArray = NDArray[np.bool_]


class Completes(Protocol):
    """A language model that continues texts, such as `CharacterNgram`.

    Prompts are tokens, not text: the end of a text cut within a token has other tokens than the
    training text.
    """

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, without start and end markers."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, without start and end markers."""
        ...

    def following(self, prompts: Sequence[Sequence[int]], length: int) -> list[list[int]]:
        """Continue each prompt by at most ``length`` tokens."""
        ...


@dataclass(frozen=True)
class PrintedStretches:
    """Stretches of documents that were printed."""

    window: int  # characters of a stretch
    # by printed rare stretch: the documents that hold it, numbered across all sides
    holders: Mapping[str, set[int]]
    sizes: tuple[int, ...]  # documents of each side

    def documents(self) -> list[BoolArray]:
        """Check whether each document holds one, an array of shape (documents,) for each side."""
        found = np.zeros(sum(self.sizes), dtype=np.bool_)
        for held in self.holders.values():
            found[list(held)] = True
        return np.split(found, np.cumsum(self.sizes)[:-1])

    def sides(self, text: str) -> set[int]:
        """Return the numbers of the sides with a document whose rare stretch is in a text."""
        parts = (text[i : i + self.window] for i in range(len(text) - self.window + 1))
        ends = np.cumsum(self.sizes)
        return {
            int(np.searchsorted(ends, number, side="right"))
            for part in parts
            for number in self.holders.get(part, ())
        }


def printed_stretches(
    texts: Sequence[str], sides: Sequence[Sequence[str]], *, window: int = 40, k: int = 1
) -> PrintedStretches:
    """Find the printed stretches of documents that occur in few documents.

    Parameters
    ----------
    texts
        Output of a model.
    sides
        Documents by side (trained on, fresh, ...), all different. The rule is the same for all: a
        stretch counts by the number of documents of *all* sides that hold it.
    window
        Characters of a stretch, which must agree.
    k
        Most different documents that may hold it (k-eidetic, apart from copies of a document).

    Examples
    --------
    >>> found = printed_stretches(["a cat sat"], [["my cat sat", "a dog"], ["the cat"]], window=5)
    >>> [side.tolist() for side in found.documents()]
    [[True, False], [False]]
    """
    window, k = integer("window", window, low=1), integer("k", k, low=1)
    printed = {t[i : i + window] for t in texts for i in range(len(t) - window + 1)}
    holders: defaultdict[str, set[int]] = defaultdict(set)
    for number, text in enumerate(text for side in sides for text in side):
        for i in range(len(text) - window + 1):
            if (part := text[i : i + window]) in printed:
                holders[part].add(number)
    rare = {part: held for part, held in holders.items() if len(held) <= k}
    return PrintedStretches(window, rare, tuple(len(side) for side in sides))


def long_enough(texts: Sequence[str], *, prefix: int | Sequence[int], window: int) -> list[int]:
    """Return the numbers of the texts that have a prefix and a window after it."""
    places = np.broadcast_to(prefix, len(texts))
    return [i for i, text in enumerate(texts) if len(text) >= places[i] + window]


def prompt_ends(model: Completes, texts: Sequence[str], *, prompt: int = 50) -> list[int]:
    """Count the characters of each text's first ``prompt`` tokens.

    Slightly fewer tokens are used if that many end within a character.
    """
    count = integer("prompt", prompt, low=1)
    return [len(model.decode(_first(model, model.encode(text), count))) for text in texts]


def _first(model: Completes, tokens: Sequence[int], count: int) -> Sequence[int]:
    """Return the first ``count`` tokens, or fewer so that they end between two characters."""
    whole = model.decode(tokens)
    while not whole.startswith(model.decode(tokens[:count])):
        count -= 1
    return tokens[:count]


def completed_documents(
    model: Completes,
    texts: Sequence[str],
    *,
    prompt: int = 50,
    prefix: int | Sequence[int] | None = None,
    window: int = 30,
) -> BoolArray:
    """Find the documents that a model continues verbatim from their beginning.

    Parameters
    ----------
    model
        The model.
    texts
        Documents, each of a prompt and at least ``window`` characters.
    prompt
        Tokens of the prompt, as in the training text.
    prefix
        In place of ``prompt``: known characters, for all documents or for each. The model gets only
        their whole tokens, since the rest of a cut token is other tokens than it was trained on.
    window
        Characters after them that must agree.

    Raises
    ------
    InputError
        A text is too short.
    """
    integer("window", window, low=1)
    given = prompt_ends(model, texts, prompt=prompt) if prefix is None else prefix
    least = int(isinstance(prefix, int))
    places = [integer("prefix", int(one), low=least) for one in np.broadcast_to(given, len(texts))]
    for number, (text, place) in enumerate(zip(texts, places, strict=True)):
        if len(text) < place + window:
            raise InputError(
                f"`texts` must have {place + window} characters or more, what is known and what "
                f"follows it: number {number} has {len(text)}"
            )
    prompts: list[Sequence[int]] = []
    wanted: list[str] = []
    for text, place in zip(texts, places, strict=True):
        tokens = model.encode(text)

        def reached(count: int, tokens: Sequence[int] = tokens) -> int:
            return len(model.decode(tokens[:count]))

        count = bisect_right(range(len(tokens) + 1), place, key=reached) - 1
        prompts.append(_first(model, tokens, count))
        # what the tokens say, which is not the text where a tokenizer drops cases or spaces
        wanted.append(model.decode(tokens)[: place + window])
    lengths = np.array([len(one) for one in wanted], dtype=np.intp)
    return continued(model, prompts, wanted) & (lengths == np.add(places, window).astype(np.intp))


def continued(
    model: Completes, prompts: Sequence[Sequence[int]], wanted: Sequence[str]
) -> BoolArray:
    """Check for each prompt whether its continuation yields the wanted text from the start."""
    if not prompts:
        return np.zeros(0, dtype=np.bool_)
    told = [len(model.decode(one).encode()) for one in prompts]
    left = [len(text.encode()) - size for text, size in zip(wanted, told, strict=True)]
    found = model.following(prompts, max(1, *left))  # no token is less than a byte
    return np.array(
        [
            model.decode([*prompt, *more]).startswith(text)
            for prompt, more, text in zip(prompts, found, wanted, strict=True)
        ],
        dtype=np.bool_,
    )


@dataclass(frozen=True)
class RecoveredDocuments:
    """Number of documents that an attack recovered, compared with its baselines."""

    documents: int  # different training documents
    recovered: int  # training documents recovered: a count, no sample
    # chance that an unseen document is recovered by the same rule; None without fresh ones
    fresh: Estimate | None
    # chance of recovery by the same attack on a model without them; None without such a model
    reference: Estimate | None
    # probability of at least this many training documents among the recovered ones if the
    # division were random (Fisher's exact test); None without fresh documents
    chance: float | None

    @property
    def share(self) -> float:
        """Share recovered of the training documents."""
        return self.recovered / self.documents

    @property
    def gain(self) -> tuple[float, float, float] | None:
        """Excess of this share over that of fresh documents: value, low, high."""
        if self.fresh is None:
            return None
        assert self.fresh.low is not None
        assert self.fresh.high is not None
        value, low, high = self.fresh.value, self.fresh.low, self.fresh.high
        return self.share - value, self.share - high, self.share - low


def recovered_documents(
    trained: BoolArray,
    fresh: BoolArray,
    by_reference: BoolArray | None = None,
    *,
    confidence: float = 0.95,
) -> RecoveredDocuments:
    """Compare the documents that an attack recovered with its baselines.

    Parameters
    ----------
    trained, fresh
        Whether each document was recovered: at least one training document, and fresh ones.
    by_reference
        Whether each training document was recovered by the attack on a reference model.
    confidence
        Of each of the two shares.
    """
    n, m = len(trained), len(fresh)
    integer("documents trained on", n, low=1)
    hits, others = int(trained.sum()), int(fresh.sum())
    share = "a document that the model never saw is recovered"
    beside = "the same attack on the reference model recovers a document"
    return RecoveredDocuments(
        n,
        hits,
        clopper_pearson(others, m, confidence=confidence, quantity=share) if m else None,
        None
        if by_reference is None
        else clopper_pearson(int(by_reference.sum()), n, confidence=confidence, quantity=beside),
        float(scipy.stats.hypergeom.sf(hits - 1, n + m, hits + others, n)) if m else None,
    )
