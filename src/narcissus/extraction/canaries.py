"""Canaries: random secrets that are planted in a training text, and which of them a model names.

To a model that never saw a canary its digits are fair coins, so the true secret's rank among
alternatives is uniform: the baseline is exact. Canaries are drawn by a study that trains, or by a
key (`CanaryPlan.keyed`) for a training elsewhere; the audit reads them from a table.

Source: exposure after Carlini et al. 2019; the baseline is Narcissus theory 1 **[new]**.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import numpy as np
import scipy

from narcissus._files import csv_rows
from narcissus._random import RandomSource, generator
from narcissus._validation import fraction, integer
from narcissus._visible import cell, csv_text, unmarked
from narcissus.errors import InputError
from narcissus.extraction.eidetic import eidetic_counts
from narcissus.extraction.ngram import Generator
from narcissus.extraction.recovered import (
    Beginning,
    Completes,
    TextDocument,
    begin_document,
    common_start,
    continued,
)

NUMBER, SECRET = "{number}", "{secret}"
COLUMNS = ["copies", "text", "secret"]
"""Of a table of planted canaries; `{secret}` is in `text` where the secret does."""
MOST_COPIES = 10_000
_LARGEST = 2**28  # bytes of such a table


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
        for count in self.copies:
            integer("copies", count, low=1)
        before, _, _ = self.text.partition(SECRET)
        if SECRET not in self.text or NUMBER not in before or not before.strip():
            raise InputError(
                "`text` of canaries must hold '{number}', and '{secret}' after it, each as such: "
                f"got {self.text!r}"
            )

    @classmethod
    def of(cls, planted: Sequence[PlantedCanary]) -> CanaryPlan:
        """Return a plan with the copies and digits of canaries that were drawn."""
        copies = tuple(dict.fromkeys(canary.copies for canary in planted))
        return cls(len(planted), copies, len(planted[0].secret))

    def secrets(self, count: int, rng: np.random.Generator) -> list[str]:
        """Draw secrets."""
        return ["".join(map(str, row)) for row in rng.integers(0, 10, (count, self.digits))]

    def plant(self, rng: RandomSource = None) -> tuple[PlantedCanary, ...]:
        """Draw the canaries."""
        return self._planted(self.secrets(self.each * len(self.copies), generator(rng)))

    def keyed(self, key: bytes) -> tuple[PlantedCanary, ...]:
        """Draw the canaries by a secret key: who lacks it cannot tell one from the others.

        A secret is HMAC-SHA-512 of the canary's number, modulo 10^digits. At 100 digits, the
        most, a digit is off from uniform by less than 2^-179.
        """
        numbers = range(1, self.each * len(self.copies) + 1)
        return self._planted(
            [
                f"{int.from_bytes(_mac(key, number)) % 10**self.digits:0{self.digits}}"
                for number in numbers
            ]
        )

    def _planted(self, drawn: Sequence[str]) -> tuple[PlantedCanary, ...]:
        copies = np.repeat(self.copies, self.each)
        return tuple(
            PlantedCanary(self.text.replace(NUMBER, str(number)), secret, int(count))
            for number, (secret, count) in enumerate(zip(drawn, copies, strict=True), start=1)
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
    canaries: list[NamedCanaries] = []
    for copies in plan.copies:
        alike = [canary for canary in planted if canary.copies == copies]
        ranks: list[int] = []
        for canary in alike:
            others = plan.secrets(count, random)
            texts = [canary.text(), *(canary.text(secret) for secret in others)]
            loss, _ = model.negative_log_likelihood(texts)
            ranks.append(1 + int((loss[1:] <= loss[0]).sum()))
        printed = 0 if completes is None else _completed(completes, alike, plan)
        canaries.append(
            NamedCanaries(copies, len(alike), tuple(ranks), count, printed, plan.digits)
        )
    return tuple(canaries)


def _completed(model: Completes, alike: Sequence[PlantedCanary], plan: CanaryPlan) -> int:
    """Count the canaries whose secret the model continues after the preceding text.

    Prompts are the tokens that are the same for every first digit. The true text's tokens would not
    do: where the last one before the secret ends may depend on the secret.
    """
    beginnings: list[Beginning] = []
    for canary in alike:
        known = model.encode(canary.template.partition(SECRET)[0])
        others = [model.encode(canary.text(digit * plan.digits)) for digit in "0123456789"]
        columns = zip(known, *others, strict=False)
        prompt = [column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns)]
        tokens = model.encode(canary.text())
        whole, begun = model.decode(tokens), model.decode(prompt)
        # what is behind the secret is the same for every one; a decoder may write between digits
        ends = [model.decode(other)[::-1] for other in others]
        wanted = whole[: len(whole) - len(common_start(ends))]
        place = whole.find(canary.secret, len(begun) if whole.startswith(begun) else 0)
        if place >= 0:
            wanted = whole[: place + plan.digits]
        beginnings.append(begin_document(model, tokens, prompt, wanted))
    return sum(answer.is_verbatim for answer in continued(model, beginnings))


def _mac(key: bytes, *numbers: int) -> bytes:
    return hmac.digest(key, " ".join(map(str, numbers)).encode(), "sha512")


def to_plant(planted: Sequence[PlantedCanary], key: bytes) -> str:
    """Return the documents to plant, one a line, copies among each other in the key's order."""
    places = [
        (number, copy) for number, canary in enumerate(planted) for copy in range(canary.copies)
    ]
    places.sort(key=lambda place: _mac(key, *place))
    return "".join(f"{planted[number].text()}\n" for number, _ in places)


def canary_table(planted: Sequence[PlantedCanary]) -> str:
    """Return the table that an audit reads (`read_canaries`), as CSV."""
    rows = ([canary.copies, canary.template, canary.secret] for canary in planted)
    return csv_text([COLUMNS, *rows], exact=True)


def read_canaries(path: Path | str) -> tuple[PlantedCanary, ...]:
    """Read the canaries that `canary_table` wrote.

    InputError: It is no such table; names the line.
    """
    path = Path(path)
    header, *lines = csv_rows(path, largest=_LARGEST, what="a table of canaries") or [[]]
    if header != COLUMNS or not lines:
        raise InputError(
            f"{path} is no table of canaries, as `narcissus canaries write` makes it: it must "
            f"begin with the line {','.join(COLUMNS)}, and hold a canary a line"
        )
    canaries: list[PlantedCanary] = []
    for number, line in enumerate(lines, start=2):
        copies, text, secret = map(unmarked, line) if len(line) == len(COLUMNS) else ("", "", "")
        digits = len(canaries[0].secret if canaries else secret)
        is_secret = secret.isascii() and secret.isdigit() and 1 <= len(secret) == digits <= 100
        is_count = copies.isascii() and copies.isdigit() and 1 <= int(copies[:9]) <= MOST_COPIES
        before, place, _ = text.partition(SECRET)
        if not (is_secret and is_count and place and before.strip()):
            raise InputError(
                f"{path}: line {number} must hold how often a canary was planted, its text with "
                f"{SECRET} in it, and its secret, as many digits as the first: got "
                f"{cell(','.join(line)[:80])}"
            )
        canaries.append(PlantedCanary(text, secret, int(copies)))
    if len({canary.text() for canary in canaries}) < len(canaries):
        raise InputError(f"{path} holds a canary twice: raise its copies instead")
    return tuple(canaries)


def require_planted(
    planted: Sequence[PlantedCanary], name: str, text: bytes, *, trained: bool
) -> None:
    """Refuse canaries that do not appear in a text as often as they should.

    name, text: of the file, and all that is in it.
    trained: whether a model was trained on it; otherwise it must hold none.
    Raises InputError: a canary appears there too rarely or too often; names the first.
    """
    counts = eidetic_counts([canary.text() for canary in planted], text).occurrences
    wanted = np.array([canary.copies * trained for canary in planted])
    if not (wrong := np.flatnonzero(counts != wanted)).size:
        return
    first = int(wrong[0])
    why = (
        "was the model trained on this text, with the canaries in it? Where repeated documents "
        "were dropped, plant the canaries afterwards"
        if trained
        else "take the canaries out: documents that the model never saw are to be free of them"
    )
    raise InputError(
        f"{len(wrong):,} of {len(planted):,} canaries do not appear in {name} as often as they "
        f"should: canary {first + 1} appears there {counts[first]:,} times, not {wanted[first]:,}; "
        f"{why}"
    )
