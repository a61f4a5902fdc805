"""Canaries in a training text: random secrets, planted a known number of times.

To a model that never saw a canary its digits are fair coins, so the true secret's rank among
alternatives is uniform. This baseline is exact.

Source: exposure after Carlini et al. 2019; the exact baseline is Narcissus theory 1 with a known
prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import fraction, integer
from narcissus.errors import InputError
from narcissus.extraction.documents import TextDocument
from narcissus.extraction.ngram import Generator
from narcissus.extraction.recovered import Completes, continued

IntArray = NDArray[np.int64]
NUMBER, SECRET = "{number}", "{secret}"


@dataclass(frozen=True)
class CanaryPlan:
    """Canaries to plant.

    Parameters
    ----------
    each
        Canaries for each number of copies.
    copies
        Numbers of copies in the training text.
    digits
        Digits of a secret.
    text
        The document around it, with ``{number}`` of the canary and its ``{secret}``.
    """

    each: int = 20
    copies: tuple[int, ...] = (1, 4, 16)
    digits: int = 8
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
        seen, rate = (
            (self.completed, self.guess_completed) if completed else (self.named, self.guess)
        )
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

    Parameters
    ----------
    model
        The model.
    planted, plan
        The canaries, and how they were drawn.
    alternatives
        Other secrets for each comparison.
    completes
        The model again if it can continue a prompt; None skips completion.
    rng
        Draws the other secrets.

    Returns
    -------
    tuple
        One result for each number of copies.
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
    """Count the canaries whose secret the model continues after the preceding text."""
    prompts: list[Sequence[int]] = []
    wanted: list[str] = []
    for one in alike:
        prompt, whole = _before_secret(model, one, plan), model.decode(model.encode(one.text()))
        place = whole.find(one.secret, len(model.decode(prompt)))
        if place >= 0:  # else its tokens do not tell it
            prompts.append(prompt)
            wanted.append(whole[: place + plan.digits])
    return int(continued(model, prompts, wanted).sum())


def _before_secret(model: Completes, one: PlantedCanary, plan: CanaryPlan) -> Sequence[int]:
    """Return the tokens before a secret that are the same for every first digit.

    The true text's tokens would not do: where the last one ends may depend on the secret.
    """
    known = model.encode(one.template.partition(SECRET)[0])
    others = [model.encode(one.text(digit * plan.digits)) for digit in "0123456789"]
    columns = zip(known, *others, strict=False)
    return [column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns)]
