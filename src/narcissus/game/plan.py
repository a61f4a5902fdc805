"""The blocks of a run, of a size that depends on the game alone, each with its generators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus._random import child
from narcissus.attacks.base import Preparable
from narcissus.errors import InputError
from narcissus.game.asking import guarded
from narcissus.game.block import Arrays, Measure, Seat, Sources, Streams, play_block
from narcissus.game.rules import Game, is_own
from narcissus.mechanisms.base import is_interactive

_BLOCK_BYTES = 32_000_000
_FIRST_BLOCK, _LARGEST_BLOCK = 500, 10_000


def seats_of(game: Game, attacks: Mapping[str, Any] | Any) -> list[Seat]:
    """Return each distribution of the world, with the attacks prepared for it."""
    named: dict[str, Any] = dict(attacks) if isinstance(attacks, Mapping) else {"attack": attacks}
    if not named:
        raise InputError("a game needs at least one attack to be played")
    seats = [
        Seat(
            name,
            member,
            {
                title: attack.prepare(member) if isinstance(attack, Preparable) else attack
                for title, attack in named.items()
            },
        )
        for name, member in game.members().items()
    ]
    for seat in seats:
        for title, attack in seat.attacks.items():
            _fits(seat.game.mechanism, title, attack)
    return seats


def _fits(mechanism: Any, title: str, attack: Any) -> None:
    """Refuse an attack that reads releases where the mechanism is interactive, and the contrary."""
    talks = is_interactive(mechanism)
    if not hasattr(attack, "converse" if talks else "attempt"):
        what, how = type(mechanism).__name__, type(attack).__name__
        raise InputError(
            f"the attack {title} reads a release, and the mechanism {what} is talked with: take an "
            f"attack that asks (`{how}` would need a method `converse(conversation, known, rng)`)"
            if talks
            else f"the attack {title} asks questions, and the mechanism {what} answers none: take "
            "a mechanism that is talked with, or an attack that reads releases"
        )


@dataclass(frozen=True)
class Planned:
    """A block to play: its number, its size, and the place of its seat."""

    number: int
    size: int
    place: int
    key: str


def plan(seats: Sequence[Seat], trials: int) -> list[Planned]:
    """Share the trials among the seats, and take their blocks in turn."""
    shares = [max(1, (trials + place) // len(seats)) for place in range(len(seats))][::-1]
    blocks: list[Planned] = []
    for place, seat in enumerate(seats):
        for number, size in enumerate(_sizes(seat, shares[place])):
            # The size stands in the key: a longer run may cut its last block elsewhere.
            key = f"batch/{number}/{size}" + (f"/{place}" if len(seats) > 1 else "")
            blocks.append(Planned(number, size, place, key))
    return sorted(blocks, key=lambda block: (block.number, block.place))


def _sizes(seat: Seat, trials: int) -> Iterator[int]:
    """Yield block sizes such that a block's data are about 32 MB, on every machine."""
    game = seat.game
    rng = np.random.default_rng(0)
    sample = guarded("world", game.world, lambda: game.world.draw(1, rng))
    entry = sample.data[0]
    size = entry.nbytes if isinstance(entry, np.ndarray | np.generic) else 1_000
    told = None if game.side is None else game.side.reveal(game.world, sample, rng)
    # Both may be much larger than the data: a whole population.
    size += sum(part.nbytes for part in (sample.nature, told) if isinstance(part, np.ndarray))
    block = max(1, min(_LARGEST_BLOCK, _BLOCK_BYTES // max(size, 1)))
    # The first blocks are small, so that a plain violation is seen at once.
    done, now = 0, min(block, _FIRST_BLOCK)
    if _slow(seat):
        block = now  # an interrupted run loses the blocks in flight
    while done < trials:
        count = min(now, trials - done)
        yield count
        done += count
        now = min(block, now * 4)


def _slow(seat: Seat) -> bool:
    """Check whether a trial may take long: parts of the user's own, or a conversation."""
    game = seat.game
    parts = [game.world, game.mechanism, game.relation, game.side, game.looser]
    return is_interactive(game.mechanism) or is_own([*parts, *seat.attacks.values()])


@dataclass(frozen=True)
class OneStream:
    """One generator for all of a block, and a separate one for each attack."""

    entropy: int
    alone: bool = True
    """Whether there is one seat only; several have a seed each."""

    def __call__(self, number: int, place: int) -> Sources:
        entropy = self.entropy
        if not self.alone:
            entropy = int(child(entropy, 0, 0, place).integers(2**63))
        rng = child(entropy, 0, number)
        return Sources(rng, rng, lambda turn, name: child(entropy, 1 + turn, number))


@dataclass(frozen=True)
class BlockPlayer:
    """A player of blocks by key, ``batch/NUMBER/SIZE`` and ``/PLACE`` where seats are several.

    The result depends on the key alone; ``measure`` chooses what is returned.
    """

    seats: Sequence[Seat]
    streams: Streams
    fresh: int
    measure: Measure

    def __call__(self, key: str) -> Arrays:
        number, size, place, *_ = map(int, f"{key}/0".split("/")[1:])  # a missing place is 0
        seat, streams = self.seats[place], self.streams
        return self.measure(
            play_block(seat, number, place, size=size, streams=streams, fresh=self.fresh)
        )
