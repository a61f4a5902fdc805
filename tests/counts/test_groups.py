"""Groups that no cell prints, held to all data sets that agree with small published tables."""

import itertools

import numpy as np
import pytest
from tests.counts.worlds import all_data_sets, shown, world

from narcissus.counts import Cell, Publication, Structure, audit_tables
from narcissus.counts.groups import SizeRule
from narcissus.counts.marks import Meaning


def members(found, labels):
    """Finest cells of a group: each label, or one of several, or any."""
    some = {name: label.split(" or ") for name, label in labels.items()}
    return frozenset(
        at
        for at, one in enumerate(found.finest)
        if all(one[name] in wanted for name, wanted in some.items())
    )


def boxes(found):
    for labels in itertools.product(*([None, *each] for each in found.dimensions.values())):
        names = zip(found.dimensions, labels, strict=True)
        yield {name: label for name, label in names if label is not None}


def true_groups(found, sets, rule):
    """Every group of the three sorts that all data sets give the same small number of people."""

    def numbers(group):
        return sets[:, sorted(group)].sum(axis=1)

    def inhabited(group):
        return frozenset(at for at in group if sets[:, at].any())

    published = {inhabited(members(found, cell.labels)) for cell in found.cells}
    groups = {members(found, box) for box in boxes(found)}
    groups |= {a - b for a, b in itertools.permutations(published, 2) if b < a}
    for box, name in itertools.product(boxes(found), found.dimensions):
        parts = [members(found, box | {name: label}) for label in found.dimensions[name]]
        if name not in box:
            groups.add(frozenset().union(*(part for part in parts if np.ptp(numbers(part)))))
    return {
        group
        for group in {inhabited(group) for group in groups} - published
        if group and rule.is_broken(numbers(group).min(), numbers(group).max())
    }


@pytest.mark.parametrize("seed", range(80))
def test_known_groups_as_by_enumeration(seed):
    found = world(seed)
    if not shown(found):
        pytest.skip("a label is in no table")
    sets = all_data_sets(found)
    rng = np.random.default_rng(seed)
    rule = SizeRule(int(rng.integers(2, 6)), int(rng.integers(1, 3)))
    audit = audit_tables(found.cells, sizes=rule)
    assert audit.groups_left == ""
    true = true_groups(found, sets, rule)
    assert bool(audit.groups) == bool(true)
    assert len(audit.groups) <= len(true)
    assert {one.low for one in audit.groups} == {
        int(sets[:, sorted(group)].sum(axis=1).min()) for group in true
    }
    for one in audit.groups:
        if " without " not in one.cell.file:
            group = frozenset(at for at in members(found, one.cell.labels) if sets[:, at].any())
            numbers = sets[:, sorted(group)].sum(axis=1)
            assert group in true
            assert (one.low, one.high) == (numbers.min(), numbers.max())


def cells_of(text, folder, **given):
    (folder / "t.csv").write_text(text)
    return Publication(texts_tell_nothing=True, **given).read([folder / "t.csv"])


def known(cells, structure=None, below=5, width=1):
    audit = audit_tables(cells, structure, sizes=SizeRule(below, width))
    return [(dict(one.cell.labels), one.low, one.high) for one in audit.groups]


def test_a_row_that_is_left_out(tmp_path):
    cells = cells_of("area,sex,count\nN,F,10\nN,M,12\nS,F,20\n*,*,45\n", tmp_path)
    assert known(cells) == [({"area": "S", "sex": "M"}, 3, 3)]


def test_the_rest_of_a_total(tmp_path):
    text = "area,count\nN,90\nS,x\nW,x\n*,93\n"
    assert known(cells_of(text, tmp_path, below=3)) == [({"area": "S or W"}, 3, 3)]
    assert not known(cells_of(text, tmp_path, below=3), below=3)


def test_people_with_a_label_that_is_not_shown(tmp_path):
    cells = cells_of("area,count\nN,10\nS,7\n*,19\n", tmp_path)
    assert known(cells, Structure(others=("area",))) == [({"area": "(other)"}, 2, 2)]


def test_a_crossing_that_no_table_prints():
    def cell(count, **labels):
        return Cell("t", 0, "count", str(count), labels, Meaning(count, count, "exact"))

    # each count that is printed is 10 or more; together they leave one crossing of 2 people
    cells = [
        cell(12, a="p"),
        cell(10, a="q"),
        cell(10, b="u"),
        cell(12, b="v"),
        cell(10, a="q", b="v"),
        cell(22),
    ]
    assert known(cells) == [({"a": "p", "b": "v"}, 2, 2)]
