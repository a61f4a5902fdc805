"""Encryption as a mechanism: one message, or a conversation about chosen plaintexts.

The sound ciphers come from the package ``cryptography``; the broken ones are written here, to be
broken.

Source: Cohen et al. 2024, Definitions B.9 and B.10, Theorem B.12 (public key); Katz and Lindell
2014, Definition 3.22 (private key, with an encryption oracle).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

import numpy as np

from narcissus._optional import optional
from narcissus._options import OfRoom
from narcissus._validation import integer, one_of
from narcissus.errors import InputError
from narcissus.worlds.base import Array

_SEALING = "Public-key encryption"


def _aes(key: bytes, nonce: bytes, text: bytes) -> bytes:
    ciphers = optional(
        "cryptography.hazmat.primitives.ciphers", extra="games", purpose="AES encryption"
    )
    cipher = ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.CTR(nonce))
    return cipher.encryptor().update(text)


def _curve() -> Any:
    return optional(
        "cryptography.hazmat.primitives.asymmetric.x25519", extra="games", purpose=_SEALING
    )


def _require_used(option: str, value: int | None, scheme: str, only: str) -> None:
    """Refuse an option of one scheme that is given to another."""
    if value is not None and scheme != only:
        raise InputError(
            f"`{option}` is an option of the scheme `{only}`, `{scheme}` does not use it: "
            "leave it out"
        )


@dataclass(frozen=True)
class Cipher:
    """Encrypt one message under a fresh key; the first bit of a data set is left out.

    The data set ``(b, m)`` is a bit and a message, as in Cohen et al. 2024, Theorem B.8: the
    attacker sees the ciphertext of ``m`` and guesses ``b``.

    scheme: ``"aes"``: AES-128 in counter mode under a random key and nonce. ``"one-time-pad"``: a
        random key as long as the message. ``"repeating-xor"``: a key of ``key_bits`` bits,
        repeated; broken.
    key_bits: Length of the repeated key; 12 where not given. The other schemes have their
        own keys.
    """

    scheme: Literal["aes", "one-time-pad", "repeating-xor"] = "aes"
    key_bits: int | None = None

    def __post_init__(self) -> None:
        one_of("scheme", self.scheme, ("aes", "one-time-pad", "repeating-xor"))
        if self.key_bits is not None:
            integer("key_bits", self.key_bits, low=1, high=128)
        _require_used("key_bits", self.key_bits, self.scheme, "repeating-xor")

    @property
    def repeated(self) -> int:
        """Length of the key that is repeated."""
        return 12 if self.key_bits is None else self.key_bits

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the ciphertexts as bits: (trials, m), or (trials, 128 + m) with AES's nonce."""
        messages = data.reshape(len(data), -1)[:, 1:].astype(np.uint8)
        trials, length = messages.shape
        if self.scheme == "one-time-pad":
            return messages ^ rng.integers(0, 2, messages.shape, dtype=np.uint8)
        if self.scheme == "repeating-xor":
            keys = rng.integers(0, 2, (trials, self.repeated), dtype=np.uint8)
            return messages ^ _repeat(keys, length)
        texts: list[bytes] = []
        for row in np.packbits(messages, axis=1):
            secret = rng.bytes(32)
            texts.append(secret[16:] + _aes(secret[:16], secret[16:], row.tobytes()))
        table = np.frombuffer(b"".join(texts), dtype=np.uint8).reshape(trials, -1)
        return np.unpackbits(table, axis=1)[:, : 128 + length]

    def decrypt(self, keys: Array, release: Array) -> Array:
        """Undo one release under many keys: (keys, message bits)."""
        if self.scheme == "aes":
            body = np.packbits(release)
            nonce, text = body[:16].tobytes(), body[16:].tobytes()
            plain = [_aes(key.tobytes(), nonce, text) for key in np.packbits(keys, axis=1)]
            table = np.frombuffer(b"".join(plain), dtype=np.uint8).reshape(len(keys), -1)
            return np.unpackbits(table, axis=1)[:, : release.size - 128]
        return release ^ _repeat(keys, release.size)

    def secret_bits(self, length: int) -> int:
        """Return the length of a key for messages of ``length`` bits."""
        return {"aes": 128, "one-time-pad": length, "repeating-xor": self.repeated}[self.scheme]


def _repeat(keys: Array, length: int) -> Array:
    """Repeat keys, shape (trials, bits), to ``length`` bits."""
    return np.tile(keys, (1, -(-length // keys.shape[1])))[:, :length]


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
    message = public
    for number in range(questions + 1):
        question = yield message
        if isinstance(question, list | tuple):
            yield scheme.encrypt(key, _two(question)[bit], rng)
            return
        if number == questions:
            raise InputError(
                f"the mechanism encrypts {questions} messages before the pair, not {number + 1}"
            )
        message = scheme.encrypt(key, question, rng)


def _two(messages: Any) -> Any:
    """Refuse what is not a pair of messages of one length."""
    if (
        len(messages) != 2
        or np.size(messages[0]) != np.size(messages[1])
        or (hasattr(messages[0], "__len__") and len(messages[0]) != len(messages[1]))
    ):
        raise InputError("the attacker must choose two messages of one length")
    return messages


@dataclass(frozen=True)
class PublicKey:
    """Public-key encryption as an interactive mechanism.

    The data set is one bit. The mechanism sends a fresh public key, gets two messages, sends the
    encryption of the one that the bit names (Cohen et al. 2024, Theorem B.12). It is an encryption
    scheme as well, for `chosen-plaintext`.

    scheme: ``"x25519"``: a one-time X25519 key agreement, HKDF-SHA-256, AES-GCM.
        ``"deterministic"``: the same with the sender's one-time key fixed by the public key, so
        that encrypting twice gives the same; broken, since the attacker can encrypt as well.
        ``"few-coins"``: the same with the one-time key fixed by the public key and ``coin_bits``
        random bits.
    coin_bits: Random bits of the scheme ``few-coins``; 8 where not given. The others have none to
        choose.
    """

    scheme: Literal["x25519", "deterministic", "few-coins"] = "x25519"
    coin_bits: int | None = None
    interactive = True

    def __post_init__(self) -> None:
        one_of("scheme", self.scheme, ("x25519", "deterministic", "few-coins"))
        if self.coin_bits is not None:
            integer("coin_bits", self.coin_bits, low=0, high=62)
        _require_used("coin_bits", self.coin_bits, self.scheme, "few-coins")

    def keys(self, rng: np.random.Generator) -> tuple[Any, bytes]:
        """Return a private and a public key."""
        curve = _curve()
        private = curve.X25519PrivateKey.from_private_bytes(rng.bytes(32))
        return private, private.public_key().public_bytes_raw()

    def encrypt(self, key: bytes, message: bytes, rng: np.random.Generator) -> bytes:
        """Encrypt a message: the sender's one-time public key, then the sealed message."""
        curve = _curve()
        seed = rng.bytes(32) if self.scheme == "x25519" else self._fixed(key, rng)
        sender = curve.X25519PrivateKey.from_private_bytes(seed)
        shared = sender.exchange(curve.X25519PublicKey.from_public_bytes(key))
        return sender.public_key().public_bytes_raw() + self._seal(shared, message)

    def _seal(self, shared: bytes, message: bytes) -> bytes:
        hashes = optional("cryptography.hazmat.primitives.hashes", extra="games", purpose=_SEALING)
        hkdf = optional("cryptography.hazmat.primitives.kdf.hkdf", extra="games", purpose=_SEALING)
        aead = optional(
            "cryptography.hazmat.primitives.ciphers.aead", extra="games", purpose=_SEALING
        )
        sealing = hkdf.HKDF(hashes.SHA256(), 16, None, b"narcissus").derive(shared)
        # One key seals one message, so a constant nonce is sound.
        return aead.AESGCM(sealing).encrypt(bytes(12), message, None)

    def _fixed(self, public: bytes, rng: np.random.Generator) -> bytes:
        """Derive the sender's one-time key from the public key, and from coins if there are any."""
        if self.scheme == "deterministic":
            return hashlib.sha256(public).digest()
        coins = int(rng.integers(0, 1 << (8 if self.coin_bits is None else self.coin_bits)))
        return hashlib.sha256(public + coins.to_bytes(8, "big")).digest()

    def answers(self, data: Array, rng: np.random.Generator) -> Generator[Any, Any, None]:
        return challenge(self, data, rng)


@dataclass(frozen=True)
class ChosenPlaintext:
    """An encryption scheme of any kind under chosen plaintexts.

    The data set is one bit. The attacker sees the public key, if there is one, asks for encryptions
    of messages, then names two messages of one length: the one that the bit names is encrypted.

    scheme: The encryption scheme: one with a public key, which the attacker can use itself, or with
        a secret key only.
    encryptions: Messages that are encrypted for the attacker before the pair, 0 to 10,000; with a
        public key it needs none.
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
        return challenge(self.scheme, data, rng, self.encryptions)


@dataclass(frozen=True)
class TextbookRsa:
    """Textbook RSA on whole numbers, with random digits appended to the message.

    A message ``m`` becomes ``(m * coins + c)^exponent mod modulus``, ``c`` one of ``coins`` random
    values. With one coin nothing is random, and who encrypts both messages tells them apart.

    modulus: A product of two primes.
    exponent: The public exponent, at least 2.
    coins: How many random values; messages are below ``modulus // coins``.
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

    key_bits: Length of the key, 1 to 256.
    nonce: Whether every message gets random separate bytes, sent before it; without, the same
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
        head = rng.bytes(16) if self.nonce else b""
        blocks = range(-(-len(message) // 32))
        stream = b"".join(
            hashlib.sha256(key + head + number.to_bytes(8, "big")).digest() for number in blocks
        )
        return head + bytes(a ^ b for a, b in zip(message, stream, strict=False))
