"""What is known at sizes that nobody plays: bounds by lemmas, and closed forms of success.

They hold at every size by themselves, so they are computed at larger values too; nothing that was
played is extended.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from narcissus.errors import NarcissusError
from narcissus.game import Game
from narcissus.knowledge import Candidates
from narcissus.mechanisms.average import ExactAverage, NoisyAverage
from narcissus.mechanisms.parity import Parity
from narcissus.profiles.closed_forms.candidates import candidates_success
from narcissus.profiles.closed_forms.parities import ParityRelease
from narcissus.profiles.proofs import from_lemmas
from narcissus.results import Grade
from narcissus.scale.curves import SizeCurve
from narcissus.scale.fit import Known
from narcissus.success.relations import Member
from narcissus.worlds import Tardos, Uniform

FURTHER = (2, 4, 8)
"""How many times the largest value that was played."""
LARGEST = 64
"""Most rows for which the closed form of parities takes little time."""
CANDIDATES: Mapping[str, Literal["raw", "centred"]] = {
    "two-candidates": "raw",
    "two-candidates-centred": "centred",
}

Name = tuple[str, str, bool]
"""Whose it is, what it limits or is, whether it is a closed form and no bound."""


def beyond(
    game_at: Callable[[float], Game], attacks: Sequence[str], values: Sequence[float]
) -> list[SizeCurve]:
    """Give closed forms at the values that were played, and they and lemmas at larger ones.

    Parameters
    ----------
    game_at
        Gives the game at a value; what it raises ends the way upwards.
    attacks
        Names of the attacks.
    values
        Those that were played, in rising order.

    Returns
    -------
    list
        Curves of the quantities "closed form" (at all values) and "bound" (at larger ones only:
        those that were played have it among their results). Empty where nothing is known.
    """
    points: dict[Name, list[tuple[Known, Grade]]] = {}
    for value in (*values, *(values[-1] * k for k in FURTHER)):
        try:
            game = game_at(value)
        except NarcissusError:
            break
        is_played = value <= values[-1]
        for name, number, grade in _known(game, attacks):
            if name[2] or not is_played:
                known = Known(value, number, number, number, exact=True)
                points.setdefault(name, []).append((known, grade))
    return [
        SizeCurve(
            whose,
            "closed form" if is_form else "bound",
            tuple(k for k, _ in found),
            found[0][1],
            limits,
        )
        for (whose, limits, is_form), found in points.items()
    ]


def _known(game: Game, attacks: Sequence[str]) -> Iterator[tuple[Name, float, Grade]]:
    """Yield what is known of one game: a name, a number, its grade."""
    lemma = from_lemmas(game)
    if lemma is not None:
        grade: Grade = "proved if" if lemma.assumptions else "proved"
        yield (lemma.theorem, "success", False), lemma.value, grade
    world, mechanism = game.world, game.mechanism
    if type(game.relation) is not Member or game.looser is not None:
        return
    is_plain = game.side is None and game.surprisal is None
    is_bits = isinstance(world, Uniform) and world.levels == 2 and world.n <= LARGEST
    if is_bits and is_plain and isinstance(mechanism, Parity):
        form = ParityRelease(world.n, world.d)
        yield ("any attacker, Example 1.3", "success", True), float(form.best_success), "proved"
    if (
        isinstance(world, Tardos)
        and isinstance(mechanism, ExactAverage | NoisyAverage)
        and isinstance(game.side, Candidates)
    ):
        noise = mechanism.epsilon if isinstance(mechanism, NoisyAverage) else math.inf
        both = world.n / world.N  # the second candidate is in the data as well
        for name, attack in CANDIDATES.items():
            if name in attacks:
                one = candidates_success(world.n, world.d, noise, attack)
                # rows of two people may be equal, which is not counted
                yield (name, "success", True), (1 - both) * one + both, "approximate"
