"""Sections 1.2, 3 and D of Cohen et al. 2024: extraction, in a language where all is computable.

A programming language so small that trying all programs finds the shortest. Programs are strings of
bits, read from the left; ``w`` is what follows:

=========  ===========================================================
``0w``     prints ``w``
``10w``    prints ``w`` again and again until there are `LENGTH` bits
``110w``   prints the input, then ``w``
``1110w``  prints ``w``, then fair coins until there are `LENGTH` bits
=========  ===========================================================

Anything else runs for ever. All of the statements about complexity hold in it, exactly.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import compress, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from narcissus.evidence import clopper_pearson
from narcissus.extraction import approximate_prg_example, prg_example, self_extracting
from narcissus.extraction.relations import HammingBall
from narcissus.extraction.small_language import shortest_program
from narcissus.game import Game
from narcissus.mechanisms import Stretched, through_channel
from narcissus.mechanisms.stretching import GENERATORS
from narcissus.profiles import write_out
from narcissus.success.relations import FirstBit
from narcissus.worlds import Finite, Pairs
from narcissus.worlds.base import all_tuples
from narcissus_papers.base import Given, Statements, Told, played
from narcissus_papers.cohen.cases import (
    EPSILONS,
    EXTRACT,
    ROOM,
    WRITE,
    Matrix,
    audit_of,
    checked,
    proved,
    rates_of,
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
    return table(given) @ near_by(radius)


def near_by(radius: int) -> Matrix:
    bits = np.array([list(map(int, x)) for x in STRINGS])
    return ((bits[:, None] != bits[None]).sum(axis=2) <= radius).astype(np.float64)


@cache
def lengths(given: str) -> Matrix:
    """Compute how long the shortest program of `shortest_program` is for each string."""
    made = [bytes(map(int, x)) for x in (given, *STRINGS)]
    return np.array([len(shortest_program(x, made[0], symbol_bits=1).code) for x in made[1:]])


COMPLEXITY = Statements("003", 0.5)


@COMPLEXITY("Definition 1.10", "Extractable by some program: which is met by everything.", EXTRACT)
def definition_1_10(_given: Given) -> Told:
    found = [
        outputs("0" + x, release(x)) == {x: 1.0} for x in STRINGS for release in RELEASES.values()
    ]
    repeated = b"34" * 1000
    program = self_extracting(repeated, "repeat") or repeated
    yield proved(
        "it is met by every string and model: a program may have the string by heart "
        f"({len(found)} pairs)",
        all(found),
    )
    yield checked(
        f"a program shorter than the string is no remedy: {len(program)} bytes print "
        f"'34' 1,000 times, {len(repeated)} bytes, without a model ({program.decode()})",
        len(program) < 30 and b"'34'*1000" in program,
    )


@COMPLEXITY("Definition D.1", "Complexity with programs that succeed two times in three.", EXTRACT)
@COMPLEXITY("Definition 1.12", "Complexity: the length of the shortest program.", EXTRACT)
def definition_1_12(_given: Given) -> Told:
    by_hand = {x: min(len(p) for p in PROGRAMS if outputs(p).get(x, 0) >= NEEDED) for x in STRINGS}
    sizes = [shortest([x]) for x in STRINGS]
    counts = [sum(k < size for k in sizes) for size in range(1, LENGTH + 2)]
    yield checked(
        f"the shortest of all {len(PROGRAMS)} programs is what is computed, {len(STRINGS)} strings",
        sizes == list(by_hand.values()),
    )
    yield proved(
        "fewer than 2^k strings have a complexity below k, for every k",
        all(count < 2**size for size, count in enumerate(counts, start=1)),
    )
    yield checked(
        f"complexities lie between {min(sizes)} (010101 has {by_hand['010101']}) and "
        f"{max(sizes)}, and no string needs more than itself and one bit",
        max(sizes) <= LENGTH + 1 and min(sizes) < max(sizes),
    )


@COMPLEXITY("Definition D.2", "Conditional complexity and mutual information.", f"{WRITE} D.2")
def definition_d2(_given: Given) -> Told:
    rows = [
        (complexity(x, 0), complexity(x, 0, release(x)), name)
        for x in STRINGS
        for name, release in RELEASES.items()
    ]
    yield proved(
        "0 <= K(x) - K(x | y) <= K(x): a program need not read its input",
        all(0 <= k - less <= k for k, less, _ in rows),
    )
    yield checked(
        "the mutual information is 0 if nothing is released, and K(x) - 3 or 0 if the string "
        "is (a program of 3 bits copies)",
        all(k == less for k, less, name in rows if name == "nothing")
        and all(less == min(k, 3) for k, less, name in rows if name == "the string"),
    )


@COMPLEXITY("Definition D.3", "The same of a set of strings.", f"{WRITE} D.3")
def definition_d3(_given: Given) -> Told:
    single = {x: shortest([x]) for x in STRINGS}
    sets = [ball(x, radius) for x in STRINGS for radius in range(LENGTH + 1)]
    below = [shortest(s) <= min(single[x] for x in s) for s in sets]
    irregular = [x for x in STRINGS if single[x] >= 5]
    least = min(single[x] for x in irregular)
    yield proved(
        f"a set is no more complex than its simplest member: {len(sets)} balls", all(below)
    )
    yield checked(
        "a set is as complex as its simplest member, as the note after the definition says",
        all(shortest(s) == min(single[x] for x in s) for s in [*sets, irregular]),
        f"fair coins hit one of the {len(irregular)} strings of complexity 5 or more with "
        f"chance {len(irregular)}/{len(STRINGS)}: a program of {shortest(irregular)} bits, "
        f"while each of them needs {least}; the note holds for programs without coins",
        words="Note that by definition, ... and these minimums are not necessarily realized",
        place="note after Definition D.3",
    )


def every_extractor(radius: int) -> list[tuple[int, int, int]]:
    """Length of each extractor's program, complexity without and with the release."""
    found: list[tuple[int, int, int]] = []
    for release in RELEASES.values():
        for k, x in enumerate(STRINGS):
            given = release(x)
            enough = hits(given, radius)[:, k] >= NEEDED - ROOM
            alone, less = complexity(x, radius), complexity(x, radius, given)
            found += [(int(size), alone, less) for size in SIZES[enough]]
    return found


@COMPLEXITY("Claim D.9", "An extractor shows extractable information.", EXTRACT)
@COMPLEXITY("Definition D.8", "An extractor of a quality.", EXTRACT)
@COMPLEXITY("Definition D.7", "Extractable information: K(R_S) - K(R_S | y).", EXTRACT)
@COMPLEXITY(
    "Definition 1.13", "Extraction: a program that is much shorter than the complexity.", EXTRACT
)
def extractors(_given: Given) -> Told:
    rows = [one for radius in (0, RADIUS) for one in every_extractor(radius)]
    good = [(size, alone, less) for size, alone, less in rows if size < alone]
    short, short_of = [], []
    for size, alone, less in good:
        quality = 1 - size / alone
        short.append(alone - less - quality / (1 - quality) * size)
        for q in (0.0, quality / 2, quality):  # an extractor of a quality is one of any lower
            short_of.append(alone - less - q / (1 - q) * size)
    best = min(good, key=lambda one: one[0] / one[1])
    yield proved(
        "Claim D.9: an extractor of quality q shows at least q / (1 - q) |A| bits of "
        f"extractable information: all {len(good)} extractors of {len(rows)} programs that "
        "succeed, four mechanisms, equality and one place off",
        min(short_of) >= -ROOM,
    )
    yield checked(
        "the bound is reached: by programs no shorter one of which extracts",
        any(abs(room) <= ROOM for room in short),
    )
    yield checked(
        f"the best quality is {1 - best[0] / best[1]:.3f}: {best[0]} bits copy what needs "
        f"{best[1]} without the release",
        best[0] == 3,
    )
    yield checked(
        "nothing is extracted where nothing is released: with no input no program is shorter "
        "than the complexity",
        all(
            SIZES[hits("", radius)[:, k] >= NEEDED - ROOM].min() >= complexity(x, radius)
            for radius in (0, RADIUS)
            for k, x in enumerate(STRINGS)
        ),
    )


@dataclass(frozen=True)
class ShowsExtraction:
    """The relation ``R_ext``: a program is an extraction evidence of a string from a release.

    ``quality`` and ``radius`` are those asked of an extraction. In the richer language of
    `shortest_program` an attempt is a release and an output: of all programs for it, of whatever
    length, the shortest is evidence wherever another one is.
    """

    releases: tuple[str, ...]
    quality: float
    radius: int
    richer: bool = False

    @property
    def holds_for(self) -> Matrix:
        """Whether each pair of release and program holds for each string; pairs by release."""
        most = 1 - self.quality + ROOM
        if self.richer:
            near = near_by(self.radius)
            alone = np.where(near, lengths(""), np.inf).min(axis=1)
            tables = [near * (lengths(y)[:, None] / alone <= most) for y in self.releases]
            return np.concatenate(tables)
        sizes = np.array([complexity(x, self.radius) for x in STRINGS])
        short = SIZES[:, None] / sizes <= most
        tables = [(hits(y, self.radius) >= NEEDED - ROOM) & short for y in self.releases]
        return np.concatenate(tables).astype(np.float64)

    def holds(self, data: Any, attempt: Any, rng: np.random.Generator) -> Any:
        return self.holds_for[np.asarray(attempt), data[:, 0]] == 1

    def guesses(self, data: Any) -> Any:
        return np.flatnonzero(self.holds_for.any(axis=1))


def evidence_of(
    name: str, quality: float, radius: int, richer: bool = False
) -> tuple[Game, ShowsExtraction, Matrix]:
    """Return a mechanism's game with R_ext, the relation, and chances of string and release."""
    release = RELEASES[name]
    every = tuple(sorted({release(x) for x in STRINGS}))
    relation = ShowsExtraction(every, quality, radius, richer)
    rows = np.eye(len(every))[[every.index(release(x)) for x in STRINGS]]
    world = Finite([[k] for k in range(len(STRINGS))])
    return Game(world, through_channel(rows.tolist()), relation), relation, rows / len(STRINGS)


@COMPLEXITY(
    "Lemma 3.2", "Resilience for R_ext prevents non-trivial extraction.", EXTRACT, seconds=3.0
)
def lemma_3_2(_given: Given) -> Told:
    rng, above, reached, seeing = np.random.default_rng(3), [], [], []
    for name, radius, richer in product(RELEASES, (0, RADIUS), (False, True)):
        game, relation, joint = evidence_of(name, 0.1, radius, richer)
        uniform = np.full(len(STRINGS), 1 / len(STRINGS))
        holds, programs = relation.holds_for, len(relation.holds_for) // joint.shape[1]
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
    yield proved(
        "no attacker who sees the release alone makes evidence of the data more often than "
        "e^eps times its evidence of shadow data, and delta: "
        f"{len(above)} attackers of four mechanisms, equality and one place off, quality .1, "
        "in this language and a richer one (copies, repetitions, progressions, the release)",
        max(above) <= ROOM,
    )
    yield proved(
        "nor does the best attacker, found program by program, in the richer language among "
        f"all programs of whatever length: {len(reached)} profiles",
        min(room for room, _ in reached) >= -ROOM,
    )
    yield checked(
        "R_ext asks for more than the lemma needs: its attempts are pairs (y, A), and an "
        "attacker may name another y than the release, which then carries what a program "
        f"would have to: by {max(reached)[0]:.3f} where {max(reached)[1]} is released",
        max(reached)[0] > 0.01,
    )
    yield checked(
        "an attacker who sees the data as well can do better (section 3.1): by "
        f"{max(seeing):.3f} of the data sets at most",
        max(seeing) > 0.05,
    )


@COMPLEXITY("Definition 3.1", "R_ext: a program is an extraction evidence of a data set.", EXTRACT)
def definition_3_1(_given: Given) -> Told:
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
    yield checked(
        "R_ext holds for a program that succeeds and is short enough for the complexity: all "
        "programs, two releases, all strings, three qualities",
        max(apart) == 0,
    )
    yield proved(
        "for programs of k bits and strings of complexity k / (1 - q) or more it is the plain "
        "relation",
        all(same),
    )


LENGTH = 6
"""Bits of a string of interest."""

STRINGS = tuple("".join(bits) for bits in product("01", repeat=LENGTH))
"""All strings of interest."""

PROGRAMS = tuple(
    "".join(bits) for size in range(1, LENGTH + 2) for bits in product("01", repeat=size)
)
"""All programs up to the length of one that prints a string as it stands, shortest first."""

NEEDED = 2 / 3
"""Chance with which a program must succeed (Cohen et al. 2024, Definition D.1)."""


def outputs(program: str, given: str = "") -> dict[str, float]:
    """Return the chance of each output of a program for an input; empty if it runs for ever."""
    if program[:1] == "0":
        return {program[1:]: 1.0}
    if program[:2] == "10":
        return {(program[2:] * LENGTH)[:LENGTH]: 1.0} if program[2:] else {}
    if program[:3] == "110":
        return {given + program[3:]: 1.0}
    if program[:4] == "1110":
        word = program[4:]
        ends = ["".join(bits) for bits in product("01", repeat=max(0, LENGTH - len(word)))]
        return {word + end: 1 / len(ends) for end in ends}
    return {}


@cache
def table(given: str = "") -> NDArray[np.float64]:
    """Compute the chance of each string of `STRINGS` for each of `PROGRAMS`, for an input."""
    place = {string: k for k, string in enumerate(STRINGS)}
    rows = np.zeros((len(PROGRAMS), len(STRINGS)))
    for row, program in zip(rows, PROGRAMS, strict=True):
        for output, chance in outputs(program, given).items():
            if output in place:
                row[place[output]] = chance
    return rows


SIZES = np.array([len(program) for program in PROGRAMS])
"""Length of each program."""


def shortest(members: Iterable[str], given: str = "") -> int:
    """Return the length of the shortest program that prints one of some strings two times in three.

    ``members`` are some of `STRINGS`, at least one; ``given`` is the input, of at most `LENGTH`
    bits, none for the complexity without a condition.

    Source: Cohen et al. 2024, Definitions 1.12, D.1, D.2 and D.3.
    """
    wanted = set(members)
    inside = np.array([string in wanted for string in STRINGS], dtype=np.float64)
    enough = table(given) @ inside >= NEEDED - 1e-12
    return int(SIZES[enough].min())


def ball(string: str, radius: int) -> tuple[str, ...]:
    """Return the strings that differ from one in at most ``radius`` places."""
    return tuple(compress(STRINGS, near_by(radius)[STRINGS.index(string)]))


LENGTHS = (100, 1_000, 10_000, 1_000_000)
"""Lengths ``d`` at which both limits of a complexity are computed."""

WRITTEN = (20_000, 100_000)
"""Lengths at which the program that prints a covering word is measured."""


def near(d: int, share: float) -> float:
    """Compute the chance that a random string differs from another in at most a share of bits."""
    return float(stats.binom.cdf(math.floor(share * d), d, 0.5))


def ball_bits(d: int, share: float) -> float:
    """Compute the logarithm, base 2, of the number of strings within a share of the bits."""
    i = np.arange(math.floor(share * d) + 1)
    logs = special.gammaln(d + 1) - special.gammaln(i + 1) - special.gammaln(d - i + 1)
    return float(special.logsumexp(logs) / math.log(2))


def entropy(share: float) -> float:
    return -share * math.log2(share) - (1 - share) * math.log2(1 - share)


@COMPLEXITY("Example D.4", "Two random strings: one agrees in half of the bits.", f"{WRITE} D.4")
def example_d4(_given: Given) -> Told:
    chance = {d: 1 - (1 - near(d, 0.5)) ** 2 for d in (1, 2, 3, 10, 41, 100, 1001)}
    always = all(min(x.count("0"), x.count("1")) <= LENGTH / 2 for x in STRINGS)
    yield proved(
        "two random strings succeed with chance 3/4 at least, exactly for odd d: "
        f"d = {', '.join(map(str, chance))}",
        all(p >= 0.75 - ROOM and (d % 2 == 0 or abs(p - 0.75) < 1e-9) for d, p in chance.items()),
    )
    yield checked(
        "the chance is 3/4 for every d, as printed",
        all(abs(p - 0.75) < 1e-9 for p in chance.values()),
        "for even d a tie of half of the bits counts, so it is more: "
        f"{chance[2]:.4f} at d = 2, {chance[100]:.4f} at d = 100",
        number="3/4",
        words=r"satisfies  $(z_1, z_2) \in R_x$  with probability  $3/4$",
        place="Example D.4",
    )
    yield checked(
        f"all zeros and all ones succeed always, without a coin: {len(STRINGS)} strings", always
    )


def sizes(d: int, strings: int = 1, attempts: int = 1) -> tuple[float, float]:
    """Bound the complexity of Examples D.5 and D.6, in bits, up to constants.

    For ``strings`` of ``d`` bits, and ``attempts`` in an output, both at most a power of ``d``: the
    least that all but one in a thousand data sets need, and the word of a covering code. A program
    that succeeds two times in three covers at most 3/2 ``attempts`` balls' worth of strings,
    ``strings`` places each, and fewer than ``2^k`` programs are shorter than ``k``.
    """
    log_ball = ball_bits(d, 0.25)
    low = d - log_ball - math.log2(1.5 * attempts * strings) - math.log2(1000)
    high = d - log_ball + math.log2(1 + log_ball * math.log(2))
    return low, high


def halves(strings: int) -> Told:
    """Return the claims that both examples share."""
    attempts, rate = 1000, 1 - entropy(0.25)
    limits = {d: sizes(d, strings, attempts) for d in LENGTHS}
    said = ", ".join(f"d = {d}: {low:.0f} to {high:.0f}" for d, (low, high) in limits.items())
    codes = [8 * HammingBall(0.25).covering_program_size(d) for d in WRITTEN]
    slope = (codes[-1] - codes[0]) / (WRITTEN[-1] - WRITTEN[0])
    yield proved(
        f"the complexity is (1 - H(1/4)) d = {rate:.3f} d but for O(log d): all but one in a "
        "thousand random data sets need as much, by counting programs, and a word of a "
        f"covering code is enough ({said}; {strings} string(s), outputs of {attempts})",
        all(abs(x - rate * d) <= 40 + 3 * math.log2(d) for d, b in limits.items() for x in b),
    )
    yield checked(
        "it is (1 - o(1)) d/2, as printed",
        all(high >= 0.4 * d for d, (_, high) in limits.items() if d >= 1000),
        "a program that numbers the words of a covering code needs "
        f"{limits[10_000][1]:.0f} bits at d = 10,000, not 5,000: nobody must have half of the "
        "bits by heart to agree with three quarters of them",
        words=r"K_{\mathcal{L}}(R_S) \geq (1 - o(1))d/2"
        if strings > 1
        else r"K_{\mathcal{L}}(R_x) \geq (1 - o(1))d/2",
        place="Example D.6" if strings > 1 else "Example D.5",
    )
    yield checked(
        "`narcissus extract` knows that program: written out, it needs "
        f"{' and '.join(f'{size:,}' for size in codes)} bits at d = "
        f"{' and '.join(f'{d:,}' for d in WRITTEN)}, {slope:.4f} more for each bit",
        slope < 1.04 * rate and all(size < 0.4 * d for size, d in zip(codes, WRITTEN, strict=True)),
    )


@COMPLEXITY("Example D.5", "Agreeing in three quarters of the bits.", f"{WRITE} D.5")
def example_d5(_given: Given) -> Told:
    filled = [1 - (1 - near(d // 2, 0.5)) ** 2 for d in (2, 4, 10, 82, 1000)]
    toy = [shortest(ball(x, LENGTH // 4)) for x in STRINGS]
    yield from halves(1)
    yield proved(
        "given half of the bits, two random ways to fill up succeed with chance 3/4 at least",
        min(filled) >= 0.75 - ROOM,
    )
    yield checked(
        f"in a small language, all programs tried, 6 bits but for one need {np.mean(toy):.2f} "
        f"bits on average, {max(toy)} at most",
        max(toy) <= LENGTH + 1,
    )


@COMPLEXITY("Example D.6", "The same with one of many strings.", f"{WRITE} D.6")
def example_d6(_given: Given) -> Told:
    yield from halves(100)


@COMPLEXITY("Definition D.10", "A pseudo-random generator.", audit_of("generator-short-seed"))
def definition_d10(_given: Given) -> Told:
    d, stretched = 4, 8
    outputs = {hashlib.shake_128(bytes([s])).digest(stretched // 8) for s in range(2**d)}

    # the verifier who looks at the length of the string
    def says(bits: int) -> bool:
        return bits == stretched

    printed = float(says(stretched)) - float(says(d + stretched))
    gains, images = {}, {}
    for name, rule in GENERATORS.items():
        game = Game(Pairs([[[0], [1]]]), Stretched(d, stretched, name), FirstBit())
        gains[name] = write_out(game).delta(0.0)
        made = rule.stretch(all_tuples(2, d).astype(np.uint8), stretched)
        images[name] = len(np.unique(made, axis=0))
    yield checked(
        "compared with l(d) uniform bits, as is meant, the advantage of the best verifier of "
        "all is that of the game, 1 - (strings that are made) / 2^l: "
        + ", ".join(f"{name} {gain:.4f}" for name, gain in gains.items()),
        all(abs(gains[name] - 1 + images[name] / 2**stretched) < ROOM for name in gains),
    )
    yield proved(
        "against verifiers without limit there is none: who knows all seeds gains "
        f"1 - 2^d / 2^l at least (d = {d}, l = {stretched}: {1 - len(outputs) / 2**stretched})",
        1 - len(outputs) / 2**stretched >= 1 - 2**d / 2**stretched,
    )
    yield checked(
        "compared with d + l(d) uniform bits, as printed, a generator can exist",
        printed <= 0,
        "whoever says 1 to strings of l(d) bits says so always to the generator's and never "
        "to d + l(d) bits: U_(l(d)) is meant",
        words=r"\Pr[V(\mathcal{U}_{d+\ell(d)}) = 1]",
        place="Definition D.10",
    )


@COMPLEXITY(
    "section D.4.2", "Compressors are heuristics: they find easy patterns.", f"{WRITE} D.4.2"
)
@COMPLEXITY(
    "Lemma D.11",
    "If generators exist, no efficient verifier tells a seed from chance.",
    audit_of("verifiers-fooled"),
)
def lemma_d11(_given: Given) -> Told:
    made = [(b, prg_example(pseudo_random=b == 0, length=512, rng=r)) for r in range(60)
            for b in (0, 1)]  # fmt: skip
    whole, short, guess = [], [], 0
    for b, one in made:
        tail = one.program.split(b"+'")[1].split(b"'")[0]
        whole.append(one.release + tail == one.data and len(one.program) < len(one.data))
        if b == 0:
            assert one.short_program is not None
            seed = bytes.fromhex(one.short_program.split(b"'")[1].decode())
            again = hashlib.shake_256(seed).hexdigest(512).encode()
            short.append(again == one.data and len(one.short_program) < len(one.program))
        packed = self_extracting(one.data, "zlib")
        assert packed is not None
        # the verifier guesses that the data come from a seed if they compress to an odd length
        guess += (len(packed) % 2 == 1) == (b == 0)
    limits = clopper_pearson(guess, len(made), confidence=1 - 1e-6)
    least = min(len(self_extracting(one.data, "zlib") or b"") for _, one in made)
    easy = self_extracting(b"34" * 512, "zlib")
    assert easy is not None
    yield checked(
        f"(1) the program prints the data from the release and is shorter: {len(made)} triples",
        all(whole),
    )
    yield checked(
        "(2) from a seed, a shorter program prints them without the release",
        len(short) == 60 and all(short),
    )
    yield proved(
        "(3) random data have a complexity of almost their length: fewer than one in 2^j "
        "lacks j bits",
        all(sum(2**k for k in range(n - j)) < 2 ** (n - j) for n in (8, 64) for j in (1, 5)),
    )
    yield played(
        "(4) a verifier who compresses guesses which it was with chance "
        f"{limits.low:.2f} to {limits.high:.2f} ({len(made)} triples; that nobody does better "
        "than a coin is the assumption of the lemma)",
        (limits.low or 0.0) <= 0.5 <= (limits.high or 1.0),
    )
    yield checked(
        "compressors find easy patterns (section D.4.2), and none here: 1,024 bytes of '34' "
        f"take a program of {len(easy)}, these data one of {least} at least, more than the "
        "program with the release",
        len(easy) < 100 and all(least > len(one.program) for _, one in made),
    )


@COMPLEXITY("footnote 8", "The same for strings that agree in part.", f"{WRITE} footnote-8")
def footnote_8(_given: Given) -> Told:
    alpha, bits = 0.1, 8192
    one = approximate_prg_example(pseudo_random=False, advantage=alpha, bits=bits, rng=1)
    heart = 1024
    rest = bits - len(one.release) - heart
    mended = float(stats.binom.cdf(math.floor((0.5 - alpha) * bits), rest, 0.5))
    printed = {}
    for d in (10, 20, 40):
        n, known = d**4, int(alpha * d**4 + d**2 * math.log2(d))
        printed[d] = float(stats.binom.cdf(math.floor((0.5 - alpha) * n), n - known, 0.5))
    last = max(printed.values())
    yield checked(
        "the string with twice as many known bits is near enough: chance above 1 - 1e-6 "
        f"at {bits} bits",
        mended > 1 - 1e-6,
    )
    yield checked(
        "the string of the footnote, with alpha d^4 known bits, is within 1/2 - alpha (as printed)",
        last > 0.5,
        "half of the other (1 - alpha) d^4 bits are wrong, a distance of 1/2 - alpha/2; the "
        f"chance to come to 1/2 - alpha is {last:.1e} at most for alpha .1 and d = 10, 20, 40: "
        "twice as many known bits are needed",
        words=r"y = (x_1, \dots, x_{\alpha d^4 - d^2 \log d})",
        place="footnote 8",
    )
