"""The game with chances of printed numbers and with statistics, against all data sets one by one.

The oracles here share nothing with the attack: they list every multiset of people, and hold each
printed number against it by its definition.
"""

import itertools
import statistics
from collections import Counter
from fractions import Fraction
from math import factorial, prod

import numpy as np
import pandas as pd
import pytest

from narcissus.counts import (
    AsPublished,
    Cell,
    Publication,
    Structure,
    TablesGame,
    Variable,
    WantedSecret,
    audit_tables,
    play,
    system,
)
from narcissus.counts.audit import limits_of, protected
from narcissus.counts.game import PosteriorReader
from narcissus.counts.marks import Meaning, Rules, cell_key
from narcissus.counts.people import search_people
from narcissus.counts.posterior import PRIORS, expected, expected_values, weighed_once
from narcissus.counts.reading import Statistic
from narcissus.errors import InputError

from .test_audit import FOUND, SEVEN
from .worlds import all_data_sets, shown, world

AGE = Variable("age", 0, 3)
KEY = cell_key({
    0: {0: 1.0}, 1: {0: 0.3, 1: 0.4, 2: 0.2, 3: 0.1}, 2: {1: 0.25, 2: 0.5, 4: 0.25},
    3: {2: 0.25, 3: 0.5, 4: 0.25},
})  # fmt: skip
BY_CHANCE = {
    "key": (Rules(key=KEY), lambda i, j: KEY.chances[min(i, 3)].get(j - max(0, i - 3), 0)),
    "random": (Rules(base=3, random=True), lambda i, j: max(0, 1 - abs(i - j) / 3)),
}


def drawn(count, how, rng):
    """Draw what is printed by its definition, not by the rule that is tested."""
    if how == "key":
        row = KEY.chances[min(count, 3)]
        return int(rng.choice(list(row), p=list(row.values()))) + max(0, count - 3)
    return count - count % 3 + 3 * int(rng.random() < count % 3 / 3)


def prior_of(counts, prior):
    return 1 if prior == "uniform" else Fraction(1, prod(map(factorial, counts)))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", [s for s in range(280) if shown(world(s))])
def test_data_sets_weigh_as_much_as_the_chance_of_what_is_printed(seed):
    rng = np.random.default_rng([5, seed])
    how = ("key", "random")[seed % 2]
    rules, chance = BY_CHANCE[how]
    found, cells, printed = world(seed), [], {}
    for cell in found.cells:
        labels = frozenset(cell.labels.items())
        count = sum(n for one, n in zip(found.finest, found.people, strict=True)
                    if labels <= set(one.items()))  # fmt: skip
        if rng.random() < 0.3:
            cells.append(Cell(cell.file, cell.line, "", "", cell.labels,
                              Meaning(count, count, "exact")))  # fmt: skip
            continue
        number = drawn(count, how, rng)
        if how == "key":  # the same cell has the same key in each table
            number = printed.get(labels, number)
        weighs = how == "random" or labels not in printed
        printed[labels] = number
        told = rules.count(str(number), "")
        cells.append(Cell(cell.file, cell.line, number, weighs, cell.labels, told))
    total = sum(found.people)
    cells.append(Cell("all", 1, "", "", {}, Meaning(total, total, "exact")))
    found.cells[:] = cells
    vectors = all_data_sets(found)
    weights = []
    for one in vectors.tolist():
        sums = [sum(n for n, own in zip(one, found.finest, strict=True)
                    if cell.labels.items() <= own.items()) for cell in cells]  # fmt: skip
        weights.append(prod(
            chance(n, cell.column) for n, cell in zip(sums, cells, strict=True)
            if cell.count.chance is not None and cell.printed
        ))  # fmt: skip
    dimensions = system.dimensions_of(cells, Structure())
    made = system.build(cells, dimensions, Structure())
    read = weighed_once(cells, dimensions, Structure())
    got = expected(made, steps=10**6, rng=rng, told=[cell.count for cell in read])
    places = made.finest.ravel()
    for prior in PRIORS:
        all_ = [float(prior_of(one, prior)) * w for one, w in zip(vectors.tolist(), weights,
                                                                   strict=True)]  # fmt: skip
        each = np.append(got.means[prior] / made.sizes, 0)[places]
        assert got.how[prior] == "exact"
        assert each == pytest.approx(np.array(all_) @ vectors / sum(all_), abs=1e-9)


KEYS = "i,j,p\n" + "".join(
    f"{i},{j},{p}\n" for i, row in KEY.chances.items() for j, p in row.items()
)


def keys_add_up(counts, printed):
    """Whether keys of the parts, and their sum but for a whole number, print these numbers."""
    (a, b), (c, d), (e, f) = (
        KEY.exact_interval(n, j) if n else (0, 0) for n, j in zip(counts, printed, strict=True)
    )
    if counts[1] == 0 or counts[2] == 0:  # the sum has the key of the other part
        return max(a, c + e) < min(b, d + f)
    return any(max(a + turn, c + e) < min(b + turn, d + f) for turn in (0, 1))


@pytest.mark.parametrize("mean", ["", ",mean"])
@pytest.mark.parametrize("printed", list(itertools.product((2, 3, 4), (2, 3), (1, 2))))
def test_numbers_that_a_key_leaves_out_are_no_data_sets(tmp_path, printed, mean):
    """A count printed as 3 may be 1, 3 or 4, and never 2."""
    (tmp_path / "key.csv").write_text(KEYS)
    rows = [f"{label},{one}" for label, one in zip("*pq", printed, strict=True)]
    text = f"a,count{mean}\n" + "\n".join(row + ",0" * bool(mean) for row in rows)
    (tmp_path / "t.csv").write_text(text + "\n")
    declared = Publication(
        texts_tell_nothing=True, cell_key=tmp_path / "key.csv", variable="age=0:0" if mean else None
    )
    possible = [
        (p + q, p, q) for p, q in itertools.product(range(9), repeat=2)
        if all(KEY.chance(j, n) for j, n in zip(printed, (p + q, p, q), strict=True))
        # cells of the same people have one key
        and (q > 0 or printed[0] == printed[1]) and (p > 0 or printed[0] == printed[2])
        and keys_add_up((p + q, p, q), printed)
    ]  # fmt: skip
    cells = declared.read([tmp_path / "t.csv"])
    if not possible:
        with pytest.raises(InputError, match="contradict"):
            audit_tables(cells, declared.structure)
        return
    found = audit_tables(cells, declared.structure)
    for one, numbers in zip(found.cells, zip(*possible, strict=True), strict=False):
        assert one.low <= min(numbers) <= max(numbers) <= one.high
        assert not one.exact or (one.low, one.high) == (min(numbers), max(numbers))
    assert not found.all_counted
    assert found.data_sets is None  # how keys add up may leave out some
    sure = sum(min(numbers) for numbers in list(zip(*possible, strict=True))[1:])
    assert found.determined_people <= sure


def test_no_cell_is_protected_by_numbers_that_a_key_leaves_out():
    """3 is 2 or 4, 2 is 1 or 3, and 0 is 0 or 1: only 1 agrees, as 3 and 2 are other people."""
    moves = {0: {0: 1.0}, 1: {0: 0.5, 2: 0.5}, 2: {1: 0.5, 3: 0.5}}
    rules = Rules(key=cell_key(moves))
    cells = [Cell("t", at, "count", text, labels, rules.count(text, ""))
             for at, (text, labels) in enumerate([("3", {}), ("2", {"a": "p"}), ("0", {"a": "q"})])
             ]  # fmt: skip
    [*_, small] = limits_of(cells)
    assert (small.low, small.high, small.exact) == (1, 1, True)
    assert protected(cells, [2], 1) == set()


def test_cells_of_the_same_people_have_one_key_by_whatever_names(tmp_path):
    files = {"all": "a,s,count\np,y,4\np,n,2\nq,y,2\nq,n,2\n", "part": "s,count\ny,4\nn,2\n",
             "group": "a,s,count\nP,y,4\nP,n,2\n"}  # fmt: skip
    (tmp_path / "key.csv").write_text(KEYS)
    (tmp_path / "tree.csv").write_text("p,P\n")
    for name, text in files.items():
        (tmp_path / f"{name}.csv").write_text(text)

    def read(*names):
        within = ["part.csv:a=p"] if "part" in names else []
        declared = Publication(
            texts_tell_nothing=True,
            cell_key=tmp_path / "key.csv",
            within=within,
            hierarchy=[f"a={tmp_path / 'tree.csv'}"],
        )
        cells = declared.read([tmp_path / f"{name}.csv" for name in names])
        return PosteriorReader(cells, declared.structure, WantedSecret("s", ("a",)), 10,
                               steps=10**6, rng=np.random.default_rng(1))  # fmt: skip

    for names in (["part"], ["group"], ["part", "group"]):
        for prior in PRIORS:
            assert read("all", *names).believed(prior) == pytest.approx(read("all").believed(prior))


EVERYONE = list(itertools.product("FM", ("no", "yes"), range(4)))


def holds(labels, one):
    return all(dict(zip(("sex", "ill"), one, strict=False))[k] == v for k, v in labels.items())


def rounded(value, places):
    return Fraction(int(value * 10**places + Fraction(1, 2)), 10**places)


STATISTICS = {"mean": statistics.mean, "median": statistics.median, "total": sum}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", range(220))
def test_statistics_and_counts_as_by_enumeration(seed):
    rng = np.random.default_rng([6, seed])
    people = [EVERYONE[at] for at in rng.integers(0, 16, rng.integers(2, 5))]
    places, is_keyed = int(rng.integers(0, 2)), bool(rng.random() < 0.3)
    cells = [Cell("t", 1, "", "", {}, Meaning(len(people), len(people), "exact"))]
    for sex, ill in itertools.product("*FM", ("*", "no", "yes")):
        labels = {k: v for k, v in (("sex", sex), ("ill", ill)) if v != "*"}
        values = [one[2] for one in people if holds(labels, one)]
        count, printed = len(values), {}
        for name, rule in STATISTICS.items():
            if values and rng.random() < 0.25:
                printed[name] = Statistic(rounded(Fraction(rule(values)), places), places)
        told = Meaning(count, count, "exact")
        if rng.random() < 0.3:
            told = Meaning(0, 2, "suppressed") if count < 3 else Meaning(0, None, "suppressed")
        number = drawn(count, "key", rng)
        if is_keyed and labels and rng.random() < 0.5:
            told = Rules(key=KEY).count(str(number), "")
        cells.append(Cell("t", 1, number, "", labels, told, printed))
    if not any(cell.statistics for cell in cells):
        return
    means, total = {prior: Counter() for prior in PRIORS}, Counter()
    for one in itertools.combinations_with_replacement(EVERYONE, len(people)):
        weight = 1
        for cell in cells:
            values = [v for *own, v in one if holds(cell.labels, own)]
            high = np.inf if cell.count.high is None else cell.count.high
            weight *= cell.count.low <= len(values) <= high
            if cell.count.chance is not None:
                weight *= BY_CHANCE["key"][1](len(values), cell.column)
            for name, printed in cell.statistics.items():
                half = Fraction(1, 2 * 10**places)
                weight *= bool(values) and (
                    abs(Fraction(STATISTICS[name](list(map(Fraction, values)))) - printed.value)
                    <= half
                )
        for prior in PRIORS if weight else ():
            own = weight * prior_of(Counter(one).values(), prior)
            total[prior] += own
            for each, n in Counter(one).items():
                means[prior][each] += own * n
    structure = Structure(variable=AGE)
    dimensions = system.dimensions_of(cells, structure)
    found = search_people(cells, dimensions, structure, limit=10**6, steps=10**6)
    assert found.all_found
    got = expected_values(found)
    values = got.values
    for prior in PRIORS:
        mine = {
            (group["sex"], group["ill"], value): got.means[prior][at * len(values) + k]
            for at, group in enumerate(found.groups) for k, value in enumerate(values)
        }  # fmt: skip
        want = {one: float(means[prior][one] / total[prior]) for one in mine}
        assert mine == pytest.approx(want, abs=1e-9)
        assert sum(mine.values()) == pytest.approx(len(people))
    frame = pd.DataFrame(people, columns=["sex", "ill", "age"]).astype({"age": str})
    for secret, known in (("ill", ["sex", "age"]), ("age", ["sex"]), ("sex", [])):
        reader = PosteriorReader(
            cells, structure, WantedSecret(secret, tuple(known)), len(people), steps=10**6,
            rng=rng, values=True,
        )  # fmt: skip
        for prior in PRIORS:
            assert reader.how[prior] == "exact"
            assert reader.right(frame, prior) == pytest.approx(
                guessed(people, means[prior], secret, known), abs=1e-9
            )


def guessed(people, means, secret, known):
    """Chances that the likeliest secret is each person's own, from the oracle's means."""
    names = ["sex", "ill", "age"]
    table = Counter()
    for one, mean in means.items():
        key = tuple(one[names.index(k)] for k in known)
        table[key, one[names.index(secret)]] += mean
    found = []
    for one in people:
        key = tuple(one[names.index(k)] for k in known)
        row = {s: float(m) for (k, s), m in table.items() if k == key}
        best = [s for s, m in row.items() if m >= max(row.values()) * (1 - 1e-9)]
        found.append((one[names.index(secret)] in best) / len(best))
    return found


@pytest.mark.parametrize("how", ["key", "random"])
def test_chains_weigh_as_enumeration_does(how):
    rng = np.random.default_rng(4)
    people = rng.multinomial(14, rng.dirichlet(np.ones(9))).reshape(3, 3)
    cells = [Cell("t", 1, "", "", {}, Meaning(14, 14, "exact"))]
    for at in itertools.product((None, 0, 1, 2), repeat=2):
        labels = {k: "pqr"[n] for k, n in zip("ab", at, strict=True) if n is not None}
        own = people[tuple(slice(None) if n is None else n for n in at)].sum()
        told = BY_CHANCE[how][0].count(str(drawn(int(own), how, rng)), "")
        cells += [Cell("t", 1, "", "", labels, told)] if labels else []
    made = system.build(cells, system.dimensions_of(cells, Structure()), Structure())
    told = [cell.count for cell in cells]
    exact = expected(made, steps=10**6, rng=rng, told=told)
    walked = expected(made, steps=0, rng=rng, told=told)
    blind = expected(made, steps=10**6, rng=rng)
    for prior in PRIORS:
        assert (exact.how[prior], walked.how[prior]) == ("exact", "sampled")
        away = np.abs(exact.means[prior] - walked.means[prior]).max()
        assert away < 0.1 < np.abs(exact.means[prior] - blind.means[prior]).max()


def test_who_rounds_by_chance_tells_more_than_limits():
    """Printed 3 by base 3: the true count is 3 with chance 1, 2 and 4 with 2/3 of that, ..."""
    rules = BY_CHANCE["random"][0]
    cells = [Cell("t", 1, "", "", {"ill": "yes"}, rules.count("3", "")),
             Cell("t", 2, "", "", {"ill": "no"}, rules.count("3", ""))]  # fmt: skip
    reader = PosteriorReader(cells, Structure(), WantedSecret("ill", ()), 5,
                             rng=np.random.default_rng(0))  # fmt: skip
    # (1, 4), (2, 3), (3, 2), (4, 1), and no other, since each is at most 5
    weights = {1: 2 / 9, 2: 2 / 3, 3: 2 / 3, 4: 2 / 9}
    assert reader.believed("uniform") == pytest.approx(0.5)
    cells[1] = Cell("t", 2, "", "", {"ill": "no"}, Meaning(0, 5, "suppressed"))
    reader = PosteriorReader(cells, Structure(), WantedSecret("ill", ()), 5,
                             rng=np.random.default_rng(0))  # fmt: skip
    weights = {1: 1, 2: 2, 3: 3, 4: 2, 5: 1}
    mean = sum(n * w for n, w in weights.items()) / sum(weights.values())
    assert reader.believed("uniform") == pytest.approx(mean / 5)


def seven(tmp_path, text=SEVEN):
    (tmp_path / "seven.csv").write_text(text)
    declared = Publication(
        texts_tell_nothing=True, below=3, variable="age=0:125", apart=["marital"]
    )
    people = pd.DataFrame([(*one[-3:], one[:-3]) for one in FOUND.split()],
                          columns=["sex", "race", "marital", "age"])  # fmt: skip
    cells = declared.read([tmp_path / "seven.csv"])
    return people, AsPublished(cells, declared.structure, declared.rules)


@pytest.mark.parametrize(("secret", "known", "best"), [
    ("marital", ("age", "sex"), 1), ("race", ("age",), 1), ("sex", ("age",), 1),
    ("age", ("sex", "race", "marital"), 6 / 7),  # two have the same known columns
])  # fmt: skip
def test_all_seven_are_named_by_statistics_and_not_without(tmp_path, secret, known, best):
    people, publish = seven(tmp_path)
    publish.check(people)
    game = TablesGame(people, publish, WantedSecret(secret, known), publish.structure, steps=1000)
    found = play(game, trials=2, rng=1)
    assert {one.read for one in found.attacks} == {"exact"}
    blind = play(TablesGame(people, publish, WantedSecret(secret, known), publish.structure,
                            steps=0), trials=2, rng=1)  # fmt: skip
    assert {one.read for one in blind.attacks} == {"counts alone"} == set(blind.best.how)
    assert found.ceiling == best
    assert [one.these for one in found.attacks] == [best, best]
    assert blind.best.these < best


def remade(tmp_path, text, people, some, **how):
    (tmp_path / "t.csv").write_text(text)
    declared = Publication(texts_tell_nothing=True, **how)
    cells = declared.read([tmp_path / "t.csv"])
    publish = AsPublished(cells, declared.structure, declared.rules)
    publish.check(people)
    return publish, publish(some, np.random.default_rng(0))


def ages(*each):
    return pd.DataFrame([("F" if at % 2 else "M", str(age)) for at, age in enumerate(each)],
                        columns=["sex", "age"])  # fmt: skip


@pytest.mark.parametrize(("text", "some", "told"), [
    # M has 8, 9, 10; F has 2, 5: as printed, then with a man less, whose cell is hidden with its
    # mean, then with another woman, so that hers are shown
    ("M,3,9,9,27\nF,x,x,x,x", (8, 2, 9, 5, 10), [(9, 9, 27), ()]),
    ("M,3,9,9,27\nF,x,x,x,x", (8, 2, 9, 5), [(), ()]),
    ("M,3,9,9,27\nF,x,x,x,x", (8, 2, 9, 5, 11, 6), [(Fraction("9.3"), 9, 28),
                                                   (Fraction("4.3"), 5, 13)]),
    # a mark beside a count that is shown stays, and statistics beside a hidden one stay
    ("M,3,9,x,27\nF,x,3.5,x,x", (8, 2, 9, 5), [(Fraction("8.5"), 17), (Fraction("3.5"),)]),
    ("M,3,9,x,27\nF,x,3.5,x,x", (8,), [(8, 8), ()]),
])  # fmt: skip
def test_statistics_are_made_again_as_they_were(tmp_path, text, some, told):
    header = "sex,count,mean,median,total\n"
    _, cells = remade(tmp_path, header + text, ages(8, 2, 9, 5, 10), ages(*some), below=3,
                      variable="age=0:99", decimals=1)  # fmt: skip
    assert [tuple(one.value for one in cell.statistics.values()) for cell in cells] == told
    assert all(one.places == 1 for cell in cells for one in cell.statistics.values())


def test_statistics_of_other_people_are_refused_and_ages_that_are_none_are_not_used(tmp_path):
    text = "sex,count,mean\nM,3,9\nF,x,x\n"
    people, how = ages(8, 2, 9, 5, 10), {"below": 3, "variable": "age=0:99"}
    with pytest.raises(InputError, match=r"t\.csv: line 2, column count: the mean 9 is printed"):
        remade(tmp_path, text, ages(8, 2, 9, 5, 16), people, **how)
    for other in (people.replace({"age": {"8": "old"}}), people.drop(columns="age")):
        publish, _ = remade(tmp_path, text, other, other, **how)
        game = TablesGame(other, publish, WantedSecret("sex", ()), publish.structure)
        found = play(game, trials=3, rng=1)
        assert {one.read for one in found.attacks} == {"counts alone"} == set(found.best.how)


@pytest.mark.parametrize(("printed", "counts", "told"), [
    (("1-4", "5-9", "20"), (3, 7, 20), [(1, 4), (5, 9), (20, 20)]),
    (("1-4", "5-9", "20"), (6, 2, 3), [(5, 9), (1, 4), (1, 4)]),  # as its table prints others
    (("1-4", "5-9", "20"), (0, 12, 9), [(0, 0), (12, 12), (5, 9)]),  # no range holds these
    (("1-4", "5-9", "3"), (2, 6, 4), [(1, 4), (5, 9), (4, 4)]),  # small numbers are printed, too
    (("<5", "7", "20"), (3, 2, 9), [(0, 4), (0, 4), (9, 9)]),
])  # fmt: skip
def test_ranges_are_printed_as_their_table_prints_them(tmp_path, printed, counts, told):
    text = "area,count\n" + "".join(f"{a},{one}\n" for a, one in zip("pqr", printed, strict=True))
    middle = {"1-4": 2, "5-9": 6, "<5": 1}
    people, some = (
        pd.DataFrame({"area": np.repeat(list("pqr"), many)})
        for many in ([middle.get(one) or int(one) for one in printed], counts)
    )
    _, cells = remade(tmp_path, text, people, some, flat=["area"])
    assert [(one.count.low, one.count.high) for one in cells] == told


def test_keys_are_fresh_and_the_same_people_have_one(tmp_path):
    (tmp_path / "p.csv").write_text("i,j,p\n0,0,1\n1,1,1\n2,1,.25\n2,2,.5\n2,3,.25\n")
    text = "area,ill,count\np,*,9\np,yes,9\np,no,0\nq,*,6\n"
    people = pd.DataFrame({"area": list("p" * 9 + "q" * 6), "ill": ["yes"] * 15})
    publish, _ = remade(tmp_path, text, people, people, cell_key=tmp_path / "p.csv")
    rng = np.random.default_rng(1)
    middles = np.array([[(one.count.low + one.count.high) / 2 for one in publish(people, rng)]
                        for _ in range(600)])  # fmt: skip
    assert (middles[:, 0] == middles[:, 1]).all()
    assert (middles[:, 2] == 0).all()
    for column, count in ((0, 9), (3, 6)):
        shares = [np.mean(middles[:, column] == count + k) for k in (-1, 0, 1)]
        assert shares == pytest.approx([0.25, 0.5, 0.25], abs=0.1)
    with pytest.raises(InputError, match="9 of the people are there"):
        remade(tmp_path, text.replace("p,*,9", "p,*,11"), people, people,
               cell_key=tmp_path / "p.csv")  # fmt: skip
