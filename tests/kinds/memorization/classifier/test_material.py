"""Which images are for what: chance decides, nothing is on two sides, shadows see none of them."""

import numpy as np
import pytest

import narcissus
from narcissus.errors import InputError, StudyError
from narcissus.extraction.images import ImageLayout
from narcissus.kinds.memorization.classifier.kind import (
    TrainsNetworks,
    arrays_of_net,
    given_networks,
    net_of_arrays,
    sides_of,
)

from .conftest import GIVEN


def rows_of(side):
    return {row.tobytes() for row in np.round(side, 9)}


def test_every_image_is_on_one_side(load, folder):
    sides = sides_of(load().settings, folder, 1)
    found = [rows_of(side) for side in (sides.trained, sides.others, sides.fresh)]
    assert len(found[0] | found[1] | found[2]) == sum(map(len, found)) == 400
    assert len(found[0]) == 12
    assert not np.array_equal(sides_of(load().settings, folder, 2).trained, sides.trained)


def test_copies_count_as_one_image(load, folder):
    with np.load(folder / "digits.npz") as one:
        images, labels = one["images"], one["labels"]
    np.savez(folder / "twice.npz", images=[*images, *images], labels=[*labels, *labels])
    sides = sides_of(load(data={"images": "twice.npz"}).settings, folder, 1)
    assert len(sides.trained) + len(sides.others) + len(sides.fresh) == 400


def test_the_mean_is_of_images_that_are_neither_trained_on_nor_fresh(load, folder):
    """Else the network would depend on the fresh images, or the shadows differ from it."""
    sides = sides_of(load().settings, folder, 1)
    assert np.allclose(sides.others.mean(axis=0), 0)
    assert not np.allclose(sides.fresh.mean(axis=0), 0)
    plain = sides_of(load(data={"offset": 1.0}).settings, folder, 1)
    assert np.allclose(plain.trained * 8 + 1, sides.trained * 8 + sides.offset)
    assert sides.box == max(np.abs(s).max() for s in (sides.trained, sides.others, sides.fresh))


def test_an_image_is_shown_as_it_stood_in_the_file(load, folder):
    sides = sides_of(load().settings, folder, 1)
    with np.load(folder / "digits.npz") as one:
        files = {sides.layout.png(image.ravel().astype(float)) for image in one["images"]}
    assert all(sides.shown(row) in files for row in sides.trained)


def test_shadows_are_trained_on_other_images(load, folder):
    study = load().settings
    sides = sides_of(study, folder, 1)
    trains = TrainsNetworks(study.training, sides, 7)
    assert trains.keys == ["network/0", "network/1", "network/2"]
    own, shadow = (net_of_arrays(trains(key)) for key in trains.keys[:2])
    right = [(net.classes(sides.trained) == sides.classes).mean() for net in (own, shadow)]
    assert right[0] == 1 > right[1]
    assert own.describe() == shadow.describe()


def test_a_network_is_given_back_by_its_arrays(load, folder):
    [net] = given_networks(load(GIVEN).settings.weights, folder, ImageLayout(8, 8))
    again = net_of_arrays(arrays_of_net(net))
    rows = np.random.default_rng(0).normal(size=(3, 64))
    assert np.array_equal(net(rows), again(rows))


def test_shadows_of_another_architecture_are_refused(load, folder):
    study = load(GIVEN).settings
    wide = {"fc1.weight": np.ones((7, 64)), "fc2.weight": np.ones((10, 7))}
    np.savez(folder / "wide.npz", **wide)
    weights = study.weights.model_copy(update={"shadows": [folder / "wide.npz"]})
    with pytest.raises(InputError, match="64-7-10"):
        given_networks(weights, folder, ImageLayout(8, 8))


def test_images_of_two_sizes_are_refused(load, folder):
    np.savez(folder / "small.npz", images=np.ones((9, 4, 4)))
    with pytest.raises(InputError, match="4 x 4"):
        load(GIVEN, data={"fresh": "small.npz"})


def test_convolutions_are_read_by_what_the_study_declares(load, folder):
    rng = np.random.default_rng(1)
    arrays = {"conv.weight": rng.normal(size=(3, 1, 3, 3)), "fc.weight": rng.normal(size=(10, 12))}
    np.savez(folder / "conv.npz", **arrays)
    np.savez(folder / "norm.npz", **arrays, **{"bn.running_mean": np.ones(3)})
    layers = [{"conv": "conv", "stride": 2, "padding": 1}, {"average": 2}, "fc"]
    given = {**GIVEN, "weights": {"file": "conv.npz", "layers": layers}}
    [net] = given_networks(load(given).settings.weights, folder, ImageLayout(8, 8))
    assert net.describe() == "64-48 (3 of 3x3)-10"
    colour = ImageLayout(8, 8, 3)
    with pytest.raises(InputError, match=r"take images as \(3, height, width\)"):
        given_networks(load(given).settings.weights, folder, colour)
    given["weights"]["file"] = "norm.npz"
    with pytest.raises(InputError, match="batch normalisation is not homogeneous"):
        given_networks(load(given).settings.weights, folder, ImageLayout(8, 8))
    given["weights"]["layers"] = [{"batchnorm": "bn"}, "fc"]
    with pytest.raises(StudyError, match="homogeneous"):
        load(given)


def test_a_convolutional_network_is_a_study(load, folder):
    """Its weights are of no training: nothing is found, and the record holds its layers."""
    given = {**GIVEN, "weights": {"file": "conv.npz", "layers": [
        {"conv": "conv", "stride": 2, "padding": 1}, {"average": 2}, "fc"]}}  # fmt: skip
    rng = np.random.default_rng(1)
    arrays = {"conv.weight": rng.normal(size=(3, 1, 3, 3)), "fc.weight": rng.normal(size=(10, 12))}
    np.savez(folder / "conv.npz", **arrays)
    record = narcissus.run(load(given)).record
    found = record.result.network, record.result.parameters
    assert found == ("64-48 (3 of 3x3)-10", 27 + 120 + 13)
    assert [row.value for row in record.rows if row.of == "recovered"] == [0, 0]
