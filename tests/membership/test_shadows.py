"""Scores of shadow models, checked where they enter."""

import numpy as np
import pandas as pd
import pytest
from scipy import special

from narcissus.errors import InputError
from narcissus.membership import read_shadow_scores, shadow_scores


def test_what_is_given_is_kept():
    data = shadow_scores([[1, 2, 3], [4, 5, 6]], [[0, 1, 0], [1, 1, 0]], [0.5, 0.7, 0])
    assert data.models == 2
    assert data.outsiders.tolist() == [False, False, True]
    assert data.of([1]).scores.tolist() == [[4, 5, 6]]
    assert data.of([1]).members.tolist() == [[True, True, False]]
    assert shadow_scores(np.zeros((2, 1)), np.zeros((2, 1))).priors.tolist() == [0.5]


@pytest.mark.parametrize(
    ("scores", "members", "priors", "said"),
    [
        ([[1, 2]], [[0, 1]], None, "at least 2 models"),
        ([1, 2], [0, 1], None, "shape"),
        ([[1, 2], [3, 4]], [[0, 1]], None, "shape"),
        ([[1, 2], [3, float("inf")]], [[0, 1], [0, 1]], None, "model 1 on record 1"),
        ([[1, 2], [3, 4]], [[0, 2], [0, 1]], None, "0 .out. and 1"),
        ([["a", 2], [3, 4]], [[0, 1], [0, 1]], None, "numbers"),
        ([[1, 2], [3, 4]], [[0, 1], [0, 1]], [0.5], "2 records"),
        ([[1, 2], [3, 4]], [[0, 1], [0, 1]], [0.5, 0], "says 0 of record 1"),
        ([[1, 2], [3, 4]], [[0, 1], [0, 1]], [1, 0.5], "says 1 of record 0"),
    ],
)
def test_one_error_for_each_mistake(scores, members, priors, said):
    with pytest.raises(InputError, match=said):
        shadow_scores(scores, members, priors)


SCORES = np.array([[0.5, 0.9, 0.2], [0.25, 0.75, 0.6]])
MEMBERS = np.array([[0, 1, 0], [1, 1, 0]])
PRIORS = np.array([0.5, 0.8, 0.0])


def long():
    rows = [
        {
            "model": f"m{j}",
            "record": i,
            "score": SCORES[j, i],
            "member": MEMBERS[j, i],
            "prior": PRIORS[i],
        }
        for j in range(2)
        for i in range(3)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("kind", ["npz", "npy", "csv", "csv.gz", "parquet"])
def test_every_layout_gives_the_same(tmp_path, kind):
    path, members = tmp_path / f"scores.{kind}", None
    if kind == "npz":
        np.savez(path, scores=SCORES, members=MEMBERS, priors=PRIORS)
    elif kind == "npy":
        members = tmp_path / "members.npy"
        np.save(path, SCORES)
        np.save(members, MEMBERS)
    elif kind == "parquet":
        long().sample(frac=1, random_state=2).sort_values("model").to_parquet(path)
    else:
        long().to_csv(path, index=False)
    found = read_shadow_scores(path, members)
    order = np.argsort(found.scores[0])  # the records of a table come as they come
    assert found.scores[:, order] == pytest.approx(SCORES[:, np.argsort(SCORES[0])])
    assert (found.members[:, order] == MEMBERS[:, np.argsort(SCORES[0])]).all()
    expected = PRIORS if members is None else np.full(3, 0.5)
    assert found.priors[order] == pytest.approx(expected[np.argsort(SCORES[0])])


@pytest.mark.parametrize("scale", ["probability", "logit", "loss"])
@pytest.mark.parametrize("wanted", ["probability", "logit"])
def test_scales(tmp_path, scale, wanted):
    given = {"probability": SCORES, "logit": special.logit(SCORES), "loss": -np.log(SCORES)}
    path = tmp_path / "scores.npz"
    np.savez(path, scores=given[scale], members=MEMBERS)
    found = read_shadow_scores(path, scale=scale, wanted=wanted).scores
    assert found == pytest.approx(given[wanted])


def test_certain_models_stay_finite(tmp_path):
    path = tmp_path / "scores.npz"
    for scale, ends in (("probability", [0.0, 1.0]), ("loss", [1000.0, 0.0])):
        np.savez(path, scores=[ends, ends], members=[[0, 1], [1, 0]])
        found = read_shadow_scores(path, scale=scale, wanted="logit").scores[0]
        assert np.isfinite(found).all()
        assert found[0] < -20
        assert found[1] > 20


def refused(path, match, **more):
    with pytest.raises(InputError, match=match):
        read_shadow_scores(path, **more)


def test_one_error_for_each_mistake_in_a_file(tmp_path):
    path = tmp_path / "scores.npz"
    np.savez(path, score=SCORES, members=MEMBERS)
    refused(path, "lacks the array `scores`.*did you mean `score`")
    np.savez(path, scores=SCORES + 1, members=MEMBERS)
    refused(path, "probability, which must be in", scale="probability")
    np.savez(path, scores=SCORES - 1, members=MEMBERS)
    refused(path, "loss, which must be at least 0", scale="loss")
    refused(path, "did you mean `loss`", scale="los")
    refused(path, "drop it", members_path=path)
    np.save(tmp_path / "scores.npy", SCORES)
    refused(tmp_path / "scores.npy", "holds one array")
    refused(tmp_path / "scores.npy", "must be a .npy file", members_path=path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.drop(columns="member"), "lacks the column `member`"),
        (lambda t: t.iloc[:0], "no rows"),
        (lambda t: t.iloc[:5], "6 in all, and has 5"),
        (lambda t: pd.concat([t, t.iloc[:1]]), "6 in all, and has 7"),
        (lambda t: t.assign(score="high"), "row 1, column `score`"),
        (lambda t: t.assign(record=[0, 1, None, 0, 1, 2]), "is empty"),
        (lambda t: t.assign(prior=np.linspace(0.1, 0.9, 6)), "the same of a record"),
    ],
)
def test_one_error_for_each_bad_table(tmp_path, change, said):
    path = tmp_path / "scores.csv"
    change(long()).to_csv(path, index=False)
    refused(path, said)


def test_what_is_no_table_is_refused(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("")
    refused(path, "not a CSV table")
