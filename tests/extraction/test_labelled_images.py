"""Files of images: their layout, their classes, and what is refused."""

import pickle

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.labelled_images import LabelledImages


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
