"""Images: layouts, files that others can read, correlations."""

import io
import pickle

import numpy as np
import pytest
from matplotlib.image import imread

from narcissus.errors import InputError
from narcissus.extraction.images import (
    CaptionedImages,
    DividedImages,
    ImageLayout,
    LabelledImages,
    counted_images,
    divide_images,
    duplicated,
    nearest_points,
    png_of,
    read_images,
)


def read(png):
    return np.asarray(imread(io.BytesIO(png), format="png"))


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((4, 6), (4, 6, 1, False)),
        ((4, 6, 3), (4, 6, 3, False)),
        ((3, 4, 6), (4, 6, 3, True)),
        ((1, 4, 6), (4, 6, 1, True)),
        ((25,), (5, 5, 1, False)),
    ],
)
def test_layouts_by_shape(shape, expected):
    found = ImageLayout.of(shape)
    assert (found.height, found.width, found.channels, found.channels_first) == expected
    assert found.size == np.prod(shape)


@pytest.mark.parametrize("shape", [(24,), (4, 6, 2), (2, 2, 2, 2)])
def test_what_is_no_image_is_refused(shape):
    with pytest.raises(InputError, match="shape"):
        ImageLayout.of(shape)


def test_a_file_has_the_pixels_whatever_reads_it():
    rng = np.random.default_rng(1)
    for channels in (1, 3):
        image = rng.integers(0, 256, (5, 7, channels), dtype=np.uint8)
        found = np.round(255 * read(png_of(image))).astype(int)
        assert np.array_equal(found.reshape(5, 7, channels), image)
    with pytest.raises(InputError, match="shape"):
        png_of(np.zeros((3, 3), dtype=np.uint8))


def test_an_image_goes_from_its_darkest_to_its_brightest_value():
    row = np.array([3.0, 5.0, 4.0, 3.0])
    assert np.allclose(read(ImageLayout(2, 2).png(row)).ravel(), [0, 1, 128 / 255, 0], atol=1e-6)
    assert not read(ImageLayout(2, 2).png(np.full(4, 7.0))).any()


def test_channels_first_and_last_show_the_same():
    image = np.random.default_rng(2).random((3, 4, 5))
    first = ImageLayout.of((3, 4, 5)).png(image.ravel())
    assert ImageLayout.of((4, 5, 3)).png(image.transpose(1, 2, 0).ravel()) == first


def test_a_large_image_is_averaged_down():
    image = np.arange(300 * 130, dtype=float).reshape(300, 130)
    small = ImageLayout(300, 130).pixels(image.ravel())
    assert small.shape == (100, 44, 1)
    assert small[1, 2, 0] == image[3:6, 6:9].mean()
    assert small[99, 43, 0] == image[297:, 129:].mean()


def test_nearest_points_by_correlation():
    rng = np.random.default_rng(3)
    rows, points = rng.normal(size=(7, 6)), rng.normal(size=(4, 6))
    found = nearest_points(rows, points, block=3)
    alike = np.corrcoef(np.concatenate([rows, points]))[:7, 7:]
    assert np.array_equal(found.point, alike.argmax(axis=1))
    assert np.allclose(found.correlation, alike.max(axis=1))
    assert (nearest_points(rows, points[:0]).correlation == -1).all()


def saved(folder, **arrays):
    np.savez(folder / "x.npz", **arrays)
    return folder / "x.npz"


def test_images_and_classes(tmp_path):
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    found = LabelledImages.read(saved(tmp_path, images=images, labels=[3, 0]))
    assert np.array_equal(found.rows, images.reshape(2, 12))
    assert (found.layout.height, found.layout.width) == (3, 4)
    assert found.classes.tolist() == [3, 0]
    assert LabelledImages.read(saved(tmp_path, images=images)).classes is None
    signs = LabelledImages.read(saved(tmp_path, images=images, labels=[-1, 1]))
    assert signs.classes.tolist() == [0, 1]


def test_flat_images_need_a_shape_unless_they_are_square(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2, 9)))
    assert LabelledImages.read(tmp_path / "x.npy").layout.height == 3
    np.save(tmp_path / "x.npy", np.zeros((2, 24)))
    with pytest.raises(InputError, match="give `shape`"):
        LabelledImages.read(tmp_path / "x.npy")
    assert LabelledImages.read(tmp_path / "x.npy", (2, 4, 3)).layout.channels == 3
    with pytest.raises(InputError, match="20"):
        LabelledImages.read(tmp_path / "x.npy", (4, 5))


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"image": np.ones((2, 3, 3))}, "did you mean `image`"),
        ({"images": np.zeros((0, 3, 3))}, "no images"),
        ({"images": np.ones(3)}, "no images"),
        ({"images": np.full((2, 3, 3), np.nan)}, "image 0 has values that are not finite"),
        ({"images": np.ones((2, 3, 3)), "labels": [1]}, "2 images"),
        ({"images": np.ones((2, 3, 3)), "labels": [0.5, 1]}, "whole"),
        ({"images": np.ones((2, 3, 3)), "labels": [-2, 1]}, "0, 1, 2"),
    ],
)
def test_what_is_no_file_of_images_is_refused(tmp_path, arrays, said):
    with pytest.raises(InputError, match=said):
        LabelledImages.read(saved(tmp_path, **arrays))


def test_pickles_and_other_formats_are_refused(tmp_path):
    (tmp_path / "x.pkl").write_bytes(pickle.dumps([1]))
    with pytest.raises(InputError, match="pickle"):
        LabelledImages.read(tmp_path / "x.pkl")
    (tmp_path / "x.csv").write_text("1,2\n")
    with pytest.raises(InputError, match="npz"):
        LabelledImages.read(tmp_path / "x.csv")


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
def test_what_is_no_captioned_image_is_refused(pixels, captions, said):
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
