"""Known rows: how surprising the last one still is."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.knowledge import Candidates, KnownRows
from narcissus.worlds import Bits, Draw, Tardos


def test_surprisal_of_the_last_row_counts_unless_it_repeats_another(within):
    """Additions B: at share 1 the last row counts unless it repeats a known one, 1 - (2/3)^d."""
    for d, rate in ((2, 0.5556), (3, 0.7037)):
        world, rng, side = Tardos(5, d, 2), np.random.default_rng(7), KnownRows(1)
        draw = world.draw(30_000, rng)
        last = np.full(30_000, 1)
        told = side.surprisal(world, draw, draw.data[:, :1], last)
        counted = told >= world.surprisal(draw, last) - 1e-9
        repeats = (draw.data[:, 0] == draw.data[:, 1]).all(axis=1)
        assert (counted == ~repeats).all()
        assert rate == pytest.approx(1 - (2 / 3) ** d, abs=1e-4)
        assert within(int(counted.sum()), 30_000, 1 - (2 / 3) ** d)


def test_surprisal_of_long_rows_does_not_underflow():
    """At d = 5,000 the chances are far below the smallest float; one bit is left of a candidate."""
    world, rng, side = Tardos(2000, 5000, 20), np.random.default_rng(8), Candidates()
    draw = world.draw(40, rng)
    known = side.reveal(world, draw, rng)
    named = (draw.data[:, :, None] == known[:, None]).all(axis=3)
    only = np.flatnonzero(named.any(axis=1).sum(axis=1) == 1)
    assert len(only) > 30
    for trial in only:
        index = np.array([int(named[trial].any(axis=1).argmax())])
        some, pair = draw.take(np.array([trial])), known[[trial]]
        assert side.surprisal(world, some, pair, index) == pytest.approx(1.0)
        assert side.surprisal(world, some, pair, (index + 1) % 20)[0] > 1000


def test_a_world_that_draws_in_its_own_way_says_how_rows_are_kept():
    """All bits are one coin: whoever knows the first knows all, which `Bits` does not know."""

    class OneCoin(Bits):
        def draw(self, trials, rng):
            return Draw(np.repeat(rng.integers(0, 2, (trials, 1)), self.n, axis=1))

    class Kept(OneCoin):
        def fresh_given_rows(self, draw, rows, rng):
            return draw.data

    class Named(Bits):
        pass

    with pytest.raises(InputError, match=r"OneCoin draws in its own way, .*`fresh_given_rows"):
        KnownRows(1).check(OneCoin(3))
    for world in (Kept(3), Named(3), Bits(3)):
        KnownRows(1).check(world)
