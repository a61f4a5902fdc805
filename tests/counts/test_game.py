"""The posterior against all data sets one by one, and the game against every choice of people."""

import itertools
from fractions import Fraction
from math import factorial, prod

import numpy as np
import pandas as pd
import pytest

from narcissus.counts import Cell, Publication, Structure, posterior, system
from narcissus.counts.game import PosteriorReader, TablesGame, WantedSecret, play
from narcissus.counts.intervals import Polytope
from narcissus.counts.marks import Meaning
from narcissus.counts.posterior import PRIORS, Weighed, expected, fitted, lattice, mixing, sampled
from narcissus.counts.remade import AsPublished
from narcissus.errors import InputError

from .worlds import all_data_sets, shown, world


def built(cells):
    return system.build(cells, system.dimensions_of(cells, Structure()), Structure())


def weight(vector, prior):
    return Fraction(1, prod(map(factorial, vector))) if prior == "people" else Fraction(1)


def brute(vectors, prior):
    """Expected people of each finest cell, in fractions."""
    weights = [weight(one, prior) for one in vectors.tolist()]
    sums = [sum(w * n for w, n in zip(weights, column, strict=True)) for column in vectors.T
            .tolist()]  # fmt: skip
    return [float(one / sum(weights)) for one in sums]


WORLDS = [seed for seed in range(60) if shown(world(seed))]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", WORLDS)
def test_expected_people_are_those_of_all_data_sets(seed):
    found = world(seed)
    vectors, made = all_data_sets(found), built(found.cells)
    got = expected(made, steps=10**6, rng=np.random.default_rng(0))
    places = made.finest.ravel()
    for prior in PRIORS:
        each = np.append(got.means[prior] / made.sizes, 0)[places]
        assert got.how[prior] == "exact"
        assert each == pytest.approx(brute(vectors, prior), abs=1e-9)
    for at in range(len(made.sizes)):
        assert got.most[at] >= vectors[:, places == at].sum(axis=1).max(initial=0)


@pytest.mark.parametrize(("seed", "window"), [(3, 32), (4, 32), (3, 2)])
def test_chains_find_what_enumeration_finds(seed, window, monkeypatch):
    monkeypatch.setattr(posterior, "_WINDOW", window)  # small: many strides, and parts of lines
    rng = np.random.default_rng(seed)
    people = frame(25, rng)
    cells = [cell for at, pair in enumerate(itertools.combinations(people, 2))
             for cell in tables(people, [pair], name=f"t{at}")]  # fmt: skip
    made = built(cells)
    exact = expected(made, steps=10**6, rng=rng)
    walked = expected(made, steps=0, rng=rng)
    rough = fitted(Polytope(
        made.matrix, made.low, made.high, 0 * made.sizes, 0 * made.sizes + 25
    ), made.sizes)  # fmt: skip
    for prior in PRIORS:
        assert (exact.how[prior], walked.how[prior]) == ("exact", "sampled")
        away = np.abs(exact.means[prior] - walked.means[prior]).max()
        assert away < 0.1 < np.abs(exact.means[prior] - exact.means[prior].mean()).max()
    assert made.matrix @ rough == pytest.approx(np.clip(made.matrix @ rough, made.low, made.high))


def test_chains_that_cannot_meet_are_not_believed():
    # (0, 0), (8, 5) and (11, 7) alone, and no step of 1 or 2 leads from one to another
    matrix = system.csr_array(np.array([[7, -11]]))
    part = Polytope(matrix, *(np.array(one) for one in ([0], [1], [0, 0], [11, 7])))
    none = Weighed(np.zeros((0, 2), int), np.zeros(0, int), [])
    assert sampled(part, np.ones(2, int), "uniform", np.random.default_rng(0), none) is None
    apart = np.stack([np.zeros((20, 4, 1)), np.ones((20, 4, 1))], axis=1).reshape(20, 8, 1)
    assert mixing(apart)[0] == np.inf
    assert mixing(np.random.default_rng(1).normal(size=(400, 8, 1)))[0] < 1.02


@pytest.mark.parametrize("seed", range(8))
def test_lattice_misses_no_difference_of_two_data_sets(seed):
    found = world(WORLDS[seed])
    inside = np.array([[c.labels.items() <= one.items() for one in found.finest] for c in
                       found.cells if c.count.low == c.count.high], int)  # fmt: skip
    basis, vectors = lattice(inside), all_data_sets(found)
    assert not (inside @ basis.T).any()
    assert len(basis) == inside.shape[1] - np.linalg.matrix_rank(inside)
    steps = vectors[1:40] - vectors[0]
    times = np.rint(np.linalg.lstsq(basis.T.astype(float), steps.T, rcond=None)[0])
    assert (basis.T @ times == steps.T).all()


def frame(many, rng, secret="ill"):
    return pd.DataFrame({
        "area": rng.choice(list("pqr"), many), "sex": rng.choice(["F", "M"], many),
        secret: rng.choice(["no", "yes"], many, p=[0.7, 0.3]),
    })  # fmt: skip


def tables(people, about, *, below=1, name="t"):
    """Cells of some columns crossed, with margins; small ones of no margin suppressed."""
    cells = []
    for columns in about:
        for labels in itertools.product(*(["*", *sorted(set(people[c]))] for c in columns)):
            own = {k: v for k, v in zip(columns, labels, strict=True) if v != "*"}
            count = int(np.all([people[k] == v for k, v in own.items()], axis=0).sum()
                        if own else len(people))  # fmt: skip
            small = len(own) == len(columns) and count < below
            meaning = (0, below - 1, "suppressed") if small else (count, count, "exact")
            text = "x" if small else str(count)
            cells.append(Cell(name, len(cells) + 2, "count", text, own, Meaning(*meaning)))
    return cells


def whole(people, rng):
    return tables(people, [tuple(people)])


@pytest.mark.repeats(50, 1500, "trials")
def test_the_game_is_a_mean_over_who_is_left_out(trials):
    people = frame(7, np.random.default_rng(4))
    game = TablesGame(people, whole, WantedSecret("ill", ("area", "sex")))
    inside, outside = [], []
    for out in range(7):
        kept = people.drop(index=out)
        right = []
        for _, one in people.iterrows():
            alike = kept[(kept.area == one.area) & (kept.sex == one.sex)].ill
            counts = (alike if len(alike) else kept.ill).value_counts()
            best = counts[counts == counts.max()].index
            right.append((one.ill in best) / len(best))
        outside.append(right.pop(out))
        inside.append(np.mean(right))
    found = play(game, trials=trials, rng=3).best
    for got, want in ((found.inside, np.mean(inside)), (found.outside, np.mean(outside)),
                      (found.gain, np.mean(inside) - np.mean(outside))):  # fmt: skip
        assert got.low <= want <= got.high
        assert got.high - got.low < 10 / trials**0.5
    best = people.groupby(["area", "sex"]).ill.agg(lambda some: some.value_counts().iloc[0]).sum()
    assert play(game, trials=2, rng=3).ceiling == best / 7 >= found.these
    assert found.how == {"exact": trials}


@pytest.mark.parametrize("seed", range(4))
def test_the_attack_is_the_best_one_under_its_prior(seed):
    found = world(WORLDS[seed])
    vectors = all_data_sets(found)
    secret, *known = found.dimensions
    task = WantedSecret(secret, tuple(known))
    reader = PosteriorReader(found.cells, Structure(), task, sum(found.people), steps=10**6,
                             rng=np.random.default_rng(0))  # fmt: skip
    for prior in PRIORS:
        means = dict(zip(map(lambda one: tuple(one.values()), found.finest),
                         brute(vectors, prior), strict=True))  # fmt: skip
        groups = {}
        for labels, mean in means.items():
            groups.setdefault(labels[1:], []).append(mean)
        best = sum(map(max, groups.values())) / sum(found.people)
        assert reader.believed(prior) == pytest.approx(best, abs=1e-9)


def test_who_is_certain_has_the_secret_in_every_data_set():
    people = pd.DataFrame({"area": list("ppqqqq"), "ill": ["yes", "yes", "no", "no", "no", "yes"]})
    cells = tables(people, [("area", "ill")], below=4)
    reader = PosteriorReader(cells, Structure(), WantedSecret("ill", ("area",)), 6,
                             rng=np.random.default_rng(0))  # fmt: skip
    # p: 2 people, q: 4; yes: 3, no: 3, all cells are below 4: p may hold 0 to 2 who are ill
    assert reader.certain(people) == (0, 0)
    known = [
        *cells,
        Cell("u", 2, "count", "2", {"area": "p", "ill": "yes"}, Meaning(2, 2, "exact")),
    ]
    reader = PosteriorReader(known, Structure(), WantedSecret("ill", ("area",)), 6,
                             rng=np.random.default_rng(0))  # fmt: skip
    assert reader.certain(people) == (1 / 3, 1 / 3)
    assert reader.right(people, "uniform").tolist() == [1, 1, 1, 1, 1, 0]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", WORLDS)
def test_limits_of_who_is_certain_hold_the_share_of_all_data_sets(seed):
    found = world(seed)
    people = pd.DataFrame([one for one, n in zip(found.finest, found.people, strict=True)
                           for _ in range(n)])  # fmt: skip
    vectors, names = all_data_sets(found), list(found.finest[0])
    shown_ = [name for name in names if any(name in cell.labels for cell in found.cells)]
    if people.empty or not shown_:
        return
    secret, known = shown_[-1], shown_[:-1]
    sure = 0
    for one in people.to_dict("records"):
        others = [at for at, cell in enumerate(found.finest) if cell[secret] != one[secret]
                  and all(cell[name] == one[name] for name in known)]  # fmt: skip
        sure += not vectors[:, others].any()
    for steps in (10**6, 0):
        reader = PosteriorReader(
            found.cells, Structure(), WantedSecret(secret, tuple(known)), None, steps=steps,
            rng=np.random.default_rng(1),
        )  # fmt: skip
        least, most = reader.certain(people)
        assert least <= sure / len(people)
        assert most is None or sure / len(people) <= most
        assert steps == 0 or least == most


@pytest.mark.repeats(40, 400, "trials")
def test_tables_of_another_secret_gain_nothing_and_full_ones_all_there_is(trials):
    rng = np.random.default_rng(8)
    people = frame(40, rng).assign(name=[f"n{at}" for at in range(40)])

    def other(some, draws):
        return whole(frame(len(some), draws), draws)

    def names(some, draws):
        return tables(some, [("name", "ill")])

    null = play(
        TablesGame(people, other, WantedSecret("ill", ("area", "sex"))), trials=trials, rng=1
    )
    assert all(one.gain.low <= 0 <= one.gain.high for one in null.attacks)
    told = play(TablesGame(people, names, WantedSecret("ill", ("name",))), trials=trials, rng=1)
    assert told.best.these == told.best.inside.value == 1
    assert told.certain == (1, 1)
    assert told.best.outside.high < 1
    assert told.best.gain.low > 0


def test_tables_without_the_secret_are_refused():
    people = frame(20, np.random.default_rng(2))
    game = TablesGame(people, lambda some, _: tables(some, [("area",)]), WantedSecret("ill", ()))
    with pytest.raises(InputError, match="ill"):
        play(game, trials=5, rng=0)


LONG = "area,ill,count\np,no,12\np,yes,x\nq,no,6\nq,yes,x\n*,*,24\n"


def published(tmp_path, text=LONG, **how):
    (tmp_path / "t.csv").write_text(text)
    declared = Publication(texts_tell_nothing=True, **{"below": 5, **how})
    return declared.read([tmp_path / "t.csv"]), declared


def crowd(*counts):
    each = [("p", "no"), ("p", "yes"), ("q", "no"), ("q", "yes")]
    rows = [one for one, n in zip(each, counts, strict=True) for _ in range(n)]
    return pd.DataFrame(rows, columns=["area", "ill"])


@pytest.mark.parametrize(("text", "how", "some", "told"), [
    (LONG, {}, (12, 2, 6, 4), [(12, 12), (0, 4), (6, 6), (0, 4), (24, 24)]),
    (LONG, {}, (3, 6, 0, 4), [(0, 4), (6, 6), (0, 4), (0, 4), (13, 13)]),
    (LONG.replace("p,yes,x", "p,yes,3"), {}, (3, 6, 0, 4),
     [(3, 3), (6, 6), (0, 0), (0, 4), (13, 13)]),
    (LONG, {"no_zeros": True}, (3, 6, 0, 4), [(1, 4), (6, 6), (0, 0), (1, 4), (13, 13)]),
    (LONG, {"below": None, "mark": ["x=any"], "part": ["p", "q"]}, (3, 6, 0, 4),
     [(3, 3), (0, None), (0, 0), (0, None), (13, 13)]),
    (LONG.replace("x", "5").replace(",6", ",5").replace("12", "10").replace("24", "25"),
     {"below": None, "rounded": "5"}, (12, 3, 6, 4), [(8, 12), (3, 7), (3, 7), (3, 7), (23, 27)]),
])  # fmt: skip
def test_tables_are_made_again_as_they_were(tmp_path, text, how, some, told):
    cells, declared = published(tmp_path, text, **how)
    publish = AsPublished(cells, declared.structure, declared.rules)
    publish.check(crowd(12, 3, 6, 3))
    again = publish(crowd(*some), np.random.default_rng(0))
    assert [(one.count.low, one.count.high) for one in again] == told


@pytest.mark.repeats(400, 2000)
def test_random_rounding_is_even_on_average(tmp_path, repeats):
    text = "area,count\np,10\n"
    cells, declared = published(tmp_path, text, below=None, rounded="random:5")
    people = crowd(12, 0, 0, 0)
    publish, rng = AsPublished(cells, declared.structure, declared.rules), np.random.default_rng(0)
    ends = [publish(people, rng)[0].count for _ in range(repeats)]
    assert {(one.low, one.high) for one in ends} == {(6, 14), (11, 19)}
    assert np.mean([one.high - 4 for one in ends]) == pytest.approx(12, abs=11 / repeats**0.5)


@pytest.mark.parametrize(("change", "words"), [
    ({"text": LONG.replace("12", "13")}, "t.csv: line 2, column count.*12 of the people"),
    ({"people": crowd(12, 3, 6, 3).rename(columns={"area": "Area"})}, "did you mean `?Area"),
    ({"people": crowd(12, 3, 6, 3).replace({"area": {"q": "z"}})}, "area = z, which no table"),
])  # fmt: skip
def test_tables_of_other_people_are_refused(tmp_path, change, words):
    cells, declared = published(tmp_path, change.get("text", LONG))
    people = change.get("people", crowd(12, 3, 6, 3))
    with pytest.raises(InputError, match=words):
        AsPublished(cells, declared.structure, declared.rules).check(people)


@pytest.mark.parametrize(("task", "words"), [
    (WantedSecret("il", ()), "ill"), (WantedSecret("ill", ("sx",)), "sex"),
    (WantedSecret("ill", ("ill",)), "not known"), (WantedSecret("ill", ("sex", "sex")), "twice"),
])  # fmt: skip
def test_what_is_asked_is_checked(task, words):
    people = frame(5, np.random.default_rng(0))
    with pytest.raises(InputError, match=words):
        TablesGame(people, whole, task)
    with pytest.raises(InputError, match="two people"):
        TablesGame(people[:1], whole, WantedSecret("ill", ()))
