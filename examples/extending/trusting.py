"""A table attack that learns from simulated releases."""

from dataclasses import dataclass, replace
from typing import Annotated

from narcissus._options import FilledIn
from narcissus._validation import integer
from narcissus.attacks.table import View
from narcissus.attacks.table.nearest import votes_of


@dataclass(frozen=True)
class Trusting:
    """Mix the prior with the values of the nearest rows, as it has proved best.

    Parameters
    ----------
    choices
        How many degrees of trust are tried, at least 1.
    """

    choices: int = 5
    trust: Annotated[float, FilledIn()] = 0.0
    title = "the prior and the nearest rows, mixed as learned"
    uses = "prior and release"
    informed = False

    def __post_init__(self):
        integer("choices", self.choices, low=1)

    def train(self, simulated, rng):
        def right(attack):
            return sum(
                one.targets.success.score(
                    one.secrets, attack.guess(View(one.targets, None, one.release), rng=rng)
                ).sum()
                for one in simulated
            )

        tried = [replace(self, trust=(i + 1) / self.choices) for i in range(self.choices)]
        return max([self, *tried], key=right)

    def guess(self, view, *, rng):
        votes = votes_of(view.targets, view.release.rows).nearest
        shares = votes / votes.sum(axis=1, keepdims=True)
        beliefs = (1 - self.trust) * view.targets.prior + self.trust * shares
        return view.targets.success.decide(beliefs)
