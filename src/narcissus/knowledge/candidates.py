"""Two rows in random order, of which one is in the data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.knowledge.base import no_world
from narcissus.worlds.base import Array, Batch, Draw, World
from narcissus.worlds.tardos import Tardos, TardosNature, succession


@dataclass(frozen=True)
class Candidates:
    """Two rows in random order: one of the data set, one of the population (section 4.2).

    Both are drawn uniformly, so the second is in the data set too with probability ``n / N``, and
    they are one and the same person with probability ``1 / N``, as in the paper. The attacker is
    told bits, not people: that two people have equal rows is taken into account throughout.
    """

    def check(self, world: World) -> None:
        """Refuse all worlds but the Tardos prior."""
        if not isinstance(world, Tardos):
            raise no_world("candidates", world, "tardos")

    def reveal(self, world: Any, draw: Draw, rng: np.random.Generator) -> Array:
        """Return the two rows of each trial, shape (trials, 2, d)."""
        nature: TardosNature = draw.nature
        pair = np.empty((draw.trials, 2, world.d), dtype=np.uint8)
        for trial, population in enumerate(nature.populations):
            pair[trial, 0] = draw.data[trial, rng.integers(0, world.n)]
            place = rng.integers(0, world.N, 1)
            rates = nature.rates[trial]
            # Kept: the second row is in the population from now on.
            pair[trial, 1] = world.rows_at(population, rates, place, rng, keep=True)[0]
        swap = rng.random(draw.trials) < 0.5
        pair[swap] = pair[swap, ::-1]
        return pair

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Array:
        """Draw fresh samples of the same population that could have led to the same pair.

        With ``T_x`` and ``C_x`` copies of a row ``x`` in a sample and in the population, a sample
        leads to the pair ``a, b`` with probability proportional to ``T_a C_b + T_b C_a``. Both
        terms weigh the same, so: a fair coin chooses ``a`` or ``b``, one of the people with that
        row is in, and ``n - 1`` of all others.
        """
        nature: TardosNature = draw.nature
        result = np.empty((draw.trials, world.n, world.d), dtype=np.uint8)
        coins = rng.integers(0, 2, draw.trials)
        for trial, population in enumerate(nature.populations):
            row, rates = known[trial, coins[trial]], nature.rates[trial]
            # People who were not looked at may have that row as well.
            unseen = world.N - len(population.seen)
            chance = float(np.where(row == 1, rates, 1 - rates).prod())
            copies = int(rng.binomial(unseen, chance)) if unseen else 0
            seen = np.concatenate([population.seen, np.repeat(row[None], copies, axis=0)])
            people = type(population)(seen, population.own)
            inside = int(rng.choice(np.flatnonzero((seen == row).all(axis=1))))
            others = rng.choice(world.N - 1, world.n - 1, replace=False)
            others += others >= inside
            rest = world.rows_at(people, rates, others, rng, unlike=row)
            result[trial] = rng.permutation(np.concatenate([row[None], rest]))
        return result

    def surprisal(self, world: Any, draw: Draw, known: Array, index: Array) -> NDArray[np.float64]:
        """Return ``h(x | K, the other rows)`` in bits.

        By Bayes' rule, ``P(x | K, others)`` is proportional to ``L(x | others) P(K | S)`` with
        ``S`` the others and ``x``, Laplace's rule ``L``, and for the pair ``a, b``

            P(K | S) ~ 2 S_a S_b + (N - n) (S_a L(b | S) + S_b L(a | S)),

        where ``S_a`` counts copies. All rows ``x`` but ``a`` and ``b`` have one weight times
        ``L``, and ``L`` is a martingale, so the sum over all rows has four terms.
        """
        trials, pair = np.arange(draw.trials), (known[:, 0], known[:, 1])
        row = draw.data[trials, index]
        ones = draw.data.sum(axis=1, dtype=np.int64) - row
        n, outside = world.n, _log(np.full(draw.trials, world.N - world.n))

        def chance(x: Array, *given: Array) -> NDArray[np.float64]:
            """Return ``L(x | others, given)``, as a logarithm."""
            before = ones + sum(given, np.zeros_like(ones))
            return succession(x[:, None], before, n - 1 + len(given))[:, 0]

        def weight(x: Array, a: Array, b: Array) -> NDArray[np.float64]:
            """Return ``L(x) P(K | others and x)`` for counts ``a`` and ``b`` of the pair."""
            terms = [
                1 + _log(a) + _log(b),
                outside + _log(a) + chance(pair[1], x),
                outside + _log(b) + chance(pair[0], x),
            ]
            return chance(x) + _sum(terms)

        same = np.stack([(row == one).all(axis=1) for one in pair])
        others = [
            (draw.data == one[:, None]).all(axis=2).sum(axis=1) - equal
            for one, equal in zip(pair, same, strict=True)
        ]
        twins = (pair[0] == pair[1]).all(axis=1)
        # What all rows would weigh together if none of them were a candidate ...
        terms = [
            1 + _log(others[0]) + _log(others[1]),
            outside + _log(others[0]) + chance(pair[1]),
            outside + _log(others[1]) + chance(pair[0]),
        ]
        # ... and what each of the candidates adds, once if they are equal.
        for place, one in enumerate(pair):
            own, other = others[place], others[1 - place]
            more = [
                # 2 (own + 1) (other + twins) - 2 own other, never below 0
                1 + _log(np.where(twins, own + other + 1, other)),
                outside + chance(pair[1 - place], one),
            ]
            more.append(np.where(twins, outside + chance(one, one), -np.inf))
            added = chance(one) + _sum(more)
            terms.append(np.where(twins & (place == 1), -np.inf, added))
        return _sum(terms) - weight(row, others[0] + same[0], others[1] + same[1])


def _log(count: Array) -> NDArray[np.float64]:
    """Return logarithms (base 2) of counts, minus infinity for 0."""
    with np.errstate(divide="ignore"):
        return np.log2(np.asarray(count, dtype=np.float64))


def _sum(terms: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Add numbers that are given by their logarithms (base 2)."""
    return np.logaddexp2.reduce(np.stack(terms), axis=0)
