"""Close and unique: against a slow reading of the definition, and the same for fresh images."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.image_models import (
    CloseUnlike,
    attempts_of,
    nearest_attempt,
    unlike_others,
    unlike_trained,
)
from narcissus.extraction.images import counted_images
from narcissus.success.relations import CloseAndUnique


def drawn(n, seed, captions=("a", "b")):
    rng = np.random.default_rng(seed)
    pixels = rng.uniform(size=(n, 3, 2))
    return counted_images(pixels, [captions[i % len(captions)] for i in range(n)])


class Prints:
    """A model that prints one image for each caption, with a little noise, and else noise."""

    def __init__(self, images):
        self.images = dict(zip(images.captions, images.rows, strict=True))
        self.asked = []

    def sample(self, count, *, caption="", rng=None):
        self.asked.append(caption)
        rows = rng.uniform(size=(count, 6))
        rows[: count // 2] = self.images[caption] + rng.normal(0, 0.01, (count // 2, 6))
        return np.clip(rows, 0, 1)


def test_what_a_model_prints_again_and_again_is_kept():
    images = drawn(2, 1)
    model = Prints(images)
    found = attempts_of(
        model, [*images.captions, "a"], CloseUnlike(0.05, 0.2), pixels=6, samples=40, entropy=3
    )
    assert model.asked == ["a", "b"]  # each caption once
    assert nearest_attempt(images, found).max() < 0.02
    # an attempt from another caption does not count
    swapped = {"a": found["b"], "b": found["a"]}
    assert nearest_attempt(images, swapped).min() > 0.05


def test_attempts_for_a_caption_depend_on_no_other_caption():
    images = drawn(2, 1)
    relation = CloseUnlike(0.05, 0.2)
    said = {"pixels": 6, "samples": 10, "keep": 3}
    one = attempts_of(Prints(images), ["b"], relation, entropy=3, **said)
    two = attempts_of(Prints(images), ["b", "a"], relation, entropy=3, **said)
    other = attempts_of(Prints(images), ["b"], relation, entropy=4, **said)
    assert (one["b"] == two["b"]).all()
    assert one["b"].shape != other["b"].shape or (one["b"] != other["b"]).any()


def test_unlike_others_is_the_definition_and_that_of_the_games():
    images = drawn(40, 2)
    root = np.sqrt(6)
    for unique in (0.1, 0.2, 0.3):
        wanted = [
            all(
                np.sqrt(np.mean((row - other) ** 2)) > unique
                for j, other in enumerate(images.rows)
                if j != i
            )
            for i, row in enumerate(images.rows)
        ]
        found = unlike_others(images, unique)
        assert found.tolist() == wanted
        relation = CloseAndUnique(0.01 * root, unique * root)
        data = np.repeat(images.rows[None], len(images), axis=0)
        assert relation.holds(data, images.rows, np.random.default_rng(0)).tolist() == wanted
    assert unlike_others(images, 0.2).any()
    assert not unlike_others(images, 0.2).all()


def test_copies_and_other_captions_of_an_image_are_the_same_image():
    pixels = np.zeros((3, 3, 2))
    pixels[2] = 1
    images = counted_images(np.concatenate([pixels, pixels[2:]]), ["a", "b", "c", "c"])
    assert images.copies.tolist() == [1, 1, 2]
    assert unlike_others(images, 0.5).tolist() == [True, True, True]


def test_fresh_images_are_held_against_all_but_one():
    trained = drawn(2, 3)
    fresh = counted_images(np.repeat(trained.pixels[:1], 400, axis=0) + np.linspace(
        0, 1e-6, 400)[:, None, None, None])  # fmt: skip
    # near the first: unlike the others only where it is the first that is left out
    share = unlike_trained(fresh, trained, 0.01, np.random.default_rng(0)).mean()
    assert abs(share - 0.5) < 6 * np.sqrt(0.25 / 400)


def test_fresh_images_are_as_often_outliers_as_those_trained_on():
    """The rule is the same for both: the difference of the shares has mean 0."""
    gaps = []
    for seed in range(150):
        images = drawn(40, 1000 + seed)
        trained, fresh = images.those(range(20)), images.those(range(20, 40))
        theirs = unlike_trained(fresh, trained, 0.2, np.random.default_rng(seed))
        gaps.append(unlike_others(trained, 0.2).mean() - theirs.mean())
    assert abs(np.mean(gaps)) < 5 * np.std(gaps) / np.sqrt(len(gaps))
    assert np.std(gaps) < 0.3


@pytest.mark.parametrize(("close", "unique"), [(0.2, 0.2), (0.0, 0.1), (-0.1, 0.1)])
def test_distances_out_of_order_are_refused(close, unique):
    with pytest.raises(InputError, match=r"close"):
        CloseUnlike(close, unique)
