"""Documents that an attack on a language model recovers, and would recover anyway.

The unit is the document: repetitions count as one with copies, since repetition drives
memorisation, and all copies are on one side of a division. An attack recovers some training
documents; its success on *fresh* documents, by the same rule, is the baseline of a model that never
saw a document. The first is a count, the second a sampled share: given the model and the attack's
output, fresh documents are independent of both. So its limits hold however training documents
depend on each other through the model. Three attacks:

* *Stretches* of documents that the model prints, or continues verbatim.
* *Membership* scores, larger for a document that the model likely saw. The true-positive rate, at
  a threshold with few false alarms, is a count for this model. That the false alarms are few is a
  statement about fresh documents, which holds at its level for any distribution of their scores.
* *Canaries*: random secrets, planted a known number of times. To a model that never saw a canary
  its digits are fair coins, so the true secret's rank among alternatives is uniform: this baseline
  is exact.

Source: Cohen et al. 2024, D.2 and D.3 (k-eidetic texts, ranked samples, the scores of Carlini et
al. 2021); the threshold is a distribution-free tolerance limit (Wilks 1941); exposure after Carlini
et al. 2019; the baselines are Narcissus theory 1 **[new]**.
"""

from __future__ import annotations

import math
import zlib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus._files import file_size, read_bytes
from narcissus._random import RandomSource, generator
from narcissus._validation import fraction, integer
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.extraction.ngram import Generator
from narcissus.results import Estimate

Unit = Literal["line", "paragraph"]
LARGEST_TEXT = 2**30
"""Most bytes of a file of documents (1 GiB)."""
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
_LEAST = 1e-3  # nats: what is divided by stays finite
IntArray = NDArray[np.int64]
NUMBER, SECRET = "{number}", "{secret}"


@dataclass(frozen=True)
class TextDocument:
    """A text and its number of copies."""

    text: str
    copies: int = 1

    def __post_init__(self) -> None:
        integer("copies", self.copies, low=1)


def counted(texts: Sequence[str]) -> tuple[TextDocument, ...]:
    """Return the distinct texts in order of first occurrence, with their copies.

    >>> counted(["b", "a", "b"])
    (TextDocument(text='b', copies=2), TextDocument(text='a', copies=1))
    """
    return tuple(TextDocument(text, copies) for text, copies in Counter(texts).items())


def read_documents(path: Path | str, unit: Unit = "line") -> tuple[TextDocument, ...]:
    """Read documents from a text file (UTF-8), one a line or separated by blank lines."""
    path = Path(path)
    file_size(path, largest=LARGEST_TEXT)
    try:
        text = read_bytes(path, largest=LARGEST_TEXT).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start})") from error
    text = text.replace("\r\n", "\n")
    parts = text.split("\n") if unit == "line" else text.split("\n\n")
    found = counted([part.strip() for part in parts if part.strip()])
    if not found:
        raise InputError(f"{path} holds no documents")
    return found


@dataclass(frozen=True)
class Division:
    """Division of documents into training documents and others."""

    trained: tuple[TextDocument, ...]  # documents that the model was trained on
    fresh: tuple[TextDocument, ...]  # documents of the same source that neither model has seen
    # documents that only the reference model was trained on
    reference: tuple[TextDocument, ...] = ()
    by_chance: bool = False  # whether the division is random

    def __post_init__(self) -> None:
        for name, side in (("trained", self.trained), ("fresh", self.fresh)):
            if not side:
                raise InputError(f"there are no {name} documents")
        seen = {one.text for one in self.trained}
        for name, side in (("fresh", self.fresh), ("reference", self.reference)):
            if both := next((one.text for one in side if one.text in seen), None):
                raise InputError(
                    f"a document is among those trained on and among the {name} ones "
                    f"({both[:40]!r}): leave it out of one of them"
                )
            seen |= {one.text for one in side}


def divide(documents: Sequence[TextDocument], rng: np.random.Generator) -> Division:
    """Divide documents at random into three equal parts: trained on, fresh, for the reference.

    The division depends on nothing else, so independent draws of one source are so in each part.
    """
    if len(documents) < 3:
        raise InputError(f"dividing needs at least 3 different documents, got {len(documents)}")
    order = [documents[place] for place in rng.permutation(len(documents))]
    third = len(order) // 3
    trained, fresh = order[third : 2 * third], order[:third]
    return Division(tuple(trained), tuple(fresh), tuple(order[2 * third :]), by_chance=True)


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

    sides: documents by side (trained on, fresh, ...), all different. The rule is the same for all:
        a stretch counts by the number of documents of *all* sides that hold it.
    window: characters of a stretch, which must agree.
    k: most different documents that may hold it (k-eidetic, apart from copies of a document).

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

    texts: documents, each of a prompt and at least ``window`` characters, which must agree.
    prefix: in place of ``prompt``: known characters, for all documents or for each. The model gets
        only their whole tokens, since the rest of a cut token is other tokens than it was trained
        on.
    """
    integer("window", window, low=1)
    given = prompt_ends(model, texts, prompt=prompt) if prefix is None else prefix
    least = int(isinstance(prefix, int))
    places = [integer("prefix", int(one), low=least) for one in np.broadcast_to(given, len(texts))]
    prompts: list[Sequence[int]] = []
    wanted: list[str] = []
    for number, (text, place) in enumerate(zip(texts, places, strict=True)):
        if len(text) < place + window:
            raise InputError(
                f"`texts` must have {place + window} characters or more, what is known and what "
                f"follows it: number {number} has {len(text)}"
            )
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
        return self.recovered / self.documents

    @property
    def gain(self) -> tuple[float, float, float] | None:
        """Excess of this share over that of fresh documents: value, low, high."""
        if self.fresh is None:
            return None
        value, (low, high) = self.fresh.value, self.fresh.ends
        return self.share - value, self.share - high, self.share - low


def recovered_documents(
    trained: BoolArray,
    fresh: BoolArray,
    by_reference: BoolArray | None = None,
    *,
    confidence: float = 0.95,
) -> RecoveredDocuments:
    """Compare the documents that an attack recovered with its baselines.

    trained, fresh: whether each document was recovered; at least one training document.
    by_reference: whether each training document was recovered by the attack on a reference model.
    confidence: of each of the two shares.
    """
    n, m = len(trained), len(fresh)
    integer("documents trained on", n, low=1)
    hits, others = int(trained.sum()), int(fresh.sum())

    def share(found: BoolArray | None, quantity: str) -> Estimate | None:
        if found is None or not len(found):
            return None
        return clopper_pearson(
            int(found.sum()), len(found), confidence=confidence, quantity=quantity
        )

    return RecoveredDocuments(
        n,
        hits,
        share(fresh, "a document that the model never saw is recovered"),
        share(by_reference, "the same attack on the reference model recovers a document"),
        float(scipy.stats.hypergeom.sf(hits - 1, n + m, hits + others, n)) if m else None,
    )


def membership_scores(
    model: Generator, texts: Sequence[str], reference: Generator | None = None
) -> dict[str, FloatArray]:
    """Score documents, larger = the model likely saw it; arrays of shape (texts,).

    "perplexity" is the log-likelihood a character, "zlib" the compressed bytes over the negative
    log-likelihood, "lower" the negative log-likelihood of the lower-cased text over it. "reference"
    is the log-likelihood a character in excess of ``reference``, a model that did not see them.
    """
    loss, _ = model.negative_log_likelihood(texts)
    loss = np.maximum(loss, _LEAST)
    size = np.array([len(text) for text in texts], dtype=np.float64)
    packed = np.array([len(zlib.compress(text.encode(), 9)) for text in texts], dtype=np.float64)
    lower, _ = model.negative_log_likelihood([text.lower() for text in texts])
    scores = {"perplexity": -loss / size, "zlib": packed / loss, "lower": lower / loss}
    if reference is not None:
        scores["reference"] = (reference.negative_log_likelihood(texts)[0] - loss) / size
    return scores


@dataclass(frozen=True)
class ToldAt:
    """Documents recognised with few false alarms."""

    rate: float  # largest share of false alarms: fresh documents above the threshold
    # at most ``rate`` of fresh documents score above it, at the level; None: too few of them
    threshold: float | None
    told: float | None  # share of training documents above it; None: too few fresh documents
    needed: int  # least number of fresh documents


def tpr_at_fpr(
    trained: FloatArray, fresh: FloatArray, rate: float, *, confidence: float = 0.95
) -> ToldAt:
    """Recognise training documents by a threshold with few false alarms.

    trained, fresh: scores of training documents and of unseen ones, which are independent of the
        rest.
    rate: largest share of false alarms, in (0, 1).

    >>> tpr_at_fpr(np.arange(50.0, 150), np.arange(100.0), 0.1)
    ToldAt(rate=0.1, threshold=95.0, told=0.54, needed=29)
    """
    level, share = fraction("confidence", confidence), fraction("rate", rate)
    needed = math.ceil(math.log(1 - level) / math.log1p(-share))
    m = len(fresh)
    # Above the r-th largest score are more than the rate only if fewer than r scores are among the
    # largest of the whole distribution that the rate leaves.
    chances = scipy.stats.binom.cdf(np.arange(m), m, share)
    r = int(np.searchsorted(chances, 1 - level, side="right"))
    if r == 0:
        return ToldAt(rate, None, None, max(needed, m + 1))
    threshold = float(np.sort(fresh)[m - r])
    return ToldAt(rate, threshold, float(np.mean(trained > threshold)), needed)


@dataclass(frozen=True)
class CanaryPlan:
    """Canaries to plant."""

    each: int = 20  # canaries for each number of copies
    copies: tuple[int, ...] = (1, 4, 16)  # numbers of copies in the training text
    digits: int = 8  # of a secret
    # the document around it, with ``{number}`` of the canary and its ``{secret}``
    text: str = "The code of safe {number} is {secret}."

    def __post_init__(self) -> None:
        integer("each", self.each, low=1)
        integer("digits", self.digits, low=1, high=100)
        if not self.copies or len(set(self.copies)) != len(self.copies):
            raise InputError(f"`copies` must be different numbers, got {list(self.copies)}")
        for one in self.copies:
            integer("copies", one, low=1)
        before, _, _ = self.text.partition(SECRET)
        if SECRET not in self.text or NUMBER not in before or not before.strip():
            raise InputError(
                "`text` of canaries must hold '{number}', and '{secret}' after it, each as such: "
                f"got {self.text!r}"
            )

    def secrets(self, count: int, rng: np.random.Generator) -> list[str]:
        """Draw secrets."""
        return ["".join(map(str, row)) for row in rng.integers(0, 10, (count, self.digits))]

    def plant(self, rng: RandomSource = None) -> tuple[PlantedCanary, ...]:
        """Draw the canaries."""
        drawn = self.secrets(self.each * len(self.copies), generator(rng))
        copies = np.repeat(self.copies, self.each)
        return tuple(
            PlantedCanary(self.text.replace(NUMBER, str(number)), secret, int(one))
            for number, (secret, one) in enumerate(zip(drawn, copies, strict=True), start=1)
        )


@dataclass(frozen=True)
class PlantedCanary:
    """A canary: the text around its secret, the secret, its copies."""

    template: str
    secret: str
    copies: int

    def text(self, secret: str | None = None) -> str:
        """Return the document, optionally with another secret."""
        return self.template.replace(SECRET, self.secret if secret is None else secret)

    @property
    def document(self) -> TextDocument:
        return TextDocument(self.text(), self.copies)


@dataclass(frozen=True)
class NamedCanaries:
    """Leakage of canaries with the same number of copies."""

    copies: int  # of each canary
    canaries: int  # how many there are
    # of each true secret by likelihood, 1 the likeliest; ties count against it
    ranks: tuple[int, ...]
    alternatives: int  # other secrets that each is compared with
    completed: int  # canaries whose secret the model prints after the preceding text
    digits: int  # of a secret

    @property
    def named(self) -> int:
        """Canaries whose secret is likelier than every other."""
        return sum(rank == 1 for rank in self.ranks)

    @property
    def guess(self) -> float:
        """Exact chance that a model that never saw a canary names it; ties only lower it."""
        return 1 / (self.alternatives + 1)

    @property
    def guess_completed(self) -> float:
        """Largest chance that a model that never saw a canary prints its secret."""
        return 10.0**-self.digits

    @property
    def exposure(self) -> float:
        """Median over canaries of ``log2(alternatives + 1) - log2(rank)``, in bits."""
        return float(np.median(np.log2(self.alternatives + 1) - np.log2(self.ranks)))

    def chance(self, completed: bool = False) -> float:
        """Return the chance that a model that never saw them names (prints) at least this many.

        Secrets are independent, so for such a model their number is binomial.
        """
        seen = self.completed if completed else self.named
        rate = self.guess_completed if completed else self.guess
        return float(scipy.stats.binom.sf(seen - 1, self.canaries, rate))

    def by_chance(self, confidence: float = 0.95) -> int:
        """Return the most canaries that a model that never saw them names, at this level."""
        level = fraction("confidence", confidence)
        return int(scipy.stats.binom.ppf(level, self.canaries, self.guess))


def named_canaries(
    model: Generator,
    planted: Sequence[PlantedCanary],
    plan: CanaryPlan,
    *,
    alternatives: int = 99,
    completes: Completes | None = None,
    rng: RandomSource = None,
) -> tuple[NamedCanaries, ...]:
    """Rank each true secret among others, and ask the model to complete it.

    completes: the model again if it can continue a prompt; None skips completion.
    Returns: one result for each number of copies.
    """
    count = integer("alternatives", alternatives, low=1)
    random = generator(rng)
    found: list[NamedCanaries] = []
    for copies in plan.copies:
        alike = [one for one in planted if one.copies == copies]
        ranks: list[int] = []
        for one in alike:
            others = plan.secrets(count, random)
            texts = [one.text(), *(one.text(secret) for secret in others)]
            loss, _ = model.negative_log_likelihood(texts)
            ranks.append(1 + int((loss[1:] <= loss[0]).sum()))
        printed = 0 if completes is None else _completed(completes, alike, plan)
        found.append(NamedCanaries(copies, len(alike), tuple(ranks), count, printed, plan.digits))
    return tuple(found)


def _completed(model: Completes, alike: Sequence[PlantedCanary], plan: CanaryPlan) -> int:
    """Count the canaries whose secret the model continues after the preceding text.

    Prompts are the tokens that are the same for every first digit. The true text's tokens would not
    do: where the last one before the secret ends may depend on the secret.
    """
    prompts: list[Sequence[int]] = []
    wanted: list[str] = []
    for one in alike:
        known = model.encode(one.template.partition(SECRET)[0])
        others = [model.encode(one.text(digit * plan.digits)) for digit in "0123456789"]
        columns = zip(known, *others, strict=False)
        prompt = [column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns)]
        whole = model.decode(model.encode(one.text()))
        place = whole.find(one.secret, len(model.decode(prompt)))
        if place >= 0:  # else its tokens do not tell it
            prompts.append(prompt)
            wanted.append(whole[: place + plan.digits])
    return int(continued(model, prompts, wanted).sum())
