"""Totals of magnitudes: their limits, the rules of offices, and what contributors derive."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from narcissus.counts import (
    Publication,
    SensitivityRules,
    Structure,
    audit_contributions,
    audit_tables,
    contributions,
    read_contributions,
)
from narcissus.errors import InputError


def publication(tmp_path, rows, name="t.csv", **given):
    """Write a long table of ``labels, printed`` and read it."""
    names = [*rows[0][0], "turnover"]
    lines = [",".join(names)] + [",".join([*labels.values(), printed]) for labels, printed in rows]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    said = Publication(texts_tell_nothing=True, magnitude="turnover", **given)
    return said, said.read([tmp_path / name])


def limits(audit):
    return [one.ends for one in audit.cells]


def test_the_feasibility_interval_of_the_handbook(tmp_path):
    """Handbook on SDC 2024, example 3 (Geurts 1992, table 10): the cell (1, 1) is 3 to 6."""
    printed = {"11": "x", "12": "x", "1*": "7", "21": "x", "22": "x", "2*": "3", "31": "3",
               "32": "3", "3*": "6", "*1": "9", "*2": "7", "**": "16"}  # fmt: skip
    rows = [({"row": k[0], "col": k[1]}, v) for k, v in printed.items()]
    said, cells = publication(tmp_path, rows)
    audit = audit_tables(cells, said.structure)
    assert limits(audit)[0] == (3, 6)
    assert audit.data_sets is None
    assert all(one.exact for one in audit.cells)


@pytest.mark.parametrize(
    ("parts", "rules", "said"),
    [  # Handbook on SDC 2024, section 4.2: examples 1, 2 and 4
        ([50_000, 49_000, 1_000], {"dominance": [(1, 90)]}, {}),
        ([50_000, 49_000, 1_000], {"p": 2.01}, {"p% at 2.01": 5}),
        ([50_000, 49_000, 1_000], {"p": 2}, {}),  # overestimated by 2%, not by less
        ([52_000, 50_000, 8_000], {"p": 10}, {}),
        ([52_000, 50_000, 8_000], {"dominance": [(2, 90.9)]}, {"(2, 90.9) dominance": 2211}),
        ([300, 20, 10], {"dominance": [(1, 85)]}, {"(1, 85) dominance": 23}),  # to 352.94
        ([10, 10], {"minimum": 3, "p": 10}, {"fewer than 3": 0, "p% at 10": 1}),
        ([10], {"minimum": 3}, {"fewer than 3": 0}),
        ([10], {"minimum": 3, "protect": 10}, {"fewer than 3": 1}),
        ([1, 1, 1], {"minimum": 3}, {}),
        ([], {"minimum": 3, "p": 10, "dominance": [(1, 50)]}, {}),
    ],
)
def test_sensitivity_rules(parts, rules, said):
    found = SensitivityRules(**rules).levels([Fraction(one) for one in parts], Fraction(sum(parts)))
    assert {name: round(float(level)) for name, level in found.items()} == said


def world(seed, tmp_path):
    """Draw contributors of a table of two or three dimensions, and publish it with holes."""
    rng = np.random.default_rng(seed)
    sizes = [(2, 2), (3, 3), (2, 2, 2), (2, 4)][seed % 4]
    names = ["a", "b", "c"][: len(sizes)]
    parts = []
    for number in range(int(rng.integers(3, 12))):
        for _ in range(int(rng.integers(1, 3))):  # a contributor may be in several cells
            leaf = tuple(int(rng.integers(0, size)) for size in sizes)
            parts.append((leaf, f"f{number}", Fraction(int(rng.integers(0, 80)), 2)))
    rows, inside = [], []
    finest = list(itertools.product(*map(range, sizes)))
    base = [None, "5", "random:5"][seed % 3]
    for labels in itertools.product(*([*range(size), "*"] for size in sizes)):
        member = [all(b in (a, "*") for a, b in zip(one, labels, strict=True)) for one in finest]
        total = sum((amount for leaf, _, amount in parts if member[finest.index(leaf)]),
                    Fraction(0))  # fmt: skip
        if base is not None:
            down = 5 * (total // 5)
            up = down + 5 * (total != down)
            chosen = [down, up][int(rng.integers(0, 2))] if base[0] == "r" else min(
                (down, up), key=lambda one: abs(one - total))  # fmt: skip
        else:
            chosen = total
        is_shown = rng.random() < 0.6 or all(one == "*" for one in labels)
        shown = f"{float(chosen):.1f}" if is_shown else "x"
        rows.append((dict(zip(names, map(str, labels), strict=True)), shown))
        inside.append(member)
    reach = {None: 0, "5": 2.5, "random:5": 5}[base]
    spans = [(0, None) if text == "x" else (max(0, float(text) - reach), float(text) + reach)
             for _, text in rows]  # fmt: skip
    said, cells = publication(tmp_path, rows, rounded=base, decimals=1)
    file = tmp_path / "parts.csv"
    file.write_text("\n".join([",".join([*names, "firm", "turnover"])] + [
        ",".join([*map(str, leaf), firm, f"{float(amount)}"]) for leaf, firm, amount in parts
    ]))  # fmt: skip
    return said, cells, parts, finest, np.array(inside), spans, file


def by_program(inside, spans, low, high, at):
    """The least and the most of a published total, by a linear program of real numbers."""
    upper = [(row, b) for row, (_, b) in zip(inside, spans, strict=True) if b is not None]
    lower = [(-1 * row, -a) for row, (a, _) in zip(inside, spans, strict=True)]
    rows, ends = zip(*(upper + lower), strict=True)
    found = []
    for sign in (1, -1):
        one = linprog(sign * inside[at], A_ub=np.array(rows), b_ub=ends,
                      bounds=list(zip(low, high, strict=True)), method="highs")  # fmt: skip
        found.append(None if one.status == 3 else sign * one.fun)
    return found


@pytest.mark.repeats(5, 200, "worlds")
def test_limits_of_totals_as_by_linear_programs(worlds, tmp_path):
    exact = hidden = 0
    for seed in range(worlds):
        said, cells, parts, finest, inside, spans, _ = world(seed, tmp_path)
        audit = audit_tables(cells, said.structure)
        whole = 1 * inside
        for at, one in enumerate(audit.cells):
            low, high = by_program(whole, spans, [0] * len(finest), [None] * len(finest), at)
            assert one.ends[0] == pytest.approx(low, abs=0.051)
            assert one.ends[0] <= low + 1e-7
            assert high is not None
            assert one.ends[1] == pytest.approx(high, abs=0.051)
            assert one.ends[1] >= high - 1e-7
            true = sum((p[2] for p in parts if inside[at][finest.index(p[0])]), Fraction(0))
            assert one.ends[0] <= true <= one.ends[1]
            exact += one.exact
            hidden += 1
    assert exact > 0.9 * hidden


def exposure(parts, finest, inside, spans, p, minimum, dominance):
    """Which cells are sensitive, and exposed, by the definitions and a program for everybody."""
    sensitive, exposed = set(), set()
    firms = sorted({firm for _, firm, _ in parts})
    for at, member in enumerate(inside):
        inner = [(f, v) for leaf, f, v in parts if member[finest.index(leaf)]]
        own = {firm: sum(v for f, v in inner if f == firm) for firm, _ in inner}
        values = sorted(own.values(), reverse=True)
        total, (first, second, *_) = sum(values), [*values, 0, 0]
        n, k = dominance
        is_few, dominated = len(values) < minimum, 100 / k * sum(values[:n])
        if not values or not (
            is_few or total - first - second < p * first / 100 or total < dominated
        ):
            continue
        sensitive.add(at)
        for firm in [None, *firms]:  # None: somebody who contributes nothing
            mine = [sum(v for where, f, v in parts if (f, where) == (firm, one)) for one in finest]
            low, known = list(map(float, mine)), list(spans)
            high = [float(v) if {f for where, f, _ in parts if where == one} == {firm} else None
                    for one, v in zip(finest, mine, strict=True)]  # fmt: skip
            for row, one in enumerate(inside):  # where it is alone, it knows the whole cell
                if {f for leaf, f, _ in parts if one[finest.index(leaf)]} == {firm}:
                    known[row] = (float(sum(v for v, on in zip(mine, one, strict=True) if on)),) * 2
            ends = by_program(1 * inside, known, low, high, at)
            others = [v for one, v in own.items() if one != firm]
            if not others:
                continue
            most = ends[1] - float(own.get(firm, 0))
            is_exact = (len(others) == 1 or is_few) and ends[1] - ends[0] < 1e-6
            dominating = sum(values[:n]) if n > 1 else max(others)
            if (
                most - float(max(others)) < p / 100 * float(max(others)) - 1e-6
                or is_exact or ends[1] < 100 / k * float(dominating) - 1e-6
            ):  # fmt: skip
                exposed.add(at)
        if ends_of_anybody(inside, spans, finest, at):
            exposed.add(at)
    return sensitive, exposed


def ends_of_anybody(inside, spans, finest, at):
    low, high = by_program(1 * inside, spans, [0] * len(finest), [None] * len(finest), at)
    return high - low < 1e-6


@pytest.mark.parametrize("singly", [50, 0])  # 0: all are asked by groups
@pytest.mark.repeats(3, 100, "worlds")
def test_exposed_cells_as_by_definition(worlds, singly, tmp_path, monkeypatch):
    monkeypatch.setattr(contributions, "INSIDERS", singly)
    kinds = set()
    for seed in range(0, 3 * worlds, 3):  # as they are: rounding would need a margin
        said, cells, parts, finest, inside, spans, file = world(seed, tmp_path)
        audit = audit_tables(cells, said.structure)
        read = read_contributions(file, "turnover", cells, said.structure, "firm")
        dominance = (1 + seed % 2, 80)
        rules = SensitivityRules(p=15, minimum=3, dominance=[dominance])
        found, left_out = audit_contributions(audit, said.structure, read, rules)
        assert not left_out
        place = {id(one): at for at, one in enumerate(cells)}
        sensitive, exposed = exposure(parts, finest, inside, spans, 15, 3, dominance)
        assert {place[id(one.limits.cell)] for one in found} == sensitive
        assert {place[id(one.limits.cell)] for one in found if one.is_exposed} == exposed
        kinds |= {(one.is_exposed, one.limits.is_hidden, one.insider) for one in found}
    assert {(True, False), (True, True), (False, True)} <= {kind[:2] for kind in kinds}
    assert "a contributor" in {kind[2] for kind in kinds}


@pytest.mark.parametrize(
    ("parts", "rules", "exposed"),
    [
        # alone in a row of two hidden cells: the whole row is known, and so is the other one
        ("N,y,f,100\nS,z,g,200", {"minimum": 2}, {"N", "S", "N y", "S z", "y", "z"}),
        # N's only one derives S, of which two are too few, and nobody derives N
        ("N,f,100\nS,g,120\nS,h,80", {"minimum": 3}, {"S"}),
        # who has nearly all of a cell knows enough of the other; who is alone, too
        ("N,f,100\nS,g,190\nS,h,4\nS,i,6", {"dominance": [(1, 90)]}, {"N", "S"}),
        ("N,f,1000\nN,j,90\nS,g,20\nS,h,20", {"dominance": [(1, 90)]}, {"N"}),
        # who has much of a cell that is not sensitive, knows the other one from above
        ("N,f,1000\nS,g,95\nS,h,50\nS,i,45", {"p": 12}, {"N"}),
    ],
)
def test_what_contributors_know_of_rows(tmp_path, parts, rules, exposed):
    names = ["area", "kind"][: parts.split()[0].count(",") - 1]
    file = tmp_path / "parts.csv"
    file.write_text(",".join([*names, "firm", "turnover"]) + f"\n{parts}\n")
    shown = itertools.product(*["NS*", "yz*"][: len(names)])
    rows = [(dict(zip(names, labels, strict=True)), "x") for labels in shown]
    total = sum(int(line.rpartition(",")[2]) for line in parts.split())
    rows[-1] = rows[-1][0], str(total)
    said, cells = publication(tmp_path, rows)
    read = read_contributions(file, "turnover", cells, said.structure, "firm")
    rules = SensitivityRules(**rules)
    found, _ = audit_contributions(audit_tables(cells, said.structure), said.structure, read, rules)
    named = {" ".join(one.limits.cell.labels.values()) for one in found if one.is_exposed}
    assert exposed == named - {""}


def test_two_single_contributors_disclose_each_other(tmp_path):
    """Handbook on SDC 2024, section 4.2: singletons; anybody else has wide limits."""
    rows = [({"branch": b}, v) for b, v in {"m": "x", "n": "x", "o": "50", "*": "250"}.items()]
    said, cells = publication(tmp_path, rows)
    (tmp_path / "parts.csv").write_text("branch,turnover\nm,120\nn,80\no,20\no,30\n")
    audit = audit_tables(cells, said.structure)
    parts = read_contributions(tmp_path / "parts.csv", "turnover", cells, said.structure)
    found, _ = audit_contributions(audit, said.structure, parts, SensitivityRules(minimum=2))
    assert [(one.limits.ends, one.is_exposed, one.closest) for one in found] == [
        ((0, 200), True, 0), ((0, 200), True, 0),
    ]  # fmt: skip
    # a declared protection is missed where the limits are too near on one side
    wide = SensitivityRules(minimum=2, protect=60)
    found, _ = audit_contributions(audit, said.structure, parts[:1] + parts[2:] + [
        parts[1].__class__(parts[1].leaves, "line 4", Fraction(80))], wide)  # fmt: skip
    assert found[0].is_exposed


@pytest.mark.parametrize(
    ("text", "given", "low", "high"),
    [
        ("1.204", {}, 1204, 1204),
        ("1.204,5", {"decimals": 1}, 1204.5, 1204.5),
        ("1 204,50", {"decimals": 2}, 1204.5, 1204.5),
        ("12.345", {"decimals": 3}, 12.345, 12.345),
        ("1,204.5 e", {"decimals": 1}, 1204.5, 1204.5),
        ("<5", {}, 0, 5),
        ("100-250", {}, 100, 250),
        ("12.3", {"decimals": 1, "rounded": "0.1"}, 12.25, 12.35),
        ("2000", {"rounded": "1000"}, 1500, 2500),
        ("2000", {"rounded": "random:1000"}, 1000, 3000),
        ("c", {}, 0, None),
        ("12.345", {"decimals": 1}, "more than 1 decimal", None),
        ("1.204,5", {}, "more than 0 decimal", None),
        ("1204,00", {"decimals": 1}, 1204, 1204),
        ("1204,01", {"decimals": 1}, "more than 1 decimal", None),
        ("1,234", {"decimals": 3}, "thousands apart or with three decimals", None),
        ("-3", {}, "negative", None),
        ("1" * 13, {}, "too large", None),
        ("1200", {"rounded": "1000"}, "no multiple of 1000", None),
        ("1", {"rounded": "0.01"}, "more decimals than", None),
        ("1", {"below": 5}, "leave them out", None),
        ("1", {"mark": ["k=below:3"]}, "leave them out", None),
        ("zz", {}, "--mark zz=any", None),
    ],
)
def test_printed_totals(tmp_path, text, given, low, high):
    file = tmp_path / "t.csv"
    file.write_text(f'area;turnover\nN;"{text}"\n')
    if isinstance(low, str):
        with pytest.raises(InputError, match=low):
            Publication(texts_tell_nothing=True, magnitude="turnover", **given).read([file])
        return
    (cell,) = Publication(texts_tell_nothing=True, magnitude="turnover", **given).read([file])
    audit = audit_tables([cell])
    assert audit.cells[0].ends == (low, high)
    assert json.loads(json.dumps(audit.to_dict()))["cells"][0]["of"] == "total"


@pytest.mark.parametrize(
    ("texts", "amounts"),
    [
        (["1.204,5", "1.000", "3"], [1204.5, 1000, 3]),
        (["1.204.000", "1.000"], [1204000, 1000]),
        (["0,25", "1.000"], [0.25, 1000]),
        (["1,204", "1.5", "1,204.75"], [1204, 1.5, 1204.75]),
        (["1 204", "1.204"], [1204, 1.204]),
    ],
)
def test_contributions_in_the_manner_of_a_country(tmp_path, texts, amounts):
    given, cells = publication(tmp_path, [({"area": "N"}, "x")], decimals=3)
    file = tmp_path / "parts.csv"
    file.write_text("area;turnover\n" + "".join(f"N;{text}\n" for text in texts))
    read = read_contributions(file, "turnover", cells, given.structure)
    assert [float(one.amount) for one in read] == amounts


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ("area,turnover\nNorht,5\n", "line 2: no table shows area = Norht; did you mean `North`"),
        ("area,turnover\nNorth,-5\n", "line 2: the contribution"),
        (
            "area,turnover\nNorth,6\nSouth,7.75\n",
            "line 3, column turnover: 7.75 .*--decimals 2 --round 1,",
        ),
        ("area,turnover\nNorth,5\nSouth,8\n", "sum to 5; correct one"),
        ("area,income\nNorth,5\n", "turnover"),
    ],
)
def test_bad_contributions(tmp_path, parts, said):
    rows = [({"area": a}, v) for a, v in {"North": "6", "South": "8"}.items()]
    given, cells = publication(tmp_path, rows, part=["North", "South"])
    (tmp_path / "parts.csv").write_text(parts)
    audit = audit_tables(cells, given.structure)
    with pytest.raises(InputError, match=said):
        audit_contributions(
            audit, given.structure,
            read_contributions(tmp_path / "parts.csv", "turnover", cells, given.structure),
            SensitivityRules(minimum=3),
        )  # fmt: skip


@pytest.mark.parametrize(
    "wrong", [{}, {"p": 0}, {"dominance": [(1, 100)]}, {"minimum": 3, "protect": -1}]
)
def test_bad_rules(wrong):
    with pytest.raises(InputError):
        SensitivityRules(**wrong)


def many_firms(tmp_path, largest):
    """Write a row of two hidden cells of 70 firms each; one firm of the first is the largest."""
    firms = [(area, f"{area}{k}", largest if (area, k) == ("N", 0) else 10 + k)
             for area in "NS" for k in range(70)]  # fmt: skip
    file = tmp_path / "firms.csv"
    file.write_text("area,firm,turnover\n" + "".join(f"{a},{f},{v}\n" for a, f, v in firms))
    total = sum(v for _, _, v in firms)
    said, cells = publication(
        tmp_path, [({"area": "N"}, "x"), ({"area": "S"}, "x"), ({"area": "*"}, str(total))]
    )
    return said, cells, read_contributions(file, "turnover", cells, said.structure, "firm")


@pytest.mark.parametrize(("largest", "p", "is_exposed"), [(30_000, 20, False), (60_000, 40, True)])
def test_more_contributors_than_are_asked_singly(tmp_path, largest, p, is_exposed):
    said, cells, read = many_firms(tmp_path, largest)
    audit = audit_tables(cells, said.structure)
    found, left_out = audit_contributions(audit, said.structure, read, SensitivityRules(p=p))
    assert not left_out
    assert [one.limits.cell.labels for one in found if one.limits.is_hidden] == [{"area": "N"}]
    assert any(one.is_exposed for one in found) == is_exposed


def test_what_time_cuts_off_is_not_called_met(tmp_path):
    said, cells, read = many_firms(tmp_path, 30_000)
    audit, rules = audit_tables(cells, said.structure), SensitivityRules(p=20)
    _, left_out = audit_contributions(audit, said.structure, read, rules, seconds=0)
    assert "140 smaller contributors were left out" in left_out


def sensitive_of(tmp_path, parts, rules, table):
    (tmp_path / "parts.csv").write_text(f"area,firm,turnover\n{parts}\n")
    (tmp_path / "t.csv").write_text(f"area,turnover\n{table}\n")
    said = Publication(texts_tell_nothing=True, magnitude="turnover")
    cells = said.read([tmp_path / "t.csv"])
    read = read_contributions(tmp_path / "parts.csv", "turnover", cells, said.structure, "firm")
    found, left = audit_contributions(
        audit_tables(cells, said.structure), said.structure, read, SensitivityRules(**rules)
    )
    return {one.limits.cell.labels.get("area", "all"): one for one in found}, left


def test_how_near_a_total_of_few_may_be_known_is_asked_for(tmp_path):
    """Two of three firms are too few, and the other hidden total is at most 10 of 600,010."""
    parts = "N,f,300000\nN,g,300000\nS,h,4\nS,i,3\nS,j,3\nW,k,5\nW,l,5\nW,m,5"
    table = "N,x\nS,x\nW,15\n*,600025"
    found, left = sensitive_of(tmp_path, parts, {"minimum": 3}, table)
    assert set(found) == {"N"}
    assert not found["N"].is_exposed
    assert "known within 0.00167%" in left  # at most 600,010
    assert "--protect" in left
    found, left = sensitive_of(tmp_path, parts, {"minimum": 3, "protect": 10}, table)
    assert (found["N"].is_exposed, found["N"].level, left) == (True, 60_000, "")
    found, left = sensitive_of(tmp_path, parts, {"minimum": 3, "protect": 0.001}, table)
    assert (found["N"].is_exposed, left) == (False, "")


def test_a_total_of_few_that_nothing_limits_needs_no_declaration(tmp_path):
    found, left = sensitive_of(
        tmp_path, "N,f,50\nN,g,50\nS,h,40\nS,i,70", {"minimum": 3}, "N,x\nS,x"
    )
    assert (found["N"].is_exposed, left) == (False, "")


def test_who_adds_nothing_does_not_contribute(tmp_path):
    parts = "N,f,50\nN,g,50\nN,h,0\nN,i,0\nS,j,40\nS,k,40\nS,l,40"
    found, _ = sensitive_of(tmp_path, parts, {"minimum": 3}, "N,100\nS,120\n*,220")
    assert {name: one.contributors for name, one in found.items()} == {"N": 2}
    assert found["N"].is_exposed


def test_spellings_of_a_contributor_are_one(tmp_path):
    """Case and blanks do not make two firms of one."""
    parts = "A,Acme,600\nA,Beta,250\nA,Gam,150\nB,Delta,450\nB,DELTA ,450\nB,De  lta,0\nB,Eps,100\n"
    (tmp_path / "t.csv").write_text("area,turnover\nA,1000\nB,1000\nTotal,2000\n")
    (tmp_path / "firms.csv").write_text("area,firm,turnover\n" + parts)
    declared = Publication(texts_tell_nothing=True, magnitude="turnover")
    cells = declared.read([tmp_path / "t.csv"])
    read = read_contributions(tmp_path / "firms.csv", "turnover", cells, Structure(), "firm")
    assert [part.by for part in read[3:5]] == ["delta", "delta"]
    audit = audit_tables(cells)
    judged, _ = audit_contributions(audit, Structure(), read, SensitivityRules(minimum=3))
    assert [found.limits.cell.labels["area"] for found in judged] == ["B"]
