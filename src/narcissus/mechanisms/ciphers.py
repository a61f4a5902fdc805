"""Encryption as a mechanism: one message (EAV), and a conversation (CPA).

The sound ciphers come from the package ``cryptography``; the broken ones are written here, to be
broken.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from narcissus._optional import optional
from narcissus._validation import integer, one_of
from narcissus.errors import InputError
from narcissus.mechanisms.chosen_plaintext import challenge
from narcissus.worlds.base import Array


def _aes(key: bytes, nonce: bytes, text: bytes) -> bytes:
    ciphers = optional(
        "cryptography.hazmat.primitives.ciphers", extra="games", purpose="AES encryption"
    )
    cipher = ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.CTR(nonce))
    return cipher.encryptor().update(text)


@dataclass(frozen=True)
class Cipher:
    """Encrypt one message under a fresh key; the first bit of a data set is left out.

    The data set ``(b, m)`` is a bit and a message, as in Cohen et al. 2024, Theorem B.8: the
    attacker sees the ciphertext of ``m`` and guesses ``b``.

    Parameters
    ----------
    scheme
        ``"aes"``: AES-128 in counter mode under a random key and nonce. ``"one-time-pad"``: a
        random key as long as the message. ``"repeating-xor"``: a key of ``key_bits`` bits,
        repeated; broken.
    key_bits
        Length of the repeated key; 12 where not given. The other schemes have keys of their own.
    """

    scheme: Literal["aes", "one-time-pad", "repeating-xor"] = "aes"
    key_bits: int | None = None

    def __post_init__(self) -> None:
        one_of("scheme", self.scheme, ("aes", "one-time-pad", "repeating-xor"))
        if self.key_bits is None:
            return
        integer("key_bits", self.key_bits, low=1, high=128)
        if self.scheme != "repeating-xor":
            raise InputError(
                f"`key_bits` is an option of the scheme `repeating-xor`, `{self.scheme}` does not "
                "use it: leave it out"
            )

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
            return messages ^ self.stretch(keys, length)
        packed = np.packbits(messages, axis=1)
        texts: list[bytes] = []
        for row in packed:
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
        return release ^ self.stretch(keys, release.size)

    def secret_bits(self, length: int) -> int:
        """Return the length of a key for messages of ``length`` bits."""
        return {"aes": 128, "one-time-pad": length, "repeating-xor": self.repeated}[self.scheme]

    @staticmethod
    def stretch(keys: Array, length: int) -> Array:
        """Repeat keys, shape (trials, bits), to ``length`` bits."""
        return np.tile(keys, (1, -(-length // keys.shape[1])))[:, :length]


@dataclass(frozen=True)
class PublicKey:
    """Public-key encryption as an interactive mechanism.

    The data set is one bit. The mechanism sends a fresh public key, gets two messages, sends the
    encryption of the one that the bit names (Cohen et al. 2024, Theorem B.12). It is an encryption
    scheme as well, for `chosen-plaintext`.

    Parameters
    ----------
    scheme
        ``"x25519"``: a one-time X25519 key agreement, HKDF-SHA-256, AES-GCM. ``"deterministic"``:
        the same with the sender's one-time key fixed by the public key, so that encrypting twice
        gives the same; broken, since the attacker can encrypt as well. ``"few-coins"``: the same
        with the one-time key fixed by the public key and ``coin_bits`` random bits.
    coin_bits
        Random bits of the scheme ``few-coins``; 8 where not given. The others have none to choose.
    """

    scheme: Literal["x25519", "deterministic", "few-coins"] = "x25519"
    coin_bits: int | None = None
    interactive = True

    def __post_init__(self) -> None:
        one_of("scheme", self.scheme, ("x25519", "deterministic", "few-coins"))
        if self.coin_bits is None:
            return
        integer("coin_bits", self.coin_bits, low=0, high=62)
        if self.scheme != "few-coins":
            raise InputError(
                f"`coin_bits` is an option of the scheme `few-coins`, `{self.scheme}` does not use "
                "it: leave it out"
            )

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

    def _fixed(self, public: bytes, rng: np.random.Generator) -> bytes:
        """Derive the sender's one-time key from the public key, and from coins if there are any."""
        if self.scheme == "deterministic":
            return hashlib.sha256(public).digest()
        bits = 8 if self.coin_bits is None else self.coin_bits
        coins = int(rng.integers(0, 1 << bits))
        return hashlib.sha256(public + coins.to_bytes(8, "big")).digest()

    def _seal(self, shared: bytes, message: bytes) -> bytes:
        purpose = "Public-key encryption"
        hashes = optional("cryptography.hazmat.primitives.hashes", extra="games", purpose=purpose)
        hkdf = optional("cryptography.hazmat.primitives.kdf.hkdf", extra="games", purpose=purpose)
        aead = optional(
            "cryptography.hazmat.primitives.ciphers.aead", extra="games", purpose=purpose
        )
        key = hkdf.HKDF(hashes.SHA256(), 16, None, b"narcissus").derive(shared)
        # One key seals one message, so a constant nonce is sound.
        return aead.AESGCM(key).encrypt(bytes(12), message, None)

    def answers(self, data: Array, rng: np.random.Generator) -> Generator[Any, Any, None]:
        """Hold one conversation about one data set: a bit."""
        return challenge(self, data, rng)


def _curve() -> Any:
    return optional(
        "cryptography.hazmat.primitives.asymmetric.x25519",
        extra="games",
        purpose="Public-key encryption",
    )
