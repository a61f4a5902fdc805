"""What a kind of side information offers, and how it splits a world that is written out."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.worlds.base import Array, Batch, Draw, Enumeration, World
from narcissus.worlds.batches import key_of


class Knowledge(Protocol):
    """What the attacker is told: ``K``, which may depend on ``Nature``, the data set and coins."""

    def check(self, world: World) -> None:
        """Refuse a world in which this cannot be told or conditioned on."""
        ...

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> Batch:
        """Return the attacker about each trial."""
        ...

    def fresh(self, world: World, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets from the trials' own ``Nature`` given what was told."""
        ...


@runtime_checkable
class KeepsSurprisal(Protocol):
    """Knowledge that says how surprising a row still is to who has it."""

    def surprisal(self, world: Any, draw: Draw, known: Batch, index: Array) -> NDArray[np.float64]:
        """Return ``h(x | K, the other rows)`` of row ``index`` of each trial, in bits."""
        ...


@runtime_checkable
class MoreKnowledge(Protocol):
    """What one attacker is told besides what the game tells everybody."""

    def add(self, draw: Draw, known: Batch) -> Batch:
        """Return what the game told about each trial, with what is told besides."""
        ...


def no_world(kind: str, world: World, works: str) -> InputError:
    """State that a kind of side information does not fit a world."""
    return InputError(
        f"side information `{kind}` is not defined for the world {type(world).__name__}; "
        f"it works for {works}"
    )


def refine(enumeration: Enumeration, side: Any) -> Enumeration:
    """Split every ``Nature`` by what the attacker is told.

    Side information that says all of ``Nature`` has an attribute ``whole``; a function of the data
    set alone has a method ``label``.

    Raises
    ------
    InputError
        The kind of side information cannot be written out.
    """
    if side is None:
        return enumeration
    if getattr(side, "whole", False):
        count = len(enumeration.weight)
        return Enumeration(
            enumeration.data,
            enumeration.weight,
            enumeration.sample,
            enumeration.fresh,
            np.arange(count),
            list(np.arange(count)),
        )
    if not hasattr(side, "label"):
        raise InputError(
            f"the side information {type(side).__name__} cannot be written out for an exact "
            "answer; play the study instead"
        )
    told = side.label(enumeration)
    keys = [key_of(entry) for entry in told]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    group = np.asarray([numbers[key] for key in keys])
    labels = [told[keys.index(key)] for key in numbers]
    weight: list[float] = []
    sample: list[Array] = []
    fresh: list[Array] = []
    known: list[int] = []
    for nature, chance in enumerate(enumeration.weight):
        for number in range(len(numbers)):
            mask = group == number
            inside = enumeration.sample[nature] * mask
            total = inside.sum()
            if chance * total <= 0:
                continue
            other = enumeration.fresh[nature] * mask
            if other.sum() <= 0:
                raise InputError("side information contradicts every fresh data set")
            weight.append(chance * total)
            sample.append(inside / total)
            fresh.append(other / other.sum())
            known.append(number)
    return Enumeration(
        enumeration.data,
        np.asarray(weight),
        np.asarray(sample),
        np.asarray(fresh),
        np.asarray(known),
        labels,
    )
