"""Ciphers: what is sealed can be opened, and is sealed anew each time."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import (
    Cipher,
    PublicKey,
)


def test_ciphers_decrypt_and_encrypt_anew():
    rng = np.random.default_rng(4)
    data = np.zeros((2, 33), dtype=np.uint8)
    for scheme, size in (("aes", 160), ("one-time-pad", 32), ("repeating-xor", 32)):
        release = Cipher(scheme).release(data, rng)
        assert release.shape == (2, size)
        assert (release[0] != release[1]).any()
    broken = Cipher("repeating-xor", key_bits=4)
    text = broken.release(data, rng)[0]
    assert (broken.decrypt(text[None, :4], text) == 0).all()
    public = PublicKey("x25519")
    _, key = public.keys(rng)
    assert public.encrypt(key, b"one", rng) != public.encrypt(key, b"one", rng)
    fixed = PublicKey("deterministic")
    assert fixed.encrypt(key, b"one", rng) == fixed.encrypt(key, b"one", rng)
    talk = fixed.answers(np.array([1]), rng)
    key = next(talk)
    assert talk.send((b"zero", b"ones")) == fixed.encrypt(key, b"ones", rng)


def test_coins_are_as_many_as_was_said():
    rng = np.random.default_rng(7)
    _, key = PublicKey().keys(rng)
    for bits, most in ((0, 1), (2, 4)):
        scheme = PublicKey("few-coins", coin_bits=bits)
        assert len({scheme.encrypt(key, b"one", rng) for _ in range(60)}) == most
    many = PublicKey("few-coins")  # 8 bits
    assert 4 < len({many.encrypt(key, b"one", rng) for _ in range(60)}) <= 60
    with pytest.raises(InputError, match="`coin_bits` is an option of the scheme `few-coins`"):
        PublicKey("x25519", coin_bits=4)
    with pytest.raises(InputError, match="coin_bits"):
        PublicKey("few-coins", coin_bits=63)


def test_public_key_messages_can_be_opened_by_their_owner():
    """A real scheme: the owner's private key recovers the message."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import x25519
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    rng = np.random.default_rng(5)
    scheme = PublicKey()
    private, public = scheme.keys(rng)
    sealed = scheme.encrypt(public, b"hello", rng)
    shared = private.exchange(x25519.X25519PublicKey.from_public_bytes(sealed[:32]))
    key = HKDF(hashes.SHA256(), 16, None, b"narcissus").derive(shared)
    assert AESGCM(key).decrypt(bytes(12), sealed[32:], None) == b"hello"
