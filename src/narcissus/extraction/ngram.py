"""Language models as an attack needs them: n-gram models of characters, and the ranking attack.

An n-gram model is fitted by counting, and sampled and scored for many texts at the same time.
Probabilities
interpolate all orders by Witten and Bell's rule: a context seen ``N`` times with ``T`` different
followers gives its counts the weight ``N / (N + T)``, and the rest to the context that is one
character shorter. Contexts are numbers in a sorted array, so sampling and scoring are searches in
arrays, without a loop over texts.

The ranking attack samples a model and picks out the memorised samples: a text is probably from the
training text if the model finds it likelier than another model does, or likelier than its
compressibility suggests.

Source: Witten and Bell 1991; Carlini et al. 2021 as recounted by Cohen et al. 2024, D.3; Narcissus
theory 10.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._arrays import Floats, IntArray
from narcissus._random import RandomSource, generator
from narcissus._validation import integer, one_of, refuse_text
from narcissus.errors import InputError
from narcissus.extraction.eidetic import eidetic_counts
from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import lines_of


class Generator(Protocol):
    """A language model as the ranking attack needs it; `CharacterNgram` is an example."""

    def sample(self, count: int, length: int, *, rng: RandomSource = None) -> list[str]:
        """Draw ``count`` texts of at most ``length`` tokens each."""
        ...

    def negative_log_likelihood(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        """Sum of ``-ln`` of the tokens' probabilities, and their number, by text."""
        ...


@dataclass(frozen=True)
class _Order:
    """Counts of one order: sorted (context, character) keys, and sums by context."""

    contexts: IntArray
    first: IntArray
    totals: Floats
    followers: Floats
    keys: IntArray
    characters: IntArray
    counts: Floats
    before: Floats

    def find(self, context: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
        """Return the places of contexts, and whether each is there."""
        place = np.minimum(np.searchsorted(self.contexts, context), self.contexts.size - 1)
        return place, self.contexts[place] == context


class CharacterNgram:
    """An n-gram model of characters.

    order: length of the n-grams, the predicted character included: at least 1.

    >>> model = CharacterNgram(["banana", "bandana"], order=3)
    >>> model.sample(1, 20, rng=0)[0][:2]
    'ba'
    """

    def __init__(self, documents: Iterable[str], *, order: int = 6) -> None:
        texts = [d for d in documents if d]
        if not texts:
            raise InputError("`documents` must hold some text")
        self.order = integer("order", order, low=1)
        self.alphabet = sorted(set("".join(texts)))
        # 0 is the end of a text (and what comes before its start), the last an unknown character.
        self._number = {c: i + 1 for i, c in enumerate(self.alphabet)}
        self._base = len(self.alphabet) + 2
        if self._base**self.order >= 2**63:
            raise InputError(
                f"`order` {order} is too high for {len(self.alphabet)} characters; at most "
                f"{int(62 / np.log2(self._base))}"
            )
        stream = self._encode(texts)
        self._orders = [self._count(stream, k) for k in range(self.order)]

    @property
    def parameters(self) -> int:
        """Number of counts."""
        return sum(order.keys.size for order in self._orders)

    def _encode(self, texts: Sequence[str]) -> IntArray:
        """Concatenate the texts, each after ``order - 1`` zeros and with one at its end."""
        parts: list[int] = []
        for text in texts:
            parts += [0] * max(1, self.order - 1)
            parts += [self._number.get(c, self._base - 1) for c in text]
        parts.append(0)
        return np.array(parts, dtype=np.int64)

    def _targets(self, stream: IntArray) -> IntArray:
        """Return the predicted positions: every character, and the zero after each text."""
        position = np.arange(1, stream.size)
        return position[(stream[position] != 0) | (stream[position - 1] != 0)]

    def _contexts(self, stream: IntArray, targets: IntArray, k: int) -> IntArray:
        """Return the number of the ``k`` characters before each target; zeros at the start."""
        number = np.zeros(targets.size, dtype=np.int64)
        for back in range(k, 0, -1):
            place = targets - back
            number = number * self._base + np.where(place >= 0, stream[place], 0)
        return number

    def _count(self, stream: IntArray, k: int) -> _Order:
        targets = self._targets(stream)
        keys = self._contexts(stream, targets, k) * self._base + stream[targets]
        keys, counts = np.unique(keys, return_counts=True)
        contexts, first = np.unique(keys // self._base, return_index=True)
        return _Order(
            contexts,
            first,
            totals=np.add.reduceat(counts, first).astype(np.float64),
            followers=np.diff(np.append(first, keys.size)).astype(np.float64),
            keys=keys,
            characters=keys % self._base,
            counts=counts.astype(np.float64),
            before=np.concatenate([[0.0], np.cumsum(counts)[:-1]]),
        )

    def negative_log_likelihood(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        """Score non-empty texts: ``-ln`` of the probability of all characters, and their number.

        The end of a text is not scored, since a sample may be cut off.
        """
        refuse_text("texts", texts)
        if any(not t for t in texts):
            raise InputError("`texts` must not be empty strings")
        stream = self._encode(texts)
        position = np.flatnonzero(stream)
        chance = np.full(position.size, 1.0 / self._base)
        for k, order in enumerate(self._orders):
            context = self._contexts(stream, position, k)
            place, known = order.find(context)
            key = context * self._base + stream[position]
            at = np.minimum(np.searchsorted(order.keys, key), order.keys.size - 1)
            count = np.where(order.keys[at] == key, order.counts[at], 0.0)
            total, kinds = order.totals[place], order.followers[place]
            chance = np.where(known, (count + kinds * chance) / (total + kinds), chance)
        lengths = np.array([len(t) for t in texts])
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        return np.add.reduceat(-np.log(chance), starts), lengths.astype(np.float64)

    def log_chances(
        self,
        prompts: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
    ) -> Floats:
        """Return ``ln`` of the chance to go on from each prompt with its target, in code points.

        Raises InputError: it is sampled otherwise than the model says.
        """
        if temperature != 1 or top_k is not None:
            raise InputError(
                "an n-gram model is sampled as it is: leave out `temperature` and `top_k`"
            )
        if not prompts:
            return np.zeros(0)
        known = [self.decode(prompt) for prompt in prompts]
        whole = [prompt + self.decode(two) for prompt, two in zip(known, targets, strict=True)]
        return self.negative_log_likelihood(known)[0] - self.negative_log_likelihood(whole)[0]

    def sample(self, count: int, length: int, *, rng: RandomSource = None) -> list[str]:
        """Draw texts, each until its end or ``length`` characters.

        A draw descends the orders like the interpolation: it stays at a context with its weight and
        takes one of the characters seen there, or moves on to the shorter one.
        """
        count, random = integer("count", count, low=1), generator(rng)
        begun = np.zeros((count, self.order - 1), dtype=np.int64)
        return self._continued(begun, length, lambda history: self._draw(history, random))

    def complete(self, prompts: Sequence[str], length: int) -> list[str]:
        """Continue each prompt by the most frequent follower of the longest context seen.

        ``length`` is the most characters of a continuation.
        """
        width = max(1, self.order - 1)
        begun = np.zeros((len(prompts), width), dtype=np.int64)
        for row, prompt in zip(begun, prompts, strict=True):
            ends = [self._number.get(c, self._base - 1) for c in prompt[-width:]]
            row[width - len(ends) :] = ends
        return self._continued(begun, length, self._likeliest)

    def _continued(
        self, begun: IntArray, length: int, follow: Callable[[IntArray], IntArray]
    ) -> list[str]:
        """Continue rows of numbers, each until its end or ``length`` characters."""
        count, width = begun.shape
        length = integer("length", length, low=1)
        rows = np.concatenate([begun, np.zeros((count, length), dtype=np.int64)], axis=1)
        going = np.arange(count)
        for position in range(width, width + length):
            if going.size == 0:
                break
            rows[going, position] = follow(rows[going, position - width : position])
            going = going[rows[going, position] != 0]
        letters = np.array(["", *self.alphabet, "\N{REPLACEMENT CHARACTER}"])
        return ["".join(row) for row in letters[rows[:, width:]]]

    def _history(self, history: IntArray, k: int) -> IntArray:
        """Return the number of the last ``k`` characters of each row."""
        number = np.zeros(len(history), dtype=np.int64)
        for back in range(k, 0, -1):
            number = number * self._base + history[:, history.shape[1] - back]
        return number

    def encode(self, text: str) -> list[int]:
        """Return the code points of a text: a token is a character."""
        return [ord(character) for character in text]

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of code points."""
        return "".join(map(chr, tokens))

    @property
    def context(self) -> int:
        """Most code points of a prompt and what follows it: any number."""
        return sys.maxsize

    def following(
        self, prompts: Sequence[Sequence[int]], length: int | Sequence[int]
    ) -> list[list[int]]:
        """Continue prompts as `complete` does, in code points."""
        if not prompts:
            return []
        longest = int(np.max(length))
        texts = self.complete([*map(self.decode, prompts)], longest)
        return [self.encode(text) for text in texts]

    def _likeliest(self, history: IntArray) -> IntArray:
        character = np.full(history.shape[0], -1, dtype=np.int64)
        for k in range(self.order - 1, -1, -1):
            left, order = np.flatnonzero(character < 0), self._orders[k]
            place, known = order.find(self._history(history[left], k))
            for row, at in zip(left[known], place[known], strict=True):
                first = order.first[at]
                counts = order.counts[first : first + int(order.followers[at])]
                character[row] = order.characters[first + int(np.argmax(counts))]
        return character

    def _draw(self, history: IntArray, random: np.random.Generator) -> IntArray:
        character = np.full(history.shape[0], -1, dtype=np.int64)
        for k in range(self.order - 1, -1, -1):
            left, order = np.flatnonzero(character < 0), self._orders[k]
            if left.size == 0:
                break
            place, known = order.find(self._history(history[left], k))
            total, kinds = order.totals[place], order.followers[place]
            stays = known & (random.random(left.size) * (total + kinds) < total)
            place = place[stays]
            within = random.random(place.size) * order.totals[place]
            aim = order.before[order.first[place]] + within
            taken = np.searchsorted(order.before, aim, side="right") - 1
            character[left[stays]] = order.characters[taken]
        rest = character < 0
        character[rest] = random.integers(0, self._base - 1, int(rest.sum()))
        return character


@dataclass(frozen=True)
class TrainedNgram:
    """The mechanism that releases an n-gram model of the records of a data set.

    order: Length of the n-grams: the predicted character and its context.
    """

    order: int = 6

    def release(self, data: Sequence[DataSet], rng: np.random.Generator) -> list[CharacterNgram]:
        return [CharacterNgram(data_set.records, order=self.order) for data_set in data]


def perplexity(model: Generator, texts: Sequence[str]) -> Floats:
    """Compute ``exp`` of the mean negative log-likelihood of a token, shape (texts,)."""
    sums, tokens = model.negative_log_likelihood(texts)
    return np.exp(sums / tokens)


def model_prior(
    model: Generator, candidates: Sequence[str], *, template: str = "{}", weight: str = "likelihood"
) -> Floats:
    """Estimate the prior probability of each candidate from a language model.

    template: text around the secret; ``{}`` is its place.
    weight: "likelihood": proportional to the probability of the whole text, the distribution that
        the model implies; "perplexity": proportional to the reciprocal perplexity, as published,
        which is flatter, more so for long texts.
    Returns: shape (candidates,): sums to 1.

    Source: Swanberg et al. 2025, section 5.1.
    """
    one_of("weight", weight, ("likelihood", "perplexity"))
    if "{}" not in template:
        raise InputError(f"`template` must hold the place '{{}}', got {template!r}")
    if len(set(candidates)) != len(candidates) or not candidates:
        raise InputError("`candidates` must be different from each other, and some")
    sums, tokens = model.negative_log_likelihood([template.replace("{}", c) for c in candidates])
    score: ArrayLike = -sums if weight == "likelihood" else -sums / tokens
    if not np.isfinite(np.max(score)):
        raise InputError("the model gives none of the `candidates` a chance: its scores are wrong")
    odds = np.exp(score - np.max(score))
    return odds / odds.sum()


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
    scores: dict[str, Floats]
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

    other: a smaller model, or one of other data; None leaves that score out.

    Departing from the published code, duplicates are removed before ranking; there the lists repeat
    themselves.
    """
    random = generator(rng)
    drawn = model.sample(integer("samples", samples, low=1), length, rng=random)
    texts = [t for t in dict.fromkeys(drawn) if len(t) >= max(1, shortest)]
    if not texts:
        raise InputError(f"none of {samples} samples has {shortest} characters or more")

    def log_perplexity(scorer: Generator, these: Sequence[str]) -> Floats:
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
    matches = (next((p for p in part if 1 <= counts[p] <= k), None) for part in parts)
    return list(dict.fromkeys(p for p in matches if p is not None))


@dataclass(frozen=True)
class RankingAttack:
    """Print the samples that rank best, a line each."""

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

    samples: Texts to draw.
    length: The most tokens in each.
    top: Texts to print for each score.
    reference: Public lines for the attacker's comparison model; none: no such score.
    order: Length of that model's n-grams: the predicted character and its context.
    """
    other = CharacterNgram(reference, order=order) if reference else None
    return RankingAttack(other, samples, length, top)


@dataclass(frozen=True)
class Memorises:
    """Enough stretches of the printed lines occur in the data, as `memorised` finds them.

    at_least: Lines that must have one, each a different stretch.
    window: Characters of a stretch, which must agree.
    k: Most records in which a stretch may occur.
    """

    at_least: int = 1
    window: int = 50
    k: int = 1

    def holds(
        self, data: Sequence[DataSet], attempt: Sequence[bytes], rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        counts = [
            len(memorised(lines_of(output), data_set.records, window=self.window, k=self.k))
            for data_set, output in zip(data, attempt, strict=True)
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
    extracts = memorised(best, documents, window=window, k=k)
    scores = [float(len(memorised(best, shadow, window=window, k=k))) for shadow in shadows]
    p_value = lead_over_shadows(float(len(extracts)), scores) if scores else None
    return len(extracts), p_value, extracts
