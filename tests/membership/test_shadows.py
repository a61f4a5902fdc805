"""Scores of shadow models, checked where they enter."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import special

from narcissus.errors import InputError
from narcissus.membership import coin_design, read_shadow_scores, shadow_scores


def clustered(models=16, clusters=30, each=3, seed=1):
    rng = np.random.default_rng(seed)
    inside = np.repeat(rng.random((models, clusters)) < 0.5, each, axis=1)
    return rng.normal(size=inside.shape), inside, np.repeat(np.arange(clusters), each)


def test_a_cluster_of_one_coin_counts_once(tmp_path):
    scores, inside, clusters = clustered()
    found = shadow_scores(scores, inside, clusters=clusters)
    assert found.scores == pytest.approx(scores.reshape(16, 30, 3).mean(axis=2))
    assert (found.members == inside[:, ::3]).all()
    assert coin_design(found).said.endswith("epsilon is about a whole cluster")
    np.savez(tmp_path / "a.npz", scores=scores, members=inside, clusters=clusters)
    of, on = np.indices(scores.shape).reshape(2, -1)
    pd.DataFrame({"model": of, "record": on, "score": scores.ravel(), "cluster": clusters[on],
                  "member": inside.ravel().astype(int)}).to_csv(tmp_path / "a.csv")  # fmt: skip
    for name in ("a.npz", "a.csv"):
        assert read_shadow_scores(tmp_path / name).scores == pytest.approx(found.scores)
    with pytest.raises(InputError, match="90 records"):
        shadow_scores(scores, inside, clusters=[1, 2])
    inside[2, 4] ^= True
    with pytest.raises(InputError, match="records 3 and 4 are of one cluster"):
        shadow_scores(scores, inside, clusters=clusters)


@pytest.mark.parametrize("design", ["own", "opposites", "fixed"])
def test_coins_that_fall_together_are_seen(design):
    _, inside, clusters = clustered()
    if design == "opposites":
        inside = np.concatenate([inside, ~inside])
    if design == "fixed":
        rng = np.random.default_rng(2)
        dealt = np.array([rng.permutation(16) < 8 for _ in range(30)]).T
        inside = np.repeat(dealt, 3, axis=1)
    scores = np.zeros(inside.shape)
    with pytest.raises(InputError, match="60 of 90 records are in the very models of an earlier"):
        coin_design(shadow_scores(scores, inside))
    assert coin_design(shadow_scores(scores, inside, clusters=clusters)).unit == "cluster"


@pytest.mark.parametrize(("models", "records"), [(2, 300), (4, 300), (8, 300), (12, 2000)])
def test_coins_of_their_own_are_never_refused_for_repeating(models, records):
    """Of two models records have four kinds of members: equal ones show nothing."""
    for seed in range(40):
        inside = np.random.default_rng(seed).random((models, records)) < 0.5
        assert coin_design(shadow_scores(np.zeros(inside.shape), inside)).kind == "own coins"


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


@pytest.mark.parametrize("column", ["score", "member", "prior"])
def test_a_number_of_too_many_digits_is_one_error(tmp_path, column):
    table = long().astype({column: object})
    table.loc[0, column] = "1" * 400
    table.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(InputError, match=column):
        read_shadow_scores(tmp_path / "a.csv")


@pytest.mark.parametrize("kind", ["npz", "npy", "csv", "csv.gz", "semicolons.csv", "parquet"])
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
    elif kind == "semicolons.csv":  # as spreadsheets of most of Europe write it
        long().to_csv(path, index=False, sep=";", decimal=",")
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


def of(members, priors=None):
    members = np.asarray(members)
    return shadow_scores(np.zeros(members.shape), members, priors)


def dealt(models, records, number, rng):
    return rng.permuted(np.arange(models)[:, None] < number + np.zeros(records), axis=0)


def test_own_coins_leave_the_priors():
    rng = np.random.default_rng(0)
    chance = rng.random(300)
    data = of(rng.random((9, 300)) < chance, chance)
    design = coin_design(data)
    assert design.kind == "own coins"
    assert design.shadows_of([8, 2]) == [0, 1, 3, 4, 5, 6, 7]
    assert (design.chances(data, [0, 1]) == chance).all()


def test_opposites_are_not_each_others_shadows():
    half = np.random.default_rng(0).random((3, 60)) < 0.5
    design = coin_design(of(np.concatenate([half, ~half])))
    assert design.kind == "pairs of opposites"
    assert design.opposite.tolist() == [3, 4, 5, 0, 1, 2]
    assert design.shadows_of([5]) == [0, 1, 3, 4]


def test_a_dealt_coin_has_the_chance_that_the_shadows_leave():
    """Exactly: over all deals of one record, those with these shadows."""
    rng = np.random.default_rng(1)
    data = of(dealt(6, 80, 3, rng))
    design = coin_design(data)
    assert (design.kind, design.number) == ("fixed number", 3)
    shadows = design.shadows_of([5])
    assert shadows == [0, 2, 4]
    found = design.chances(data, shadows)
    deals = [d for d in product((0, 1), repeat=6) if sum(d) == 3]
    for record in range(80):
        like = [d for d in deals if all(d[s] == data.members[s, record] for s in shadows)]
        assert found[record] == pytest.approx(np.mean([d[5] for d in like]))


def test_outsiders_have_no_coin():
    members = np.concatenate([dealt(6, 80, 3, np.random.default_rng(1)), np.zeros((6, 20))], 1)
    data = of(members, np.repeat([0.5, 0], [80, 20]))
    design = coin_design(data)
    assert (design.chances(data, [0])[80:] == 0).all()


def test_coins_that_cannot_have_fallen_so_are_refused():
    rng = np.random.default_rng(2)
    members = rng.random((40, 100)) < 0.5
    with_outsider = members.copy()
    with_outsider[:, 7] = False
    with pytest.raises(InputError, match="record 7 is in 0 of 40"):
        coin_design(of(with_outsider))
    twins = members.copy()
    twins[11] = twins[30]
    with pytest.raises(InputError, match="models 11 and 30 agree on 100 of 100"):
        coin_design(of(twins))
    one_pair = members.copy()
    one_pair[11] = ~one_pair[30]
    with pytest.raises(InputError, match="exactly what another lacks"):
        coin_design(of(one_pair))
    with pytest.raises(InputError, match="leave records to chance"):
        coin_design(of(np.zeros((3, 5)), np.zeros(5)))
    half = rng.random((2, 60)) < 0.5
    with pytest.raises(InputError, match="must be 1/2"):
        coin_design(of(np.concatenate([half, ~half]), np.full(60, 0.4)))


def test_twins_are_found_among_dealt_records():
    rng = np.random.default_rng(3)
    first = rng.random(100) < 0.5
    rest = rng.permuted(np.arange(4)[:, None] < np.where(first, 1, 3), axis=0)
    with pytest.raises(InputError, match="models 0 and 1 agree on 100 of 100"):
        coin_design(of(np.concatenate([[first, first], rest])))


def test_three_models_with_one_opposite_are_no_pairs():
    half = np.random.default_rng(3).random(100) < 0.5
    with pytest.raises(InputError, match="not all in pairs"):
        coin_design(of([half, half, ~half]))


def test_more_models_than_can_be_compared_are_refused():
    """Every two are compared: a file of some megabytes could take all memory."""
    data = shadow_scores(np.zeros((4097, 2)), np.arange(4097 * 2).reshape(4097, 2) % 2)
    with pytest.raises(InputError, match="at most 4,096 models are compared, got 4,097"):
        coin_design(data)
