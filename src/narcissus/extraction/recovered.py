"""Which documents an attack on a language model recovers, and which it would have anyway.

The unit is the document. An attack recovers some of those that the model was trained on; how many
of *fresh* documents, by the same rule, is what a model that never saw a document gives away of it.
The first is a count, the second a sampled share: given the model and what the attack printed,
fresh documents are independent of both, so that its limits hold however documents trained on
depend on each other through the model.

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
    """What continuing texts asks of a language model; `CharacterNgram` shows how.

    Prompts are tokens and no text: the end of a text that is cut within a token is told by other
    tokens than those that the model was trained on.
    """

    def encode(self, text: str) -> list[int]:
        """Give the tokens of a text, without those that mark its start and end."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Give the text of tokens, without those that mark its start and end."""
        ...

    def following(self, prompts: Sequence[Sequence[int]], length: int) -> list[list[int]]:
        """Give a continuation of each prompt, of at most ``length`` tokens."""
        ...


@dataclass(frozen=True)
class PrintedStretches:
    """What of some documents was printed.

    Attributes
    ----------
    window
        Characters of a stretch.
    holders
        By stretch that was printed and is rare: the numbers of the documents that hold it, all
        sides counted through.
    sizes
        Documents of each side.
    """

    window: int
    holders: Mapping[str, set[int]]
    sizes: tuple[int, ...]

    def documents(self) -> list[BoolArray]:
        """Say for each side which documents hold one, arrays of shape (documents,)."""
        found = np.zeros(sum(self.sizes), dtype=np.bool_)
        for held in self.holders.values():
            found[list(held)] = True
        return np.split(found, np.cumsum(self.sizes)[:-1])

    def sides(self, text: str) -> set[int]:
        """Give the numbers of the sides of whose documents a text holds a rare stretch."""
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
    """Find the stretches of documents that were printed and are in few documents.

    Parameters
    ----------
    texts
        What a model printed.
    sides
        Documents by side (trained on, fresh, ...), all different. The rule is the same for all:
        a stretch counts by how many documents of *all* sides hold it.
    window
        Characters of a stretch, which must agree.
    k
        Most different documents that may hold it (k-eidetic, a document's copies aside).

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
    """Give the numbers of the texts that have a prefix and a window after it."""
    places = np.broadcast_to(prefix, len(texts))
    return [i for i, text in enumerate(texts) if len(text) >= places[i] + window]


def prompt_ends(model: Completes, texts: Sequence[str], *, prompt: int = 50) -> list[int]:
    """Count the characters of each text's first tokens.

    Parameters
    ----------
    model
        Whose tokens they are.
    texts
        Documents.
    prompt
        Tokens; one or a few fewer where so many end within a character.
    """
    count = integer("prompt", prompt, low=1)
    return [len(model.decode(_first(model, model.encode(text), count))) for text in texts]


def _first(model: Completes, tokens: Sequence[int], count: int) -> Sequence[int]:
    """Give so many tokens, or fewer so that they end between two characters."""
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
    """Say which documents a model continues word for word from their beginning.

    Parameters
    ----------
    model
        The model.
    texts
        Documents, each of a prompt and ``window`` characters or more.
    prompt
        Tokens that it is given, as it was trained on them.
    prefix
        In place of ``prompt``: characters that are known, of all documents or of each. The model
        is given as many whole tokens as there are in them, since the rest of a token that is cut
        is other tokens than it was trained on.
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
    """Say which prompts a model continues so that prompt and continuation begin with a text.

    Parameters
    ----------
    model
        The model.
    prompts
        Tokens.
    wanted
        The texts, each from its beginning.
    """
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
    """How many documents an attack recovered, beside those it recovers anyway.

    Attributes
    ----------
    documents, recovered
        Different documents that the model was trained on, and those recovered: a count, no sample.
    fresh
        Chance that a document that the model never saw is recovered by the same rule; None without
        such documents.
    reference
        Chance that a document that the model was trained on is recovered by the same attack on a
        model that was not; None without such a model.
    chance
        Probability that as many or more would be among the documents trained on if chance alone
        had decided which of those recovered are (Fisher's exact test); None without fresh ones.
    """

    documents: int
    recovered: int
    fresh: Estimate | None
    reference: Estimate | None
    chance: float | None

    @property
    def share(self) -> float:
        """Share recovered of the documents that the model was trained on."""
        return self.recovered / self.documents

    @property
    def gain(self) -> tuple[float, float, float] | None:
        """The share beyond that of fresh documents, with its limits: value, low, high."""
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
    """Set what an attack recovered beside what it recovers anyway.

    Parameters
    ----------
    trained, fresh
        Whether each document was recovered: those trained on, at least one, and fresh ones.
    by_reference
        Whether each document trained on was recovered by the same attack on a reference model.
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
