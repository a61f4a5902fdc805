"""Keys, coins, inputs and seeds: found as often as they are tried."""

import numpy as np
import pytest

from narcissus.attacks import Inversion, KeySearch, Reencryption, SeedSearch, TryInputs
from narcissus.attacks.base import Conversation
from narcissus.attacks.search import different_strings
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.mechanisms import (
    ChosenPlaintext,
    Cipher,
    Identity,
    MultiplyHash,
    PublicKey,
    Sha256,
    StreamCipher,
    Stretched,
    TextbookRsa,
)
from narcissus.success.relations import FirstBit, SameImage
from narcissus.worlds import Bits, Pairs

ZEROS, ONES = [0, *[0] * 12], [1, *[1] * 11, 0]


def search(cipher, budget, pair=(ZEROS, ONES)):
    return KeySearch(budget).prepare(Game(Pairs([list(pair)]), cipher, FirstBit()))


def test_all_keys_are_tried_where_the_budget_allows():
    """A key of 4 bits repeated over 12: only one of the two messages is ever found."""
    cipher, rng = Cipher("repeating-xor", key_bits=4), np.random.default_rng(1)
    data = np.array([ZEROS, ONES] * 50, dtype=np.uint8)
    release = cipher.release(data, rng)
    assert (search(cipher, 16).attempt(release, None, rng) == data[:, 0]).all()


def test_too_small_a_budget_tries_as_many_random_keys(within):
    """With one key of 16 a trial is won by it with 1/16, else by a coin: 17/32 in all."""
    cipher, rng = Cipher("repeating-xor", key_bits=4), np.random.default_rng(2)
    data = np.array([ZEROS, ONES] * 5000, dtype=np.uint8)
    named = search(cipher, 1).attempt(cipher.release(data, rng), None, rng)
    assert within(int((named == data[:, 0]).sum()), len(data), 17 / 32)


def test_strings_are_different_and_all_where_there_are_no_more():
    """So trials that share them are independent: a secret is among them with one chance."""
    rng = np.random.default_rng(8)
    counts = np.zeros(16)
    for _ in range(2000):
        some = different_strings(5, 4, rng)
        numbers = some @ [8, 4, 2, 1]
        assert len(set(numbers)) == 5
        counts[numbers] += 1
    assert (abs(counts / 2000 - 5 / 16) < 6 * np.sqrt(5 / 16 * 11 / 16 / 2000)).all()
    assert len(np.unique(different_strings(99, 4, rng), axis=0)) == 16
    assert different_strings(7, 128, rng).shape == (7, 128)


def test_under_a_one_time_pad_some_key_explains_each_message():
    """So that the same one is named whatever was encrypted."""
    short = ([0, 0, 0, 0], [1, 1, 1, 0])
    cipher, rng = Cipher("one-time-pad"), np.random.default_rng(3)
    data = np.array(short * 50, dtype=np.uint8)
    named = search(cipher, 8, short).attempt(cipher.release(data, rng), None, rng)
    assert len(set(named.tolist())) == 1


def test_other_games_and_several_pairs_are_refused():
    for game in (
        Game(Pairs([[ZEROS, ONES]]), Identity(), FirstBit()),
        Game(Bits(13), Cipher(), FirstBit()),
    ):
        with pytest.raises(InputError, match="needs a cipher and a world of pairs"):
            KeySearch().prepare(game)
    with pytest.raises(InputError, match="of one pair apart"):
        KeySearch().prepare(Game(Pairs([[ZEROS, ONES], [ONES, ZEROS]]), Cipher(), FirstBit()))
    with pytest.raises(InputError, match="budget"):
        KeySearch(0)


def answered(mechanism, bit, rng, attack=None):
    attack = (attack or Reencryption()).prepare(Game(Pairs([[[0], [1]]]), mechanism, FirstBit()))
    talk = Conversation(mechanism.answers(np.array([bit]), rng), getattr(mechanism, "questions", 1))
    return attack.converse(talk, None, rng.spawn(1)[0])


@pytest.mark.parametrize(
    ("mechanism", "attack"),
    [
        (PublicKey("deterministic"), Reencryption()),
        (ChosenPlaintext(PublicKey("deterministic")), Reencryption()),
        (ChosenPlaintext(TextbookRsa(3233, 17)), Reencryption([12, 34])),
        (ChosenPlaintext(StreamCipher(nonce=False), 1), Reencryption(["ab", "cd"])),
        (ChosenPlaintext(StreamCipher(nonce=False), 5), Reencryption(["ab", "cd"])),
    ],
)
@pytest.mark.parametrize("bit", [0, 1])
def test_what_encrypts_twice_alike_is_told_apart(mechanism, attack, bit):
    rng = np.random.default_rng(4)
    for _ in range(10):
        assert answered(mechanism, bit, rng, attack) == bit


def test_few_coins_are_met_again(within):
    """Two bits: the right message meets its ciphertext 1 time in 4, else a coin decides."""
    rng, scheme = np.random.default_rng(6), PublicKey("few-coins", coin_bits=2)
    won = sum(answered(scheme, n % 2, rng) == n % 2 for n in range(1200))
    assert within(won, 1200, 5 / 8)


@pytest.mark.parametrize(
    "mechanism",
    [PublicKey(), ChosenPlaintext(StreamCipher(), 1), ChosenPlaintext(StreamCipher(nonce=False))],
)
def test_what_encrypts_anew_leaves_a_coin(within, mechanism):
    """So does one key that seals one message only: nothing is repeated."""
    rng = np.random.default_rng(5)
    won = sum(answered(mechanism, n % 2, rng) == n % 2 for n in range(600))
    assert within(won, 600, 0.5)


def test_coins_of_one_digit_are_won_by_as_many_guesses(within):
    """Textbook RSA with c coins: one encryption of each message, a hit with 1/c, else a coin."""
    rng, coins = np.random.default_rng(6), 4
    mechanism = ChosenPlaintext(TextbookRsa(3233, 17, coins))
    won = sum(answered(mechanism, n % 2, rng, Reencryption([3, 4])) == n % 2 for n in range(2000))
    assert within(won, 2000, 1 / coins + (1 - 1 / coins) / 2)


def test_other_mechanisms_and_equal_messages_are_refused():
    with pytest.raises(InputError, match="needs the mechanism `chosen-plaintext` or `public-key`"):
        Reencryption().prepare(Game(Bits(1), Identity(), FirstBit()))
    with pytest.raises(InputError, match="must be two that differ"):
        Reencryption(["one", "one"])


def test_every_attempt_is_a_preimage_and_none_is_made_where_none_was_tried():
    """Of 256 images, some 40 are seen by 40 tries: by hand from the inputs that are tried."""
    world, function = Bits(16), Sha256(8)
    attack = TryInputs(40).prepare(Game(world, function, SameImage(function)))
    releases = function.release(world.draw(300, np.random.default_rng(1)).data, None)
    found = attack.attempt(releases, None, np.random.default_rng(2))
    assert attack.inputs.shape == (40, 16)
    images = {image.tobytes() for image in function.release(attack.inputs, None)}
    assert found.made.tolist() == [image.tobytes() in images for image in releases]
    assert 0 < found.made.sum() < 300
    again = function.release(found.values, None)
    assert (again[found.made] == releases[found.made]).all()


def test_the_same_inputs_are_tried_whatever_the_seed_of_the_trials():
    """Else trials that share a table would succeed or fail together, and no limit would hold."""
    world, function = Bits(16), Sha256(8)
    game = Game(world, function, SameImage(function))
    releases = function.release(world.draw(300, np.random.default_rng(1)).data, None)
    found = [
        TryInputs(40).prepare(game).attempt(releases, None, np.random.default_rng(seed))
        for seed in (2, 3)
    ]
    assert (found[0].made == found[1].made).all()
    assert (found[0].values == found[1].values).all()


def test_it_must_know_the_game_and_try_at_least_one_input():
    with pytest.raises(InputError, match="prepare"):
        TryInputs().attempt(np.zeros((1, 4)), None, np.random.default_rng(0))
    with pytest.raises(InputError, match="budget"):
        TryInputs(0)


def test_a_function_with_an_inverse_is_undone():
    world, function = Bits(64), MultiplyHash()
    data = world.draw(50, np.random.default_rng(3)).data
    attack = Inversion().prepare(Game(world, function, SameImage(function)))
    found = attack.attempt(function.release(data, None), None, np.random.default_rng(0))
    assert (found == data).all()
    with pytest.raises(InputError, match="Sha256 has no inverse"):
        Inversion().prepare(Game(world, Sha256(), SameImage(Sha256())))


BITS = np.array([0, 1] * 1500)


def named(budget, seed_bits=6):
    made, rng = Stretched(seed_bits, 48), np.random.default_rng(1)
    attack = SeedSearch(budget).prepare(Game(Pairs([[[0], [1]]]), made, FirstBit()))
    return attack.attempt(made.release(BITS[:, None], rng), None, rng)


def test_all_seeds_tell_every_string():
    assert (named(64) == BITS).all()


def test_random_seeds_tell_as_many_as_they_meet(within):
    """Of 64 seeds 16 are tried; random strings are never taken for others."""
    found = named(16)
    assert not found[BITS == 0].any()
    assert within(int(found[BITS == 1].sum()), 1500, 16 / 64)


def test_other_games_are_refused():
    with pytest.raises(InputError, match="needs the mechanism `stretched`"):
        SeedSearch().prepare(Game(Pairs([[[0], [1]]]), Identity(), FirstBit()))
    with pytest.raises(InputError, match="prepare"):
        SeedSearch().attempt(np.zeros((1, 4)), None, np.random.default_rng(0))
    with pytest.raises(InputError, match="budget"):
        SeedSearch(0)
