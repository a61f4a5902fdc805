"""Attackers of ciphers, one-way functions and generators: try keys, inputs or seeds, or undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from narcissus._options import FilledIn
from narcissus._validation import integer
from narcissus.attacks.base import Conversation
from narcissus.errors import InputError
from narcissus.mechanisms import ChosenPlaintext, Cipher, PublicKey, Stretched
from narcissus.success.relations.base import Attempts
from narcissus.worlds.base import Array, Batch, all_tuples
from narcissus.worlds.finite import Pairs

LISTED = 30
"""Strings of more bits are drawn one by one: two of them are never alike."""

SEED = 2024
"""Of the inputs that are tried: independent of all trials, whatever their seed."""


def different_strings(count: int, bits: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return some random strings of bits, all different; all strings where there are no more.

    That they differ keeps trials that share them independent: each of many secrets is among them
    with the same chance, ``count / 2^bits``, whichever they are.
    """
    if bits <= LISTED and 2**bits <= count:
        return all_tuples(2, bits).astype(np.uint8)
    if bits > LISTED:
        return rng.integers(0, 2, (count, bits), dtype=np.uint8)
    numbers = rng.choice(1 << bits, count, replace=False)
    return ((numbers[:, None] >> np.arange(bits)[::-1]) & 1).astype(np.uint8)


@dataclass(frozen=True)
class KeySearch:
    """Try keys until one decrypts the ciphertext to one of the two messages; else toss a coin.

    budget: Keys to try: all of them where there are no more, random different ones otherwise.
    """

    budget: int = 4096
    cipher: Annotated[Cipher | None, FilledIn()] = None
    messages: Annotated[Any, FilledIn()] = None

    def __post_init__(self) -> None:
        integer("budget", self.budget, low=1)

    def prepare(self, game: Any) -> KeySearch:
        if not isinstance(game.mechanism, Cipher) or not isinstance(game.world, Pairs):
            raise InputError("the attack `key-search` needs a cipher and a world of pairs")
        if len(game.world.sets) > 1:
            raise InputError("the attack `key-search` tells the two messages of one pair apart")
        pair = game.world.sets[0].reshape(2, -1)
        return KeySearch(self.budget, game.mechanism, pair)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        """Guess the first entry of the data set, shape (trials,)."""
        assert self.cipher is not None, "call `prepare` first"
        bits = self.cipher.secret_bits(self.messages.shape[1] - 1)
        keys = different_strings(self.budget, bits, rng)
        guess = self.messages[rng.integers(0, 2, len(release)), 0]
        for trial, text in enumerate(release):
            plain = self.cipher.decrypt(keys, text)
            for message in self.messages:
                if (plain == message[1:]).all(axis=1).any():
                    guess[trial] = message[0]
        return guess


@dataclass(frozen=True)
class Reencryption:
    """Have both messages encrypted and compare with the ciphertext; else toss a coin.

    With a public key it encrypts itself; with none it asks for the encryption of the first of the
    two. Wins against every deterministic encryption.

    messages: The two messages that are chosen: texts, or numbers for a scheme that takes numbers.
    """

    messages: Sequence[str] | Sequence[int] = ("attack at dawn", "attack at dusk")
    scheme: Annotated[Any, FilledIn()] = None

    def __post_init__(self) -> None:
        if len(self.messages) != 2 or self.messages[0] == self.messages[1]:
            raise InputError("`messages` must be two that differ")

    def prepare(self, game: Any) -> Reencryption:
        """Take the encryption scheme, which is public, from the game."""
        mechanism = game.mechanism
        scheme = mechanism.scheme if isinstance(mechanism, ChosenPlaintext) else mechanism
        if not isinstance(mechanism, ChosenPlaintext | PublicKey):
            raise InputError(
                "the attack `re-encryption` needs the mechanism `chosen-plaintext` or `public-key`"
            )
        return replace(self, scheme=scheme)

    def converse(self, conversation: Conversation, known: Any, rng: np.random.Generator) -> int:
        """Guess which of the two was encrypted."""
        pair = [m.encode() if isinstance(m, str) else m for m in self.messages]
        key, ours = conversation.greeting, []
        if key is not None:
            ours = [self.scheme.encrypt(key, message, rng) for message in pair]
        elif conversation.left != 1:
            ours = [conversation.ask(pair[0])]
        sealed = conversation.ask(tuple(pair))
        for bit, text in enumerate(ours):
            if text == sealed:
                return bit
        return int(rng.integers(0, 2)) if len(ours) != 1 else 1


@dataclass(frozen=True)
class TryInputs:
    """Compute the function at random inputs until one has the released image.

    budget: Inputs to try. They are drawn once, by a separate seed, and serve for every release:
        a table of images is as good as new. So trials are independent, which they would not be if
        the inputs were drawn anew for some of them together.
    """

    budget: int = 4096
    function: Annotated[Any, FilledIn()] = None
    inputs: Annotated[Any, FilledIn()] = None

    def __post_init__(self) -> None:
        integer("budget", self.budget, low=1)

    def prepare(self, game: Any) -> TryInputs:
        inputs = game.world.draw(self.budget, np.random.default_rng(SEED)).data
        return TryInputs(self.budget, game.mechanism, inputs)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Attempts:
        """Return inputs, shape (trials, n); none where nothing was found."""
        if self.function is None:
            raise InputError("call `prepare` first: the attack needs the world and the function")
        images = self.function.release(self.inputs, np.random.default_rng(SEED))
        table = {image.tobytes(): place for place, image in enumerate(images)}
        places = np.asarray([table.get(image.tobytes(), -1) for image in np.asarray(release)])
        return Attempts(self.inputs[np.maximum(places, 0)], places >= 0)


@dataclass(frozen=True)
class Inversion:
    """Undo a function that can be undone: the mechanism's own ``invert``."""

    function: Annotated[Any, FilledIn()] = None

    def prepare(self, game: Any) -> Inversion:
        if not hasattr(game.mechanism, "invert"):
            raise InputError(
                f"{type(game.mechanism).__name__} has no inverse that is known; "
                "use the attack `try-inputs`"
            )
        return Inversion(game.mechanism)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        return self.function.invert(release)


@dataclass(frozen=True)
class SeedSearch:
    """Answer "stretched" where one of the seeds tried gives the string, else "random".

    budget: Seeds to try: all of them where there are no more, random different ones otherwise.
    """

    budget: int = 1024
    generator: Annotated[Stretched | None, FilledIn()] = None

    def __post_init__(self) -> None:
        integer("budget", self.budget, low=1)

    def prepare(self, game: object) -> SeedSearch:
        mechanism = getattr(game, "mechanism", None)
        if not isinstance(mechanism, Stretched):
            raise InputError("the attack `seed-search` needs the mechanism `stretched`")
        return SeedSearch(self.budget, mechanism)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        """Guess the bit of each string, shape (trials,)."""
        if self.generator is None:
            raise InputError("call `prepare` first: the attack needs the generator")
        seeds = different_strings(self.budget, self.generator.seed_bits, rng)
        tried = {string.tobytes() for string in self.generator.stretch(seeds)}
        return np.array([int(np.asarray(row).tobytes() in tried) for row in release])
