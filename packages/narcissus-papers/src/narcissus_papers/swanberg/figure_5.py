"""Figure 5 of Swanberg et al. 2025: SCHL and ALS Unit over the privacy level.

Source: Swanberg et al. 2025, Figure 5.
"""

from __future__ import annotations

from functools import partial
from math import inf

from narcissus_papers.base import Given, Item, Panel, Quote, Reproduced
from narcissus_papers.swanberg.tables import (
    ACS,
    BELOW,
    BOUNDS,
    FIRE,
    OTHER_DATA,
    SOURCES,
    attacked,
    claim,
    kept_below,
    lines,
)

EPSILONS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, inf)
TRIALS = 16
COLUMNS = {"acs": "SCHL", "fire": "ALS Unit"}

PIECES = {
    f"{source}/{epsilon:g}": partial(
        attacked, source=source, unknown=(name,), epsilon=epsilon, trials=TRIALS
    )
    for source, name in COLUMNS.items()
    for epsilon in EPSILONS
}


def make(given: Given) -> Reproduced:
    """Draw both columns; without noise the paper's attack recovers all."""
    answers = given.answers
    rises, all_of = True, {}
    for source in COLUMNS:
        shares = [answers[f"{source}/{e:g}"]["posterior"] for e in EPSILONS]
        low, high = [s["low"] for s in shares], [s["high"] for s in shares]
        rises &= all(high[later] >= low[e] for e in range(len(low)) for later in range(e, len(low)))
        all_of[source] = answers[f"{source}/inf"]["rap"]["share"]
    missed = ", ".join(
        f"{100 * share:.1f} of 100 of {COLUMNS[source]}" for source, share in all_of.items()
    )
    names = [f"{e:g}" for e in EPSILONS]
    return Reproduced(
        panels=tuple(
            Panel(
                f"{SOURCES[source].title}, {name}",
                "epsilon",
                "of 100 people reconstructed",
                lines(range(len(names)), [answers[f"{source}/{n}"] for n in names]),
                names=names,
            )
            for source, name in COLUMNS.items()
        ),
        held=(
            claim("the more epsilon, the more the posterior recovers, within limits", rises),
            claim(
                "without noise the paper's attack recovers everybody",
                min(all_of.values()) >= 1.0 - 1e-9,
                f"{missed}: people who are alike in all known columns can change places without "
                "changing a count, so nothing tells them apart",
                Quote("", "completely reconstructs the target columns of all", "section 6.2"),
            ),
            kept_below(answers),
        ),
        notes=(
            OTHER_DATA,
            BOUNDS,
            BELOW,
            f"Means of {TRIALS} releases of 100 people each; the paper's grid of epsilon is not "
            "printed, ours is .1 to 10 and no noise.",
        ),
    )


FIGURE_5 = Item(
    "001", "figure", "5", "One unknown column over epsilon", 110.0, make,
    pieces=PIECES, needs=(ACS.needed, FIRE.needed),
)  # fmt: skip
