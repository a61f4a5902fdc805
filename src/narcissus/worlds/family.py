"""Families of distributions: what is said must hold for each member, not on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from narcissus._options import OfRoom
from narcissus.errors import InputError
from narcissus.worlds.base import World, members

_LONG = 80


@dataclass(frozen=True)
class NamedFamily:
    """Several worlds by name, each a distribution of its own: a `Family` that was made, not listed.

    Parameters
    ----------
    parts
        The worlds by name, at least one.
    """

    parts: Mapping[str, World]

    def __post_init__(self) -> None:
        if not self.parts:
            raise InputError("a family must have at least one member")

    @property
    def members(self) -> dict[str, World]:
        """The distributions by name."""
        return dict(self.parts)


@dataclass(frozen=True)
class Family:
    """Several worlds, each a distribution of its own: the family F of a statement.

    Parameters
    ----------
    parts
        The worlds, at least one; a part that is a family itself adds its members.

    Notes
    -----
    Source: Cohen et al. 2024, Definition 1.6 ("for all D in F").

    Examples
    --------
    >>> from narcissus.worlds import Bits
    >>> list(Family([Bits(2, 0.1), Bits(2, 0.9)]).members)
    ['Bits(n=2, rate=0.1)', 'Bits(n=2, rate=0.9)']
    """

    parts: Sequence[Annotated[Any, OfRoom("world")]]

    def __post_init__(self) -> None:
        if not self.parts:
            raise InputError("`parts` must hold at least one world")

    @cached_property
    def members(self) -> dict[str, World]:
        """The distributions by name."""
        found: dict[str, World] = {}
        for place, part in enumerate(self.parts, start=1):
            for inner, world in members(part).items():
                name = inner or repr(world)
                if len(name) > _LONG:
                    name = f"{name[:_LONG]}..."
                # one that is named like another one is told apart by its place
                found[f"{name} (part {place})" if name in found else name] = world
        return found
