"""All bounds for one threat: the table and the picture."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from narcissus.bounds import THEOREMS, bounds_on, compare, comparison, threat
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    PureDP,
    ZeroConcentratedDP,
    as_asked,
)


def test_lines_differ_by_theorem_and_are_dashed_where_it_does_not_hold():
    axes = Figure().subplots()
    found = compare(threat(prior=0.5, targets=3), ApproximateDP(0.1, 0.01), 1)
    assert found.plot(axes) is axes
    drawn = lines(axes)
    assert drawn[THEOREMS["swanberg-3.5"].statement + " (not a bound)"].get_linestyle() == "--"
    assert drawn[THEOREMS["swap"].statement].get_linestyle() == "-"
    assert len({line.get_color() for line in drawn.values()}) == len(drawn)
    for label, line in drawn.items():
        (theorem,) = (t for t in THEOREMS.values() if label.startswith(t.statement) and t.about)
        assert line.get_linewidth() == (2.2 if theorem.own else 1.2)
    assert not axes.spines["top"].get_visible()
    assert axes.spines["left"].get_visible()


def lines(axes) -> dict:
    """The drawn lines by their labels."""
    return {line.get_label(): line for line in axes.get_lines()}


@pytest.mark.parametrize(
    ("guarantee", "vary", "name"),
    [
        (PureDP(1.0), PureDP, "epsilon"),
        (ApproximateDP(0.5, 0.01), lambda e: ApproximateDP(e, 0.01), "epsilon (delta 0.01)"),
        (GaussianDP(0.8), GaussianDP, "mu"),
        (ZeroConcentratedDP(0.1), ZeroConcentratedDP, "rho"),
    ],
)
@pytest.mark.parametrize("count", [None, 2])
@pytest.mark.one_in(4)
def test_the_picture_against_the_parameter_shows_each_bound_there(
    guarantee, vary, name, count, monkeypatch
):
    monkeypatch.setattr(comparison, "_POINTS", 3)
    danger = threat(prior=0.4, targets=4, inseparable=0.2)
    axes = compare(danger, guarantee, count).plot(against="parameter")
    assert axes.get_xlabel() == name
    drawn = lines(axes)
    here = float(drawn.pop("_child" + str(len(drawn) - 1)).get_xdata()[0])
    for label, line in drawn.items():
        x, y = line.get_xdata(), line.get_ydata()
        assert (x[0], x[-1]) == (0, pytest.approx(2 * here))
        for i in range(3):
            said = bounds_on(danger, vary(float(x[i])), count, expensive=False)
            (value,) = (b.value for b in said if b.theorem == label.removesuffix(" (not a bound)"))
            assert y[i] == value
    assert vary(here) == guarantee
    assert axes.get_xlim() == (0, pytest.approx(2 * here))


@pytest.mark.parametrize("count", [None, 2])
def test_the_picture_against_the_prior_shows_each_bound_there(count):
    danger = threat(prior=0.4, targets=4, guesses=3, inseparable=0.2)
    guarantee = ApproximateDP(0.5, 0.01)
    axes = compare(danger, guarantee, count).plot()
    drawn = lines(axes)
    guessed = [line for label, line in drawn.items() if label.startswith("_")]
    # the attacker without a release, where it is one success
    assert len(guessed) == (count is None)
    for line in guessed:
        assert (list(line.get_xdata()), list(line.get_ydata())) == ([0, 1], [0, 1])
    for label, line in drawn.items():
        if label.startswith("_"):
            continue
        x, y = line.get_xdata(), line.get_ydata()
        for i in {0, len(x) // 2, len(x) - 1}:
            other = threat(prior=float(x[i]), targets=4, guesses=3, inseparable=0.2)
            said = bounds_on(other, guarantee, count, expensive=False)
            (value,) = (b.value for b in said if b.theorem == label.removesuffix(" (not a bound)"))
            assert y[i] == value
    assert axes.get_xlim() == (pytest.approx(0.01), pytest.approx(0.99))
    assert axes.get_ylim() == (0, pytest.approx(1.02))
    said = "success with the release" if count is None else "probability that at least 2 of 4"
    assert axes.get_ylabel().startswith(said)
    assert "prior" in axes.get_xlabel()


def test_a_whole_prior_has_no_kappa_that_goes_with_another():
    near = threat(values=[0.25] * 4, within=1, targets=3)
    found = compare(near, GaussianDP(1.0))
    grid, here = found._against_prior()
    plain = bounds_on(threat(prior=float(grid[10]), targets=3), GaussianDP(1.0), expensive=False)
    assert here[10] == plain


def test_a_guarantee_without_a_single_parameter_says_so():
    axes = compare(threat(prior=0.5), BayesSecurity(0.9)).plot(against="parameter")
    assert [t.get_text() for t in axes.texts] == ["this guarantee has no single parameter"]
    assert not axes.get_lines()
    assert not axes.axison


def test_no_program_is_solved_for_a_picture():
    danger = threat(prior=0.5, targets=4, inseparable=0.5)
    found = compare(danger, GaussianDP(1.0), 2)
    assert "swap-program" in {b.id for b in found.bounds}
    for axes in (found.plot(), found.plot(against="parameter")):
        assert THEOREMS["swap-program"].statement not in lines(axes)


def test_the_result_says_what_it_is_about():
    found = compare(threat(prior=0.5, targets=3), GaussianDP(1.0), 2)
    assert found.grade == "proved"
    said = found.to_dict()
    assert (said["at_least"], said["guarantee"]) == (2, GaussianDP(1.0).describe())
    assert [b["theorem"] for b in said["bounds"]] == [b.theorem for b in found.bounds]
    said_first = "probability that at least 2 of 3 targets are reconstructed, Gaussian DP"
    assert str(found).startswith(said_first)
    # the tightest comes first, and what is no bound last, marked
    worse = compare(threat(prior=0.5, targets=3), ApproximateDP(0.1, 0.01), 1)
    frame = worse.to_frame()
    good = frame[frame["valid"]]
    assert len(frame) == len(worse.bounds) == len(good) + 3
    assert good["value"].is_monotonic_increasing
    assert good["bound"].iloc[0] == worse.best.theorem
    assert not frame["valid"].iloc[len(good) :].any()
    for line, (_, row) in zip(str(worse).splitlines()[1:], frame.iterrows(), strict=True):
        assert row["bound"] in line
        assert ("not a bound" in line) is not row["valid"]


def test_both_pictures_are_saved_side_by_side(tmp_path):
    found = compare(threat(prior=0.5, targets=3, inseparable=0.5), PureDP(1.0), 2)
    texts = []
    for name in ("one.svg", "two.svg", "three.png"):
        found.save(tmp_path / name)
        texts.append((tmp_path / name).read_bytes())
    # the same picture every time: no date, no drawn identifiers
    assert texts[0] == texts[1]
    assert texts[2].startswith(b"\x89PNG")
    said = texts[0].decode()
    assert "<dc:date>" not in said
    for words in (
        "prior",
        ">epsilon<",
        found.bounds[0].quantity,
        found.guarantee.describe(),
        *(b.theorem for b in found.bounds),
    ):
        assert said.count(words) >= 1
    # each theorem has one line in the legend for both pictures
    assert said.count(f">{found.bounds[0].theorem}<") == 1


def test_it_says_what_some_mechanism_reaches():
    guarantee = ApproximateDP(1.0, 0.001)
    found = compare(threat(values=[0.7, 0.3], targets=12), guarantee, 9)
    assert found.reached == pytest.approx(0.001 + 0.999 * 0.589582, abs=1e-6)
    assert found.reached <= found.best.value
    assert found.to_dict()["reached"] == found.reached
    assert "0.589991     is reached by some mechanism" in str(found)
    assert "reached" not in compare(threat(prior=0.5, targets=3), guarantee, 1).to_dict()
    assert compare(threat(values=[0.7, 0.3]), guarantee).reached is None


def test_of_membership_no_prior_is_below_one_half():
    known = GaussianDP(1.0, adjacency="add-remove")
    danger = threat(values=[0.5, 0.5])
    found = compare(danger, as_asked(known, "membership"))
    assert found._against_prior()[0][0] == 0.5
    assert compare(danger, as_asked(known, "value"))._against_prior()[0][0] == 0.01
    assert "in or out" in str(found)
