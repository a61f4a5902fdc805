"""Appendix B of Cohen et al. 2024: one-way functions and encryption."""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import Any

import numpy as np

from narcissus.evidence import clopper_pearson
from narcissus.game import Game
from narcissus.mechanisms import Cipher, Sha256, through_channel
from narcissus.profiles import write_out, write_out_family
from narcissus.results import Estimate
from narcissus.success.relations import FirstBit, SameImage
from narcissus.worlds import Bits, Family, Pairs
from narcissus_papers.base import Given, Reproduced, Statements, claims, played
from narcissus_papers.cohen.cases import (
    ROOM,
    Labelled,
    Matrix,
    audit_of,
    channels,
    checked,
    profile_of,
    proved,
)

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
def definition_b1(_given: Given) -> Reproduced:
    gains: list[tuple[float, float]] = []
    for rows in channels(8, 2, 4):
        exact = write_out(Game(Pairs([[[0], [1]]]), through_channel(rows.tolist()), FirstBit()))
        # an attacker who looks at one of the two bits of the release only
        first, second = rows[:, [0, 1]].sum(axis=1), rows[:, [0, 2]].sum(axis=1)
        limited = max(abs(first[0] - first[1]), abs(second[0] - second[1]))
        gains.append((limited, exact.delta(0.0)))
    return claims(
        proved(
            "what is resilient against every attacker is so against those of limited effort: "
            f"attackers who see one bit of the release, {len(gains)} mechanisms",
            all(limited <= everybody + ROOM for limited, everybody in gains),
        ),
        checked(
            "the converse fails: some limited attackers gain strictly less",
            any(limited < everybody - 0.01 for limited, everybody in gains),
        ),
    )


@CRYPTOGRAPHY(
    "Remark B.2",
    "Mechanism, relation and distributions are to be efficient.",
    audit_of("one-way-sha256"),
)
def remark_b2(_given: Given) -> Reproduced:
    rng, right = np.random.default_rng(0), []
    for length in (64, 512, 4096):
        world, function = Bits(length), Sha256()
        data = world.draw(8, rng).data
        relation = SameImage(function)
        right.append(bool(relation.holds(data, data, rng).all()))
        right.append(not relation.holds(data, 1 - data, rng).any())
        right.append(function.release(data, rng).shape == (8, 256))
    return claims(
        checked(
            "mechanism, relation and distribution are computed by drawing, in time that grows "
            "with the length: SHA-256 of strings of 64, 512 and 4,096 bits",
            all(right),
        )
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
def definition_b3(_given: Given) -> Reproduced:
    sizes, budget, rng = (2, 6, 10, 14), 64, np.random.default_rng(3)
    found = [searched(bits, budget, rng) for bits in sizes]
    return claims(
        played(
            f"who tries {budget} inputs finds a preimage of SHA-256 cut to k bits with chance "
            "1 - (1 - 2^-k)^64, which halves with each further bit: "
            + ", ".join(
                f"k = {k} {one.low:.3f} to {one.high:.3f}"
                for k, one in zip(sizes, found, strict=True)
            ),
            all(
                (one.low or 0) <= -math.expm1(budget * math.log1p(-(2.0**-k))) <= (one.high or 1)
                for k, one in zip(sizes, found, strict=True)
            ),
        )
    )


def spread(labels: tuple[int, ...]) -> float:
    """Return the chance of the likeliest image of a uniform string."""
    return max(labels.count(y) for y in labels) / len(labels)


@CRYPTOGRAPHY(
    "Definition B.4", "A function is well-spread: no image is likely.", profile_of("one-way-exact")
)
def definition_b4(_given: Given) -> Reproduced:
    one_to_one = [spread(p) for p in permutations(range(4))]
    found = [
        abs(spread(f) - float(write_out(_one_way(f)).fixed.max()))
        for f in product(range(4), repeat=4)
    ]
    return claims(
        proved(
            "a 1-1 function is 2^-lambda-well-spread: all 24 of two bits",
            max(one_to_one) == min(one_to_one) == 0.25,
        ),
        checked(
            "the spread is the best chance of a preimage named without the release: all 256 "
            "functions of two bits",
            max(found) <= ROOM,
        ),
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
def theorem_b5(_given: Given) -> Reproduced:
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
    return claims(
        proved(
            "the own baseline of every attacker is at most the spread, so resilience bounds the "
            "success by delta + spread, and one-wayness bounds the gain: all 256 functions of two "
            "bits, every attacker",
            max(over) <= ROOM and max(apart) <= ROOM,
        ),
        proved(
            "with unlimited effort every function is inverted: delta(0) is one minus the sum of "
            "the squared chances of its images, at least 1 - spread",
            all(
                abs(write_out(_one_way(f)).delta(0.0) - lost(f)) <= ROOM
                and lost(f) >= 1 - spread(f) - ROOM
                for f in product(range(4), repeat=4)
            ),
        ),
    )


@CRYPTOGRAPHY("Definition B.6", "A private-key encryption scheme.", audit_of("eav-broken"))
def definition_b6(_given: Given) -> Reproduced:
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
    return claims(
        checked(
            f"decryption gives the message back under its key: {len(right)} messages of four bits, "
            "one-time pad and repeated key",
            all(right),
        )
    )


@CRYPTOGRAPHY(
    "Theorem B.8", "EAV security is resilience over all pairs of messages.", audit_of("eav-broken")
)
@CRYPTOGRAPHY(
    "Definition B.7", "EAV security: two messages cannot be told apart.", audit_of("eav-aes")
)
def eav(_given: Given) -> Reproduced:
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
    return claims(
        proved(
            "delta at epsilon 0 is twice the advantage over a coin, for the worst of all 16 pairs "
            f"of messages and every attacker: {said}",
            max(apart) <= ROOM,
        ),
        proved(
            "success and own baseline of whoever names a bit add up to one: all 16 attackers, "
            f"{len(adds)} cases",
            max(adds) <= ROOM,
        ),
        checked(
            "the one-time pad is (0, 0)-resilient, a key of one bit is not",
            worst["one-time pad"] <= ROOM and worst["a key of one bit, repeated"] > 0.99,
        ),
    )


KEYS = ((33, 3, 7), (33, 7, 3), (15, 3, 3), (35, 5, 5), (35, 11, 11))
"""Toy RSA: modulus, exponent of the public key, exponent of the secret key."""


@CRYPTOGRAPHY("Definition B.9", "A public-key encryption scheme.", audit_of("cpa-x25519"))
def definition_b9(_given: Given) -> Reproduced:
    right = [pow(pow(m, e, n), d, n) == m for n, e, d in KEYS for m in range(n)]
    return claims(
        checked(
            f"textbook RSA gives every message back: {len(KEYS)} pairs of keys, all messages",
            all(right),
        )
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
def cpa(_given: Given) -> Reproduced:
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
    return claims(
        proved(
            "delta at epsilon 0 is twice the advantage of whoever saw key, messages and "
            f"ciphertext: {len(apart)} conversations with textbook RSA",
            max(apart) <= ROOM,
        ),
        proved(
            "with unlimited effort every correct scheme is broken: ciphertexts of two messages "
            "never meet under one public key, so delta is 1, and the definition is about limited "
            "attackers only",
            min(told) >= 1 - ROOM,
        ),
        proved(
            "who encrypts one message once gains the chance that the coins agree: everything "
            "against a deterministic scheme, 1/c against c coins (c = 1, 2, 4)",
            max(limited) <= ROOM,
        ),
    )
