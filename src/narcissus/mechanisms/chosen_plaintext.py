"""Chosen plaintexts: an encryption scheme, asked for ciphertexts of messages of one's choice.

Source: Cohen et al. 2024, Definitions B.9 and B.10, Theorem B.12 (public key); Katz and Lindell
2014, Definition 3.22 (private key, with an encryption oracle).
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import numpy as np

from narcissus._options import OfRoom
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.worlds.base import Array


class EncryptionScheme(Protocol):
    """How keys are made, and messages encrypted; both may toss coins."""

    def keys(self, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return a secret and a public key; the public one is None where there is none."""
        ...

    def encrypt(self, key: Any, message: Any, rng: np.random.Generator) -> Any:
        """Encrypt under the public key, or under the secret one where there is no other."""
        ...


def challenge(
    scheme: EncryptionScheme, data: Any, rng: np.random.Generator, questions: int = 0
) -> Generator[Any, Any, None]:
    """Talk about one bit: greet with the public key, encrypt, and answer one pair of messages.

    A question of two messages, a list or a tuple, is the challenge, after which nothing is
    answered: the message that the bit names is encrypted. Any other question is a message, which
    is encrypted as it is, ``questions`` times at most.
    """
    bit = int(np.asarray(data).ravel()[0])
    secret, public = scheme.keys(rng)
    key = secret if public is None else public
    said = public
    for number in range(questions + 1):
        question = yield said
        if isinstance(question, list | tuple):
            yield scheme.encrypt(key, _two(question)[bit], rng)
            return
        if number == questions:
            raise InputError(
                f"the mechanism encrypts {questions} messages before the pair, not {number + 1}"
            )
        said = scheme.encrypt(key, question, rng)


def _two(messages: Any) -> Any:
    """Refuse what is not a pair of messages of one length."""
    if len(messages) != 2 or np.size(messages[0]) != np.size(messages[1]) or (
        hasattr(messages[0], "__len__") and len(messages[0]) != len(messages[1])
    ):  # fmt: skip
        raise InputError("the attacker must choose two messages of one length")
    return messages


@dataclass(frozen=True)
class ChosenPlaintext:
    """An encryption scheme of any kind under chosen plaintexts.

    The data set is one bit. The attacker sees the public key, if there is one, asks for encryptions
    of messages, then names two messages of one length: the one that the bit names is encrypted.

    Parameters
    ----------
    scheme
        The encryption scheme: one with a public key, which the attacker can use itself, or with a
        secret key only.
    encryptions
        Messages that are encrypted for the attacker before the pair, 0 to 10,000; with a public
        key it needs none.
    """

    scheme: Annotated[Any, OfRoom("encryption-scheme")]
    encryptions: int = 0
    interactive = True

    def __post_init__(self) -> None:
        integer("encryptions", self.encryptions, low=0, high=10_000)
        for method in ("keys", "encrypt"):
            if not callable(getattr(self.scheme, method, None)):
                raise InputError(
                    f"`scheme` must have the methods `keys(rng)` and `encrypt(key, message, rng)`; "
                    f"{type(self.scheme).__name__} has no `{method}`"
                )

    @property
    def questions(self) -> int:
        """How many questions are answered, the pair included."""
        return self.encryptions + 1

    def answers(self, data: Array, rng: np.random.Generator) -> Generator[Any, Any, None]:
        """Talk about one data set: a bit."""
        return challenge(self.scheme, data, rng, self.encryptions)


@dataclass(frozen=True)
class TextbookRsa:
    """Textbook RSA on whole numbers, with random digits appended to the message.

    A message ``m`` becomes ``(m * coins + c)^exponent mod modulus``, ``c`` one of ``coins`` random
    values. With one coin nothing is random, and who encrypts both messages tells them apart.

    Parameters
    ----------
    modulus
        A product of two primes.
    exponent
        The public exponent, at least 2.
    coins
        How many random values; messages are below ``modulus // coins``.
    """

    modulus: int
    exponent: int
    coins: int = 1

    def __post_init__(self) -> None:
        integer("modulus", self.modulus, low=6)
        integer("exponent", self.exponent, low=2)
        integer("coins", self.coins, low=1, high=self.modulus // 2)

    @property
    def messages(self) -> int:
        """How many messages there are, the numbers from 0."""
        return self.modulus // self.coins

    def keys(self, rng: np.random.Generator) -> tuple[None, tuple[int, int]]:
        """Return no secret key, since nothing is decrypted, and the public one."""
        return None, (self.modulus, self.exponent)

    def encrypt(self, key: tuple[int, int], message: Any, rng: np.random.Generator) -> int:
        """Encrypt a number."""
        if not isinstance(message, int | np.integer) or not 0 <= message < self.messages:
            raise InputError(
                f"a message must be a whole number below {self.messages}, got {message!r}; the "
                "attack `re-encryption` takes them as `messages`"
            )
        number = int(message)
        coin = int(rng.integers(self.coins))
        return pow(number * self.coins + coin, key[1], key[0])


@dataclass(frozen=True)
class StreamCipher:
    """A message of bytes, xor a stream that a secret key of some bits makes: no public key.

    The stream is SHA-256 of key, nonce and block number.

    Parameters
    ----------
    key_bits
        Length of the key, 1 to 256.
    nonce
        Whether every message gets random bytes of its own, sent before it; without, the same
        message is encrypted alike each time.
    """

    key_bits: int = 128
    nonce: bool = True

    def __post_init__(self) -> None:
        integer("key_bits", self.key_bits, low=1, high=256)

    def keys(self, rng: np.random.Generator) -> tuple[bytes, None]:
        """Return a secret key."""
        whole = int.from_bytes(rng.bytes(32), "big") >> (256 - self.key_bits)
        return whole.to_bytes(math.ceil(self.key_bits / 8), "big"), None

    def encrypt(self, key: bytes, message: bytes, rng: np.random.Generator) -> bytes:
        """Encrypt bytes."""
        import hashlib

        head = rng.bytes(16) if self.nonce else b""
        blocks = range(-(-len(message) // 32))
        stream = b"".join(
            hashlib.sha256(key + head + number.to_bytes(8, "big")).digest() for number in blocks
        )
        return head + bytes(a ^ b for a, b in zip(message, stream, strict=False))
