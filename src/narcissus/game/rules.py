"""A game: its parts, and whether they fit each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from narcissus._validation import between
from narcissus.errors import InputError


@dataclass(frozen=True)
class Game:
    """Who the data is about, what is released, what counts, what the attacker is told.

    Parameters
    ----------
    world
        A `narcissus.priors.worlds.World`, or any object with its methods.
    mechanism
        A `narcissus.mechanisms.Mechanism`; one with ``interactive = True`` is talked with.
    relation
        When an attempt counts.
    side
        Side information; None tells nothing.
    looser
        The relation for fresh data sets, where it differs (two criteria).
    surprisal
        The share ``xi`` of its surprisal that a recovered row must keep once ``K`` is known; None
        asks for none. Needs side information and a relation with ``matches`` (a targeted one).
    """

    world: Any
    mechanism: Any
    relation: Any
    side: Any = None
    looser: Any = None
    surprisal: float | None = None

    def __post_init__(self) -> None:
        if self.side is not None:
            self.side.check(self.world)
        if self.surprisal is not None:
            between("surprisal", self.surprisal, 0, 1)
            if not getattr(self.relation, "targeted", False):
                raise InputError(
                    "`surprisal` needs a targeted relation, one about a single row: `member` or "
                    "`hamming`"
                )
            if self.side is None:
                raise InputError(
                    "`surprisal` needs side information: where nothing is told, every row keeps "
                    "all of its surprisal"
                )
            if not hasattr(self.world, "surprisal") or not hasattr(self.side, "surprisal"):
                raise InputError(
                    f"surprisal is not known for the world {type(self.world).__name__} and the "
                    f"side information {type(self.side).__name__}; it is for `tardos` with "
                    "`rows`, `candidates`, `nature` or `rates`"
                )
