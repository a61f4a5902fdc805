"""Families of distributions: what is said must hold for each member, not on average."""

from __future__ import annotations

from collections.abc import Sequence
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
    names
        Their names, all different.
    parts
        The worlds, as many, at least one.
    """

    names: Sequence[str]
    parts: Sequence[World]

    def __post_init__(self) -> None:
        if not self.parts or not len(self.names) == len(set(self.names)) == len(self.parts):
            raise InputError(
                f"a family must have at least one member, and each its own name: got "
                f"{len(self.parts)} members and {len(set(self.names))} names"
            )

    @cached_property
    def members(self) -> dict[str, World]:
        """The distributions by name."""
        return dict(zip(self.names, self.parts, strict=True))


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
