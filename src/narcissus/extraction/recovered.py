"""Documents that an attack on a language model recovers, and would recover anyway.

The unit is the document: repetitions count as one with copies, since repetition drives
memorisation, and all copies are on one side of a division. An attack recovers some training
documents; its success on *fresh* documents, by the same rule, is the baseline of a model that never
saw a document. The first is a count, the second a sampled share: given the model and the attack's
output, fresh documents are independent of both. So its limits hold however training documents
depend on each other through the model. Two attacks:

* *Stretches* of documents that the model prints, or continues verbatim.
* *Membership* scores, larger for a document that the model likely saw. The true-positive rate, at
  a threshold with few false alarms, is a count for this model. That the false alarms are few is a
  statement about fresh documents, which holds at its level for any distribution of their scores.

Source: Cohen et al. 2024, D.2 and D.3 (k-eidetic texts, ranked samples, the scores of Carlini et
al. 2021); the threshold is a distribution-free tolerance limit (Wilks 1941); the baselines are
Narcissus theory 1 **[new]**.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import scipy

from narcissus._arrays import BoolArray, Floats
from narcissus._files import file_size, read_bytes
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.extraction.ngram import Generator
from narcissus.results import Estimate

Unit = Literal["line", "paragraph"]
LARGEST_TEXT = 2**30
"""Most bytes of a file of documents (1 GiB)."""
SCORES = ("perplexity", "loss", "zlib", "lower", "reference", "min-k", "min-k++")
"""Scores of membership, by name; the order in which they are reported."""
DEFAULT_SCORES = ("perplexity", "zlib", "lower", "reference")
_LEAST = 1e-3  # nats: what is divided by stays finite
_CUT, _LONGEST_CHARACTER = "\ufffd", 4
"""What a part of a character is written as, and the most tokens that a character takes."""


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
        text = read_bytes(path, largest=LARGEST_TEXT).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8"
        ) from error
    text = text.replace("\r\n", "\n")
    parts = text.split("\n") if unit == "line" else text.split("\n\n")
    documents = counted([part.strip() for part in parts if part.strip()])
    if not documents:
        raise InputError(f"{path} holds no documents")
    return documents


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
        seen = {document.text for document in self.trained}
        for name, side in (("fresh", self.fresh), ("reference", self.reference)):
            if both := next((document.text for document in side if document.text in seen), None):
                raise InputError(
                    f"a document is among those trained on and among the {name} ones "
                    f"({both[:40]!r}): leave it out of one of them"
                )
            seen |= {document.text for document in side}


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

    @property
    def context(self) -> int:
        """Most tokens of a prompt and what follows it."""
        ...

    def following(
        self, prompts: Sequence[Sequence[int]], length: int | Sequence[int]
    ) -> list[list[int]]:
        """Continue each prompt by ``length`` tokens or more, of all or of each; fewer at an end."""
        ...

    def log_chances(
        self,
        prompts: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        *,
        temperature: float = 1.0,
        top_k: int | None = None,
    ) -> Floats:
        """Return ``ln`` of the chance to go on from each prompt with its target, by sampling."""
        ...


@runtime_checkable
class TellsTokens(Protocol):
    """A model that tells the probability of every token."""

    def least_likely(self, texts: Sequence[str], *, share: float = 0.2) -> tuple[Floats, Floats]:
        """Return Min-K% and Min-K%++ of texts."""
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
        flags = np.zeros(sum(self.sizes), dtype=np.bool_)
        for numbers in self.holders.values():
            flags[list(numbers)] = True
        return np.split(flags, np.cumsum(self.sizes)[:-1])

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

    sides: documents by side (trained on, fresh, ...). The rule is the same for all: a stretch
        counts by the number of documents of *all* sides that hold it; of those of a side that are
        alike, as after a tokenizer that drops cases, as one.
    window: characters of a stretch, which must agree.
    k: most different documents that may hold it (k-eidetic, apart from copies of a document).

    >>> found = printed_stretches(["a cat sat"], [["my cat sat", "a dog"], ["the cat"]], window=5)
    >>> [side.tolist() for side in found.documents()]
    [[True, False], [False]]
    """
    window, k = integer("window", window, low=1), integer("k", k, low=1)
    printed = {t[i : i + window] for t in texts for i in range(len(t) - window + 1)}
    holders: defaultdict[str, set[int]] = defaultdict(set)
    different: Counter[str] = Counter()
    first = 0
    for side in sides:
        places: defaultdict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(side, start=first):
            places[text].append(number)
        first += len(side)
        for text, numbers in places.items():
            parts = {text[i : i + window] for i in range(len(text) - window + 1)} & printed
            different.update(parts)
            for part in parts:
                holders[part].update(numbers)
    rare = {part: numbers for part, numbers in holders.items() if different[part] <= k}
    return PrintedStretches(window, rare, tuple(len(side) for side in sides))


def write_again(model: Completes, text: str) -> str:
    """Return what the tokens of a text say: what a model writes that knows it by heart.

    Tokenizers drop cases and spaces, and decoders add signs. What a model writes is compared with
    this text, and never with the one of which the tokens were made.
    """
    return model.decode(model.encode(text))


def long_enough(
    model: Completes, texts: Sequence[str], *, prefix: int | Sequence[int], window: int
) -> list[int]:
    """Return the numbers of the texts whose tokens say what is known and what must follow."""
    places = np.broadcast_to(prefix, len(texts))
    sizes = [len(write_again(model, text)) for text in texts]
    return [i for i, size in enumerate(sizes) if size >= places[i] + window]


def prompt_ends(model: Completes, texts: Sequence[str], *, prompt: int = 50) -> list[int]:
    """Count the characters of each text's first ``prompt`` tokens.

    Up to three tokens fewer are used if that many end within a character.
    """
    count = integer("prompt", prompt, low=1)
    return [len(model.decode(_first(model, model.encode(text), count))) for text in texts]


def _first(model: Completes, tokens: Sequence[int], count: int) -> Sequence[int]:
    """Return the first ``count`` tokens, or a few less so that they end between two characters.

    A decoder that acts on the end of a text, whatever the text, makes the prompt no shorter.
    """
    whole = model.decode(tokens)
    for size in range(count, max(-1, count - _LONGEST_CHARACTER), -1):
        text = model.decode(tokens[:size])
        if whole.startswith(text):
            return tokens[:size]
        if _CUT not in text:
            break
    return tokens[:count]


@dataclass(frozen=True)
class Beginning:
    """The tokens that begin a document, and what a model is asked to go on with."""

    prompt: Sequence[int]
    wanted: str  # the text of the prompt and of what follows it
    following: Sequence[int]  # tokens in which the document itself goes on
    largest: int  # tokens in which a model may say the same
    # whether the text of the prompt begins that of the document; otherwise tokens are compared
    is_prefix: bool = True

    def length(self, context: int) -> int:
        """Return the tokens that are asked for: all that may be needed, as far as they fit."""
        return max(1, len(self.following), min(self.largest, context - len(self.prompt)))

    def fits(self, context: int) -> bool:
        return len(self.prompt) + len(self.following) <= context


def common_start(texts: Sequence[str]) -> str:
    """Return the longest text with which all of some texts begin.

    >>> common_start(["a/bc", "a/bd"])
    'a/b'
    """
    first, last = min(texts), max(texts)  # no two differ earlier
    pairs = zip(first, last, strict=False)
    return first[: sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))]


def begin_document(
    model: Completes,
    tokens: Sequence[int],
    prompt: Sequence[int],
    wanted: str,
    *,
    after: int | None = None,
) -> Beginning:
    """Count the tokens that a document itself takes from the end of a prompt to that of a text.

    tokens: of the document.
    wanted: how the text of these tokens begins; the prompt is known of it.
    after: characters of it that follow the prompt, where its text alone does not tell.
    """

    def reached(count: int) -> int:
        return len(model.decode(tokens[:count]))

    known, text = len(prompt), model.decode(prompt)
    if not wanted.startswith(text):  # as of a decoder that acts on the end of every text
        high = range(known + 1, max(known + 1, len(tokens)))
        if after is None:
            after = len(wanted) - len(common_start([text, wanted]))
        count = bisect_left(high, len(text) + after, key=reached) + known + 1
        following = tokens[known:count]
        return Beginning(prompt, wanted, following, max(1, len(following)), is_prefix=False)
    left = max(1, len(wanted.encode()) - len(text.encode()))
    # no token is less than a byte, but for one that a decoder drops
    near = min(len(tokens), known + left)
    high = near if reached(near) >= len(wanted) else len(tokens)
    count = bisect_left(range(high), len(wanted), lo=min(known, high), key=reached)
    # a character that is cut counts as several
    while count < len(tokens) and not model.decode(tokens[:count]).startswith(wanted):
        count += 1
    while count > known + 1 and model.decode(tokens[: count - 1]).startswith(wanted):
        count -= 1
    following = tokens[known : max(known + 1, count)]
    return Beginning(prompt, wanted, following, max(1, len(following), left))


def begin_texts(
    model: Completes,
    texts: Sequence[str],
    *,
    prefix: Sequence[int],
    window: int | Sequence[int],
    prompt: int | None = None,
) -> list[Beginning]:
    """Return how each text begins, of which ``prefix`` characters are known.

    window: characters that follow, of all or of each.
    prompt: tokens that are known, where these characters are theirs.
    """
    windows = [int(stretch) for stretch in np.broadcast_to(window, len(texts))]
    beginnings: list[Beginning] = []
    for text, place, size in zip(texts, prefix, windows, strict=True):
        tokens = model.encode(text)
        known = [] if prompt is None else _first(model, tokens, prompt)
        if prompt is None or len(model.decode(known)) != place:
            lengths = range(len(tokens) + 1)

            def reached(count: int, tokens: Sequence[int] = tokens) -> int:
                return len(model.decode(tokens[:count]))

            count = max(0, bisect_right(lengths, place, key=reached) - 1)
            known = _first(model, tokens, count)
        # what the tokens say, which is not the text where a tokenizer drops cases or spaces
        wanted = model.decode(tokens)[: place + size]
        beginnings.append(begin_document(model, tokens, known, wanted, after=size))
    return beginnings


@dataclass(frozen=True)
class Continuation:
    """How a model goes on, next to how a document does."""

    written: str
    expected: str
    is_verbatim: bool


def continuations(
    model: Completes,
    texts: Sequence[str],
    *,
    prefix: Sequence[int],
    window: int | Sequence[int],
    prompt: int | None = None,
) -> list[Continuation]:
    """Return how a model continues each text, and how it goes on; both after what is known.

    Both have ``window`` characters, for all texts or for each. What a model says is empty where the
    tokens of a text do not tell it.

    prompt: tokens that are known, where the characters of ``prefix`` are theirs.
    Raises InputError: a text is too short, or the context of the model does not hold what is known
        and what follows (`Beginning.fits`).
    """
    windows = [
        integer("window", int(stretch), low=1) for stretch in np.broadcast_to(window, len(texts))
    ]
    ends = [place + size for place, size in zip(prefix, windows, strict=True)]
    beginnings = begin_texts(model, texts, prefix=prefix, window=windows, prompt=prompt)
    for number, (text, end) in enumerate(zip(texts, ends, strict=True)):
        if max(len(text), len(beginnings[number].wanted)) < end:
            raise InputError(
                f"`texts` must have {end} characters or more, what is known and what "
                f"follows it: number {number} has {len(text)}"
            )
    return [
        Continuation(answer.written[place:], answer.expected[place:], answer.is_verbatim)
        if len(beginning.wanted) == end
        else Continuation("", text[place:], is_verbatim=False)
        for answer, beginning, text, place, end in zip(
            continued(model, beginnings), beginnings, texts, prefix, ends, strict=True
        )
    ]


def continued(model: Completes, beginnings: Sequence[Beginning]) -> list[Continuation]:
    """Return what a model says, prompts included, cut to the length of what is wanted.

    Each document is asked for as many tokens as it takes by itself: no other changes that.
    A model that says the tokens of the document says its text, whatever a decoder makes of them.
    """
    if not beginnings:
        return []
    lengths = [beginning.length(model.context) for beginning in beginnings]
    answers = model.following([beginning.prompt for beginning in beginnings], lengths)
    return [
        _compare(model, beginning, answer)
        for beginning, answer in zip(beginnings, answers, strict=True)
    ]


def _compare(model: Completes, beginning: Beginning, answer: Sequence[int]) -> Continuation:
    prompt, following, wanted = beginning.prompt, beginning.following, beginning.wanted
    answer = [*answer]
    if following and answer[: len(following)] == [*following]:
        return Continuation(wanted, wanted, is_verbatim=True)
    if beginning.is_prefix:
        written = model.decode([*prompt, *answer])[: len(wanted)]
        return Continuation(written, wanted, written == wanted)
    known = common_start([model.decode(prompt), wanted])
    written = known + model.decode(answer[: len(following)])
    return Continuation(written, wanted, is_verbatim=False)


def nearly(
    model: Completes,
    said: Sequence[str],
    true: Sequence[str],
    *,
    edits: float | None = None,
    tokens: float | None = None,
) -> BoolArray:
    """Find the texts that come near to what was wanted, each with one of the two criteria.

    edits: most insertions, deletions and substitutions for each character wanted.
    tokens: least share of the tokens wanted that are said at their places.
    """

    def near(one: str, other: str) -> bool:
        if edits is not None and edit_distance(one, other) <= edits * len(other):
            return True
        whole = model.encode(other)
        agree = sum(a == b for a, b in zip(model.encode(one), whole, strict=False))
        return tokens is not None and agree >= tokens * len(whole)

    return np.array([near(*pair) for pair in zip(said, true, strict=True)], dtype=np.bool_)


def edit_distance(one: str, other: str) -> int:
    """Return the least number of insertions, deletions and substitutions (Levenshtein 1966).

    >>> edit_distance("kitten", "sitting")
    3
    """
    letters, places = np.array([*other]), np.arange(len(other) + 1)
    row = places
    for number, letter in enumerate(one, start=1):
        best = np.minimum(row[1:] + 1, row[:-1] + (letters != letter))
        # what is inserted after each place: a running minimum, as places go on one by one
        row = np.minimum.accumulate(np.append(number, best) - places) + places
    return int(row[-1])


def discovery(log_chances: Floats, samples: int) -> Floats:
    """Return the chance that at least one of so many samples is what was asked for.

    Where it is p or more, a text is (n, p)-discoverably extractable with n = ``samples``.

    Source: Hayes et al. 2025, (n, p)-discoverable extraction.

    >>> discovery(np.array([np.log(0.1), 0.0, -np.inf]), 2).round(2).tolist()
    [0.19, 1.0, 0.0]
    """
    with np.errstate(divide="ignore"):
        return -np.expm1(integer("samples", samples, low=1) * np.log1p(-np.exp(log_chances)))


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
    model: Generator,
    texts: Sequence[str],
    reference: Generator | None = None,
    *,
    names: Sequence[str] = DEFAULT_SCORES,
) -> dict[str, Floats]:
    """Score documents, larger = the model likely saw it; arrays of shape (texts,).

    "perplexity" is the log-likelihood a character, "loss" that a token, "zlib" the compressed bytes
    over the negative log-likelihood, "lower" the negative log-likelihood of the lower-cased text
    over it. "reference" is the log-likelihood a character in excess of ``reference``, a model that
    did not see them, and is left out without one. "min-k" and "min-k++" are Min-K% and Min-K%++ of
    a fifth of the tokens (`HuggingFaceGenerator.least_likely`).
    Raises InputError: the model does not tell the probabilities of tokens, which "min-k" needs, or
        a score is no number.
    """
    sums, tokens = model.negative_log_likelihood(texts)
    loss = np.maximum(sums, _LEAST)
    size = np.array([len(text) for text in texts], dtype=np.float64)
    scores = {"perplexity": -loss / size, "loss": -loss / tokens}
    scores["zlib"] = np.array([len(zlib.compress(text.encode(), 9)) for text in texts]) / loss
    if "lower" in names:
        lower, _ = model.negative_log_likelihood([text.lower() for text in texts])
        scores["lower"] = lower / loss
    if reference is not None and "reference" in names:
        scores["reference"] = (reference.negative_log_likelihood(texts)[0] - loss) / size
    if {"min-k", "min-k++"} & set(names):
        if not isinstance(model, TellsTokens):
            raise InputError(
                "the scores `min-k` and `min-k++` need a model that tells the probabilities of "
                "tokens, as a transformer does: leave them out"
            )
        scores["min-k"], scores["min-k++"] = model.least_likely(texts)
    selection = {name: values for name, values in scores.items() if name in names}
    if bad := [name for name, values in selection.items() if not np.isfinite(values).all()]:
        is_nan = np.isnan(selection[bad[0]]).any()
        kind = "NaN: no number" if is_nan else "infinite: it gives some text no chance at all"
        raise InputError(f"the model's score `{bad[0]}` of a document is {kind}")
    return selection
