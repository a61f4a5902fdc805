"""Speed of exact profiles: a million (data set, release) pairs, eleven epsilons.

Run with ``python benchmarks/game_profile.py``.
"""

from __future__ import annotations

import resource
import time

from narcissus import Game, profile
from narcissus.mechanisms import CountingQuery, ExactAverage, RandomizedResponse
from narcissus.success.relations import Member, Pinned, Prefix, RandomRow
from narcissus.worlds import Bits, Records


def timed(label: str, game: Game) -> None:
    start = time.perf_counter()
    result = profile(game)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{label}: {result.exact.pairs:,} pairs ({result.data_sets:,} x {result.releases:,}), "
        f"{result.guesses:,} guesses: {seconds:.2f} s (asked: 10 s), peak memory {memory:,.0f} MB; "
        f"delta(0) = {result.delta[0]:.6g}"
    )


def main() -> None:
    response = RandomizedResponse(1.0)
    timed("randomized response, one place", Game(Bits(10, 0.3), response, Pinned(1)))
    timed("randomized response, two places", Game(Bits(10, 0.3), response, Pinned(2)))
    timed("randomized response, whole data set", Game(Bits(10, 0.3), response, Prefix()))

    class Unlumped(CountingQuery):
        exchangeable = False

    timed("counting query, all 2^20 data sets", Game(Bits(20, 0.3), Unlumped(), Pinned(1)))
    timed(
        "counting query, up to order, n = 2,100", Game(Bits(2100, 0.01), CountingQuery(), Pinned(1))
    )
    records = Records(9, [0.4, 0.3, 0.2, 0.1])
    timed("average of nine records, membership", Game(records, ExactAverage(), RandomRow()))
    timed("average of nine records, a member", Game(records, ExactAverage(), Member()))


if __name__ == "__main__":
    main()
