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
    """What continuing prompts asks of a language model; `CharacterNgram` shows how."""

    def complete(self, prompts: Sequence[str], length: int) -> list[str]:
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


def long_enough(texts: Sequence[str], *, prefix: int, window: int) -> list[int]:
    """Give the numbers of the texts that have a prefix and a window after it."""
    return [i for i, text in enumerate(texts) if len(text) >= prefix + window]


def completed_documents(
    model: Completes, texts: Sequence[str], *, prefix: int = 50, window: int = 30
) -> BoolArray:
    """Say which documents a model continues word for word from their beginning.

    Parameters
    ----------
    model
        The model.
    texts
        Documents of ``prefix + window`` characters or more.
    prefix, window
        Characters that it is given, and those that must agree.
    """
    integer("prefix", prefix, low=1)
    integer("window", window, low=1)
    if len(long_enough(texts, prefix=prefix, window=window)) < len(texts):
        raise InputError(f"`texts` must have {prefix + window} characters or more")
    wanted = [text[prefix : prefix + window] for text in texts]
    if not wanted:
        return np.zeros(0, dtype=np.bool_)
    length = max(len(one.encode()) for one in wanted)  # no token is less than a byte
    found = model.complete([text[:prefix] for text in texts], length)
    return np.array([a.startswith(b) for a, b in zip(found, wanted, strict=True)], dtype=np.bool_)


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
