"""Figure 7 of Swanberg et al. 2025: guesses that may be off by some values, at epsilon 1.

Source: Swanberg et al. 2025, Figure 7.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from narcissus_papers.base import Given, Item, Panel, Printed, Quote, Reproduced
from narcissus_papers.swanberg.tables import (
    ACS,
    BELOW,
    BOUNDS,
    FIRE,
    LEVELS,
    OTHER,
    OTHER_DATA,
    SOURCES,
    attacked,
    claim,
    kept_below,
    lines,
)

EPSILON = 1.0
TRIALS = 10
COLUMNS = {"acs": "AGEP", "fire": "Zipcode of Incident"}
DISTANCES = {
    "acs": (0, 1, 2, 3, 4, 5, 6, 7),
    "fire": (0, 1, 2, 3, 5, 7, 10, 13, 16, 20, 25),
}

_AGEP = "we successfully reconstruct ... 81/100 ... which matches our upper bound of 82"
_BETTER = Quote("", "our attack consistently performs better than the prior", "section 6.4")
ATTACK, BOUND = (Quote(number, _AGEP, "section 6.4") for number in ("81", "82"))

PIECES = {
    f"{source}/{distance}": partial(
        attacked,
        source=source,
        unknown=(COLUMNS[source],),
        epsilon=EPSILON,
        trials=TRIALS,
        within=float(distance),
    )
    for source, distances in DISTANCES.items()
    for distance in distances
}


def make(given: Given) -> Reproduced:
    """Draw both columns over the distance."""
    answers = given.answers
    one = answers["acs/1"]
    rises = all(
        answers[f"{source}/{a}"]["guess"]["share"] <= answers[f"{source}/{b}"]["guess"]["share"]
        for source, distances in DISTANCES.items()
        for a, b in pairwise(distances)
    )

    def behind(attack: str, baseline: str) -> list[str]:
        return [k for k, found in answers.items() if found[attack]["high"] < found[baseline]["low"]]

    named = {name: behind(name, "likeliest") for name in ("short", "rap")}
    covering = {name: behind(name, "guess") for name in ("short", "rap")}
    return Reproduced(
        panels=tuple(
            Panel(
                f"{SOURCES[source].title}, {name}",
                "distance allowed, in values of the column",
                "of 100 people reconstructed",
                lines(distances, [answers[f"{source}/{d}"] for d in distances]),
            )
            for source, name in COLUMNS.items()
            for distances in [DISTANCES[source]]
        ),
        printed=(
            Printed(
                "AGEP within 1, the paper's attack (100 small steps)", ATTACK,
                100 * one["short"]["share"],
                f"told all other secrets an attacker gets {100 * one['ceiling']['share']:.1f} on "
                f"average, the best guess without the release {100 * one['guess']['share']:.1f}, "
                f"its likeliest value {100 * one['likeliest']['share']:.1f}: {OTHER}",
            ),
            Printed(
                "AGEP within 1, the bound at 5%", BOUND,
                100 * one["published"][f"{LEVELS[0]:g}"], OTHER,
            ),
        ),
        held=(
            claim("the more is allowed, the more the prior gets", rises),
            claim(
                "the paper's attack performs better than the prior at every distance: with 100 "
                "steps of .01 it is nowhere shown to be below the likeliest value",
                not named["short"], f"it is at {', '.join(named['short'])}", _BETTER,
            ),
            claim(
                "the same with 1,000 steps of .1", not named["rap"],
                f"it is below the likeliest value beyond limits at {len(named['rap'])} of "
                f"{len(answers)} distances: it fits the noise",
                _BETTER,
            ),
            kept_below(answers),
        ),
        notes=(
            OTHER_DATA,
            "Distances are counted in values: decades of AGEP (eight, ten in the paper), codes "
            "of the zip code (28 here, 26 in the paper) in the order of our coding.",
            "Two guesses without the release: the likeliest value, which the paper's prior seems "
            "to be, and the value that covers most, which is better. RAP names the likeliest value "
            "of its fit, and is compared with the first. Below what covers most it is, beyond "
            f"limits, at {len(covering['short'])} (small steps) and {len(covering['rap'])} of "
            f"{len(answers)} distances.",
            BOUNDS,
            BELOW,
            f"Means of {TRIALS} releases of 100 people each.",
        ),
    )  # fmt: skip


FIGURE_7 = Item(
    "001", "figure", "7", "One unknown column within a distance, at epsilon 1", 190.0, make,
    pieces=PIECES, needs=(ACS.needed, FIRE.needed),
)  # fmt: skip
