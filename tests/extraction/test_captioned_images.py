"""Images are read and counted as they are, and chance alone divides and repeats them."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.captioned_images import (
    CaptionedImages,
    DividedImages,
    counted_images,
    divide_images,
    duplicated,
    read_images,
)


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    return counted_images(rng.integers(0, 256, (n, 4, 4)), [f"word {i % 3}" for i in range(n)])


def test_copies_are_the_same_pixels_with_the_same_caption():
    pixels = np.array([[[0, 255]], [[0, 255]], [[0, 255]], [[9, 9]]])
    found = counted_images(pixels, ["a", "b", "a", "a"])
    assert found.captions == ("a", "b", "a")
    assert found.copies.tolist() == [2, 1, 1]
    assert found.shape == (1, 2, 1)
    assert found.rows[0].tolist() == [0, 1]


def test_numbers_from_0_to_1_are_taken_as_they_are():
    assert counted_images(np.full((1, 2, 2, 3), 0.25)).rows.tolist() == [[0.25] * 12]


@pytest.mark.parametrize(
    ("pixels", "captions", "said"),
    [
        (np.zeros((2, 4)), None, "shape"),
        (np.zeros((1, 2, 2, 4)), None, "1 or 3"),
        (np.full((1, 2, 2), 256), None, "0 to 255"),
        (np.full((1, 2, 2), 1.5), None, "0 to 1"),
        (np.full((1, 2, 2), np.nan), None, "0 to 1"),
        (np.zeros((2, 2, 2)), ["a"], "2 images and 1 captions"),
        (np.zeros((0, 2, 2)), None, "shape"),
    ],
)
def test_what_is_no_image_is_refused(pixels, captions, said):
    with pytest.raises(InputError, match=said):
        counted_images(pixels, captions)


def test_files(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(32, dtype=np.uint8).reshape(2, 4, 4))
    (tmp_path / "a.txt").write_text("one\n two \n")
    found = read_images(tmp_path / "a.npy", tmp_path / "a.txt")
    assert (found.captions, found.shape) == (("one", "two"), (4, 4, 1))
    (tmp_path / "b.txt").write_text("one\n")
    with pytest.raises(InputError, match=r"a\.npy: there are 2 images and 1 captions"):
        read_images(tmp_path / "a.npy", tmp_path / "b.txt")
    with pytest.raises(InputError, match=r"none\.npy"):
        read_images(tmp_path / "none.npy")
    with pytest.raises(InputError, match=r"from \.npy, \.npz, \.safetensors"):
        read_images(tmp_path / "a.png")
    np.save(tmp_path / "p.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(InputError, match="pickle"):
        read_images(tmp_path / "p.npy")
    np.savez(tmp_path / "two.npz", a=np.zeros((1, 2, 2)), b=np.zeros((1, 2, 2)))
    with pytest.raises(InputError, match="one array"):
        read_images(tmp_path / "two.npz")


def test_chance_divides_into_equal_parts_and_no_image_is_on_two_sides():
    images, counts = drawn(30), np.zeros((3, 30))
    for seed in range(200):
        found = divide_images(images, np.random.default_rng(seed))
        sides = [found.trained, found.fresh, found.shadow]
        assert [len(side) for side in sides] == [10, 10, 10]
        keys = [[row.tobytes() for row in side.rows] for side in sides]
        assert len({key for side in keys for key in side}) == 30
        place = {row.tobytes(): i for i, row in enumerate(images.rows)}
        for side, key in enumerate(keys):
            counts[side, [place[k] for k in key]] += 1
    # every image is on every side a third of the time: six standard deviations
    assert abs(counts / 200 - 1 / 3).max() < 6 * np.sqrt(2 / 9 / 200)
    both = divide_images(images, np.random.default_rng(1), shadows=False)
    assert (len(both.trained), len(both.fresh), both.shadow) == (15, 15, None)


def test_an_image_with_two_captions_stays_on_one_side():
    pixels = np.repeat(np.random.default_rng(0).integers(0, 256, (6, 2, 2)), 2, axis=0)
    images = counted_images(pixels, ["a", "b"] * 6)
    found = divide_images(images, np.random.default_rng(3))
    assert sorted(found.trained.captions) == ["a", "a", "b", "b"]


def test_sides_that_share_an_image_or_differ_in_size_are_refused():
    images, other = drawn(4), counted_images(np.zeros((1, 8, 8)))
    with pytest.raises(InputError, match="on another side"):
        DividedImages(images.those([0, 1]), images.those([1, 2]))
    with pytest.raises(InputError, match="shape"):
        DividedImages(images, other)
    with pytest.raises(InputError, match="no fresh"):
        DividedImages(images, images.those([]))
    with pytest.raises(InputError, match="at least 3"):
        divide_images(images.those([0, 1]), np.random.default_rng(0))


def test_chance_repeats_as_many_as_were_asked_for():
    images = drawn(20)
    found = duplicated(images, each=3, copies=[2, 5], rng=np.random.default_rng(0))
    assert sorted(found.copies.tolist()) == [1] * 14 + [2] * 3 + [5] * 3
    assert isinstance(found, CaptionedImages)
    assert (found.pixels == images.pixels).all()
    with pytest.raises(InputError, match="are 40, and there are 20"):
        duplicated(images, each=20, copies=[2, 5], rng=np.random.default_rng(0))
