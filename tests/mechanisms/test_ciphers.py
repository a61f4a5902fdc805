"""Ciphers: what is sealed can be opened, and is sealed anew each time; chosen plaintexts."""

import numpy as np
import pytest

from narcissus.attacks.base import Conversation, ConversationOverError
from narcissus.errors import InputError
from narcissus.mechanisms import (
    ChosenPlaintext,
    Cipher,
    PublicKey,
    StreamCipher,
    TextbookRsa,
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


class Shift:
    """A scheme of one's own: adds a secret number."""

    def keys(self, rng):
        return int(rng.integers(1, 100)), None

    def encrypt(self, key, message, rng):
        return message + key


def conversation(scheme, bit=1, encryptions=0, seed=0):
    mechanism = ChosenPlaintext(scheme, encryptions)
    rng = np.random.default_rng(seed)
    return Conversation(mechanism.answers(np.array([bit]), rng), mechanism.questions)


@pytest.mark.parametrize("bit", [0, 1])
def test_messages_are_encrypted_and_then_the_one_that_the_bit_names(bit):
    talk = conversation(Shift(), bit, 2)
    assert talk.greeting is None
    key = talk.ask(0)
    assert 1 <= key < 100
    assert talk.ask(1000) == 1000 + key
    assert talk.ask((10, 20)) == (10, 20)[bit] + key
    with pytest.raises(ConversationOverError):
        talk.ask(0)


def test_nothing_is_answered_after_the_pair_or_beyond_the_encryptions():
    talk = conversation(Shift(), 1, 5)
    talk.ask([1, 2])
    with pytest.raises(ConversationOverError, match="ended the conversation after 1 questions"):
        talk.ask(7)
    talk = conversation(Shift(), 1, 1)
    talk.ask(5)
    with pytest.raises(InputError, match="encrypts 1 messages before the pair, not 2"):
        talk.ask(6)


@pytest.mark.parametrize("pair", [(b"a",), (b"a", b"bc"), (b"a", b"b", b"c"), ([1], [1, 2])])
def test_only_two_messages_of_one_length_are_a_pair(pair):
    with pytest.raises(InputError, match="two messages of one length"):
        conversation(PublicKey(), 0).ask(pair)


def test_a_public_key_is_said_first_and_encrypts():
    scheme = TextbookRsa(3233, 17)
    talk = conversation(scheme, 1)
    assert talk.greeting == (3233, 17)
    assert talk.ask((5, 65)) == pow(65, 17, 3233) == 2790


def test_rsa_appends_one_of_its_coins():
    scheme, rng = TextbookRsa(3233, 17, 4), np.random.default_rng(1)
    _, key = scheme.keys(rng)
    found = {scheme.encrypt(key, 9, rng) for _ in range(200)}
    assert found == {pow(36 + coin, 17, 3233) for coin in range(4)}
    assert scheme.messages == 808
    with pytest.raises(InputError, match="whole number below 808, got 808"):
        scheme.encrypt(key, 808, rng)
    with pytest.raises(InputError, match=r"got b'text'.*`messages`"):
        scheme.encrypt(key, b"text", rng)


def test_a_stream_is_undone_by_itself():
    rng = np.random.default_rng(2)
    for nonce, text in ((False, b"secret " * 20), (True, b"x")):
        scheme = StreamCipher(12, nonce=nonce)
        key, public = scheme.keys(rng)
        assert public is None
        assert len(key) == 2
        assert key[0] < 16  # twelve bits
        sealed = scheme.encrypt(key, text, rng)
        head = sealed[:16] if nonce else b""

        class Fixed:
            def bytes(self, count, head=head):
                return head

        again = scheme.encrypt(key, sealed[len(head) :], Fixed())
        assert again[len(head) :] == text
        assert sealed != text


def test_what_is_no_scheme_is_refused():
    with pytest.raises(InputError, match="int has no `keys`"):
        ChosenPlaintext(3)
    for scheme, options in (
        (TextbookRsa, (5, 3)),
        (TextbookRsa, (33, 1)),
        (TextbookRsa, (33, 3, 30)),
        (StreamCipher, (0,)),
        (ChosenPlaintext, (Shift(), -1)),
    ):
        with pytest.raises(InputError):
            scheme(*options)
