"""Figure 6 and the numbers of section VI: all agree to the digits printed."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from narcissus import channels
from narcissus import channels as ch
from narcissus.errors import InputError
from narcissus_papers import ITEMS, Given, chosen, reproduce
from narcissus_papers.chatzikokolakis import experiments


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 6", "section VI")
@pytest.mark.parametrize(("part", "printed"), [("a", 4), ("b", 2), ("c", 3)])
def test_printed_numbers_agree(part, printed):
    made = ITEMS[f"002/figure-6{part}"].make(Given())
    assert made.verdict == "agrees"
    assert len(made.printed) == printed


@pytest.mark.parametrize(
    ("part", "kind"), [("a", "KaryRandomizedResponse"), ("b", "Laplace"), ("c", "Gaussian")]
)
def test_a_number_differs_where_the_package_is_wrong(failing, spoil, part, kind):
    spoil(f"{kind}.beta_star", "flip")
    # each printed number, and that the curves fall
    assert len(failing(f"figure-6{part}")) >= 3


SIZES = tuple(experiments.VALUES.values())


@pytest.fixture
def written(tmp_path):
    """Write a file of the Census's form, with its columns and others, and give its folder."""

    def write(records=500, sizes=SIZES):
        rng = np.random.default_rng(4)
        rows = np.column_stack([rng.integers(0, n, records) for n in (9, *sizes)])
        lines = [",".join(map(str, (i, *row))) for i, row in enumerate(rows)]
        text = "\n".join(["caseid,iClass,dAge,dIncome1,iMarital,iSex", *lines, ""])
        (tmp_path / experiments.FILE.name).write_text(text)
        experiments.read.cache_clear()
        return tmp_path, rows[:, 1:]

    return write


@pytest.mark.states("Chatzikokolakis et al. 2023", "Appendix H")
def test_a_users_file_is_counted(written, monkeypatch):
    monkeypatch.setattr(experiments, "CENSUS_RECORDS", 500)
    path, rows = written()
    held = experiments.counts(Given(data=path))
    assert held.shape == (400,)
    assert held.sum() == 500
    one = rows[7]
    assert held[np.ravel_multi_index(tuple(one), SIZES)] == (rows == one).all(axis=1).sum()


@pytest.mark.parametrize(
    ("records", "sizes", "says"),
    [
        (500, SIZES, "has 500 records .*should have 2,458,285"),
        (499, SIZES, "has 499 records"),
        (500, (8, 5, 5, 3), "iSex 3 values"),
        (500, (9, 5, 5, 2), "dAge 9"),
        (500, (7, 5, 5, 2), "dAge 7"),
    ],
)
def test_any_other_file_is_refused(written, records, sizes, says, monkeypatch):
    if "2,458,285" not in says:
        monkeypatch.setattr(experiments, "CENSUS_RECORDS", 500)
    path, _ = written(records, sizes)
    with pytest.raises(InputError, match=f"not the Census of the paper: .*{says}"):
        experiments.counts(Given(data=path))


def test_the_run_stops_at_another_file_before_anything_is_made(written, tmp_path):
    path, _ = written(50)
    with pytest.raises(InputError, match="not the Census of the paper"):
        reproduce(chosen("002", "figure", "7"), data=path)


def test_no_table_stands_in_for_one_that_is_not_there(tmp_path):
    assert experiments.counts(Given()) is None
    assert experiments.counts(Given(data=tmp_path)) is None


@pytest.fixture(scope="module")
def found():
    """Play three epsilons once each, without the Census."""
    return {f"epsilon {e:g}": experiments.play(e, Given(), repeats=1) for e in (1.0, 3.3, 4.8)}


@pytest.fixture(scope="module")
def read():
    """Play them on an uneven table as large as the Census of the print."""
    shares = np.random.default_rng(3).dirichlet(np.full(experiments.KINDS, 0.05))
    held = np.random.default_rng(4).multinomial(experiments.CENSUS_RECORDS, shares)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, "counts", lambda _given: held)
        return {f"epsilon {e:g}": experiments.play(e, Given(), repeats=1) for e in (1.0, 3.3, 4.8)}


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 7", "Appendix H")
def test_printed_security_is_that_of_the_number_of_records(found, monkeypatch):
    monkeypatch.setattr(experiments, "EPSILONS_7", (1.0, 3.3, 4.8))
    made = experiments.make(Given(json.loads(json.dumps(found))))
    words = {one.what: one.word for one in made.printed}
    for epsilon in (3.3, 4.8):
        assert words[f"beta* at epsilon {epsilon:g}, the number of records for n"] == "fitted"
        assert words[f"beta* at epsilon {epsilon:g}, the number of values for n"] == "differs"
    assert all(one.reason for one in made.printed)
    assert [one.holds for one in made.held] == [True, False]
    ours = {one.what: one.ours for one in made.printed}
    assert ours["beta* at epsilon 4.8, the number of values for n"] == pytest.approx(
        0.7685, abs=5e-5
    )


def test_without_the_census_no_utility_is_invented(found, monkeypatch):
    monkeypatch.setattr(experiments, "EPSILONS_7", (1.0, 3.3, 4.8))
    made = experiments.make(Given(json.loads(json.dumps(found))))
    assert all(one[key] == [] for one in found.values() for key in experiments.READINGS)
    assert not any("utility" in one.what for one in (*made.printed, *made.held))
    assert not any("utility" in line.label for panel in made.panels for line in panel.lines)
    assert "is not compared: it needs the Census, 2,458,285 records" in made.notes[0]


def test_utility_rises_and_the_nearest_distribution_is_the_best(read):
    for one in read.values():
        assert one["raw"][0] < one["cut"][0] < one["nearest"][0] < 1
    assert read["epsilon 1"]["nearest"][0] < 0.75 < read["epsilon 3.3"]["raw"][0]


def test_a_users_census_is_compared(read, monkeypatch):
    monkeypatch.setattr(experiments, "EPSILONS_7", (1.0, 3.3, 4.8))
    made = experiments.make(Given(read))
    assert "the user's" in made.notes[0]
    compared = [one for one in made.printed if "utility" in one.what]
    assert {one.quote.number for one in compared} == {"95%", "99%"}
    assert len(compared) == 2 * len(experiments.READINGS)
    assert [one.holds for one in made.held] == [True, True, True, False]
    assert made.panels[0].lines[0].label == "utility, the nearest distribution"


def test_limits_that_miss_are_noticed(found, monkeypatch):
    monkeypatch.setattr(experiments, "EPSILONS_7", (1.0, 3.3, 4.8))
    wrong = {**found, "epsilon 1": {**found["epsilon 1"], "low": 0.9999}}
    assert [one.holds for one in experiments.make(Given(wrong)).held] == [False, False]


def test_an_exact_release_has_full_utility():
    rng = np.random.default_rng(2)
    true = rng.dirichlet(np.ones(experiments.KINDS))
    shown = true @ ch.KaryRandomizedResponse(experiments.KINDS, 2.0).channel().dense
    assert experiments.utilities(
        shown, true, experiments.RandomizedResponse(2.0, 400)
    ) == pytest.approx({"nearest": 1.0, "cut": 1.0, "raw": 1.0}, abs=1e-9)


@pytest.mark.states("Chatzikokolakis et al. 2023", "Figure 8")
def test_the_mean_row_is_best_where_the_print_says_so():
    """The text gives no range for the right picture: below 6 values is a note, and no misprint."""
    made = ITEMS["002/figure-8"].make(Given())
    assert made.verdict == "agrees"
    assert [one.holds for one in made.held] == [True, True, True]
    assert "with 3, 4, 5 values" in made.notes[0]
    left, right = made.panels
    assert [len(left.lines), len(right.lines)] == [5, 4]
    assert left.lines[4].y == pytest.approx(left.lines[0].y)


@pytest.mark.parametrize("n", [3, 10, 40])
def test_limits_by_formula(n):
    """Of randomized response: t is the distance of two rows."""
    t = (np.e**0.5 - 1) / (np.e**0.5 + n - 1)
    expected = (1 - t, 1 - 2 * t * (n - 1) / n, 1 - 2 * t, 1 - np.sqrt(n / 2) * t)
    assert experiments.limits(n, 0.5) == pytest.approx(expected, abs=1e-6)


def test_a_claim_fails_where_the_package_is_wrong(failing, spoil):
    spoil("beta_star", "down")
    assert len(failing("figure-8")) == 1


@pytest.mark.states("Chatzikokolakis et al. 2023", "Table I")
def test_every_symbol_is_something_here():
    made = ITEMS["002/table-i"].make(Given())
    assert made.verdict == "no number in print"
    named = [name for row in made.table[1:] for name in re.findall(r"`([\w.]+)`", str(row[2]))]
    assert len(named) >= 10
    for name in named:
        owner, _, inner = name.rpartition(".")
        if owner == "channels":
            assert hasattr(channels, inner)
        else:
            assert owner == "Channel"
            assert inner in channels.Channel.__annotations__ or hasattr(channels.Channel, inner)


@pytest.mark.states("Chatzikokolakis et al. 2023", "Table II")
def test_metrics_are_what_the_table_says(failing):
    assert not failing("table-ii")
    assert len({len(row) for row in experiments.METRICS}) == 1


@pytest.mark.parametrize(
    ("name", "how"), [("capacity", "up"), ("capacity", "down"), ("beta_star", "down")]
)
def test_a_claim_fails_where_the_package_is_wrong_of_tables(failing, spoil, name, how):
    spoil(name, how)
    assert failing("table-ii")
