"""Two publications of the same people, by every rule, held to an integer program of this file."""

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from narcissus.counts import Publication
from narcissus.counts.difference import audit_next

LARGEST = 10**4
LABELS = {"area": ["na", "nb", "nc"], "sex": ["f", "m"], "age": ["young", "mid", "old"]}
RULES = ("marks", "holes", "nearest", "random", "marks and nearest", "marks and random", "ranges")


def printed(count, rule, below, base, rng):
    """Return what a rule prints of a count, and the numbers that it may stand for: with a gap."""
    is_small = 0 < count < below
    if rule.startswith("marks") and is_small:
        return "x", (0, below - 1), None
    if rule == "holes" and rng.random() < 0.35:
        return "c", (0, LARGEST), None
    if rule == "ranges" and is_small:
        return f"1-{below - 1}", (1, below - 1), None
    if "nearest" in rule or "random" in rule:
        down = base * (count // base)
        if "nearest" in rule:
            shown = base * ((2 * count + base) // (2 * base))
            reach = base // 2
        else:
            shown = down + base * int(rng.random() * base < count - down)
            reach = base - 1
        gap = (0, below) if rule.startswith("marks") else None
        return str(shown), (max(0, shown - reach), shown + reach), gap
    return str(count), (count, count), None


def drawn(seed):
    """Two tables of the same people: each of two dimensions with margins, the second perhaps of a
    part of the people, or grown rows that are left out."""
    rng = np.random.default_rng(seed)
    rule = RULES[seed % len(RULES)]
    below, base = int(rng.integers(3, 6)), int(rng.choice([3, 5]))
    shape = tuple(map(len, LABELS.values()))
    people = rng.poisson(rng.choice([1.5, 4.0, 12.0]), shape)
    pairs = [list(pair) for pair in itertools.combinations(LABELS, 2)]
    tables = [pairs[at] for at in rng.permutation(3)[:2]]
    is_part = "area" in tables[0] and "area" in tables[1] and rng.random() < 0.6
    rows = []  # file, labels, text, ends, gap, members
    for number, names in enumerate(tables):
        for labels in itertools.product(*([*LABELS[name], "*"] for name in names)):
            inside = np.ones(shape, bool)
            for name, label in zip(names, labels, strict=True):
                axis = list(LABELS).index(name)
                if label != "*":
                    at = LABELS[name].index(label)
                    inside &= np.indices(shape)[axis] == at
            if number and is_part:
                inside[0] = False
                if "na" in labels:
                    continue
            is_all = set(labels) == {"*"}
            is_left_out = "na" not in labels and rng.random() < 0.08
            if not is_all and is_left_out:
                continue
            text, ends, gap = printed(int(people[inside].sum()), rule, below, base, rng)
            rows.append((number, names, labels, text, ends, gap, inside.ravel()))
    if not any(row[3] == "x" for row in rows):  # nothing shows that small counts have a mark
        rows = [(*row[:5], None, row[6]) for row in rows]
    return rule, below, base, is_part, rows


def written(folder, rows):
    for number in (0, 1):
        some = [row for row in rows if row[0] == number]
        lines = [",".join([*row[2], row[3]]) for row in some]
        header = ",".join([*some[0][1], "count"])
        (folder / f"t{number}.csv").write_text("\n".join([header, *lines]) + "\n")


def unlisted(rows):
    """Yield the dimensions of which no row that was drawn names every label."""
    for name, labels in LABELS.items():
        seen = {
            label for row in rows for of, label in zip(row[1], row[2], strict=True) if of == name
        }
        if seen and not seen.issuperset(labels):
            yield name


def true_ends(rows, chosen):
    """The least and the largest number of people of a row, by whole numbers and a choice a gap."""
    matrix = np.array([row[6] for row in rows], float)
    gaps = [at for at, row in enumerate(rows) if row[5] is not None]
    size = matrix.shape[1]
    blocks = [np.hstack([matrix, np.zeros((len(rows), len(gaps)))])]
    low = [row[4][0] for row in rows]
    high = [row[4][1] for row in rows]
    for k, at in enumerate(gaps):
        least = rows[at][5][1]
        below, above = np.zeros(size + len(gaps)), np.zeros(size + len(gaps))
        below[:size] = above[:size] = matrix[at]
        below[size + k], above[size + k] = -LARGEST, -least
        blocks += [below[None], above[None]]
        low += [-np.inf, 0]
        high += [0, np.inf]
    cost = np.concatenate([matrix[chosen], np.zeros(len(gaps))])
    ends = []
    for sign in (1, -1):
        solved = milp(
            sign * cost,
            constraints=LinearConstraint(np.vstack(blocks), low, high),
            bounds=Bounds(0, np.concatenate([np.full(size, LARGEST), np.ones(len(gaps))])),
            integrality=np.ones(len(cost)),
            options={"mip_rel_gap": 0},
        )
        assert solved.x is not None, solved.message
        ends.append(round(sign * solved.fun))
    return ends


@pytest.mark.repeats(5, 700, "seeds")
def test_limits_of_both_together_as_by_an_integer_program(seeds, tmp_path):
    looked = decided = narrow = 0
    for seed in range(seeds):
        rule, below, base, is_part, rows = drawn(seed)
        written(tmp_path, rows)
        rounded = f"random:{base}" if "random" in rule else str(base) if "nearest" in rule else None
        declared = Publication(
            texts_tell_nothing=True,
            below=below if rule.startswith("marks") else None,
            no_marks=rule.startswith("marks") and not any(row[3] == "x" for row in rows),
            mark=["c=any"] if rule == "holes" else [],
            rounded=rounded,
            within=["t1.csv:area!=na"] if is_part else [],
            flat=list(LABELS),
            others=list(unlisted(rows)),
        )
        read = declared.understand([tmp_path / "t0.csv", tmp_path / "t1.csv"])
        assert not read.unaccounted, (seed, read.unaccounted)
        sides = [[cell for cell in read.cells if cell.file == f"t{n}.csv"] for n in (0, 1)]
        together, _ = audit_next(sides[1], sides[0], read.structure, limit=1)
        for at, (limits, row) in enumerate(zip(together.cells, rows, strict=True)):
            if row[4][0] == row[4][1]:
                continue
            low, high = true_ends(rows, at)
            looked += 1
            assert limits.low <= low, (seed, rule, row[:4])
            assert limits.high is None or high <= limits.high, (seed, rule, row[:4])
            if limits.exact:
                decided += 1
                assert limits.low == low, (seed, rule, row[:4], limits, low, high)
                assert limits.high == (high if high < LARGEST / 2 else None), (seed, row[:4])
            narrow += low == high
    assert decided >= 0.98 * looked
    assert narrow > 0
