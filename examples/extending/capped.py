"""A statement about success in a game."""

from dataclasses import dataclass
from typing import ClassVar

from narcissus._validation import fraction
from narcissus.errors import InputError
from narcissus.success import Claim
from narcissus.success.statements import Test


@dataclass(frozen=True)
class Capped(Claim):
    """Success is at most a chance, whatever the attacker could do without the release.

    Parameters
    ----------
    delta
        That chance, in (0, 1).
    """

    delta: float
    epsilon: ClassVar[float] = 0.0
    rule: ClassVar[str] = "mean"
    definition: ClassVar[str] = "Example 2026, Definition 1"

    def __post_init__(self):
        fraction("delta", self.delta)

    @classmethod
    def require(cls, game):
        if game.side is not None:
            raise InputError("the statement `capped` is about attackers who are told nothing")

    def tests(self, scores):
        return [Test(scores.success - self.delta, -self.delta)]

    def words(self):
        return f"success <= {self.delta:g}"
