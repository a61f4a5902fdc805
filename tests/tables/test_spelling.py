"""One value however it is written: each rule, where it does not decide, and what is lost."""

import datetime
from collections import Counter
from decimal import Decimal
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.tables.spelling import (
    FEWEST,
    ColumnReading,
    _chance_of_new,
    _chance_of_range,
    described,
    exact,
    examples,
    number_in,
    require_overlap,
    respellings,
    respelt,
    spelled,
)


@pytest.mark.parametrize(
    ("found", "kind", "values"),
    [
        (["9", "9.0", "09", " 9", "+9", "9e0", 9, 9.0, np.int64(9), Decimal("9.00")], "numbers",
         [9] * 10),
        (["N", "1.0", "2"], "numbers", ["N", 1, 2]),
        (["*", "a", "b", "1.0"], "texts", ["*", "a", "b", "1.0"]),
        (["1,234.5", "1,000", "12"], "numbers", [1234.5, 1000, 12]),
        (["1.234,5", "1.000", "12"], "numbers", [1234.5, 1000, 12]),
        (["1 234", "1\u00a0234,5", "0,25"], "numbers", [1234, 1234.5, 0.25]),
        (["1'234", "1’234.5"], "numbers", [1234, 1234.5]),
        (["1.234", "2.5"], "numbers", [1.234, 2.5]),
        (["1.234.567", "1.234"], "numbers", [1234567, 1234]),
        (["\u22125", "-5.0"], "numbers", [-5, -5]),
        (["TRUE", "false", "True", True, np.bool_(0)], "truth values",
         ["True", "False", "True", "True", "False"]),
        (["TRUE", "0", 1], "truth values", ["True", "False", "True"]),
        (["0", "1"], "numbers", [0, 1]),
        (["yes", "No"], "texts", ["yes", "No"]),
        (["2020-03-31", "31.3.2020", "2020/3/31", "3/31/2020"], "dates", ["2020-03-31"] * 4),
        ([datetime.date(2020, 3, 31), pd.Timestamp("2020-03-31"), "2020-03-31T00:00:00"], "dates",
         ["2020-03-31"] * 3),
        (["2020-03-31 12:30", pd.Timestamp("2020-03-31 12:30")], "dates",
         ["2020-03-31 12:30:00"] * 2),
        (["31/03/2020", "1/2/2020"], "dates", ["2020-03-31", "2020-02-01"]),
        (["03/31/2020", "1/2/2020"], "dates", ["2020-03-31", "2020-01-02"]),
        (["01/02/2020", "1/2/2020"], "dates", ["1/2/2020", "1/2/2020"]),  # whichever, one value
        (["2020-02-30", "2020-02-31"], "texts", ["2020-02-30", "2020-02-31"]),
        (["10.0.0.1", "10.0.0.2"], "texts", ["10.0.0.1", "10.0.0.2"]),
        ([b"caf\xc3\xa9 ", "café"], "texts", ["café", "café"]),
        ([1.5, "a", "b"], "texts", ["1.5", "a", "b"]),
    ],
)  # fmt: skip
def test_a_value_is_what_it_means(found, kind, values):
    read = spelled("x", found)
    assert read.kind == kind
    assert read.values == values
    assert [type(v) is str for v in read.values] == [type(v) is str for v in values]


def test_the_first_file_says_what_a_column_is_and_settles_what_is_open():
    dollars = spelled("x", ["1234", "20500", "7"])
    assert spelled("x", ["1,234", "7"], like=dollars).values == [1234, 7]
    euros = spelled("x", ["1.234", "20.5", "7"])
    assert spelled("x", ["1,234", "7"], like=euros).values == [1.234, 7]
    days = spelled("x", ["2020-02-01", "2020-02-03"])
    assert spelled("x", ["1/2/2020", "3/2/2020"], like=days).values == days.values
    assert spelled("x", ["2/1/2020", "2/3/2020"], like=days).values == days.values
    assert spelled("x", ["TRUE", "false"], like=spelled("x", [0, 1])).values == [1, 0]
    truth = spelled("x", ["TRUE", "false"])
    assert spelled("x", [1, "0"], like=truth).values == ["True", "False"]
    words = spelled("x", ["N", "A", "B", "1"])
    assert spelled("x", ["N", "1.0", "02"], like=words).values == ["N", "1", "02"]
    codes = spelled("x", ["N", 1, 2])
    assert spelled("x", ["N", "M", "*", "1.0"], like=codes).values == ["N", "M", "*", 1]


@pytest.mark.parametrize(
    ("found", "like", "ways"),
    [
        (["1,234", "12345"], None, ("numbers", "decimal-comma")),
        (["1,234"], ["9", "8"], ("numbers", "decimal-comma")),
        (["1/2/2020"], ["2021-01-01"], ("day-first", "month-first")),
    ],
)
def test_what_nothing_settles_is_refused_until_it_is_said(found, like, ways):
    known = None if like is None else spelled("x", like)
    with pytest.raises(InputError, match=r"may be .* and no other value settles it") as caught:
        spelled("x", found, like=known)
    read = [spelled("x", found, way, like=known).values for way in ways]
    assert read[0] != read[1]
    for way in ways:
        assert f"--read-as x={way}" in str(caught.value)
        assert f'read_as = {{"x" = "{way}"}}' in str(caught.value)


def test_a_column_declared_as_text_stays_as_it_stands():
    found = ["02139", "2139", " 9", "9.0", "TRUE", "1,5", 2139, 9.0]
    assert spelled("zip", found, "text").values == [
        "02139", "2139", "9", "9.0", "TRUE", "1,5", "2139", "9",
    ]  # fmt: skip
    with pytest.raises(InputError, match="`read_as` must be one of text, numbers"):
        spelled("zip", found, "texts")


@given(st.integers(-(2**63), 2**64 - 1))
def test_whole_numbers_keep_every_digit(number):
    for text in (
        str(number),
        f"{number}.0",
        f"{number:+}",
        f" {number}",
        f"{number:_}".replace("_", " "),
    ):
        assert spelled("x", [text]).values == [number]
    assert exact(number) == exact(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_other_numbers_are_the_floats_that_their_text_means(number):
    assert float(exact(repr(number))) == number
    assert exact(number) == exact(repr(number))


def test_what_is_no_number():
    for value in ("", ".", "-", "e5", "1_000", "1,23,456", "0x1", "1e", None, True, "1 2"):
        assert number_in(value) is None, value
    assert number_in("inf") == np.inf
    assert number_in(np.float64(2)) == 2


def test_codes_are_the_texts_beside():
    assert spelled("x", ["N", "1", "2", "*"]).codes == ["*", "N"]
    assert spelled("x", ["2020-01-01", "2020-01-02", "?"]).codes == ["?"]


def test_lines_say_what_was_read_as_what():
    found = {
        "a": ColumnReading("numbers", ("N",), ("1.0", "1")),
        "b": ColumnReading("numbers", ()),
        "c": ColumnReading("dates", (), ("1.2.2020", "2020-02-01")),
    }
    assert described(found) == "numbers with codes: a (N); numbers: b; dates: c"
    assert respellings(found) == "'1.0' is read as 1 (a), '1.2.2020' is read as 2020-02-01 (c)"
    assert respellings({"b": found["b"]}) == ""
    assert respelt(["10.0", "9.0", "8"], [10, 9, 8]) == ("9.0", "9")
    assert respelt([9.0, "x"], [9, "x"]) is None
    many = {f"c{i}": found["a"] for i in range(7)}
    assert respellings(many).endswith("and the like in 2 more columns")
    assert examples([1, "a", 2.5, 3]) == "'1', 'a', '2.5' and others"


NAMES = ("real", "synthetic")
CODED = {"N": 400, 1: 300, 2: 200, 3: 100}
INCOMES = {37 * i: 1 for i in range(1000)}


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (CODED, {"N": 500, "one": 300, "two": 200}),  # the code is all that they share
        (CODED, {"N": 500, 1.37: 250, 2.91: 250}),
        ({"m": 50, "f": 50}, {"M": 50, "F": 50}),
        ({"m": 50, "f": 50}, {1: 50, 2: 50}),
        ({1: 50, 2: 50}, {0: 50, 1: 50}),
        ({"no": 990, "yes": 10}, {"no": 980, "ja": 20}),
        (INCOMES, {37 * i * 1000 + 40_000: 1 for i in range(1000)}),  # other units
        ({v * 1000: n for v, n in INCOMES.items()}, INCOMES | {0: 500}),
        (INCOMES, {"a lot": 50, "little": 50}),
        ({f"{i} Main St": 1 for i in range(99)}, {f"Main St {i}": 1 for i in range(99)}),
    ],
)
def test_other_spellings_are_refused_with_both_and_the_remedy(first, other):
    with pytest.raises(InputError, match="hardly overlap") as caught:
        require_overlap("town", NAMES, first, other)
    said = str(caught.value)
    for part in ("in the real file", "in the synthetic file", "--read-as town=text",
                 'read_as = {"town" = "numbers"}', "--drop town", 'drop = ["town"]'):  # fmt: skip
        assert part in said
    assert any(repr(str(value)) in said for value in first)
    assert any(repr(str(value)) in said for value in other)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (CODED, {"N": 10}),  # a generator that makes one value
        (CODED, {1: 500, 3: 1}),
        (INCOMES, {37 * i + 11: 1 for i in range(900)}),  # no value is the same
        (INCOMES, {0: 500}),
        (CODED, {"other": FEWEST - 1}),
        ({"a": 5, "b": 1}, {"a": 9}),
    ],
)
def test_the_same_scale_or_fewer_values_pass(first, other):
    assert require_overlap("x", NAMES, first, other) == ""


def test_bins_are_of_places_on_a_scale():
    with pytest.raises(InputError, match="hardly overlap"):
        require_overlap("x", NAMES, {1: 9, 3: 9, 5: 9}, {2: 9, 4: 9})
    assert require_overlap("x", NAMES, {1: 9, 3: 9, 5: 9}, {2: 9, 4: 9}, binned=True) == ""


def test_values_that_some_people_have_alone_are_told():
    said = require_overlap("x", NAMES, {"a": 50, "b": 50}, {"a": 60, "b": 30, "B": 10})
    assert "with another value than its commonest, 25% have one that is missing" in said
    assert "'B'" in said


def test_samples_of_one_population_pass():
    rng = np.random.default_rng(1)
    for trial in range(400):
        values = int(rng.integers(2, 2000))
        weights = rng.dirichlet(np.full(values, rng.choice([0.05, 0.3, 1.0])))
        kind = str if trial % 2 else int
        first, other = (
            {kind(v): int(n) for v, n in enumerate(rng.multinomial(size, weights)) if n}
            for size in (300, int(rng.integers(20, 300)))
        )
        require_overlap("x", NAMES, first, other)


def zeros_and_a_tail(size, rng):
    return np.where(rng.random(size) < 0.96, 0, np.round(2 + rng.lognormal(3.5, 1.2, size)))


ONE_POPULATION = {
    "zeros and a tail": zeros_and_a_tail,
    "a tail": lambda n, rng: np.round(rng.pareto(0.5, n), 2),
    "a few rare numbers": lambda n, rng: np.where(rng.random(n) < 0.97, 1, rng.integers(0, 99, n)),
    "names": lambda n, rng: [f"{'AB'[k % 2]}. Name {k}" for k in rng.integers(0, 10**9, n)],
    "case numbers": lambda n, rng: [f"K-{k}/x" for k in rng.integers(0, 10**9, n)],
    "rare texts": lambda n, rng: [
        "none" if rng.random() < 0.96 else f"note {k}" for k in rng.integers(0, 10**6, n)
    ],
}


@pytest.mark.parametrize("kind", ONE_POPULATION)
def test_two_samples_of_one_population_are_never_refused(kind):
    """Of 200 pairs, at a rate of 1e-3: more than 3 refusals have a chance below 1e-4."""
    rng = np.random.default_rng([3, *kind.encode()])
    refused = 0
    for _ in range(200):
        sizes = rng.integers(20, 400, 2)
        first, other = (Counter(np.asarray(ONE_POPULATION[kind](n, rng)).tolist()) for n in sizes)
        try:
            require_overlap("x", NAMES, first, other)
        except InputError:
            refused += 1
    assert refused <= 3


@pytest.mark.parametrize("scale", [1000, 0.001])
def test_rare_values_in_another_unit_are_refused_and_the_file_is_named(scale):
    rng = np.random.default_rng(1)
    first = Counter(zeros_and_a_tail(2000, rng).tolist())
    other = Counter((scale * zeros_and_a_tail(2000, rng)).tolist())
    with pytest.raises(InputError, match="hardly overlap") as caught:
        require_overlap("gain", ("real", "control"), first, other)
    assert "of the people of the" in str(caught.value)
    assert "in the control file" in str(caught.value)


def test_the_chance_outside_of_a_range_is_that_of_all_orders():
    for n, m in ((2, 3), (3, 4), (4, 3)):
        orders = list(combinations(range(n + m), n))
        for many in range(1, m + 1):
            first = {float(v): 1 for v in range(n)}
            other = {float(v) / 100 + 0.5: 1 for v in range(m - many)}
            other |= {float(v + 50): 1 for v in range(many)}
            beyond = [
                sum(not min(own) < v < max(own) for v in range(n + m) if v not in own)
                for own in orders
            ]
            truth = np.mean([b >= many for b in beyond])
            assert _chance_of_range(first, other) == pytest.approx(truth)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ({"a": 4, "b": 1}, {"a": 1, "c": 3}),
        ({"a": 4}, {"c": 2, "d": 2, "e": 1}),
        ({"a": 2, "b": 2}, {"b": 1, "c": 1, "d": 2}),
    ],
)
def test_the_chance_of_new_values_is_never_below_that_of_all_divisions(first, other):
    people = list((Counter(first) + Counter(other)).elements())
    size, strange = sum(first.values()), [value for value in other if value not in first]

    def new(own, fewest):
        mine = Counter(people[k] for k in own)
        rest = Counter(people) - mine
        return sum(many for v, many in rest.items() if v not in mine and many >= fewest)

    divisions = list(combinations(range(len(people)), size))
    truths = [1.0]
    for fewest in (1, 2):
        seen = sum(other[value] for value in strange if other[value] >= fewest)
        if seen:
            truths.append(2 * np.mean([new(own, fewest) >= seen for own in divisions]))
    assert _chance_of_new(first, other, strange) >= min(truths) - 1e-12


@pytest.mark.parametrize(
    ("found", "numbers"),
    [
        (["1,234", "5,678"], [1234, 5678]),
        (["1,234", "950", "12,345,678"], [1234, 950, 12345678]),
        (["0,123", "4,567"], [0.123, 4.567]),
        (["$1,234", "$950", "($17.50)", "-$3", "$-4"], [1234, 950, -17.5, -3, -4]),
        (["1.234,50 €", "3,20 €"], [1234.5, 3.2]),
        (["12%", "3.5 %", "7"], [12, 3.5, 7]),
        (["£5", "N", "£12"], [5, "N", 12]),
    ],
)
def test_amounts_are_numbers(found, numbers):
    assert spelled("x", found).kind == "numbers"
    assert spelled("x", found).values == numbers


@pytest.mark.parametrize(
    "found", [["$5", "€5", "5"], ["a%", "b%", "$"], ["(1)", "(2)"], ["%", "$"]]
)
def test_several_signs_and_no_numbers_stay_texts_as_they_are(found):
    """Five dollars are not five euros."""
    assert {v for v in spelled("x", found).values if isinstance(v, str)} >= {*found} - {"5"}


def test_text_is_left_as_it_stands_with_its_sign():
    assert spelled("x", ["$1,234", "12%"], "text").values == ["$1,234", "12%"]


@given(
    st.lists(st.integers(-(10**7), 10**7), min_size=2, max_size=20, unique=True),
    st.sampled_from(["{}", "${}", "{} €", "{}%", "£ {}"]),
)
def test_a_sign_and_thousands_change_no_number(numbers, form):
    """However a table writes whole numbers; below a thousand alone nothing is set apart."""
    written = [form.format(f"{number:,}") for number in numbers]
    assert spelled("x", written).values == numbers


@pytest.mark.parametrize(
    ("like", "found", "numbers"),
    [
        (["45,123", "950"], ["12,345", "33,333"], [12345, 33333]),
        (["1,5", "2,75"], ["1,234", "2,345"], [1.234, 2.345]),
        (["45123", "950"], ["12,345"], [12345]),
    ],
)
def test_another_file_is_read_so_that_it_lies_among_the_first_ones_numbers(like, found, numbers):
    """Salaries of other people: none is the same, and all are of that size."""
    assert spelled("x", found, like=spelled("x", like)).values == numbers


@pytest.mark.parametrize("text", ["a{}b", "${}5x", "({}5", "5{}x{}", "${}"])
def test_a_cell_of_a_million_blanks_is_read_at_once(text):
    """A stranger's cell: a pattern that tries each blank with each other would not end."""
    long = text.replace("{}", " " * 10**6)
    assert spelled("x", [long, "12%", "b"]).values[0] in (long, long.strip())


@pytest.mark.parametrize("unit", [" kg", "kg", "\u00a0kg", " °C", " m²"])
def test_a_unit_behind_the_numbers_of_another_file_is_left_out(unit):
    first = spelled("weight", ["66.5", "70", "71.5"])
    assert spelled("weight", [f"66.5{unit}", f"70{unit}", "72"], like=first).values == [
        66.5,
        70,
        72,
    ]
    comma = [f"66,5{unit}", f"70,2{unit}"]
    assert spelled("weight", comma, like=first).values == [66.5, 70.2]


@pytest.mark.parametrize("found", [["66.5 kg", "70 lb"], ["66.5 kg", "none"], ["1e5", "2 kg x"]])
def test_two_units_or_other_texts_are_no_unit(found):
    first = spelled("weight", ["66.5", "70", "71.5"])
    values = spelled("weight", found, like=first).values
    assert [value for value in values if isinstance(value, str)] == [
        text for text in found if number_in(text) is None
    ]


def test_a_first_file_with_units_is_of_texts():
    assert spelled("weight", ["66.5 kg", "70 kg"]).kind == "texts"


def test_a_few_measurements_are_compared_by_their_range():
    """Nobody else has the same number, and a file that was drawn twice from others has fewer."""
    ours = {0.0: 100} | {0.55 + 1.13 * place: 1 for place in range(29)}
    drawn = {0.0: 100} | {1.72 + 0.97 * place: 2 for place in range(21)}
    assert require_overlap("pay", ("real", "synthetic"), ours, drawn) == ""
    thousands = {value * 1_000: times for value, times in drawn.items()}
    with pytest.raises(InputError, match="hardly overlap"):
        require_overlap("pay", ("real", "synthetic"), ours, thousands)


NAMED_MONTHS = [
    "Nov 13, 2008", "13 November 2008", "13-NOV-2008", "13NOV2008", "Thu, 13 Nov 2008",
    "Thursday, November 13, 2008", "2008-Nov-13", "Nov. 13, 2008", "13. November 2008",
]  # fmt: skip


@pytest.mark.parametrize("text", NAMED_MONTHS)
def test_months_may_be_named_in_english(text):
    found = spelled("day", [text, "3 May 2010"])
    assert (found.kind, found.values) == ("dates", ["2008-11-13", "2010-05-03"])


@pytest.mark.parametrize("text", ["May 2008", "31 Feb 2008", "Nov 131 2008", "mayor 3, 2008"])
def test_what_is_no_day_of_a_named_month_is_none(text):
    assert spelled("day", [text]).kind == "texts"
