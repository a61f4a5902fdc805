"""A game: its parts, and the check that they fit each other."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from narcissus._validation import between
from narcissus.errors import InputError
from narcissus.knowledge.base import KeepsSurprisal, Surprisals, is_listed, listed
from narcissus.success.relations.base import Targeted, matched
from narcissus.success.statements import KeptSurprisal
from narcissus.worlds.base import HasSurprisal, members


def is_own(part: Any) -> bool:
    """Check whether a part of a game was written by the user, or holds one that was."""
    if part is None or isinstance(part, str | int | float | dict | np.generic | np.ndarray):
        return False
    if isinstance(part, list | tuple):
        return any(is_own(member) for member in part)  # pyright: ignore[reportUnknownVariableType]
    if not type(part).__module__.startswith("narcissus."):
        return True
    return is_dataclass(part) and any(is_own(getattr(part, member.name)) for member in fields(part))


@dataclass(frozen=True)
class Game:
    """The world, the release, the criterion of success, and the attacker's side information.

    world: A `narcissus.worlds.World`, or any object with its methods; or a family of them (with
        ``members``), each of which is played and judged by itself.
    mechanism: A `narcissus.mechanisms.Mechanism`; with ``interactive = True`` the attacker
        converses with it (`narcissus.mechanisms.base.Interactive`).
    relation: When an attempt counts.
    side: Side information; None tells nothing.
    looser: The relation for fresh data sets, where it differs (two criteria).
    surprisal: The share ``xi`` of its surprisal that a recovered row must keep once ``K`` is known,
        or a `narcissus.success.KeptSurprisal`, which can require more; None requires none. Needs
        side information and a relation with ``matches`` (a targeted one).
    """

    world: Any
    mechanism: Any
    relation: Any
    side: Any = None
    looser: Any = None
    surprisal: float | KeptSurprisal | None = None

    def __post_init__(self) -> None:
        for world in members(self.world).values():
            self._check(world)

    @property
    def kept(self) -> KeptSurprisal | None:
        """The surprisal that a recovered row must keep; None for no condition."""
        return None if self.surprisal is None else KeptSurprisal.of(self.surprisal)

    def members(self) -> dict[str, Game]:
        """Return the game for each distribution of the world, by name; a single one has no name."""
        worlds = members(self.world)
        if "" in worlds:
            return {"": self}
        return {name: replace(self, world=world) for name, world in worlds.items()}

    def single(self, what: str) -> Game:
        """Return the game, which must be about one distribution.

        InputError: The world is a family.
        """
        games = self.members()
        if len(games) > 1:
            raise InputError(
                f"{what} is for one distribution, and the world is a family of {len(games)}: "
                "take one of its members (`game.members()`)"
            )
        return next(iter(games.values()))

    def _check(self, world: Any) -> None:
        if self.side is not None:
            self.side.check(world)
        if self.surprisal is not None:
            if not isinstance(self.surprisal, KeptSurprisal):
                between("surprisal", self.surprisal, 0, 1)
            _targeted(self.relation)
            if self.looser is not None and KeptSurprisal.of(self.surprisal).of_fresh is not None:
                _targeted(self.looser)
            if self.side is None:
                raise InputError(
                    "`surprisal` needs side information: where nothing is told, every row keeps "
                    "all of its surprisal"
                )
            if not (self._has_formula(world) or is_listed(world, self.side)):
                raise InputError(
                    f"surprisal is not known for the world {type(world).__name__} and the "
                    f"side information {type(self.side).__name__}; it is for `tardos` with "
                    "`rows`, `candidates`, `nature` or `rates`, and for worlds that can be listed "
                    "with `rows`, `nature`, `listed` or a function of the data set. Custom side "
                    "information must be a class that offers "
                    "`surprisal(world, draw, known, index)`"
                )

    def _has_formula(self, world: Any) -> bool:
        return isinstance(world, HasSurprisal) and isinstance(self.side, KeepsSurprisal)

    @cached_property
    def surprisals(self) -> Surprisals | None:
        """The surprisal of every row of the listed world; None where the world has a formula.

        InputError: the world has too many data sets.
        """
        if self._has_formula(self.world):
            return None
        rng = np.random.default_rng(0)
        return listed(self.world, self.side, self.rows_of(self.world.draw(1, rng).data))

    def rows_of(self, data: Any) -> int:
        """Count the rows of a data set, as the relation sees them."""
        batch = data[:1]
        return int(matched(self.relation, batch, self.relation.guesses(batch), 0).shape[1])


def _targeted(relation: Any) -> None:
    """Refuse a relation that does not report which row is recovered."""
    if not (isinstance(relation, Targeted) and relation.targeted):
        raise InputError(
            "`surprisal` needs a targeted relation, one about a single row: `member`, `hamming`, "
            "or a custom class with `targeted = True` and `matches(data, attempt)`, which "
            "says of each row whether it is recovered"
        )
