"""Examples of appendix D of Cohen et al. 2024, and why nobody can verify an extraction."""

from __future__ import annotations

import hashlib
import math

import numpy as np
from scipy import special, stats

from narcissus.evidence import clopper_pearson
from narcissus.extraction import approximate_prg_example, prg_example, self_extracting
from narcissus.extraction.relations import HammingBall
from narcissus.game import Game
from narcissus.mechanisms import Stretched
from narcissus.mechanisms.stretching import GENERATORS
from narcissus.profiles import write_out
from narcissus.success.relations import FirstBit
from narcissus.worlds import Pairs
from narcissus.worlds.base import all_tuples
from narcissus_papers.base import Given, Held, Reproduced, Statements, claims
from narcissus_papers.cohen.cases import EXTRACT, ROOM, audit_of, checked, proved
from narcissus_papers.cohen.language import LENGTH, STRINGS, ball, shortest

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


GUESSING = Statements("003", 0.5)


@GUESSING("Example D.4", "Two random strings: one agrees in half of the bits.", EXTRACT)
def example_d4(_given: Given) -> Reproduced:
    chance = {d: 1 - (1 - near(d, 0.5)) ** 2 for d in (1, 2, 3, 10, 41, 100, 1001)}
    always = all(min(x.count("0"), x.count("1")) <= LENGTH / 2 for x in STRINGS)
    return claims(
        proved(
            "two random strings succeed with chance 3/4 at least, exactly for odd d: "
            f"d = {', '.join(map(str, chance))}",
            all(p >= 0.75 - ROOM and (d % 2 == 0 or abs(p - 0.75) < 1e-9)
                for d, p in chance.items()),
        ),
        checked(
            "the chance is 3/4 for every d, as printed",
            all(abs(p - 0.75) < 1e-9 for p in chance.values()),
            "for even d a tie of half of the bits counts, so it is more: "
            f"{chance[2]:.4f} at d = 2, {chance[100]:.4f} at d = 100",
            number="3/4",
            words=r"satisfies  $(z_1, z_2) \in R_x$  with probability  $3/4$",
            place="Example D.4",
        ),
        checked(
            f"all zeros and all ones succeed always, without a coin: {len(STRINGS)} strings",
            always,
        ),
    )  # fmt: skip


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


def halves(strings: int) -> tuple[Held, ...]:
    """Return the claims that both examples share."""
    attempts, rate = 1000, 1 - entropy(0.25)
    limits = {d: sizes(d, strings, attempts) for d in LENGTHS}
    said = ", ".join(f"d = {d}: {low:.0f} to {high:.0f}" for d, (low, high) in limits.items())
    codes = [8 * HammingBall(0.25).covering_program_size(d) for d in WRITTEN]
    slope = (codes[-1] - codes[0]) / (WRITTEN[-1] - WRITTEN[0])
    return (
        proved(
            f"the complexity is (1 - H(1/4)) d = {rate:.3f} d but for O(log d): all but one in a "
            "thousand random data sets need as much, by counting programs, and a word of a "
            f"covering code is enough ({said}; {strings} string(s), outputs of {attempts})",
            all(abs(x - rate * d) <= 40 + 3 * math.log2(d) for d, b in limits.items() for x in b),
        ),
        checked(
            "it is (1 - o(1)) d/2, as printed",
            all(high >= 0.4 * d for d, (_, high) in limits.items() if d >= 1000),
            "a program that numbers the words of a covering code needs "
            f"{limits[10_000][1]:.0f} bits at d = 10,000, not 5,000: nobody must have half of the "
            "bits by heart to agree with three quarters of them",
            words=r"K_{\mathcal{L}}(R_S) \geq (1 - o(1))d/2"
            if strings > 1
            else r"K_{\mathcal{L}}(R_x) \geq (1 - o(1))d/2",
            place="Example D.6" if strings > 1 else "Example D.5",
        ),
        checked(
            "`narcissus extract` knows that program: written out, it needs "
            f"{' and '.join(f'{size:,}' for size in codes)} bits at d = "
            f"{' and '.join(f'{d:,}' for d in WRITTEN)}, {slope:.4f} more for each bit",
            slope < 1.04 * rate
            and all(size < 0.4 * d for size, d in zip(codes, WRITTEN, strict=True)),
        ),
    )


@GUESSING("Example D.5", "Agreeing in three quarters of the bits.", EXTRACT)
def example_d5(_given: Given) -> Reproduced:
    filled = [1 - (1 - near(d // 2, 0.5)) ** 2 for d in (2, 4, 10, 82, 1000)]
    toy = [shortest(ball(x, LENGTH // 4)) for x in STRINGS]
    return claims(
        *halves(1),
        proved(
            "given half of the bits, two random ways to fill up succeed with chance 3/4 at least",
            min(filled) >= 0.75 - ROOM,
        ),
        checked(
            f"in a small language, all programs tried, 6 bits but for one need {np.mean(toy):.2f} "
            f"bits on average, {max(toy)} at most",
            max(toy) <= LENGTH + 1,
        ),
    )


@GUESSING("Example D.6", "The same with one of many strings.", EXTRACT)
def example_d6(_given: Given) -> Reproduced:
    return claims(*halves(100))


@GUESSING("Definition D.10", "A pseudo-random generator.", audit_of("generator-short-seed"))
def definition_d10(_given: Given) -> Reproduced:
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
    return claims(
        checked(
            "compared with l(d) uniform bits, as is meant, the advantage of the best verifier of "
            "all is that of the game, 1 - (strings that are made) / 2^l: "
            + ", ".join(f"{name} {gain:.4f}" for name, gain in gains.items()),
            all(abs(gains[name] - 1 + images[name] / 2**stretched) < ROOM for name in gains),
        ),
        proved(
            "against verifiers without limit there is none: who knows all seeds gains "
            f"1 - 2^d / 2^l at least (d = {d}, l = {stretched}: {1 - len(outputs) / 2**stretched})",
            1 - len(outputs) / 2**stretched >= 1 - 2**d / 2**stretched,
        ),
        checked(
            "compared with d + l(d) uniform bits, as printed, a generator can exist",
            printed <= 0,
            "whoever says 1 to strings of l(d) bits says so always to the generator's and never "
            "to d + l(d) bits: U_(l(d)) is meant",
            words=r"\Pr[V(\mathcal{U}_{d+\ell(d)}) = 1]",
            place="Definition D.10",
        ),
    )


@GUESSING(
    "Lemma D.11",
    "If generators exist, no efficient verifier tells a seed from chance.",
    audit_of("verifiers-fooled"),
)
def lemma_d11(_given: Given) -> Reproduced:
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
    return claims(
        checked(
            f"(1) the program prints the data from the release and is shorter: {len(made)} triples",
            all(whole),
        ),
        checked(
            "(2) from a seed, a shorter program prints them without the release",
            len(short) == 60 and all(short),
        ),
        proved(
            "(3) random data have a complexity of almost their length: fewer than one in 2^j "
            "lacks j bits",
            all(sum(2**k for k in range(n - j)) < 2 ** (n - j) for n in (8, 64) for j in (1, 5)),
        ),
        Held(
            "(4) a verifier who compresses guesses which it was with chance "
            f"{limits.low:.2f} to {limits.high:.2f} ({len(made)} triples; that nobody does better "
            "than a coin is the assumption of the lemma)",
            (limits.low or 0.0) <= 0.5 <= (limits.high or 1.0), "played",
        ),
        checked(
            "compressors find easy patterns (section D.4.2), and none here: 1,024 bytes of '34' "
            f"take a program of {len(easy)}, these data one of {least} at least, more than the "
            "program with the release",
            len(easy) < 100 and all(least > len(one.program) for _, one in made),
        ),
    )  # fmt: skip


@GUESSING("footnote 8", "The same for strings that agree in part.", EXTRACT)
def footnote_8(_given: Given) -> Reproduced:
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
    return claims(
        checked(
            "the string with twice as many known bits is near enough: chance above 1 - 1e-6 "
            f"at {bits} bits",
            mended > 1 - 1e-6,
        ),
        checked(
            "the string of the footnote, with alpha d^4 known bits, is within 1/2 - alpha (as "
            "printed)",
            last > 0.5,
            "half of the other (1 - alpha) d^4 bits are wrong, a distance of 1/2 - alpha/2; the "
            f"chance to come to 1/2 - alpha is {last:.1e} at most for alpha .1 and d = 10, 20, 40: "
            "twice as many known bits are needed",
            words=r"y = (x_1, \dots, x_{\alpha d^4 - d^2 \log d})",
            place="footnote 8",
        ),
    )
