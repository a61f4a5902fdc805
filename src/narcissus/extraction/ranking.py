"""The ranking attack: sample a language model and pick out the memorised samples.

A text is probably from the training text if the model finds it likelier than another model does, or
likelier than its compressibility suggests.

Source: Carlini et al. 2021 as recounted by Cohen et al. 2024, D.3; Narcissus theory 10.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import integer, one_of
from narcissus.errors import InputError
from narcissus.extraction.eidetic import eidetic_counts
from narcissus.extraction.files import DataSet
from narcissus.extraction.ngram import CharacterNgram, Generator
from narcissus.extraction.relations import lines_of

FloatArray = NDArray[np.float64]
SCORES = ("perplexity", "other", "lower", "zlib")
# A text that the model is certain of has a log perplexity of 0; what is divided by it stays finite.
_LEAST_LOG_PERPLEXITY = 1e-3


@dataclass(frozen=True)
class RankedSamples:
    """Samples of a model without duplicates, with their scores."""

    texts: tuple[str, ...]  # the samples
    # by name, shape (texts,), larger = more likely memorised: "perplexity" ``-ln PPL``;
    # "other" ``ln PPL_other / ln PPL``; "lower" the same with the lower-cased text; "zlib"
    # ``bytes / ln PPL``
    scores: dict[str, FloatArray]
    drawn: int  # samples drawn, duplicates included

    def top(self, count: int, score: str | None = None) -> list[str]:
        """Return the ``count`` best texts by one score, or by each of them, without repetition."""
        count = integer("count", count, low=1)
        names = list(self.scores) if score is None else [one_of("score", score, self.scores)]
        chosen: dict[str, None] = {}
        for name in names:
            order = np.argsort(-self.scores[name], kind="stable")[:count]
            chosen |= dict.fromkeys(self.texts[i] for i in order)
        return list(chosen)


def rank_samples(
    model: Generator,
    *,
    other: Generator | None = None,
    samples: int = 1000,
    length: int = 256,
    shortest: int = 1,
    rng: RandomSource = None,
) -> RankedSamples:
    """Draw samples and score them.

    model: the model under attack.
    other: a smaller model, or one of other data; None leaves that score out.
    samples, length: number of samples, and the most tokens in each.
    shortest: texts with fewer characters are left out.

    Departing from the published code, duplicates are removed before ranking; there the lists repeat
    themselves.
    """
    random = generator(rng)
    drawn = model.sample(integer("samples", samples, low=1), length, rng=random)
    texts = [t for t in dict.fromkeys(drawn) if len(t) >= max(1, shortest)]
    if not texts:
        raise InputError(f"none of {samples} samples has {shortest} characters or more")

    def log_perplexity(scorer: Generator, these: Sequence[str]) -> FloatArray:
        sums, tokens = scorer.negative_log_likelihood(these)
        return np.maximum(sums / tokens, _LEAST_LOG_PERPLEXITY)

    target = log_perplexity(model, texts)
    packed = np.array([len(zlib.compress(t.encode())) for t in texts], dtype=np.float64)
    scores = {"perplexity": -target, "zlib": packed / target}
    if other is not None:
        scores["other"] = log_perplexity(other, texts) / target
    scores["lower"] = log_perplexity(model, [t.lower() for t in texts]) / target
    return RankedSamples(tuple(texts), {n: scores[n] for n in SCORES if n in scores}, len(drawn))


def memorised(
    texts: Sequence[str], documents: Sequence[str], *, window: int = 50, k: int = 1
) -> list[str]:
    """Find parts of texts that occur verbatim in at most ``k`` of the training documents.

    texts: output of a model.
    documents: its training documents.
    window: characters that must agree; every stretch of that length is searched.
    k: most documents in which such a stretch may occur (k-eidetic).
    Returns: the first such stretch of each text that has one.
    """
    window, k = integer("window", window, low=1), integer("k", k, low=1)
    parts = [[t[i : i + window] for i in range(len(t) - window + 1)] for t in texts]
    every = list(dict.fromkeys(p for part in parts for p in part))
    if not every:
        return []
    counts = dict(zip(every, eidetic_counts(every, documents).documents, strict=True))
    found = (next((p for p in part if 1 <= counts[p] <= k), None) for part in parts)
    return list(dict.fromkeys(p for p in found if p is not None))


@dataclass(frozen=True)
class RankingAttack:
    """Print the samples that rank best, a line each.

    other, samples, length: as in `rank_samples`.
    top: samples for each score.
    """

    other: Generator | None = None
    samples: int = 1000
    length: int = 256
    top: int = 100

    def best(self, model: Generator, rng: RandomSource = None) -> list[str]:
        """Return the best samples of one model."""
        ranked = rank_samples(
            model, other=self.other, samples=self.samples, length=self.length, rng=rng
        )
        return ranked.top(self.top)

    def attempt(
        self, release: Sequence[Generator], known: Any, rng: np.random.Generator
    ) -> list[bytes]:
        return ["\n".join(self.best(model, rng)).encode() for model in release]


def ranking_attack(
    samples: int = 1000,
    length: int = 256,
    top: int = 100,
    reference: Sequence[str] = (),
    order: int = 6,
) -> RankingAttack:
    """Sample a model, rank the texts by excess likelihood, and print the best.

    Parameters
    ----------
    samples
        Texts to draw.
    length
        The most tokens in each.
    top
        Texts to print for each score.
    reference
        Public lines for the attacker's comparison model; none: no such score.
    order
        Length of that model's n-grams: the predicted character and its context.
    """
    other = CharacterNgram(reference, order=order) if reference else None
    return RankingAttack(other, samples, length, top)


@dataclass(frozen=True)
class Memorises:
    """Enough stretches of the printed lines occur in the data, as `memorised` finds them.

    Parameters
    ----------
    at_least
        Lines that must have one, each a different stretch.
    window
        Characters of a stretch, which must agree.
    k
        Most records in which a stretch may occur.
    """

    at_least: int = 1
    window: int = 50
    k: int = 1

    def holds(
        self, data: Sequence[DataSet], attempt: Sequence[bytes], rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        counts = [
            len(memorised(lines_of(output), one.records, window=self.window, k=self.k))
            for one, output in zip(data, attempt, strict=True)
        ]
        return np.array(counts) >= self.at_least


def lead_over_shadows(score: float, shadows: Sequence[float]) -> float:
    """Compute the chance that data independent of the release lead their shadows this far.

    Under independence the data and their shadows are exchangeable, so the rank of the data's score
    is uniform: ``(1 + shadows at least as high) / (1 + shadows)`` is a p-value. An attack that
    reports extraction at ``p <= a`` has the false-alarm rate ``a``.

    Source: Narcissus theory 1 (the baseline on a fresh data set), made a test **[new]**.
    """
    if not shadows:
        raise InputError("`shadows` must hold at least one score")
    return (1 + sum(s >= score for s in shadows)) / (1 + len(shadows))


def extracted_count(
    model: Generator,
    documents: Sequence[str],
    *,
    other: Generator | None = None,
    samples: int = 1000,
    length: int = 256,
    top: int = 100,
    window: int = 50,
    k: int = 1,
    shadows: Sequence[Sequence[str]] = (),
    rng: RandomSource = None,
) -> tuple[int, float | None, list[str]]:
    """Attack one model by ranking, and score the same texts against shadow documents.

    Returns: count, p_value, stretches: number of different stretches of ``documents`` found;
        `lead_over_shadows` of that number (None without shadows); the stretches.
    """
    best = RankingAttack(other, samples, length, top).best(model, rng)
    found = memorised(best, documents, window=window, k=k)
    scores = [float(len(memorised(best, shadow, window=window, k=k))) for shadow in shadows]
    p_value = lead_over_shadows(float(len(found)), scores) if scores else None
    return len(found), p_value, found
