"""The blind baseline: points of one source are not told, of two they are; bad input is refused."""

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.membership import (
    blind_baseline,
    blind_baselines,
    read_points,
    read_shadow_scores,
    shadow_scores,
)
from narcissus.membership.blind import MEMBERS, OUTSIDERS, _Folds, _ridge, features_of

SIZE = 120
INSIDE = np.arange(SIZE) % 2 == 0


def rows(apart):
    """Table rows, members of another year, source or both."""
    g = np.random.default_rng(1)
    year = 2020 + g.integers(0, 3, SIZE) + 3 * apart * INSIDE
    place = np.where(INSIDE & (g.random(SIZE) < 0.6 * apart), "north", "south")
    return pd.DataFrame({"year": year, "place": place, "income": g.normal(size=SIZE)})


def texts(apart):
    g = np.random.default_rng(2)
    words = g.choice(["boat", "cart", "door", "fish", "goat", "lamp"], (SIZE, 8))
    ends = np.where(INSIDE & (g.random(SIZE) < 0.6 * apart), "in 2024", "in 2019")
    return [f"{' '.join(row)} {end}" for row, end in zip(words, ends, strict=True)]


def images(apart):
    g = np.random.default_rng(3)
    return g.random((SIZE, 14, 14)) + 0.2 * apart * INSIDE[:, None, None]


@pytest.mark.parametrize("made", [rows, texts, images])
def test_two_sources_are_told_and_one_is_not(made):
    assert not blind_baseline(made(0), INSIDE, rng=1).told
    found = blind_baseline(made(1), INSIDE, level=0.01, rng=1)
    assert found.told
    assert found.auc > 0.6
    assert str(found).startswith("Void: a classifier that never saw the model tells members")
    assert found == blind_baseline(made(1), INSIDE, level=0.01, rng=1)


@pytest.mark.parametrize("points", [np.array(3.0), "two texts", b"bytes", np.float64(2)])
def test_a_single_number_or_text_is_no_points(drawn, points):
    with pytest.raises(InputError, match="`points` must be a table, texts or an array"):
        blind_baseline(points, INSIDE)
    with pytest.raises(InputError, match="`points` must be a table, texts or an array"):
        blind_baselines(drawn(4, 30), points, [3])


def test_an_array_of_texts_is_described_as_their_list():
    assert (features_of(np.array(texts(1))) == features_of(texts(1))).all()
    assert (features_of(np.array(texts(1), dtype=object)) == features_of(texts(1))).all()


def test_no_classifier_sees_the_label_of_its_points():
    """Another label changes no score of the points of its fold, but those of all others."""
    g = np.random.default_rng(4)
    features, fold = features_of(g.normal(size=(60, 5))), g.permutation(60) % 5
    labels = g.random((60, 1)) - 0.5
    before = _Folds(features, fold).scores(labels)
    own = fold == 2
    labels[own] *= g.uniform(0.99, 1.01, (own.sum(), 1))
    scale = np.sqrt((before**2).mean())
    after = _Folds(features, fold).scores(labels)
    assert np.abs(after - before)[own].max() < 1e-2 * scale  # all but the common spread
    assert np.corrcoef(after[own, 0], before[own, 0])[0, 1] > 1 - 1e-9
    assert np.abs(after - before)[~own].max() > 0


@pytest.mark.parametrize(("count", "size"), [(5, 7), (9, 4)])
def test_both_forms_of_ridge_regression_are_one(count, size):
    g = np.random.default_rng(5)
    own, others = g.normal(size=(3, size)), g.normal(size=(count, size))
    whole = np.linalg.inv(others.T @ others + (count + size) * np.eye(size))
    assert _ridge(own, others) == pytest.approx(own @ whole)


def test_a_cluster_is_one_point():
    """Doubled rows that are labelled together tell nothing, if they are named as clusters."""
    g = np.random.default_rng(6)
    points, labels = np.repeat(g.normal(size=(60, 4)), 2, axis=0), g.random(60) < 0.5
    found = blind_baseline(points, labels, clusters=np.repeat(np.arange(60), 2), rng=1)
    assert found.points == 60
    assert not found.told


def scored(models=4, records=60, outsiders=0):
    g = np.random.default_rng(7)
    priors = np.r_[np.full(records, 0.5), np.zeros(outsiders)]
    inside = g.random((models, priors.size)) < priors
    return shadow_scores(g.normal(size=inside.shape), inside, priors)


def test_outsiders_are_compared_where_false_positives_are_theirs():
    data = scored(outsiders=60)
    points = np.random.default_rng(8).normal(size=(120, 3)) + (data.priors == 0)[:, None]
    members, others = blind_baselines(data, points, [3], outsiders=True, rng=1)
    assert (members.compared, members.told, members.points) == (MEMBERS, False, 60)
    assert (others.compared, others.told, others.points) == (OUTSIDERS, True, 120)
    assert members.level == others.level == 0.025
    (alone,) = blind_baselines(data, points, [3], rng=1)
    assert (alone.told, alone.level) == (False, 0.05)


@pytest.mark.parametrize(
    ("points", "labels", "said"),
    [
        (np.zeros((30, 2)), np.arange(31) % 2, "of each of 30 points, got 31"),
        (np.zeros((30, 2)), np.ones(30), "members and others among them; got 30 members among 30"),
        (np.zeros((30, 2)), np.full(30, 0.5), "must say 0 or 1"),
        (np.zeros((8, 2)), np.arange(8) % 2, "needs 20 points"),
        (np.full((30, 2), np.nan), np.arange(30) % 2, "must hold no NaN, as number 0 of point 0"),
        (np.full((30, 2), np.inf), np.arange(30) % 2, "must be finite, unlike 0 of point 0"),
        ([1, 2], [0, 1], "a table, texts or an array"),
    ],
)
def test_bad_points_are_refused(points, labels, said):
    with pytest.raises(InputError, match=said):
        blind_baseline(points, labels, rng=1)


def test_points_must_be_those_of_the_scores():
    with pytest.raises(InputError, match="one for each of 60 records that have scores"):
        blind_baselines(scored(), np.zeros((59, 2)), [3])


def test_points_are_read_by_the_names_of_records(tmp_path):
    table = pd.DataFrame(
        [(m, r, 0.5, (m + k) % 2) for m in range(3) for k, r in enumerate("cab")],
        columns=["model", "record", "score", "member"],
    )
    table.to_csv(tmp_path / "scores.csv", index=False)
    data = read_shadow_scores(tmp_path / "scores.csv")
    points = pd.DataFrame({"record": list("abcd"), "age": [1, 2, 3, 4]})
    points.to_csv(tmp_path / "points.csv", index=False)
    assert read_points(tmp_path / "points.csv", data)["age"].tolist() == [3, 1, 2]
    for wrong in (points[1:], points.iloc[[0, 0, 1, 2]]):
        wrong.to_csv(tmp_path / "points.csv", index=False)
        with pytest.raises(InputError, match="one row for each record that has scores, as a"):
            read_points(tmp_path / "points.csv", data)
    (tmp_path / "points.txt").write_text("one\ntwo\n")
    assert read_points(tmp_path / "points.txt", data) == ["one", "two"]
    np.savez(tmp_path / "points.npz", points=np.eye(2), other=np.eye(3))
    assert read_points(tmp_path / "points.npz", data).shape == (2, 2)
    np.savez(tmp_path / "points.npz", a=np.eye(2), b=np.eye(3))
    with pytest.raises(InputError, match="lacks the array `points`; it has a, b"):
        read_points(tmp_path / "points.npz", data)


def test_points_of_clusters_are_those_of_their_records():
    place = np.repeat(np.arange(60), 2)
    g = np.random.default_rng(9)
    inside = (g.random((4, 60)) < 0.5)[:, place]
    data = shadow_scores(g.normal(size=inside.shape), inside, None, place)
    (found,) = blind_baselines(data, g.normal(size=(120, 3)), [3], rng=1)
    assert (found.points, found.told) == (60, False)
    shown = g.normal(size=(120, 3)) + 3 * inside[3][:, None]
    assert blind_baselines(data, shown, [3], rng=1)[0].told
