"""What printed cells mean: numbers, marks, rounding, the cell-key method."""

import pytest

from narcissus.counts import Rules, read_cell_key
from narcissus.counts.marks import Meaning, label_of
from narcissus.errors import InputError


@pytest.mark.parametrize(
    ("text", "rules", "low", "high"),
    [
        ("12", {}, 12, 12),
        ("1,204", {}, 1204, 1204),
        ("1.204", {}, 1204, 1204),
        ("2\u202f310", {}, 2310, 2310),
        ("1'204'111", {}, 1204111, 1204111),
        ("12 (a)", {}, 12, 12),
        ("12\u00b9", {}, 12, 12),
        ("12 r", {}, 12, 12),
        ("x", {}, 0, None),
        ("(D)", {"below": 3}, 0, 2),
        ("", {"below": 5, "no_zeros": True}, 1, 4),
        ("<5", {}, 0, 4),
        ("<=5", {"no_zeros": True}, 1, 5),
        ("\u2264 4", {}, 0, 4),
        ("1-4", {}, 1, 4),
        ("nil", {"marks": {"nil": 1}}, 0, 0),
        ("x", {"below": 5, "marks": {"x": None}}, 0, None),
        ("10", {"base": 5}, 8, 12),
        ("10", {"base": 10}, 5, 15),
        ("0", {"base": 3, "random": True}, 0, 2),
        ("9", {"base": 3, "random": True}, 7, 11),
    ],
)
def test_printed_cells(text, rules, low, high):
    found = Rules(**rules).count(text, "here")
    assert (found.low, found.high) == (low, high)


@pytest.mark.parametrize("base", [2, 3, 5, 10])
@pytest.mark.parametrize("is_random", [False, True])
def test_rounding_holds_every_true_count(base, is_random):
    rules = Rules(base=base, random=is_random)
    for true in range(60):
        ways = {base * (true // base), -base * (-true // base)}
        if not is_random:
            nearest = min(abs(true - one) for one in ways)
            ways = {one for one in ways if abs(true - one) == nearest}
        for one in ways:
            found = rules.count(str(one), "here")
            assert found.low <= true <= found.high


@pytest.mark.parametrize(
    ("text", "rules", "said"),
    [
        ("-3", {}, "is negative"),
        ("1.5", {}, "is no whole number"),
        ("zz", {}, "--mark zz=below:5"),
        ("7", {"base": 5}, "no multiple of 5"),
        ("4-1", {}, "ends below its begin"),
        ("9" * 12, {}, "too large"),
        ("9" * 5000, {}, "not read as a number"),
        *((text, {}, "write it plainly") for text in ("12%", "(12)", "1,20", "around 5", "~5")),
        ("-", {}, "a dash for none"),
    ],
)
def test_bad_cells(text, rules, said):
    with pytest.raises(InputError, match="here: ") as error:
        Rules(**rules).count(text, "here")
    assert said in str(error.value)


def test_labels():
    assert label_of(" North\u00b2 ") == "North"
    assert label_of("North  East [note 3]") == "North East"
    assert label_of("*") == "*"
    rules = Rules(totals=("England",))
    assert all(map(rules.is_total, ["*", "TOTAL", "All ages", "Total persons", "england", "_T"]))
    assert not any(map(rules.is_total, ["All other", "North", "Totally"]))


def key_file(path, style):
    """A table by which counts move by one at most, 0 stays, and 1 is printed as 0 or 2."""
    moves = {0: {0: 1}, 1: {0: 0.5, 2: 0.5}, 2: {2: 0.8, 3: 0.2}, 3: {2: 0.25, 3: 0.5, 4: 0.25}}
    rows = [f"{i} {j} {p} {j - i} 0 1" for i, each in moves.items() for j, p in each.items()]
    head = '"i" "j" "p" "v" "p_int_lb" "p_int_ub"'
    if style in ("row.names", "csv2"):  # as R writes them unless it is told not to
        rows = [f'"{at}" {row}' for at, row in enumerate(rows, 1)]
    if style == "csv2":
        head, *rows = [line.replace(" ", ";").replace(".", ",") for line in [f'"" {head}', *rows]]
    path.write_text("\n".join([head] * (style != "col.names = FALSE") + rows) + "\n")
    return moves


@pytest.mark.parametrize("style", ["names", "col.names = FALSE", "row.names", "csv2"])
def test_a_cell_key_table_limits_what_was_true(tmp_path, style):
    moves = key_file(tmp_path / "p.txt", style)
    key = read_cell_key(tmp_path / "p.txt")
    behind = {}
    for true in range(12):
        row = moves.get(true, {true + j - 3: p for j, p in moves[3].items()})
        for printed, chance in row.items():
            if chance:
                behind.setdefault(printed, set()).add(true)
    for printed in range(10):
        true = behind.get(printed)
        assert key.meaning(printed) == ((min(true), max(true)) if true else None)
    rules = Rules(key=key)
    assert rules.count("2", "here") == Meaning(1, 3, "perturbed")
    with pytest.raises(InputError, match="never prints a value"):
        rules.count("1", "here")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "every true count"),
        ("i,j,p\n0,0,1\n2,2,1\n", "every true count"),
        ("i,j,p\n0,0,0.5\n", "do not sum to 1"),
        ("i,j,p\n0,x,1\n", "line 2"),
        ("i,j,p\n0,0,2\n", "p from 0 to 1"),
        ("i,j,p\n0,0,1/0\n", "line 2"),
        ("i,j,p\n1e308,0,1\n", "up to 10,000"),
        ("i,j,p\n0,0,nan\n", "line 2"),
    ],
)
def test_bad_cell_key_tables(tmp_path, text, said):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        read_cell_key(tmp_path / "p.csv")


def test_rules_are_checked():
    for wrong in ({"below": 0}, {"base": 0}, {"marks": {"x": 0}}):
        with pytest.raises(InputError):
            Rules(**wrong)


@pytest.mark.parametrize(
    ("text", "rules", "number"),
    [
        ("-", {"marks": {"-": 1}}, 0),
        ("nil", {"marks": {"nil": 1}, "no_zeros": True}, 0),
        ("<1", {}, 0),
        ("3-3", {}, 3),
        ("x", {"below": 2, "no_zeros": True}, 1),
        ("<2", {"no_zeros": True}, 1),
    ],
)
def test_a_mark_of_a_single_number_prints_it(text, rules, number):
    assert Rules(**rules).count(text, "here") == Meaning(number, number, "exact")
