"""Sections 1.2, 3 and D of Cohen et al. 2024: extraction, in a language where all is computable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from narcissus.extraction import self_extracting
from narcissus.game import Game
from narcissus.mechanisms import through_channel
from narcissus.profiles import write_out
from narcissus.worlds import Finite
from narcissus_papers.base import Given, Reproduced, Statements, claims
from narcissus_papers.cohen.cases import (
    EPSILONS,
    EXTRACT,
    ROOM,
    Matrix,
    checked,
    proved,
    rates_of,
)
from narcissus_papers.cohen.language import (
    LENGTH,
    NEEDED,
    PROGRAMS,
    SIZES,
    STRINGS,
    ball,
    outputs,
    shortest,
    table,
)

RADIUS = 1
"""Places in which an extraction may differ; relations with 0 and this many are looked at."""

RELEASES = {
    "the string": lambda x: x,
    "its first half": lambda x: x[: LENGTH // 2],
    "its first half turned round": lambda x: x[: LENGTH // 2][::-1],
    "nothing": lambda x: "",
}
"""Mechanisms, by what they release of a string."""


@cache
def complexity(string: str, radius: int, given: str = "") -> int:
    return shortest(ball(string, radius), given)


@cache
def hits(given: str, radius: int) -> Matrix:
    """Compute the chance that each program extracts each string, from an input."""
    bits = np.array([list(map(int, x)) for x in STRINGS])
    apart = (bits[:, None] != bits[None]).sum(axis=2)
    return table(given) @ (apart <= radius).astype(np.float64)


COMPLEXITY = Statements("003", 0.5)


@COMPLEXITY("Definition 1.10", "Extractable by some program: which is met by everything.", EXTRACT)
def definition_1_10(_given: Given) -> Reproduced:
    found = [
        outputs("0" + x, release(x)) == {x: 1.0} for x in STRINGS for release in RELEASES.values()
    ]
    repeated = b"34" * 1000
    program = self_extracting(repeated, "repeat") or repeated
    return claims(
        proved(
            "it is met by every string and model: a program may have the string by heart "
            f"({len(found)} pairs)",
            all(found),
        ),
        checked(
            f"a program shorter than the string is no remedy: {len(program)} bytes print "
            f"'34' 1,000 times, {len(repeated)} bytes, without a model ({program.decode()})",
            len(program) < 30 and b"'34'*1000" in program,
        ),
    )


@COMPLEXITY("Definition D.1", "Complexity with programs that succeed two times in three.", EXTRACT)
@COMPLEXITY("Definition 1.12", "Complexity: the length of the shortest program.", EXTRACT)
def definition_1_12(_given: Given) -> Reproduced:
    by_hand = {x: min(len(p) for p in PROGRAMS if outputs(p).get(x, 0) >= NEEDED) for x in STRINGS}
    sizes = [shortest([x]) for x in STRINGS]
    counts = [sum(k < size for k in sizes) for size in range(1, LENGTH + 2)]
    return claims(
        checked(
            f"the shortest of all {len(PROGRAMS)} programs is what is computed, {len(STRINGS)} "
            "strings",
            sizes == list(by_hand.values()),
        ),
        proved(
            "fewer than 2^k strings have a complexity below k, for every k",
            all(count < 2**size for size, count in enumerate(counts, start=1)),
        ),
        checked(
            f"complexities lie between {min(sizes)} (010101 has {by_hand['010101']}) and "
            f"{max(sizes)}, and no string needs more than itself and one bit",
            max(sizes) <= LENGTH + 1 and min(sizes) < max(sizes),
        ),
    )


@COMPLEXITY("Definition D.2", "Conditional complexity and mutual information.", EXTRACT)
def definition_d2(_given: Given) -> Reproduced:
    rows = [
        (complexity(x, 0), complexity(x, 0, release(x)), name)
        for x in STRINGS
        for name, release in RELEASES.items()
    ]
    return claims(
        proved(
            "0 <= K(x) - K(x | y) <= K(x): a program need not read its input",
            all(0 <= k - less <= k for k, less, _ in rows),
        ),
        checked(
            "the mutual information is 0 if nothing is released, and K(x) - 3 or 0 if the string "
            "is (a program of 3 bits copies)",
            all(k == less for k, less, name in rows if name == "nothing")
            and all(less == min(k, 3) for k, less, name in rows if name == "the string"),
        ),
    )


@COMPLEXITY("Definition D.3", "The same of a set of strings.", EXTRACT)
def definition_d3(_given: Given) -> Reproduced:
    single = {x: shortest([x]) for x in STRINGS}
    sets = [ball(x, radius) for x in STRINGS for radius in range(LENGTH + 1)]
    below = [shortest(s) <= min(single[x] for x in s) for s in sets]
    irregular = [x for x in STRINGS if single[x] >= 5]
    least = min(single[x] for x in irregular)
    return claims(
        proved(
            f"a set is no more complex than its simplest member: {len(sets)} balls",
            all(below),
        ),
        checked(
            "a set is as complex as its simplest member, as the note after the definition says",
            all(shortest(s) == min(single[x] for x in s) for s in [*sets, irregular]),
            f"fair coins hit one of the {len(irregular)} strings of complexity 5 or more with "
            f"chance {len(irregular)}/{len(STRINGS)}: a program of {shortest(irregular)} bits, "
            f"while each of them needs {least}; the note holds for programs without coins",
            words="Note that by definition, ... and these minimums are not necessarily realized",
            place="note after Definition D.3",
        ),
    )


@dataclass(frozen=True)
class Extractors:
    """All extractors of all strings from a mechanism's releases, for a relation."""

    radius: int

    def every(self) -> list[tuple[int, int, int]]:
        """Length of the program, complexity without and with the release, of each."""
        found: list[tuple[int, int, int]] = []
        for release in RELEASES.values():
            for k, x in enumerate(STRINGS):
                given = release(x)
                enough = hits(given, self.radius)[:, k] >= NEEDED - ROOM
                alone, less = complexity(x, self.radius), complexity(x, self.radius, given)
                found += [(int(size), alone, less) for size in SIZES[enough]]
        return found


@COMPLEXITY("Claim D.9", "An extractor shows extractable information.", EXTRACT)
@COMPLEXITY("Definition D.8", "An extractor of a quality.", EXTRACT)
@COMPLEXITY("Definition D.7", "Extractable information: K(R_S) - K(R_S | y).", EXTRACT)
@COMPLEXITY(
    "Definition 1.13", "Extraction: a program that is much shorter than the complexity.", EXTRACT
)
def extractors(_given: Given) -> Reproduced:
    rows = [one for radius in (0, RADIUS) for one in Extractors(radius).every()]
    good = [(size, alone, less) for size, alone, less in rows if size < alone]
    short, short_of = [], []
    for size, alone, less in good:
        quality = 1 - size / alone
        short.append(alone - less - quality / (1 - quality) * size)
        for q in (0.0, quality / 2, quality):  # an extractor of a quality is one of any lower
            short_of.append(alone - less - q / (1 - q) * size)
    best = min(good, key=lambda one: one[0] / one[1])
    return claims(
        proved(
            "Claim D.9: an extractor of quality q shows at least q / (1 - q) |A| bits of "
            f"extractable information: all {len(good)} extractors of {len(rows)} programs that "
            "succeed, four mechanisms, equality and one place off",
            min(short_of) >= -ROOM,
        ),
        checked(
            "the bound is reached: by programs no shorter one of which extracts",
            any(abs(room) <= ROOM for room in short),
        ),
        checked(
            f"the best quality is {1 - best[0] / best[1]:.3f}: {best[0]} bits copy what needs "
            f"{best[1]} without the release",
            best[0] == 3,
        ),
        checked(
            "nothing is extracted where nothing is released: with no input no program is shorter "
            "than the complexity",
            all(
                SIZES[hits("", radius)[:, k] >= NEEDED - ROOM].min() >= complexity(x, radius)
                for radius in (0, RADIUS)
                for k, x in enumerate(STRINGS)
            ),
        ),
    )


@dataclass(frozen=True)
class ShowsExtraction:
    """The relation ``R_ext``: a program is an extraction evidence of a string from a release.

    ``quality`` and ``radius`` are those asked of an extraction.
    """

    releases: tuple[str, ...]
    quality: float
    radius: int

    @property
    def holds_for(self) -> Matrix:
        """Whether each pair of release and program holds for each string; pairs by release."""
        sizes = np.array([complexity(x, self.radius) for x in STRINGS])
        short = SIZES[:, None] / sizes <= 1 - self.quality + ROOM
        tables = [(hits(y, self.radius) >= NEEDED - ROOM) & short for y in self.releases]
        return np.concatenate(tables).astype(np.float64)

    def holds(self, data: Any, attempt: Any, rng: np.random.Generator) -> Any:
        return self.holds_for[np.asarray(attempt), data[:, 0]] == 1

    def guesses(self, data: Any) -> Any:
        return np.flatnonzero(self.holds_for.any(axis=1))


def evidence_of(name: str, quality: float, radius: int) -> tuple[Game, ShowsExtraction, Matrix]:
    """Return a mechanism's game with R_ext, the relation, and chances of string and release."""
    release = RELEASES[name]
    every = tuple(sorted({release(x) for x in STRINGS}))
    relation = ShowsExtraction(every, quality, radius)
    rows = np.zeros((len(STRINGS), len(every)))
    rows[np.arange(len(STRINGS)), [every.index(release(x)) for x in STRINGS]] = 1
    world = Finite([[k] for k in range(len(STRINGS))])
    return Game(world, through_channel(rows.tolist()), relation), relation, rows / len(STRINGS)


@COMPLEXITY(
    "Lemma 3.2", "Resilience for R_ext prevents non-trivial extraction.", EXTRACT, seconds=1.0
)
def lemma_3_2(_given: Given) -> Reproduced:
    rng, above, reached, seeing = np.random.default_rng(3), [], [], []
    cases = [(name, 0.1, radius) for name in RELEASES for radius in (0, RADIUS)]
    for name, quality, radius in cases:
        game, relation, joint = evidence_of(name, quality, radius)
        uniform = np.full(len(STRINGS), 1 / len(STRINGS))
        holds, programs = relation.holds_for, len(PROGRAMS)
        if not holds.any():
            continue
        exact = write_out(game)
        for epsilon in EPSILONS:
            delta = exact.delta(epsilon)
            for _ in range(20):
                # an attacker of the lemma takes the release along: a program for each release
                attacker = tuple(
                    y * programs + int(rng.integers(programs)) for y in range(joint.shape[1])
                )
                success, shadow = rates_of(attacker, joint, holds, uniform)
                above.append(success - math.exp(epsilon) * shadow - delta)
            best = 0.0
            for y in range(joint.shape[1]):
                part = holds[y * programs : (y + 1) * programs]
                mass = joint[:, y]
                gains = part @ mass - math.exp(epsilon) * mass.sum() * (part @ uniform)
                best += max(0.0, float(gains.max()))
            reached.append((delta - best, name))
        knows = sum(
            joint[k, y] * holds[y * programs : (y + 1) * programs, k].max()
            for k in range(len(STRINGS))
            for y in range(joint.shape[1])
        )
        seeing.append(knows - exact.rates(-math.inf)[0])
    return claims(
        proved(
            "no attacker who sees the release alone makes evidence of the data more often than "
            "e^eps times its evidence of shadow data, and delta: "
            f"{len(above)} attackers of four mechanisms, equality and one place off, quality .1",
            max(above) <= ROOM,
        ),
        proved(
            f"nor does the best attacker, found program by program: {len(reached)} profiles",
            min(room for room, _ in reached) >= -ROOM,
        ),
        checked(
            "R_ext asks for more than the lemma needs: its attempts are pairs (y, A), and an "
            "attacker may name another y than the release, which then carries what a program "
            f"would have to: by {max(reached)[0]:.3f} where {max(reached)[1]} is released",
            max(reached)[0] > 0.01,
        ),
        checked(
            "an attacker who sees the data as well can do better (section 3.1): by "
            f"{max(seeing):.3f} of the data sets at most",
            max(seeing) > 0.05,
        ),
    )


@COMPLEXITY("Definition 3.1", "R_ext: a program is an extraction evidence of a data set.", EXTRACT)
def definition_3_1(_given: Given) -> Reproduced:
    apart, same = [], []
    for quality in (0.0, 0.2, 0.5):
        relation = ShowsExtraction(("010101", "011010"), quality, 0)
        by_hand = [
            [
                outputs(p, y).get(x, 0) >= NEEDED and len(p) <= (1 - quality) * shortest([x]) + ROOM
                for x in STRINGS
            ]
            for y in relation.releases
            for p in PROGRAMS
        ]
        apart.append(np.abs(relation.holds_for - np.array(by_hand)).max())
        # programs so short that every string of a high complexity leaves the quality
        high = np.array([complexity(x, 0) >= 6 for x in STRINGS])
        few = np.tile((1 - quality) * 6 + ROOM >= SIZES, 2)
        plain = np.concatenate([hits(y, 0) >= NEEDED - ROOM for y in relation.releases])
        same.append(bool((relation.holds_for[few][:, high] == plain[few][:, high]).all()))
    return claims(
        checked(
            "R_ext holds for a program that succeeds and is short enough for the complexity: all "
            "programs, two releases, all strings, three qualities",
            max(apart) == 0,
        ),
        proved(
            "for programs of k bits and strings of complexity k / (1 - q) or more it is the plain "
            "relation",
            all(same),
        ),
    )
