"""Rules of publishing: what each prints, that it holds for the people, and what is compared."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from narcissus.counts import audit_tables, compare, compare_rules, read_cell_key
from narcissus.counts.audit import limits_of, protected
from narcissus.counts.rules import (
    PLUS_MINUS_ONE,
    CrossedTables,
    add_noise,
    as_they_are,
    perturb,
    protect,
    round_to,
    suppress,
)
from narcissus.errors import InputError, TooLargeError
from narcissus.report.html import page_html
from narcissus.report.publishing import compared_rules
from narcissus.report.text import page_text


def people(seed, size=25):
    rng = np.random.default_rng(seed)
    columns = {"sex": "FM", "area": "NSW", "ill": ["no", "yes"]}
    return pd.DataFrame({
        name: rng.choice(list(labels), size, p=rng.dirichlet(np.full(len(labels), 2.0)))
        for name, labels in columns.items()
    })  # fmt: skip


def layout_of(frame):
    return CrossedTables.of(frame, [["sex", "area", "ill"]])


RULES = {
    "as they are": as_they_are,
    "below 3": lambda one: suppress(one, 3),
    "below 5, others": lambda one: suppress(one, 5, secondary=True),
    "to 3": lambda one: round_to(one, 3),
    "to 5": lambda one: round_to(one, 5),
    "to 5, chance": lambda one: round_to(one, 5, by_chance=True),
    "key": lambda one: perturb(one, PLUS_MINUS_ONE),
    "noise": lambda one: add_noise(one, 3.0),
}


@pytest.mark.parametrize("name", RULES)
def test_what_is_told_holds_for_the_people(name):
    for seed in range(6):
        frame = people(seed)
        layout = layout_of(frame)
        cells = RULES[name](layout)(frame, np.random.default_rng(seed))
        assert len({frozenset(cell.labels.items()) for cell in cells}) == len(cells)
        for cell in cells:
            member = np.ones(len(frame), bool)
            for column, label in cell.labels.items():
                member &= frame[column].to_numpy() == label
            count = int(member.sum())
            assert cell.count.low <= count
            assert cell.count.high is None or count <= cell.count.high
            if name in ("as they are", "below 3"):
                assert cell.printed == ("x" if name == "below 3" and count in (1, 2) else
                                        str(count))  # fmt: skip


@pytest.mark.parametrize("base", [3, 5])
def test_rounding_by_chance_has_no_bias_and_the_key_is_the_same_for_the_same_people(base):
    frame = people(1, 40)
    layout = layout_of(frame)
    counts = layout.count(frame)
    rng = np.random.default_rng(2)
    rules = [round_to(layout, base, by_chance=True), perturb(layout, PLUS_MINUS_ONE)]
    for rule, spread in zip(rules, (base / 2, 0.75), strict=True):
        places = layout.places(frame)
        told = [list(map(int, rule.tell(counts, places, rng)[0])) for _ in range(1500)]
        # five standard errors of each of some 36 cells: a false alarm in 50,000
        assert (abs(np.mean(told, axis=0) - counts) < 5 * spread / np.sqrt(1500)).all()
        assert np.std(told, axis=0).max() > 0.3
    alone = frame[frame["sex"] == "F"].assign(ill="no")
    narrow = CrossedTables.of(frame, [["sex", "area", "ill"]])
    told = {frozenset(one.labels.items()): one.printed for one in perturb(narrow, PLUS_MINUS_ONE)(
        alone, np.random.default_rng(0))}  # fmt: skip
    for area in "NSW":  # all are women who are not ill: these cells hold the same people
        same = [{"area": area}, {"area": area, "sex": "F"}, {"area": area, "ill": "no"}]
        assert len({told[frozenset(one.items())] for one in same}) == 1


def test_noise_has_its_distribution():
    """One dimension and the sum: two crossings, so the chance of 0 is tanh(epsilon / 4)."""
    frame = pd.DataFrame({"ill": ["no"] * 3000 + ["yes"] * 3000})
    rule = add_noise(CrossedTables.of(frame, [["ill"]]), 2.0)
    rng = np.random.default_rng(3)
    places, counts = rule.layout.places(frame), rule.layout.count(frame)
    noise = np.array([list(map(int, rule.tell(counts, places, rng)[0])) for _ in range(4000)])
    noise = noise - counts
    expected = np.tanh(2.0 / 4)  # (1 - a) / (1 + a) with a = exp(-epsilon / 2)
    assert abs((noise == 0).mean() - expected) < 5 * np.sqrt(expected * (1 - expected) / 12000)
    assert abs(noise.mean()) < 0.1
    read = rule.to_read(frame, rng)
    assert int(read[-1].printed) == sum(int(cell.printed) for cell in read[:-1])


def all_sets(frame, cells, names):
    """Every vector of people in the finest cells that agrees with the published ones."""
    finest = list(itertools.product(*(sorted(set(frame[name])) for name in names)))
    inside = np.array([
        [all(cell.labels.get(n, v) == v for n, v in zip(names, one, strict=True)) for one in finest]
        for cell in cells
    ])  # fmt: skip
    low = np.array([cell.count.low for cell in cells])
    high = np.array([10**6 if c.count.high is None else c.count.high for c in cells])
    total, size = len(frame), len(finest)
    bars = np.array(list(itertools.combinations(range(total + size - 1), size - 1)), dtype=int)
    ends = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), total + size - 1)])
    vectors = np.diff(ends, axis=1) - 1
    sums = vectors @ inside.T
    return sums[((sums >= low) & (sums <= high)).all(axis=1)]


@pytest.mark.repeats(6, 60, "worlds")
def test_protected_cells_differ_among_all_data_sets(worlds):
    """By enumeration: small cells differ by the width that was promised, and alone they do not."""
    undone = hidden = seen = 0
    for seed in range(worlds):
        frame = people([7, seed], 16)
        if min(frame.nunique()) < 2:
            continue
        names = [["sex", "area"], ["area", "ill"]][seed % 2]
        layout, below = CrossedTables.of(frame, [names]), 3 + seed % 3
        counts, width = layout.count(frame), max(1, below - 2)
        small = np.flatnonzero((counts > 0) & (counts < below))
        chosen, open_ = protect(layout, counts, small, width)
        # what is printed is protected, as an audit of ours and all data sets say
        cells = suppress(layout, below, secondary=True)(frame, np.random.default_rng(0))
        assert {at for at, cell in enumerate(cells) if cell.printed == "x"} == chosen
        truth = all_sets(frame, cells, names) if cells[-1].printed != "x" else None
        limits = limits_of(cells)
        for at in set(small.tolist()) - set(open_):
            assert limits[at].width >= width
            if truth is not None:
                seen += 1
                assert np.ptp(truth[:, at]) >= width
                assert limits[at].low == truth[:, at].min()
        alone = suppress(layout, below)(frame, np.random.default_rng(0))
        undone += sum(one.determined for one in limits_of(alone) if one.is_hidden)
        hidden += sum(limits[at].determined for at in chosen)
    assert undone > 0
    assert hidden == 0 < seen


def test_only_cells_of_which_data_sets_differ_are_called_protected():
    frame = people(4, 30)
    layout = layout_of(frame)
    counts = layout.count(frame)
    small = np.flatnonzero((counts > 0) & (counts < 5)).tolist()
    assert small
    cells = suppress(layout, 5)(frame, np.random.default_rng(0))
    limits = audit_tables(cells, limit=1).cells
    kept = protected(cells, small, 1)
    assert kept == {at for at in small if limits[at].width >= 1}
    assert kept != set(small)


def by_definition(frame, cells, names, secret):
    """Who can have one secret alone, by linear limits of each finest cell."""
    limits = {frozenset(one.cell.labels.items()): one.high for one in limits_of(cells)}
    certain = 0
    for row in frame.to_dict("records"):
        own = {name: row[name] for name in names}
        left = [label for label in set(frame[secret])
                if limits[frozenset({**own, secret: label}.items())] != 0]  # fmt: skip
        certain += len(left) == 1
    return certain


def test_rules_side_by_side(monkeypatch):
    monkeypatch.setattr(compare, "THRESHOLDS", (3,))
    frame = people(11, 30)
    how = {"trials": 0, "rng": 5, "epsilons": [1.0], "seconds": 600.0}  # machines are busy
    found = compare_rules(frame, "ill", [["sex", "area"]], **how)
    by_name = {one.name: one for one in found.rules}
    whole, alone = by_name["as they are"], by_name["suppress below 3"]
    both = by_name["suppress below 3, and others"]
    assert whole.small_derived == found.small > 0
    assert (whole.suppressed, whole.error) == (0, 0)
    assert alone.suppressed == found.small
    assert alone.hidden_derived == alone.small_derived > 0  # margins give them away
    assert both.suppressed > alone.suppressed
    assert (both.small_derived, both.hidden_derived) == (0, 0)
    assert by_name["noise, epsilon 1"].small_derived == 0
    layout = CrossedTables.of(frame, [["sex", "area", "ill"]])
    cells = as_they_are(layout)(frame, np.random.default_rng(0))
    assert whole.certain == by_definition(frame, cells, ["sex", "area"], "ill") > 0
    page = compared_rules(found)
    assert "let nobody derive a small count" in page_text(page)
    assert "<svg" in page_html(page)
    # the same seed, the same numbers; apart tables leave the crossed cells to be asked for
    again = compare_rules(frame, "ill", [["sex"], ["area"]], **how)
    assert again == compare_rules(frame, "ill", [["sex"], ["area"]], **how)
    assert again.rules[0].certain <= whole.certain


def test_what_time_does_not_decide_is_not_called_safe(monkeypatch):
    frame = people(3, 60)
    monkeypatch.setattr(compare, "limits_of", lambda cells, seconds: limits_of(cells, seconds=0))
    monkeypatch.setattr(compare, "protected", lambda *found: set())
    found = compare_rules(frame, "ill", [["sex", "area"]], trials=0, rng=5)
    by_name = {one.name: one for one in found.rules}
    assert by_name["as they are"].small_derived == found.small > 0
    chance = by_name["round to 5, by chance"]
    assert chance.small_undecided + chance.small_derived > 0
    assert not chance.is_exact
    assert "round to 5, by chance" in page_text(compared_rules(found)).split("left out")[1]
    only = replace(found, rules=(by_name["as they are"], chance))
    assert chance.small_undecided
    assert not chance.small_derived
    assert "of 1 of 2 rules, time ran out" in " ".join(page_text(compared_rules(only)).split())
    only = replace(found, rules=(by_name["as they are"],))
    assert "derived with certainty under every rule" in page_text(compared_rules(only))
    with pytest.raises(TooLargeError, match="time ran out"):
        suppress(layout_of(frame), 5, secondary=True, until=lambda: 0.0)(
            frame, np.random.default_rng(0)
        )


def test_all_that_time_cuts_off_is_left_out_by_name():
    found = compare_rules(people(3, 60), "ill", [["sex", "area"]], rng=5, seconds=1e-9)
    assert [one.name for one in found.rules] == ["as they are"]
    assert len(found.left_out) == 16
    assert found.rules[0].game is None
    shown = " ".join(page_text(compared_rules(found)).split("left out")[1].split())
    assert "round to 3, by chance" in shown
    assert "The success of an attack was not assessed" in shown


@pytest.mark.nightly
def test_the_game_of_each_rule():
    """People in the tables lose more than others where all is printed, and little under noise."""
    frame = people(11, 30)
    found = compare_rules(frame, "ill", [["sex", "area"]], trials=8, rng=5, epsilons=[0.1])
    first, last = found.rules[0].game, found.rules[-1].game
    assert first.these > found.guess
    assert all(one.game.gain.low <= one.game.gain.value <= one.game.gain.high
               for one in found.rules)  # fmt: skip
    assert last.inside.value < first.inside.value
    read = json.loads(json.dumps(found.to_dict()))
    assert read["rules"][0]["game"]["gain"]["value"] == first.gain.value
    assert "What an attack gets" in page_text(compared_rules(found))


@pytest.mark.parametrize(
    ("secret", "tables", "said"),
    [
        ("ill", [["sx"]], "sx"),
        ("il", [["sex"]], "il"),
        ("ill", [["sex", "ill"]], "not the secret"),
        ("ill", [], "--by"),
    ],
)
def test_bad_questions(secret, tables, said):
    with pytest.raises(InputError, match=said):
        compare_rules(people(1), secret, tables)


def test_too_large_and_reserved():
    wide = pd.DataFrame({f"c{k}": [str(n) for n in range(60)] for k in range(4)})
    with pytest.raises(TooLargeError):
        CrossedTables.of(wide, [list(wide)])
    with pytest.raises(InputError, match="the name is ours"):
        CrossedTables.of(pd.DataFrame({"count": ["1"], "low": ["2"]}), [["low"]])


def test_a_given_table_of_the_cell_key_method(tmp_path):
    file = tmp_path / "p.csv"
    file.write_text("i,j,p\n0,0,1\n1,0,.5\n1,2,.5\n2,1,.5\n2,3,.5\n")
    frame = people(2, 40)
    layout = layout_of(frame)
    counts = layout.count(frame)
    cells = perturb(layout, read_cell_key(file))(frame, np.random.default_rng(1))
    moved = np.array([int(cell.printed) for cell in cells]) - counts
    assert (moved[counts == 0] == 0).all()
    assert set(moved[counts > 0].tolist()) == {-1, 1}
