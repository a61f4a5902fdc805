"""Images: layouts, files that others can read, correlations."""

import io

import numpy as np
import pytest
from matplotlib.image import imread

from narcissus.errors import InputError
from narcissus.extraction.images import ImageLayout, nearest_points, png_of


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
