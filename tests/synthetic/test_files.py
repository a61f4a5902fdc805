"""Three files are read with one code for a value, or refused with the reason."""

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.synthetic import read_files
from narcissus.synthetic.files import keys_of
from narcissus.tables import Bins, read_table


def test_a_value_has_one_code_in_all_files(people, tmp_path):
    real, synthetic, control = people(30, 1), people(40, 2), people(20, 3)
    path = tmp_path / "synthetic.csv"
    synthetic[["ill", "town", "age", "job"]].to_csv(path, index=False)  # in another order
    files = read_files(real, path, control)
    assert (files.real, files.synthetic, files.control) == (30, 40, 20)
    for name, frame in (("real", real), ("synthetic", synthetic), ("control", control)):
        codes = files.table.codes[files.rows(name)].tolist()
        assert codes == sorted(codes)  # what is drawn does not hang on the order of the file
        read = [
            tuple(labels[c] for labels, c in zip(files.table.labels, row, strict=True))
            for row in codes
        ]
        there = frame[sorted(real)].astype(str).itertuples(index=False, name=None)
        assert sorted(read) == sorted(there)
    assert files.table.names == tuple(sorted(real))


def test_numbers_are_scaled_and_many_of_them_grouped():
    real = pd.DataFrame({"x": np.arange(300.0) * 2 + 5, "y": [0, 1] * 150})
    files = read_files(real, real[::-1])
    values = files.table.values[0]
    assert (values[0], values[-1]) == (0, 1)
    assert values[1] == pytest.approx(1 / 299)
    assert len(np.unique(files.coarse[:, 0])) == 20
    assert (files.coarse[:, 1] == files.table.codes[:, 1]).all()
    assert files.label("x", 0) == "5 to 33"
    assert files.label("y", 1) == "1"


def test_bins_and_tables_are_taken_as_in_a_study(people):
    real, synthetic = people(50, 1), people(50, 2)
    files = read_files(real, synthetic, bins={"age": Bins(width=10)})
    assert files.table.labels[0] == ("10 to 19", "20 to 29", "30 to 39", "40 to 49", "50 to 59")
    tables = read_files(
        read_table(real, bins={"age": Bins(width=10)}),
        read_table(synthetic, bins={"age": Bins(width=10)}),
        drop=["town"],
    )
    assert set(tables.table.labels[0]) == set(files.table.labels[0])
    assert tables.table.names == ("age", "ill", "job")


def test_missing_values_are_refused_dropped_or_a_value(people):
    real, synthetic = people(30, 1), people(30, 2)
    synthetic.loc[3, "job"] = None
    with pytest.raises(InputError, match="the synthetic file has missing values in `job`"):
        read_files(real, synthetic)
    assert read_files(real, synthetic, missing="drop").synthetic == 29
    # the data lack none: it is a cell that was suppressed
    assert "*" in read_files(real, synthetic, missing="category").table.labels[2]
    some = real.assign(job=synthetic["job"])
    assert "(missing)" in read_files(some, synthetic, missing="category").table.labels[2]
    gone = synthetic.assign(job=None)
    with pytest.raises(InputError, match="every row of the synthetic file"):
        read_files(real, gone, missing="drop")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.rename(columns=str.upper), "the files share no column: .*`AGE`, `JOB`"),
        (lambda f: f.assign(age="old"), "`age` is numbers in the real file, text in the synthetic"),
    ],
)
def test_files_that_differ_are_refused_by_the_names_of_what_differs(people, change, said):
    with pytest.raises(InputError, match=said):
        read_files(people(30, 1), change(people(30, 2)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.rename(columns={"town": "twon"}), "`town`, `twon`; did you mean `town`?"),
        (lambda f: f.drop(columns="job"), "`job`"),
        (lambda f: f.assign(more=1), "`more`"),
    ],
)
def test_columns_that_not_all_files_have_are_left_out_and_named(people, change, said):
    real, other = people(30, 1), change(people(30, 2))
    found = read_files(real, other)
    assert set(found.table.names) == set(real) & set(other)
    (line,) = [line for line in found.reading if "not all files" in line]
    assert line.startswith("Left out")
    assert said.split(";")[0] in line
    with pytest.raises(InputError, match="no column"):
        read_files(real, other, columns=["job", "town", "more"])


def test_the_real_file_is_no_control(people):
    real, synthetic = people(200, 1), people(200, 2)
    for control in (real, real.sample(100, random_state=1)):
        with pytest.raises(InputError, match="appears in the real file too"):
            read_files(real, synthetic, control)
    # other people may be alike in a few columns
    few = ["town", "ill"]
    assert read_files(real[few], synthetic[few], people(100, 3)[few]).control == 100


def test_a_file_that_cannot_be_read_is_named(people, tmp_path):
    with pytest.raises(InputError, match="the control file: no such file"):
        read_files(people(30, 1), people(30, 2), tmp_path / "none.csv")


def test_an_index_that_was_saved_with_the_files_is_no_column(people):
    """It numbers the rows of each file, so every row would differ."""
    real, made = (people(30, seed).reset_index(names="Unnamed: 0") for seed in (1, 2))
    found = read_files(real, made)
    assert set(found.table.names) == set(people(1, 1))
    lines = [line for line in found.reading if "an index" in line]
    assert [line.split(":")[0] for line in lines] == [
        f"Left out of the {name} file" for name in ("real", "synthetic")
    ]


def test_what_was_left_out_of_one_file_is_said_with_its_name(people, tmp_path):
    made = tmp_path / "made.csv"
    made.write_text("Made by the generator\n" + people(30, 2).to_csv(index=False))
    found = read_files(people(30, 1), made)
    (line,) = [line for line in found.reading if "above the header" in line]
    assert line.startswith("Of the synthetic file: Line 1 above")


def test_rows_have_one_number_if_and_only_if_they_are_equal():
    rng = np.random.default_rng(1)
    for width, high in ((1, 3), (4, 3), (30, 2**20)):  # the last overflows 64 bits many times
        codes = rng.integers(0, high, (200, width))
        codes = codes[rng.integers(0, 100, 300)]
        numbers: dict[int, tuple[int, ...]] = {}
        for key, row in zip(keys_of(codes).tolist(), map(tuple, codes.tolist()), strict=True):
            assert numbers.setdefault(key, row) == row
        assert len(numbers) == len({tuple(row) for row in codes.tolist()})
        assert set(numbers) == set(range(len(numbers)))


def test_a_genuine_control_with_a_rare_valued_column_is_read_and_another_unit_is_named():
    """96% zeros and a long tail: the ranges of two samples differ, in few people."""
    rng = np.random.default_rng(3)

    def drawn(people):
        tail = np.round(2 + rng.lognormal(3.5, 1.2, people))
        gain = np.where(rng.random(people) < 0.96, 0, tail)
        return pd.DataFrame({"age": rng.integers(18, 90, people), "gain": gain})

    real, made, control = drawn(1000), drawn(1000), drawn(300)
    assert read_files(real, made, control).control == 300
    with pytest.raises(InputError, match=r"`gain` is numbers .* in the control file"):
        read_files(real, made, control.assign(gain=control.gain * 1000))


WAYS = ("text", "numbers", "decimal-comma", "day-first", "month-first")
COLUMNS = {
    "codes": lambda g: [f"K-{n:05d}" for n in g.integers(0, 99_999, 60)],
    "amounts": lambda g: [f"{n:.2f}" for n in g.lognormal(5, 1, 60)],
    "amounts and codes": lambda g: [f"{n}?" if n % 7 else n for n in g.integers(10**4, 10**5, 60)],
    "dates": lambda g: [f"{d:02d}.{d % 12 + 1:02d}.1990" for d in g.integers(1, 29, 60)],
    "names": lambda g: ["".join(g.choice(list("abcdefgh"), 6)) for _ in range(60)],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("is_other", [False, True])
def test_no_message_prints_a_value_of_a_person(kind, way, is_other):
    """However a column is said to be read, and whether that fits or not."""
    g = np.random.default_rng(1)
    real, made = (pd.DataFrame({"x": COLUMNS[kind](g), "sex": ["f", "m"] * 30}) for _ in range(2))
    if is_other:
        made = made.assign(x=[f"Q{n:09d}/z" for n in g.integers(10**8, 10**9, 60)])
    told = ""
    for how in ({"x": way}, {}):
        try:
            told += " ".join(read_files(real, made, read_as=how).reading)
        except InputError as error:
            told += str(error)
    assert not [value for value in {*real["x"], *made["x"]} if str(value) in told]


def test_columns_that_files_write_in_the_same_two_ways_are_one_problem():
    """Forty columns gave forty paragraphs."""
    rng = np.random.default_rng(1)
    names = [f"rs{number}" for number in range(40)]
    real = pd.DataFrame(rng.integers(0, 3, (300, 40)), columns=names).assign(age=range(300))
    made = real.assign(**real[names].replace({0: "AA", 1: "AG", 2: "GG"}))
    with pytest.raises(InputError) as caught:
        read_files(real, made)
    text = str(caught.value)
    assert "\n" not in text
    assert "40 columns are numbers in the real file, text in the synthetic file" in text
    assert f"--drop {','.join(sorted(names))}" in text


def test_the_unit_of_rows_is_read_from_files_with_an_index_that_was_written_along(tmp_path):
    """Such files were refused, whatever was left out."""
    frame = pd.DataFrame({"who": ["a", "a", "b", "c"], "age": [1, 2, 3, 4]})
    paths = [tmp_path / f"{name}.csv" for name in ("real", "synthetic")]
    for path, shift in zip(paths, (0, 1), strict=True):
        frame.assign(age=frame["age"] + shift).to_csv(path)
    files = read_files(*map(str, paths), unit="who")
    assert files.table.names == ("age",)
    assert files.units is not None
