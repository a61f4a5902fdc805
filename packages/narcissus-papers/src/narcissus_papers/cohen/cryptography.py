"""Appendix B of Cohen et al. 2024: one-way functions and encryption.

Appendix B.3: interactive mechanisms, against every adaptive attacker, and played.

Lemma D.11 and Algorithm D.12 of Cohen et al. 2024 as a game: verifiers against generators.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks import Asks, ExhaustiveReconstruction, LinearReconstruction
from narcissus.attacks.base import Conversation
from narcissus.evidence import clopper_pearson
from narcissus.extraction import CompressionVerifier, StatisticalVerifier, prg_example
from narcissus.game import Game
from narcissus.guarantees import PureDP, optimal_composition
from narcissus.mechanisms import (
    AdaptiveComposition,
    Cipher,
    CountQueries,
    Parallel,
    RandomizedResponse,
    Sha256,
    SparseVector,
    Stretched,
    through_channel,
)
from narcissus.profiles import write_out, write_out_family
from narcissus.profiles.proofs import from_lemmas
from narcissus.report.panels import Line, Panel
from narcissus.results import Estimate
from narcissus.success.relations import FirstBit, Hamming, NamesSecret, SameImage
from narcissus.worlds import Bits, Family, Pairs, Secret
from narcissus_papers.base import Given, Held, Reproduced, Statements, Told, played
from narcissus_papers.cohen.cases import (
    EPSILONS,
    ROOM,
    WRITE,
    Labelled,
    Matrix,
    audit_of,
    channels,
    checked,
    profile_of,
    proved,
)
from narcissus_papers.cohen.scaling import curve_of, holds, swept
from narcissus_papers.scale import SizeCurve

LENGTH = 2
"""Bits of a message."""

MESSAGES = range(2**LENGTH)


def encryptions() -> dict[str, Matrix]:
    """Return schemes by their ciphertext probabilities: a row a message, keys averaged over."""
    pad = np.full((4, 4), 0.25)
    one_bit = np.zeros((4, 4))  # the key is one bit, repeated
    for message in MESSAGES:
        for key in (0, 3):
            one_bit[message, message ^ key] += 0.5
    return {
        "one-time pad": pad,
        "a key of one bit, repeated": one_bit,
        "the message itself": np.eye(4),
        "a leaky scheme": channels(2, 4)[1],
    }


def pairs_of_messages() -> Family:
    # the number b * 4 + m stands for the string of bit b and message m
    return Family([Pairs([[[a], [4 + b]]]) for a, b in product(MESSAGES, repeat=2)])


class NamesTheBit:
    """The attempt is the bit before the message: data sets are numbers ``b * 4 + m``."""

    def holds(self, data: Any, attempt: Any, rng: object) -> Any:
        return data[:, 0] // 4 == np.asarray(attempt)

    def guesses(self, data: Any) -> Any:
        return np.array([0, 1])


CRYPTOGRAPHY = Statements("003", 0.5)


@CRYPTOGRAPHY(
    "Definition B.1",
    "Computational resilience: against attackers of limited effort.",
    audit_of("one-way-few-bits"),
)
def definition_b1(_given: Given) -> Told:
    gains: list[tuple[float, float]] = []
    for rows in channels(8, 2, 4):
        exact = write_out(Game(Pairs([[[0], [1]]]), through_channel(rows.tolist()), FirstBit()))
        # an attacker who looks at one of the two bits of the release only
        first, second = rows[:, [0, 1]].sum(axis=1), rows[:, [0, 2]].sum(axis=1)
        limited = max(abs(first[0] - first[1]), abs(second[0] - second[1]))
        gains.append((limited, exact.delta(0.0)))
    yield proved(
        "what is resilient against every attacker is so against those of limited effort: "
        f"attackers who see one bit of the release, {len(gains)} mechanisms",
        all(limited <= everybody + ROOM for limited, everybody in gains),
    )
    yield checked(
        "the converse fails: some limited attackers gain strictly less",
        any(limited < everybody - 0.01 for limited, everybody in gains),
    )


@CRYPTOGRAPHY(
    "Remark B.2",
    "Mechanism, relation and distributions are to be efficient.",
    audit_of("one-way-sha256"),
)
def remark_b2(_given: Given) -> Told:
    rng, right = np.random.default_rng(0), []
    for length in (64, 512, 4096):
        world, function = Bits(length), Sha256()
        data = world.draw(8, rng).data
        relation = SameImage(function)
        right.append(bool(relation.holds(data, data, rng).all()))
        right.append(not relation.holds(data, 1 - data, rng).any())
        right.append(function.release(data, rng).shape == (8, 256))
    yield checked(
        "mechanism, relation and distribution are computed by drawing, in time that grows "
        "with the length: SHA-256 of strings of 64, 512 and 4,096 bits",
        all(right),
    )


def searched(bits: int, budget: int, rng: np.random.Generator, trials: int = 300) -> Estimate:
    """Try inputs for the image of a random string, anew each time; return the rate of success."""
    function = Sha256(bits)
    image = function.release(Bits(64).draw(trials, rng).data, rng)
    tried = function.release(Bits(64).draw(trials * budget, rng).data, rng)
    hit = (tried.reshape(trials, budget, bits) == image[:, None]).all(axis=2).any(axis=1)
    # four at once; a false alarm once in a million
    return clopper_pearson(int(hit.sum()), trials, confidence=1 - 1e-6 / 4)


@CRYPTOGRAPHY(
    "Definition B.3",
    "A function is one-way: nobody of limited effort finds a preimage.",
    audit_of("one-way-few-bits"),
)
def definition_b3(_given: Given) -> Told:
    sizes, budget, rng = (2, 6, 10, 14), 64, np.random.default_rng(3)
    found = [searched(bits, budget, rng) for bits in sizes]
    yield played(
        f"who tries {budget} inputs finds a preimage of SHA-256 cut to k bits with chance "
        "1 - (1 - 2^-k)^64, which halves with each further bit: "
        + ", ".join(
            f"k = {k} {one.low:.3f} to {one.high:.3f}" for k, one in zip(sizes, found, strict=True)
        ),
        all(
            (one.low or 0) <= -math.expm1(budget * math.log1p(-(2.0**-k))) <= (one.high or 1)
            for k, one in zip(sizes, found, strict=True)
        ),
    )


def spread(labels: tuple[int, ...]) -> float:
    """Return the chance of the likeliest image of a uniform string."""
    return max(labels.count(y) for y in labels) / len(labels)


@CRYPTOGRAPHY(
    "Definition B.4", "A function is well-spread: no image is likely.", profile_of("one-way-exact")
)
def definition_b4(_given: Given) -> Told:
    one_to_one = [spread(p) for p in permutations(range(4))]
    found = [
        abs(spread(f) - float(write_out(_one_way(f)).fixed.max()))
        for f in product(range(4), repeat=4)
    ]
    yield proved(
        "a 1-1 function is 2^-lambda-well-spread: all 24 of two bits",
        max(one_to_one) == min(one_to_one) == 0.25,
    )
    yield checked(
        "the spread is the best chance of a preimage named without the release: all 256 "
        "functions of two bits",
        max(found) <= ROOM,
    )


def lost(labels: tuple[int, ...]) -> float:
    """Return one minus the sum of the squared chances of the images of a uniform string."""
    return 1 - sum((labels.count(y) / len(labels)) ** 2 for y in set(labels))


def _one_way(labels: tuple[int, ...]) -> Game:
    function = Labelled(labels)
    return Game(Bits(LENGTH), function, SameImage(function))


@CRYPTOGRAPHY(
    "Theorem B.5",
    "One-wayness of a well-spread function is resilience.",
    profile_of("one-way-exact"),
)
def theorem_b5(_given: Given) -> Told:
    over, apart = [], []
    for labels in product(range(4), repeat=4):
        images = sorted(set(labels))
        chance = np.array([labels.count(y) / 4 for y in images])
        best = 0.0
        for answers in product(range(len(images)), repeat=len(images)):
            success = sum(chance[y] for y, z in enumerate(answers) if y == z)
            baseline = sum(chance[y] * chance[z] for y, z in enumerate(answers))
            over.append(baseline - spread(labels))
            best = max(best, success - baseline)
        # an attacker may as well be silent, which does not help at epsilon 0 unless it is lost
        apart.append(best - write_out(_one_way(labels)).delta(0.0))
    yield proved(
        "the own baseline of every attacker is at most the spread, so resilience bounds the "
        "success by delta + spread, and one-wayness bounds the gain: all 256 functions of two "
        "bits, every attacker",
        max(over) <= ROOM and max(apart) <= ROOM,
    )
    yield proved(
        "with unlimited effort every function is inverted: delta(0) is one minus the sum of "
        "the squared chances of its images, at least 1 - spread",
        all(
            abs(write_out(_one_way(f)).delta(0.0) - lost(f)) <= ROOM
            and lost(f) >= 1 - spread(f) - ROOM
            for f in product(range(4), repeat=4)
        ),
    )


@CRYPTOGRAPHY("Definition B.6", "A private-key encryption scheme.", audit_of("eav-broken"))
def definition_b6(_given: Given) -> Told:
    rng = np.random.default_rng(0)
    keys = np.array(list(product((0, 1), repeat=4)), dtype=np.uint8)
    right: list[bool] = []
    for scheme, bits in (("one-time-pad", None), ("repeating-xor", 2)):
        cipher = Cipher(scheme, bits)  # pyright: ignore[reportArgumentType]
        ours = keys[:, : cipher.secret_bits(4)]
        strings = np.array([[0, *m] for m in keys])
        for message, text in zip(keys, cipher.release(strings, rng), strict=True):
            plain = cipher.decrypt(ours, text)
            right.append(bool((plain == message).all(axis=1).any()))
    yield checked(
        f"decryption gives the message back under its key: {len(right)} messages of four bits, "
        "one-time pad and repeated key",
        all(right),
    )


@CRYPTOGRAPHY(
    "Theorem B.8", "EAV security is resilience over all pairs of messages.", audit_of("eav-broken")
)
@CRYPTOGRAPHY(
    "Definition B.7", "EAV security: two messages cannot be told apart.", audit_of("eav-aes")
)
def eav(_given: Given) -> Told:
    apart, adds, worst = [], [], {}
    for name, rows in encryptions().items():
        mechanism = through_channel(np.vstack([rows, rows]).tolist())
        family = write_out_family(Game(pairs_of_messages(), mechanism, NamesTheBit()))
        best = max(np.maximum(rows[a], rows[b]).sum() / 2 for a, b in product(MESSAGES, repeat=2))
        worst[name] = family.delta(0.0)
        apart.append(abs(family.delta(0.0) - 2 * (best - 0.5)))
        for a, b in ((0, 3), (1, 2)):
            for attacker in product((0, 1), repeat=rows.shape[1]):
                right = sum(rows[(a, b)[z], y] / 2 for y, z in enumerate(attacker))
                other = sum(rows[(a, b)[1 - z], y] / 2 for y, z in enumerate(attacker))
                adds.append(abs(right + other - 1))
    said = ", ".join(f"{name} {delta:.3f}" for name, delta in worst.items())
    yield proved(
        "delta at epsilon 0 is twice the advantage over a coin, for the worst of all 16 pairs "
        f"of messages and every attacker: {said}",
        max(apart) <= ROOM,
    )
    yield proved(
        "success and own baseline of whoever names a bit add up to one: all 16 attackers, "
        f"{len(adds)} cases",
        max(adds) <= ROOM,
    )
    yield checked(
        "the one-time pad is (0, 0)-resilient, a key of one bit is not",
        worst["one-time pad"] <= ROOM and worst["a key of one bit, repeated"] > 0.99,
    )


KEYS = ((33, 3, 7), (33, 7, 3), (15, 3, 3), (35, 5, 5), (35, 11, 11))
"""Toy RSA: modulus, exponent of the public key, exponent of the secret key."""


@CRYPTOGRAPHY("Definition B.9", "A public-key encryption scheme.", audit_of("cpa-x25519"))
def definition_b9(_given: Given) -> Told:
    right = [pow(pow(m, e, n), d, n) == m for n, e, d in KEYS for m in range(n)]
    yield checked(
        f"textbook RSA gives every message back: {len(KEYS)} pairs of keys, all messages",
        all(right),
    )


def conversations(coins: int) -> list[Matrix]:
    """Return the ciphertext probabilities by the bit, for each public key and pair of messages.

    One of ``coins`` random values is appended to a message before it is encrypted by textbook
    RSA; key and messages are known to the attacker.
    """
    found: list[Matrix] = []
    for n, e, _ in KEYS[:2]:
        for first, second in ((0, 1), (1, 2), (2, 5)):
            rows = np.zeros((2, n))
            for bit, message in enumerate((first, second)):
                for coin in range(coins):
                    rows[bit, pow((message * coins + coin) % n, e, n)] += 1 / coins
            found.append(rows)
    return found


@CRYPTOGRAPHY(
    "Definition B.10",
    "CPA security: with the public key, messages of one's own choice.",
    audit_of("cpa-x25519"),
)
def cpa(_given: Given) -> Told:
    told, limited, apart = [], [], []
    for coins in (1, 2, 4):
        for rows in conversations(coins):
            game = Game(Pairs([[[0], [1]]]), through_channel(rows.tolist()), FirstBit())
            delta = write_out(game).delta(0.0)
            best = np.maximum(rows[0], rows[1]).sum() / 2
            apart.append(abs(delta - 2 * (best - 0.5)))
            told.append(delta)
            # encrypting the first message once, and naming the bit by whether that matches
            limited.append(abs(rows[0] @ rows[0] - rows[0] @ rows[1] - 1 / coins))
    yield proved(
        "delta at epsilon 0 is twice the advantage of whoever saw key, messages and "
        f"ciphertext: {len(apart)} conversations with textbook RSA",
        max(apart) <= ROOM,
    )
    yield proved(
        "with unlimited effort every correct scheme is broken: ciphertexts of two messages "
        "never meet under one public key, so delta is 1, and the definition is about limited "
        "attackers only",
        min(told) >= 1 - ROOM,
    )
    yield proved(
        "who encrypts one message once gains the chance that the coins agree: everything "
        "against a deterministic scheme, 1/c against c coins (c = 1, 2, 4)",
        max(limited) <= ROOM,
    )


PAIR = Pairs([[[0], [1]]])


def one_question() -> list[float]:
    """Compute how far a protocol of one question is from the mechanism that it asks."""
    apart: list[float] = []
    for rows in channels(6, 2, 3):
        part = through_channel(rows.tolist())
        asked = write_out(Game(PAIR, AdaptiveComposition([part], 1), FirstBit()))
        released = write_out(Game(PAIR, part, FirstBit()))
        apart += np.abs(asked.deltas(EPSILONS) - released.deltas(EPSILONS)).tolist()
    return apart


def adapted() -> list[tuple[float, float]]:
    """Compute the gain of the best adaptive attacker, and of the best fixed list of questions."""
    found: list[tuple[float, float]] = []
    uniform = Secret([0.25] * 4)
    drawn = channels(9, 4, 2)
    for place in range(0, len(drawn) - 2, 3):
        parts = [through_channel(rows.tolist()) for rows in drawn[place : place + 3]]
        both = itertools.product(parts, repeat=2)
        asked = write_out(Game(uniform, AdaptiveComposition(parts, 2), NamesSecret(4)))
        fixed = [write_out(Game(uniform, Parallel(pair), NamesSecret(4))) for pair in both]
        found.append((asked.delta(0.0), max(one.delta(0.0) for one in fixed)))
    return found


def excess(algorithm: str, questions: int, promised: float) -> float:
    """Compute by how much the best attacker of sparse vector exceeds a promised gain."""
    mechanism = SparseVector(1.0, 1, questions, 1, algorithm)  # pyright: ignore[reportArgumentType]
    exact = write_out(Game(PAIR, mechanism, FirstBit()))
    return float((exact.deltas(EPSILONS) - PureDP(promised).profile(EPSILONS)).max())


def composed() -> list[float]:
    """Compute how far adaptively chosen randomized responses are from optimal composition."""
    parts = [RandomizedResponse(1.0), RandomizedResponse(0.5)]
    apart: list[float] = []
    for times in (1, 2, 3):
        exact = write_out(Game(PAIR, AdaptiveComposition(parts, times), FirstBit()))
        allowed = optimal_composition(1.0, times).profile(EPSILONS)
        apart += np.abs(exact.deltas(EPSILONS) - allowed).tolist()
    return apart


def named(mechanism: CountQueries, attack: Asks, n: int, trials: int) -> list[float]:
    """Play an attacker on random bits; return the share of them that it names."""
    rng = np.random.default_rng(11)
    shares: list[float] = []
    for data in Bits(n).draw(trials, rng).data:
        talk = Conversation(mechanism.answers(data, rng), mechanism.questions)
        shares.append(float((attack.converse(talk, None, rng.spawn(1)[0]) == data).mean()))
    return shares


PROTOCOLS = Statements("003", 0.5)


@PROTOCOLS(
    "Definition B.11",
    "Resilience of a protocol: the attacker asks, and asks on.",
    profile_of("sparse-vector"),
    seconds=3,
)
def definition_b11(_given: Given) -> Told:
    gains = adapted()
    linear, every = LinearReconstruction(n=64), ExhaustiveReconstruction(n=8)
    little = named(CountQueries(256, error=1), linear, 64, 8)
    private = named(CountQueries(256, epsilon=1.0), linear, 64, 8)
    found = named(CountQueries(255, error=1), every, 8, 8)
    bound = from_lemmas(Game(Bits(64), CountQueries(256, epsilon=1.0), Hamming(0.05)))
    yield checked(
        "a protocol of one question is the mechanism that it asks: 6 channels, against every "
        "attacker",
        max(one_question()) <= ROOM,
    )
    yield checked(
        "who lets a question depend on the answers gains at least what any fixed questions "
        f"give, and often more: {len(gains)} protocols of two questions, every attacker, by "
        "backward induction",
        all(free >= fixed - ROOM for free, fixed in gains)
        and any(free > fixed + 1e-3 for free, fixed in gains),
    )
    yield checked(
        "sparse vector (Lyu, Su and Li 2017, Algorithms 1 and 2) gives no attacker more than "
        "its privacy allows over a pair: five questions, each after the earlier answers",
        max(excess("standard", 5, 1.0), excess("dwork-roth", 5, 1.0)) <= ROOM,
    )
    yield checked(
        "without noise on the counts, without an end, or with counts as answers (Algorithms "
        "5, 6, 3) it gives more than any (1, 0)-private mechanism does",
        min(excess("stoddard", 2, 1.0), excess("chen", 5, 1.0), excess("roth", 4, 1.0)) > 1e-4,
    )
    yield checked(
        "Theorem A.4 holds for protocols: randomized responses chosen one after the other "
        "reach the delta of optimal composition (Kairouz, Oh and Viswanath 2015), and no more",
        max(composed()) <= ROOM,
    )
    yield checked(
        "what fits the counts of all subsets of 8 bits, each off by one at most, has four "
        "bits wrong at most (Dinur and Nissim 2003): 8 data sets",
        min(found) >= 0.5,
    )
    yield played(
        "counts of 256 random subsets of 64 bits, off by one at most, name 95 of 100 bits; "
        "with noise for epsilon 1 in all they do not, and the chance is at most "
        f"{math.inf if bound is None else bound.value:.2g} for every attacker",
        min(little) >= 0.95 and max(private) < 0.95 and bound is not None and bound.value < 1e-3,
    )


PROTOCOLS(
    "Theorem B.12", "CPA security is resilience of a conversation.", audit_of("cpa-own-scheme")
)(cpa)


JUDGES = ("compressors", "statistical-tests", "learned-verifier")
BITS, TRIPLES = 2048, 150
STRONG, REGISTER, LINEAR = (32, 64, 128), (5, 8, 12, 20), (8, 16, 24, 48)
SEARCHED = (6, 7, 8, 9)
EXHAUSTED = "seed-search"


def _against(study: str, seeds: tuple[int, ...], trials: int) -> dict[str, SizeCurve]:
    """Play a study over the length of the seed; return the gain of each verifier."""
    made = swept(study, {"mechanism.seed_bits": seeds, "mechanism.length": (1024,)}, trials)
    return {name: curve_of(made, name) for name in (*JUDGES, EXHAUSTED)}


def _lines(curves: dict[str, SizeCurve], names: Iterable[str] = JUDGES) -> list[Line]:
    return [
        Line(name, [p.size for p in curves[name].points], [p.value for p in curves[name].points])
        for name in names
    ]


def _nothing(_bits: float) -> float:
    return 0.0


VERIFIERS_DRAWN = Statements("003", 12.0, prefix="narcissus-papers scale ", kind="figure")
VERIFIERS = Statements("003", 0.5)


@VERIFIERS_DRAWN(
    "verifiers",
    "Verifiers against strong and weak generators, by the seed.",
    "verifiers-linear-feedback --over mechanism.seed_bits=4:20:4 --trials 400",
)
def verifiers(_given: Given) -> Reproduced:
    strong = _against("verifiers-fooled", STRONG, 1000)
    register = _against("verifiers-linear-feedback", REGISTER, 400)
    linear = _against("verifiers-congruential", LINEAR, 400)
    all_seeds = swept(
        "generator-short-seed",
        {"mechanism.seed_bits": SEARCHED, "attack.budget": tuple(2**k for k in SEARCHED)},
        400,
    )
    search = curve_of(all_seeds, EXHAUSTED)
    most = max(p.high for name in JUDGES for p in strong[name].points)
    tests, learned = "statistical-tests", "learned-verifier"
    caught = {name: {p.size: p.low for p in linear[name].points} for name in JUDGES}
    return Reproduced(
        panels=(
            Panel("ChaCha20", "bits of the seed", "gain", _lines(strong)),
            Panel("Shift register with linear feedback", "bits of the seed", "gain",
                  _lines(register)),
            Panel("Linear congruential generator", "bits of the seed", "gain", _lines(linear)),
            Panel("All 2^k seeds tried", "bits of the seed", "seeds", [
                Line("work", SEARCHED, [2.0**k for k in SEARCHED])], log_y=True),
        ),
        held=(
            played(
                f"ChaCha20, seeds of {STRONG} bits: none of these three verifiers certainly gains "
                f"anything, nor more than {most:.2f}; nothing is said of other verifiers",
                all(holds(strong[name], _nothing) for name in JUDGES) and most < 0.3,
            ),
            played(
                f"a shift register is caught by a test at every length, {REGISTER} bits: the "
                f"gain is at least {min(p.low for p in register[tests].points):.2f}",
                min(p.low for p in register[tests].points) > 0.85,
            ),
            played(
                "compressors catch it at 5 bits, where it repeats, and gain nothing that is "
                "certain at 8 or more; a verifier that learns gains at 8, and nothing certain at "
                "20",
                register["compressors"].points[0].low > 0.5
                and all(p.low <= 0 <= p.high for p in register["compressors"].points[1:])
                and register[learned].points[1].low > 0.2
                and register[learned].points[-1].low <= 0,
            ),
            played(
                "a congruential generator is caught by tests at 8 and 16 bits, and at 24 by the "
                "verifier that learns alone; tests gain nothing that is certain at 24 and 48",
                min(caught[tests][8], caught[tests][16], caught[learned][24]) > 0.5
                and max(caught[tests][24], caught[tests][48]) <= 0,
            ),
            played(
                f"who tries all 2^k seeds is never fooled, k = {SEARCHED}: the gain is at least "
                f"{min(p.low for p in search.points):.2f}, for 2^k evaluations",
                all(p.value == 1 for p in search.points),
            ),
        ),
    )  # fmt: skip


def _strings(pseudo_random: bool) -> tuple[NDArray[np.uint8], bool]:
    """Make triples; return their data as bits, and whether release and program hold them."""
    rows: list[NDArray[np.uint8]] = []
    whole = True
    for seed in range(TRIPLES):
        one = prg_example(pseudo_random=pseudo_random, length=BITS // 8, rng=seed)
        rows.append(np.unpackbits(np.frombuffer(bytes.fromhex(one.data.decode()), np.uint8)))
        tail = one.program.split(b"+'")[1].split(b"'")[0]
        whole &= one.release + tail == one.data
    return np.array(rows), whole


@VERIFIERS(
    "Algorithm D.12",
    "Evidence from a seed or from chance, and verifiers that judge it.",
    f"{WRITE} D.12",
)
def algorithm_d12(_given: Given) -> Told:
    (fake, one), (real, other) = _strings(True), _strings(False)
    rng = np.random.default_rng(0)
    best = write_out(Game(Pairs([[[0], [1]]]), Stretched(2, 16), FirstBit())).delta(0.0)
    held: list[Held] = []
    for name, judge in (("compressors", CompressionVerifier()), ("tests", StatisticalVerifier())):
        right = int(judge.attempt(fake, None, rng).sum()) + TRIPLES
        right -= int(judge.attempt(real, None, rng).sum())
        limits = clopper_pearson(right, 2 * TRIPLES, confidence=1 - 1e-6)
        low, high = limits.low or 0.0, limits.high or 1.0
        held.append(played(
            f"{name} say which it was with chance {low:.2f} to {high:.2f} ({2 * TRIPLES} triples; "
            "nothing is said of other verifiers)", low <= 0.5 <= high,
        ))  # fmt: skip
    yield checked(
        "release and hard-coded end make the string, so a verifier of the string sees the "
        f"whole triple ({2 * TRIPLES} triples)",
        one and other,
    )
    yield checked(
        "a verifier without limit is wrong about four random strings in 2^16 only (d = 2, "
        f"strings of d^4 bits, the exact game: a gain of {best:.6f})",
        abs(best - (1 - 2**-14)) < ROOM,
    )
    yield from held
