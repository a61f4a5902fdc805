"""Graded statements, the weakest of them, and contradictions between any two.

A verdict has the weakest grade of the findings that it rests on. Before it is given, every pair of
findings about the same quantity is compared: a lower limit above an upper one refutes their
assumptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from narcissus._outwards import lower, upper
from narcissus.errors import InputError
from narcissus.results import GRADES, Grade, Result

# Rounding allowed before two numbers that should be equal contradict each other.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Finding(Result):
    """One graded statement: a quantity is at least ``low``, at most ``high``, or both.

    quantity: The quantity and the setting; findings of the same quantity are compared: ``"mean
        share recovered by the best attacker, epsilon = 1"``. The success of an attack is a lower
        limit of the success of the best attacker.
    source: Origin, in words that fit in a sentence: ``"the attack `posterior`"``.
    low, high: The limits; None where there is none on that side.
    kind: The grade of the numbers themselves.
    assumptions: Further conditions, each a noun phrase that can be refuted: ``"the fitted prior is
        right about these people"``. Empty for a theorem about the game itself.
    confidence: Level of estimated limits; it must hold for all findings compared at the same time.
    """

    quantity: str
    source: str
    low: float | None = None
    high: float | None = None
    kind: Grade = "proved"
    assumptions: tuple[str, ...] = ()
    confidence: float | None = None

    @property
    def grade(self) -> Grade:
        """The grade of the numbers; a theorem that assumes something is 'proved if'."""
        return "proved if" if self.kind == "proved" and self.assumptions else self.kind

    def __str__(self) -> str:
        parts = [f"at least {lower(self.low)}"] if self.low is not None else []
        parts += [f"at most {upper(self.high)}"] if self.high is not None else []
        text = f"{self.grade.upper()}: {self.quantity} {' and '.join(parts)}, by {self.source}"
        return "\n".join([text, *(f"  if {a}" for a in self.assumptions)])


@dataclass(frozen=True)
class Contradiction(Result):
    """Two findings that cannot both hold, and the assumptions that this refutes."""

    quantity: str
    above: Finding  # its lower limit lies above the upper one of `below`
    below: Finding
    refuted: tuple[str, ...]  # the assumptions of either, of which at least one is wrong

    @property
    def grade(self) -> Grade:
        """The weaker grade of the two."""
        return weakest([self.above.grade, self.below.grade])

    def __str__(self) -> str:
        assert self.above.low is not None
        assert self.below.high is not None
        pair = (
            f"{self.quantity}: at least {lower(100 * self.above.low, 4)}% by {self.above.source}, "
            f"but at most {upper(100 * self.below.high, 4)}% by {self.below.source}"
        )
        if self.refuted:
            return f"Refuted: that {' and that '.join(self.refuted)} ({pair})."
        level = self.above.confidence or self.below.confidence
        chance = "an error in this software"
        if level is not None:
            chance = f"a false alarm (chance at most {upper(1 - level, 2)}) or {chance}"
        return f"Two numbers contradict each other, {chance} ({pair})."


def weakest(grades: Iterable[Grade]) -> Grade:
    """Return the weakest of some grades; without any, 'not assessed'.

    >>> weakest(["proved", "sampled", "proved if"])
    'sampled'
    >>> weakest([])
    'not assessed'
    """
    grade_list = list(grades)
    for grade in grade_list:
        if grade not in GRADES:
            raise InputError(f"no such grade: {grade!r}; there are {', '.join(GRADES)}")
    return GRADES[max((GRADES.index(grade) for grade in grade_list), default=len(GRADES) - 1)]


def contradictions(findings: Sequence[Finding]) -> list[Contradiction]:
    """Compare every pair of findings about the same quantity; the widest gap comes first.

    >>> bound = Finding("share", "a theorem", high=0.5, assumptions=("the prior is right",))
    >>> attack = Finding("share", "an attack", low=0.9, kind="sampled", confidence=0.95)
    >>> contradictions([bound, attack])[0].refuted
    ('the prior is right',)
    """
    clashes: list[tuple[float, Contradiction]] = []
    for finding, other in combinations(findings, 2):
        if finding.quantity != other.quantity:
            continue
        for above, below in ((finding, other), (other, finding)):
            if above.low is None or below.high is None or above.low <= below.high + TOLERANCE:
                continue
            refuted = tuple(dict.fromkeys([*below.assumptions, *above.assumptions]))
            gap = above.low - below.high
            clashes.append((gap, Contradiction(finding.quantity, above, below, refuted)))
    return [c for _, c in sorted(clashes, key=lambda pair: -pair[0])]
